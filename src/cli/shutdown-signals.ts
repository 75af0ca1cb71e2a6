/**
 * Shutdown requests to a command that runs an engine: the first begins an orderly stop, a second abandons it.
 *
 * Invariants: listening begins and ends with the command, so that no signal ends the process between two steps; a pipe
 * that closes after a signal changes nothing; abandoning is an error that names what may be left. Output of such a
 * command never waits for its reader.
 * Not here: signals, and which of them count (io.ts); the orderly stop (engine-run.ts).
 */
import { type Observable, ReplaySubject } from "rxjs";
import { SluiceError } from "../errors.ts";
import type { CliIo, StopReason } from "./io.ts";

export interface Stopping {
  /** The reason of the first request, replayed to later subscribers. Never completes. */
  readonly first$: Observable<StopReason>;
  /** Errors with the second request, also for later subscribers. */
  readonly abandoned$: Observable<never>;
  end(): void;
}

interface StoppingOptions {
  /** False: a closed pipe is no reason to stop. */
  readonly unread?: boolean;
}

/**
 * Requests to stop a command, from signals and from a reader that left, as streams.
 *
 * @param io - the terminal
 * @param options - whether a closed pipe is a reason to stop
 * @returns streams of requests
 */
export const listenForStop = (io: CliIo, { unread = true }: StoppingOptions = {}): Stopping => {
  io.neverWait();
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
  new SluiceError(
    "ENGINE_STATE",
    "Abandoned while stopping: orders may still be open at the service. Look before starting again.",
  );
