/**
 * Second probe: does the service accept the signatures of requests, and if not, another documented signature.
 *
 * Settles: signature, digest and timestamp of a request without a query, the signed text of one with a query (G12), and
 * the text of a success (H2).
 * Invariants: a way to sign is accepted only when a signed read was answered with a success.
 */

import type { BalanceRecord } from "sluice";
import { wire } from "sluice/dialect";
import type { Reply } from "../probe/reply.ts";
import type { Answer } from "./answer.ts";
import { askWrongly, isSame, spellAnswer, successOf } from "./credentials.ts";
import { type ExaminationState, noteUnasked, turnedAway } from "./examination.ts";
import { assumedBy, type Finding, judged, type Override, type RowPath, remark } from "./finding.ts";
import { plainWays, queryWay, spellWay } from "./signatures.ts";

export const plainRows: readonly RowPath[] = ["auth.headerPrefix", "auth.timestamp", "auth.digest"];

/** Returns findings about each row, from the signature that was accepted. */
const found = (
  examination: ExaminationState,
  rows: readonly RowPath[],
  way: readonly Override[],
  evidence: string,
): readonly Finding[] =>
  rows.map((row) => {
    const { profile } = examination.contract;
    const other = way.find(({ path }) => path === row);
    return judged(profile, row, other === undefined ? assumedBy(profile, row) : other.value, evidence);
  });

type Ways = readonly (readonly Override[])[];

/** Tries each way until one is accepted; the service stays open in that way, or as it was. */
const search = async (
  examination: ExaminationState,
  ways: Ways,
  ask: () => Promise<Answer>,
): Promise<{ readonly way: readonly Override[]; readonly reply: Reply } | string | undefined> => {
  let silence: string | undefined;
  for (const way of ways) {
    await examination.reopen(way);
    const answer = await ask();
    const reply = successOf(answer);
    if (reply !== undefined) return { way, reply };
    if (answer.kind === "unanswered") {
      silence = answer.why;
      break;
    }
  }
  await examination.reopen([]);
  return silence;
};

const remedy = "check key, secret, passphrase, auth.headerPrefix and this machine's clock";

/**
 * The answer to a signed request that was accepted, or why nothing can be concluded: then nothing that needs a key can
 * be asked.
 */
export const probeSignature = async (examination: ExaminationState, signs: boolean): Promise<Reply | string> => {
  const { client, note } = examination;
  const ask = (): Promise<Answer> => client.ask("spotBalance", {});
  const first = await ask();
  const reply = successOf(first);
  if (reply !== undefined) {
    if (signs) note(...found(examination, plainRows, [], `balance: ${spellAnswer(first)}`));
    noteBalance(examination, reply);
    return reply;
  }
  const other = first.kind === "unanswered" ? first.why : await otherWay(examination, signs, first, ask);
  if (typeof other === "string") return other;
  noteBalance(examination, other);
  return other;
};

const otherWay = async (
  examination: ExaminationState,
  signs: boolean,
  first: Reply,
  ask: () => Promise<Answer>,
): Promise<Reply | string> => {
  const { note, contract } = examination;
  const told = `the signed balance is answered with ${spellAnswer(first)}`;
  if (!signs || first.ok) return first.ok ? `${told} and no list of records` : told;
  const wrong = await askWrongly(examination, "secret");
  if (!isSame(first, wrong)) return `${told}, with a wrong secret ${spellAnswer(wrong)}: no signed read succeeded`;
  const ways = plainWays(contract.profile.auth);
  const other = await search(examination, ways, ask);
  if (typeof other === "string")
    return `${told}, as with a wrong secret; the search for another way to sign ended: ${other}`;
  if (other === undefined)
    return `${told}, as with a wrong secret, also in ${ways.length} other documented ways to sign: ${remedy}`;
  note(
    ...found(
      examination,
      plainRows,
      other.way,
      `${spellAnswer(first)} as configured, ${spellAnswer(other.reply)} with ${spellWay(other.way)}`,
    ),
  );
  return other.reply;
};

const noteBalance = ({ note, contract }: ExaminationState, reply: Reply): void => {
  const assumed = { assumed: "currency, balance, available, frozen" };
  note(successFinding(reply, contract.profile));
  const outcome = wire.parseResponse<BalanceRecord>("spotBalance", reply.response, contract, 0);
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

const successFinding = ({ msg, endpoint }: Reply, profile: ExaminationState["contract"]["profile"]): Finding =>
  judged(profile, "answers.successMsg", msg ?? "", `${endpoint}: msg ${JSON.stringify(msg ?? null)}`);

/**
 * A request with a query: turned away though one without was accepted, the query is signed, or is not, unlike assumed.
 */
export const probeQuery = async (
  examination: ExaminationState,
  signs: boolean,
  ask: () => Promise<Answer>,
): Promise<Answer> => {
  const { note, contract } = examination;
  const row = "auth.prehash";
  const first = await ask();
  const away = turnedAway(examination, first);
  if (away === undefined || first.kind === "unanswered" || !signs) {
    if (successOf(first) === undefined) noteUnasked(examination, [row], away ?? spellAnswer(first));
    else if (signs) note(...found(examination, [row], [], `with a query: ${spellAnswer(first)}`));
    return first;
  }
  const way = queryWay(contract.profile.auth);
  const other = await search(examination, [way], ask);
  if (typeof other === "object") {
    const evidence = `with a query: ${spellAnswer(first)} as configured, ${spellAnswer(other.reply)} with ${spellWay(other.way)}`;
    note(...found(examination, [row], other.way, evidence));
    return other.reply;
  }
  noteUnasked(
    examination,
    [row],
    other ?? `a request with a query is refused (${spellAnswer(first)}) whether the query is signed or not`,
  );
  return first;
};
