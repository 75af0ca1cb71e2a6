/**
 * p-throttle: weights and counts, one throttle inside the other, no priority.
 */
import pThrottle from "p-throttle";
import { gated, repeating } from "./retry.mjs";

export const turnOf = (weight, calls, strict) => {
  const byWeight = pThrottle({ limit: weight, interval: 60_000, strict, weight: (task) => task.weight });
  const byCall = pThrottle({ limit: calls, interval: 1_000, strict });
  const second = byCall((send) => send());
  return byWeight((_task, send) => second(send));
};

export const configurations = {
  nominal: () => repeating(turnOf(1200, 10, false)),
  careful: () => gated(turnOf(1080, 9, true)),
};
