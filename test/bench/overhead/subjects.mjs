/**
 * What the overhead bench measures: each limiter as one function `(task, send) => promise`, with limits to order.
 *
 * Invariants: a subject is loaded only in the process that measures it; two layers everywhere, weight a minute and calls a
 * second, so that the work is comparable.
 */

const at = (file) => new URL(`../quota/peers/${file}.mjs`, import.meta.url).href;

/** `most` bounds the calls where 100,000 would take minutes; `ranks` tells whether urgent calls can be put first. */
export const subjects = {
  sluice: {
    ranks: true,
    load: async (compiled) => (await import(`${compiled}/sluice.js`)).createTurn,
  },
  "ccxt leakyBucket": {
    most: 5_000,
    load: async () => {
      const { leakyTurn } = await import(at("ccxt"));
      return (weight) => leakyTurn(60_000 / weight);
    },
  },
  "ccxt rollingWindow x2": { load: async () => (await import(at("ccxt"))).twoWindowsTurn },
  "bottleneck, 3 nested": { most: 5_000, ranks: true, load: async () => (await import(at("bottleneck"))).nominalTurn },
  "p-queue x2": {
    ranks: true,
    load: async () => {
      const { turnOf, windowed } = await import(at("p-queue"));
      return (weight, calls) => turnOf(windowed(weight, 60_000), windowed(calls, 1_000));
    },
  },
  "p-throttle x2": {
    load: async () => {
      const { turnOf } = await import(at("p-throttle"));
      return (weight, calls) => turnOf(weight, calls, false);
    },
  },
  "p-throttle x2, strict": {
    most: 5_000,
    load: async () => {
      const { turnOf } = await import(at("p-throttle"));
      return (weight, calls) => turnOf(weight, calls, true);
    },
  },
  "limiter, RateLimiter x2": { load: async () => (await import(at("limiter"))).nominalTurn },
  "rate-limiter-flexible x2": {
    load: async () => {
      const { layer, turnOf } = await import(at("rate-limiter-flexible"));
      return (weight, calls) => turnOf(layer(weight, 60), layer(calls, 1), false);
    },
  },
  "hand-written windows": { ranks: true, load: async () => (await import(at("hand-written"))).windowsTurn },
};
