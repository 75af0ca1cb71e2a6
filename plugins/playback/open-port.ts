/**
 * The control port of a command that shows something in a browser until it is asked to end: its options and its end.
 */
import { Subject } from "rxjs";
import { SluiceError } from "sluice";
import type { CliIo } from "sluice/extension";

interface Ending {
  /** Resolves with a request to stop, and rejects where the port has failed. */
  readonly asked: Promise<void>;
  /** The port has failed. */
  readonly failed: (why: string) => void;
  /** Stops listening to requests to stop. */
  readonly leave: () => void;
}

/** The end of a command that serves a port. */
export const endingOf = (io: CliIo): Ending => {
  const ending = new Subject<never>();
  let leave = (): void => undefined;
  const asked = new Promise<void>((done, fail) => {
    leave = io.onStop(() => done());
    ending.subscribe({ error: fail });
  });
  // It may fail before anything waits for it.
  asked.catch(() => undefined);
  return {
    asked,
    failed: (why) => ending.error(new SluiceError("ENGINE_STATE", `The control port has failed: ${why}`)),
    leave,
  };
};

/** Options of a port on this machine, for its user alone. */
export const portOptions = (port: number) => ({
  port,
  host: "127.0.0.1",
  names: [],
  behindProxy: false,
  readOnly: false,
  account: false,
});
