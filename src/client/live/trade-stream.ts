/**
 * Trade stream of one instrument.
 *
 * Invariants: one value for each trade, in the service's order; a trade whose size is not known in base currency is
 * left out.
 */
import { plain } from "../../decimal.ts";
import type { HotStream } from "../../market/hot-stream.ts";
import type { Trade } from "../../market/market-data.ts";
import { tradeOf } from "./field-values.ts";
import type { InstrumentParts } from "./instrument-parts.ts";
import { WatchedStream } from "./watched-stream.ts";

export const createTradeStream = ({
  instId,
  clock,
  trades,
  toBase,
  onPx,
  onAnomaly,
  onError,
}: InstrumentParts): HotStream<Trade> => {
  const stream = new WatchedStream<Trade>({
    onError,
    onListened: (listened) => {
      hold(listened);
    },
  });
  const hold = trades.join({
    take: ({ records }) => {
      const at = clock.now();
      for (const { px, sz, side } of records) {
        onPx(plain(px));
        const qty = toBase(instId, sz, px);
        if (qty === undefined)
          onAnomaly("size.unknown", `trades ${instId}: ${sz} cannot be converted to base currency`);
        else if (stream.observed) stream.next(tradeOf(instId, at, side, px, qty));
      }
    },
    state: () => undefined,
  });
  return stream;
};
