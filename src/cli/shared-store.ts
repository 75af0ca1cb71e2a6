/**
 * The store of a shared quota, as commands reach it.
 *
 * Invariants: a command waits five seconds at most for the store; passwords of its address are never shown.
 */
import { firstValueFrom } from "rxjs";
import { after } from "../clock/clock.ts";
import { createSystemClock } from "../clock/system-clock.ts";
import { SluiceError } from "../errors.ts";
import { type ClaimStore, NotSent } from "../scheduler/shared/claim.ts";
import { RedisClaimStore } from "../scheduler/shared/redis-claim-store.ts";
import { addressForms, isStoreAddress, shownAddress } from "../scheduler/shared/store-address.ts";

const patienceMs = 5_000;
const retryMs = 100;

/** `address` is one, or `env:NAME`. USAGE where it is neither; PORT_UNAVAILABLE where nobody answers. */
export const withStore = async (address: string, group: string, run: (store: ClaimStore) => Promise<void>): Promise<void> => {
  const url = urlOf(address);
  const store = await RedisClaimStore.open(url, group);
  try {
    await answering(store, url);
    await run(store);
  } finally {
    store.close();
  }
};

const urlOf = (address: string): string => {
  const variable = /^env:(\w+)$/.exec(address)?.[1];
  const url = variable === undefined ? address : process.env[variable];
  if (url === undefined) throw new SluiceError("USAGE", `The environment variable ${variable} is not set. Set it to the store's address.`);
  if (isStoreAddress(url)) return url;
  const shown = variable === undefined ? `"${address.replace(/:[^:@]*@/, ":…@")}"` : `The value of ${variable}`;
  throw new SluiceError("USAGE", `${shown} is not the address of a store. Write ${addressForms}, or env:NAME.`);
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
