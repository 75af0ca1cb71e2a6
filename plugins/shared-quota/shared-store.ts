/**
 * Access of commands to the store of a shared quota.
 *
 * Invariants: a command waits five seconds at most for the store; passwords of its address are never shown.
 */
import { firstValueFrom } from "rxjs";
import { SluiceError } from "sluice";
import { after, createSystemClock } from "sluice/extension";
import { addressForms, givenAddress, isStoreAddress, NotSent, shownAddress } from "sluice/plugins/redis";
import type { ClaimStore } from "./claim.ts";
import { RedisClaimStore } from "./redis-claim-store.ts";

const patienceMs = 5_000;
const retryMs = 100;

/**
 * Opens the store for `run`. `address` is an address or `env:NAME`, else USAGE; PORT_UNAVAILABLE when the store does
 * not answer.
 */
export const withStore = async (
  address: string,
  group: string,
  run: (store: ClaimStore, url: string) => Promise<void>,
): Promise<void> => {
  const url = givenAddress(address, { what: "a store", fits: isStoreAddress, forms: addressForms });
  const store = await RedisClaimStore.open(url, group);
  try {
    await answering(store, url);
    await run(store, url);
  } finally {
    store.close();
  }
};

const answering = async (store: ClaimStore, url: string): Promise<void> => {
  const clock = createSystemClock();
  for (let waited = 0; ; waited += retryMs) {
    try {
      await store.ping();
      return;
    } catch (error) {
      if (!(error instanceof NotSent) || waited >= patienceMs) {
        throw new SluiceError(
          "PORT_UNAVAILABLE",
          `The store at ${shownAddress(url)} does not answer. Is it running, and may this machine reach it?`,
        );
      }
    }
    await firstValueFrom(after(clock, retryMs));
  }
};
