/**
 * Log of all events: one JSON object a line by pino, with levels, to standard output or a file; or as text for people.
 *
 * Invariants: a line has the event's own name and time. Lines that wait are bounded by `bufferBytes`, and lost lines
 * are counted and reported. A new file is opened when the old one was moved away. Lines written before the stop are in
 * the file.
 * Not here: levels of events (log/levels.ts), writing (log/sinks.ts).
 */
import { statSync } from "node:fs";
import { definePlugin, SluiceError } from "sluice";
import { type Level, levelOf, names } from "./levels.ts";
import { FileSink, OutputSink, type Sink } from "./sinks.ts";

interface Lines {
  write(line: string): void;
}
type Pino = (options: object, stream: Lines) => Readonly<Record<Level, (fields: object) => void>>;
interface PinoPretty {
  prettyFactory(options: object): (line: string) => string;
}

const followMs = 5_000;

const inodeOf = (path: string): number | undefined => {
  try {
    return statSync(path).ino;
  } catch {
    return undefined;
  }
};

export default definePlugin({
  name: "log",
  options: {
    type: "object",
    additionalProperties: false,
    properties: {
      path: { description: "A file, appended to; standard output when left out.", type: "string", minLength: 1 },
      level: { description: "Lines of this level and above.", enum: [...names], default: "info" },
      levels: {
        description: 'Levels of single events that differ: `{ "order.changed": "info" }`.',
        type: "object",
        additionalProperties: { enum: [...names] },
        default: {},
      },
      redact: {
        description: "Fields that are left out, as pino writes paths: `record.ordId`.",
        type: "array",
        items: { type: "string", minLength: 1 },
        default: [],
      },
      fields: {
        description: "Fields of every line, such as the name of the engine.",
        type: "object",
        additionalProperties: { type: "string" },
        default: {},
      },
      pretty: { description: "Text for people instead of JSON.", type: "boolean", default: false },
      bufferBytes: {
        description: "What may wait to be written.",
        type: "integer",
        minimum: 65_536,
        default: 16_777_216,
      },
    },
  },
  setup: ({ events$, eventText, every, print, requirePackage, options }) => {
    const { path, level, redact, fields, pretty } = options;
    const levels = options.levels as Readonly<Record<string, Level>>;
    const pino = requirePackage<Pino>("pino", "10", import.meta.url);
    const formatted = pretty
      ? prettyTo(requirePackage<PinoPretty>("pino-pretty", "13", import.meta.url))
      : (lines: Lines) => lines;
    const told = new Set<string>();
    const sink = openSink(path, options.bufferBytes, (what) => {
      if (!told.has(what)) print(`log: ${path ?? "standard output"}: ${what}; lines are lost`);
      told.add(what);
    });
    const formatters = { level: (label: string) => ({ level: label }) };
    const logger = pino({ level, base: fields, timestamp: false, formatters, redact: [...redact] }, formatted(sink));
    const watching = events$.subscribe((event) => {
      const { type, at, seq, ...rest } = event;
      logger[levels[type] ?? levelOf(event, eventText(event))]({ time: at, event: type, seq, ...rest });
    });
    const unfollow = path === undefined ? undefined : follow(path, sink, every);
    return async () => {
      watching.unsubscribe();
      unfollow?.();
      await sink.end();
      if (sink.lost > 0) print(`log: ${sink.lost} lines were lost`);
    };
  },
});

const openSink = (path: string | undefined, bytesMax: number, onProblem: (what: string) => void): Sink => {
  if (path === undefined) return new OutputSink(bytesMax, onProblem);
  try {
    return new FileSink(path, bytesMax, onProblem);
  } catch (error) {
    const { code = "no reason given" } = error as NodeJS.ErrnoException;
    throw new SluiceError(
      "CONFIG_INVALID",
      `plugin log: path: ${path} cannot be opened (${code}). Name a file that may be written.`,
    );
  }
};

const prettyTo = (pretty: PinoPretty) => {
  const format = pretty.prettyFactory({
    colorize: false,
    translateTime: "UTC:yyyy-mm-dd HH:MM:ss.l",
    messageFormat: "{event}",
    ignore: "event,seq",
    singleLine: true,
    timestampKey: "time",
  });
  return (lines: Lines): Lines => ({ write: (line) => lines.write(format(line)) });
};

/** Opens a new file when the old one was moved away, checked every 5 s, and at SIGUSR2. */
const follow = (path: string, sink: Sink, every: (ms: number, run: () => void) => void): (() => void) => {
  let inode = inodeOf(path);
  const reopen = (): void => {
    sink.reopen();
    inode = undefined;
  };
  every(followMs, () => {
    const present = inodeOf(path);
    if (inode === undefined && present !== undefined) inode = present;
    else if (present !== inode) reopen();
    sink.retry();
  });
  if (process.platform === "win32") return () => undefined;
  process.on("SIGUSR2", reopen);
  return () => process.off("SIGUSR2", reopen);
};
