/**
 * The stretch of time that the charts of a running engine show: it follows the present until someone looks elsewhere.
 *
 * Invariants: the stretch stays within what there is, and is never shorter than a second; while it follows, its end is the present; all
 * charts of a page share one.
 * Not here: what pointer and keys ask of it (ui-kit/client/view.ts).
 */
import type { Span } from "../../ui-kit/client/pane.ts";
import type { View } from "../../ui-kit/client/view.ts";

const spanMin = 1_000;

export class LiveSpan implements View {
  #from = 0;
  #to = 1;
  #span: Span = { from: 0, to: 1 };
  /** Length that follows; undefined for everything. */
  #length: number | undefined;
  #follows = true;
  #changed;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  get span() {
    return this.#span;
  }

  get follows() {
    return this.#follows;
  }

  get whole() {
    const [least, most] = this.#edges;
    return most - least;
  }

  /** There is data from here to there. */
  reach(from: number, to: number) {
    this.#from = from;
    this.#to = Math.max(to, from + spanMin);
    if (this.#follows) this.#settle();
  }

  /** Follows the present with so much of the past; undefined for all of it. */
  last(ms: number | undefined) {
    this.#length = ms;
    this.#follows = true;
    this.#settle();
    this.#changed();
  }

  set(from: number, to: number) {
    const [least, most] = this.#edges;
    const length = Math.min(most - least, Math.max(spanMin, to - from));
    const begin = Math.min(most - length, Math.max(least, from));
    this.#span = { from: begin, to: begin + length };
    // At the right edge it follows again, as long as it is now.
    this.#follows = begin + length >= most - 0.002 * length;
    if (this.#follows) this.#length = begin <= least ? undefined : length;
    this.#changed();
  }

  pan(share: number) {
    const { from, to } = this.#span;
    const by = share * (to - from);
    this.set(from + by, to + by);
  }

  zoom(factor: number, at: number = this.#follows ? this.#span.to : (this.#span.from + this.#span.to) / 2) {
    const { from, to } = this.#span;
    this.set(at - (at - from) * factor, at + (to - at) * factor);
  }

  all() {
    this.last(undefined);
  }

  get #edges() {
    const air = (this.#to - this.#from) * 0.01;
    return [this.#from - air, this.#to + air] as const;
  }

  #settle() {
    const [least, most] = this.#edges;
    this.#span = { from: this.#length === undefined ? least : Math.max(least, most - this.#length), to: most };
  }
}
