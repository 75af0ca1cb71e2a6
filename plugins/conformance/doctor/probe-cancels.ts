/**
 * Fifth probe: cancels of orders that do not exist. It changes nothing and is still a call that trades: for test
 * networks.
 *
 * Settles: fields of an element and whether ids may be mixed (G8), fields and codes of the results (G9), whether
 * elements weigh (H12).
 */
import type { InstrumentRecord } from "sluice";
import { type Reply, wordOf } from "../probe/reply.ts";
import type { Answer } from "./answer.ts";
import { type ExaminationState, noteUnasked } from "./examination.ts";
import { judged, type RowPath, remark, unseen } from "./finding.ts";
import { readingOf, readingsOf } from "./spending.ts";

const rows: readonly RowPath[] = [
  "cancelBatch.resultFields",
  "cancelBatch.envelopeCodeWhenAllFailed",
  "answers.notCancelableCode",
  "cancelBatch.oneIdKind",
  "weights.perCancelElement",
];

const noSuchIds = ["1", "2"] as const;
const noSuchClientId = "nobody";

export const isSwap = ({ instId }: InstrumentRecord): boolean => instId.endsWith("-SWAP");

export const probeCancels = async (
  examination: ExaminationState,
  instruments: readonly InstrumentRecord[],
): Promise<void> => {
  const { client, contract } = examination;
  const instId = instruments.find(isSwap)?.instId;
  if (instId === undefined) {
    noteUnasked(examination, rows, "no swap is listed");
    return;
  }
  const [first, second] = noSuchIds;
  const both = (): Promise<Answer> =>
    client.ask("cancelBatch", [
      { instId, ordId: first },
      { instId, ordId: second },
    ]);
  const answer = await both();
  const why = barOf(answer);
  if (why !== undefined || answer.kind === "unanswered") {
    noteUnasked(examination, rows, why ?? "");
    return;
  }
  noteElements(examination, answer);
  // Another client may have spent at that moment: a weight that differs has to be seen twice.
  if (extrasOf(examination)[0] !== contract.profile.weights.perCancelElement * noSuchIds.length) await both();
  noteWeight(examination);
  noteKinds(
    examination,
    await client.ask("cancelBatch", [
      { instId, ordId: first },
      { instId, clOrdId: noSuchClientId },
    ]),
  );
};

/** Returns the reason for which an answer is no evidence about elements; undefined if it is. */
const barOf = (answer: Answer): string | undefined => {
  if (answer.kind === "unanswered") return answer.why;
  return answer.status === 401 || answer.status === 403
    ? `cancelBatch: status ${answer.status}, code ${answer.code}`
    : undefined;
};

const noteElements = ({ note, contract }: ExaminationState, reply: Reply): void => {
  const { profile } = contract;
  const { records, status, code, msg } = reply;
  const assumed = { assumed: "instId and ordId", evidence: `two ids: status ${status}, code ${code} "${msg ?? ""}"` };
  if (records.length !== noSuchIds.length) {
    note(remark("G8", "cancel element", "differs", { ...assumed, found: `${records.length} results` }));
    note(...rows.slice(0, 3).map((row) => unseen(profile, row, "the call was not answered element by element")));
    return;
  }
  note(remark("G8", "cancel element", "holds", { ...assumed, found: "a result for each" }));
  const [result = {}] = records;
  const names = Object.keys(result).join(", ");
  const fields = "sCode" in result ? "sCode" : "code" in result ? "code" : undefined;
  if (fields === undefined) note(unseen(profile, "cancelBatch.resultFields", `fields ${names}`));
  else note(judged(profile, "cancelBatch.resultFields", fields, `fields ${names}`));
  const elementCode = wordOf(result["sCode"] ?? result["code"] ?? code);
  if (elementCode === "0") {
    note(
      ...rows.slice(1, 3).map((row) => unseen(profile, row, "a cancel of an order that does not exist is accepted")),
    );
    return;
  }
  note(judged(profile, "cancelBatch.envelopeCodeWhenAllFailed", code, `both failed: envelope code ${code}`));
  note(judged(profile, "answers.notCancelableCode", elementCode, `"${wordOf(result["sMsg"] ?? result["msg"])}"`));
};

const noteKinds = (examination: ExaminationState, answer: Answer): void => {
  const { note, contract } = examination;
  const row = "cancelBatch.oneIdKind";
  const why = barOf(answer);
  if (why !== undefined || answer.kind === "unanswered") {
    noteUnasked(examination, [row], why ?? "");
    return;
  }
  const refused = answer.records.length === 0;
  note(
    judged(
      contract.profile,
      row,
      refused,
      `an ordId and a clOrdId in one call: status ${answer.status}, code ${answer.code}`,
    ),
  );
};

/** Returns the weight of calls with two elements beyond the weight of the call itself. */
const extrasOf = ({ client, contract }: ExaminationState): readonly number[] => {
  const readings = readingsOf(
    client.samples,
    ({ endpoint }) => endpoint === "cancelBatch",
    () => 0,
  );
  return readings.map((all) => all - contract.endpoints.cancelBatch.weight);
};

const noteWeight = (examination: ExaminationState): void => {
  const { note, contract } = examination;
  const row = "weights.perCancelElement";
  const reading = readingOf(extrasOf(examination), contract.profile.weights.perCancelElement * noSuchIds.length);
  const each = reading.kind === "value" ? reading.value / noSuchIds.length : Number.NaN;
  if (Number.isInteger(each) && each >= 0)
    note(
      judged(contract.profile, row, each, `two elements added ${each * noSuchIds.length} to the weight of the call`),
    );
  else
    note(
      unseen(contract.profile, row, "no answer around it had the count of used weight, or another client was spending"),
    );
};
