/**
 * Error class and table of error codes; the report of a failure in user code.
 *
 * Invariants: a code is listed here once and never reused; every message names the place, the value found and the next
 * step.
 * Not here: expected endings of a call to the service; those are values (client/outcome.ts).
 */

/** The error (`text`) and the place to fix it (`fix`). */
export const errorCodes = {
  CONFIG_INVALID: { text: "a config, option or override is not valid", fix: "config" },
  CONFIG_NOT_FOUND: { text: "the config file is missing or has no default export", fix: "config" },
  USAGE: { text: "the command line is not valid", fix: "usage" },
  PROFILE_INVALID: { text: "a service profile override names an unknown row or has the wrong type", fix: "config" },
  DECIMAL_INVALID: { text: "a text is not a plain decimal number", fix: "config" },
  INST_ID_INVALID: { text: "a text is neither BASE-QUOTE nor BASE-QUOTE-SWAP", fix: "config" },
  INSTRUMENT_UNKNOWN: { text: "the service does not list this instrument", fix: "config" },
  FIXTURE_INVALID: { text: "a fixture is missing, damaged or does not match its manifest", fix: "data" },
  IMPORT_INVALID: { text: "a recording cannot be imported", fix: "data" },
  DATA_UNAVAILABLE: { text: "market data could not be had from an exchange", fix: "machine" },
  STRATEGY_FAILED: { text: "a strategy threw", fix: "code" },
  PLUGIN_FAILED: { text: "a plugin threw", fix: "code" },
  PLUGIN_INCOMPATIBLE: { text: "a plugin does not fit this version, the other plugins or the run", fix: "config" },
  ORDER_REFUSED: { text: "an order was refused before it was sent, or every order of a run was rejected", fix: "code" },
  QUEUE_FULL: { text: "the request queue reached its bound", fix: "code" },
  DEADLINE_PASSED: { text: "an action was still waiting for quota at its deadline", fix: "code" },
  TRADING_HALTED: { text: "the run ended, and trading is halted until it is resumed", fix: "resume" },
  ORDERS_LEFT: { text: "orders that were to be canceled may still be open", fix: "query" },
  STOPPED: { text: "a command was stopped before it was done", fix: "again" },
  EVENT_UNKNOWN: { text: "a listener was given a name that no event has", fix: "code" },
  ENGINE_STATE: { text: "the engine was used in a state that does not allow it", fix: "code" },
  PROFILE_DIFFERS: { text: "the service does not do what the profile assumes, or could not be asked", fix: "query" },
  DESCRIPTION_BROKEN: { text: "the service breaks a rule of its description", fix: "query" },
  OUTCOME_UNKNOWN: { text: "a request was sent but no answer was read", fix: "query" },
  JOURNAL_INVALID: { text: "a journal is damaged or belongs to another service, user or instance", fix: "data" },
  JOURNAL_FAILED: { text: "the journal cannot be written", fix: "machine" },
  NOT_LEADING: { text: "another process of the same engine leads, or may, and this one sends nothing", fix: "machine" },
  PLATFORM_UNSUPPORTED: { text: "the JavaScript runtime lacks what this needs", fix: "machine" },
  PORT_UNAVAILABLE: { text: "a server cannot listen on its port", fix: "machine" },
  INVARIANT_VIOLATED: {
    text: "a simulated scenario violated an invariant of the framework or of a strategy",
    fix: "code",
  },
  REPLAY_DIVERGED: { text: "a replayed session did not do what was recorded", fix: "code" },
  BUG: { text: "an invariant inside the framework was violated", fix: "report" },
} as const;

/** Code of a `SluiceError`. Codes are stable; `errorCodes` has the text of each and what to do. */
export type ErrorCode = keyof typeof errorCodes;

/**
 * The only error the framework throws on purpose. `message` is written for people and names place, value and remedy;
 * `code` is stable and meant for programs. Compare by `name` and `code`, never by `instanceof`: a process may hold two
 * copies.
 */
export class SluiceError extends Error {
  readonly code: ErrorCode;
  /** One line per problem when several were found at once. */
  readonly issues: readonly string[];
  constructor(code: ErrorCode, message: string, issues: readonly string[] = []) {
    super(issues.length === 0 ? message : `${message}\n${issues.map((issue) => `  - ${issue}`).join("\n")}`);
    this.name = "SluiceError";
    this.code = code;
    this.issues = issues;
  }
}

/**
 * Returns true for an error that Sluice threw on purpose, also from another copy of the package.
 *
 * @param error - anything that was thrown
 * @returns true for an error with a `code`
 */
export const isSluiceError = (error: unknown): error is SluiceError =>
  error instanceof Error && error.name === "SluiceError" && "code" in error;

/**
 * Message of a thrown value; it may be anything, also something that throws when it is read.
 *
 * @param error - anything that was thrown
 * @returns text
 */
export const messageOf = (error: unknown): string => {
  try {
    if (!(error instanceof Error)) return String(error);
    return `${["Error", "SluiceError"].includes(error.name) ? "" : `${error.name}: `}${error.message}`;
  } catch {
    return "something that cannot be shown was thrown";
  }
};

/** Checks an invariant that only a bug can violate. */
export function assert(condition: unknown, invariant: string): asserts condition {
  if (!condition)
    throw new SluiceError("BUG", `Invariant violated: ${invariant}. This is a bug in Sluice; please report it.`);
}

const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, swap));
    }
    row = next;
  }
  return row[b.length] ?? 0;
};

/**
 * ` Did you mean "x"?`, or nothing when no known word is near.
 *
 * @param word - what was written
 * @param known - what may be written
 * @returns ` Did you mean "x"?`, or nothing when no known word is near
 */
export const didYouMean = (word: string, known: readonly string[]): string => {
  const lower = word.toLowerCase();
  const begun = known.filter((option) => lower.length > 2 && option.toLowerCase().startsWith(`${lower}-`));
  if (begun.length > 0) return ` Did you mean "${begun[0]}"?`;
  const ranked = known.map((option) => [distance(lower, option.toLowerCase()), option] as const);
  const best = ranked.sort((x, y) => x[0] - y[0])[0];
  return best && best[0] <= Math.max(2, word.length / 3) ? ` Did you mean "${best[1]}"?` : "";
};

/**
 * Runs of letters with digits among them: keys and signatures look like that, and no time, price or instrument id does.
 */
const keyLike = /(?=[A-Za-z+/_]*\d)(?=[\d+/_]*[A-Za-z])[A-Za-z0-9+/_]{12,}/g;

/**
 * The beginning of a line from a file that is not what it should be, for a message. It may be any file of the user's:
 * what looks like a key is left out.
 *
 * @param line - of a file
 * @param lengthMax - characters that are shown
 * @returns text of at most that length
 */
export const excerpt = (line: string, lengthMax = 60): string => {
  const text = line.slice(0, 1_000).replaceAll(keyLike, "...");
  return text.length > lengthMax ? `${text.slice(0, lengthMax - 3)}...` : text;
};

/** Error of a strategy or plugin, with its place and time as far as they are known. */
export interface Failure {
  readonly kind: "strategy" | "plugin";
  /** Name of the strategy or plugin in the config. */
  readonly name: string;
  readonly message: string;
  /** Milliseconds on the engine's clock: virtual in a backtest. */
  readonly at: number;
  /**
   * `file:line:column` in the author's source, relative to the working folder where it lies below; absent where no
   * frame is the author's.
   */
  readonly place?: string;
  /** Such as "a quote of BTC-USDT-SWAP"; absent where it is not known, as after an `await`. */
  readonly handling?: string;
  /** Failures of this strategy or plugin so far, this one included. */
  readonly count: number;
}
