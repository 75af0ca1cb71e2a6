/**
 * The strategies of the replay bench, written as a user would write them: plain RxJS on the streams of the context.
 *
 * Invariants: none looks at more than it names; `seen` counts what reached its code, so that a run that skipped work shows.
 */
import { distinctUntilChanged, filter, ignoreElements, map, merge, scan, tap } from "rxjs";

const closed = { type: "object", additionalProperties: false, properties: {} };

/** Counts the trades of `instIds` and wants nothing. */
export const counting = ({ defineStrategy }, name, instIds, seen) =>
  defineStrategy({
    name,
    options: closed,
    run: ({ market }) =>
      merge(...instIds.map((instId) => market.trades(instId))).pipe(
        tap(() => {
          seen.count++;
        }),
        ignoreElements(),
      ),
  })({});

/** The same with one operator on the stream of each product and nothing behind it. */
export const countingEach = ({ defineStrategy }, name, instIds, seen) =>
  defineStrategy({
    name,
    options: closed,
    run: ({ market }) =>
      merge(
        ...instIds.map((instId) =>
          market.trades(instId).pipe(
            filter(() => {
              seen.count++;
              return false;
            }),
          ),
        ),
      ),
  })({});

/** The same for one product. */
export const countingOne = (sluice, name, instId, seen) => countingEach(sluice, name, [instId], seen);

/** Mean of the last `length` numbers, as a running sum. */
const mean = (length) => {
  const last = new Float64Array(length);
  let slot = 0;
  let sum = 0;
  let count = 0;
  return (value) => {
    sum += value - last[slot];
    last[slot] = value;
    slot = slot + 1 === length ? 0 : slot + 1;
    if (count < length) count++;
    return count < length ? undefined : sum / length;
  };
};

const crosses = (candles$) => {
  const fast = mean(10);
  const slow = mean(30);
  return candles$.pipe(
    map(({ closeFloat }) => [fast(closeFloat), slow(closeFloat)]),
    filter(([, long]) => long !== undefined),
    map(([short, long]) => short > long),
    distinctUntilChanged(),
    scan((count) => count + 1, 0),
  );
};

/** Where the mean of 10 bars crosses that of 30. */
export const crossing = ({ defineStrategy }, seen) =>
  defineStrategy({
    name: "cross",
    options: closed,
    run: ({ market }) =>
      crosses(market.candles("BTC-USDT-SWAP", 60_000)).pipe(
        tap((count) => {
          seen.count = count;
        }),
        ignoreElements(),
      ),
  })({});

/**
 * The same on bars of `barMs`, and wants to trade: a buy where the fast mean rises above the slow one, a sell where it falls below,
 * at the close or at the market.
 */
export const trading = ({ defineStrategy }, seen, barMs = 60_000, ordType = "limit") =>
  defineStrategy({
    name: "cross",
    options: closed,
    wanted: ({ market }) => {
      const fast = mean(10);
      const slow = mean(30);
      return market.candles("BTC-USDT-SWAP", barMs).pipe(
        map((bar) => ({ bar, short: fast(bar.closeFloat), long: slow(bar.closeFloat) })),
        filter(({ long }) => long !== undefined),
        map(({ bar, short, long }) => ({ bar, side: short > long ? "buy" : "sell" })),
        distinctUntilChanged((before, now) => before.side === now.side),
        map(({ bar, side }) => {
          seen.count++;
          const price = ordType === "market" ? { ordType, round: seen.count } : { px: bar.close };
          return [{ slot: "cross", instId: "BTC-USDT-SWAP", side, ...price, qty: "0.01" }];
        }),
      );
    },
  })({});

/** Wants a bid and an ask around the latest quote, moved with each of them. */
export const quoting = ({ defineStrategy }, seen) =>
  defineStrategy({
    name: "maker",
    options: closed,
    wanted: ({ market }) =>
      market.quotes("BTC-USDT-SWAP").pipe(
        map(({ bidPx, askPx }) => {
          seen.count++;
          return [
            { slot: "bid", instId: "BTC-USDT-SWAP", side: "buy", px: bidPx, qty: "0.01" },
            { slot: "ask", instId: "BTC-USDT-SWAP", side: "sell", px: askPx, qty: "0.01" },
          ];
        }),
      ),
  })({});

/** Looks at the best five levels of each side of every book. */
export const peeking = ({ defineStrategy }, seen) =>
  defineStrategy({
    name: "peek",
    options: closed,
    run: ({ market }) =>
      market.books("BTC-USDT-SWAP").pipe(
        tap(({ bids, asks }) => {
          for (let level = 0; level < 5; level++) seen.digits += bids[level].px.length + asks[level].qty.length;
          seen.count++;
        }),
        ignoreElements(),
      ),
  })({});

/** Rests at both best prices, never takes, and moves whenever one of them changes. */
export const joining = ({ defineStrategy }, seen) =>
  defineStrategy({
    name: "join",
    options: closed,
    wanted: ({ market }) => {
      const order = { instId: "BTC-USDT-SWAP", ordType: "post_only", qty: "0.001" };
      return market.quotes("BTC-USDT-SWAP").pipe(
        map(({ bidPx, askPx }) => {
          seen.count++;
          return [
            { slot: "bid", side: "buy", px: bidPx, ...order },
            { slot: "ask", side: "sell", px: askPx, ...order },
          ];
        }),
      );
    },
  })({});
