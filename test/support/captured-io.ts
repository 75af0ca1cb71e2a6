/**
 * A command line's streams, kept in memory.
 */
import type { CliIo, StopReason } from "../../src/cli/io.ts";

export interface CapturedIo extends CliIo {
  /** Everything written so far. */
  readonly outText: string;
  readonly errText: string;
  /** Asks the running command to stop, as Ctrl-C would. */
  stop(reason?: StopReason): void;
}

export interface CaptureOptions {
  readonly isTty?: boolean;
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
}

export const capturedIo = ({ isTty = false, columns = 100, env = {} }: CaptureOptions = {}): CapturedIo => {
  const written = { out: "", err: "" };
  const stops = new Set<(reason: StopReason) => void>();
  return {
    out: (text) => {
      written.out += text;
    },
    err: (text) => {
      written.err += text;
    },
    neverWait: () => undefined,
    isTty,
    columns,
    env: (name) => env[name],
    onStop: (run) => {
      stops.add(run);
      return () => {
        stops.delete(run);
      };
    },
    get outText() {
      return written.out;
    },
    get errText() {
      return written.err;
    },
    stop: (reason = "SIGINT") => {
      for (const run of [...stops]) run(reason);
    },
  };
};
