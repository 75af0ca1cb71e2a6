/**
 * limiter: token buckets awaited one after the other. Careful means buckets too small to burst, and urgent calls that try for
 * tokens themselves instead of queueing.
 */
import { RateLimiter, TokenBucket } from "limiter";
import { gated, repeating, sleep } from "./retry.mjs";

export const nominalTurn = (weight, calls) => {
  const uid = new RateLimiter({ tokensPerInterval: weight, interval: "minute" });
  const key = new RateLimiter({ tokensPerInterval: calls, interval: "second" });
  return async (task, send) => {
    await uid.removeTokens(task.weight);
    await key.removeTokens(1);
    return send();
  };
};
const nominal = () => repeating(nominalTurn(1200, 10));

const seize = async (bucket, tokens) => {
  while (!bucket.tryRemoveTokens(tokens)) await sleep(10);
};

const careful = () => {
  const uid = new TokenBucket({ bucketSize: 15, tokensPerInterval: 1080, interval: "minute" });
  const key = new TokenBucket({ bucketSize: 1, tokensPerInterval: 9, interval: "second" });
  return gated(async (task, send) => {
    if (task.urgent) {
      await seize(uid, task.weight);
      await seize(key, 1);
    } else {
      await uid.removeTokens(task.weight);
      await key.removeTokens(1);
    }
    return send();
  });
};

export const configurations = { nominal, careful };
