/**
 * Actions on an engine, and the confirmation before each: its effect, and the quantities that it concerns.
 *
 * Invariants: nothing is sent before it was confirmed; counts are those of the moment at which the question is asked; the result is shown
 * in the live region and in a note on the page.
 */
import { element } from "../../ui-kit/client/elements.ts";
import { countOf } from "../../ui-kit/client/texts.ts";
import type { OrderRow, StrategyRow } from "../control-rows.ts";
import { act } from "./api.ts";
import { openDialog } from "./dialog.ts";
import { optionsForm } from "./options-form.ts";
import type { SourceState } from "./source-state.ts";
import { namesText, shortFigure, shortName } from "./wording.ts";

export type OrderFilter = {
  strategy?: string;
  instId?: string;
  side?: "buy" | "sell";
  slot?: string;
  clOrdId?: string;
};

export class Actions {
  #shown;
  #tell;

  /** @param shown - the engines that are shown: one, or all */
  constructor(shown: () => readonly SourceState[], tell: (text: string, tone: "" | "bad") => void) {
    this.#shown = shown;
    this.#tell = tell;
  }

  /** @param strategy - all of them where none is named */
  halt(strategy?: string) {
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

  resume(strategy?: string) {
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

  /** @param words - what they are, such as "open orders of ladder" */
  cancel(where: OrderFilter, words: string) {
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

  /**
   * Closes the holdings of a strategy, and nothing else of the account.
   *
   * @param instId - all that it holds without
   */
  closeHoldings(strategy: string, instId?: string) {
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

  options({ name, schema, options, openOrders }: StrategyRow) {
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

  /** Changes the playback. No confirmation is needed: only the display changes. */
  play(how: { speed?: number; paused?: boolean; seekTo?: number; toNextFill?: boolean }) {
    void this.#send(this.#shown(), { type: "play", ...how }, "").then(
      (problem) => problem !== undefined && this.#tell(problem, "bad"),
      (error) => this.#tell(error instanceof Error ? error.message : String(error), "bad"),
    );
  }

  /**
   * Sends an action to all engines at once: an engine that cannot be reached does not delay the others.
   *
   * @param summary - text that is shown instead of their answers
   * @returns what failed, in words
   */
  async #send(engines: readonly SourceState[], action: object, summary?: string): Promise<string | undefined> {
    const results = await Promise.all(engines.map((engine) => act(engine.id, action).catch(failed)));
    const named = results.map(({ text }, index) => (engines.length > 1 ? `${engines[index]?.id}: ${text}` : text));
    const problems = named.filter((_, index) => results[index]?.ok === false);
    if (problems.length > 0) return problems.join(" ");
    const text = summary ?? named.join(" ");
    if (text !== "") this.#tell(text, "");
    return undefined;
  }
}

const failed = (error: unknown) => ({ ok: false, text: error instanceof Error ? error.message : String(error) });

const openIn = (engines: readonly SourceState[], where: OrderFilter) => {
  const named = Object.entries(where) as [keyof OrderFilter, string][];
  const isMeant = (order: OrderRow) => !order.isFinal && named.every(([name, value]) => order[name] === value);
  return engines.reduce((sum, engine) => sum + engine.list("orders").filter(isMeant).length, 0);
};

const isLong = (qty: string) => !qty.startsWith("-");

/** To the last digit: it is what will be traded. */
const closingOrder = (qty: string, instId: string) =>
  `${isLong(qty) ? "sells" : "buys"} ${qty.replace("-", "")} ${instId}`;

const heldWords = (qty: string, instId: string) =>
  `${isLong(qty) ? "long" : "short"} ${qty.replace("-", "")} ${instId}`;

/** An instrument of all accounts of an engine. */
type AccountPosition = { engine: SourceState; instId: string; held: string; orders: string };

const accountPositions = (engines: readonly SourceState[]): readonly AccountPosition[] =>
  engines.flatMap((engine) => {
    const rows = engine.list("accountPositions").filter(({ pos }) => Number(pos) !== 0);
    const hasSeveral = new Set(rows.map(({ user }) => user)).size > 1;
    return [...new Set(rows.map(({ instId }) => instId))].map((instId) => {
      const own = rows.filter((row) => row.instId === instId);
      const say = (words: (pos: string, instId: string) => string) =>
        own.map(({ user, pos }) => `${words(pos, instId)}${hasSeveral ? ` of ${user}` : ""}`).join(", ");
      return { engine, instId, held: say(heldWords), orders: say(closingOrder) };
    });
  });

const foreign =
  "What other programs hold of it on this account is closed as well. What it costs depends on the market.";

/** Orders that sell what strategies hold of spot. */
const spotHoldings = (engines: readonly SourceState[]) =>
  engines
    .flatMap((engine) => engine.list("positions"))
    .filter(({ instId, qty }) => !instId.endsWith("-SWAP") && Number(qty) !== 0)
    .map(({ strategy, instId, qty }) => `${closingOrder(qty, instId)} of ${strategy}`);

const closingAll = (positions: readonly AccountPosition[], spot: readonly string[]) => [
  "All strategies are halted, and every open order of this engine is canceled.",
  positions.length === 0
    ? "Then every position of the account is closed at the market. None is known now."
    : `Then every position of the account is closed at the market: ${positions.map(({ orders }) => orders).join(", ")}.`,
  ...(spot.length === 0 ? [] : [`What strategies hold of spot is sold: ${spot.join(", ")}.`]),
  "Positions that other programs opened on this account are closed as well. What it costs depends on the market.",
];

const closingOne = ({ engine, instId, orders }: AccountPosition) => {
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

const heldText = (engines: readonly SourceState[], strategy: string | undefined) => {
  const held = engines
    .flatMap((engine) => engine.list("positions"))
    .filter((row) => Number(row.qty) !== 0 && (strategy === undefined || row.strategy === strategy));
  if (held.length === 0) return "No position is held.";
  const names = held.map(
    ({ qty, instId }) => `${Number(qty) > 0 ? "long" : "short"} ${shortFigure(qty.replace("-", ""))} ${instId}`,
  );
  return `Positions stay as they are, with their exits, stops and targets: ${namesText(names)}.`;
};

const points = (texts: readonly string[]) => element("ul", {}, ...texts.map((text) => element("li", {}, text)));

const reasonField = (label: string, otherwise: string) => {
  const input = element("input", { type: "text", maxlength: "200", placeholder: otherwise, autocomplete: "off" });
  return {
    node: element("label", { class: "field" }, element("span", {}, label), input),
    value: () => input.value.trim() || otherwise,
  };
};
