/**
 * Ceilings: the part of a window that each rank of action may use at an instant.
 *
 * Invariants: an emergency may use everything except what others are likely to use in a window's last moments; an exit
 * also leaves what it takes to cancel all open orders once; an ordinary action also leaves the exits that the rest of
 * the window may bring and what others are likely to use; the last units of weight are never planned, because a
 * restarted client has to make one light call without knowing the use.
 * Needed by: lending by degrees by `D`; leaving more after half was used by `L`.
 * Not here: what is used (limit-window.ts), the sizes of the reserve (reserve.ts), others' rate (foreign-usage.ts).
 */
import type { Division } from "./division.ts";
import { type ForeignUsage, type LateUsage, lateMargin, newsMsMax, newsWeight, othersMargin } from "./foreign-usage.ts";
import { type Charge, isLong } from "./layers.ts";
import type { Ceiling, LimitWindow } from "./limit-window.ts";
import { type LimiterParts, limiterParts } from "./parts.ts";
import {
  type ExitRate,
  exitCallsOf,
  exitCost,
  exitReserve,
  lateFrom,
  lateSlots,
  looksIn,
  pacedShare,
  type Rank,
  type ReservePolicy,
} from "./reserve.ts";
import type { RoundTripTime } from "./server-clock.ts";

interface AllowancesOptions {
  readonly policy: ReservePolicy;
  readonly trips: Pick<RoundTripTime, "low" | "high">;
  readonly startedAt: number;
  /** The gauge of a user's weight, if there is one. */
  readonly weightOf: (uid: string) => LimitWindow | undefined;
  readonly parts?: LimiterParts;
}

/** State of a user across all layers, or of an address. */
interface Client {
  openOrders: number;
  heardAt: number | undefined;
  foreign: ForeignUsage | undefined;
  late: LateUsage | undefined;
}

const shareMs = 300;
const yieldMs = 3_000;
const yieldMore = 2;
const yieldLess = 0.6;
/** An engine that uses at most this part of a window does not endanger the exits of others. */
const lightShare = 1 / 8;
const lastMs = 1_000;
const carefulUnits = 60;
/** Number of calls of usual weight that are left free as a margin. */
const carefulCalls = 6;
const newsMsMin = 400;

export class Allowances {
  readonly policy: ReservePolicy;
  /** Set if several engines divide the quota. */
  division: Division | undefined;
  readonly #trips: AllowancesOptions["trips"];
  readonly #weightOf: AllowancesOptions["weightOf"];
  readonly #clients = new Map<string, Client>();
  /** Number of resting orders of all clients. */
  #openOrders = 0;
  #weightMean = 10;
  readonly #exits: ExitRate;
  readonly #parts: LimiterParts;

  constructor({ policy, trips, startedAt, weightOf, parts = limiterParts }: AllowancesOptions) {
    this.policy = policy;
    this.#trips = trips;
    this.#weightOf = weightOf;
    this.#exits = parts.exits(startedAt);
    this.#parts = parts;
  }

  /** Ceiling of a charge. Valid while the user's window of weight is the same object. */
  of(gauge: LimitWindow, charge: Charge, rank: Rank): Ceiling {
    const alone = rank === "ordinary" ? this.#ordinary(gauge, charge, false) : this.#urgent(gauge, rank);
    return this.division?.ceiling(gauge, rank, alone) ?? alone;
  }

  /**
   * Lowest value that `of` can return at an instant for any use, apart from `paced`. It is cheaper to compute.
   */
  floorOf(gauge: LimitWindow, charge: Charge, rank: Rank): Ceiling {
    const alone = rank === "ordinary" ? this.#ordinary(gauge, charge, true) : this.#urgent(gauge, rank);
    return this.division?.ceiling(gauge, rank, alone) ?? alone;
  }

  /** True if `floorOf` returns the same for all windows of a layer. */
  isFlat({ spec }: LimitWindow): boolean {
    return this.division === undefined && spec.scope === "key" && spec.unit !== "weight";
  }

  /** Units that ordinary actions have to leave free in the window that ends at `endAt`. */
  reserved(gauge: LimitWindow, at: number, endAt: number): number {
    const { capacity } = gauge;
    const { unit, windowMs } = gauge.spec;
    if (unit !== "weight") {
      if (!isLong(windowMs)) return Math.max(0, this.policy.keySlots);
      return Math.round(capacity - this.#ordinaryCalls(gauge, this.#clientOf(nameOf(gauge)), false)(endAt, at, at));
    }
    const free = this.#ordinaryWeight(
      gauge,
      this.#clientOf(gauge.scope),
      Number.POSITIVE_INFINITY,
      false,
    )(endAt, at, at);
    return Math.max(0, Math.round(capacity - free));
  }

  /** Called when an exit was requested. */
  noteExit(now: number): void {
    this.#exits.note(now);
  }

  noteOpen(uid: string, orders: number): void {
    const client = this.#clients.get(uid) ?? this.#meet(uid);
    this.#openOrders += orders - client.openOrders;
    client.openOrders = orders;
  }

  /**
   * Called when the service reported the use of a user or address as a `share` of its limit. `fresh` units of it are
   * newly observed use by others.
   */
  noteUse(name: string, at: number, fresh: number, share = 0): void {
    const client = this.#clients.get(name) ?? this.#meet(name);
    client.heardAt = at;
    client.foreign ??= this.#parts.foreign();
    client.foreign.observe(at, fresh);
    if (client.foreign.units < 1) return;
    client.late ??= this.#parts.late();
    client.late.observe(at, fresh, share);
  }

  /** The service refused a call of a user or address. */
  noteRefusal(name: string, at: number): void {
    this.#clients.get(name)?.foreign?.surprised(at);
  }

  noteWeight(weight: number): void {
    this.#weightMean += (weight - this.#weightMean) / 32;
  }

  /**
   * Instant from which a light call is worth sending for its count, because others use this quota and no count was
   * received for some time. Infinite without others.
   */
  newsAt(uid: string, at: number, endAt: number): number {
    const { foreign, heardAt = at } = this.#clientOf(uid);
    if (foreign === undefined || foreign.rate === 0) return Number.POSITIVE_INFINITY;
    return heardAt + Math.min(newsMsMax, Math.max(newsMsMin, (endAt - at) / 20));
  }

  /** Number of resting orders of a user or of all. */
  openOrders(uid?: string): number {
    return uid === undefined ? this.#openOrders : this.#clientOf(uid).openOrders;
  }

  forgetOthers(): void {
    for (const client of this.#clients.values()) client.foreign = client.late = undefined;
  }

  /** Forgets when counts were received, because earlier counts are no evidence any longer. */
  forget(): void {
    for (const client of this.#clients.values()) client.heardAt = undefined;
  }

  /**
   * Ceiling of exits and emergencies. It does not depend on the use, and depends on the instant only in a window's last
   * moments.
   */
  #urgent(gauge: LimitWindow, rank: Exclude<Rank, "ordinary">): Ceiling {
    const blind = this.policy.probeUnits;
    if (gauge.spec.unit !== "weight") return () => gauge.capacity;
    const client = this.#clientOf(gauge.scope);
    // Each exit reduces the emergency that it leaves room for. At most a quarter is withheld from exits.
    const kept = (): number =>
      rank === "emergency" ? 0 : Math.min(exitCost(this.policy, client.openOrders), gauge.capacity / 4);
    // A call that would exceed the limit together with others' use should wait for the next window, which is near,
    // rather than be refused.
    const others = (remMs: number, at: number): number =>
      remMs > this.policy.lendMs ? 0 : othersMargin(client, gauge, 0, at, remMs);
    return (endAt, _startAt, at) => gauge.capacity - blind - kept() - others(endAt - at, at);
  }

  #ordinary(gauge: LimitWindow, charge: Charge, least: boolean): Ceiling {
    const { scope, unit, windowMs } = gauge.spec;
    const stated = (): number => gauge.spec.capacity;
    // Ordinary actions always get one slot, because its answer reports when more are free.
    const kept = (): number =>
      gauge.flows ? gauge.capacity : Math.max(1 + gauge.missing, stated() - this.policy.keySlots);
    if (scope === "key") {
      if (least) return () => (gauge.flows ? gauge.capacity : Math.min(kept(), stated() - 1) - (gauge.lags ? 1 : 0));
      const weight = charge.uid === undefined ? undefined : this.#weightOf(charge.uid);
      return (endAt, _startAt, at) => Math.min(gauge.paced(at), this.#ordinaryKey(gauge, kept(), weight, at, endAt));
    }
    if (unit !== "weight" && !isLong(windowMs)) return (_endAt, _startAt, at) => Math.min(gauge.paced(at), kept());
    const client = this.#clientOf(nameOf(gauge));
    return unit === "weight"
      ? this.#ordinaryWeight(gauge, client, charge.weight, least)
      : this.#ordinaryCalls(gauge, client, least);
  }

  /** Ceiling of a layer that counts calls. Each answer reports the use by others, so a silence needs no extra room. */
  #ordinaryCalls(gauge: LimitWindow, client: Client, least: boolean): Ceiling {
    const { policy } = this;
    const { windowMs } = gauge.spec;
    const exits = this.#exits;
    return (endAt, _startAt, at) => {
      const { capacity, missing } = gauge;
      const remMs = Math.max(0, Math.min(endAt - at, windowMs));
      const { foreign } = client;
      const isShared = foreign !== undefined && foreign.units >= 1;
      const margin = isShared ? othersMargin(client, gauge, newsWeight, at, remMs) : 0;
      const careful = margin > 0 && (least || gauge.open > 0) ? carefulCalls : 0;
      // The rest is for the exits of all clients that share the window.
      const rate = at === exits.askedAt ? exits.rate : exits.at(at);
      const widthMs = gauge.widthMs(at);
      const whole = exitCallsOf(policy, reservedMs(remMs, policy.lendMs, widthMs), this.#openOrders, rate);
      const wanted = lent(whole, remMs, policy.lendMs, widthMs);
      const kept = Math.min(wanted, (capacity - missing) / 2);
      // If most of the capacity is missing, the answer to one call shows whether it is still missing.
      const free = Math.max(1 + missing, capacity - kept - margin - careful);
      return least ? free : Math.min(gauge.paced(at), free);
    };
  }

  /**
   * Ceiling of a layer that counts weight. After a long silence room is left for unobserved use. A light call need not
   * leave it, because its answer reports the use.
   */
  #ordinaryWeight(gauge: LimitWindow, client: Client, weight: number, least: boolean): Ceiling {
    const { policy } = this;
    const { windowMs, header } = gauge.spec;
    const exits = this.#exits;
    return (endAt, startAt, at) => {
      const { capacity } = gauge;
      const remMs = Math.max(0, Math.min(endAt - at, windowMs));
      const rate = at === exits.askedAt ? exits.rate : exits.at(at);
      const widthMs = gauge.widthMs(at);
      const whole = exitReserve(policy, reservedMs(remMs, policy.lendMs, widthMs), client.openOrders, rate);
      const wanted = lent(whole, remMs, policy.lendMs, widthMs);
      // Exits rely on the user's minute, whose use the service reports. Of a smaller layer of the user's own, half is
      // kept.
      const reserve = header === undefined ? Math.min(wanted, capacity / 2) : wanted;
      const { foreign } = client;
      const margin =
        foreign === undefined || foreign.units < 1
          ? 0
          : least
            ? othersMargin(client, gauge, weight, at, remMs) * yieldMore
            : this.#othersWeight(gauge, client, weight, at, remMs, reserve);
      // Near the limit calls leave one at a time: each answer shows the use by others, so that a surprise costs only
      // one refusal.
      const careful = margin > 0 && (least || gauge.open > 0) ? carefulUnits : 0;
      // Under a lowered limit one light call in each window is still sent. Its answer shows whether the limit is still
      // low.
      const floor = capacity < gauge.spec.capacity ? newsWeight : Number.NEGATIVE_INFINITY;
      const most = Math.max(floor, capacity - reserve - margin - careful - policy.probeUnits);
      const free = least ? most : Math.min(gauge.paced(at), most);
      return policy.spending === "paced" && at >= startAt
        ? Math.min(free, pacedShare(capacity, remMs, windowMs))
        : free;
    };
  }

  /**
   * An engine that has used less than an equal part of what is not reserved leaves others only what they may use before
   * its next answer.
   */
  #othersWeight(
    gauge: LimitWindow,
    client: Client,
    weight: number,
    at: number,
    remMs: number,
    reserve: number,
  ): number {
    if (gauge.mode === "floor") return 0;
    const { capacity } = gauge;
    const own = gauge.used(at) - gauge.foreign(at);
    if (remMs > shareMs && own + weight <= (capacity - reserve - carefulUnits) / 2) {
      const soon = othersMargin(client, gauge, 0, at, shareMs);
      return own + weight <= (capacity - reserve) * lightShare
        ? soon
        : Math.max(soon, lateMargin(client, capacity, at, remMs));
    }
    return othersMargin(client, gauge, weight, at, remMs) * yielding(own, capacity, remMs);
  }

  #ordinaryKey(gauge: LimitWindow, kept: number, weight: LimitWindow | undefined, at: number, endAt: number): number {
    const width = gauge.widthMs(at);
    const looks = gauge.lags && looksIn(gauge, endAt, width);
    const early = looks ? kept - 1 : kept;
    if (at < lateFrom(gauge, endAt, width, this.#trips.high) || this.#weightBinds(weight, at, kept)) return early;
    return lateSlots(gauge, kept, at, endAt, this.#trips, looks);
  }

  /**
   * Returns true if weight will run out before the key's seconds do. Its reserved slots then cost nothing and stay free
   * for exits.
   */
  #weightBinds(weight: LimitWindow | undefined, at: number, slots: number): boolean {
    if (weight === undefined) return false;
    const leftMs = weight.windowEndsAt(at) - at;
    // In the last second of the minute the slots are what limits the use of the remaining weight.
    if (leftMs < lastMs) return false;
    return (weight.capacity - weight.used(at)) / this.#weightMean < (leftMs / 1_000) * slots;
  }

  /** Expected number of exits per millisecond. */
  exitRate(now: number): number {
    return this.#exits.at(now);
  }

  #clientOf(name: string): Client {
    return this.#clients.get(name) ?? this.#meet(name);
  }

  #meet(name: string): Client {
    const client: Client = { openOrders: 0, heardAt: undefined, foreign: undefined, late: undefined };
    this.#clients.set(name, client);
    return client;
  }
}

/** Time before a window's end for which the reserve is computed: at least the stretch in which it is lent. */
const reservedMs = (remMs: number, lendMs: number, widthMs: number): number =>
  widthMs > 0 ? Math.max(remMs, lendMs + widthMs) : remMs;

/**
 * Part of the reserve `whole` that is not lent with `remMs` to go. The end of a window is known to within `widthMs`.
 * The reserve is lent gradually from the earliest possible end on, because the calls that leave then show where the
 * window ends.
 */
const lent = (whole: number, remMs: number, lendMs: number, widthMs: number): number =>
  widthMs > 0 && remMs < lendMs + widthMs ? (whole * Math.max(0, remMs - lendMs)) / widthMs : whole;

/** Name under which the knowledge of a layer's scope is kept. A user and an address may have the same name. */
export const nameOf = ({ spec, scope }: LimitWindow): string => (spec.scope === "ip" ? `address ${scope}` : scope);

/**
 * Two engines unaware of each other should approach equal parts: one that has used more than half leaves more, and one
 * that has used less leaves less.
 */
const yielding = (own: number, capacity: number, remMs: number): number => {
  if (remMs < yieldMs) return 1;
  return own > capacity / 2 ? yieldMore : yieldLess;
};
