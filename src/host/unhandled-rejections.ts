/**
 * Promises that nobody waits for: one that fails inside a stranger's code fails its owner, not the process.
 *
 * Invariants: what belongs to no owner ends as it would have without this listener; installed once a process.
 */
import { makerOf, ownerNow } from "./execution-context.ts";

let installed = false;

const onRejection = (reason: unknown, promise: Promise<unknown>): void => {
  const owner = makerOf(promise) ?? ownerNow();
  if (owner !== undefined) owner.fail(reason);
  // Where nobody else listens the platform would have ended the process, and so it does.
  else if (process.listenerCount("unhandledRejection") === 1) throw reason;
};

export const watchUnhandledRejections = (): void => {
  if (installed) return;
  installed = true;
  process.on("unhandledRejection", onRejection);
};
