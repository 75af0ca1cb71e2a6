/**
 * Orders and fills: filtered by words, strategy, instrument and state, sorted, with the story of one order next to them.
 *
 * Invariants: the count contains the number that the filters leave out; the orders that can be canceled by filter are exactly the open ones
 * that are shown, selected by the fields that the service of the engine knows.
 */
import { button, choice, element, offer } from "../../ui-kit/client/elements.ts";
import { countOf } from "../../ui-kit/client/texts.ts";
import type { FillRow, OrderRow } from "../control-rows.ts";
import type { Actions, OrderFilter } from "./actions.ts";
import { nowMs } from "./browser-clock.ts";
import { fillColumns, orderColumns } from "./order-columns.ts";
import { OrderStory } from "./order-story.ts";
import { VirtualTable } from "./pooled-table.ts";
import { put } from "./table-cells.ts";
import type { WatchedEngine } from "./watched-engine.ts";

/** Shortest pause between two sorts of many rows. */
const pauseMs = 200;

export class OrdersView {
  name = "Orders";
  node;
  #watched: WatchedEngine | undefined;
  #actions;
  #words = element("input", { type: "search", placeholder: "filter by words", "aria-label": "filter orders by words" });
  #what = choice(
    "what is listed",
    [
      ["open", "open orders"],
      ["over", "orders that are over"],
      ["all", "all orders"],
      ["fills", "fills"],
    ],
    () => this.#refresh(),
  );
  #strategies = choice("strategy", [["", "all strategies"]], () => this.#refresh());
  #instruments = choice("instrument", [["", "all instruments"]], () => this.#refresh());
  #sides = choice(
    "side",
    [
      ["", "both sides"],
      ["buy", "buys"],
      ["sell", "sells"],
    ],
    () => this.#refresh(),
  );
  #count = element("span", { class: "soft", role: "status" });
  #cancel;
  #orders;
  #fills;
  #story;
  #version = "";
  #drawnAt = 0;

  constructor(actions: Actions) {
    this.#actions = actions;
    const now = () => this.#watched?.now ?? 0;
    this.#story = new OrderStory(actions, () => this.#orders.mark(""));
    this.#orders = new VirtualTable({
      label: "Orders. Enter shows the story of one.",
      columns: orderColumns(now),
      keyOf: ({ clOrdId }) => clOrdId,
      empty: () => this.#emptyText(),
      chosen: ({ clOrdId }) => this.#open(clOrdId),
      sort: { column: 0, down: true },
    });
    this.#fills = new VirtualTable({
      label: "Fills. Enter shows the story of the order.",
      columns: fillColumns(now),
      keyOf: ({ seq }) => String(seq),
      empty: () =>
        this.#watched?.state.rows("fills").size === 0 ? "Nothing was filled yet." : "No fill fits the filter.",
      chosen: ({ clOrdId }) => this.#open(clOrdId),
      sort: { column: 0, down: true },
    });
    this.#cancel = button("Cancel these …", "cancel the open orders that the filters show", () => this.#cancelShown());
    this.#cancel.classList.add("acts");
    this.#words.addEventListener("input", () => this.#refresh());
    const bar = element(
      "div",
      { class: "bar" },
      this.#what,
      this.#words,
      this.#strategies,
      this.#instruments,
      this.#sides,
      this.#count,
      this.#cancel,
    );
    this.node = element(
      "div",
      { class: "fill withstory" },
      element("div", { class: "fill" }, bar, this.#orders.node, this.#fills.node),
      this.#story.node,
    );
  }

  get filter() {
    return this.#words;
  }

  draw(watched: WatchedEngine) {
    if (this.#watched !== watched) this.#story.close();
    this.#watched = watched;
    this.#story.draw(watched);
    const version = `${watched.id} ${watched.state.version(["orders", "fills"])}`;
    if (version === this.#version || nowMs() - this.#drawnAt < pauseMs) return;
    this.#version = version;
    this.#refresh();
  }

  shown() {
    this.#refresh();
  }

  forget() {
    this.#version = "";
    this.#drawnAt = 0;
  }

  /** True where Escape had something to close. */
  escape() {
    return this.#story.close();
  }

  #open(clOrdId: string) {
    this.#story.open(clOrdId);
    if (this.#watched !== undefined) this.#story.draw(this.#watched);
    if (innerWidth < 900) this.#story.node.focus();
  }

  #emptyText() {
    const orders = this.#watched?.state.list("orders") ?? [];
    if (this.#what.value === "open" && orders.every(({ isFinal }) => isFinal)) return "No order is open.";
    return orders.length === 0 ? "No order was placed yet." : "No order fits the filter.";
  }

  #refresh() {
    const state = this.#watched?.state;
    if (state === undefined) return;
    this.#drawnAt = nowMs();
    const isFills = this.#what.value === "fills";
    this.#orders.node.hidden = isFills;
    this.#fills.node.hidden = !isFills;
    const orders = state.list("orders");
    offerNames(this.#strategies, "all strategies", [...state.rows("strategies").keys()]);
    offerNames(this.#instruments, "all instruments", [...new Set(orders.map(({ instId }) => instId))].sort());
    const count = isFills
      ? this.#list(this.#fills, state.list("fills"))
      : this.#list(
          this.#orders,
          orders.filter(({ isFinal }) => this.#what.value === "all" || isFinal === (this.#what.value === "over")),
        );
    this.#cancel.hidden = this.#what.value !== "open" || count === 0;
    this.#cancel.disabled = this.#words.value !== "";
    this.#cancel.title = this.#cancel.disabled
      ? "Words cannot be asked for: choose by strategy, instrument and side, or clear the words."
      : "";
  }

  /** Lists the rows that pass the filters, and returns their number. */
  #list<R extends OrderRow | FillRow>(table: VirtualTable<R>, all: readonly R[]): number {
    const rows = all.filter((row) => this.#fits(row));
    table.set(rows);
    const of = rows.length < all.length ? ` of ${all.length}` : "";
    put(this.#count, `${countOf(rows.length, this.#what.value === "fills" ? "fill" : "order")}${of}`);
    return rows.length;
  }

  #fits(row: OrderRow | FillRow) {
    const words = this.#words.value.toLowerCase();
    const text =
      "phase" in row
        ? `${row.clOrdId} ${row.slot} ${row.ordType} ${row.phase} ${row.reason}`
        : `${row.clOrdId} ${row.liquidity}`;
    return (
      (this.#strategies.value === "" || row.strategy === this.#strategies.value) &&
      (this.#instruments.value === "" || row.instId === this.#instruments.value) &&
      (this.#sides.value === "" || row.side === this.#sides.value) &&
      (words === "" || `${row.strategy} ${row.instId} ${text}`.toLowerCase().includes(words))
    );
  }

  #cancelShown() {
    const [strategy, instId, side] = [this.#strategies.value, this.#instruments.value, this.#sides.value];
    const where: OrderFilter = {
      ...(strategy === "" ? {} : { strategy }),
      ...(instId === "" ? {} : { instId }),
      ...(side === "" ? {} : { side: side === "buy" ? "buy" : "sell" }),
    };
    const of = strategy === "" ? "" : ` of ${strategy}`;
    this.#actions.cancel(
      where,
      `open ${side === "" ? "orders" : `${side} orders`}${of}${instId === "" ? "" : ` in ${instId}`}`,
    );
  }
}

const offerNames = (select: HTMLSelectElement, all: string, names: readonly string[]) =>
  offer(select, [["", all], ...names.map((name) => [name, name] as const)]);
