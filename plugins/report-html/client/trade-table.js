/**
 * The table of trades: sorted by any column, filtered, a page at a time; choosing one shows its place in the charts.
 *
 * Invariants: sorting is stable over the order in which trades closed; the count says how many are left out by the filters.
 */
import { valueAt } from "../../ui-kit/client/columns.js";
import { button, choice, element } from "../../ui-kit/client/elements.js";
import { countOf, figure, gain, instant, lasting } from "../../ui-kit/client/texts.js";

/** @import {PageData} from "../../ui-kit/page-data.ts" */
/** @typedef {{ name: string, value: (trade: number) => number | string, text: (trade: number) => string, isText?: boolean, tone?: boolean }} TradeColumn */

const perPage = 20;

const results = /** @type {const} */ ([
  ["", "won and lost"],
  ["won", "won"],
  ["lost", "lost"],
  ["even", "neither"],
  ["open", "still open"],
]);

/** @param {PageData} data @returns {TradeColumn[]} */
const columnsOf = (data) => {
  const { trades, instruments, strategies, startAt, spanMs, places } = data;
  const instrument = (/** @type {number} */ trade) => instruments[valueAt(trades.instrument, trade)];
  const closed = (/** @type {number} */ trade) =>
    valueAt(trades.closedAt, trade) < 0 ? spanMs : valueAt(trades.closedAt, trade);
  const held = (/** @type {number} */ trade) => Math.max(0, closed(trade) - valueAt(trades.openedAt, trade));
  const costs = (/** @type {number} */ trade) => valueAt(trades.fees, trade) + valueAt(trades.funding, trade);
  const px = (/** @type {number} */ value, /** @type {number} */ trade) =>
    figure(value, (instrument(trade)?.places ?? 2) + 1, 2);
  const money = (/** @type {keyof typeof trades} */ name) => ({
    value: (/** @type {number} */ trade) => valueAt(trades[name], trade),
    text: (/** @type {number} */ trade) => gain(valueAt(trades[name], trade), places),
  });
  const strategy = (/** @type {number} */ trade) => strategies[valueAt(trades.strategy, trade)] ?? "";
  return [
    {
      name: "opened",
      value: (trade) => valueAt(trades.openedAt, trade),
      text: (trade) => instant(valueAt(trades.openedAt, trade) + startAt, 3_600_000),
    },
    {
      name: "held",
      value: held,
      text: (trade) => `${lasting(held(trade))}${valueAt(trades.closedAt, trade) < 0 ? ", open" : ""}`,
    },
    { name: "strategy", value: strategy, text: strategy, isText: true },
    {
      name: "instrument",
      value: (trade) => instrument(trade)?.instId ?? "",
      text: (trade) => instrument(trade)?.instId ?? "",
      isText: true,
    },
    {
      name: "side",
      value: (trade) => valueAt(trades.long, trade),
      text: (trade) => (trades.long[trade] === 1 ? "▲ long" : "▼ short"),
      isText: true,
    },
    {
      name: "quantity",
      value: (trade) => valueAt(trades.qty, trade),
      text: (trade) => figure(valueAt(trades.qty, trade)),
    },
    {
      name: "entry",
      value: (trade) => valueAt(trades.entryPx, trade),
      text: (trade) => px(valueAt(trades.entryPx, trade), trade),
    },
    {
      name: "exit",
      value: (trade) => valueAt(trades.exitPx, trade),
      text: (trade) => px(valueAt(trades.exitPx, trade), trade),
    },
    { name: "costs", value: costs, text: (trade) => figure(costs(trade), places, places) },
    { name: "net", ...money("net"), tone: true },
    { name: "best move", ...money("best") },
    { name: "worst move", ...money("worst") },
  ];
};

export class TradeTable {
  node;
  #data;
  #columns;
  #chosen;
  #body = element("tbody", {});
  #count = element("span", { class: "soft", role: "status" });
  #heads;
  #filters = { strategy: "", instrument: "", result: "" };
  #by = 0;
  #down = false;
  #page = 0;
  #current = -1;

  /** @param {PageData} data @param {(trade: number) => void} chosen is told which one was */
  constructor(data, chosen) {
    this.#data = data;
    this.#chosen = chosen;
    this.#columns = columnsOf(data);
    this.#heads = this.#columns.map(({ name, isText = false }, index) => {
      const sort = button(name, `sort by ${name}`, () => this.#sort(index, name !== "opened" && !isText));
      return element("th", { scope: "col", class: isText ? "" : "n" }, sort);
    });
    this.#body.addEventListener("keydown", (event) => this.#takeKey(event));
    const caption = element(
      "caption",
      {},
      "Trades from flat to flat. Choose one to see it in the charts: click, or arrow keys and Enter.",
    );
    const table = element(
      "table",
      { class: "trades" },
      caption,
      element("thead", {}, element("tr", {}, ...this.#heads)),
      this.#body,
    );
    const region = element("div", { class: "scroll", role: "region", "aria-label": "Trades", tabindex: "0" }, table);
    this.node = element("div", {}, this.#bar(), region);
    this.#update();
  }

  #bar() {
    const { strategies, instruments } = this.#data;
    const numbered = (/** @type {readonly string[]} */ names) =>
      names.map((name, index) => /** @type {const} */ ([String(index), name]));
    const filter = (
      /** @type {"strategy" | "instrument" | "result"} */ name,
      /** @type {readonly (readonly [string, string])[]} */ choices,
    ) =>
      choice(`${name} of trades`, choices, (value) => {
        this.#filters[name] = value;
        this.#turn(Number.NEGATIVE_INFINITY);
      });
    return element(
      "div",
      { class: "bar" },
      ...(strategies.length > 1 ? [filter("strategy", [["", "all strategies"], ...numbered(strategies)])] : []),
      ...(instruments.length > 1
        ? [filter("instrument", [["", "all instruments"], ...numbered(instruments.map(({ instId }) => instId))])]
        : []),
      filter("result", results),
      button("‹", "previous page of trades", () => this.#turn(-1)),
      button("›", "next page of trades", () => this.#turn(1)),
      this.#count,
    );
  }

  /** @param {number} column @param {boolean} downFirst */
  #sort(column, downFirst) {
    this.#down = this.#by === column ? !this.#down : downFirst;
    this.#by = column;
    this.#turn(Number.NEGATIVE_INFINITY);
  }

  /** @param {number} pages */
  #turn(pages) {
    this.#page = Math.max(0, this.#page + pages);
    this.#update();
  }

  /** @param {number} trade */
  #choose(trade) {
    this.#current = trade;
    for (const row of this.#body.rows) row.toggleAttribute("aria-current", row.dataset["trade"] === String(trade));
    this.#chosen(trade);
  }

  /** @param {number} trade */
  #isShown(trade) {
    const { trades } = this.#data;
    const { strategy, instrument, result } = this.#filters;
    const net = valueAt(trades.net, trade);
    const ending = valueAt(trades.closedAt, trade) < 0 ? "open" : net > 0 ? "won" : net < 0 ? "lost" : "even";
    return (
      (strategy === "" || String(trades.strategy[trade]) === strategy) &&
      (instrument === "" || String(trades.instrument[trade]) === instrument) &&
      (result === "" || result === ending)
    );
  }

  /** @returns {number[]} */
  #rows() {
    const { value } = /** @type {TradeColumn} */ (this.#columns[this.#by]);
    const rows = Array.from({ length: this.#data.trades.net.length }, (_, trade) => trade).filter((trade) =>
      this.#isShown(trade),
    );
    const keys = new Map(rows.map((trade) => [trade, value(trade)]));
    return rows.sort((a, b) => {
      const [one, other] = [keys.get(a) ?? 0, keys.get(b) ?? 0];
      return (one < other ? -1 : one > other ? 1 : 0) * (this.#down ? -1 : 1) || a - b;
    });
  }

  #update() {
    const rows = this.#rows();
    const sorted = this.#down ? "descending" : "ascending";
    for (const [index, head] of this.#heads.entries())
      head.setAttribute("aria-sort", index === this.#by ? sorted : "none");
    const pages = Math.max(1, Math.ceil(rows.length / perPage));
    this.#page = Math.min(pages - 1, this.#page);
    const first = this.#page * perPage;
    this.#body.replaceChildren(
      ...rows.slice(first, first + perPage).map((trade, index) => this.#rowOf(trade, index === 0)),
    );
    const all = this.#data.trades.net.length;
    const of = rows.length < all ? ` of ${figure(all)}` : "";
    this.#count.textContent = `${countOf(rows.length, "trade")}${of}, page ${figure(this.#page + 1)} of ${figure(pages)}`;
  }

  /** @param {number} trade @param {boolean} isFirst the one that Tab comes to */
  #rowOf(trade, isFirst) {
    const row = element("tr", {
      tabindex: isFirst ? "0" : "-1",
      "data-trade": String(trade),
      "aria-current": trade === this.#current,
    });
    for (const { text, isText = false, tone = false } of this.#columns) {
      const value = text(trade);
      const sign = value.startsWith("+") ? " gain" : value.startsWith("−") ? " loss" : "";
      row.append(element("td", { class: isText ? "" : `n${tone ? sign : ""}` }, value));
    }
    row.addEventListener("click", () => this.#choose(trade));
    return row;
  }

  /** @param {KeyboardEvent} event */
  #takeKey(event) {
    const { key, target: row } = event;
    if (!(row instanceof HTMLTableRowElement)) return;
    const { firstElementChild: first, lastElementChild: last } = this.#body;
    const to = { ArrowDown: row.nextElementSibling, ArrowUp: row.previousElementSibling, Home: first, End: last }[key];
    if (to instanceof HTMLElement) to.focus();
    else if (key === "Enter" || key === " ") this.#choose(Number(row.dataset["trade"]));
    else if (key === "PageDown" || key === "PageUp") {
      this.#turn(key === "PageDown" ? 1 : -1);
      /** @type {HTMLElement | null} */ (this.#body.firstElementChild)?.focus();
    } else return;
    event.preventDefault();
  }
}
