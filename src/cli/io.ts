/**
 * Where the command line speaks: two streams of text and what is known about their reader.
 *
 * Invariants: `out` carries results only, `err` everything said to people on the side; neither throws, and a reader who left
 * (`| head`) is nobody to complain to; colour is used only where a person can see it and did not decline.
 * Not here: what is said (one file a command), colour itself (backtest/ink.ts).
 */
import { type Ink, ink } from "../backtest/ink.ts";

export { printable } from "../backtest/ink.ts";

export interface CliIo {
  /** Results. The text is written as it is: end lines with "\n". */
  out(text: string): void;
  /** Messages and progress, likewise. */
  err(text: string): void;
  /** Both streams lead to a terminal: a person is watching, and lines may be rewritten. */
  readonly isTty: boolean;
  readonly columns: number;
  env(name: string): string | undefined;
  /** Calls `run` for each request to stop (Ctrl-C, SIGTERM, a reader who left) until the returned function is called. */
  onStop(run: () => void): () => void;
}

export const columnsDefault = 100;
const stopSignals = ["SIGINT", "SIGTERM"] as const;

export const processIo = (): CliIo => {
  const { stdout, stderr } = process;
  const stops = new Set<() => void>();
  const stop = (): void => {
    for (const run of [...stops]) run();
  };
  // Whoever closed the pipe has read enough: no failure, but a reason to end.
  const closed = (error: NodeJS.ErrnoException): void => {
    if (error.code !== "EPIPE") throw error;
    stop();
  };
  stdout.on("error", closed);
  stderr.on("error", closed);
  const write = (stream: NodeJS.WriteStream, text: string): void => {
    if (!stream.destroyed && stream.writable) stream.write(text);
  };
  return {
    out: (text) => {
      write(stdout, text);
    },
    err: (text) => {
      write(stderr, text);
    },
    // Undefined, not false, on a pipe.
    isTty: Boolean(stdout.isTTY && stderr.isTTY),
    // Read at each use: people resize their windows.
    get columns() {
      return columnsOf(stdout.columns, process.env["COLUMNS"]);
    },
    env: (name) => process.env[name],
    onStop: (run) => {
      // Listening takes away the platform's own answer to a signal, so nobody listens while nothing can be stopped.
      if (stops.size === 0) for (const signal of stopSignals) process.on(signal, stop);
      stops.add(run);
      return () => {
        stops.delete(run);
        if (stops.size === 0) for (const signal of stopSignals) process.off(signal, stop);
      };
    },
  };
};

const columnsOf = (terminal: number | undefined, variable: string | undefined): number => {
  const asked = Number(variable);
  return terminal ?? (Number.isInteger(asked) && asked > 0 ? asked : columnsDefault);
};

export interface CapturedIo extends CliIo {
  /** Everything written so far. */
  readonly outText: string;
  readonly errText: string;
  /** Asks the running command to stop, as Ctrl-C would. */
  stop(): void;
}

export interface CaptureOptions {
  readonly isTty?: boolean;
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** Keeps what is written, for tests and for programs that embed the command line. */
export const capturedIo = ({ isTty = false, columns = columnsDefault, env = {} }: CaptureOptions = {}): CapturedIo => {
  const written = { out: "", err: "" };
  const stops = new Set<() => void>();
  return {
    out: (text) => {
      written.out += text;
    },
    err: (text) => {
      written.err += text;
    },
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
    stop: () => {
      for (const run of [...stops]) run();
    },
  };
};

/** Colour where a person is watching, unless NO_COLOR holds anything; FORCE_COLOR asks for it anywhere. */
export const colourOf = (io: CliIo): boolean => {
  if ((io.env("NO_COLOR") ?? "") !== "") return false;
  const forced = io.env("FORCE_COLOR") ?? "";
  return forced === "" ? io.isTty && io.env("TERM") !== "dumb" : forced !== "0";
};

export const inkOf = (io: CliIo): Ink => ink(colourOf(io));
