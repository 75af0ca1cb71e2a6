/**
 * Options that sweeps and simulations share: a part of the runs, and the queue of the workers.
 *
 * Invariants: a text that names neither is wrong usage, and the message contains the correct form; passwords of an
 * address are never shown.
 */
import { InvalidArgumentError } from "commander";
import { messageOf } from "sluice/extension";
import { givenAddress } from "sluice/plugins/redis";
import { readPart, type SweepPart } from "./sweep-parts.ts";

/** Reads the value of `--part`, for commander: `3/8` is the third of eight parts. */
export const partOf = (text: string): SweepPart => {
  try {
    return readPart(text);
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error).replace("--part: ", ""));
  }
};

/**
 * Address of the queue of workers, in Redis or PostgreSQL: what `--workers` and `--queue` take. Throws USAGE where it
 * is none.
 */
export const queueAddress = (address: string): string =>
  givenAddress(address, {
    what: "a queue",
    fits: (text) => /^(rediss?|postgres(ql)?):\/\/\S+$/.test(text),
    forms: "redis://HOST:PORT, rediss://HOST:PORT or postgres://HOST:PORT/DATABASE",
  });
