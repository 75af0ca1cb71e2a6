/**
 * Compares the engine's events and actions with the true state of the service, after every event.
 *
 * Invariants: it looks at the venue's own records, the requests and answers as they pass, the disk, and the engine's
 * journal, and never into the engine; it changes nothing.
 * Not here: the state after quiet (final-checks.ts), quota (quota-invariants.ts), slots that hold two orders
 * (surplus-check.ts), the names of invariants (invariants.ts).
 */
import { compare, type Event, type OrderRecord } from "sluice";
import type { CancelBody, Contract, PlaceBody, WireRequest, WireResponse } from "sluice/dialect";
import { type ClientOrderIds, type EventOf, generations, isActive } from "sluice/extension";
import { Evidence } from "./evidence.ts";
import type { Invariant } from "./invariants.ts";
import { SurplusCheck } from "./surplus-check.ts";

type OrderChange = EventOf<"order.changed">;

/** Facts that the oracle knows of a process. */
export interface Watched {
  readonly number: number;
  /** The last process was halted, so that this one is from its beginning. */
  readonly bornHalted: boolean;
  /** The calendar's number for ids when it began. */
  readonly bornNumber: number;
  readonly evidence: Evidence;
  readonly surplus: SurplusCheck;
  mode: "active" | "reducing" | "halted";
  /** A halt that is a full stop: exits, stops and targets are suspended. */
  isFull: boolean;
  /** Reason for which no order may be sent, by facts outside the engine. */
  forbidden: string | undefined;
  readonly phases: Map<string, string>;
  readonly fills: Map<string, string>;
}

interface OracleOptions {
  readonly contract: Contract;
  readonly ids: ClientOrderIds;
  readonly now: () => number;
  /** Wall-clock time of the machine, by which a process without a journal distinguishes new ids from used ones. */
  readonly wallNow: () => number;
  /** Returns true if the next process knows of a placement, or may be left without its record. */
  readonly isRecorded: (clOrdId: string) => boolean;
  /** Returns true if a journal was removed: the next process cannot know the requests of the last one. */
  readonly amnesia: () => boolean;
  /** The service forgets what ended without trading: such an order is as good as one that never was. */
  readonly forgetful: boolean;
  /**
   * Returns true for an exit, which goes without the flag where other strategies hold the opposite. Its size is checked
   * elsewhere.
   */
  readonly isExit: (clOrdId: string) => boolean;
  /** Returns true if the last process was halted and the disk contains this. */
  readonly halted: () => boolean;
  readonly fail: (invariant: Invariant, text: string) => void;
}

/**
 * Ids are numbered by half seconds of the calendar, and may run ahead of it for a while: in a burst, or when it is set
 * back.
 */
const numberMs = 500;
const aheadMax = 20_000;
/** Phases of an order that the process knows to have reached the service. */
const arrivals: readonly string[] = ["acked", "live", "partially_filled"];
const finals: readonly string[] = ["filled", "canceled", "rejected", "absent"];
const filled = ({ accFillSz }: OrderRecord): string => (accFillSz === "" ? "0" : accFillSz);

export class Oracle {
  readonly #options: OracleOptions;
  readonly #ours = new Map<string, OrderRecord>();
  readonly #live = new Map<string, OrderRecord>();
  readonly #byOrdId = new Map<string, OrderRecord>();
  readonly #liveOfSlot = new Map<string, Set<string>>();
  /** Orders a process declared over, and how; an id may be used again after a limit refused it. */
  readonly #over = new Map<string, string>();
  readonly #names = new Map<string, string>();

  constructor(options: OracleOptions) {
    this.#options = options;
  }

  /** Our orders that are live at the service now. */
  get live(): ReadonlyMap<string, OrderRecord> {
    return this.#live;
  }

  slotOf(clOrdId: string): string {
    return this.#names.get(clOrdId) ?? this.#options.ids.read(clOrdId)?.slotHash ?? clOrdId;
  }

  born(number: number, at: number): Watched {
    const { contract, halted, wallNow } = this.#options;
    return {
      number,
      bornHalted: halted(),
      bornNumber: Math.floor(wallNow() / numberMs) % generations,
      evidence: new Evidence(contract, at),
      surplus: new SurplusCheck(),
      mode: halted() ? "halted" : "active",
      isFull: false,
      forbidden: undefined,
      phases: new Map(),
      fills: new Map(),
    };
  }

  sent(process: Watched, uid: string, { endpoint, body }: WireRequest): void {
    if (endpoint === "placeOrder") this.#checkPlacement(process, uid, body as PlaceBody);
    else if (endpoint === "cancelBatch") this.#checkCancels(body as CancelBody);
  }

  heard({ evidence }: Watched, request: WireRequest, response: WireResponse): void {
    evidence.heard(request, response, this.#options.now());
  }

  event(process: Watched, event: Event): void {
    const { fail } = this.#options;
    if (event.type === "order.changed") this.#noteChange(process, event);
    else if (event.type === "mode.changed") {
      process.mode = event.mode;
      process.isFull = event.full === true;
    } else if (event.type === "strategy.failed") fail("I14", `strategy ${event.strategy}: ${event.message}`);
    else if (event.type === "anomaly" && event.what === "listener.threw") fail("I14", event.detail);
  }

  /** A record of the service changed. */
  order(uid: string, record: OrderRecord): void {
    const { ids, fail } = this.#options;
    const { clOrdId, ordId } = record;
    this.#byOrdId.set(ordId, record);
    if (ids.read(clOrdId) === undefined) return;
    const known = this.#ours.get(clOrdId);
    if (known !== undefined && known.ordId !== ordId)
      fail("I1", `${clOrdId} is two orders at the service: ${known.ordId} and ${ordId}`);
    this.#ours.set(clOrdId, record);
    const end = known === undefined ? this.#over.get(clOrdId) : undefined;
    if (end !== undefined)
      fail("I3", `${clOrdId} appears at the service (${record.state}) after it was treated as ${end}`);
    this.#noteLive(uid, record);
  }

  #vanishes(record: OrderRecord): boolean {
    return this.#options.forgetful && record.state === "canceled" && compare(filled(record), "0") === 0;
  }

  /**
   * The journal is gone, the service has forgotten, and the calendar had not passed the id's number: its use cannot be
   * known.
   */
  #isForgotten({ bornNumber }: Watched, record: OrderRecord): boolean {
    const { ids, amnesia } = this.#options;
    const ahead = ((ids.read(record.clOrdId)?.generation ?? 0) - bornNumber + generations) % generations;
    return amnesia() && this.#vanishes(record) && ahead < aheadMax;
  }

  #noteLive(uid: string, record: OrderRecord): void {
    const { ids, amnesia, fail } = this.#options;
    const { clOrdId, ordId } = record;
    const slot = `${uid} ${ids.read(clOrdId)?.slotHash ?? ""}`;
    const others = this.#liveOfSlot.get(slot) ?? new Set<string>();
    this.#liveOfSlot.set(slot, others);
    if (!isActive(record.state)) {
      this.#live.delete(ordId);
      others.delete(clOrdId);
      return;
    }
    this.#live.set(ordId, record);
    if (others.has(clOrdId)) return;
    others.add(clOrdId);
    const numbered = this.slotOf(clOrdId).includes(" #");
    if (others.size > 1 && !amnesia() && !numbered)
      fail("I2", `${this.slotOf(clOrdId)} has ${others.size} live orders: ${[...others].join(", ")}`);
  }

  #onOver({ evidence }: Watched, { clOrdId, phase, reason, record }: OrderChange): void {
    const { fail } = this.#options;
    const truth = this.#ours.get(clOrdId);
    this.#over.set(clOrdId, phase);
    if (truth !== undefined && isActive(truth.state)) {
      fail("I3", `${clOrdId} is treated as ${phase} (${reason}) while it is ${truth.state} at the service`);
      return;
    }
    if (phase === "filled" || phase === "canceled") {
      const unsent = record === undefined && truth === undefined;
      if (!unsent && truth?.state !== phase)
        fail("I9", `${clOrdId} is treated as ${phase} and is ${truth?.state ?? "unknown"} at the service`);
    } else if (truth !== undefined && !(evidence.absent(clOrdId) && this.#vanishes(truth))) {
      fail("I9", `${clOrdId} is treated as ${phase} (${reason}) and was ${truth.state} at the service`);
    } else if (!evidence.absent(clOrdId) && !(phase === "rejected" && evidence.refused(clOrdId))) {
      fail("I9", `${clOrdId} is treated as ${phase} (${reason}) without enough evidence`);
    }
  }

  #checkFills({ fills }: Watched, record: OrderRecord): void {
    const { fail } = this.#options;
    const { ordId } = record;
    const truth = this.#byOrdId.get(ordId);
    const known = filled(record);
    const real = truth === undefined ? "0" : filled(truth);
    if (compare(known, real) > 0)
      fail(
        "I4",
        `${ordId} is believed to have filled ${known}; at the service ${truth === undefined ? "nothing" : real}`,
      );
    const before = fills.get(ordId) ?? "0";
    if (compare(known, before) < 0)
      fail("I4", `${ordId} had filled ${before} and is now believed to have filled ${known}`);
    fills.set(ordId, known);
  }

  #noteChange(process: Watched, event: OrderChange): void {
    const { clOrdId, phase, record, strategy, slot } = event;
    if (slot !== "") this.#names.set(clOrdId, `${strategy} ${slot}`);
    const surplus = process.surplus.note(event);
    if (surplus !== undefined) this.#options.fail("I2", surplus);
    if (record !== undefined) this.#checkFills(process, record);
    // A record of the service proves it too, also of an order that is canceled as it is found.
    if ((arrivals.includes(phase) || record !== undefined) && this.#ours.has(clOrdId))
      process.evidence.arrived(clOrdId, this.#options.now());
    if (finals.includes(phase)) {
      this.#onOver(process, event);
      process.phases.delete(clOrdId);
    } else process.phases.set(clOrdId, phase);
  }

  #checkPlacement(process: Watched, uid: string, { clOrdId = "", reduceOnly = false }: PlaceBody): void {
    const { fail, isExit, isRecorded, now } = this.#options;
    if (process.forbidden !== undefined) fail("I6", `${clOrdId} leaves although ${process.forbidden}`);
    else if (process.isFull || (process.mode !== "active" && !reduceOnly && !isExit(clOrdId)))
      fail("I6", `${clOrdId} leaves while the mode is ${process.mode}`);
    if (!isRecorded(clOrdId)) fail("I8", `${clOrdId} leaves and its record is not durable`);
    const truth = this.#ours.get(clOrdId);
    if (truth !== undefined && this.#isForgotten(process, truth)) this.#ours.delete(clOrdId);
    else if (truth !== undefined)
      fail("I1", `${clOrdId} of user ${uid} is sent again although it was executed (${truth.state})`);
    this.#over.delete(clOrdId);
    process.evidence.sent(clOrdId, now());
  }

  #checkCancels(body: CancelBody): void {
    const { ids, fail } = this.#options;
    for (const { ordId, clOrdId } of body) {
      const id = clOrdId ?? (ordId === undefined ? undefined : this.#byOrdId.get(ordId)?.clOrdId) ?? "";
      if (ids.read(id) === undefined)
        fail("I13", `a cancel names ${ordId ?? clOrdId ?? "nothing"}, which is not an order of ours`);
    }
  }
}
