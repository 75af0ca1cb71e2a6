/**
 * Closing of one strategy's positions, as its own fills add up: market orders in the strategy's name for the size it
 * holds, independent of other strategies and clients in the same instrument.
 *
 * Invariants: the strategy is halted, and the closing ends when it is resumed; never more is closed than the strategy
 * holds; exactly one result is reported for each holding found, within a bounded time.
 * Not here: the orders (orders/closing-slots.ts), positions of the account (close-positions.ts).
 */
import { firstValueFrom, merge, Observable } from "rxjs";
import { after, type Clock } from "../clock/clock.ts";
import { isZero } from "../decimal.ts";
import type { PositionEnding } from "../host/context.ts";
import type { EventLog } from "../journal/event-log.ts";
import { isDust } from "../orders/closing-slots.ts";
import type { UserAccount } from "./user-account.ts";

interface HoldingsToClose {
  readonly clock: Clock;
  readonly journal: EventLog;
  readonly account: UserAccount;
  readonly strategy: string;
  /** Instrument to close; all instruments if left out. */
  readonly only: string | undefined;
  readonly stopped$: Observable<void>;
  readonly report: (ending: PositionEnding) => void;
}

const lookMs = 1_000;
/** Time limit, the same as for a position of the account. */
const endMs = 120_000;

/** State of one holding: open, or its ending. */
type State = "goes on" | "closed" | { readonly left: string };

export const closeHoldings = async (parts: HoldingsToClose): Promise<void> => {
  const { clock, journal, account, strategy, only, report, stopped$ } = parts;
  const { orderManager, user } = account;
  const { uid } = user;
  const endAt = clock.now() + endMs;
  /** Holdings as first seen, by instrument. */
  const seen = new Map<string, string>();
  const ended = new Set<string>();
  let isStopped = false;
  const stopping = stopped$.subscribe(() => {
    isStopped = true;
  });
  const changed$ = new Observable<void>((subscriber) => orderManager.listen(() => subscriber.next()));

  const take = (): void => {
    for (const { instId, qty } of orderManager.positions.all(strategy).values()) {
      if (isZero(qty) || seen.has(instId) || (only !== undefined && instId !== only)) continue;
      seen.set(instId, qty);
      journal.append({ type: "position.closing", uid, instId, pos: qty, strategy });
    }
  };
  const end = (instId: string, state: "closed" | { readonly left: string }): void => {
    const { qty } = orderManager.positions.of(strategy, instId);
    const pos = seen.get(instId) ?? qty;
    ended.add(instId);
    orderManager.closing.withdraw(strategy, instId);
    if (state === "closed") {
      journal.append({ type: "position.closed", uid, instId, pos, strategy });
      report({ kind: "closed", uid, instId, pos, left: "0", reason: "", strategy });
    } else {
      journal.append({ type: "position.left", uid, instId, pos: qty, reason: state.left, strategy });
      report({ kind: "left", uid, instId, pos, left: qty, reason: state.left, strategy });
    }
  };

  while (!isStopped && clock.now() < endAt) {
    take();
    for (const instId of seen.keys()) {
      if (ended.has(instId)) continue;
      const state = stateOf(parts, instId);
      if (state === "goes on") orderManager.closing.ask(strategy, instId);
      else end(instId, state);
    }
    if (ended.size === seen.size && !hasOpen(parts)) break;
    await firstValueFrom(merge(after(clock, Math.min(lookMs, endAt - clock.now())), changed$, stopped$), {
      defaultValue: undefined,
    });
  }
  stopping.unsubscribe();
  for (const instId of seen.keys()) {
    if (ended.has(instId)) continue;
    const problem = orderManager.closing.problemOf(strategy, instId);
    end(instId, { left: problem === "" ? "the book did not take all of it" : problem });
  }
};

/** Returns whether the strategy has orders that may still change what it holds and that can be canceled. */
const hasOpen = ({ account: { orderManager }, strategy, only }: HoldingsToClose, instId = only): boolean =>
  orderManager
    .orders()
    .some(
      (order) =>
        order.strategy === strategy &&
        (instId === undefined || order.spec.instId === instId) &&
        orderManager.cancelable(order),
    );

const stateOf = (parts: HoldingsToClose, instId: string): State => {
  const { account, strategy } = parts;
  const { orderManager, resources } = account;
  if (orderManager.modeOf(strategy) !== "halted") return { left: "the strategy was resumed while it was being closed" };
  const { qty } = orderManager.positions.of(strategy, instId);
  if (isZero(qty) || isDust(qty, resources.instruments.current.value.get(instId))) {
    if (hasOpen(parts, instId)) return "goes on";
    const resting = orderManager
      .orders()
      .filter((order) => order.strategy === strategy && order.spec.instId === instId).length;
    if (resting > 0) return { left: `${resting} of its orders cannot be canceled and may still execute` };
    return isZero(qty) ? "closed" : { left: "it is less than the smallest order" };
  }
  return "goes on";
};
