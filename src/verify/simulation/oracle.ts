/**
 * Compares what the engine says and does with what is true at the service, after every event.
 *
 * Invariants: it looks at the venue's own records, the requests and answers as they pass, the disk, and the engine's journal,
 * and never into the engine; it changes nothing.
 * Not here: the state after quiet (final-checks.ts), quota (quota-invariants.ts), slots that hold two orders (surplus-check.ts), what the invariants are called (invariants.ts).
 */
import type { Contract } from "../../contract/contract.ts";
import { isActive } from "../../contract/order-states.ts";
import type { CancelBody, OrderRecord, PlaceBody } from "../../contract/schemas.ts";
import type { WireRequest, WireResponse } from "../../contract/transport.ts";
import { compare } from "../../decimal.ts";
import type { Event } from "../../journal/events.ts";
import { type ClientOrderIds, generations } from "../../orders/client-order-id.ts";
import { createEvidence, type Evidence } from "./evidence.ts";
import type { Invariant } from "./invariants.ts";
import { createSurplusCheck, type SurplusCheck } from "./surplus-check.ts";

/** What the oracle knows of a process. */
export interface Watched {
  readonly number: number;
  /** The last process was halted, so that this one is from its beginning. */
  readonly bornHalted: boolean;
  /** The calendar's number for ids when it began. */
  readonly bornNumber: number;
  readonly evidence: Evidence;
  readonly crowding: SurplusCheck;
  mode: "active" | "reducing" | "halted";
  /** Why no order may leave, as the outside knows. */
  forbidden: string | undefined;
  readonly phases: Map<string, string>;
  readonly fills: Map<string, string>;
}

export interface Oracle {
  born(number: number, at: number): Watched;
  sent(life: Watched, uid: string, request: WireRequest): void;
  heard(life: Watched, request: WireRequest, response: WireResponse): void;
  event(life: Watched, event: Event): void;
  order(uid: string, record: OrderRecord): void;
  /** Latest record of each of our orders, by user and client id. */
  readonly ours: ReadonlyMap<string, OrderRecord>;
  /** Our orders that are live at the service now. */
  readonly live: ReadonlyMap<string, OrderRecord>;
  readonly slotOf: (clOrdId: string) => string;
}

interface OracleOptions {
  readonly contract: Contract;
  readonly ids: ClientOrderIds;
  readonly now: () => number;
  /** The machine's calendar, by which a process without a journal tells new ids from used ones. */
  readonly wallNow: () => number;
  readonly durable: ReadonlySet<string>;
  /** A journal was taken away: the next life cannot know what the last one sent. */
  readonly amnesia: () => boolean;
  /** The service forgets what ended without trading: such an order is as good as one that never was. */
  readonly forgetful: boolean;
  /** The last process was halted, and the disk says so. */
  readonly halted: () => boolean;
  readonly fail: (invariant: Invariant, text: string) => void;
}

/** Ids are numbered by half seconds of the calendar, and may run ahead of it for a while: in a burst, or when it is set back. */
const numberMs = 500;
const aheadMax = 20_000;
const finals: readonly string[] = ["filled", "canceled", "rejected", "absent"];
const filled = ({ accFillSz }: OrderRecord): string => (accFillSz === "" ? "0" : accFillSz);

export const createOracle = (options: OracleOptions): Oracle => {
  const { contract, ids, now, wallNow, durable, amnesia, forgetful, halted, fail } = options;
  const ours = new Map<string, OrderRecord>();
  const live = new Map<string, OrderRecord>();
  const byOrdId = new Map<string, OrderRecord>();
  const liveOfSlot = new Map<string, Set<string>>();
  /** Orders some life declared over, and how; an id may be used again after a limit refused it. */
  const over = new Map<string, string>();
  const names = new Map<string, string>();

  const slotOf = (clOrdId: string): string => names.get(clOrdId) ?? ids.read(clOrdId)?.slotHash ?? clOrdId;

  const vanishes = (record: OrderRecord): boolean => forgetful && record.state === "canceled" && compare(filled(record), "0") === 0;
  /** The journal is gone, the service has forgotten, and the calendar had not passed the id's number: nobody can know it was used. */
  const isForgotten = ({ bornNumber }: Watched, record: OrderRecord): boolean => {
    const ahead = ((ids.read(record.clOrdId)?.generation ?? 0) - bornNumber + generations) % generations;
    return amnesia() && vanishes(record) && ahead < aheadMax;
  };
  const noteLive = (uid: string, record: OrderRecord): void => {
    const { clOrdId, ordId } = record;
    const slot = `${uid} ${ids.read(clOrdId)?.slotHash ?? ""}`;
    const others = liveOfSlot.get(slot) ?? new Set<string>();
    liveOfSlot.set(slot, others);
    if (!isActive(record.state)) {
      live.delete(ordId);
      others.delete(clOrdId);
      return;
    }
    live.set(ordId, record);
    if (others.has(clOrdId)) return;
    others.add(clOrdId);
    const numbered = slotOf(clOrdId).includes(" #");
    if (others.size > 1 && !amnesia() && !numbered)
      fail("I2", `${slotOf(clOrdId)} has ${others.size} live orders: ${[...others].join(", ")}`);
  };

  const onOver = (life: Watched, event: Extract<Event, { type: "order.changed" }>): void => {
    const { clOrdId, phase, reason } = event;
    const truth = ours.get(clOrdId);
    over.set(clOrdId, phase);
    if (truth !== undefined && isActive(truth.state)) {
      fail("I3", `${clOrdId} is taken for ${phase} (${reason}) while it is ${truth.state} at the service`);
      return;
    }
    if (phase === "filled" || phase === "canceled") {
      const unsent = event.record === undefined && truth === undefined;
      if (!unsent && truth?.state !== phase)
        fail("I9", `${clOrdId} is taken for ${phase} and is ${truth?.state ?? "unknown"} at the service`);
    } else if (truth !== undefined && !(life.evidence.absent(clOrdId) && vanishes(truth))) {
      fail("I9", `${clOrdId} is taken for ${phase} (${reason}) and was ${truth.state} at the service`);
    } else if (!life.evidence.absent(clOrdId) && !(phase === "rejected" && life.evidence.refused(clOrdId))) {
      fail("I9", `${clOrdId} is taken for ${phase} (${reason}) without enough evidence`);
    }
  };
  const checkFills = (life: Watched, record: OrderRecord): void => {
    const truth = byOrdId.get(record.ordId);
    const known = filled(record);
    if (compare(known, truth === undefined ? "0" : filled(truth)) > 0) {
      fail(
        "I4",
        `${record.ordId} is believed to have filled ${known}; the service says ${truth === undefined ? "nothing" : filled(truth)}`,
      );
    }
    const before = life.fills.get(record.ordId) ?? "0";
    if (compare(known, before) < 0) fail("I4", `${record.ordId} had filled ${before} and is now believed to have filled ${known}`);
    life.fills.set(record.ordId, known);
  };
  const noteChange = (life: Watched, event: Extract<Event, { type: "order.changed" }>): void => {
    const { clOrdId, phase, record, strategy, slot } = event;
    if (slot !== "") names.set(clOrdId, `${strategy} ${slot}`);
    const crowd = life.crowding.note(event);
    if (crowd !== undefined) fail("I2", crowd);
    if (record !== undefined) checkFills(life, record);
    if (finals.includes(phase)) {
      onOver(life, event);
      life.phases.delete(clOrdId);
    } else life.phases.set(clOrdId, phase);
  };
  const checkPlacement = (life: Watched, uid: string, { clOrdId = "", reduceOnly = false }: PlaceBody): void => {
    if (life.forbidden !== undefined) fail("I6", `${clOrdId} leaves although ${life.forbidden}`);
    else if (life.mode === "halted" || (life.mode === "reducing" && !reduceOnly))
      fail("I6", `${clOrdId} leaves while the mode is ${life.mode}`);
    if (!durable.has(clOrdId)) fail("I8", `${clOrdId} leaves and its record is not durable`);
    const truth = ours.get(clOrdId);
    if (truth !== undefined && isForgotten(life, truth)) ours.delete(clOrdId);
    else if (truth !== undefined) fail("I1", `${clOrdId} of user ${uid} is sent again although it was executed (${truth.state})`);
    over.delete(clOrdId);
    life.evidence.sent(clOrdId, now());
  };
  const checkCancels = (body: CancelBody): void => {
    for (const { ordId, clOrdId } of body) {
      const id = clOrdId ?? (ordId === undefined ? undefined : byOrdId.get(ordId)?.clOrdId) ?? "";
      if (ids.read(id) === undefined) fail("I13", `a cancel names ${ordId ?? clOrdId ?? "nothing"}, which is not an order of ours`);
    }
  };

  return {
    ours,
    live,
    slotOf,
    born: (number, at) => ({
      number,
      bornHalted: halted(),
      bornNumber: Math.floor(wallNow() / numberMs) % generations,
      evidence: createEvidence(contract, at),
      crowding: createSurplusCheck(),
      mode: halted() ? "halted" : "active",
      forbidden: undefined,
      phases: new Map(),
      fills: new Map(),
    }),
    sent: (life, uid, { endpoint, body }) => {
      if (endpoint === "placeOrder") checkPlacement(life, uid, body as PlaceBody);
      else if (endpoint === "cancelBatch") checkCancels(body as CancelBody);
    },
    heard: ({ evidence }, request, response) => {
      evidence.heard(request, response, now());
    },
    event: (life, event) => {
      if (event.type === "order.changed") noteChange(life, event);
      else if (event.type === "mode.changed") life.mode = event.mode;
      else if (event.type === "strategy.failed") fail("I14", `strategy ${event.strategy}: ${event.message}`);
      else if (event.type === "anomaly" && event.what === "listener.threw") fail("I14", event.detail);
    },
    order: (uid, record) => {
      const { clOrdId, ordId } = record;
      byOrdId.set(ordId, record);
      if (ids.read(clOrdId) === undefined) return;
      const known = ours.get(clOrdId);
      if (known !== undefined && known.ordId !== ordId) fail("I1", `${clOrdId} is two orders at the service: ${known.ordId} and ${ordId}`);
      ours.set(clOrdId, record);
      const end = known === undefined ? over.get(clOrdId) : undefined;
      if (end !== undefined) fail("I3", `${clOrdId} appears at the service (${record.state}) after it was taken for ${end}`);
      noteLive(uid, record);
    },
  };
};
