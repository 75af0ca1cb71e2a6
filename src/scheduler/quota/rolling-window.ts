/**
 * One scope of one layer whose windows begin anywhere: no stretch of one window's length holds more than the capacity.
 *
 * Invariants: an unanswered call counts until it is answered, an answered one for a window's length from its answer; a length is
 * measured as the service's clock would, even if ours is fast.
 */
import type { LayerSpec } from "./layers.ts";
import type { Ceiling, LimitWindow, WindowTicket } from "./limit-window.ts";

/** A limit of so many units in any period of a length, rather than in periods that begin at fixed instants. */
export class RollingWindow implements LimitWindow {
  readonly spec: LayerSpec;
  readonly scope: string;
  readonly capacity: number;
  begun = 0;
  open = 0;
  readonly ambiguous = false;
  readonly lags = false;
  readonly unsteady = false;
  readonly missing = 0;
  readonly #windowMs: number;
  /** Units that leave the count at an instant; unanswered ones have none yet. */
  readonly #leaving: { readonly at: number; readonly units: number }[] = [];
  #answered = 0;
  #shutUntil = Number.NEGATIVE_INFINITY;

  /** Our clock may be fast by `driftPpm`. */
  constructor(spec: LayerSpec, scope: string, driftPpm = 0) {
    this.spec = spec;
    this.scope = scope;
    this.capacity = spec.capacity;
    this.#windowMs = spec.windowMs * (1 + driftPpm / 1e6);
  }

  blockedUntil(units: number, now: number, ceiling: Ceiling): number | undefined {
    this.#expire(now);
    if (now < this.#shutUntil) return this.#shutUntil;
    if (this.#answered + this.open + units <= ceiling(now + this.#windowMs, now, now)) return undefined;
    return Math.max(this.#leaving[0]?.at ?? now + this.#windowMs, now + 1);
  }

  room(now: number, floor: Ceiling): number {
    this.#expire(now);
    return now < this.#shutUntil ? 0 : floor(now + this.#windowMs, now, now) - this.#answered - this.open;
  }

  begin(
    units: number,
    _now = 0,
    ticket: WindowTicket = { units: 0, first: 0, knownThen: 0, unheardThen: 0 },
  ): WindowTicket {
    this.begun += units;
    this.open += units;
    ticket.units = units;
    return ticket;
  }

  again({ units }: WindowTicket): void {
    this.begun += units;
    this.open += units;
  }

  end(ticket: WindowTicket, _sentAt: number, receivedAt: number): number {
    this.lose(ticket, receivedAt);
    return 0;
  }

  lose({ units }: WindowTicket, now: number): void {
    this.open -= units;
    this.#answered += units;
    this.#leaving.push({ at: now + this.#windowMs, units });
  }

  undo({ units }: WindowTicket): void {
    this.open -= units;
  }

  learnRefusal(): boolean {
    return false;
  }

  shut(at: number): number {
    this.#shutUntil = at + this.#windowMs + this.spec.banMs;
    return this.#shutUntil;
  }

  /** Lengths of time hold even when the calendar does not. */
  reset(): void {}

  used(now: number): number {
    this.#expire(now);
    return this.#answered + this.open;
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

  paced(): number {
    return Number.POSITIVE_INFINITY;
  }

  windowEndsAt(now: number): number {
    this.#expire(now);
    return this.#leaving[0]?.at ?? now;
  }

  #expire(now: number): void {
    const leaving = this.#leaving;
    while (leaving.length > 0 && (leaving[0] as { at: number }).at <= now)
      this.#answered -= (leaving.shift() as { units: number }).units;
  }
}
