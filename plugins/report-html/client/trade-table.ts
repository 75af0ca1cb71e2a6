/**
 * The table of trades: sorted by any column, filtered, a page at a time; choosing one shows its place in the charts.
 *
 * Invariants: sorting is stable over the order in which trades closed; the count shows how many trades the filters leave out.
 */
import { valueAt } from "../../ui-kit/client/columns.ts";
import { button, choice, element } from "../../ui-kit/client/elements.ts";
import { countOf, figure, gain, instant, lasting } from "../../ui-kit/client/texts.ts";
import type { PageData } from "../../ui-kit/page-data.ts";

type TradeColumn = {
  name: string;
  value: (trade: number) => number | string;
  text: (trade: number) => string;
  isText?: boolean;
  tone?: boolean;
};

const perPage = 20;

const results = [
  ["", "won and lost"],
  ["won", "won"],
  ["lost", "lost"],
  ["even", "neither"],
  ["open", "still open"],
] as const;

const columnsOf = (data: PageData): TradeColumn[] => {
  const { trades, instruments, strategies, endings, startAt, spanMs, places } = data;
  const instrument = (trade: number) => instruments[valueAt(trades.instrument, trade)];
  const closed = (trade: number) => (valueAt(trades.closedAt, trade) < 0 ? spanMs : valueAt(trades.closedAt, trade));
  const held = (trade: number) => Math.max(0, closed(trade) - valueAt(trades.openedAt, trade));
  const costs = (trade: number) => valueAt(trades.fees, trade) + valueAt(trades.funding, trade);
  const px = (value: number, trade: number) => figure(value, (instrument(trade)?.places ?? 2) + 1, 2);
  const money = (name: keyof typeof trades) => ({
    value: (trade: number) => valueAt(trades[name], trade),
    text: (trade: number) => gain(valueAt(trades[name], trade), places),
  });
  const ending = (trade: number) => endings[valueAt(trades.ending, trade)] ?? "";
  const strategy = (trade: number) => strategies[valueAt(trades.strategy, trade)] ?? "";
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
    { name: "ended by", value: ending, text: ending, isText: true },
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

  /** @param chosen - is called with the trade that the user chooses */
  constructor(data: PageData, chosen: (trade: number) => void) {
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
    const numbered = (names: readonly string[]) => names.map((name, index) => [String(index), name] as const);
    const filter = (name: "strategy" | "instrument" | "result", choices: readonly (readonly [string, string])[]) =>
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

  #sort(column: number, downFirst: boolean) {
    this.#down = this.#by === column ? !this.#down : downFirst;
    this.#by = column;
    this.#turn(Number.NEGATIVE_INFINITY);
  }

  #turn(pages: number) {
    this.#page = Math.max(0, this.#page + pages);
    this.#update();
  }

  #choose(trade: number) {
    this.#current = trade;
    for (const row of this.#body.rows) row.toggleAttribute("aria-current", row.dataset["trade"] === String(trade));
    this.#chosen(trade);
  }

  #isShown(trade: number) {
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

  #rows(): number[] {
    const { value } = this.#columns[this.#by] as TradeColumn;
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

  /** @param isFirst - the one that Tab comes to */
  #rowOf(trade: number, isFirst: boolean) {
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

  #takeKey(event: KeyboardEvent) {
    const { key, target: row } = event;
    if (!(row instanceof HTMLTableRowElement)) return;
    const { firstElementChild: first, lastElementChild: last } = this.#body;
    const to = { ArrowDown: row.nextElementSibling, ArrowUp: row.previousElementSibling, Home: first, End: last }[key];
    if (to instanceof HTMLElement) to.focus();
    else if (key === "Enter" || key === " ") this.#choose(Number(row.dataset["trade"]));
    else if (key === "PageDown" || key === "PageUp") {
      this.#turn(key === "PageDown" ? 1 : -1);
      (this.#body.firstElementChild as HTMLElement | null)?.focus();
    } else return;
    event.preventDefault();
  }
}
