/**
 * The first view: profits, positions, the remaining quota, and waiting actions.
 *
 * Invariants: profits of different currencies are never added, and where there are several users each has a row of its own; strategies
 * and positions are all there, in tables that scroll.
 */
import { element } from "../../ui-kit/client/elements.ts";
import { countOf, figure } from "../../ui-kit/client/texts.ts";
import type { MoneyRow, QuotaRow, SectionName } from "../control-rows.ts";
import { accountRows, usersOf } from "./account-rows.ts";
import type { Actions } from "./actions.ts";
import { inTurn, nowMs } from "./browser-clock.ts";
import { EquityChart } from "./equity-chart.ts";
import { eventLine } from "./events-view.ts";
import { accountColumns, balanceColumns, positionColumns, strategyColumns } from "./overview-columns.ts";
import { OverviewPrice } from "./overview-price.ts";
import { QuotaGauges } from "./quota-gauges.ts";
import type { SeenPrices } from "./seen-prices.ts";
import type { SourceState } from "./source-state.ts";
import { openStrategy } from "./strategy-dialog.ts";
import { put } from "./table-cells.ts";
import { VirtualTable } from "./virtual-table.ts";
import type { WatchedEngine } from "./watched-engine.ts";
import { gainText, leftText, moneyText, toneOf } from "./wording.ts";

/** Lists are read, not watched: a few times a second is enough. */
const pauseMs = 200;

const eventsShown = 12;
const chartPx = 210;

export class OverviewView {
  name = "Overview";
  node;
  #tiles = element("dl", { class: "tiles" });
  #shown: Map<string, { node: HTMLElement; value: HTMLElement; more: HTMLElement }> = new Map();
  #price;
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
  #watched: WatchedEngine | undefined;

  constructor(actions: Actions, mayAct: () => boolean, seen: SeenPrices) {
    this.#price = new OverviewPrice(seen, chartPx);
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
        this.#watched?.state.lacks("account") ? "Balances are not recorded." : "Balances have not been read yet.",
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
      element(
        "div",
        { class: "twocharts" },
        this.#price.node,
        element("section", {}, element("h2", {}, "Profit"), this.#equity.node),
      ),
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

  draw(watched: WatchedEngine) {
    this.#watched = watched;
    const { state } = watched;
    inTurn(this.#tiles, () => this.#drawTiles(watched));
    inTurn(this.#gauges, () => this.#gauges.draw(watched));
    inTurn(this.#equity, () => this.#equity.update(state, chartPx));
    this.#price.update(state);
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
    this.#price.forget();
    this.#drawnAt = Number.NEGATIVE_INFINITY;
    this.#versions = { strategies: -1, positions: -1, balances: -1, events: -1 };
  }

  restyle() {
    this.#equity.restyle();
    this.#price.restyle();
  }

  #drawAccounts(state: SourceState) {
    const isShared = usersOf(state).size > 1;
    this.#accountsSection.hidden = !isShared;
    this.#balancesSection.hidden = isShared;
    if (isShared) this.#accounts.set(accountRows(state));
    else this.#balances.set(state.list("balances"));
  }

  #isNew(
    section: "strategies" | "positions" | "balances" | "events",
    state: SourceState,
    sections: readonly SectionName[] = [section],
  ) {
    const version = state.version(sections);
    const isNew = version !== this.#versions[section];
    this.#versions[section] = version;
    return isNew;
  }

  #drawEvents({ state, now }: WatchedEngine) {
    const events = state.list("events").slice(-eventsShown).reverse();
    this.#events.replaceChildren(
      ...(events.length === 0
        ? [element("li", { class: "empty" }, "Nothing has happened yet.")]
        : events.map((row) => eventLine(row, now))),
    );
  }

  #drawTiles(watched: WatchedEngine) {
    const { state } = watched;
    const names: Set<string> = new Set();
    const tell = (name: string, value: string, more: string, tone = "", title = "") => {
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
    tellWeight(tell, watched);
    tellQueue(tell, state);
    for (const [name, { node }] of this.#shown) {
      if (names.has(name)) continue;
      node.remove();
      this.#shown.delete(name);
    }
  }

  #tile(name: string, value: string, more: string, tone: string, title: string) {
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

const moneyParts = ({ realised, unrealised, fees }: MoneyRow) =>
  `realised ${gainText(realised)} · unrealised ${gainText(unrealised)} · fees ${moneyText(fees)}`;

const exactly = ({ profit, realised, unrealised, fees }: MoneyRow) =>
  `${profit} = ${realised} + ${unrealised} - ${fees}`;

const onTheWay = ["planned", "sent", "unknown"];

export const openOrders = (state: SourceState) => {
  let [resting, waiting] = [0, 0];
  for (const { isFinal, phase } of state.rows("orders").values()) {
    if (isFinal) continue;
    if (onTheWay.includes(phase)) waiting++;
    else resting++;
  }
  return { resting, waiting };
};

type Tell = (name: string, value: string, more: string, tone?: string, title?: string) => void;

const tellWeight = (tell: Tell, { state, now }: WatchedEngine): void => {
  const minutes = state.list("quota").filter(({ layer }) => layer === "uid");
  const leftOf = (row: QuotaRow) => row.capacity - (row.windowEndsAt <= now ? 0 : row.used);
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
};

const tellQueue = (tell: Tell, state: SourceState): void => {
  const queue = state.row("queue", "all");
  const waiting = queue?.queued ?? 0;
  const inFlight = `${figure(queue?.inFlight ?? 0)} in flight`;
  if (state.lacks("queue"))
    tell("Waiting for quota", "–", state.lacks("limits") ? "not recorded" : `not recorded · ${inFlight}`);
  else
    tell(
      "Waiting for quota",
      waiting === 0 ? "nothing" : countOf(waiting, "action"),
      inFlight,
      waiting > 0 ? "amber" : "",
    );
};
