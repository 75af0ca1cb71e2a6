/**
 * ccxt: the throttler inside every ccxt exchange, by itself. It knows one layer at a time and no priority.
 */
import { Throttler } from "../../node_modules/ccxt/js/src/base/functions/throttle.js";
import { gated, repeating } from "./retry.mjs";

// As Exchange.initThrottler does it: `rateLimit` milliseconds per unit of cost.
const leaky = (rateLimit) =>
  new Throttler({ refillRate: 1 / rateLimit, delay: 0.001, capacity: 1, tokens: 0, rateLimit });
const rolling = (windowSize, units) =>
  new Throttler({ algorithm: "rollingWindow", windowSize, rateLimit: windowSize / units });

/** One bucket for both layers: a floor under the cost keeps ten requests a second. */
export const leakyTurn = (rateLimit) => {
  const bucket = leaky(rateLimit);
  return async (task, send) => {
    await bucket.throttle(Math.max(task.weight, 2));
    return send();
  };
};

const oneWindowTurn = () => {
  const uid = rolling(60_000, 1200);
  return async (task, send) => {
    await uid.throttle(task.weight);
    return send();
  };
};

/** Two throttlers one after the other, which ccxt itself does not do. */
export const twoWindowsTurn = (weight, calls) => {
  const uid = rolling(60_000, weight);
  const key = rolling(1_000, calls);
  return async (task, send) => {
    await uid.throttle(task.weight);
    await key.throttle(1);
    return send();
  };
};

export const configurations = {
  "leakyBucket / nominal": () => repeating(leakyTurn(50)),
  "leakyBucket / careful": () => gated(leakyTurn(50 / 0.9)),
  "rollingWindow as shipped / nominal": () => repeating(oneWindowTurn()),
  "rollingWindow x2 / nominal": () => repeating(twoWindowsTurn(1200, 10)),
  "rollingWindow x2 / careful": () => gated(twoWindowsTurn(1080, 9)),
};
