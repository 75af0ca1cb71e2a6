/**
 * One market: its prices with own fills and orders, and its book.
 *
 * Invariants: offers every instrument that the engine follows, trades or holds; when the chosen one is gone, the first
 * is shown.
 */
import { signal } from "@preact/signals";
import { bound, Choice, chosenOf, plainChoices, Toggle } from "../../ui-kit/client/controls.tsx";
import { useKept } from "../../ui-kit/client/kept.ts";
import { BookLadder } from "./book-ladder.tsx";
import { MarketChart } from "./market-chart.tsx";
import type { Room } from "./room.ts";
import type { SourceState } from "./source-state.ts";
import type { WatchedEngine } from "./watched-engine.ts";
import { ageText, shortFigure } from "./wording.ts";

const kinds = [
  ["bars", "candles"],
  ["line", "line"],
] as const;

/** Instruments that the engine follows, trades or holds. */
export const instrumentsOf = (state: SourceState) => [
  ...new Set([
    ...state.rows("markets").keys(),
    ...state.rows("book").keys(),
    ...state.list("positions").map(({ instId }) => instId),
    ...state.list("fills").map(({ instId }) => instId),
  ]),
];

const LastPrice = ({ watched, instId }: { watched: WatchedEngine; instId: string }) => {
  const market = watched.state.row("markets", instId);
  if (market === undefined) return <p class="lastprice" />;
  const { bid, ask, last, at } = market;
  const traded = last === "" ? "" : ` · last ${shortFigure(last)}`;
  const age = ageText(Math.max(0, watched.now - at));
  return <p class="lastprice">{`${shortFigure(bid)} / ${shortFigure(ask)}${traded} · ${age}`}</p>;
};

export const MarketView = ({ watched, room }: { watched: WatchedEngine; room: Room }) => {
  const { state } = watched;
  const { chosen, kind, fills, orders } = useKept("market", () => ({
    chosen: signal(""),
    kind: signal("bars"),
    fills: signal(true),
    orders: signal(true),
  }));
  const instruments = plainChoices(instrumentsOf(state));
  const instId = chosenOf(chosen.value, instruments);
  if (instId === "")
    return (
      <p class="empty">
        {state.lacks("prices")
          ? "Prices are not recorded."
          : "No market yet: the engine shows one when a strategy follows or trades it."}
      </p>
    );
  return (
    <div>
      <div class="split">
        <section class="first">
          <MarketChart
            label="Prices with own fills and resting orders"
            watched={watched}
            instId={instId}
            room={room}
            height={innerWidth < 600 ? 260 : 430}
            look={{ asLine: kind.value === "line", withFills: fills.value, withOrders: orders.value }}
          >
            <Choice label="instrument" {...bound(chosen)} choices={instruments} />
            <Choice label="kind of chart" {...bound(kind)} choices={kinds} />
            <Toggle name="fills" of={fills} />
            <Toggle name="orders" of={orders} />
          </MarketChart>
        </section>
        <section>
          <h2>Book</h2>
          <LastPrice watched={watched} instId={instId} />
          <BookLadder state={state} instId={instId} />
        </section>
      </div>
    </div>
  );
};
