/**
 * Third and fourth probe: listings, pages and single orders, read only.
 *
 * Settles: order of listings (G6, G7), cursors and limits (H6), ids (H7), states and words (G4, G1), units and signs
 * (G3, H9), the answers to a request without an id and for an order that does not exist (G5, G16), the shape of
 * failures (H2), and from the growth of the count of used weight: weights (G17), failed calls and headers on errors
 * (H5).
 * Not here: conclusions from pages (listing.ts) and from counts (spending.ts).
 */

import { wire } from "sluice/dialect";
import type { Reply } from "../probe/reply.ts";
import { type Answer, doneOr } from "./answer.ts";
import { noteAnswers } from "./answer-findings.ts";
import { noteRefusal } from "./credentials.ts";
import { type ExaminationState, noteUnasked, turnedAway } from "./examination.ts";
import { judged, remark, unseen } from "./finding.ts";
import { boundsFound, cursorFound, idsOf, newestOf } from "./listing.ts";
import { probeQuery } from "./probe-signature.ts";
import { noteRecords } from "./record-findings.ts";
import { noteWeights } from "./weight-findings.ts";

/** Three orders show their sequence, and a cursor between two of them. */
const limit = "3";
const beyondLimit = "101";
/** The first order a service could have had; of another user at most. */
const noSuchId = "1";

type Listing = "pendingOrders" | "orderHistory";

export const probeListings = async (examination: ExaminationState, signs: boolean, unsigned: Answer): Promise<void> => {
  const { client } = examination;
  const pending = await probeQuery(examination, signs, () => client.ask("pendingOrders", { limit }));
  const history = await client.ask("orderHistory", { limit });
  noteRecords(examination, pending, history);
  const noId = await client.ask("getOrder", {});
  // Where failures carry no counters the next success closes the account of what this one cost.
  if (noId.kind === "answered" && noId.counters.uidUsed === undefined) await client.ask("instruments", {});
  const listing = fuller(pending, history);
  await probeCursor(examination, listing);
  const missing = await client.ask("getOrder", { ordId: noSuchId });
  const beyond = await probeLimit(examination);
  const known = listing?.ids[0];
  if (known !== undefined) await client.ask("getOrder", { ordId: String(known) });
  if (missing.kind === "answered" && !missing.ok) await probeDoor(examination, signs);
  noteAnswers(examination, { noId, missing, beyond, unsigned });
  await noteWeights(examination, known);
};

/**
 * Checks the answer to wrong credentials when an order that does not exist is requested: it must differ from the answer
 * that proves its absence.
 */
const probeDoor = async (examination: ExaminationState, signs: boolean): Promise<void> => {
  const { client } = examination;
  for (const fault of signs ? wire.keyFaults : (["key"] as const)) {
    noteRefusal(examination, await client.ask("getOrder", { ordId: noSuchId }, { fault }));
  }
  noteRefusal(examination, await client.ask("getOrder", { ordId: noSuchId }, { signed: false }));
  // Closes the account of what these may have cost.
  await client.ask("instruments", {});
};

interface Page {
  readonly endpoint: Listing;
  readonly ids: readonly bigint[];
}

const pageOf = (endpoint: Listing, answer: Answer): Page | undefined => {
  const reply = doneOr(answer);
  const ids = typeof reply === "string" ? undefined : idsOf(reply.records);
  return ids === undefined ? undefined : { endpoint, ids };
};

/** The listing that can show more; the history where both are alike, as its orders stay where they are. */
const fuller = (pending: Answer, history: Answer): Page | undefined => {
  const [open, past] = [pageOf("pendingOrders", pending), pageOf("orderHistory", history)];
  return (open?.ids.length ?? 0) > (past?.ids.length ?? 0) ? open : (past ?? open);
};

const probeCursor = async (examination: ExaminationState, page: Page | undefined): Promise<void> => {
  const { contract, note } = examination;
  const rows = ["paging.cursorIncluded", "paging.afterAndBefore"] as const;
  const newest = newestOf(page?.ids ?? []);
  if (page === undefined || newest === undefined) {
    const why = page === undefined ? "no listing could be read" : "no order exists to page by";
    if (page === undefined) noteUnasked(examination, rows, why);
    else note(...rows.map((row) => unseen(contract.profile, row, why)));
    return;
  }
  await probeAfter(examination, page, newest);
  const next = newestOf(page.ids.filter((id) => id !== newest));
  if (next === undefined) note(unseen(contract.profile, "paging.afterAndBefore", "only one order exists"));
  else await probeBoth(examination, page, newest, next);
};

const probeAfter = async (examination: ExaminationState, { endpoint }: Page, newest: bigint): Promise<void> => {
  const { client, contract, note } = examination;
  const row = "paging.cursorIncluded";
  const reply = doneOr(await client.ask(endpoint, { limit, after: String(newest) }));
  const older = typeof reply === "string" ? undefined : idsOf(reply.records);
  if (typeof reply === "string" || older === undefined) {
    noteUnasked(examination, [row], typeof reply === "string" ? reply : "ids that are not digits cannot be compared");
    return;
  }
  const how = cursorFound(older, newest);
  const evidence = `after=${newest}: ${older.length} orders, the cursor's ${how}`;
  if (how !== "ignored") note(judged(contract.profile, row, how === "included", evidence));
  // If the service ignores the cursor, no row can correct it: paging would never end.
  else
    note(remark("H6", row, "differs", { assumed: "orders older than the cursor", found: "newer ones too", evidence }));
};

const probeBoth = async (
  examination: ExaminationState,
  { endpoint, ids }: Page,
  newest: bigint,
  next: bigint,
): Promise<void> => {
  const { client, contract, note } = examination;
  const row = "paging.afterAndBefore";
  const answer = await client.ask(endpoint, { limit, after: String(newest), before: String(next) });
  const { badRequestStatus } = contract.profile.answers;
  if (
    answer.kind === "answered" &&
    !answer.ok &&
    answer.status === badRequestStatus &&
    turnedAway(examination, answer) === undefined
  ) {
    note(judged(contract.profile, row, "refused", `both sent: status ${answer.status}, code ${answer.code}`));
    return;
  }
  const reply = doneOr(answer);
  const between = typeof reply === "string" ? undefined : idsOf(reply.records);
  if (typeof reply === "string" || between === undefined) {
    noteUnasked(examination, [row], typeof reply === "string" ? reply : "ids that are not digits cannot be compared");
    return;
  }
  const how = boundsFound(between, newest, next, ids.length > 2);
  if (how === undefined)
    note(unseen(contract.profile, row, `both sent: ${between.length} orders, which either reading explains`));
  else note(judged(contract.profile, row, how, `both sent around two neighbours: ${between.length} orders`));
};

const probeLimit = async (examination: ExaminationState): Promise<Answer> => {
  const { client, contract, note } = examination;
  const row = "paging.limitAboveMax";
  const answer = await client.ask("pendingOrders", { limit: beyondLimit });
  const evidence = (reply: Reply): string => `limit=${beyondLimit}: status ${reply.status}, code ${reply.code}`;
  const read = doneOr(answer);
  const said = answer.kind === "answered" && !answer.ok && turnedAway(examination, answer) === undefined;
  if (answer.kind === "unanswered" || (typeof read === "string" && !said)) {
    noteUnasked(examination, [row], typeof read === "string" ? read : evidence(read));
    return answer;
  }
  note(judged(contract.profile, row, answer.ok ? "clamped" : "refused", evidence(answer)));
  return answer;
};
