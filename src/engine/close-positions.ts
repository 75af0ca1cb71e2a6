/**
 * Closing of positions at the service: every position of the account, or that of one instrument, with one close call
 * each, until a read shows none; or those of one strategy. When every position of the account is closed, the spot that
 * strategies hold by their own fills is sold as well.
 *
 * Invariants: trading is halted and cancels of resting orders are queued before the first close call is sent; a
 * position counts as closed when a complete read of all positions, requested after the last close was answered, does
 * not show it; a close without an answer is repeated only when it can no longer arrive and a later read still shows the
 * position; exactly one result is reported for each position found, within a bounded time. A close call closes the
 * account's whole position in the product, including what other clients hold; it cannot close that of one strategy. For
 * spot an account has balances only: what strategies bought is sold, including strategies of previous runs that only
 * the journal knows.
 * Not here: what a close executed at (closing-calls.ts), canceling (trading-state.ts), positions of one strategy
 * (close-holdings.ts).
 */
import { firstValueFrom, lastValueFrom, merge, type Observable, ReplaySubject, takeUntil } from "rxjs";
import { type Outcome, whyNot } from "../client/outcome.ts";
import { after } from "../clock/clock.ts";
import type { InputOf } from "../contract/endpoints.ts";
import { instTypeOf, readInstId } from "../contract/inst-id.ts";
import { abs, isZero, sum } from "../decimal.ts";
import { didYouMean, SluiceError } from "../errors.ts";
import type { PositionEnding, PositionFilter, Whom } from "../host/context.ts";
import type { AccountPosition } from "../orders/state/account-positions.ts";
import { closeHoldings } from "./close-holdings.ts";
import { ClosingCalls, type ClosingParts } from "./closing-calls.ts";
import { checkStrategy, type Closing as Halted } from "./trading-state.ts";
import type { UserAccount } from "./user-account.ts";

interface Closing extends ClosingParts {
  readonly accounts: readonly UserAccount[];
  /** Names of all of them. */
  readonly strategies: readonly string[];
  /** Stops new orders and cancels ours. Completes when none is left. */
  readonly halt: (reason: string, closing: Halted) => Observable<unknown>;
  /** Protects the remaining positions again. The halt stays. */
  readonly closed: (reason: string, closing: Halted) => void;
}

/**
 * Longest wait for cancels before positions are closed. Remaining orders are canceled later, because open positions
 * cost more.
 */
const haltMsMax = 15_000;
const roundMs = 1_000;
/** Longest pause after a failed close. Pauses grow, because closes may use quota that cancels need. */
const pauseMsMax = 15_000;
/** A close that was not answered can no longer be on its way after this time. */
const lateMs = 10_000;
/** Time limit, for an unreachable service or a thin book; then the remaining positions are reported. */
const endMs = 120_000;
const call = { class: "close", owner: "engine" } as const;

interface Seen {
  readonly first: AccountPosition;
  latest: AccountPosition;
  /** Instant before which no close is sent. */
  notBefore: number;
  pauseMs: number;
  problem: string;
}

const nameOf = ({ instId, mgnMode = "" }: AccountPosition): string => `${instId} ${mgnMode}`;

type Report = (ending: PositionEnding) => void;

const closeOf = async (
  parts: Closing,
  account: UserAccount,
  only: string | undefined,
  report: Report,
): Promise<void> => {
  const { clock, journal } = parts;
  const { uid } = account.user;
  const seen = new Map<string, Seen>();
  const endAt = clock.now() + endMs;
  let unread = "no answer";
  let wasOpen = false;
  const calls = new ClosingCalls(parts, account);
  const settling: Promise<void>[] = [];
  const answerOf = async <R>(outcome$: Observable<Outcome<R>>): Promise<Outcome<R>> =>
    lastValueFrom(outcome$.pipe(takeUntil(after(clock, endAt - clock.now()))), {
      defaultValue: { kind: "dropped", reason: unread },
    });
  /** All open positions; undefined without an answer. */
  const read = async (): Promise<readonly AccountPosition[] | undefined> => {
    const outcome = await answerOf(account.gateway.read("positions", {}, call));
    const isMeant = ({ instId, pos }: AccountPosition): boolean =>
      !isZero(pos) && (only === undefined || instId === only);
    if (outcome.kind === "done" && outcome.problems.length === 0)
      return account.resources.contractValues.positionsOf(outcome.records).filter(isMeant);
    unread = outcome.kind === "done" ? (outcome.problems[0] ?? "") : whyNot(outcome);
    return undefined;
  };
  const close = async (position: Seen): Promise<void> => {
    const { instId, pos } = position.latest;
    const clOrdId = calls.idOf(instId);
    journal.append({ type: "position.closing", uid, instId, pos, clOrdId });
    const outcome = await answerOf(account.gateway.call("closePosition", inputOf(position.latest, clOrdId), call));
    calls.sent(instId, clOrdId, outcome.kind);
    position.problem = outcome.kind === "done" ? "the book did not take all of it" : whyNot(outcome);
    position.notBefore = clock.now() + (outcome.kind === "unknown" ? lateMs : position.pauseMs);
    position.pauseMs = Math.min(2 * position.pauseMs, pauseMsMax);
  };
  const gone = (name: string, { first, latest }: Seen): void => {
    seen.delete(name);
    const { instId, markPx = "" } = latest;
    // If a product can be held in both margin modes, the position in the other mode may still be open.
    const isWhole = ![...seen.values()].some((other) => other.latest.instId === instId);
    const ended = async (): Promise<void> => {
      if (isWhole) await calls.book(instId, { left: "0", px: markPx, until: endAt });
      journal.append({ type: "position.closed", uid, instId, pos: first.pos });
      report({ kind: "closed", uid, instId, pos: first.pos, left: "0", reason: "" });
    };
    settling.push(ended());
  };
  const take = (open: readonly AccountPosition[]): void => {
    const left = new Set(open.map(nameOf));
    for (const [name, position] of seen) if (!left.has(name)) gone(name, position);
    for (const record of open) {
      const known = seen.get(nameOf(record));
      if (known !== undefined) known.latest = record;
      else
        seen.set(nameOf(record), {
          first: record,
          latest: record,
          notBefore: clock.now(),
          pauseMs: roundMs,
          problem: "",
        });
    }
  };

  while (clock.now() < endAt) {
    const open = await read();
    if (open !== undefined) {
      take(open);
      if (open.length === 0) {
        if (!wasOpen && only !== undefined) reportUnlisted(parts, account, only, report);
        await Promise.all(settling);
        return;
      }
      wasOpen = true;
      await Promise.all([...seen.values()].filter(({ notBefore }) => clock.now() >= notBefore).map(close));
    }
    const next = open === undefined ? clock.now() : Math.min(...[...seen.values()].map(({ notBefore }) => notBefore));
    await firstValueFrom(after(clock, Math.max(roundMs, next - clock.now())), { defaultValue: undefined });
  }
  await Promise.all(settling);
  await bookLeft(calls, [...seen.values()]);
  reportLeft(parts, uid, [...seen.values()], unread, report);
};

const inputOf = ({ instId, mgnMode }: AccountPosition, clOrdId: string): InputOf<"closePosition"> =>
  mgnMode === "cross" || mgnMode === "isolated" ? { instId, clOrdId, mgnMode } : { instId, clOrdId };

/** Books the closed parts of positions that are left. */
const bookLeft = async (calls: ClosingCalls, seen: readonly Seen[]): Promise<void> => {
  for (const instId of new Set(seen.map(({ first }) => first.instId))) {
    const open = seen.flatMap(({ latest }) => (latest.instId === instId ? [latest.pos] : []));
    await calls.book(instId, { left: sum(open.map(abs)), px: "", until: Number.POSITIVE_INFINITY });
  }
};

/** Called when the time limit is over. */
const reportLeft = ({ journal }: Closing, uid: string, seen: readonly Seen[], unread: string, report: Report): void => {
  if (seen.length === 0)
    report({
      kind: "unknown",
      uid,
      instId: "",
      pos: "",
      left: "",
      reason: `the positions could not be read (${unread})`,
    });
  for (const { first, latest, problem } of seen) {
    const { instId } = first;
    const reason = problem === "" ? unread : problem;
    journal.append({ type: "position.left", uid, instId, pos: latest.pos, reason });
    report({ kind: "left", uid, instId, pos: first.pos, left: latest.pos, reason });
  }
};

/** Returns one closing for each spot product that a strategy holds, or may still hold through an open order. */
const closingsOfSpot = (parts: Closing, account: UserAccount, report: Report): readonly Promise<void>[] => {
  const { orderManager } = account;
  const held = [...orderManager.positions.instruments()].flatMap((instId) =>
    orderManager.positions.holders(instId).map(({ strategy }) => ({ strategy, instId })),
  );
  const open = orderManager.orders().map(({ strategy, spec: { instId } }) => ({ strategy, instId }));
  const ofSpot = [...held, ...open].filter(({ strategy, instId }) => strategy !== "" && instTypeOf(instId) === "SPOT");
  const each = new Map(ofSpot.map((one) => [JSON.stringify(one), one]));
  return [...each.values()].map(({ strategy, instId }) =>
    closeHoldings({ ...parts, account, strategy, only: instId, report }),
  );
};

/**
 * Reports positions that strategies hold and the account does not list. No close call could close them.
 */
const reportUnlisted = (
  { strategies, journal }: Closing,
  { orderManager, user: { uid } }: UserAccount,
  instId: string,
  report: Report,
): void => {
  const held = strategies.flatMap((name) => {
    const { qty } = orderManager.positions.of(name, instId);
    return isZero(qty) ? [] : [`${name} ${qty}`];
  });
  if (held.length === 0) return;
  const reason = `the account lists no position, while strategies hold some by their own fills (${held.join(", ")}). Close what each holds`;
  journal.append({ type: "position.left", uid, instId, pos: "0", reason });
  report({ kind: "left", uid, instId, pos: "0", left: "0", reason });
};

const fields: readonly string[] = ["instId", "strategy"] satisfies (keyof PositionFilter)[];

const refuse = (text: string): never => {
  throw new SluiceError("ORDER_REFUSED", `closePositions: ${text} Nothing was closed.`);
};

/** Refuses an unclear request before anything is done, because a misspelt condition would close everything. */
const checkWhich = ({ accounts, strategies }: Closing, which: PositionFilter): void => {
  for (const field of Object.keys(which))
    if (!fields.includes(field)) refuse(`unknown condition "${field}".${didYouMean(field, fields)}`);
  const { instId, strategy } = which;
  if (strategy !== undefined) checkStrategy(strategies, strategy);
  if (instId === undefined) return;
  const listed = accounts.flatMap(({ resources }) => [...resources.instruments.current.value.keys()]);
  const isTraded = strategies.some((name) => accounts.some(({ orderManager }) => orderManager.trades(name, instId)));
  if (readInstId(instId) === undefined || !(listed.includes(instId) || isTraded))
    refuse(`the service lists no instrument ${JSON.stringify(instId)}.${didYouMean(instId, listed)}`);
  if (strategy === undefined) {
    if (instTypeOf(instId) !== "SPOT") return;
    const holders = strategies.filter((name) =>
      accounts.some(({ orderManager }) => !isZero(orderManager.positions.of(name, instId).qty)),
    );
    const remedy =
      holders.length === 0
        ? "No strategy holds any."
        : `Name the strategy whose holding is to be closed: ${holders.join(", ")}.`;
    refuse(`${instId} is spot, of which an account has balances and no position. ${remedy}`);
  } else if (!accounts.some(({ orderManager }) => orderManager.trades(strategy, instId)))
    refuse(`strategy "${strategy}" holds no ${instId} and has no order in it.`);
};

/** Strategies that would reopen what is closed: the named one, all that trade the instrument, or all. */
const meantBy = ({ accounts, strategies }: Closing, { instId, strategy }: PositionFilter): readonly Whom[] => {
  if (strategy !== undefined) return [{ strategy }];
  if (instId === undefined) return [{}];
  const concerned = strategies.filter((name) => accounts.some(({ orderManager }) => orderManager.trades(name, instId)));
  return concerned.map((name) => ({ strategy: name }));
};

/**
 * Emits the outcome for each position. Completes when the positions of every user are closed, or when it is known which
 * are left.
 */
export const closingWith =
  (parts: Closing) =>
  (reason: string, which: PositionFilter = {}): Observable<PositionEnding> => {
    const { clock, accounts, stopped$ } = parts;
    const { instId, strategy } = which;
    checkWhich(parts, which);
    const endings = new ReplaySubject<PositionEnding>();
    const report = (ending: PositionEnding): void => {
      endings.next(ending);
    };
    const run = async (): Promise<void> => {
      const meant = meantBy(parts, which).map((whom): Halted => ({ ...whom, byCalls: strategy === undefined }));
      try {
        const halted$ = merge(...meant.map((whom) => parts.halt(reason, whom)));
        await lastValueFrom(halted$.pipe(takeUntil(after(clock, haltMsMax))), { defaultValue: undefined });
        await Promise.all(
          accounts.map(async (account) => {
            if (strategy !== undefined) await closeHoldings({ ...parts, account, strategy, only: instId, report });
            else if (instId !== undefined) await closeOf(parts, account, instId, report);
            else
              await Promise.all([
                closeOf(parts, account, undefined, report),
                ...closingsOfSpot(parts, account, report),
              ]);
          }),
        );
      } finally {
        for (const whom of meant) parts.closed(reason, whom);
      }
    };
    // Closing begins with or without a subscriber, as a halt does.
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
