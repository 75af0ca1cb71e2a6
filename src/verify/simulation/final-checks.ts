/**
 * What must hold when nothing has gone wrong for a while: the engine's picture is the service's, and what is wanted is there.
 *
 * Invariants: looks at what the engine tells strategies and at the service's own records; reads once more, as any client could.
 */
import { firstValueFrom, map, filter as matching, takeUntil } from "rxjs";
import { after } from "../../clock/clock.ts";
import { instTypeOf } from "../../contract/inst-id.ts";
import { isCancelable } from "../../contract/profile.ts";
import type { OrderRecord } from "../../contract/schemas.ts";
import { abs, add, compare, sub } from "../../decimal.ts";
import type { WantedOrder } from "../../orders/wanted-order.ts";
import type { Environment } from "./environment.ts";
import { checkHoldings } from "./holdings-check.ts";
import type { Play } from "./play.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

const readMs = 60_000;

/** The engine's own orders as it lists them for `uid`, read again; undefined when it cannot. */
const pendingOf = async (
  environment: Environment,
  process: SimulatedProcess,
  play: Play,
  uid: string,
): Promise<readonly OrderRecord[] | undefined> => {
  let answer: readonly OrderRecord[] | undefined;
  let over = false;
  const startedAt = process.clock.now();
  const fresh$ = process.engine.ofUser(uid).pending$.pipe(
    matching(({ stale, at }) => !stale && at >= startedAt),
    map(({ value }) => value),
    takeUntil(after(process.clock, readMs)),
  );
  firstValueFrom(fresh$, { defaultValue: undefined }).then(
    (value) => {
      answer = value;
      over = true;
    },
    () => {
      over = true;
    },
  );
  await play.to(environment.time.now() + 2 * readMs, () => over);
  return answer;
};

const texts = (records: readonly OrderRecord[]): string =>
  records.map(({ clOrdId, ordId }) => clOrdId || ordId).join(", ") || "none";

const comparePending = async (environment: Environment, process: SimulatedProcess, play: Play): Promise<void> => {
  for (const { uid } of environment.users) {
    const known = await pendingOf(environment, process, play, uid);
    const own = ({ clOrdId }: OrderRecord): boolean => environment.ids.read(clOrdId) !== undefined;
    const real = environment.venue
      .truth(uid)
      .orders.filter((order) => (order.state === "live" || order.state === "partially_filled") && own(order));
    if (known === undefined) {
      environment.fail("I10", `pending orders of ${uid} cannot be read`);
      return;
    }
    const mine = known.filter(own);
    const ids = (records: readonly OrderRecord[]): string =>
      records
        .map(({ ordId }) => ordId)
        .sort()
        .join();
    if (ids(mine) !== ids(real))
      environment.fail("I10", `the engine lists ${texts(mine)} for ${uid}; the service has ${texts(real)}`);
  }
};

/** Wanted orders that are neither there nor settled, and orders that are not wanted. A strategy that has not emitted yet wants nothing in particular. */
const compareWanted = (environment: Environment, process: SimulatedProcess): void => {
  const { oracle } = environment;
  const live = new Map<string, OrderRecord>();
  for (const record of oracle.live.values()) {
    const slot = oracle.slotOf(record.clOrdId);
    if (live.has(slot))
      environment.fail(
        "I2",
        `"${slot}" still has two live orders after quiet: ${live.get(slot)?.clOrdId} and ${record.clOrdId}`,
      );
    live.set(slot, record);
  }
  for (const [strategy, set] of process.wanted) {
    if (process.held.has(strategy)) continue;
    for (const wanted of set) {
      if (wanted.reduceOnly === true && environment.protections.mayWait(strategy, wanted.instId)) continue;
      const name = `${strategy} ${wanted.slot}`;
      const record = live.get(name);
      if (
        record !== undefined &&
        !isNear(environment, record, wanted) &&
        !environment.coarser.has(record.instId) &&
        instTypeOf(record.instId) !== "SPOT"
      )
        environment.fail("I10", `"${name}" is wanted at ${wanted.px} and rests at ${record.px} (${record.clOrdId})`);
      if (live.delete(name) || process.slots.settled(name, wanted)) continue;
      environment.fail("I10", `"${name}" is wanted and not there; last: ${process.slots.last(name)}`);
    }
  }
  const byHand = ([name]: readonly [string, OrderRecord]): boolean =>
    ![...process.wanted.keys()].some((strategy) => name.startsWith(`${strategy} `));
  for (const entry of live) {
    const [name, { clOrdId, instId }] = entry;
    if (instTypeOf(instId) === "SPOT" || byHand(entry) || environment.protections.mayRest(clOrdId, instId)) continue;
    // An order waits for its slot: a run whose strategy begins elsewhere never names it.
    if (environment.protections.books.length > 0 && !process.named.has(name)) continue;
    environment.fail("I10", `"${name}" (${clOrdId}) is live at the service and is not wanted`);
  }
};

/** Within `keepWithin`, and as near as a tick lets it be. */
const isNear = ({ tape }: Environment, { instId, px }: OrderRecord, wanted: WantedOrder): boolean => {
  const { tickSize = "0" } = tape.instruments.find((instrument) => instrument.instId === instId) ?? {};
  return wanted.px === undefined || compare(abs(sub(px, wanted.px)), add(wanted.keepWithin ?? "0", tickSize)) <= 0;
};

export const checkQuiet = async (
  environment: Environment,
  process: SimulatedProcess | undefined,
  play: Play,
): Promise<void> => {
  if (process?.state !== "running") {
    environment.fail("I10", `after quiet no engine runs (${process?.state ?? "none"})`);
    return;
  }
  for (const [clOrdId, phase] of process.watched.phases) {
    // An exit that the market does not take is sent again and again.
    const isRetried = phase === "sent" && environment.protections.isExit(clOrdId);
    if (phase === "unknown" || (phase === "sent" && !isRetried))
      environment.fail("I11", `${clOrdId} (${environment.oracle.slotOf(clOrdId)}) is ${phase}`);
  }
  if (environment.violations.length > 0) return;
  await comparePending(environment, process, play);
  if (environment.violations.length === 0 && process.watched.mode === "active") compareWanted(environment, process);
  if (environment.violations.length === 0) checkHoldings(environment, process);
};

/** After a stop that cancels: what can be canceled is gone. */
export const checkStopped = (environment: Environment): void => {
  const { profile } = environment.contract;
  for (const { clOrdId, instId } of environment.oracle.live.values()) {
    if (!isCancelable(instId, profile)) continue;
    environment.fail("I5", `${clOrdId} is still live after a stop that cancels everything`);
  }
};
