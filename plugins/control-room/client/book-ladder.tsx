/**
 * The book of one instrument as a ladder: asks above, bids below, the depth of each level as a bar, own resting orders marked.
 *
 * Invariants: at most `levelsMax` levels a side; own orders are marked by a word, not by colour alone; prices and
 * quantities have all received digits, and as many after the point as the longest of their column.
 */
import { decimalFigure, fractionOf, minus, plainDecimal, plus } from "./decimal-texts.ts";
import type { SourceState } from "./source-state.ts";

const levelsMax = 12;

type Level = readonly [px: string, qty: string];

const topOf = (px: string | undefined): readonly Level[] => (px === undefined || px === "" ? [] : [[px, ""]]);

const longest = (texts: readonly string[]) => Math.max(...texts.map(fractionOf));

/** Returns the quantity of own open orders at each price. */
const ownOrders = (state: SourceState, instId: string) => {
  const own: Map<string, string> = new Map();
  for (const order of state.rows("orders").values()) {
    if (order.isFinal || order.instId !== instId || order.px === "" || order.qty === "") continue;
    const px = plainDecimal(order.px);
    own.set(px, plus(own.get(px) ?? "0", order.qty));
  }
  return own;
};

export const BookLadder = ({ state, instId }: { state: SourceState; instId: string }) => {
  const isUnrecorded = state.lacks("book");
  const book = isUnrecorded ? undefined : state.row("book", instId);
  const market = state.row("markets", instId);
  const asks = (book?.asks ?? topOf(market?.ask)).slice(0, levelsMax);
  const bids = (book?.bids ?? topOf(market?.bid)).slice(0, levelsMax);
  const levels = [...asks, ...bids];
  const own = ownOrders(state, instId);
  const most = Math.max(...levels.map(([, qty]) => Number(qty)), 1e-12);
  const places = { px: longest(levels.map(([px]) => px)), qty: longest(levels.map(([, qty]) => qty)) };
  const row =
    (side: "ask" | "bid") =>
    ([px, qty]: Level, place: number) => {
      const owned = own.get(plainDecimal(px));
      return (
        <tr key={`${side} ${place}`} class={side}>
          <td class="px n">{decimalFigure(px, undefined, places.px)}</td>
          <td class="n depth">
            <i style={{ width: `${((100 * Number(qty)) / most).toFixed(0)}%` }} />
            <span>{qty === "" ? "" : decimalFigure(qty, undefined, places.qty)}</span>
          </td>
          <td class="n own">{owned === undefined ? "" : `${decimalFigure(owned)} own`}</td>
        </tr>
      );
    };
  const [[ask] = [], [bid] = []] = [asks[0], bids[0]];
  return (
    <div>
      <table class="ladder" hidden={levels.length === 0}>
        <caption class="unseen">Book: asks above, bids below</caption>
        <thead>
          <tr>
            {["price", "quantity", "own"].map((name) => (
              <th key={name} scope="col" class="n">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {asks.map(row("ask")).reverse()}
          <tr class="spread">
            <td class="px n">
              {ask === undefined || bid === undefined ? "" : `spread ${decimalFigure(minus(ask, bid))}`}
            </td>
            <td class="n depth" />
            <td class="n own" />
          </tr>
          {bids.map(row("bid"))}
        </tbody>
      </table>
      {isUnrecorded && <p class="empty">Books are not recorded: best prices only.</p>}
      {!isUnrecorded && levels.length === 0 && (
        <p class="empty">No book yet: the engine subscribes to it when a strategy does.</p>
      )}
    </div>
  );
};
