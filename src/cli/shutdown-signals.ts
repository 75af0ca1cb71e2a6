/**
 * Requests to stop, as a command that runs an engine takes them: the first begins an orderly stop, a second abandons it.
 *
 * Invariants: listening begins with the command and ends with it, so that no signal ends the process between two steps; a reader
 * who leaves after a signal changes nothing; abandoning fails by name and says what may be left.
 * Not here: signals, and which of them count (io.ts); running an engine to its end (engine-run.ts).
 */
import { type Observable, ReplaySubject } from "rxjs";
import { SluiceError } from "../errors.ts";
import type { CliIo, StopReason } from "./io.ts";

export interface Stopping {
  /** The reason of the first request, also for those who subscribe later. Never completes. */
  readonly first$: Observable<StopReason>;
  /** Fails with the second request, also for those who subscribe later. */
  readonly abandoned$: Observable<never>;
  end(): void;
}

interface StoppingOptions {
  /** False: a reader who leaves is no reason to stop. */
  readonly unread?: boolean;
}

export const listenForStop = (io: CliIo, { unread = true }: StoppingOptions = {}): Stopping => {
  const first$ = new ReplaySubject<StopReason>(1);
  const abandoned$ = new ReplaySubject<never>(1);
  let isAsked = false;
  let signals = 0;
  const end = io.onStop((reason) => {
    if (reason === "unread" && !unread) return;
    if (!isAsked) first$.next(reason);
    isAsked = true;
    if (reason !== "unread" && ++signals > 1) abandoned$.error(abandonment());
  });
  return { first$, abandoned$, end };
};

const abandonment = (): SluiceError =>
  new SluiceError("ENGINE_STATE", "Abandoned while stopping: orders may still be open at the service. Look before starting again.");
