/**
 * Position check: compares the account's position of each swap with what strategies hold together by their own fills.
 *
 * Invariants: a difference is reported once when it begins and once when it is over, at most three times an hour for an
 * instrument, and changes nothing; it has begun when two reads in a row show it while no own order is open, or four
 * reads while orders come and go, so that a fill on its way does not count as a difference. From the first fill on,
 * positions are read at least once a minute, and every quarter of a minute while a difference is examined; reads for
 * other purposes count.
 * Not here: spot, for which an account has balances and no positions; closing or adopting a difference
 * (close-positions.ts, the operator).
 */
import { type Observable, type Subscription, takeUntil } from "rxjs";
import type { Clock } from "../clock/clock.ts";
import { instTypeOf } from "../contract/inst-id.ts";
import { equal, isZero, sub, sum } from "../decimal.ts";
import { holdersText, type PositionDifference } from "../host/operator-view.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { OrderManager } from "../orders/order-manager.ts";
import type { AccountPosition } from "../orders/state/account-positions.ts";
import type { PolledResource } from "../orders/state/polled-resource.ts";
import type { Snapshot } from "../orders/state/snapshot.ts";

interface CheckedAccount {
  readonly user: { readonly uid: string };
  readonly orderManager: Pick<OrderManager, "orders" | "positions">;
  readonly resources: { readonly positions: Pick<PolledResource<readonly AccountPosition[]>, "watch"> };
}

interface PositionCheckOptions {
  readonly clock: Clock;
  readonly journal: EventLog;
  readonly accounts: readonly CheckedAccount[];
  /** True if a journal keeps the holdings of strategies for the next run. */
  readonly isKept: boolean;
  readonly stopped$: Observable<void>;
}

const readMs = 60_000;
const lookMs = 15_000;
const quietReads = 2;
const busyReads = 4;
/** Number of differences reported within an hour. If another program trades the same instrument, they come and go. */
const toldMax = 3;
const toldMs = 3_600_000;
/** Longest time from the first close call until a close of the account's position is booked. */
const closingMsMax = 150_000;

/** A difference that is not reported yet. */
interface Suspicion {
  readonly off: string;
  readonly holders: string;
  readonly reads: number;
  /** True if no own order was open at any of these reads. */
  readonly isQuiet: boolean;
}

/** Compares until the engine stops; returns what is reported and not over. */
export const checkPositions = (options: PositionCheckOptions): (() => readonly PositionDifference[]) => {
  const checks = options.accounts.map((account) => new AccountCheck(options, account));
  return () => checks.flatMap((check) => check.differences());
};

class AccountCheck {
  readonly #options: PositionCheckOptions;
  readonly #account: CheckedAccount;
  readonly #suspicions = new Map<string, Suspicion>();
  readonly #reported = new Map<string, PositionDifference>();
  /** Instants at which the latest differences of an instrument were reported. */
  readonly #told = new Map<string, readonly number[]>();
  /** Instruments whose difference appears only in the health. */
  readonly #untold = new Set<string>();
  /** Closes at the service that are not booked yet, by instrument, and until when they count. */
  readonly #closing = new Map<string, number>();
  #reading = false;
  #looking: Subscription | undefined;
  #readAt = -1;
  /** A read from before the last fill shows what was held earlier. */
  #movedAt = -1;

  constructor(options: PositionCheckOptions, account: CheckedAccount) {
    this.#options = options;
    this.#account = account;
    const { clock, journal } = options;
    journal.on(["position.closing", "position.closed", "position.left"], ({ type, uid, instId }) => {
      if (uid !== account.user.uid) return;
      if (type === "position.closing") this.#closing.set(instId, clock.now() + closingMsMax);
      else this.#closing.delete(instId);
    });
    account.orderManager.positions.listen(() => {
      this.#movedAt = clock.now();
      this.#begin();
    });
    this.#begin();
  }

  differences(): readonly PositionDifference[] {
    return [...this.#reported.values()];
  }

  /** Begins to read once something was traded: an engine without positions sends no request. */
  #begin(): void {
    if (this.#reading || this.#instruments().length === 0) return;
    this.#reading = true;
    this.#watch(readMs).subscribe((snapshot) => this.#take(snapshot));
  }

  #watch(freshMs: number): Observable<Snapshot<readonly AccountPosition[]>> {
    return this.#account.resources.positions.watch(freshMs).pipe(takeUntil(this.#options.stopped$));
  }

  #instruments(): readonly string[] {
    return [...this.#account.orderManager.positions.instruments()].filter((instId) => instTypeOf(instId) === "SWAP");
  }

  #take({ value, at, stale }: Snapshot<readonly AccountPosition[]>): void {
    if (stale || at <= this.#readAt || at <= this.#movedAt) return;
    this.#readAt = at;
    for (const instId of this.#instruments()) {
      this.#compare(instId, sum(value.flatMap(({ instId: of, pos }) => (of === instId ? [pos] : []))));
    }
    this.#look(this.#suspicions.size > 0);
  }

  #compare(instId: string, account: string): void {
    const { orderManager, user } = this.#account;
    const holders = orderManager.positions.holders(instId);
    const held = sum(holders.map(({ qty }) => qty));
    const off = sub(account, held);
    if (isZero(off)) {
      this.#suspicions.delete(instId);
      this.#agreed(instId, account);
      return;
    }
    const difference = { user: user.uid, instId, account, held, holders };
    if (this.#reported.has(instId)) {
      this.#reported.set(instId, difference);
      return;
    }
    const own = orderManager.orders().filter(({ spec }) => spec.instId === instId);
    // The outcome of these orders is not known, so they may explain the difference.
    const isInDoubt = own.some(({ phase }) => phase === "sent" || phase === "unknown");
    if (isInDoubt || this.#isClosing(instId)) return;
    const before = this.#suspicions.get(instId);
    const text = JSON.stringify(holders);
    const isSame = before !== undefined && equal(before.off, off);
    const isQuiet = own.length === 0 && (!isSame || (before.isQuiet && before.holders === text));
    const reads = isSame ? before.reads + 1 : 1;
    this.#suspicions.set(instId, { off, holders: text, reads, isQuiet });
    if (reads >= (isQuiet ? quietReads : busyReads)) this.#report(difference);
  }

  #isClosing(instId: string): boolean {
    return this.#options.clock.now() < (this.#closing.get(instId) ?? 0);
  }

  #report(difference: PositionDifference): void {
    const { journal, isKept } = this.#options;
    this.#suspicions.delete(difference.instId);
    this.#reported.set(difference.instId, difference);
    if (!this.#mayTell(difference.instId)) return;
    journal.append({
      type: "anomaly",
      what: "position.differs",
      detail: `${differenceText(difference)}. ${remedyOf(difference, isKept)}`,
    });
  }

  #mayTell(instId: string): boolean {
    const now = this.#options.clock.now();
    const recent = (this.#told.get(instId) ?? []).filter((at) => now - at < toldMs);
    if (recent.length < toldMax) this.#told.set(instId, [...recent, now]);
    else this.#untold.add(instId);
    return recent.length < toldMax;
  }

  #agreed(instId: string, pos: string): void {
    if (!this.#reported.delete(instId) || this.#untold.delete(instId)) return;
    this.#options.journal.append({ type: "position.agreed", uid: this.#account.user.uid, instId, pos });
  }

  /** Reads more often while a difference is examined and not yet reported. */
  #look(isNeeded: boolean): void {
    if (isNeeded === (this.#looking !== undefined)) return;
    this.#looking?.unsubscribe();
    this.#looking = isNeeded ? this.#watch(lookMs).subscribe() : undefined;
  }
}

const differenceText = ({ user, instId, account, held, holders }: PositionDifference): string =>
  `${instId} of user ${user}: the account has ${account}, strategies hold ${held} by their own fills${holdersText(holders)}`;

const remedyOf = ({ instId, account, held }: PositionDifference, isKept: boolean): string => {
  const cause = "Something else has traded it or holds it too (a close by hand, another program), or it was liquidated";
  const again = isKept
    ? `start again with --reset-risk-counters-of ${instId}, after which no strategy holds anything of it`
    : "start again, after which every strategy holds nothing";
  if (isZero(account)) return `${cause}. If nothing is held any more, stop and ${again}`;
  if (isZero(held))
    return `${cause}. No strategy holds it, so none closes it: close it at the service, or leave it to its owner`;
  return `${cause}. To hold nothing on both sides: sluice ctl close --inst ${instId} --yes (or stop, and sluice close with the config), which halts: its answer shows how to resume`;
};
