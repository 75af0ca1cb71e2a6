/**
 * Actions on an engine, and the confirmation before each: its effect, and the quantities that it concerns.
 *
 * Invariants: nothing is sent before it was confirmed; counts are those of the moment at which the question is asked; the result is shown
 * in the live region and in a note on the page.
 */
import { element } from "../../ui-kit/client/elements.js";
import { countOf } from "../../ui-kit/client/texts.js";
import { act } from "./api.js";
import { openDialog } from "./dialog.js";
import { optionsForm } from "./options-form.js";
import { namesText, shortFigure, shortName } from "./wording.js";

/** @import {OrderRow, StrategyRow} from "../control-rows.ts" */
/** @import {SourceState} from "./source-state.js" */
/** @typedef {{ strategy?: string, instId?: string, side?: "buy" | "sell", slot?: string, clOrdId?: string }} OrderFilter */

export class Actions {
  #shown;
  #tell;

  /** @param {() => readonly SourceState[]} shown the engines that are shown: one, or all @param {(text: string, tone: "" | "bad") => void} tell */
  constructor(shown, tell) {
    this.#shown = shown;
    this.#tell = tell;
  }

  /** @param {string} [strategy] all of them where none is named */
  halt(strategy) {
    const engines = this.#shown();
    const orders = openIn(engines, strategy === undefined ? {} : { strategy });
    const reason = reasonField("Why (for the journal)", "halted from the dashboard");
    openDialog({
      title:
        strategy !== undefined
          ? `Halt ${strategy}`
          : engines.length > 1
            ? `Halt all ${engines.length} engines`
            : "Halt all strategies",
      content: [
        points([
          strategy === undefined
            ? "No strategy opens or adds to a position until you resume."
            : `${strategy} opens or adds to no position until you resume it.`,
          orders === 0 ? "No order is open." : `Of ${countOf(orders, "open order")} all entries will be canceled.`,
          heldText(engines, strategy),
        ]),
        reason.node,
      ],
      confirm: strategy === undefined ? "Halt" : `Halt ${shortName(strategy)}`,
      danger: true,
      act: () =>
        this.#send(engines, { type: "halt", ...(strategy === undefined ? {} : { strategy }), reason: reason.value() }),
    });
  }

  /** @param {string} [strategy] */
  resume(strategy) {
    const engines = this.#shown();
    const reason = reasonField("Why (for the journal)", "resumed from the dashboard");
    openDialog({
      title: strategy === undefined ? "Resume trading" : `Resume ${strategy}`,
      content: [
        points([
          strategy === undefined
            ? "All strategies may place orders again, at once. Those that were halted one by one stay halted."
            : `${strategy} may place orders again, at once.`,
        ]),
        reason.node,
      ],
      confirm: "Resume",
      act: () =>
        this.#send(engines, {
          type: "resume",
          ...(strategy === undefined ? {} : { strategy }),
          reason: reason.value(),
        }),
    });
  }

  /** @param {OrderFilter} where @param {string} words what they are, such as "open orders of ladder" */
  cancel(where, words) {
    const engines = this.#shown();
    const count = openIn(engines, where);
    openDialog({
      title: where.clOrdId === undefined ? `Cancel ${words}` : "Cancel one order",
      content: [
        points([
          where.clOrdId === undefined
            ? `${countOf(count, "order")} will be canceled.`
            : `The order ${where.clOrdId} will be canceled.`,
          "Strategies go on: one that still wants such an order may place it again. Halt first where that must not be.",
        ]),
      ],
      confirm: where.clOrdId === undefined ? `Cancel ${countOf(count, "order")}` : "Cancel the order",
      danger: true,
      act: () => this.#send(engines, { type: "cancel", where }),
    });
  }

  close() {
    const engines = this.#shown();
    const positions = accountPositions(engines);
    const spot = spotHoldings(engines);
    const reason = reasonField("Why (for the journal)", "closed from the dashboard");
    const said = element("div", {}, points(closingAll(positions, spot)));
    const choices = positions.map(({ engine, held }) =>
      element("option", {}, `${engines.length > 1 ? `${engine.id}: ` : ""}${held}`),
    );
    const which = element("select", {}, element("option", {}, "all positions of the account"), ...choices);
    const chosen = () => positions[which.selectedIndex - 1];
    which.addEventListener("change", () => {
      const one = chosen();
      said.replaceChildren(points(one === undefined ? closingAll(positions, spot) : closingOne(one)));
    });
    openDialog({
      title: "Close positions",
      content: [
        ...(positions.length === 0
          ? []
          : [element("label", { class: "field" }, element("span", {}, "What is closed"), which)]),
        said,
        reason.node,
      ],
      confirm: "Halt and close positions",
      danger: true,
      act: () => {
        const one = chosen();
        const action = { type: "close", ...(one !== undefined && { instId: one.instId }), reason: reason.value() };
        return this.#send(one === undefined ? engines : [one.engine], action);
      },
    });
  }

  /** Closes the holdings of a strategy, and nothing else of the account. @param {string} strategy @param {string} [instId] all that it holds without */
  closeHoldings(strategy, instId) {
    const engines = this.#shown();
    const rows = engines.flatMap((engine) => engine.list("positions")).filter(({ qty }) => Number(qty) !== 0);
    const own = rows.filter((row) => row.strategy === strategy && (instId === undefined || row.instId === instId));
    const others = rows.filter((row) => row.strategy !== strategy && own.some((one) => one.instId === row.instId));
    const orders = openIn(engines, { strategy });
    const reason = reasonField("Why (for the journal)", "closed from the dashboard");
    openDialog({
      title: instId === undefined ? `Close what ${strategy} holds` : `Close ${instId} of ${strategy}`,
      content: [
        points([
          `${strategy} is halted: it places nothing until you resume it. ${orders === 0 ? "It has no open order." : `Its ${countOf(orders, "open order")} will be canceled, exits as well.`}`,
          own.length === 0
            ? "It holds nothing now."
            : `Then what it holds is closed at the market: ${own.map((row) => closingOrder(row.qty, row.instId)).join(", ")}.`,
          others.length === 0
            ? "Nothing else of the account is closed."
            : `Other strategies keep theirs: ${others.map((row) => `${row.strategy} ${heldWords(row.qty, row.instId)}`).join(", ")}.`,
          "What it costs depends on the market.",
        ]),
        reason.node,
      ],
      confirm: `Halt ${shortName(strategy)} and close`,
      danger: true,
      act: () =>
        this.#send(engines, {
          type: "close",
          strategy,
          ...(instId !== undefined && { instId }),
          reason: reason.value(),
        }),
    });
  }

  /** @param {StrategyRow} row */
  options({ name, schema, options, openOrders }) {
    if (schema === undefined) return;
    const engines = this.#shown();
    const form = optionsForm(schema, options);
    openDialog({
      title: `Options of ${name}`,
      content: [
        points([
          `${name} is ended and started again with what you change here. ${openOrders === 0 ? "It has no open order." : `Its ${countOf(openOrders, "open order")} stay until it says what it wants.`}`,
          "A restart of the engine takes the config's options again.",
        ]),
        element("div", { class: "fields" }, ...form.nodes),
      ],
      confirm: "Change options",
      act: async () => {
        const changes = form.changes();
        if (Object.keys(changes).length === 0) return "Nothing was changed.";
        return this.#send(engines, { type: "options", strategy: name, changes });
      },
    });
  }

  /**
   * Changes the playback. No confirmation is needed: only the display changes.
   * @param {{ speed?: number, paused?: boolean, seekTo?: number, toNextFill?: boolean }} how
   */
  play(how) {
    void this.#send(this.#shown(), { type: "play", ...how }, "").then(
      (problem) => problem !== undefined && this.#tell(problem, "bad"),
      (error) => this.#tell(error instanceof Error ? error.message : String(error), "bad"),
    );
  }

  /**
   * Sends an action to all engines at once: an engine that cannot be reached does not delay the others.
   * @param {readonly SourceState[]} engines @param {object} action @param {string} [said] shown instead of their answers
   * @returns {Promise<string | undefined>} what failed, in words
   */
  async #send(engines, action, said) {
    const results = await Promise.all(engines.map((engine) => act(engine.id, action).catch(failed)));
    const named = results.map(({ text }, index) => (engines.length > 1 ? `${engines[index]?.id}: ${text}` : text));
    const problems = named.filter((_, index) => results[index]?.ok === false);
    if (problems.length > 0) return problems.join(" ");
    const text = said ?? named.join(" ");
    if (text !== "") this.#tell(text, "");
    return undefined;
  }
}

/** @param {unknown} error */
const failed = (error) => ({ ok: false, text: error instanceof Error ? error.message : String(error) });

/** @param {readonly SourceState[]} engines @param {OrderFilter} where */
const openIn = (engines, where) => {
  const named = /** @type {[keyof OrderFilter, string][]} */ (Object.entries(where));
  const isMeant = (/** @type {OrderRow} */ order) =>
    !order.isFinal && named.every(([name, value]) => order[name] === value);
  return engines.reduce((sum, engine) => sum + engine.list("orders").filter(isMeant).length, 0);
};

/** @param {string} qty */
const isLong = (qty) => !qty.startsWith("-");

/** To the last digit: it is what will be traded. @param {string} qty @param {string} instId */
const closingOrder = (qty, instId) => `${isLong(qty) ? "sells" : "buys"} ${qty.replace("-", "")} ${instId}`;

/** @param {string} qty @param {string} instId */
const heldWords = (qty, instId) => `${isLong(qty) ? "long" : "short"} ${qty.replace("-", "")} ${instId}`;

/** An instrument of all accounts of an engine. @typedef {{ engine: SourceState, instId: string, held: string, orders: string }} AccountPosition */

/** @param {readonly SourceState[]} engines @returns {readonly AccountPosition[]} */
const accountPositions = (engines) =>
  engines.flatMap((engine) => {
    const rows = engine.list("accountPositions").filter(({ pos }) => Number(pos) !== 0);
    const hasSeveral = new Set(rows.map(({ user }) => user)).size > 1;
    return [...new Set(rows.map(({ instId }) => instId))].map((instId) => {
      const own = rows.filter((row) => row.instId === instId);
      const say = (/** @type {(pos: string, instId: string) => string} */ words) =>
        own.map(({ user, pos }) => `${words(pos, instId)}${hasSeveral ? ` of ${user}` : ""}`).join(", ");
      return { engine, instId, held: say(heldWords), orders: say(closingOrder) };
    });
  });

const foreign =
  "What other programs hold of it on this account is closed as well. What it costs depends on the market.";

/** Orders that sell what strategies hold of spot. @param {readonly SourceState[]} engines */
const spotHoldings = (engines) =>
  engines
    .flatMap((engine) => engine.list("positions"))
    .filter(({ instId, qty }) => !instId.endsWith("-SWAP") && Number(qty) !== 0)
    .map(({ strategy, instId, qty }) => `${closingOrder(qty, instId)} of ${strategy}`);

/** @param {readonly AccountPosition[]} positions @param {readonly string[]} spot */
const closingAll = (positions, spot) => [
  "All strategies are halted, and every open order of this engine is canceled.",
  positions.length === 0
    ? "Then every position of the account is closed at the market. None is known now."
    : `Then every position of the account is closed at the market: ${positions.map(({ orders }) => orders).join(", ")}.`,
  ...(spot.length === 0 ? [] : [`What strategies hold of spot is sold: ${spot.join(", ")}.`]),
  "Positions that other programs opened on this account are closed as well. What it costs depends on the market.",
];

/** @param {AccountPosition} position */
const closingOne = ({ engine, instId, orders }) => {
  const holders = engine.list("positions").filter((row) => row.instId === instId);
  const names = holders.map(({ strategy, qty }) =>
    Number(qty) === 0 ? `${strategy} (flat)` : `${strategy} (${heldWords(qty, instId)})`,
  );
  return [
    `Every strategy that trades ${instId} is halted, its orders canceled${names.length === 0 ? "" : `: ${names.join(", ")}`}. Others go on.`,
    `Then the account's position is closed at the market: ${orders}. What strategies hold of it counts as closed.`,
    foreign,
  ];
};

/** @param {readonly SourceState[]} engines @param {string | undefined} strategy */
const heldText = (engines, strategy) => {
  const held = engines
    .flatMap((engine) => engine.list("positions"))
    .filter((row) => Number(row.qty) !== 0 && (strategy === undefined || row.strategy === strategy));
  if (held.length === 0) return "No position is held.";
  const names = held.map(
    ({ qty, instId }) => `${Number(qty) > 0 ? "long" : "short"} ${shortFigure(qty.replace("-", ""))} ${instId}`,
  );
  return `Positions stay as they are, with their exits, stops and targets: ${namesText(names)}.`;
};

/** @param {readonly string[]} texts */
const points = (texts) => element("ul", {}, ...texts.map((text) => element("li", {}, text)));

/** @param {string} label @param {string} otherwise */
const reasonField = (label, otherwise) => {
  const input = element("input", { type: "text", maxlength: "200", placeholder: otherwise, autocomplete: "off" });
  return {
    node: element("label", { class: "field" }, element("span", {}, label), input),
    value: () => input.value.trim() || otherwise,
  };
};
