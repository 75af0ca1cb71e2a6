/**
 * Promise hooks of the platform: calls back as promises are made, run and settle, anywhere in the process.
 *
 * Only simulated time needs them, so they are looked up when a run begins: other runtimes than Node load and trade
 * without them.
 */
import type { promiseHooks } from "node:v8";
import { SluiceError } from "../errors.ts";

type Hooks = Parameters<typeof promiseHooks.createHook>[0];

/** Returns the way to end them. Throws `PLATFORM_UNSUPPORTED` where the runtime has none. */
export const hookPromises = (hooks: Hooks): (() => void) => {
  try {
    // @types/node has them as functions of an object that other runtimes lack, or have but for its functions.
    return process.getBuiltinModule("node:v8").promiseHooks.createHook(hooks) as () => void;
  } catch (error) {
    throw new SluiceError(
      "PLATFORM_UNSUPPORTED",
      `Backtests and simulations need Node's promise hooks (node:v8), which this runtime does not have${error instanceof Error ? ` (${error.message})` : ""}. Run them with Node 20.19 or later; paper and live trading work here.`,
    );
  }
};
