/**
 * Second probe: does the service accept how requests are signed, and if not, does it accept a way documented elsewhere.
 *
 * Settles: signature, digest and timestamp of a request without a query, what is signed of one with a query (G12), what an
 * unsigned request is told, and the text of a success (H2).
 */

import type { BalanceRecord } from "../contract/schemas.ts";
import { readAnswer } from "../gateway/read-answer.ts";
import { assumedBy, type Finding, judged, type Override, type RowPath, remark } from "./finding.ts";
import { type Answer, doneOr, type Reply } from "./reply.ts";
import { plainWays, queryWay, spellWay } from "./signatures.ts";
import { noteUnasked, type Visit } from "./visit.ts";

const plainRows: readonly RowPath[] = ["auth.headerPrefix", "auth.timestamp", "auth.digest"];

/** What the way that was accepted says of each row. */
const found = (visit: Visit, rows: readonly RowPath[], way: readonly Override[], evidence: string): readonly Finding[] =>
  rows.map((row) => {
    const { profile } = visit.contract;
    const other = way.find(({ path }) => path === row);
    return judged(profile, row, other === undefined ? assumedBy(profile, row) : other.value, evidence);
  });

const isRefused = (answer: Answer): boolean => answer.kind === "answered" && answer.status === 401;

/** Tries each way until one is not refused; the service stays open in that way, or as it was. */
const search = async (
  visit: Visit,
  ways: readonly (readonly Override[])[],
  ask: () => Promise<Answer>,
): Promise<{ readonly way: readonly Override[]; readonly answer: Answer } | undefined> => {
  for (const way of ways) {
    await visit.reopen(way);
    const answer = await ask();
    if (!isRefused(answer)) return { way, answer };
  }
  await visit.reopen([]);
  return undefined;
};

/** What a request without a key is told where one is needed. */
export const probeUnsigned = async (visit: Visit): Promise<Answer> => {
  const { asker, contract, note } = visit;
  const answer = await asker.ask("spotBalance", {}, { signed: false });
  if (answer.kind === "unanswered") {
    noteUnasked(visit, ["answers.authStatus", "answers.authCode"], answer.why);
    return answer;
  }
  note(judged(contract.profile, "answers.authStatus", answer.status, "the balance asked for without a key"));
  if (answer.code !== "") note(judged(contract.profile, "answers.authCode", answer.code, `"${answer.msg ?? ""}"`));
  return answer;
};

/** Gives false when no way to sign was accepted: then nothing that needs a key can be asked. */
export const probeSignature = async (visit: Visit, signs: boolean): Promise<boolean> => {
  const { asker, note, contract } = visit;
  const ask = (): Promise<Answer> => asker.ask("spotBalance", {});
  const first = await ask();
  if (!isRefused(first)) {
    if (first.kind === "unanswered") noteUnasked(visit, plainRows, first.why);
    else if (signs) note(...found(visit, plainRows, [], `balance: status ${first.status}`));
    noteBalance(visit, first);
    return true;
  }
  const ways = plainWays(contract.profile.auth);
  const other = await search(visit, ways, ask);
  if (other?.answer.kind === "answered") {
    note(...found(visit, plainRows, other.way, `401 as configured, ${other.answer.status} with ${spellWay(other.way)}`));
    noteBalance(visit, other.answer);
    return true;
  }
  const why = other?.answer.kind === "unanswered" ? other.answer.why : `401 as configured and in ${ways.length} other documented ways`;
  noteUnasked(visit, plainRows, `${why}: check key, secret, passphrase, auth.headerPrefix and this machine's clock`);
  return false;
};

const noteBalance = ({ note, contract }: Visit, answer: Answer): void => {
  const reply = doneOr(answer);
  const assumed = { assumed: "currency, balance, available, frozen" };
  if (typeof reply === "string") {
    note(remark("G11", "balance record", "not asked", { ...assumed, found: "-", evidence: reply }));
    return;
  }
  note(successFinding(reply, contract.profile));
  const outcome = readAnswer<BalanceRecord>("spotBalance", reply.response, contract, 0);
  const problems = outcome.kind === "done" ? outcome.problems : [];
  const verdict = reply.records.length === 0 ? "not seen" : problems.length === 0 ? "holds" : "differs";
  const names = Object.keys(reply.records[0] ?? {}).join(", ");
  note(
    remark("G11", "balance record", verdict, {
      ...assumed,
      found: names === "" ? "-" : names,
      evidence: problems[0] ?? `${reply.records.length} read`,
    }),
  );
};

const successFinding = ({ msg, endpoint }: Reply, profile: Visit["contract"]["profile"]): Finding =>
  judged(profile, "answers.successMsg", msg ?? "", `${endpoint}: msg ${JSON.stringify(msg ?? null)}`);

/** A request with a query: refused though one without was accepted, the query is signed, or is not, unlike assumed. */
export const probeQuery = async (visit: Visit, signs: boolean, ask: () => Promise<Answer>): Promise<Answer> => {
  const { note, contract } = visit;
  const row = "auth.prehash";
  const first = await ask();
  if (!isRefused(first)) {
    if (first.kind === "unanswered") noteUnasked(visit, [row], first.why);
    else if (signs) note(...found(visit, [row], [], `with a query: status ${first.status}`));
    return first;
  }
  const way = queryWay(contract.profile.auth);
  const other = await search(visit, [way], ask);
  if (other?.answer.kind === "answered") {
    note(...found(visit, [row], other.way, `with a query: 401 as configured, ${other.answer.status} with ${spellWay(other.way)}`));
    return other.answer;
  }
  noteUnasked(
    visit,
    [row],
    other?.answer.kind === "unanswered" ? other.answer.why : "a request with a query is refused (401) whether the query is signed or not",
  );
  return first;
};
