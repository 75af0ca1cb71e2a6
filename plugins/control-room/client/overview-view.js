/**
 * The first view: profits, positions, the remaining quota, and waiting actions.
 *
 * Invariants: profits of different currencies are never added, and where there are several users each has a row of its own; strategies
 * and positions are all there, in tables that scroll.
 */
import { element } from "../../ui-kit/client/elements.js";
import { countOf, figure } from "../../ui-kit/client/texts.js";
import { accountRows, usersOf } from "./account-rows.js";
import { inTurn, nowMs } from "./browser-clock.js";
import { EquityChart } from "./equity-chart.js";
import { eventLine } from "./events-view.js";
import { accountColumns, balanceColumns, positionColumns, strategyColumns } from "./overview-columns.js";
import { QuotaGauges } from "./quota-gauges.js";
import { openStrategy } from "./strategy-dialog.js";
import { put } from "./table-cells.js";
import { VirtualTable } from "./virtual-table.js";
import { gainText, leftText, moneyText, toneOf } from "./wording.js";

/** Lists are read, not watched: a few times a second is enough. */
const pauseMs = 200;

/** @import {MoneyRow, QuotaRow, SectionName, Unrecorded} from "../control-rows.ts" */
/** @import {Actions} from "./actions.js" */
/** @import {WatchedEngine} from "./watched-engine.js" */
/** @import {SourceState} from "./source-state.js" */

const eventsShown = 12;

export class OverviewView {
  name = "Overview";
  node;
  #tiles = element("dl", { class: "tiles" });
  /** @type {Map<string, { node: HTMLElement, value: HTMLElement, more: HTMLElement }>} */
  #shown = new Map();
  #equity = new EquityChart();
  #gauges = new QuotaGauges();
  #events = element("ol", { class: "lines" });
  #drawnAt = Number.NEGATIVE_INFINITY;
  #versions = { strategies: -1, positions: -1, balances: -1, events: -1 };
  #strategies;
  #positions;
  #balances;
  #accounts;
  #accountsSection;
  #balancesSection;
  /** @type {WatchedEngine | undefined} */
  #watched;

  /** @param {Actions} actions @param {() => boolean} mayAct */
  constructor(actions, mayAct) {
    this.#strategies = new VirtualTable({
      label: "Strategies. Enter opens one.",
      columns: strategyColumns,
      keyOf: ({ name }) => name,
      empty: () => "Strategies are listed when the engine has started.",
      chosen: ({ name }) => this.#watched !== undefined && openStrategy(this.#watched, name, actions, mayAct()),
      rowTone: ({ state, mode }) => (state === "failed" || mode === "halted" ? "tone-bad" : ""),
      most: 8,
    });
    this.#positions = new VirtualTable({
      label: "Positions of strategies. Enter opens the strategy.",
      columns: positionColumns(({ strategy, instId }) => actions.closeHoldings(strategy, instId)),
      keyOf: ({ strategy, instId }) => `${strategy}|${instId}`,
      empty: () => "Nothing is held, and nothing was traded yet.",
      chosen: ({ strategy }) => this.#watched !== undefined && openStrategy(this.#watched, strategy, actions, mayAct()),
      most: 8,
    });
    this.#balances = new VirtualTable({
      label: "Balances of the account",
      columns: balanceColumns,
      keyOf: ({ currency }) => currency,
      empty: () =>
        this.#watched?.engine?.unrecorded?.includes("account")
          ? "Balances are not recorded."
          : "Balances have not been read yet.",
      most: 6,
    });
    this.#accounts = new VirtualTable({
      label: "Accounts of the users",
      columns: accountColumns,
      keyOf: ({ user, currency }) => `${user}|${currency}`,
      empty: () => "Balances have not been read yet.",
      most: 8,
    });
    this.#accountsSection = element("section", { hidden: true }, element("h2", {}, "Accounts"), this.#accounts.node);
    this.#balancesSection = element("section", {}, element("h2", {}, "Balances"), this.#balances.node);
    const main = element(
      "div",
      {},
      element("section", {}, element("h2", {}, "Profit"), this.#equity.node),
      this.#accountsSection,
      element("section", {}, element("h2", {}, "Strategies"), this.#strategies.node),
      element("section", {}, element("h2", {}, "Positions"), this.#positions.node),
    );
    const side = element(
      "div",
      {},
      element("section", {}, element("h2", {}, "Quota"), this.#gauges.node),
      element("section", {}, element("h2", {}, "Last events"), this.#events),
      this.#balancesSection,
    );
    this.node = element("div", {}, this.#tiles, element("div", { class: "split" }, main, side));
  }

  /** @param {WatchedEngine} watched */
  draw(watched) {
    this.#watched = watched;
    const { state } = watched;
    inTurn(this.#tiles, () => this.#drawTiles(watched));
    inTurn(this.#gauges, () => this.#gauges.draw(watched));
    inTurn(this.#equity, () => this.#equity.update(state, 210));
    if (nowMs() - this.#drawnAt < pauseMs) return;
    this.#drawnAt = nowMs();
    if (this.#isNew("strategies", state))
      inTurn(this.#strategies, () => this.#strategies.set(state.list("strategies")));
    if (this.#isNew("positions", state)) inTurn(this.#positions, () => this.#positions.set(state.list("positions")));
    if (this.#isNew("balances", state, ["balances", "userMoney", "strategies"]))
      inTurn(this.#balances, () => this.#drawAccounts(state));
    if (this.#isNew("events", state)) inTurn(this.#events, () => this.#drawEvents(watched));
  }

  shown() {
    for (const table of [this.#strategies, this.#positions, this.#balances, this.#accounts]) table.draw();
  }

  /** Everything is drawn again: another engine is shown. */
  forget() {
    this.#drawnAt = Number.NEGATIVE_INFINITY;
    this.#versions = { strategies: -1, positions: -1, balances: -1, events: -1 };
  }

  restyle() {
    this.#equity.restyle();
  }

  /** @param {SourceState} state */
  #drawAccounts(state) {
    const isShared = usersOf(state).size > 1;
    this.#accountsSection.hidden = !isShared;
    this.#balancesSection.hidden = isShared;
    if (isShared) this.#accounts.set(accountRows(state));
    else this.#balances.set(state.list("balances"));
  }

  /** @param {"strategies" | "positions" | "balances" | "events"} section @param {SourceState} state @param {readonly SectionName[]} sections */
  #isNew(section, state, sections = [section]) {
    const version = state.version(sections);
    const isNew = version !== this.#versions[section];
    this.#versions[section] = version;
    return isNew;
  }

  /** @param {WatchedEngine} watched */
  #drawEvents({ state, now }) {
    const events = state.list("events").slice(-eventsShown).reverse();
    this.#events.replaceChildren(
      ...(events.length === 0
        ? [element("li", { class: "empty" }, "Nothing has happened yet.")]
        : events.map((row) => eventLine(row, now))),
    );
  }

  /** @param {WatchedEngine} watched */
  #drawTiles({ state, now }) {
    /** @type {Set<string>} */
    const names = new Set();
    const tell = (
      /** @type {string} */ name,
      /** @type {string} */ value,
      /** @type {string} */ more,
      tone = "",
      title = "",
    ) => {
      names.add(name);
      this.#tile(name, value, more, tone, title);
    };
    const money = state.list("money");
    if (money.length === 0) tell("Profit", "–", "nothing was traded yet");
    for (const row of money)
      tell(`Profit in ${row.currency}`, gainText(row.profit), moneyParts(row), toneOf(row.profit), exactly(row));
    const orders = openOrders(state);
    tell(
      "Open orders",
      figure(orders.resting),
      orders.waiting === 0 ? "none on its way" : `${figure(orders.waiting)} on their way`,
    );
    const held = state.list("positions").filter(({ qty }) => Number(qty) !== 0);
    const instruments = new Set(held.map(({ instId }) => instId)).size;
    tell(
      "Positions held",
      figure(held.length),
      held.length === 0 ? "flat" : `in ${countOf(instruments, "instrument")}`,
    );
    const minutes = state.list("quota").filter(({ layer }) => layer === "uid");
    const leftOf = (/** @type {QuotaRow} */ row) => row.capacity - (row.windowEndsAt <= now ? 0 : row.used);
    // Of several users the one that has least: it is the one that waits.
    const [minute] = minutes.sort((a, b) => leftOf(a) - leftOf(b));
    if (minute !== undefined) {
      const left = leftOf(minute);
      const until = minute.windowEndsAt <= now ? "" : `, new in ${leftText(minute.windowEndsAt - now)}`;
      const whose = minutes.length > 1 ? ` by ${minute.scope}` : "";
      tell(
        "Weight left",
        figure(left),
        `of ${figure(minute.capacity)} a window${whose}${until}`,
        left <= minute.reserved ? "amber" : "",
      );
    }
    const queue = state.row("queue", "all");
    const waiting = queue?.queued ?? 0;
    const inFlight = `${figure(queue?.inFlight ?? 0)} in flight`;
    if (lacks(state, "queue"))
      tell("Waiting for quota", "–", lacks(state, "limits") ? "not recorded" : `not recorded · ${inFlight}`);
    else
      tell(
        "Waiting for quota",
        waiting === 0 ? "nothing" : countOf(waiting, "action"),
        inFlight,
        waiting > 0 ? "amber" : "",
      );
    for (const [name, { node }] of this.#shown) {
      if (names.has(name)) continue;
      node.remove();
      this.#shown.delete(name);
    }
  }

  /** @param {string} name @param {string} value @param {string} more @param {string} tone @param {string} title */
  #tile(name, value, more, tone, title) {
    let tile = this.#shown.get(name);
    if (tile === undefined) {
      const [value, moreText] = [element("span", {}), element("small", {})];
      tile = {
        node: element("div", { class: "tile" }, element("dt", {}, name), element("dd", {}, value, moreText)),
        value,
        more: moreText,
      };
      this.#shown.set(name, tile);
      // Money is in front, independent of its time of arrival.
      if (name.startsWith("Profit")) this.#tiles.prepend(tile.node);
      else this.#tiles.append(tile.node);
    }
    put(tile.value, value);
    put(tile.more, more);
    tile.value.className = tone;
    tile.value.title = title;
  }
}

/** @param {MoneyRow} row */
const moneyParts = ({ realised, unrealised, fees }) =>
  `realised ${gainText(realised)} · unrealised ${gainText(unrealised)} · fees ${moneyText(fees)}`;

/** @param {MoneyRow} row */
const exactly = ({ profit, realised, unrealised, fees }) => `${profit} = ${realised} + ${unrealised} - ${fees}`;

const onTheWay = ["planned", "sent", "unknown"];

/** @param {SourceState} state */
export const openOrders = (state) => {
  let [resting, waiting] = [0, 0];
  for (const { isFinal, phase } of state.rows("orders").values()) {
    if (isFinal) continue;
    if (onTheWay.includes(phase)) waiting++;
    else resting++;
  }
  return { resting, waiting };
};

/** Returns true if the engine is a recording without this part. @param {SourceState} state @param {Unrecorded} part */
const lacks = (state, part) => state.row("engine")?.unrecorded?.includes(part) === true;
