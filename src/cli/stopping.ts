/**
 * How commands that run an engine are told to stop, and what a second request does.
 *
 * Invariants: every request is heard while anybody listens; abandoning fails by name and says what may be left.
 */
import { map, Observable } from "rxjs";
import { SluiceError } from "../errors.ts";
import type { CliIo, StopReason } from "./io.ts";

/** Each request to stop, as a stream that stays listening while anybody does. */
export const stopRequests = (io: CliIo): Observable<StopReason> =>
  new Observable((subscriber) =>
    io.onStop((reason) => {
      subscriber.next(reason);
    }),
  );

/** Fails with the next request: whoever asks twice does not want to wait. */
export const abandoned = (requests: Observable<StopReason>): Observable<never> =>
  requests.pipe(
    map(() => {
      throw new SluiceError(
        "ENGINE_STATE",
        "Abandoned while stopping: orders may still be open at the service. Look before starting again.",
      );
    }),
  );
