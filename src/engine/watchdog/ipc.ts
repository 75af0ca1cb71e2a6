/**
 * The port between an engine and its watchdog: two processes of one machine, either of which may go and come back.
 *
 * - Words arrive in the order in which they were said, or not at all; nobody waits for the other.
 * - `ended` is called once for every connection, also for one that was never made; nothing is heard afterwards.
 * - Ending says nothing about the other side's health: only silence does.
 */
import type { Report, Word } from "./messages.ts";

export interface Ears<In> {
  readonly heard: (message: In) => void;
  readonly ended: (why: string) => void;
}

export interface Talk<Out> {
  readonly say: (message: Out) => void;
  readonly hangUp: () => void;
}

/** An engine's side: makes one connection. `ended` is never called before this has returned. */
export type Dial = (ears: Ears<Word>) => Talk<Report>;

/** A watchdog's side: takes every connection until the result is called. Rejects where another watchdog already listens. */
export type Listen = (pickUp: (talk: Talk<Word>) => Ears<Report>) => Promise<() => Promise<void>>;
