/**
 * Orders and fills: filtered by words, strategy, instrument and state, sorted, with the story of one order next to them.
 *
 * Invariants: the count contains the number that the filters leave out; the orders that can be canceled by filter are
 * exactly the open ones that are shown, selected by the fields that the service of the engine knows.
 */
import { signal, untracked, useSignalEffect } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { Button, bound, Choice, type Choices, plainChoices, Search } from "../../ui-kit/client/controls.tsx";
import { useKept } from "../../ui-kit/client/kept.ts";
import { Table, useTable } from "../../ui-kit/client/table.tsx";
import { countOf } from "../../ui-kit/client/texts.ts";
import type { FillRow, OrderRow } from "../control-rows.ts";
import type { Actions, OrderFilter } from "./actions.tsx";
import { fillColumns, orderColumns } from "./order-columns.ts";
import { OrderStory } from "./order-story.tsx";
import type { Room } from "./room.ts";
import type { WatchedEngine } from "./watched-engine.ts";

const kinds = [
  ["open", "open orders"],
  ["over", "finished orders"],
  ["all", "all orders"],
  ["fills", "fills"],
] as const;

const sides = [
  ["", "both sides"],
  ["buy", "buys"],
  ["sell", "sells"],
] as const;

const latestFirst = { column: 0, down: true };
const ordersLabel = "Orders. Enter shows the story of one.";

const newFilter = () => ({
  kind: signal("open"),
  words: signal(""),
  strategy: signal(""),
  instId: signal(""),
  side: signal(""),
});

type Filter = { kind: string; words: string; strategy: string; instId: string; side: string };

const fits = (row: OrderRow | FillRow, { words, strategy, instId, side }: Filter) => {
  const text =
    "phase" in row
      ? `${row.clOrdId} ${row.slot} ${row.ordType} ${row.phase} ${row.reason}`
      : `${row.clOrdId} ${row.liquidity}`;
  return (
    (strategy === "" || row.strategy === strategy) &&
    (instId === "" || row.instId === instId) &&
    (side === "" || row.side === side) &&
    (words === "" || `${row.strategy} ${row.instId} ${text}`.toLowerCase().includes(words))
  );
};

const offered = (all: string, names: readonly string[]): Choices => [["", all], ...plainChoices(names)];

/** The button that cancels the open orders in sight; words cannot be asked for. */
const CancelShown = ({ filter, actions }: { filter: Filter; actions: Actions }) => {
  const { words, strategy, instId, side } = filter;
  const cancel = () => {
    const where: OrderFilter = {
      ...(strategy !== "" && { strategy }),
      ...(instId !== "" && { instId }),
      ...(side !== "" && { side: side === "buy" ? "buy" : "sell" }),
    };
    const of = strategy === "" ? "" : ` of ${strategy}`;
    const orders = side === "" ? "orders" : `${side} orders`;
    actions.cancel(where, `open ${orders}${of}${instId === "" ? "" : ` in ${instId}`}`);
  };
  return (
    <Button
      text="Cancel these …"
      label={
        words === ""
          ? "cancel the open orders that the filters show"
          : "Orders cannot be canceled by words: choose by strategy, instrument and side, or clear the words."
      }
      act={cancel}
      class="acts"
      disabled={words !== ""}
    />
  );
};

const emptyOrders = (orders: readonly OrderRow[], kind: string) => {
  if (kind === "open" && orders.every(({ isFinal }) => isFinal)) return "No order is open.";
  return orders.length === 0 ? "No orders yet." : "No order matches the filter.";
};

export const OrdersView = ({ watched, room, actions }: { watched: WatchedEngine; room: Room; actions: Actions }) => {
  const signals = useKept("orders", newFilter);
  const { state } = watched;
  const columns = useMemo(() => {
    const now = () => untracked(() => watched.now);
    return { orders: orderColumns(now), fills: fillColumns(now) };
  }, [watched]);
  const { current } = useTable(ordersLabel, latestFirst);
  // The row is no longer marked once its story is closed.
  useSignalEffect(() => {
    if (room.story.value === "") current.value = "";
  });
  const orders = state.list("orders");
  // Their names seldom change, while their figures do with every fill.
  const strategies = untracked(() => [...state.rows("strategies").keys()]);
  const instIds = [...new Set(orders.map(({ instId }) => instId))].sort();
  const filter: Filter = {
    kind: signals.kind.value,
    words: signals.words.value.toLowerCase(),
    strategy: strategies.includes(signals.strategy.value) ? signals.strategy.value : "",
    instId: instIds.includes(signals.instId.value) ? signals.instId.value : "",
    side: signals.side.value,
  };
  const isFills = filter.kind === "fills";
  const all: readonly (OrderRow | FillRow)[] = isFills
    ? state.list("fills")
    : orders.filter(({ isFinal }) => filter.kind === "all" || isFinal === (filter.kind === "over"));
  const rows = all.filter((row) => fits(row, filter));
  const open = ({ clOrdId }: OrderRow | FillRow) => {
    room.story.value = clOrdId;
  };
  return (
    <div class="fill withstory">
      <div class="fill">
        <div class="bar">
          <Choice label="list" {...bound(signals.kind)} choices={kinds} />
          <Search label="filter orders by words" of={signals.words} />
          <Choice label="strategy" {...bound(signals.strategy)} choices={offered("all strategies", strategies)} />
          <Choice label="instrument" {...bound(signals.instId)} choices={offered("all instruments", instIds)} />
          <Choice label="side" {...bound(signals.side)} choices={sides} />
          <span class="soft" role="status">
            {`${countOf(rows.length, isFills ? "fill" : "order")}${rows.length < all.length ? ` of ${all.length}` : ""}`}
          </span>
          {filter.kind === "open" && rows.length > 0 && <CancelShown filter={filter} actions={actions} />}
        </div>
        {isFills ? (
          <Table
            key="fills"
            label="Fills. Enter shows the story of the order."
            columns={columns.fills}
            rows={rows as readonly FillRow[]}
            keyOf={({ seq }) => String(seq)}
            empty={all.length === 0 ? "No fills yet." : "No fill matches the filter."}
            chosen={open}
            sort={latestFirst}
          />
        ) : (
          <Table
            key="orders"
            label={ordersLabel}
            columns={columns.orders}
            rows={rows as readonly OrderRow[]}
            keyOf={({ clOrdId }) => clOrdId}
            empty={emptyOrders(orders, filter.kind)}
            chosen={open}
            sort={latestFirst}
          />
        )}
      </div>
      {room.story.value !== "" && (
        <OrderStory key={room.story.value} clOrdId={room.story.value} watched={watched} room={room} actions={actions} />
      )}
    </div>
  );
};
