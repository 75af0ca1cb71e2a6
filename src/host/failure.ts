/**
 * Failure: what a strategy or plugin threw, with the place in its author's file, the time and what it was handling.
 *
 * Invariants: it holds paths of this machine, so it never enters an event, a journal or a result hash; stack frames of
 * this package, of the platform and of installed packages are skipped, so that the first one left is the author's.
 * Not here: what follows from a failure (strategy-host.ts, plugin-host.ts), whose code runs (execution-context.ts).
 */
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { type Failure, messageOf } from "../errors.ts";

/** Value that user code handles at this moment; set where values and timers reach it. */
export const handling: { value: unknown } = { value: undefined };

/** Marks a timer in `handling`. */
export const aTimer = Symbol("timer");
/** Marks the call that starts a strategy or plugin. */
export const itsStart = Symbol("start");

/** Place of a failure, and the value that was handled; each undefined where it is not known. */
export type Occasion = Pick<Failure, "place" | "handling">;

/** Occasions of errors that represent an error of another thread. */
const elsewhere = new WeakMap<Error, Occasion>();

/** Returns the error, recorded as thrown there. */
export const thrownAt = <E extends Error>(error: E, occasion: Occasion): E => {
  elsewhere.set(error, occasion);
  return error;
};

/** Text of a thrown value for a line that begins with the name, so that the name appears once. */
export const ownWordsOf = (name: string, message: string): string =>
  message.startsWith(`${name}: `) ? message.slice(name.length + 2) : message;

/** Counts failures by name and reports each to the callback. */
export class FailureLog {
  readonly #counts = new Map<string, number>();
  readonly #report: ((failure: Failure) => void) | undefined;

  constructor(report?: (failure: Failure) => void) {
    this.#report = report;
  }

  note(kind: Failure["kind"], name: string, error: unknown, at: number): void {
    const count = (this.#counts.get(`${kind} ${name}`) ?? 0) + 1;
    this.#counts.set(`${kind} ${name}`, count);
    if (this.#report === undefined) return;
    const occasion = (error instanceof Error ? elsewhere.get(error) : undefined) ?? occasionOf(error);
    this.#report({ kind, name, message: messageOf(error), at, ...occasion, count });
  }
}

/** `mine: TypeError: …` and a second line with place, time and occasion. */
export const failureText = ({ name, message, at, place, handling: given, count }: Failure): string => {
  const parts = [
    ...(place === undefined ? [] : [`at ${place}`]),
    new Date(Math.floor(at)).toISOString(),
    ...(given === undefined ? [] : [`handling ${given}`]),
    ...(count === 1 ? [] : [`failed ${count} times`]),
  ];
  return `${name}: ${ownWordsOf(name, message)}\n      ${parts.join(", ")}`;
};

const occasionOf = (error: unknown): Occasion => {
  const [place, given] = [placeOf(error), described(handling.value)];
  return { ...(place !== undefined && { place }), ...(given !== undefined && { handling: given }) };
};

const described = (value: unknown): string | undefined => {
  if (value === undefined) return undefined;
  if (value === aTimer) return "a timer";
  if (value === itsStart) return "its start";
  const { instId, bidPx, openedAt, bids, side, slot, phase, type } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof type === "string") return `the event ${type}`;
  if (typeof phase === "string") return `an update of its order "${String(slot)}" (${phase})`;
  if (typeof instId !== "string") return "a value of the account's state";
  const what =
    bidPx !== undefined
      ? "a quote"
      : openedAt !== undefined
        ? "a candle"
        : bids !== undefined
          ? "a book"
          : side
            ? "a trade"
            : "a value";
  return `${what} of ${instId}`;
};

const own = fileURLToPath(new URL("../", import.meta.url));
const frame = /(?:\(|at (?:async )?)((?:file:\/\/)?[^()\s][^()]*?):(\d+):(\d+)\)?$/;

/** The first stack frame of the author's file. */
const placeOf = (error: unknown): string | undefined => {
  for (const line of stackOf(error).split("\n")) {
    const [, address, row, column] = frame.exec(line.trim()) ?? [];
    if (address === undefined || /^(node:|data:)/.test(address)) continue;
    const file = (address.startsWith("file:") ? fileURLToPath(address) : address).replace(/\?.*$/, "");
    if (file.startsWith(own) || /[\\/]node_modules[\\/]/.test(file)) continue;
    const near = relative(process.cwd(), file).replaceAll("\\", "/");
    return `${near.startsWith("..") ? file : near}:${row}:${column}`;
  }
  return undefined;
};

/** Stack of a thrown value. Any value may be thrown, including one that throws when it is read. */
const stackOf = (error: unknown): string => {
  try {
    const { stack } = error as { readonly stack?: unknown };
    return typeof stack === "string" ? stack : "";
  } catch {
    return "";
  }
};
