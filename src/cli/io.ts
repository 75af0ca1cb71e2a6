/**
 * Where the command line speaks: two streams of text and what is known about their reader.
 *
 * Invariants: `out` carries results only, `err` everything said to people on the side; neither throws, and a reader who left
 * (`| head`) is nobody to complain to; colour is used only where a person can see it and did not decline.
 * Not here: what is said (one file a command), colour itself (report/ink.ts).
 */
import { type Ink, ink } from "../report/ink.ts";

export { printable } from "../report/ink.ts";

export interface CliIo {
  /** Results. The text is written as it is: end lines with "\n". */
  out(text: string): void;
  /** Messages and progress, likewise. */
  err(text: string): void;
  /** Both streams lead to a terminal: a person is watching, and lines may be rewritten. */
  readonly isTty: boolean;
  readonly columns: number;
  env(name: string): string | undefined;
  /** Calls `run` for each request to stop until the returned function is called. */
  onStop(run: (reason: StopReason) => void): () => void;
}

/** Somebody said so (Ctrl-C, SIGTERM), or whoever read the results left. */
export type StopReason = "asked" | "unread";

/** The part of the process that a command line touches. */
export type Host = Pick<NodeJS.Process, "stdout" | "stderr" | "env" | "on" | "off">;

export const columnsDefault = 100;
const stopSignals = ["SIGINT", "SIGTERM"] as const;

export const processIo = (host: Host = process): CliIo => {
  const { stdout, stderr } = host;
  const stops = createStops();
  const asked = (): void => {
    stops.call("asked");
  };
  // Whoever closed the pipe has read enough: no failure, but a reason to end.
  const closed = (error: NodeJS.ErrnoException): void => {
    if (error.code !== "EPIPE") throw error;
    stops.call("unread");
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
      return columnsOf(stdout.columns, host.env["COLUMNS"]);
    },
    env: (name) => host.env[name],
    onStop: (run) => {
      // Listening takes away the platform's own answer to a signal, so nobody listens while nothing can be stopped.
      if (stops.none()) for (const signal of stopSignals) host.on(signal, asked);
      const leave = stops.add(run);
      return () => {
        leave();
        if (stops.none()) for (const signal of stopSignals) host.off(signal, asked);
      };
    },
  };
};

const createStops = () => {
  const runs = new Set<(reason: StopReason) => void>();
  return {
    none: () => runs.size === 0,
    add: (run: (reason: StopReason) => void) => {
      runs.add(run);
      return () => {
        runs.delete(run);
      };
    },
    call: (reason: StopReason) => {
      for (const run of [...runs]) run(reason);
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
  stop(reason?: StopReason): void;
}

export interface CaptureOptions {
  readonly isTty?: boolean;
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** Keeps what is written, for tests and for programs that embed the command line. */
export const capturedIo = ({ isTty = false, columns = columnsDefault, env = {} }: CaptureOptions = {}): CapturedIo => {
  const written = { out: "", err: "" };
  const stops = createStops();
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
    onStop: stops.add,
    get outText() {
      return written.out;
    },
    get errText() {
      return written.err;
    },
    stop: (reason = "asked") => {
      stops.call(reason);
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
