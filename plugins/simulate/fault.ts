/**
 * Fault table of the simulation, one row a kind: how often, how large, how long, and its description.
 *
 * Invariants: a fault is plain data with an instant of its own, so that any subset of a list is a scenario that can be
 * repeated; nothing here acts.
 * Not here: the faults of a seed (fault-sampler.ts), their effects (network.ts, fault-handlers.ts,
 * simulated-process.ts, faulty-disk.ts, distorted-tape.ts).
 */
import { quirkWordsOf } from "./limit-quirk.ts";

/** From and to, both inclusive; drawn so that small values are as frequent as large ones. */
type Range = readonly [from: number, to: number];

interface Row {
  /** Number of faults a minute in a seed with this kind. */
  readonly perMinute: Range;
  /** Size of the fault: milliseconds, weight or ticks, depending on the kind. */
  readonly size?: Range;
  /** Duration of the fault, in milliseconds. */
  readonly forMs?: Range;
  /** Comes once, at the very beginning. */
  readonly once?: true;
  readonly words: string;
  /** Name of its random stream where that is not the kind's: it keeps the faults that a seed has always had. */
  readonly stream?: string;
}

const rare: Range = [0.05, 0.4];
const usual: Range = [0.2, 3];

// biome-ignore format: one row a line
const faultTable = {
  "drop-request": { perMinute: usual, words: "a request never arrives" },
  "drop-answer": { perMinute: usual, words: "a request is executed and its answer is lost" },
  "delay-request": { perMinute: usual, size: [50, 20_000], words: "a request is held up for $size ms" },
  "delay-answer": { perMinute: usual, size: [50, 20_000], words: "an answer is held up for $size ms" },
  "double-answer": { perMinute: usual, words: "an answer is delivered twice" },
  "double-request": { perMinute: usual, words: "a request other than a placement is delivered twice" },
  "error-after": { perMinute: usual, words: "a request is executed and answered 502 with a page of HTML" },
  "error-before": { perMinute: usual, words: "a request is answered 503 with HTML and not executed" },
  "not-json": { perMinute: usual, words: "an answer's body is cut off" },
  "other-answer": { perMinute: usual, words: "a request is executed, and what is read is not the service's answer to it but $form" },
  "timed-out": { perMinute: usual, words: "a request is executed and answered 408" },
  "busy": { perMinute: usual, words: "a request is answered with the code for unavailable and not executed" },
  "broken-record": { perMinute: usual, words: "a record of a listing lacks its state" },
  "strange-order": { perMinute: [0, 0], once: true, words: "the lists hold another client's order in a state that is not described" },
  "no-data": { perMinute: usual, words: "an answer's data is null" },
  "outage": { perMinute: [0.1, 1], forMs: [2_000, 120_000], words: "for $forMs ms $whom fails, always in the same way: $how" },
  "partial-fill": { perMinute: rare, stream: "nibble", words: "the market fills a part of an order as it is canceled, or as it is placed and its answer and pushes are lost" },
  "part-filled": { perMinute: usual, words: "the market fills a part of an order that rests" },
  "pending-lag": { perMinute: rare, size: [500, 10_000], forMs: [5_000, 120_000], words: "pending orders are shown as they were $size ms ago, for $forMs ms" },
  "history-lag": { perMinute: rare, size: [500, 10_000], forMs: [5_000, 120_000], words: "the history is shown as it was $size ms ago, for $forMs ms" },
  "push-lost": { perMinute: usual, words: "a push is lost" },
  "push-double": { perMinute: usual, words: "a push comes twice" },
  "push-late": { perMinute: usual, size: [20, 5_000], words: "a push is overtaken by those of the next $size ms" },
  "push-cut": { perMinute: rare, forMs: [200, 120_000], words: "the connection of the pushes is gone for $forMs ms" },
  "push-silent": { perMinute: rare, forMs: [200, 60_000], words: "pushes are lost for $forMs ms without a sign" },
  "other-client": { stream: "stranger", perMinute: [0.2, 6], size: [20, 1_200], words: "another client of the user spends weight $size" },
  "shared-address": { stream: "neighbour", perMinute: [0.1, 1], size: [50, 1_300], words: "another client makes $size requests from the same address" },
  "manual-place": { stream: "human-place", perMinute: rare, words: "the account's owner places an order by hand" },
  "manual-cancel": { stream: "human-cancel", perMinute: rare, words: "the account's owner cancels one of the engine's orders by hand" },
  "unseen-cancel": { perMinute: usual, size: [1, 20], words: "pushes are lost for a second, in which the account's owner cancels $size of the engine's orders by hand" },
  "manual-cancel-own": { stream: "human-cancel-own", perMinute: rare, words: "the account's owner cancels an order placed by hand" },
  "funds-locked": { stream: "human-hoard", perMinute: rare, forMs: [1_000, 60_000], words: "the account's owner locks all funds in orders by hand, for $forMs ms" },
  "forgetful": { perMinute: [0, 0], once: true, words: "the service forgets orders that ended without trading" },
  "limit-quirk": { perMinute: [0, 0], once: true, words: "the service's limits differ from their description: $quirk" },
  "service-skew": { perMinute: [0, 0], size: [10, 900_000], once: true, words: "the service's clock is off by $size ms" },
  "service-step": { perMinute: [0.03, 0.2], size: [20, 900_000], words: "the service's clock steps by $size ms" },
  "wall-step": { perMinute: rare, size: [20, 3_600_000], words: "this machine's calendar steps by $size ms" },
  "pause": { perMinute: rare, forMs: [20, 60_000], words: "the process does not run for $forMs ms" },
  "suspend": { perMinute: [0.03, 0.2], forMs: [1_000, 600_000], words: "the machine sleeps for $forMs ms" },
  "crash": { perMinute: rare, size: [200, 60_000], words: "the process dies ($when), the disk keeps $kept, and it is started again after $size ms" },
  "exit-crash": { perMinute: [0.1, 1], size: [200, 20_000], words: "the process dies as an exit leaves, the disk keeps $kept, and it is started again after $size ms" },
  "exit-unsent": { perMinute: [0.1, 1], size: [200, 20_000], words: "the process dies before an exit leaves that is on record, the disk keeps $kept, and it is started again after $size ms" },
  "restart": { perMinute: [0.03, 0.2], size: [200, 20_000], words: "the engine is stopped ($stop) and started again after $size ms" },
  "unanswered-restart": { stream: "unheard-restart", perMinute: [0.1, 1], size: [200, 5_000], forMs: [5_000, 60_000], words: "the engine is stopped ($stop) and started again after $size ms; five seconds later all requests are executed and answered 502, for $forMs ms" },
  "journal-lost": { perMinute: rare, size: [200, 20_000], words: "the process dies and its journal is gone$clearing; it is started again after $size ms" },
  "orphan": { perMinute: [0.1, 1], size: [200, 10_000], words: "the process dies as an order leaves, which is held up on its way, and the journal is gone; it is started again after $size ms, and then the order arrives" },
  "first-orphan": { perMinute: [0, 0], size: [200, 10_000], once: true, words: "the first process dies as its first order leaves, which is held up on its way, and the journal is gone; it is started again after $size ms, and then the order arrives" },
  "disk-write": { perMinute: [0.02, 0.15], words: "a write to the disk fails; the engine is restarted half a minute later" },
  "disk-flush": { perMinute: [0.02, 0.15], words: "a flush of the disk fails; the engine is restarted half a minute later" },
  "disk-slow": { perMinute: rare, size: [5, 3_000], forMs: [1_000, 30_000], words: "flushes take $size ms, for $forMs ms" },
  "halt": { perMinute: rare, size: [50, 2_000], forMs: [1_000, 60_000], words: "flushes take $size ms; three seconds later the engine is halted by hand, and resumed after $forMs ms" },
  "halt-crash": { perMinute: [0.02, 0.15], size: [200, 20_000], words: "the engine is halted by hand, the first cancel is lost and the process dies; it is started again after $size ms" },
  "long-halt": { perMinute: [0.05, 0.2], forMs: [30_000, 240_000], words: "the engine is halted by hand, and resumed after $forMs ms" },
  "refuse": { perMinute: rare, forMs: [1_000, 30_000], words: "the service's port refuses orders for $forMs ms" },
  "delist": { perMinute: [0.05, 0.3], forMs: [1_000, 600_000], words: "an instrument is delisted, and listed again after $forMs ms" },
  "rules": { perMinute: [0.05, 0.4], size: [2, 5_000], words: "an instrument's steps become $size times coarser" },
  "gap": { perMinute: rare, forMs: [500, 60_000], words: "the market is silent for $forMs ms" },
  "thin": { perMinute: [0.1, 0.5], size: [10, 10_000], forMs: [10_000, 600_000], words: "the market holds $size times less, for $forMs ms" },
  "jump": { perMinute: rare, size: [5, 20_000], words: "a price jumps by $size ticks" },
} as const satisfies Record<string, Row>;

export type FaultKind = keyof typeof faultTable;
export const faultKinds = Object.keys(faultTable) as readonly FaultKind[];
export const rowOf = (kind: FaultKind): Row => faultTable[kind];

export interface Fault {
  readonly kind: FaultKind;
  /** Milliseconds after the market began. */
  readonly at: number;
  readonly size: number;
  readonly forMs: number;
  /** A whole number for choices inside the fault: whom it meets, which way it goes. */
  readonly pick: number;
}

export const crashMoments = [
  "at once",
  "as it writes",
  "as it flushes",
  "between flush and send",
  "as an order leaves",
  "as an answer comes",
] as const;
/** Moments of the faults `exit-crash` and `exit-unsent`. */
export const exitMoments = { "exit-crash": "as an exit leaves", "exit-unsent": "before an exit leaves" } as const;
export type CrashMoment = (typeof crashMoments)[number] | (typeof exitMoments)[keyof typeof exitMoments];
const diskFates = ["nothing unflushed", "everything", "a part"] as const;
export type DiskFate = (typeof diskFates)[number];

export const crashMomentOf = ({ pick }: Fault): CrashMoment => crashMoments[pick % crashMoments.length] as CrashMoment;
export const diskFateOf = ({ pick }: Fault): DiskFate =>
  diskFates[Math.floor(pick / crashMoments.length) % diskFates.length] as DiskFate;
/** Up or down, forward or back. */
export const signOf = ({ pick }: Fault): 1 | -1 => (pick % 2 === 0 ? 1 : -1);
export const cancelsAtStop = ({ pick }: Fault): boolean => pick % 3 === 0;

/**
 * Requests that a fault of the network affects: half of the faults are for requests that cost money, some for rare
 * ones.
 */
const aims = [
  "any",
  "placeOrder",
  "any",
  "cancelBatch",
  "placeOrder",
  "getOrder",
  "placeOrder",
  "cancelBatch",
  "orderHistory",
  "instruments",
] as const;
export const aimOf = ({ pick }: Fault): (typeof aims)[number] => aims[pick % aims.length] ?? "any";

/** Requests that an outage affects, and its effect on them. */
const outageAims = ["every request", "every read", "every question for an order by its id"] as const;
const outageManners = ["error-before", "drop-request", "busy", "error-after", "drop-answer", "not-json"] as const;
export const outageAimOf = ({ pick }: Fault): (typeof outageAims)[number] =>
  outageAims[pick % outageAims.length] ?? "every request";
export const outageMannerOf = ({ pick }: Fault): (typeof outageManners)[number] =>
  outageManners[Math.floor(pick / outageAims.length) % outageManners.length] ?? "error-before";
/** Answers of proxies instead of the service, or of a service that has lost the state of a call. */
const otherForms = [
  "a page with status 400",
  "a page with status 403",
  "a page with status 404",
  "nothing with status 401",
  "nothing with status 499",
  "a proxy's JSON with status 403",
  "not found in JSON with status 404",
  "too early in JSON with status 425",
  "a time-out in an empty envelope",
  "unavailable as the result of an element",
  "a code on no list",
  "a code on no list as the result of an element",
] as const;
export type OtherForm = (typeof otherForms)[number];
/** Results of elements mean something to a placement or a batch only: they are drawn more often. */
const drawnForms: readonly OtherForm[] = [
  ...otherForms,
  ...otherForms.filter((form) => form.endsWith("element")).flatMap((form) => [form, form]),
];
export const otherFormOf = ({ pick }: Fault): OtherForm =>
  drawnForms[Math.floor(pick / aims.length) % drawnForms.length] ?? otherForms[0];
/**
 * Returns true if the orders left behind by a process without a journal are canceled by hand before the next one
 * starts.
 */
export const clearsUp = ({ pick }: Fault): boolean => pick % 2 === 0;

export const spellFault = (fault: Fault): string =>
  rowOf(fault.kind)
    .words.replace("$size", String(fault.size * (isSigned(fault.kind) ? signOf(fault) : 1)))
    .replace("$forMs", String(fault.forMs))
    .replace("$when", crashMomentOf(fault))
    .replace("$kept", diskFateOf(fault))
    .replace("$whom", outageAimOf(fault))
    .replace("$how", rowOf(outageMannerOf(fault)).words)
    .replace("$form", otherFormOf(fault))
    .replace("$quirk", quirkWordsOf(fault.pick))
    .replace("$clearing", clearsUp(fault) ? ", its orders are cancelled by hand" : "")
    .replace("$stop", cancelsAtStop(fault) ? "orders cancelled" : "orders kept");

const isSigned = (kind: FaultKind): boolean => ["service-skew", "service-step", "wall-step", "jump"].includes(kind);
