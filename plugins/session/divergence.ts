/**
 * First difference between a replay and the recording, and its text.
 *
 * Invariants: values are compared in their JSON form; every difference names the path to the field, what was recorded
 * and what the replay made of it; nothing of a divergence depends on the machine.
 */
import type { Entry, Output, Reply, SessionRecord } from "./session-records.ts";

export interface FieldDifference {
  readonly path: string;
  /** Undefined when the field is missing on that side. */
  readonly recorded: unknown;
  readonly replayed: unknown;
}

export interface Passed {
  readonly index: number;
  readonly at: number;
  readonly text: string;
}

export type DivergenceKind = "differs" | "unexpected" | "missing" | "undeliverable" | "stray";

/** The first difference between a recorded session and its replay. */
export interface Divergence {
  readonly kind: DivergenceKind;
  /** Counts records from 0; the record is in line `index + 2` of the file. */
  readonly index: number;
  readonly line: number;
  /** On the engine's clock, and since the session began. */
  readonly at: number;
  readonly sinceMs: number;
  /** The recorded entry and that of the replay, in words; undefined for none. */
  readonly recorded?: string;
  readonly replayed?: string;
  readonly fields: readonly FieldDifference[];
  /** The records before it, oldest first. */
  readonly before: readonly Passed[];
}

const differencesMax = 20;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/**
 * Differences of two JSON values, at most a screen of them. Fields in the order of the recorded value, new ones after
 * them.
 */
export const differences = (recorded: unknown, replayed: unknown, path = ""): readonly FieldDifference[] => {
  if (Object.is(recorded, replayed)) return [];
  const both = isObject(recorded) && isObject(replayed) && Array.isArray(recorded) === Array.isArray(replayed);
  if (!both) return [{ path, recorded, replayed }];
  const found: FieldDifference[] = [];
  for (const name of new Set([...Object.keys(recorded), ...Object.keys(replayed)])) {
    found.push(...differences(recorded[name], replayed[name], path === "" ? name : `${path}.${name}`));
    if (found.length >= differencesMax) break;
  }
  return found.slice(0, differencesMax);
};

const words = (value: unknown, most = 100): string => {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > most ? `${text.slice(0, most - 3)}...` : text;
};

/** A record in a few words. */
export const describe = (record: SessionRecord): string => {
  if ("in" in record) return entryWords(record);
  if ("out" in record) return outputWords(record);
  if ("tape" in record) return `${record.tape}: ${words(record.value)}`;
  return replyWords(record);
};

const replyWords = (reply: Reply): string => {
  switch (reply.re) {
    case "value":
      return `the service replied ${words(reply.value)}`;
    case "thrown":
      return `the service replied ${reply.message}`;
    case "later":
      return "the history source did not answer at once";
    case "leave":
      return `the service replied by asking for leave (${reply.ip})`;
  }
};

const entryWords = (entry: Entry): string => {
  switch (entry.in) {
    case "open":
      return "the engine was made";
    case "call":
      return `asked to ${entry.call}${"what" in entry ? ` to ${entry.what}` : ""}`;
    case "timer":
      return `timer ${entry.timer} (due ${entry.due})`;
    case "answer":
      return `answer ${entry.status} to request ${entry.request}: ${words(entry.body, 60)}`;
    case "failure":
      return `request ${entry.request} failed: ${entry.error ?? "no answer"}`;
    case "stream":
      return `${entry.stream}: ${words(entry.value)}`;
    case "end":
      return `${entry.stream} ended`;
    case "disk":
      return `the journal's folder answered question ${entry.disk}${entry.error === undefined ? "" : `: ${entry.error}`}`;
    case "history":
      return `the history source answered question ${entry.history}: ${entry.error ?? words(entry.value, 60)}`;
    case "group":
      return `the store of the group answered question ${entry.group}: ${entry.error ?? words(entry.value, 60)}`;
    case "leave":
      return `the service asked for leave (${entry.ip})`;
    case "trouble":
      return `the service's side threw: ${entry.message}`;
    case "anomaly":
      return `the service reported ${entry.what}: ${entry.detail}`;
    case "stray":
      return "the engine acted although nothing recorded had happened";
  }
};

const outputWords = (output: Output): string => {
  switch (output.out) {
    case "request":
      return `request ${output.request}: ${output.endpoint} ${words(output.body ?? output.query)}`;
    case "event":
      return `event ${String(output.event["type"])} ${words({ ...output.event, type: undefined })}`;
    case "open":
    case "watch":
    case "unwatch":
      return `${output.out} ${output.stream}`;
    case "disk":
      return `asked the journal's folder to ${output.op} ${words(output.target)} (question ${output.disk})`;
    case "history":
      return `asked the history source for ${output.ask} ${words(output.args)} (question ${output.history})`;
    case "group":
      return `asked the group's ${output.store} to ${output.op} ${words(output.args)} (question ${output.group})`;
    case "lastPx":
      return `asked for the last price of ${output.instId}`;
    case "ordersRefused":
      return "asked whether orders are refused";
    case "leave":
      return output.until === undefined ? "gave leave" : `gave leave at ${output.until}`;
    case "start":
      return "started the service";
    case "stop":
      return "stopped the service";
  }
};

const titles: Readonly<Record<DivergenceKind, string>> = {
  differs: "the replay did something else",
  unexpected: "the replay did something that was not recorded there",
  missing: "the replay did not do what was recorded there",
  undeliverable: "nothing in the replay waits for what was recorded there",
  stray:
    "the recorded engine acted without a recorded cause, such as an `await` of a file, a network call or the machine's own timer in a strategy; it cannot be replayed beyond this point",
};

/** The divergence for people, a few lines. */
export const divergenceText = ({
  kind,
  index,
  line,
  sinceMs,
  recorded,
  replayed,
  fields,
  before,
}: Divergence): string => {
  const lines = [
    `divergence at record ${index} (line ${line}), ${seconds(sinceMs)} after the start: ${titles[kind]}`,
    `  recorded: ${recorded ?? "nothing"}`,
    `  replayed: ${replayed ?? "nothing"}`,
    ...fields.map(({ path, recorded: was, replayed: is }) => `    ${path}: ${words(was)} -> ${words(is)}`),
    ...(before.length === 0 ? [] : ["before it:"]),
    ...before.map(({ index: at, text }) => `  ${String(at).padStart(6)}  ${text}`),
  ];
  return `${lines.join("\n")}\n`;
};

const seconds = (ms: number): string => `${(Math.round(ms) / 1_000).toFixed(3)} s`;
