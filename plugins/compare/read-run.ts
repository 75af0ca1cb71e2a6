/**
 * Reads a run from its files: a journal, a recorded session, a report.
 *
 * Invariants: unreadable input is refused with file, line, expectation and remedy; a torn last line is left out and
 * reported; nothing is written; a report next to a journal (`run.ndjson`, `run.json`) supplies the facts that a journal
 * does not contain.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Event, SluiceError } from "sluice";
import type { Assumption, RunReport } from "sluice/backtest";
import { createContract } from "sluice/dialect";
import { assumptionText, excerpt, readAssumption, readManifest } from "sluice/extension";
import { comparableFacts, readSession, type Session, sessionFile } from "sluice/plugins/session";
import { RunReader } from "./run-reader.ts";
import type { RunFacts, RunRecord } from "./run-record.ts";

export const readRun = (path: string): RunRecord => {
  if (!existsSync(path)) throw unreadable(path, "a journal, a session folder or a report", "nothing");
  if (!statSync(path).isDirectory()) return readFile(path);
  if (existsSync(join(path, sessionFile))) return runOfSession(readSession(path));
  throw unreadable(path, "a recorded session", `a folder without ${sessionFile}`);
};

const unreadable = (place: string, expected: string, found: string): SluiceError =>
  new SluiceError(
    "USAGE",
    `${place}: expected ${expected}, found ${found}. Name what the journal-file plugin wrote, a folder of \`sluice record\`, or what \`sluice backtest --json\` printed.`,
  );

const readFile = (path: string): RunRecord => {
  const text = readFileSync(path, "utf8");
  const whole = text.trimStart().startsWith("{") ? parseJson(text) : undefined;
  if (isReport(whole)) return runOfReport(path, whole);
  return runOfJournal(path, text);
};

const isReport = (value: unknown): value is RunReport => {
  const report = value as Partial<RunReport> | undefined;
  return (
    typeof report === "object" &&
    typeof report?.resultHash === "string" &&
    typeof report.orders === "object" &&
    typeof report.quota === "object"
  );
};

const runOfReport = (path: string, report: RunReport): RunRecord => {
  const { orders, quota, perStrategy, fixture } = report;
  const [startAt, endAt] = [fixture.startAt, fixture.endAt].map((text) => Date.parse(text)) as [number, number];
  const waitedMs = Object.values(perStrategy).reduce((sum, { heldMs }) => sum + heldMs, 0);
  return {
    name: path,
    kind: "report",
    startAt,
    endAt,
    orders: undefined,
    refusals: [],
    holds: [],
    totals: {
      orders: orders.placed,
      filled: orders.filled,
      canceled: orders.canceled,
      rejected: orders.rejected,
      refused: orders.refused,
      fills: report.fills,
      volume: report.volume,
      fees: report.fees,
      pnl: report.pnl,
      waits: 0,
      waitedMs,
      limited: quota.rejected429,
    },
    facts: factsOfReport(report),
    notes: [],
  };
};

export const factsOfReport = ({ seed, fixture, quota, assumptions }: RunReport): RunFacts => ({
  seed,
  market: fixture.contentHash,
  limits: quota.limits,
  service: "backtest",
  ...split(assumptions.map(readAssumption)),
});

/** Latency apart from what else is assumed; what follows from other facts is left out. */
const split = (assumptions: readonly Assumption[]): Pick<RunFacts, "latency" | "assumptions"> => {
  const latency = assumptions.find(({ what }) => /^latency$/i.test(what))?.value;
  const rest = assumptions.filter(({ what }) => !/^(latency|limits|no limits)$/i.test(what)).map(assumptionText);
  return { ...(latency !== undefined && { latency }), ...(assumptions.length > 0 && { assumptions: rest }) };
};

const runOfJournal = (path: string, text: string): RunRecord => {
  const reader = new RunReader();
  const notes: string[] = [];
  const lines = text.split("\n");
  const last = lines.findLastIndex((line) => line.trim() !== "");
  if (last < 0) throw unreadable(path, "events, one JSON object a line", "an empty file");
  for (const [index, line] of lines.entries()) {
    if (line.trim() === "") continue;
    const event = parseJson(line) as Partial<Event> | undefined;
    if (typeof event?.type === "string" && typeof event.at === "number") reader.event(event as Event, index + 1);
    else if (index === last && index > 0 && event === undefined)
      notes.push(`Line ${index + 1} was cut off while it was written and is left out.`);
    else throw unreadable(`${path}:${index + 1}`, 'an event with "type" and "at"', excerpt(line));
  }
  const report = reportBeside(path);
  const run = reader.finish({
    name: path,
    kind: "journal",
    notes,
    ...(report !== undefined && { facts: factsOfReport(report) }),
  });
  return report === undefined ? run : { ...run, totals: { ...run.totals, pnl: report.pnl } };
};

const reportBeside = (path: string): RunReport | undefined => {
  const beside = path.replace(/\.\w+$/, ".json");
  if (beside === path || !existsSync(beside)) return undefined;
  const value = parseJson(readFileSync(beside, "utf8"));
  return isReport(value) ? value : undefined;
};

export const runOfSession = (session: Session): RunRecord => {
  const { header, name, notes } = session;
  const reader = new RunReader();
  let now = 0;
  let offsetMs = 0;
  // The header is line 1, records follow it.
  let number = 1;
  for (const record of session.records()) {
    number++;
    if ("in" in record) {
      if (record.in === "open") offsetMs = (record.wall ?? record.now) - record.now;
      now = record.now;
    } else if ("out" in record && record.out === "event")
      reader.event({ seq: number, at: now, ...record.event } as Event, number);
    else if ("out" in record && record.out === "request" && record.endpoint === "placeOrder")
      noteSent(reader, record.body);
  }
  const { feeSign } = createContract(header.profile).profile.order;
  return reader.finish({ name, kind: "session", notes, offsetMs, feeSign, facts: factsOfSession(session) });
};

const factsOfSession = ({ header, name }: Session): RunFacts => {
  const { seed, limits, service, assumptions } = header;
  const market = existsSync(join(name, "manifest.json")) ? readManifest(name).contentHash : undefined;
  return {
    seed: String(seed),
    limits,
    service,
    config: comparableFacts(header, "profile"),
    ...split(assumptions),
    ...(market !== undefined && { market }),
  };
};

/** Notes the content of a placement by its id. */
export const noteSent = (reader: RunReader, body: unknown): void => {
  const { clOrdId, instId, side, ordType, px = "", sz } = (body ?? {}) as Readonly<Record<string, string | undefined>>;
  if (clOrdId === undefined || instId === undefined || side === undefined || ordType === undefined || sz === undefined)
    return;
  reader.sent(clOrdId, { instId, side, ordType, px, sz });
};

/** Undefined where the text is not JSON. */
const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};
