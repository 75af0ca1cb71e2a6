/** Registration of an engine at the store of a shared quota: asked for until it is answered. */
import type { SharedQuotaOptions } from "./shared-quota-options.ts";

const retryMs = 250;

/** The epoch of this engine; 0 when it was closed before the store answered. */
export const epochOf = async (
  { store, member, gone, clock }: SharedQuotaOptions,
  scopes: readonly string[],
  isClosed: () => boolean,
): Promise<number> => {
  while (!isClosed()) {
    try {
      const epoch = await store.register(member, gone, scopes);
      return isClosed() ? 0 : epoch;
    } catch {
      await new Promise<void>((resolve) => {
        clock.setTimer(clock.now() + retryMs, resolve);
      });
    }
  }
  return 0;
};
