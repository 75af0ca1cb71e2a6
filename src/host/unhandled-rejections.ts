/**
 * Unhandled rejections: a rejected promise of a strategy or plugin fails that owner, not the process.
 *
 * Invariants: what belongs to no owner ends as it would have without this listener; installed once a process.
 */
import { makerOf, ownerNow } from "./execution-context.ts";

let installed = false;

const onRejection = (reason: unknown, promise: Promise<unknown>): void => {
  const owner = makerOf(promise) ?? ownerNow();
  if (owner !== undefined) owner.fail(reason);
  // Without another listener the platform would have ended the process; rethrowing does the same.
  else if (process.listenerCount("unhandledRejection") === 1) throw reason;
};

export const watchUnhandledRejections = (): void => {
  if (installed) return;
  installed = true;
  process.on("unhandledRejection", onRejection);
};
