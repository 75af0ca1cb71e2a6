/**
 * Last read-only probe: three light calls around the edge of a minute show how the service counts minutes (H5).
 *
 * Invariants: waits no longer than `waitMsMax`; uses the lightest call of the description; what more than one way of
 * counting explains is not decided.
 */
import { minuteMs } from "../probe/probe-client.ts";
import type { ExaminationState } from "./examination.ts";
import { judged, unasked, unseen } from "./finding.ts";
import { anchorsFitting, chargesOf } from "./windows.ts";

const waitMsMax = 65_000;
/** The service's calendar is known to a second by its stamps; this far from the edge a call is surely on its side. */
const clearMs = 1_500;
const row = "limits.anchor";

export const probeWindow = async (examination: ExaminationState): Promise<void> => {
  const { client, clock, contract, note } = examination;
  const [first] = client.marks;
  if (first === undefined || first.minute === undefined) {
    const why =
      first === undefined
        ? "no answer carried the count of used weight"
        : "without a Date header the service's minute is not known";
    note(
      client.calls.some(({ signed, ending }) => signed && ending === "done")
        ? unseen(contract.profile, row, why)
        : unasked(contract.profile, row, why),
    );
    return;
  }
  const began = clock.now();
  const knock = async (): Promise<string | undefined> => {
    const answer = await client.ask("instruments", {});
    return answer.kind === "unanswered" ? answer.why : undefined;
  };
  const edgeAt = edgeAfter(examination, began);
  for (const at of [edgeAt - clearMs, edgeAt + clearMs, first.at + minuteMs + clearMs]) {
    if (at > began + waitMsMax) continue;
    await client.wait(at - clock.now());
    const why = await knock();
    if (why !== undefined) {
      note(unasked(contract.profile, row, why));
      return;
    }
    const fitting = anchorsFitting(chargesOf(client.marks, began), began);
    if (fitting.length === 1 && clock.now() > edgeAt) break;
  }
  const fitting = anchorsFitting(chargesOf(client.marks, began), began);
  const counts = client.marks
    .slice(-3)
    .map(({ used }) => used)
    .join(", ");
  const [only] = fitting;
  if (only !== undefined && fitting.length === 1)
    note(judged(contract.profile, row, only, `counts around the edge of a minute: ${counts}`));
  else {
    const why =
      fitting.length === 0
        ? "no way of counting explains them: another client may be spending"
        : `${fitting.join(" and ")} explain them alike: ask again at another second of the minute`;
    note(unseen(contract.profile, row, `counts around the edge of a minute: ${counts}; ${why}`));
  }
};

/**
 * Returns the instant at which the service's next minute begins, according to its latest stamp; it is at least far
 * enough away to call before it.
 */
const edgeAfter = ({ client, clock }: ExaminationState, now: number): number => {
  const { stamp } = client;
  const wallAt = stamp === undefined ? clock.wallNow() : stamp.dateAt + 500 + (now - stamp.at);
  const left = minuteMs - (wallAt % minuteMs);
  return now + (left < clearMs ? left + minuteMs : left);
};
