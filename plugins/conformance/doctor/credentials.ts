/**
 * Proof that a service distinguishes right credentials from wrong ones: the same read with right ones, with one part
 * wrong, and right again.
 *
 * Invariants: it is proved only when the right ones were answered with a success both times, and a wrong secret and a
 * wrong key with a refusal that has nothing to do with limits or health; rows about refused credentials are concluded
 * from such refusals alone.
 * Not here: finding a way to sign that is accepted (probe-signature.ts).
 */

import { type Profile, wire } from "sluice/dialect";
import type { Reply } from "../probe/reply.ts";
import { type Answer, doneOr } from "./answer.ts";
import type { ExaminationState } from "./examination.ts";
import { type Finding, judged, unseen } from "./finding.ts";

/** A success with a list of records: all that a read without parameters can bring where it is answered at all. */
export const successOf = (answer: Answer): Reply | undefined => {
  const reply = doneOr(answer);
  if (typeof reply === "string") return undefined;
  return reply.records.length === (reply.envelope["data"] as readonly unknown[]).length ? reply : undefined;
};

export const spellAnswer = (answer: Answer): string =>
  answer.kind === "unanswered"
    ? answer.why
    : `status ${answer.status}${answer.code === "" ? "" : `, code ${answer.code}`}`;

/** Returns true if a client cannot distinguish the two answers. */
export const isSame = (a: Answer, b: Answer): boolean =>
  a.kind === "answered" && b.kind === "answered" && a.status === b.status && a.code === b.code;

/** Repeats the read with one part of the credentials wrong. */
export const askWrongly = ({ client }: ExaminationState, fault: wire.KeyFault): Promise<Answer> =>
  client.ask("spotBalance", {}, { fault });

const isRefusal = ({ answers }: Profile, answer: Answer): answer is Reply =>
  answer.kind === "answered" &&
  !answer.ok &&
  answer.code !== "0" &&
  ![answers.unavailableCode, answers.limitedCode].includes(answer.code);

/** Keeps the code with which wrong credentials were refused, where there is one. */
export const noteRefusal = ({ door, contract }: ExaminationState, answer: Answer): void => {
  if (isRefusal(contract.profile, answer) && answer.code !== "") door.codes.add(answer.code);
};

/**
 * Returns the reason for which it is not known whether the service would notice a wrong key; undefined if that was
 * learned and noted.
 */
export const probeCredentials = async (
  examination: ExaminationState,
  signs: boolean,
  accepted: Reply,
  unsigned: Answer,
): Promise<string | undefined> => {
  const { client, contract, door, note } = examination;
  const refusals: Reply[] = [];
  // What carries no signature has a name only.
  for (const fault of signs ? wire.keyFaults : (["key"] as const)) {
    const answer = await askWrongly(examination, fault);
    if (isRefusal(contract.profile, answer)) {
      noteRefusal(examination, answer);
      if (fault === "key" || fault === "secret") refusals.push(answer);
    } else if (fault === "key" || fault === "secret") {
      return answer.kind === "unanswered"
        ? `no answer to a request with a wrong ${fault} (${answer.why})`
        : `a request with a wrong ${fault} is answered as one with the right ${fault} is (${spellAnswer(answer)})`;
    }
  }
  const again = await client.ask("spotBalance", {});
  if (successOf(again) === undefined)
    return `the same signed request was accepted once and then not (${spellAnswer(again)})`;
  if (isRefusal(contract.profile, unsigned)) {
    noteRefusal(examination, unsigned);
    refusals.push(unsigned);
  }
  door.success = accepted;
  note(...refusalFindings(contract.profile, refusals));
  return undefined;
};

const refusalFindings = (profile: Profile, refusals: readonly Reply[]): readonly Finding[] => {
  const how = refusals.map(spellAnswer).join("; ");
  const evidence = `the balance asked for with wrong credentials, and without: ${how}`;
  const [status, ...statuses] = new Set(refusals.map((reply) => reply.status));
  const [code, ...codes] = new Set(refusals.map((reply) => reply.code).filter((text) => text !== ""));
  return [
    status === undefined || statuses.length > 0
      ? unseen(profile, "answers.authStatus", `no one status: ${evidence}`)
      : judged(profile, "answers.authStatus", status, evidence),
    code === undefined || codes.length > 0
      ? unseen(profile, "answers.authCode", `no one code: ${evidence}`)
      : judged(profile, "answers.authCode", code, evidence),
  ];
};
