/**
 * The lines of a recorded session: what entered the engine, what left it, and what the service replied in the course of
 * a call.
 *
 * A session is `session.ndjson`: a header line, then one record a line, then one line that ends it. `in` is an entry:
 * everything the engine does until the next one happens at its instant. `out` is what the engine did. `re` is what a
 * call of the engine got back before it returned, `tape` market data that only backtests need. Requests, timers and
 * listeners are numbered in the order in which the engine made them.
 * Invariants: a file of another version is refused by its first line; no record holds a key, a signature or a request
 * header.
 * Not here: files (session-file.ts), rows of market data (market-rows.ts).
 */

import { type Account, type Config, type ErrorCode, errorCodes, isSluiceError, SluiceError } from "sluice";
import type { Assumption } from "sluice/backtest";
import type { ProfileOverrides, WireRequest } from "sluice/dialect";
import { parseHuman, readAssumption, type User } from "sluice/extension";

export const sessionFormat = "sluice-session/1";
export const sessionFile = "session.ndjson";

/** Facts about a config when its engine is made, without options that are named like secrets. */
export interface ConfigFacts {
  /** The config's file as it was named; empty when there was none. */
  readonly config: string;
  readonly seed: string | number;
  readonly instance: string;
  /** True if the engine kept the service's limits. */
  readonly limits: boolean;
  readonly profile: ProfileOverrides;
  readonly orders: Config["orders"];
  /** `shared`: options of a shared quota, where the engine had one. */
  readonly quota: Config["quota"] & { readonly shared?: unknown };
  readonly freshness: Config["freshness"];
  readonly strategies: readonly { readonly name: string; readonly user?: string; readonly options: unknown }[];
  readonly plugins: readonly string[];
  /** The history source of the config, where it had one. */
  readonly history?: HistoryFacts;
  /** True when the engine shared a quota, and the answers of the group's stores are recorded. */
  readonly group?: boolean;
}

/** Facts that a replay needs to replace a history source. */
export interface HistoryFacts {
  readonly name: string;
  /** Kinds of rows that it has. */
  readonly kinds: readonly string[];
  readonly isComplete: boolean;
}

/** Facts of a config that decide a run, in JSON form, with the part named. */
export const comparableFacts = (facts: ConfigFacts, part: "plugins" | "profile"): unknown => {
  const { strategies, orders, quota, freshness, [part]: more } = facts;
  const options = strategies.map(({ name, user, options }) => [
    name,
    user === undefined ? (options ?? null) : { user, options },
  ]);
  return JSON.parse(
    JSON.stringify({ strategies: Object.fromEntries(options), orders, quota, freshness, [part]: more }),
  );
};

export interface ServiceFacts {
  readonly service: string;
  /** Its address, if it had one. */
  readonly baseUrl?: string;
  readonly users: readonly User[];
  /** True if the service may refuse orders as a whole. */
  readonly refusesOrders: boolean;
  /** True if the engine watched for a stalled process. */
  readonly watchful: boolean;
  /** True if the list of products could not change, so that it was read once. */
  readonly listFixed?: boolean;
  readonly assumptions: readonly Assumption[];
}

export interface SessionHeader extends ConfigFacts, ServiceFacts {
  readonly format: typeof sessionFormat;
}

/** Streams of state that are subscribed to from outside; a subscription makes the engine read. */
export type StateStream = "instruments$" | "quota$" | keyof Account;

/** A call of the engine from outside. */
export type Call =
  | { readonly call: "start" }
  | { readonly call: "stop"; readonly cancel: boolean; readonly settleMs?: number }
  /** Concerns all strategies where none is named, and all engines of the group where that is stated. */
  | {
      readonly call: "halt" | "resume";
      readonly reason: string;
      readonly strategy?: string;
      readonly everywhere?: boolean;
    }
  | { readonly call: "closePositions"; readonly reason: string; readonly instId?: string; readonly strategy?: string }
  /** `uid` where it is not the first user's. */
  | { readonly call: "listen"; readonly what: StateStream; readonly uid?: string; readonly listener: number }
  | { readonly call: "unlisten"; readonly listener: number };

export type EntryBody =
  /** The engine was made. */
  | { readonly in: "open" }
  | ({ readonly in: "call" } & Call)
  | { readonly in: "timer"; readonly timer: number; readonly due: number }
  | {
      readonly in: "answer";
      readonly request: number;
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body?: unknown;
    }
  /** No answer was read; without an `error` the transport just ended. */
  | { readonly in: "failure"; readonly request: number; readonly error?: string; readonly code?: string }
  | { readonly in: "stream"; readonly stream: string; readonly value: unknown }
  | { readonly in: "end"; readonly stream: string }
  /** The journal's folder answered a question; 0 is that it was opened. */
  | {
      readonly in: "disk";
      readonly disk: number;
      readonly value?: unknown;
      readonly error?: string;
      readonly code?: string;
    }
  /** The history source answered a question that it was asked before. */
  | {
      readonly in: "history";
      readonly history: number;
      readonly value?: unknown;
      readonly error?: string;
      readonly code?: string;
    }
  /** A store of the group answered a question; `notSent` when it is certain that it was not asked. */
  | {
      readonly in: "group";
      readonly group: number;
      readonly value?: unknown;
      readonly error?: string;
      readonly code?: string;
      readonly notSent?: true;
    }
  /** The service asked for leave to make a request of its own. */
  | { readonly in: "leave"; readonly ip: string }
  /** Something of the service's side threw. */
  | { readonly in: "trouble"; readonly message: string }
  /** The service reported an anomaly. */
  | { readonly in: "anomaly"; readonly what: string; readonly detail: string }
  /** The engine did something that nothing recorded had caused. */
  | { readonly in: "stray" };

/** `now` is the engine's clock; `wall` the calendar where it differs. */
export type Entry = EntryBody & { readonly now: number; readonly wall?: number };

/**
 * Questions of the engine to its journal's folder. `target` is the name of a file, or the number of the question that
 * opened one.
 */
export interface DiskQuestion {
  readonly op:
    | "list"
    | "read"
    | "create"
    | "open"
    | "truncate"
    | "rename"
    | "remove"
    | "append"
    | "sync"
    | "close"
    | "lock"
    | "unlock";
  readonly target?: string | number;
  readonly to?: string | number;
  readonly size?: number;
  readonly sha256?: string;
}

/** Question of the engine to the stores of its group. */
export interface GroupQuestion {
  readonly store: "claims" | "answers";
  readonly op: string;
  readonly args: readonly unknown[];
}

export type Output =
  | ({ readonly out: "request"; readonly request: number } & WireRequest)
  | { readonly out: "event"; readonly event: Readonly<Record<string, unknown>> }
  | ({ readonly out: "disk"; readonly disk: number } & DiskQuestion)
  /** The history source is asked for `ask`, such as "candles". */
  | { readonly out: "history"; readonly history: number; readonly ask: string; readonly args: readonly unknown[] }
  | ({ readonly out: "group"; readonly group: number } & GroupQuestion)
  | { readonly out: "open"; readonly stream: string }
  | { readonly out: "watch"; readonly stream: string }
  | { readonly out: "unwatch"; readonly stream: string }
  | { readonly out: "lastPx"; readonly instId: string }
  | { readonly out: "ordersRefused" }
  | { readonly out: "leave"; readonly until?: number }
  | { readonly out: "start" }
  | { readonly out: "stop" };

export type Reply =
  | { readonly re: "value"; readonly value: unknown }
  | { readonly re: "thrown"; readonly code?: string; readonly message: string }
  /** The answer is a promise, and comes as an entry. */
  | { readonly re: "later" }
  | { readonly re: "leave"; readonly ip: string };

/** Market data that the engine did not ask for, kept for backtests; a replay passes over it. */
export interface TapeRow {
  readonly tape: string;
  readonly value: unknown;
}

export type SessionRecord = Entry | Output | Reply | TapeRow;

/** The last line. `sha256` is that of every byte before it. */
export interface SessionEnd {
  /** `stopped`, `crashed`, or why recording gave up. */
  readonly end: string;
  readonly entries: number;
  readonly outputs: number;
  readonly sha256: string;
}

const known: Readonly<Record<"in" | "out" | "re", readonly string[]>> = {
  in: [
    "open",
    "call",
    "timer",
    "answer",
    "failure",
    "stream",
    "end",
    "disk",
    "history",
    "group",
    "leave",
    "trouble",
    "anomaly",
    "stray",
  ],
  out: [
    "request",
    "event",
    "disk",
    "history",
    "group",
    "open",
    "watch",
    "unwatch",
    "lastPx",
    "ordersRefused",
    "leave",
    "start",
    "stop",
  ],
  re: ["value", "thrown", "later", "leave"],
};

/** Error made of a recorded message and its code, if any. */
export const errorOf = (message: string, code = ""): Error =>
  Object.hasOwn(errorCodes, code) ? new SluiceError(code as ErrorCode, message) : new Error(message);

/** The code of what was thrown, as a part of a record. */
export const codeIn = (thrown: unknown): { readonly code?: string } =>
  isSluiceError(thrown) ? { code: thrown.code } : {};

export const isEntry = (record: SessionRecord): record is Entry => "in" in record;
export const isOutput = (record: SessionRecord): record is Output => "out" in record;
export const isReply = (record: SessionRecord): record is Reply => "re" in record;
export const isTape = (record: SessionRecord): record is TapeRow => "tape" in record;
export const isEnd = (line: object): line is SessionEnd => "end" in line && "sha256" in line;

/** The record or the end in `text`, or an error that names `place`. */
export const parseLine = (text: string, place: string): SessionRecord | SessionEnd => {
  const value = parseJson(text);
  if (typeof value !== "object" || value === null) throw damaged(place, "a JSON object", cut(text));
  if (isEnd(value)) return value;
  if (isTape(value as SessionRecord)) return value as TapeRow;
  for (const family of ["in", "out", "re"] as const) {
    const name = (value as Readonly<Record<string, unknown>>)[family];
    if (name === undefined) continue;
    if (!known[family].includes(name as string))
      throw damaged(place, `"${family}" to be one of ${known[family].join(", ")}`, cut(text));
    if (family === "in" && typeof (value as Entry).now !== "number")
      throw damaged(place, "an entry with its instant", cut(text));
    return value as SessionRecord;
  }
  throw damaged(place, 'a record with "in", "out", "re" or "tape"', cut(text));
};

const text = { type: "string" } as const;
const open = { type: "object" } as const;
const assumption = {
  type: "object",
  required: ["what", "value", "consequence"],
  properties: { what: text, value: text, consequence: text },
} as const;
const headerSchema = {
  type: "object",
  additionalProperties: false,
  required: ["format", "config", "seed", "instance", "limits", "service", "users", "strategies"],
  properties: {
    format: { const: sessionFormat },
    config: text,
    seed: { type: ["string", "number"] },
    instance: text,
    limits: { type: "boolean" },
    profile: { ...open, default: {} },
    orders: { ...open, default: {} },
    quota: { ...open, default: {} },
    freshness: { ...open, default: {} },
    strategies: {
      type: "array",
      items: { type: "object", required: ["name"], properties: { name: text, user: text, options: {} } },
    },
    plugins: { type: "array", items: text, default: [] },
    history: {
      type: "object",
      required: ["name", "kinds", "isComplete"],
      properties: { name: text, kinds: { type: "array", items: text }, isComplete: { type: "boolean" } },
    },
    group: { type: "boolean", default: false },
    service: text,
    baseUrl: text,
    refusesOrders: { type: "boolean", default: false },
    watchful: { type: "boolean", default: false },
    listFixed: { type: "boolean", default: false },
    assumptions: { type: "array", items: { anyOf: [text, assumption] }, default: [] },
    users: {
      type: "array",
      minItems: 1,
      items: {
        type: "object",
        required: ["uid", "ip", "keys"],
        properties: {
          uid: text,
          ip: text,
          keys: {
            type: "array",
            items: {
              type: "object",
              required: ["name", "permissions"],
              properties: { name: text, permissions: { type: "array", items: text } },
            },
          },
        },
      },
    },
  },
} as const;

export const parseHeader = (line: string, place: string): SessionHeader => {
  const value = parseJson(line);
  const format = (value as { readonly format?: unknown } | null | undefined)?.format;
  if (format === sessionFormat) {
    const header = parseHuman<SessionHeader>(headerSchema, value, place, "FIXTURE_INVALID");
    return { ...header, assumptions: header.assumptions.map(readAssumption) };
  }
  const other = typeof format === "string" && format.startsWith("sluice-session/");
  throw new SluiceError(
    "FIXTURE_INVALID",
    `${place}: expected format "${sessionFormat}", found ${JSON.stringify(format) ?? "none"}. ${
      other
        ? "It was recorded by another version; replay it with that one, or record again."
        : "Make a session with `sluice record`."
    }`,
  );
};

/** Undefined for what is not JSON. */
export const parseJson = (line: string): unknown => {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
};

const damaged = (place: string, expected: string, found: string): SluiceError =>
  new SluiceError(
    "FIXTURE_INVALID",
    `${place}: expected ${expected}, found ${found}. The session is damaged; record it again.`,
  );

const cut = (line: string): string => (line.length > 80 ? `${line.slice(0, 77)}...` : line);
