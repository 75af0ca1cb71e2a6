/**
 * What failures look like: without an id, for an order that does not exist, without a key.
 *
 * Invariants: an answer that says something about the key, the limits or the service's health says nothing about these rows.
 */

import { limitHeaders } from "../contract/limits.ts";
import { type Finding, judged, type RowPath, remark, unseen } from "./finding.ts";
import { type Answer, doneOr, type Reply } from "./reply.ts";
import { noteUnasked, type Visit } from "./visit.ts";

export interface Failures {
  /** An order asked for without any id. */
  readonly noId: Answer;
  /** An order asked for that does not exist. */
  readonly missing: Answer;
  /** A balance asked for without a key. */
  readonly unsigned: Answer;
}

const atTheDoor = (answer: Answer): string | undefined => {
  if (answer.kind === "unanswered") return answer.why;
  return answer.status === 401 || answer.status === 403 ? `${answer.endpoint}: status ${answer.status}` : undefined;
};

export const noteAnswers = (visit: Visit, { noId, missing, unsigned }: Failures): void => {
  noteNoId(visit, noId);
  noteMissing(visit, missing);
  const failure = [noId, missing, unsigned].find(
    (answer): answer is Reply => answer.kind === "answered" && !answer.ok && answer.code !== "",
  );
  const { note, contract } = visit;
  if (failure === undefined) {
    noteUnasked(visit, ["answers.dataOnError", "limits.headersOnError"], "no failure was answered with an envelope");
    return;
  }
  note(dataFinding(visit, failure));
  const signedFailure = [noId, missing].find((answer): answer is Reply => answer.kind === "answered" && !answer.ok);
  if (signedFailure === undefined) note(unseen(contract.profile, "limits.headersOnError", "no signed request failed"));
  else note(headerFinding(visit, signedFailure));
};

const noteNoId = (visit: Visit, answer: Answer): void => {
  const { note, contract } = visit;
  const rows: readonly RowPath[] = ["answers.badRequestStatus", "answers.badRequestCode"];
  const why = atTheDoor(answer);
  if (why !== undefined || answer.kind === "unanswered") {
    noteUnasked(visit, rows, why ?? "");
    return;
  }
  const evidence = `an order asked for without an id: "${answer.msg ?? ""}"`;
  if (answer.ok) note(remark("G5", "answers.badRequestStatus", "differs", { assumed: "a refusal", found: "a success", evidence }));
  else
    note(
      judged(contract.profile, "answers.badRequestStatus", answer.status, evidence),
      judged(contract.profile, "answers.badRequestCode", answer.code, evidence),
    );
};

const noteMissing = (visit: Visit, answer: Answer): void => {
  const { note, contract } = visit;
  const { profile } = contract;
  const rows: readonly RowPath[] = ["answers.notFound", "answers.notFoundCode", "answers.orderErrorStatus"];
  const read = doneOr(answer);
  const why = atTheDoor(answer) ?? (answer.kind === "answered" && answer.ok && typeof read === "string" ? read : undefined);
  if (why !== undefined || answer.kind === "unanswered") {
    noteUnasked(visit, rows, why ?? "");
    return;
  }
  if (answer.records.length > 0) {
    note(...rows.map((row) => unseen(profile, row, "an order with the id 1 exists")));
    return;
  }
  const evidence = `order 1: status ${answer.status}, code ${answer.code} "${answer.msg ?? ""}"`;
  note(judged(profile, "answers.notFound", answer.ok ? "empty" : "error", evidence));
  if (answer.ok) note(...rows.slice(1).map((row) => unseen(profile, row, "an order that does not exist is no error here")));
  else
    note(
      judged(profile, "answers.notFoundCode", answer.code, evidence),
      judged(profile, "answers.orderErrorStatus", answer.status, evidence),
    );
};

const dataFinding = ({ contract }: Visit, { body, endpoint, status }: Reply): Finding => {
  const { data } = body;
  const form = Array.isArray(data) ? "array" : data === undefined ? "absent" : "object";
  return judged(
    contract.profile,
    "answers.dataOnError",
    form,
    `${endpoint}, status ${status}: data ${JSON.stringify(data ?? null)?.slice(0, 40)}`,
  );
};

const headerFinding = ({ contract }: Visit, { response, endpoint, status }: Reply): Finding => {
  const there = Object.values(limitHeaders).filter((name) => response.headers[name] !== undefined);
  return judged(
    contract.profile,
    "limits.headersOnError",
    there.length > 0,
    `${endpoint}, status ${status}: ${there.join(", ") || "no rate-limit header"}`,
  );
};
