/**
 * Input and output of the command line: two text streams, signals, and the terminal's properties.
 *
 * Invariants: `out` carries results only, `err` everything else; neither throws, and a closed pipe (`| head`) or
 * terminal ends no process by itself; colour is used only on a terminal where it is not disabled. A command that trades
 * calls `neverWait`: from then on no write waits for a reader, and text that a reader leaves waiting is bounded. This
 * is the only place that listens to signals: the first of any kind is a request to stop, and a later one counts only
 * when it was typed again.
 * Not here: the texts (one file a command), the orderly stop (shutdown-signals.ts), colours (report/ansi.ts).
 */
import { firstValueFrom } from "rxjs";
import { after, type Clock } from "../clock/clock.ts";
import { createSystemClock } from "../clock/system-clock.ts";
import { type Ink, ink, jsonText, printable } from "../report/ansi.ts";

export { jsonText, printable };

/** Input and output of a command: results, messages, the terminal, and requests to stop. */
export interface CliIo {
  /** Results. The text is written as it is: end lines with "\n". */
  out(text: string): void;
  /** Messages and progress, in the same way. */
  err(text: string): void;
  /** Both streams lead to a terminal: a person is watching, and lines may be rewritten. */
  readonly isTty: boolean;
  readonly columns: number;
  env(name: string): string | undefined;
  /**
   * Calls `run` for each request to stop until the returned function is called: with the first signal, and with each
   * SIGINT or SIGTERM that comes `againMs` or more after it. A terminal and a supervisor may both pass on the same
   * Ctrl-C.
   */
  onStop(run: (reason: StopReason) => void): () => void;
  /**
   * From here on no write waits for a reader, such as a terminal after Ctrl-S or behind a hung connection. At most
   * `waitingMax` characters wait for each stream; text beyond that is dropped, and a message reports how much once the
   * stream takes text again.
   */
  neverWait(): void;
}

const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;
type StopSignal = (typeof stopSignals)[number];

/** The signal that arrived, or `unread`: the reader of the results left. */
export type StopReason = StopSignal | "unread";

/** The part of the process that a command line touches. */
type Host = Pick<NodeJS.Process, "stdout" | "stderr" | "env" | "on" | "off" | "kill" | "pid">;

const columnsDefault = 100;
/** Characters that may wait for one stream: about an hour of events. */
const waitingMax = 8 * 1024 * 1024;
/** Time for the last text to be taken at the end of a command that never waits. */
const drainMs = 2_000;
/** Two signals closer than this are one request that came on two ways. */
const againMs = 1_000;

interface ProcessIo extends CliIo {
  /** The terminal was closed. */
  readonly hungUp: boolean;
  /** Resolves when all text was taken; after `drainMs` in any case where writes never wait. */
  drained(): Promise<void>;
}

export const processIo = (host: Host = process, clock: Clock = createSystemClock()): ProcessIo => {
  const { stdout, stderr } = host;
  const stops = createStops();
  const signals = listenToSignals(host, stops, clock);
  /** Streams to a terminal that was closed. */
  const lost = new Set<NodeJS.WriteStream>();
  const failed = (stream: NodeJS.WriteStream, error: NodeJS.ErrnoException): void => {
    if (error.code === "EIO") lost.add(stream);
    // A terminal that was closed sends a signal where it means the process; one that was left behind by `disown` does
    // not.
    if (error.code === "EIO") return;
    if (error.code !== "EPIPE" && stops.none()) throw error;
    // The reader has closed the pipe, or the disk is full: the command still ends in order.
    if (!signals.received()) stops.call("unread");
  };
  for (const stream of [stdout, stderr])
    stream.on("error", (error) => {
      failed(stream, error);
    });
  const isGone = (stream: NodeJS.WriteStream): boolean => lost.has(stream) || stream.destroyed || !stream.writable;
  const write = (stream: NodeJS.WriteStream, text: string): void => {
    if (isGone(stream)) return;
    try {
      stream.write(text);
    } catch (error) {
      failed(stream, error as NodeJS.ErrnoException);
    }
  };
  const bounded = createBoundedWriter(write, stderr);
  let neverWaits = false;
  const send = (stream: NodeJS.WriteStream, text: string): void => {
    if (!neverWaits) write(stream, text);
    else {
      stopBlocking(stream);
      bounded(stream, text);
    }
  };
  return {
    out: (text) => {
      send(stdout, text);
    },
    err: (text) => {
      send(stderr, text);
    },
    neverWait: () => {
      neverWaits = true;
      for (const stream of [stdout, stderr]) stopBlocking(stream);
    },
    drained: async () => {
      const all = Promise.all([stdout, stderr].filter((stream) => !isGone(stream)).map(lastWriteOf));
      if (neverWaits) await Promise.race([all, firstValueFrom(after(clock, drainMs))]);
      else await all;
    },
    // Undefined, not false, on a pipe.
    isTty: Boolean(stdout.isTTY && stderr.isTTY),
    // Read at each use: people resize their windows.
    get columns() {
      return columnsOf(stdout.columns, host.env["COLUMNS"]);
    },
    get hungUp() {
      return lost.size > 0 || signals.hungUp();
    },
    env: (name) => host.env[name],
    onStop: (run) => {
      signals.listen();
      const leave = stops.add(run);
      return () => {
        leave();
        signals.rest();
      };
    },
  };
};

/**
 * The platform writes to a terminal synchronously, and so stops the process while the terminal takes no output. To a
 * pipe it does not, but every child process that inherits the pipe sets it back to blocking, for this process too: call
 * it before each write.
 */
const stopBlocking = (stream: NodeJS.WriteStream): void => {
  const { _handle: handle } = stream as { readonly _handle?: { setBlocking?(isBlocking: boolean): void } | null };
  handle?.setBlocking?.(false);
};

const lastWriteOf = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    stream.write("", () => resolve());
  });

/**
 * Writes while fewer than `waitingMax` characters wait; reports on `stderr` how many were dropped once `stream` takes
 * text again.
 */
const createBoundedWriter = (write: (stream: NodeJS.WriteStream, text: string) => void, stderr: NodeJS.WriteStream) => {
  const dropped = new Map<NodeJS.WriteStream, number>();
  const report = (stream: NodeJS.WriteStream): void => {
    const count = dropped.get(stream);
    dropped.delete(stream);
    write(stderr, `${count} characters of output were dropped, because nothing read the output for a while.\n`);
  };
  return (stream: NodeJS.WriteStream, text: string): void => {
    const before = dropped.get(stream);
    if (before === undefined && stream.writableLength + text.length <= waitingMax) {
      write(stream, text);
      return;
    }
    if (before === undefined) stream.once("drain", () => report(stream));
    dropped.set(stream, (before ?? 0) + text.length);
  };
};

type Stops = ReturnType<typeof createStops>;

/**
 * Listening takes away the platform's own answer to a signal, which is to end the process: it is done while something
 * can be stopped.
 */
const listenToSignals = (host: Host, stops: Stops, clock: Pick<Clock, "now">) => {
  let listening = false;
  let firstAt: number | undefined;
  let hungUp = false;
  const signalled = (signal: StopSignal): void => {
    hungUp ||= signal === "SIGHUP";
    if (firstAt !== undefined) {
      const isTypedAgain = (signal === "SIGINT" || signal === "SIGTERM") && clock.now() - firstAt >= againMs;
      if (!isTypedAgain) return;
      if (stops.none()) giveUp(signal);
    }
    firstAt ??= clock.now();
    stops.call(signal);
  };
  const off = (): void => {
    listening = false;
    for (const signal of stopSignals) host.off(signal, signalled);
  };
  /** The command is over and the process still here: it ends as it would have without us. */
  const giveUp = (signal: StopSignal): void => {
    off();
    host.kill(host.pid, signal);
  };
  return {
    received: () => firstAt !== undefined,
    hungUp: () => hungUp,
    listen: () => {
      if (listening) return;
      listening = true;
      for (const signal of stopSignals) host.on(signal, signalled);
    },
    /** After a request to stop no signal may end the process halfway: listening continues to the end. */
    rest: () => {
      if (listening && stops.none() && firstAt === undefined) off();
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
  // A terminal that does not know its width reports 0.
  if (terminal !== undefined && terminal > 0) return terminal;
  return Number.isInteger(asked) && asked > 0 ? asked : columnsDefault;
};

const redrawMs = 100;

/**
 * A line of progress on a terminal, rewritten in place; nothing elsewhere. With a clock it is redrawn ten times a
 * second at most.
 *
 * @param io - the terminal
 * @param clock - with it the line is redrawn ten times a second at most
 * @returns `show` and `clear`
 */
export const transientLine = (io: CliIo, clock?: Pick<Clock, "now">) => {
  let drawnAt = Number.NEGATIVE_INFINITY;
  let isDrawn = false;
  return {
    show: (text: () => string): void => {
      const now = clock?.now() ?? 0;
      if (!io.isTty || (clock !== undefined && now - drawnAt < redrawMs)) return;
      drawnAt = now;
      isDrawn = true;
      io.err(`\r${printable(text()).slice(0, io.columns - 1)}\u001b[K`);
    },
    clear: (): void => {
      if (isDrawn) io.err("\r\u001b[K");
      isDrawn = false;
    },
  };
};

/**
 * Colour where a person is watching, unless NO_COLOR holds anything; FORCE_COLOR asks for it anywhere.
 *
 * @param io - the terminal and its environment
 * @returns true where colour is shown
 */
export const colourOf = (io: CliIo): boolean => {
  if ((io.env("NO_COLOR") ?? "") !== "") return false;
  const forced = io.env("FORCE_COLOR") ?? "";
  return forced === "" ? io.isTty && io.env("TERM") !== "dumb" : forced !== "0";
};

/**
 * Strokes for text on this terminal; without colour where it shows none.
 *
 * @param io - the terminal
 * @returns functions that colour text, or change nothing
 */
export const inkOf = (io: CliIo): Ink => ink(colourOf(io));
