/**
 * One layer for one scope whose windows begin anywhere: no stretch of one window's length holds more than the capacity.
 *
 * Invariants: an unanswered call counts until it is answered, and an answered one for a window's length after its
 * answer; a length is measured as the service's clock would, even if ours is fast.
 * Needed by: `sliding`, `sliding-key`, and layers of other services.
 */

import { EvenSpending } from "./even-spending.ts";
import type { LayerSpec } from "./layers.ts";
import { StatedLimit } from "./learned-limit.ts";
import type { Ceiling, LimitWindow, WindowTicket } from "./limit-window.ts";
import type { ServerClock } from "./server-clock.ts";
import { emptyTicket } from "./window-slots.ts";

/** Half of the capacity may be spent at once, and the other half as fast as it is freed. */
const burstShare = 1 / 2;
/** For a key, which also carries exits, at most a tenth: an exit waits until the next call no longer counts. */
const keyBurstShare = 1 / 10;

/** Clock of a service whose time is unknown. */
const unknownClock: Pick<ServerClock, "bounds"> = {
  bounds: (at) => ({ at, lo: Number.NEGATIVE_INFINITY, hi: Number.POSITIVE_INFINITY }),
};

/** A limit on the units in any period of a given length, rather than in periods that begin at fixed instants. */
export class RollingWindow implements LimitWindow {
  readonly spec: LayerSpec;
  readonly scope: string;
  capacity: number;
  begun = 0;
  open = 0;
  readonly ambiguous = false;
  readonly lags = false;
  readonly unsteady = false;
  readonly missing = 0;
  readonly flows = true;
  readonly mode = "measured";
  readonly #windowMs: number;
  readonly #stated: StatedLimit;
  readonly #spending: EvenSpending;
  #shutUntil = Number.NEGATIVE_INFINITY;

  /** Our clock may be fast by `driftPpm`. */
  constructor(layer: LayerSpec, scope: string, driftPpm = 0, clock: Pick<ServerClock, "bounds"> = unknownClock) {
    this.#stated = new StatedLimit(layer, clock);
    const { spec } = this.#stated;
    this.spec = spec;
    this.scope = scope;
    this.capacity = spec.capacity;
    this.#windowMs = spec.windowMs * (1 + driftPpm / 1e6);
    this.#spending = new EvenSpending(spec.capacity, this.#windowMs, spec.scope === "key" ? keyBurstShare : burstShare);
  }

  get changesAt(): number {
    return this.#stated.changesAt;
  }

  /** Everything that counts at an instant may count for a window's length. */
  restate(now: number): void {
    if (!this.#stated.restate(now, now + this.#windowMs)) return;
    this.capacity = this.spec.capacity;
    this.#spending.capacity = this.capacity;
  }

  limitBetween(from: number, to: number): number | undefined {
    return this.#stated.inForce(from, to);
  }

  blockedUntil(units: number, now: number, ceiling: Ceiling): number | undefined {
    if (now < this.#shutUntil) return this.#shutUntil;
    const spending = this.#spending;
    return spending.blockedUntil(this.used(now) + units, ceiling(now + spending.horizonMs, now, now), now);
  }

  room(now: number, floor: Ceiling): number {
    if (now < this.#shutUntil) return 0;
    const { horizonMs } = this.#spending;
    return Math.min(floor(now + horizonMs, now, now) - this.used(now), this.#spending.room(now));
  }

  begin(units: number, now: number, ticket = emptyTicket()): WindowTicket {
    this.again({ units }, now);
    ticket.units = units;
    return ticket;
  }

  again({ units }: Pick<WindowTicket, "units">, now: number): void {
    this.begun += units;
    this.open += units;
    this.#spending.spend(units, now);
  }

  end(ticket: WindowTicket, _sentAt: number, receivedAt: number): number {
    this.lose(ticket, receivedAt);
    return 0;
  }

  lose({ units }: WindowTicket, now: number): void {
    this.open -= units;
    this.#spending.land(units, now);
  }

  undo({ units }: WindowTicket): void {
    this.open -= units;
  }

  learnLate(): boolean {
    return false;
  }

  noteUnexplained(): void {}

  learnRefusal(): boolean {
    return false;
  }

  shut(at: number): number {
    this.#shutUntil = at + this.#windowMs + this.spec.banMs;
    return this.#shutUntil;
  }

  /** Durations stay valid even when the calendar does not. */
  reset(): void {}

  used(now: number): number {
    return this.#spending.landed(now) + this.open;
  }

  foreign(): number {
    return 0;
  }

  widthMs(): number {
    return 0;
  }

  isRisky(): boolean {
    return false;
  }

  paced(at: number): number {
    return this.used(at) + this.#spending.credit(at);
  }

  windowEndsAt(now: number): number {
    this.#spending.landed(now);
    return this.#spending.freesAt ?? now;
  }
}
