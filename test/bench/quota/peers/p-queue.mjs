/**
 * p-queue: counts and priorities, no weights. Weights become counts: 1200 over the mean weight of the user's own mix
 * (nominal) or over the heaviest call (careful).
 */
import PQueue from "p-queue";
import { gated, repeating } from "./retry.mjs";

export const windowed = (intervalCap, interval, strict = false) => new PQueue({ intervalCap, interval, strict });

export const turnOf = (minute, second) => (task, send) => {
  const priority = task.urgent ? 1 : 0;
  return minute.add(() => second.add(send, { priority }), { priority });
};

export const configurations = {
  nominal: ({ meanWeight }) => repeating(turnOf(windowed(Math.floor(1200 / meanWeight), 60_000), windowed(10, 1_000))),
  careful: () => gated(turnOf(windowed(72, 60_000, true), windowed(9, 1_000, true))),
};
