/**
 * Findings about the weight of queries (G17) and of failed calls (H5), from the growth of the user's count.
 *
 * Invariants: a weight that differs was read twice; a query whose reading fell on the turn of a minute is asked once
 * more.
 */
import type { EndpointName } from "sluice/dialect";
import type { ExaminationState } from "./examination.ts";
import { type Finding, judged, unasked, unseen } from "./finding.ts";
import { type Call, type Reading, readingOf, readingsOf } from "./spending.ts";

const queries = ["getOrder", "pendingOrders", "orderHistory"] as const;
type Query = (typeof queries)[number];

export const noteWeights = async (examination: ExaminationState, known: bigint | undefined): Promise<void> => {
  const { client, contract, note } = examination;
  if (client.marks.length === 0) {
    note(
      ...[...queries.map((name) => `weights.${name}` as const), "limits.failedCounts" as const].map((row) =>
        silent(examination, row),
      ),
    );
    return;
  }
  for (const name of queries) {
    let reading = read(examination, name);
    if (reading.kind !== "value" && (name !== "getOrder" || known !== undefined)) {
      await again(examination, name, known);
      reading = read(examination, name);
    }
    note(weightFinding(examination, name, reading));
  }
  const failed = failedReadings(examination);
  const row = "limits.failedCounts";
  const [extra] = failed;
  if (extra === undefined)
    note(unseen(contract.profile, row, "no answer around a failed call had the count of used weight"));
  else note(judged(contract.profile, row, extra > 0, `a failed query added ${extra}`));
};

const silent = ({ contract, client }: ExaminationState, row: "limits.failedCounts" | `weights.${Query}`): Finding => {
  const answered = client.calls.some(({ signed, ending }) => signed && ending === "done");
  return answered
    ? unseen(contract.profile, row, "no answer carried the count of used weight")
    : unasked(contract.profile, row, "no signed request was answered");
};

const again = async ({ client }: ExaminationState, name: Query, known: bigint | undefined): Promise<void> => {
  if (name === "getOrder") await client.ask(name, { ordId: String(known) });
  else await client.ask(name, { limit: "3" });
};

/** Returns the weights of the description; for queries those read so far. */
const weightsOf = (examination: ExaminationState) => {
  const { contract, client } = examination;
  return (endpoint: EndpointName): number => {
    const assumed = contract.endpoints[endpoint].weight;
    if (!(queries as readonly string[]).includes(endpoint)) return assumed;
    const single = readingsOf(
      client.samples,
      (call) => isDone(call, endpoint),
      () => Number.POSITIVE_INFINITY,
    );
    const reading = readingOf(single, assumed);
    return reading.kind === "value" ? reading.value : reading.kind === "unsure" ? Math.min(...reading.of) : assumed;
  };
};

const isDone = ({ endpoint, signed, ending }: Call, name: EndpointName): boolean =>
  endpoint === name && signed && ending === "done";
const isFailed = ({ endpoint, ending }: Call): boolean => endpoint === "getOrder" && ending === "failed";

const failedReadings = (examination: ExaminationState): readonly number[] =>
  readingsOf(examination.client.samples, isFailed, weightsOf(examination));

const read = (examination: ExaminationState, name: Query): Reading => {
  const { client, contract } = examination;
  const done = readingsOf(client.samples, (call) => isDone(call, name), weightsOf(examination));
  // If failed calls count, they weigh as much as successful ones; a failed call that does not count is no evidence.
  const failed = name === "getOrder" ? failedReadings(examination).filter((extra) => extra > 0) : [];
  return readingOf([...done, ...failed], contract.endpoints[name].weight);
};

const weightFinding = (examination: ExaminationState, name: Query, reading: Reading): Finding => {
  const { profile } = examination.contract;
  const row = `weights.${name}` as const;
  if (reading.kind === "value") return judged(profile, row, reading.value, `the user's count grew by ${reading.value}`);
  if (reading.kind === "none") return unseen(profile, row, "the minute ended, or no answer around it had the count");
  return unseen(profile, row, `the count grew by ${reading.of.join(", ")}: another client may be spending`);
};
