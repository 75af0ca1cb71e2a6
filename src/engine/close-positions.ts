/**
 * Closes what is held at the service: every position of the account, by one close call each, until a reading shows none.
 *
 * Invariants: trading is halted and resting orders are on their way out before the first close leaves; a position is closed when a
 * reading of all positions, complete and asked for after the last close was answered, does not show it; a close that was not
 * answered is not sent again before it cannot arrive any more and a later reading still shows the position; whatever happens, every
 * position that was seen has one ending, and the looking has an end.
 * A close takes the whole position of the product, also those of other clients: it is the account that is closed, not one strategy.
 * Not here: canceling (trading-state.ts).
 */
import { defaultIfEmpty, firstValueFrom, lastValueFrom, type Observable, ReplaySubject, takeUntil } from "rxjs";
import { type Outcome, whyNot } from "../client/outcome.ts";
import { after, type Clock } from "../clock/clock.ts";
import type { InputOf } from "../contract/endpoints.ts";
import type { PositionRecord } from "../contract/schemas.ts";
import { isZero } from "../decimal.ts";
import type { PositionEnding } from "../host/context.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { UserAccount } from "./user-account.ts";

interface Closing {
  readonly clock: Clock;
  readonly journal: EventLog;
  readonly accounts: readonly UserAccount[];
  /** No new orders, and ours go; completes when none is left. */
  readonly halt: (reason: string) => Observable<unknown>;
  /** A position is gone, at about this price, where one is known. */
  readonly onClosed: (account: UserAccount, instId: string, px: string | undefined) => void;
  readonly stopped$: Observable<void>;
}

/** Orders that do not go in this time go later: what is held costs more. */
const haltMsMax = 15_000;
const roundMs = 1_000;
/** What does not go is tried less and less often: closes may use quota that cancels need. */
const pauseMsMax = 15_000;
/** A close that was not answered is not on its way any more after this. */
const lateMs = 10_000;
/** A service that cannot be reached, a book too thin: after this it is said what is left. */
const endMs = 120_000;
const call = { class: "close", owner: "engine" } as const;

interface Seen {
  readonly first: PositionRecord;
  latest: PositionRecord;
  /** No close is sent before. */
  notBefore: number;
  pauseMs: number;
  problem: string;
}

const nameOf = ({ instId, mgnMode = "" }: PositionRecord): string => `${instId} ${mgnMode}`;

const closeOf = async (parts: Closing, account: UserAccount, tell: (ending: PositionEnding) => void): Promise<void> => {
  const { clock, journal, onClosed } = parts;
  const { gateway, user } = account;
  const { uid } = user;
  const seen = new Map<string, Seen>();
  const endAt = clock.now() + endMs;
  let unread = "no answer";

  const answerOf = async <R>(outcome$: Observable<Outcome<R>>): Promise<Outcome<R>> =>
    lastValueFrom(
      outcome$.pipe(
        takeUntil(after(clock, endAt - clock.now())),
        defaultIfEmpty<Outcome<R>, Outcome<R>>({ kind: "dropped", reason: unread }),
      ),
    );
  /** All that is open; undefined when the answer does not say. */
  const read = async (): Promise<readonly PositionRecord[] | undefined> => {
    const outcome = await answerOf(gateway.read("positions", {}, call));
    if (outcome.kind === "done" && outcome.problems.length === 0) return outcome.records.filter(({ pos }) => !isZero(pos));
    unread = outcome.kind === "done" ? (outcome.problems[0] ?? "") : whyNot(outcome);
    return undefined;
  };
  const close = async (position: Seen): Promise<void> => {
    const { instId, pos, mgnMode } = position.latest;
    const input: InputOf<"closePosition"> = mgnMode === "cross" || mgnMode === "isolated" ? { instId, mgnMode } : { instId };
    journal.append({ type: "position.closing", uid, instId, pos });
    const outcome = await answerOf(gateway.call("closePosition", input, call));
    position.problem = outcome.kind === "done" ? "the book did not take all of it" : whyNot(outcome);
    position.notBefore = clock.now() + (outcome.kind === "unknown" ? lateMs : position.pauseMs);
    position.pauseMs = Math.min(2 * position.pauseMs, pauseMsMax);
  };
  const gone = (name: string, { first, latest }: Seen): void => {
    seen.delete(name);
    const { instId, markPx = "" } = latest;
    journal.append({ type: "position.closed", uid, instId, pos: first.pos });
    // Where a product can be held in both margin modes, the other half may still be open.
    if (![...seen.values()].some((other) => other.latest.instId === instId)) onClosed(account, instId, markPx === "" ? undefined : markPx);
    tell({ kind: "closed", uid, instId, pos: first.pos, left: "0", reason: "" });
  };
  const take = (open: readonly PositionRecord[]): void => {
    const left = new Set(open.map(nameOf));
    for (const [name, position] of seen) if (!left.has(name)) gone(name, position);
    for (const record of open) {
      const known = seen.get(nameOf(record));
      if (known === undefined)
        seen.set(nameOf(record), { first: record, latest: record, notBefore: clock.now(), pauseMs: roundMs, problem: "" });
      else known.latest = record;
    }
  };

  while (clock.now() < endAt) {
    const open = await read();
    if (open !== undefined) {
      take(open);
      if (open.length === 0) return;
      await Promise.all([...seen.values()].filter(({ notBefore }) => clock.now() >= notBefore).map(close));
    }
    const next = open === undefined ? clock.now() : Math.min(...[...seen.values()].map(({ notBefore }) => notBefore));
    await firstValueFrom(after(clock, Math.max(roundMs, next - clock.now())), { defaultValue: undefined });
  }
  if (seen.size === 0) tell({ kind: "unknown", uid, instId: "", pos: "", left: "", reason: `the positions could not be read (${unread})` });
  for (const { first, latest, problem } of seen.values()) {
    const { instId } = first;
    const reason = problem === "" ? unread : problem;
    journal.append({ type: "position.left", uid, instId, pos: latest.pos, reason });
    tell({ kind: "left", uid, instId, pos: first.pos, left: latest.pos, reason });
  }
};

/** Emits the ending of each position; completes when every user's are closed, or when it is known what is left. */
export const closingWith =
  (parts: Closing) =>
  (reason: string): Observable<PositionEnding> => {
    const { clock, accounts, halt, stopped$ } = parts;
    const endings = new ReplaySubject<PositionEnding>();
    const tell = (ending: PositionEnding): void => {
      endings.next(ending);
    };
    const run = async (): Promise<void> => {
      await lastValueFrom(halt(reason).pipe(takeUntil(after(clock, haltMsMax))), { defaultValue: undefined });
      await Promise.all(accounts.map(async (account) => closeOf(parts, account, tell)));
    };
    // Begins whether or not anybody listens, as a halt does.
    run().then(
      () => {
        endings.complete();
      },
      (error: unknown) => {
        endings.error(error);
      },
    );
    return endings.pipe(takeUntil(stopped$));
  };
