/**
 * Entry of a window that may not have begun: one call goes ahead, and the others follow when its answer tells.
 *
 * Invariants: what the window before could hold as well need not wait; a call that is long in being answered holds
 * nothing up.
 */
import type { CountDoubt } from "./count-doubt.ts";
import type { HeardCounts } from "./heard-counts.ts";
import type { LayerSpec } from "./layers.ts";
import type { WindowPhase } from "./window-phase.ts";
import type { WindowUsage } from "./window-usage.ts";

interface Parts {
  readonly spec: LayerSpec;
  readonly phase: WindowPhase;
  readonly heard: HeardCounts;
  readonly usage: WindowUsage;
  readonly doubt: CountDoubt;
}

const retryMs = 1_000;

export class WindowEntry {
  readonly #parts: Parts;
  #enteredAt = Number.NEGATIVE_INFINITY;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Only the calendar says that `index` has begun, and less than a window's length ago another one told a count. */
  isUnproved(index: number, now: number): boolean {
    const { heard, phase, spec } = this.#parts;
    const { top } = heard;
    return top !== undefined && top.window < index && now - top.at < spec.windowMs && !phase.proves(index, now);
  }

  /** When a call into `index` may ask again that has to let another one go ahead; undefined when it need not. */
  blockedUntil(index: number, units: number, now: number): number | undefined {
    return this.#mustWait(index, units, now) ? now + Math.min(this.#parts.spec.windowMs, retryMs) : undefined;
  }

  noteBegun(index: number, now: number): void {
    if (this.isUnproved(index, now)) this.#enteredAt = now;
  }

  #mustWait(index: number, units: number, now: number): boolean {
    const { doubt, heard, spec, usage } = this.#parts;
    if (doubt.current !== undefined) return doubt.holds(index, now);
    if (!this.isUnproved(index, now)) return false;
    const before = heard.top?.used ?? 0;
    if (before + usage.used(index) + units <= spec.capacity) return false;
    return usage.openIn(index) > 0 && now - this.#enteredAt < retryMs;
  }
}
