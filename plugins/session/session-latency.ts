/**
 * Delays of a recorded session as a latency model for backtests: `latency: fromSession("out/session")`.
 *
 * Round trips are the times between a request and its answer on the engine's own clock, of every call with status 200.
 * The part of a round trip before the service is not recorded; half is assumed by default. Market values carry no time
 * of the service, but pushes of order records do: the delay of each beyond the quickest is known without the difference
 * of the two clocks, and the quickest is assumed to have taken the way back of the quickest round trip.
 * Invariants: a session with too little data is refused; pushes of services whose times are whole seconds are left out.
 * Not here: drawing (backtest/latency.ts).
 */

import { SluiceError } from "sluice";
import { empirical, type LatencyModel } from "sluice/backtest";
import { createContract } from "sluice/dialect";
import { delaysMin } from "sluice/extension";
import { readSession, type Session } from "./session-file.ts";
import type { SessionRecord } from "./session-records.ts";

/** Options of `fromSession`. */
export interface FromSessionOptions {
  /** Share of a round trip that is the way to the service, from 0 to 1. Default 0.5. */
  readonly entryShare?: number;
}

/** Longer is an outage of the channel, not a delay of the feed. */
const pushMsMax = 10_000;

/**
 * Order entry, response and feed as a session recorded them; `empirical` describes how they are drawn. Where fewer than
 * 20 pushes were recorded the feed takes the way back of a round trip. `dir` is the folder that `sluice record` wrote.
 * Throws FIXTURE_INVALID where there is no session, CONFIG_INVALID where it holds fewer than 20 answered calls.
 */
export const fromSession = (dir: string, options: FromSessionOptions = {}): LatencyModel => {
  const { drawn, answered } = latencyOf(readSession(dir), options);
  if (drawn !== undefined) return drawn;
  throw new SluiceError(
    "CONFIG_INVALID",
    `fromSession(${JSON.stringify(dir)}): ${answered} calls were answered; at least ${delaysMin} are needed to draw from. Record for longer, or write lognormal({ medianMs: … }).`,
  );
};

/** `fromSession` of a session that has been read; nothing where there is too little to draw from. */
export const latencyOf = (session: Session, { entryShare = 0.5 }: FromSessionOptions = {}) => {
  const { roundTripMs, pushLagMs } = delaysIn(session);
  const answered = roundTripMs.length;
  if (answered < delaysMin) return { answered, drawn: undefined };
  const quickest = least(roundTripMs) * (1 - entryShare);
  const leastLag = least(pushLagMs);
  const feedMs = pushLagMs.map((ms) => quickest + ms - leastLag).filter((ms) => ms <= pushMsMax);
  const enough = feedMs.length >= delaysMin;
  const feed = enough
    ? `the feed from ${feedMs.length} pushes, median ${median(feedMs)} ms`
    : "the feed takes the way back";
  const name = `drawn from ${answered} round trips of ${session.name}, median ${median(roundTripMs)} ms, ${entryShare} of each the way there; ${feed}`;
  return { answered, drawn: empirical({ name, roundTripMs, entryShare, ...(enough && { feedMs }) }) };
};

const least = (values: readonly number[]): number =>
  values.reduce((best, value) => Math.min(best, value), Number.POSITIVE_INFINITY);

const median = (values: readonly number[]): string =>
  ([...values].sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? 0).toFixed(3).replace(/\.?0+$/, "");

const perMs = { ms: 1, us: 1_000 } as const;

/**
 * Delays between requests and answers, and between the dates of order records and their arrival, independent of the
 * clocks.
 */
const delaysIn = (
  session: Session,
): { readonly roundTripMs: readonly number[]; readonly pushLagMs: readonly number[] } => {
  const { timeUnit } = createContract(session.header.profile).profile.order;
  const roundTripMs: number[] = [];
  const pushLagMs: number[] = [];
  const sentAt = new Map<number, number>();
  const dated = new Set<string>();
  let now = 0;
  for (const record of session.records()) {
    if ("in" in record) now = record.now;
    if ("out" in record && record.out === "request") sentAt.set(record.request, now);
    else if ("in" in record && record.in === "answer") {
      const from = sentAt.get(record.request);
      if (from !== undefined && record.status === 200) roundTripMs.push(now - from);
      sentAt.delete(record.request);
    } else if (timeUnit !== "s") {
      const push = pushIn(record);
      // A change that is reported again, for example after a lost connection, is no news.
      if (push === undefined || dated.has(push)) continue;
      dated.add(push);
      pushLagMs.push(now - Number(push.slice(push.indexOf(" ") + 1)) / perMs[timeUnit]);
    }
  }
  return { roundTripMs, pushLagMs };
};

/** The order and the instant of a pushed record; undefined for everything else. */
const pushIn = (record: SessionRecord): string | undefined => {
  if (!("in" in record) || record.in !== "stream" || !record.stream.startsWith("pushes ")) return undefined;
  const { ordId, updatedAt } = record.value as { readonly ordId?: unknown; readonly updatedAt?: unknown };
  return typeof ordId === "string" && typeof updatedAt === "string" && /^\d+$/.test(updatedAt)
    ? `${ordId} ${updatedAt}`
    : undefined;
};
