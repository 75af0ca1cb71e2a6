/**
 * Checks after a time without faults: the engine's state is that of the service, and all wanted orders exist.
 *
 * Invariants: reads the state that strategies receive from the engine and the service's own records; reads again, as
 * any client could. The market may still move orders, as where an instrument is listed again after quiet began: a
 * difference counts only if it is still there in a second look, after all messages in transit have arrived.
 */
import { firstValueFrom, map, filter as matching, takeUntil } from "rxjs";
import { abs, add, compare, type OrderRecord, sub, type WantedOrder } from "sluice";
import { instTypeOf } from "sluice/dialect";
import { after, isCancelable } from "sluice/extension";
import type { Environment } from "./environment.ts";
import { checkHoldings } from "./holdings-check.ts";
import type { Finding } from "./invariants.ts";
import type { Play } from "./play.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

const readMs = 60_000;
/** Longer than a request and its answer, or a push, are on their way where nothing fails. */
const wayMs = 2_000;

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
  const fresh$ = process.engine.accountOf(uid).pending$.pipe(
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

const comparePending = async (
  environment: Environment,
  process: SimulatedProcess,
  play: Play,
): Promise<readonly Finding[]> => {
  const findings: Finding[] = [];
  for (const { uid } of environment.users) {
    const known = await pendingOf(environment, process, play, uid);
    const own = ({ clOrdId }: OrderRecord): boolean => environment.ids.read(clOrdId) !== undefined;
    const real = environment.venue
      .truth(uid)
      .orders.filter((order) => (order.state === "live" || order.state === "partially_filled") && own(order));
    if (known === undefined) {
      findings.push({ invariant: "I10", subject: uid, text: `pending orders of ${uid} cannot be read` });
      continue;
    }
    const mine = known.filter(own);
    const text = `the engine lists ${texts(mine)} for ${uid}; the service has ${texts(real)}`;
    for (const ordId of differing(mine, real)) findings.push({ invariant: "I10", subject: ordId, text });
  }
  return findings;
};

/** Ids of the orders that only one of the two has. */
const differing = (mine: readonly OrderRecord[], real: readonly OrderRecord[]): readonly string[] => {
  const all = [...mine, ...real].map(({ ordId }) => ordId);
  return all.filter((ordId) => all.indexOf(ordId) === all.lastIndexOf(ordId));
};

/**
 * Wanted orders that are neither there nor settled, and orders that are not wanted. A strategy that has not emitted yet
 * wants nothing in particular.
 */
const compareWanted = (environment: Environment, process: SimulatedProcess): readonly Finding[] => {
  const { oracle } = environment;
  const findings: Finding[] = [];
  const live = new Map<string, OrderRecord>();
  for (const record of oracle.live.values()) {
    const slot = oracle.slotOf(record.clOrdId);
    const other = live.get(slot);
    if (other !== undefined) {
      const text = `"${slot}" still has two live orders after quiet: ${other.clOrdId} and ${record.clOrdId}`;
      findings.push({ invariant: "I2", subject: `${slot}: ${other.clOrdId} ${record.clOrdId}`, text });
    }
    live.set(slot, record);
  }
  for (const [strategy, set] of process.wanted) {
    if (process.held.has(strategy)) continue;
    for (const wanted of set) {
      const finding = missing(environment, process, { strategy, wanted }, live);
      if (finding !== undefined) findings.push(finding);
    }
  }
  return [...findings, ...unwanted(environment, process, live)];
};

/** Returns the first wanted order that is missing or different. Orders that are found are removed from `live`. */
const missing = (
  environment: Environment,
  process: SimulatedProcess,
  { strategy, wanted }: { readonly strategy: string; readonly wanted: WantedOrder },
  live: Map<string, OrderRecord>,
): Finding | undefined => {
  if (wanted.reduceOnly === true && environment.protections.mayWait(strategy, wanted.instId)) return undefined;
  const name = `${strategy} ${wanted.slot}`;
  const record = live.get(name);
  const isThere = live.delete(name);
  if (
    record !== undefined &&
    !isNear(environment, record, wanted) &&
    !environment.coarser.has(record.instId) &&
    instTypeOf(record.instId) !== "SPOT"
  ) {
    const text = `"${name}" is wanted at ${wanted.px} and rests at ${record.px} (${record.clOrdId})`;
    return { invariant: "I10", subject: record.clOrdId, text };
  }
  if (isThere || process.slots.settled(name, wanted)) return undefined;
  const text = `"${name}" is wanted and not there; last: ${process.slots.last(name)}`;
  return { invariant: "I10", subject: name, text };
};

/** Orders that no strategy wants. */
const unwanted = (
  { protections }: Environment,
  process: SimulatedProcess,
  live: ReadonlyMap<string, OrderRecord>,
): readonly Finding[] => {
  const byHand = ([name]: readonly [string, OrderRecord]): boolean =>
    ![...process.wanted.keys()].some((strategy) => name.startsWith(`${strategy} `));
  const findings: Finding[] = [];
  for (const entry of live) {
    const [name, { clOrdId, instId }] = entry;
    if (instTypeOf(instId) === "SPOT" || byHand(entry) || protections.mayRest(clOrdId, instId)) continue;
    // An order waits for its slot: a run whose strategy begins elsewhere never names it.
    if (protections.books.length > 0 && !process.named.has(name)) continue;
    const text = `"${name}" (${clOrdId}) is live at the service and is not wanted`;
    findings.push({ invariant: "I10", subject: clOrdId, text });
  }
  return findings;
};

/** Within `keepWithin`, and as near as a tick lets it be. */
const isNear = ({ tape }: Environment, { instId, px }: OrderRecord, wanted: WantedOrder): boolean => {
  const { tickSize = "0" } = tape.instruments.find((instrument) => instrument.instId === instId) ?? {};
  return wanted.px === undefined || compare(abs(sub(px, wanted.px)), add(wanted.keepWithin ?? "0", tickSize)) <= 0;
};

/** Orders whose outcome is not known. */
const undecided = (environment: Environment, process: SimulatedProcess): readonly Finding[] =>
  [...process.watched.phases]
    .filter(([, phase]) => phase === "unknown" || phase === "sent")
    .map(([clOrdId, phase]) => ({
      invariant: "I11",
      subject: clOrdId,
      text: `${clOrdId} (${environment.oracle.slotOf(clOrdId)}) is ${phase}`,
    }));

export const checkQuiet = async (
  environment: Environment,
  process: SimulatedProcess | undefined,
  play: Play,
): Promise<void> => {
  const { time, violations } = environment;
  if (process?.state !== "running") {
    environment.fail("I10", `after quiet no engine runs (${process?.state ?? "none"})`);
    return;
  }
  /** Compares, and once more where something differs. Returns true where nothing differed twice. */
  const agrees = async (compareNow: () => Promise<readonly Finding[]> | readonly Finding[]): Promise<boolean> => {
    const first = await compareNow();
    if (first.length === 0) return violations.length === 0;
    await play.to(time.now() + wayMs);
    const second = await compareNow();
    const isSame = (one: Finding): boolean =>
      first.some(({ invariant, subject }) => invariant === one.invariant && subject === one.subject);
    const lasting = new Map(second.filter(isSame).map(({ invariant, text }) => [text, invariant]));
    for (const [text, invariant] of lasting) environment.fail(invariant, text);
    return violations.length === 0;
  };
  if (!(await agrees(() => undecided(environment, process)))) return;
  if (!(await agrees(() => comparePending(environment, process, play)))) return;
  const { watched } = process;
  if (watched.mode === "active" && !(await agrees(() => compareWanted(environment, process)))) return;
  await agrees(() => checkHoldings(environment, process));
};

/** After a stop that cancels: what can be canceled is gone. */
export const checkStopped = (environment: Environment): void => {
  const { profile } = environment.contract;
  for (const { clOrdId, instId } of environment.oracle.live.values()) {
    if (!isCancelable(instId, profile)) continue;
    environment.fail("I5", `${clOrdId} is still live after a stop that cancels everything`);
  }
};
