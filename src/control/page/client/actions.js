/**
 * What can be asked of an engine, and the question before each: what will happen, to how much of what.
 *
 * Invariants: nothing is sent before it was confirmed; counts are those of the moment the question is asked; what became of it is said
 * in the live region and in a note on the page.
 */
import { element } from "../../../report/html/client/elements.js";
import { countOf } from "../../../report/html/client/texts.js";
import { act } from "./api.js";
import { openDialog } from "./dialog.js";
import { optionsForm } from "./options-form.js";
import { namesText, shortFigure, shortName } from "./wording.js";

/** @import {OrderRow, StrategyRow} from "../../control-rows.ts" */
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
        strategy !== undefined ? `Halt ${strategy}` : engines.length > 1 ? `Halt all ${engines.length} engines` : "Halt all strategies",
      content: [
        points([
          strategy === undefined ? "No strategy places anything until you resume." : `${strategy} places nothing until you resume it.`,
          orders === 0 ? "No order is open." : `${countOf(orders, "open order")} will be canceled, exits as well.`,
          heldText(engines, strategy),
        ]),
        reason.node,
      ],
      confirm: strategy === undefined ? "Halt" : `Halt ${shortName(strategy)}`,
      danger: true,
      act: () => this.#send(engines, { type: "halt", ...(strategy === undefined ? {} : { strategy }), reason: reason.value() }),
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
      act: () => this.#send(engines, { type: "resume", ...(strategy === undefined ? {} : { strategy }), reason: reason.value() }),
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
          where.clOrdId === undefined ? `${countOf(count, "order")} will be canceled.` : `The order ${where.clOrdId} will be canceled.`,
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
    const positions = engines.flatMap((engine) => engine.list("accountPositions")).filter(({ pos }) => Number(pos) !== 0);
    const hasSeveral = new Set(positions.map(({ user }) => user)).size > 1;
    const texts = positions.map(({ user, instId, pos }) => `${shortFigure(pos)} ${instId}${hasSeveral ? ` of ${user}` : ""}`);
    const reason = reasonField("Why (for the journal)", "closed from the dashboard");
    openDialog({
      title: "Close all positions",
      content: [
        points([
          "All strategies are halted, and every open order of this engine is canceled.",
          positions.length === 0
            ? "Then every position of the account is closed at the market. None is known now."
            : `Then every position of the account is closed at the market: ${namesText(texts)}.`,
          "Positions that other programs opened on this account are closed as well. What it costs depends on the market.",
        ]),
        reason.node,
      ],
      confirm: "Halt and close positions",
      danger: true,
      act: () => this.#send(engines, { type: "close", reason: reason.value() }),
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

  /** Playback needs no question: it changes what is shown. @param {{ speed?: number, paused?: boolean, seekTo?: number, toNextFill?: boolean }} how */
  play(how) {
    void this.#send(this.#shown(), { type: "play", ...how }, "").then(
      (problem) => problem !== undefined && this.#tell(problem, "bad"),
      (error) => this.#tell(error instanceof Error ? error.message : String(error), "bad"),
    );
  }

  /**
   * To all of them at once: one that cannot be reached keeps nothing from the others.
   * @param {readonly SourceState[]} engines @param {object} action @param {string} [said] instead of what they answer
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
  const isMeant = (/** @type {OrderRow} */ order) => !order.isFinal && named.every(([name, value]) => order[name] === value);
  return engines.reduce((sum, engine) => sum + engine.list("orders").filter(isMeant).length, 0);
};

/** @param {readonly SourceState[]} engines @param {string | undefined} strategy */
const heldText = (engines, strategy) => {
  const held = engines
    .flatMap((engine) => engine.list("positions"))
    .filter((row) => Number(row.qty) !== 0 && (strategy === undefined || row.strategy === strategy));
  if (held.length === 0) return "No position is held.";
  const names = held.map(({ qty, instId }) => `${Number(qty) > 0 ? "long" : "short"} ${shortFigure(qty.replace("-", ""))} ${instId}`);
  return `Positions stay as they are, without exits: ${namesText(names)}.`;
};

/** @param {readonly string[]} texts */
const points = (texts) => element("ul", {}, ...texts.map((text) => element("li", {}, text)));

/** @param {string} label @param {string} otherwise */
const reasonField = (label, otherwise) => {
  const input = element("input", { type: "text", maxlength: "200", placeholder: otherwise, autocomplete: "off" });
  return { node: element("label", { class: "field" }, element("span", {}, label), input), value: () => input.value.trim() || otherwise };
};
