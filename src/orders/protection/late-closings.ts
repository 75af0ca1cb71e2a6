/**
 * Protections that were triggered and whose closing order is not in force after some seconds: reported, and closed
 * without waiting for an order that cannot be canceled.
 *
 * Invariants: one timer for each protection that is being closed, none for others; the wait for a cancel is given up
 * only where two exits at a time cannot reduce more than the strategy holds.
 * Not here: the order (closing-order.ts), how rejections are followed up (orders/exits.ts).
 */
import type { Clock, Timer } from "../../clock/clock.ts";
import { type Effects, evaluate, next, noEffects, type Run } from "../effects.ts";
import type { ExitLimits } from "../exit-limits.ts";
import type { Exits } from "../exits.ts";
import { isResting } from "../order-state.ts";
import { isFull, type TradingModes } from "../risk/trading-mode.ts";
import type { Slot } from "../slot.ts";
import type { HeldProtection } from "./held-protection.ts";

interface Surroundings {
  readonly modes: TradingModes;
  readonly exitLimits: Pick<ExitLimits, "isBounded">;
  readonly exits: Pick<Exits, "refused">;
}

const waitMs = 5_000;
const seconds = `${waitMs / 1_000} s`;

export class LateClosings {
  readonly #clock: Clock;
  readonly #surroundings: Surroundings;
  /** The closing order has to be asked for again. */
  readonly #changed: (one: HeldProtection) => Effects;
  readonly #run: Run;
  readonly #timers = new Map<HeldProtection, Timer>();

  constructor(clock: Clock, surroundings: Surroundings, changed: (one: HeldProtection) => Effects, run: Run) {
    this.#clock = clock;
    this.#surroundings = surroundings;
    this.#changed = changed;
    this.#run = run;
  }

  /** The protection is being closed. */
  watch(one: HeldProtection): void {
    if (this.#timers.has(one)) return;
    const look = (): void => {
      this.#timers.delete(one);
      if (!one.isClosing) return;
      this.#run(this.#look(one));
      if (one.isClosing) this.watch(one);
    };
    this.#timers.set(one, this.#clock.setTimer(this.#clock.now() + waitMs, look));
  }

  close(): void {
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
  }

  #look(one: HeldProtection): Effects {
    const { closing, protection } = one;
    const { strategy, instId } = protection.name;
    const { modes, exitLimits } = this.#surroundings;
    if (isFull(modes.of(strategy))) return noEffects;
    const isObstructed = closing.obstacle !== undefined;
    const tell = next(() => this.#tell(one, isObstructed));
    if (!isObstructed || !exitLimits.isBounded(strategy, instId, protection.side)) return [tell];
    const left = closing.leaveObstacle();
    return [...(left === undefined ? noEffects : [evaluate(left)]), next(() => this.#changed(one)), tell];
  }

  /** The closing order is not in force after some time. */
  #tell({ closing }: HeldProtection, isObstructed: boolean): Effects {
    const { slot } = closing;
    const reason = isObstructed ? `the take-profit that rests has not been canceled for ${seconds}` : problemOf(slot);
    if (slot?.wanted === undefined || reason === undefined) return noEffects;
    return this.#surroundings.exits.refused(slot, slot.wanted, reason);
  }
}

/** Why the order of the slot is not in force; undefined where it is. */
const problemOf = (slot: Slot | undefined): string | undefined => {
  if (slot === undefined) return undefined;
  const { order, queued, rest, spare } = slot;
  if (queued !== undefined || spare !== undefined) return `the closing order has waited ${seconds} for the quota`;
  if (order?.state.kind === "unknown") return "it is not known whether the closing order was executed";
  if (order?.state.kind === "submitted") return `the closing order has not been answered for ${seconds}`;
  if (order !== undefined && isResting(order)) return undefined;
  return rest?.reason ?? `the closing order has not left for ${seconds}`;
};
