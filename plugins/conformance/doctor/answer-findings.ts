/**
 * Findings about the form of failures: without an id, for an order that does not exist, without a key.
 *
 * Invariants: an answer about the key, the limits or the service's health is no evidence for these rows.
 */

import { type Profile, wire } from "sluice/dialect";
import type { Reply } from "../probe/reply.ts";
import { type Answer, doneOr } from "./answer.ts";
import { type ExaminationState, noteUnasked, turnedAway } from "./examination.ts";
import { type Finding, judged, type RowPath, remark, unseen } from "./finding.ts";

interface Failures {
  /** An order asked for without any id. */
  readonly noId: Answer;
  /** An order asked for that does not exist. */
  readonly missing: Answer;
  /** A listing asked for with a limit above the maximum. */
  readonly beyond: Answer;
  /** A balance asked for without a key. */
  readonly unsigned: Answer;
}

export const noteAnswers = (examination: ExaminationState, failures: Failures): void => {
  const { noId, missing, unsigned } = failures;
  noteNoId(examination, noId);
  noteMissing(examination, failures);
  const failure = [noId, missing, unsigned].find(
    (answer): answer is Reply => answer.kind === "answered" && !answer.ok && answer.code !== "",
  );
  const { note, contract } = examination;
  if (failure === undefined) {
    noteUnasked(
      examination,
      ["answers.dataOnError", "limits.headersOnError"],
      "no failure was answered with an envelope",
    );
    return;
  }
  note(dataFinding(examination, failure));
  const signedFailure = [noId, missing].find((answer): answer is Reply => answer.kind === "answered" && !answer.ok);
  if (signedFailure === undefined) note(unseen(contract.profile, "limits.headersOnError", "no signed request failed"));
  else note(headerFinding(examination, signedFailure));
};

const noteNoId = (examination: ExaminationState, answer: Answer): void => {
  const { note, contract } = examination;
  const rows: readonly RowPath[] = ["answers.badRequestStatus", "answers.badRequestCode"];
  const why = turnedAway(examination, answer);
  if (why !== undefined || answer.kind === "unanswered") {
    noteUnasked(examination, rows, why ?? "");
    return;
  }
  const evidence = `an order asked for without an id: "${answer.msg ?? ""}"`;
  if (answer.ok)
    note(remark("G5", "answers.badRequestStatus", "differs", { assumed: "a refusal", found: "a success", evidence }));
  else
    note(
      judged(contract.profile, "answers.badRequestStatus", answer.status, evidence),
      judged(contract.profile, "answers.badRequestCode", answer.code, evidence),
    );
};

const missingRows: readonly RowPath[] = ["answers.notFound", "answers.notFoundCode", "answers.orderErrorStatus"];

const noteMissing = (examination: ExaminationState, { missing, noId, beyond }: Failures): void => {
  const { note, contract, door } = examination;
  const { profile } = contract;
  if (door.codes.has(profile.answers.notFoundCode)) note(doorFinding(profile));
  const read = doneOr(missing);
  const away =
    turnedAway(examination, missing) ??
    (missing.kind === "answered" && missing.ok && typeof read === "string" ? read : undefined);
  if (away !== undefined || missing.kind === "unanswered") {
    noteUnasked(examination, missingRows, away ?? "");
    return;
  }
  if (missing.records.length > 0) {
    note(...missingRows.map((row) => unseen(profile, row, "an order with the id 1 exists")));
    return;
  }
  const evidence = `order 1: status ${missing.status}, code ${missing.code} "${missing.msg ?? ""}"`;
  if (missing.ok) {
    note(judged(profile, "answers.notFound", "empty", evidence));
    note(...missingRows.slice(1).map((row) => unseen(profile, row, "an order that does not exist is no error here")));
    return;
  }
  const why = unlikeProof(examination, missing, [noId, beyond]);
  if (why !== undefined) {
    note(...missingRows.map((row) => unseen(profile, row, `${evidence}: ${why}`)));
    return;
  }
  note(
    judged(profile, "answers.notFound", "error", evidence),
    judged(profile, "answers.notFoundCode", missing.code, evidence),
    judged(profile, "answers.orderErrorStatus", missing.status, evidence),
  );
};

/**
 * Returns the reason for which a refusal does not prove that an order does not exist; undefined if it does. With such a
 * code engines treat an order as absent, so it must be in the service's own envelope, with another code than the
 * service's answer to a request with a bad parameter.
 */
const unlikeProof = ({ door }: ExaminationState, missing: Reply, bad: readonly Answer[]): string | undefined => {
  const { envelope } = missing;
  if (
    typeof envelope["code"] !== typeof door.success?.envelope["code"] ||
    typeof missing.msg !== typeof door.success?.msg
  )
    return "not in the form of this service's answers";
  const refused = bad.filter((answer): answer is Reply => answer.kind === "answered" && !answer.ok);
  if (refused.length === 0) return "no request with a bad parameter was refused, to compare it with";
  if (refused.some(({ code }) => code === missing.code)) return "a request with a bad parameter is answered alike";
  return undefined;
};

/** A row in force that takes a refused key for the absence of an order. */
const doorFinding = ({ answers }: Profile): Finding =>
  remark("G5", "answers.notFoundCode in force", "differs", {
    assumed: "a code that only an absent order has",
    found: answers.notFoundCode,
    evidence:
      "wrong credentials are answered with it: an order in doubt would be treated as absent; remove or correct the row",
  });

const dataFinding = ({ contract }: ExaminationState, { envelope, endpoint, status }: Reply): Finding => {
  const { data } = envelope;
  const form = Array.isArray(data) ? "array" : data === undefined ? "absent" : "object";
  return judged(
    contract.profile,
    "answers.dataOnError",
    form,
    `${endpoint}, status ${status}: data ${JSON.stringify(data ?? null)?.slice(0, 40)}`,
  );
};

const headerFinding = ({ contract }: ExaminationState, { response, endpoint, status }: Reply): Finding => {
  const there = Object.values(wire.limitHeaders).filter((name) => response.headers[name] !== undefined);
  return judged(
    contract.profile,
    "limits.headersOnError",
    there.length > 0,
    `${endpoint}, status ${status}: ${there.join(", ") || "no rate-limit header"}`,
  );
};
