/**
 * Findings from the first pages of the two listings: sequence, ids, states, words, units and signs.
 *
 * Invariants: a row is judged only from records that exist; nothing is asked here.
 */

import type { OrderRecord } from "sluice";
import { type Profile, wire } from "sluice/dialect";
import { type Raw, type Reply, wordOf } from "../probe/reply.ts";
import { type Answer, doneOr } from "./answer.ts";
import type { ExaminationState } from "./examination.ts";
import { type Finding, judged, type RowPath, remark, unasked, unseen } from "./finding.ts";
import { emptyDecimalOf, feeSignOf, idsOf, isNewestFirst, timeUnitOf, wordsOf } from "./listing.ts";

export const noteRecords = (examination: ExaminationState, pending: Answer, history: Answer): void => {
  const { contract, note, clock } = examination;
  const { profile } = contract;
  const [open, past] = [doneOr(pending), doneOr(history)];
  note(orderFinding(profile, open, "G6", "pending"), orderFinding(profile, past, "G7", "history"));
  const replies = [open, past].filter((reply): reply is Reply => typeof reply !== "string");
  const records = replies.flatMap((reply) => reply.records);
  const why = typeof open === "string" && replies.length === 0 ? open : "no order exists";
  const missing = replies.length === 0 ? unasked : unseen;
  const wallAt = replies[0]?.dateAt ?? clock.wallNow();
  const rows: readonly (readonly [RowPath, unknown, string])[] = [
    ["order.timeUnit", timeUnitOf(records, wallAt), "digits of createdAt and updatedAt, and the Date header"],
    ["order.feeSign", feeSignOf(records), "fees of orders that took"],
    ["order.emptyDecimal", emptyDecimalOf(records), "avgPx of orders that never traded"],
  ];
  for (const [row, found, evidence] of rows) note(rowFinding(profile, row, found, evidence, records, missing, why));
  if (records.length === 0) return;
  const problems = replies.flatMap((reply) => problemsOf(examination, reply));
  note(
    recordFinding(problems, records),
    idFinding(records),
    stateFinding(profile, open, past),
    ...wordFindings(profile, records),
  );
};

const orderFinding = (profile: Profile, reply: Reply | string, gap: string, name: string): Finding => {
  const row = "paging.newestFirst";
  if (typeof reply === "string") return unasked(profile, row, reply, gap);
  const ids = idsOf(reply.records) ?? [];
  const newestFirst = isNewestFirst(ids);
  if (newestFirst === undefined) return unseen(profile, row, `${name}: fewer than two orders`, gap);
  const evidence = `${name}: ${ids.map((id) => `…${String(id).slice(-4)}`).join(", ")}`;
  if (newestFirst !== "neither") return judged(profile, row, newestFirst, evidence, gap);
  return remark(gap, row, "differs", {
    assumed: String(profile.paging.newestFirst),
    found: "in no order of ids",
    evidence,
  });
};

const rowFinding = (
  profile: Profile,
  row: RowPath,
  found: unknown,
  evidence: string,
  records: readonly Raw[],
  missing: typeof unseen,
  why: string,
): Finding => {
  if (records.length === 0) return missing(profile, row, why);
  if (found === undefined) return unseen(profile, row, `no order shows it: ${evidence}`);
  if (found !== "odd") return judged(profile, row, found, evidence);
  return remark("G3", row, "differs", { assumed: profile.order.timeUnit, found: "no unit of time", evidence });
};

const problemsOf = ({ contract }: ExaminationState, reply: Reply): readonly string[] => {
  const outcome = wire.parseResponse<OrderRecord>(reply.endpoint, reply.response, contract, 0);
  return outcome.kind === "done" ? outcome.problems : [];
};

/** Unknown states have a finding of their own. */
const recordFinding = (problems: readonly string[], records: readonly Raw[]): Finding => {
  const others = problems.filter((problem) => !problem.includes(".state"));
  return remark("G6", "order record", others.length === 0 ? "holds" : "differs", {
    assumed: "the thirteen fields described",
    found: others.length === 0 ? "all of them" : (others[0] ?? ""),
    evidence: `${records.length} read`,
  });
};

const idFinding = (records: readonly Raw[]): Finding => {
  const digits = idsOf(records) !== undefined;
  const sample = `such as ${wordOf(records[0]?.["ordId"])}`;
  return remark("H7", "ordId", digits ? "holds" : "differs", {
    assumed: "digits",
    found: digits ? "digits" : "other text",
    evidence: sample,
  });
};

const stateFinding = (profile: Profile, open: Reply | string, past: Reply | string): Finding => {
  const statesOf = (reply: Reply | string): readonly string[] =>
    typeof reply === "string" ? [] : wordsOf(reply.records, "state");
  const isOpen = (word: string): boolean =>
    ["live", "partially_filled"].includes(wire.schemas.readState(word, profile) ?? "");
  const isPast = (word: string): boolean =>
    ["filled", "canceled"].includes(wire.schemas.readState(word, profile) ?? "");
  const astray = [...statesOf(open).filter((word) => !isOpen(word)), ...statesOf(past).filter((word) => !isPast(word))];
  return remark("G4", "states", astray.length === 0 ? "holds" : "differs", {
    assumed: "live and partially_filled pending, filled and canceled in history",
    found: [...statesOf(open), ...statesOf(past)].join(", "),
    evidence:
      astray.length === 0
        ? "first pages of both listings"
        : `${astray.join(", ")}: name it in order.stateAliases, or it is in the wrong listing`,
  });
};

const wordFindings = (profile: Profile, records: readonly Raw[]): readonly Finding[] =>
  (
    [
      ["order.sides", "side", profile.order.sides],
      ["order.ordTypes", "ordType", profile.order.ordTypes],
    ] as const
  ).map(([row, field, known]) => {
    const words = wordsOf(records, field);
    const fresh = words.filter((word) => !known.includes(word));
    return judged(profile, row, [...known, ...fresh], `seen: ${words.join(", ")}`);
  });
