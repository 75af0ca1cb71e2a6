/**
 * Use of one layer by one scope (an address, a user, a key), window by window.
 *
 * Invariants: an unanswered request counts in the earliest window that it can have reached and in every later one; an
 * answered request counts where it certainly landed, or in each window in which it may have landed. A higher count by
 * the service replaces ours, plus the units that it cannot include, unless nothing but our calls was ever counted. If
 * only our calls count, a count above the answered units proves that unanswered requests landed, and those count in no
 * later window. A silent request counts in no later window either, if many in a row were never answered while later
 * calls were.
 * Not here: which window is open (server-clock.ts), who may use the rest (reserve.ts).
 */
import { type Slot, type WindowCounts, WindowSlots, windowsMax } from "./window-slots.ts";

/**
 * Certain use of the window in which a request leaves, and use without a count that the answer will include.
 */
interface Departure {
  readonly reported: number;
  readonly unheard: number;
  readonly settled: number;
}

/** Number of windows that are kept while no answer is long overdue. */
const keptWindows = 4;
/** Number of windows for which use that was not ours is expected again. */
const strayWindows = 300;
/** A call is silent when calls begun this many windows later are answered and it is not. */
const silentWindows = 3;
/**
 * Number of silent calls in a row that were never answered before the next is assumed lost. It doubles each time that
 * one was answered after all.
 */
const silentLeast = 20;
const silentMost = 640;

export class WindowUsage {
  /** No request leaves before the window after this one has certainly begun. */
  closedThrough = Number.NEGATIVE_INFINITY;
  readonly windows = new WindowSlots();
  /** Total of unanswered weight. */
  open = 0;
  /** Part of the capacity that is missing at the service, according to its answers. */
  missing = 0;
  /** True if some window had more reported use than ours. */
  seesOthers = false;
  /**
   * The newest window in which something was missing that later was not: it was used, by others or by duplicates of our
   * calls.
   */
  strayIn = Number.NEGATIVE_INFINITY;
  /** True if only our calls count. Use beyond the answered requests then belongs to unanswered ones. */
  readonly isOurs: boolean;
  /** Silent calls begun in this window or before are assumed lost: they count in no window to come. */
  #lostThrough = Number.NEGATIVE_INFINITY;
  /** Number of silent calls in a row that were given up without a trace in any count. */
  #unheardOf = 0;
  #unheardOfLeast = silentLeast;

  constructor(isOurs = false) {
    this.isOurs = isOurs;
  }

  /** True if occasionally something is used that is not ours. */
  get unsteady(): boolean {
    return this.windows.last - this.strayIn < strayWindows;
  }

  /** Unanswered weight that is not proved to have landed. */
  get unlanded(): number {
    return this.isOurs ? this.#inFlight(Number.POSITIVE_INFINITY) : this.open;
  }

  /**
   * The window by which all unanswered weight begun by `began` has landed, as counts prove; infinite without proof.
   */
  landedBy(began: number): number {
    if (!this.isOurs) return Number.POSITIVE_INFINITY;
    const own = this.windows.find(began);
    // Use that a window counts beyond the answered calls is attributed to calls begun in it.
    if (own !== undefined && own.open > 0 && own.reported > own.settled && this.#landedIn(own, own.open) === own.open)
      return began;
    let inFlight = this.windows.carried;
    for (let position = 0; position < this.windows.all.length; position++) {
      const slot = this.windows.all[position] as Slot;
      inFlight += slot.open;
      if (inFlight > 0 && slot.reported > slot.settled) inFlight -= this.#landedIn(slot, inFlight);
      if (slot.index >= began && inFlight === 0) return slot.index;
    }
    return Number.POSITIVE_INFINITY;
  }

  /**
   * Weight that the service may count in the fullest of windows `index..last`: answered, reported and everything in
   * flight.
   */
  used(index: number, last = index): number {
    let inFlight = this.windows.carried;
    let lost = 0;
    let most = Number.NEGATIVE_INFINITY;
    // If nothing but our calls is counted, `settled` holds all of it that was answered, and nothing is added to a count.
    const isAlone =
      this.isOurs && this.missing === 0 && !this.seesOthers && this.windows.last - this.strayIn >= strayWindows;
    const slots = this.windows.all;
    for (let position = 0; position < slots.length; position++) {
      const slot = slots[position] as Slot;
      if (slot.index > last) break;
      inFlight += slot.open;
      if (slot.index <= this.#lostThrough) lost += slot.open;
      if (slot.index >= index) {
        const unheard = isAlone ? 0 : slot.unheard - slot.included;
        most = Math.max(most, Math.max(slot.settled + this.missing, slot.reported + unheard) + inFlight - lost);
      }
      if (this.isOurs && inFlight > 0 && slot.reported > slot.settled) {
        const landed = this.#landedIn(slot, inFlight);
        inFlight -= landed;
        lost = Math.max(0, lost - landed);
      }
    }
    // A window without counts holds no more than a neighbour with counts.
    return most === Number.NEGATIVE_INFINITY ? this.missing + inFlight - lost : most;
  }

  /** Unanswered weight that left when `index` was the earliest window that it could reach. */
  openIn(index: number): number {
    return this.windows.find(index)?.open ?? 0;
  }

  /** Same, for `index` and all later windows. */
  openFrom(index: number): number {
    let open = 0;
    for (const slot of this.windows.all) if (slot.index >= index) open += slot.open;
    return open;
  }

  /** True if a count of window `index` was received. */
  heard(index: number): boolean {
    return (this.windows.find(index)?.reported ?? 0) > 0;
  }

  /** Counts of window `index` without unanswered requests. */
  countsOf(index: number): WindowCounts {
    return this.windows.of(index);
  }

  /** Own use of window `index`: answered, and with everything under way that can land in it. */
  ownOf(index: number): { readonly begun: number; readonly settled: number; readonly reported: number } {
    let begun = this.windows.carried;
    let settled = 0;
    let reported = 0;
    for (const slot of this.windows.all) {
      if (slot.index > index) break;
      begun += slot.open;
      if (slot.index === index) ({ settled, reported } = slot);
    }
    return { begun: begun + settled, settled, reported };
  }

  foreign(index: number): number {
    return this.windows.find(index)?.foreign ?? 0;
  }

  /**
   * Called when a request leaves that lands in window `first` or later. Returns the counts of that window. They change
   * with the next call, so they have to be read at once.
   */
  begin(first: number, weight: number): Departure {
    this.open += weight;
    const newest = this.windows.newest;
    if (newest !== undefined && newest.index === first) {
      newest.open += weight;
      if (this.windows.all.length > keptWindows) this.#prune(first);
      return newest;
    }
    const slot = this.windows.of(first);
    // A window older than all that are kept is dropped at once, and its weight would be lost with it.
    if (first < (this.windows.all[0] as Slot).index) this.windows.carried += weight;
    else slot.open += weight;
    this.#prune(first);
    return slot;
  }

  /**
   * Called when the request begun at window `began` is answered: it landed in one of `first..last`. Unless it was
   * `told` how much of that window was used with it, the service may have counted it after all that it reported.
   * Returns the counts of the last one.
   */
  end(began: number, first: number, last: number, weight: number, told = false): WindowCounts {
    const newest = this.windows.newest;
    // If the connection stalls, all answers come later. Silence shows a loss only while other calls are answered.
    if (this.#unheardOf >= this.#unheardOfLeast) this.#lostThrough = Math.max(this.#lostThrough, began - silentWindows);
    if (newest !== undefined && newest.index === began && first === began && last === began) {
      // Most land in the window they were begun in, and are answered in it.
      this.open -= weight;
      newest.open -= weight;
      newest.settled += weight;
      if (!told) newest.unheard += weight;
      return newest;
    }
    if (last - began >= silentWindows) this.#hearOfSilent();
    const to = first === last ? last : Math.max(first, Math.min(last, this.landedBy(began)));
    this.undo(began, weight);
    let index = Math.max(first, to - windowsMax + 1);
    for (;;) {
      const slot = this.windows.of(index);
      slot.settled += weight;
      if (!told) slot.unheard += weight;
      if (++index > to) return slot;
    }
  }

  /**
   * Called when the request begun at window `began` failed unread by window `last`. It landed in any of those windows,
   * or in none.
   */
  lose(began: number, last: number, weight: number): void {
    const landedBy = this.landedBy(began);
    if (this.isOurs && last - began >= silentWindows && landedBy > last) this.#unheardOf++;
    const to = Math.min(last, landedBy);
    const isTold = to === began && to < last;
    this.undo(began, weight);
    if (began <= this.#lostThrough) return;
    for (let index = Math.max(began, to - windowsMax + 1); index <= to; index++) {
      const slot = this.windows.of(index);
      if (began < index && index < last && this.#landedIn(slot, slot.open) > 0) continue;
      slot.settled += weight;
      if (!isTold) slot.unheard += weight;
    }
  }

  /** Called when the request begun at window `began` never left. */
  undo(began: number, weight: number): void {
    this.open -= weight;
    const oldest = this.windows.all[0]?.index ?? Number.POSITIVE_INFINITY;
    if (began < oldest) this.windows.carried -= weight;
    else this.windows.of(began).open -= weight;
  }

  /**
   * Called when the service reported `used` of window `index`, including the answered request and the part of that
   * window that was `unheard` when it left. Returns new use by others.
   */
  report(index: number, used: number, unheard = 0): number {
    const { newest } = this.windows;
    const slot = newest?.index === index ? newest : this.windows.of(index);
    slot.reported = Math.max(slot.reported, used);
    if (this.isOurs) slot.lacked = Math.max(slot.lacked, this.missing, used - slot.settled - this.#inFlight(index));
    // A request from before a reset may bring more than there is.
    slot.included = Math.max(slot.included, Math.min(unheard, slot.unheard));
    const fresh = Math.max(0, used - slot.settled - this.open - slot.foreign - slot.adopted - this.missing);
    if (fresh === 0) return 0;
    slot.foreign += fresh;
    this.seesOthers = true;
    this.#hearOfSilent();
    return fresh;
  }

  /** Records that window `index` is the one in which `used` was counted before, by any client. */
  adopt(index: number, used: number): void {
    const slot = this.windows.of(index);
    slot.reported = Math.max(slot.reported, used);
    slot.adopted = Math.max(slot.adopted, used - slot.settled - slot.foreign);
  }

  /**
   * The remaining quota of window `index`, reported with `used`, bounds the missing part: at least the use that is not
   * ours, and at most the units that have not certainly landed.
   */
  learnMissing(index: number, used: number): void {
    const { settled, reported } = this.windows.of(index);
    const inFlight = this.isOurs ? this.#inFlight(index) : this.open;
    const before = this.missing;
    this.missing = Math.max(0, used - settled - inFlight, Math.min(before, Math.max(used, reported) - settled));
    if (this.missing < before) this.strayIn = index;
  }

  /**
   * Same as `learnMissing`, for a quota that others also use. Use that is not ours is missing capacity if it was gone
   * at the first count of a `young` window, or if it rose by more than `leap` at once. The rest is use by others.
   */
  learnShortfall(index: number, used: number, young: boolean, leap: number): void {
    const { newest } = this.windows;
    const { settled, reported, foreign, adopted } = newest?.index === index ? newest : this.windows.of(index);
    const others = Math.max(0, used - settled - this.open - foreign - adopted);
    if (reported === 0 ? young : others - this.missing > leap) this.missing = others;
    this.missing = Math.max(0, Math.min(this.missing, used - settled));
  }

  /**
   * Called when windows have lost their meaning. Only calls in flight are kept, and they count in every window to come.
   */
  reset(): void {
    this.windows.forget(this.open);
    this.seesOthers = false;
    this.#lostThrough = Number.NEGATIVE_INFINITY;
    this.closedThrough = Number.NEGATIVE_INFINITY;
  }

  /**
   * Called when calls that leave from now on cannot land before `first`. Counts of a window may still show where
   * unanswered weight landed.
   */
  #prune(first: number): void {
    const { windows } = this;
    while (windows.all.length > keptWindows && (windows.all[0] as Slot).index < first - 1) {
      if (this.isOurs && windows.carried + (windows.all[0] as Slot).open > 0) return;
      windows.forgetOldest();
    }
  }

  /** Called when a silent call landed or may have landed: none is assumed lost until more of them had no answer. */
  #hearOfSilent(): void {
    this.#lostThrough = Number.NEGATIVE_INFINITY;
    this.#unheardOf = 0;
    this.#unheardOfLeast = Math.min(silentMost, this.#unheardOfLeast * 2);
  }

  /** Unanswered weight that can land in window `index`: begun by then, and not proved to have landed earlier. */
  #inFlight(index: number): number {
    let inFlight = this.windows.carried;
    let lost = 0;
    for (const slot of this.windows.all) {
      if (slot.index > index) break;
      inFlight += slot.open;
      if (slot.index <= this.#lostThrough) lost += slot.open;
      if (slot.index >= index || inFlight === 0 || slot.reported <= slot.settled) continue;
      const landed = this.#landedIn(slot, inFlight);
      inFlight -= landed;
      lost = Math.max(0, lost - landed);
    }
    return inFlight - lost;
  }

  /**
   * Part of the unanswered weight that can have landed in a window and that the service's count of it includes. It is
   * not zero only for a count above the answered units.
   */
  #landedIn({ adopted, lacked, reported, settled }: Slot, inFlight: number): number {
    if (!this.isOurs || adopted > 0) return 0;
    return Math.max(0, Math.min(inFlight, reported - settled - Math.max(lacked, this.missing)));
  }
}
