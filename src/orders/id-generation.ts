/**
 * Generation of the next client order id: a number that no order of this run or of a previous one has.
 *
 * Invariants: it only rises within a run; a run whose journal is gone goes on after all that the service shows of previous runs and
 * after what these may have sent besides, and so does not repeat the id of an order that is still on its way.
 * Not here: how an id is spelled (client-order-id.ts).
 */
import { generations } from "./client-order-id.ts";

/** Generations count half seconds of the calendar at least: quota allows no run to place faster for longer than a burst. */
const generationMs = 500;
/**
 * A previous run whose journal is gone may have sent more orders than the service shows: some are still on their way, some too
 * young for its lists. No key lets more leave while an answer is waited for.
 */
const unseenMax = 100;
/** Runs that begin within so many seconds of each other, and were shown the same, go on at different places. */
const startsApart = 32;

export class IdGeneration {
  readonly #first: number;
  readonly #startSecond: number;
  #next: number;

  /** `wallNow`: the calendar as the run begins, in milliseconds. */
  constructor(wallNow: number) {
    this.#first = Math.floor(wallNow / generationMs) % generations;
    this.#next = this.#first;
    this.#startSecond = Math.floor(wallNow / 1_000);
  }

  next(): number {
    return this.#next++;
  }

  /**
   * A generation was seen in use. If it is a previous run's, ours go on after those which that run may have used unseen, and apart from
   * those of a run between the two that went on after the same one.
   */
  seen(used: number): void {
    const isOurs = used >= this.#first && used < this.#next;
    if (isOurs || used + unseenMax < this.#next) return;
    this.#next = used + 1 + unseenMax * (1 + (this.#startSecond % startsApart));
  }
}
