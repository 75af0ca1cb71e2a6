/**
 * Address of a queue of work: which store it names, how it is shown, and how long is waited for its answers.
 *
 * Invariants: no part of a password is ever shown; what does not answer in time, or fails, is PORT_UNAVAILABLE.
 */
import { firstValueFrom, from, fromEvent, map, merge, NEVER } from "rxjs";
import { isSluiceError, SluiceError } from "sluice";
import { after, type Clock, messageOf } from "sluice/extension";
import { PostgresQueue } from "./postgres-queue.ts";
import type { QueueConnection } from "./queue-store.ts";
import { RedisQueue } from "./redis-queue.ts";

/** Connects to the store that the address names; USAGE where it names none. */
export const openQueue = async (url: string, clock: Clock): Promise<QueueConnection> => {
  shownAddress(url);
  if (/^rediss?:/.test(url)) return RedisQueue.open(url);
  if (/^postgres(ql)?:/.test(url)) return PostgresQueue.open(url, clock);
  throw invalid();
};

/** Host, port and number of the database: what may be shown of an address. */
export const shownAddress = (url: string): string => {
  try {
    // An unescaped / in a password would make the rest of it a path.
    const { host, pathname } = new URL(url.replace(/^(\w+:\/\/).*@/s, "$1"));
    return `${host}${pathname === "/" ? "" : pathname}`;
  } catch {
    throw invalid();
  }
};

const invalid = (): SluiceError =>
  new SluiceError(
    "USAGE",
    "The address of the queue is not valid. Write redis://HOST:PORT, rediss://HOST:PORT or postgres://HOST:PORT/DATABASE.",
  );

/**
 * Returns the result of `work`, if it arrives within `ms` and before the signal; otherwise, and for any failure of the
 * queue, rejects with PORT_UNAVAILABLE.
 */
export const answeredWithin = async <T>(
  { clock, url, signal }: { readonly clock: Clock; readonly url: string; readonly signal?: AbortSignal },
  ms: number,
  work: Promise<T>,
): Promise<T> => {
  const where = shownAddress(url);
  const late = after(clock, ms).pipe(
    map((): never => {
      throw new SluiceError(
        "PORT_UNAVAILABLE",
        `The queue at ${where} does not answer. Is it running, and may this machine reach it?`,
      );
    }),
  );
  const stopped = signal === undefined ? NEVER : fromEvent(signal, "abort");
  const ended = stopped.pipe(
    map((): never => {
      throw new SluiceError("PORT_UNAVAILABLE", `The queue at ${where} was not waited for.`);
    }),
  );
  try {
    return await firstValueFrom(merge(from(work), late, ended));
  } catch (error) {
    if (isSluiceError(error)) throw error;
    throw new SluiceError(
      "PORT_UNAVAILABLE",
      `The queue at ${where} failed: ${messageOf(error)}. Results so far are kept: ask again to go on.`,
    );
  }
};
