/**
 * rate-limiter-flexible: windows that start at the first call, with a queue in front. Careful urgent calls consume directly.
 */
import { RateLimiterMemory, RateLimiterQueue } from "rate-limiter-flexible";
import { gated, repeating, sleep } from "./retry.mjs";

export const layer = (points, duration) => {
  const memory = new RateLimiterMemory({ points, duration });
  return { memory, queue: new RateLimiterQueue(memory) };
};

const seize = async ({ memory }, points) => {
  for (;;) {
    try {
      return await memory.consume("limiter", points);
    } catch (refusal) {
      // A millisecond early, to try again together with the queue rather than after it.
      await sleep(Math.max(1, refusal.msBeforeNext - 1));
    }
  }
};

export const turnOf = (uid, key, urgentFirst) => async (task, send) => {
  if (urgentFirst && task.urgent) {
    await seize(uid, task.weight);
    await seize(key, 1);
  } else {
    await uid.queue.removeTokens(task.weight);
    await key.queue.removeTokens(1);
  }
  return send();
};

export const configurations = {
  nominal: () => repeating(turnOf(layer(1200, 60), layer(10, 1), false)),
  careful: () => gated(turnOf(layer(1080, 60), layer(9, 1), true)),
};
