/**
 * First probe: the list of instruments, asked without a key, with the calendar and the headers of its answer.
 *
 * Settles: whether a key is needed and whether asking without one is charged (G13), names and sizes of an instrument
 * (G2), ids (H8), whether the list is whole (G10), the Date header and how far the calendars are apart (H5, G12).
 */

import { type InstrumentRecord, isPositive } from "sluice";
import { type Profile, wire } from "sluice/dialect";
import { type Raw, type Reply, wordOf } from "../probe/reply.ts";
import { type Answer, doneOr } from "./answer.ts";
import { spellAnswer } from "./credentials.ts";
import { type ExaminationState, noteUnasked, turnedAway } from "./examination.ts";
import { type Finding, judged, type RowPath, remark, unseen } from "./finding.ts";
import { readingsOf } from "./spending.ts";

export const listRows: readonly RowPath[] = ["instruments.fieldNames", "instruments.instIdPattern"];

/** The list of instruments; the answer of a service that shows none without a key; or why there is neither. */
export type Listed = readonly InstrumentRecord[] | Reply | string;

/** Requests the list of instruments without a key. */
export const probeInstruments = async (examination: ExaminationState): Promise<Listed> => {
  const { client, contract, clock, note } = examination;
  const { profile } = contract;
  const bare = await client.ask("instruments", {}, { signed: false });
  if (bare.kind === "unanswered") {
    noteUnasked(examination, ["instruments.needsKey", "limits.dateHeader", ...listRows], bare.why);
    return bare.why;
  }
  note(
    ...calendarFindings(
      profile,
      bare,
      clock.wallNow() - (clock.now() - bare.sentAt),
      clock.wallNow() - (clock.now() - bare.receivedAt),
    ),
  );
  if (!bare.ok) return bare;
  note(judged(profile, "instruments.needsKey", false, `without a key: ${spellAnswer(bare)}`));
  return readList(examination, bare);
};

/** Requests the list with a key that the service is known to accept, if there was no answer without one. */
export const probeKeyedInstruments = async (
  examination: ExaminationState,
  bare: Reply,
): Promise<readonly InstrumentRecord[] | string> => {
  const { client, contract, note } = examination;
  const answer = await client.ask("instruments", {});
  const evidence = `without a key: ${spellAnswer(bare)}`;
  if (answer.kind === "answered" && answer.ok && turnedAway(examination, bare) !== undefined)
    note(judged(contract.profile, "instruments.needsKey", true, evidence));
  else noteUnasked(examination, ["instruments.needsKey"], evidence);
  return readList(examination, answer);
};

const readList = (examination: ExaminationState, answer: Answer): readonly InstrumentRecord[] | string => {
  const { note, contract } = examination;
  const reply = doneOr(answer);
  if (typeof reply === "string") {
    noteUnasked(examination, listRows, reply);
    return reply;
  }
  note(...listFindings(contract.profile, reply.records));
  if (reply.records.some(({ instId }) => typeof instId !== "string")) return "instruments: a list of something else";
  const outcome = wire.parseResponse<InstrumentRecord>("instruments", reply.response, contract, 0);
  return outcome.kind === "done" ? outcome.records : [];
};

/** The service's stamp counts whole seconds and was made between sending and receiving. */
const calendarFindings = (
  profile: Profile,
  { dateAt }: Reply,
  sentWallAt: number,
  receivedWallAt: number,
): readonly Finding[] => {
  const date = judged(profile, "limits.dateHeader", dateAt !== undefined, "in the answer to the first request");
  if (dateAt === undefined) return [date];
  const least = dateAt - receivedWallAt;
  const most = dateAt + 999 - sentWallAt;
  const apart = least > 0 ? least : most < 0 ? -most : 0;
  const { toleranceMs } = profile.auth;
  const clock = remark("G12", "clock", apart <= toleranceMs ? "holds" : "differs", {
    assumed: `within ${toleranceMs} ms of the service's`,
    found: apart === 0 ? "within a second" : `${(apart / 1_000).toFixed(1)} s ${least > 0 ? "behind" : "ahead"}`,
    evidence: apart <= toleranceMs ? "by the Date header" : "by the Date header; set this machine's clock",
  });
  return [date, clock];
};

const pageSizes = [20, 50, 100, 200, 500, 1_000];

const has = (records: readonly Raw[], ...names: readonly string[]): boolean =>
  records.every((record) => names.some((name) => typeof record[name] === "string"));

const isSize = (value: unknown): boolean => {
  try {
    return typeof value === "string" && isPositive(value);
  } catch {
    return false;
  }
};

const listFindings = (profile: Profile, records: readonly Raw[]): readonly Finding[] => {
  const count = records.length;
  const whole = remark("G10", "whole list", pageSizes.includes(count) || count === 0 ? "not seen" : "holds", {
    assumed: "every product in one answer",
    found: `${count} ${count === 1 ? "product" : "products"}`,
    evidence: pageSizes.includes(count)
      ? "a round number: it may be the first page of several"
      : "not a usual length of a page",
  });
  if (count === 0) return [...listRows.map((row) => unseen(profile, row, "the list is empty")), whole];
  return [fieldFinding(profile, records), sizeFinding(records), idFinding(profile, records), whole];
};

const fieldFinding = (profile: Profile, records: readonly Raw[]): Finding => {
  const names = Object.keys(records[0] ?? {}).join(", ");
  if (has(records, "tickSize") && has(records, "lotSize"))
    return judged(profile, "instruments.fieldNames", "long", `fields ${names}`);
  if (has(records, "tickSz") && has(records, "lotSz"))
    return judged(profile, "instruments.fieldNames", "short", `fields ${names}`);
  return remark("G2", "instruments.fieldNames", "differs", {
    assumed: profile.instruments.fieldNames,
    found: "other names",
    evidence: `no tickSize and lotSize, no tickSz and lotSz among ${names}: orders cannot be sized`,
  });
};

const sizeFinding = (records: readonly Raw[]): Finding => {
  const bad = records.find(
    (record) => !isSize(record["tickSize"] ?? record["tickSz"]) || !isSize(record["lotSize"] ?? record["lotSz"]),
  );
  return remark("G2", "instrument sizes", bad === undefined ? "holds" : "differs", {
    assumed: "positive decimals",
    found: bad === undefined ? "positive decimals" : `not for ${wordOf(bad["instId"])}`,
    evidence: `${records.length} read`,
  });
};

const idFinding = (profile: Profile, records: readonly Raw[]): Finding => {
  const pattern = new RegExp(profile.instruments.instIdPattern);
  const odd = records.find(({ instId }) => typeof instId !== "string" || !pattern.test(instId));
  return remark("H8", "instruments.instIdPattern", odd === undefined ? "holds" : "differs", {
    assumed: profile.instruments.instIdPattern,
    found: odd === undefined ? "every id fits" : JSON.stringify(odd["instId"]),
    evidence: `${records.length} read`,
  });
};

/**
 * Requests the list without a key between two calls with one, so that the user's count shows whether a user was
 * charged.
 */
export const probeUnsignedCharge = async (examination: ExaminationState): Promise<void> => {
  const { client, contract, note } = examination;
  const row = "instruments.chargesUserWithoutKey";
  if (examination.findings.some((finding) => finding.row === "instruments.needsKey" && finding.found === "true")) {
    note(unseen(contract.profile, row, "the list is not answered without a key"));
    return;
  }
  const weightOf = (): number => contract.endpoints.instruments.weight;
  const readings = async (): Promise<readonly number[]> => {
    await client.ask("instruments", {}, { signed: false });
    await client.ask("instruments", {});
    return readingsOf(client.samples, ({ signed }) => !signed, weightOf);
  };
  const [extra] = await readings();
  // Another client may have spent just as much at that moment: what differs has to be seen twice.
  const all = extra === weightOf() ? await readings() : [];
  if (extra === 0) note(judged(contract.profile, row, false, "the user's count did not grow by it"));
  else if (all.length > 1 && all.every((one) => one === weightOf()))
    note(judged(contract.profile, row, true, `the user's count grew by ${extra}, twice`));
  else
    note(
      unseen(
        contract.profile,
        row,
        extra === undefined ? "no answer around it had the count of used weight" : "another client was spending",
      ),
    );
};
