/**
 * Interface of the connection between an engine and its watchdog: two processes on one machine, either of which may
 * restart.
 *
 * - Messages arrive in the order in which they were sent, or not at all; neither side waits for the other.
 * - `closed` is called once for every connection, also for one that failed to open; nothing is received afterwards.
 * - A closed connection is no evidence of the other side's health: only silence is.
 */
import type { Report, Word } from "./messages.ts";

export interface Receiver<In> {
  readonly received: (message: In) => void;
  readonly closed: (why: string) => void;
}

export interface Connection<Out> {
  readonly send: (message: Out) => void;
  readonly close: () => void;
}

/** An engine's side: makes one connection. `closed` is never called before this has returned. */
export type Dial = (receiver: Receiver<Word>) => Connection<Report>;

/**
 * A watchdog's side: takes every connection until the result is called. Rejects where another watchdog already listens.
 */
export type Listen = (accept: (connection: Connection<Word>) => Receiver<Report>) => Promise<() => Promise<void>>;
