/**
 * Invariants of the quota: which client caused a refusal by a limit, and whether cancels stay affordable.
 *
 * Invariants: judged by the service's own windows at the instant of arrival; what other clients did in a window excuses
 * that window and no other.
 */
import { type Contract, limitedStatus, type WireRequest, type WireResponse } from "sluice/dialect";
import { defaultReserve, limitHeaders } from "sluice/extension";
import type { Invariant } from "./invariants.ts";

/**
 * After a rejection by a minute's limit an engine may send this many more requests in that minute: one after two
 * seconds, and where that is rejected as well, looks for the minute's end, each after about twice as long.
 */
const intoShutMax = 4;
/**
 * Refusals that a process may receive while it discovers limits that differ from their description: twice the number of
 * requests that one key can send before their answers are read.
 */
const foundOut = { refusals: 24, withinMs: 600_000 };
/**
 * Distance from the end of a window below which the reserve may have been lent, and the windows cannot be
 * distinguished.
 */
const edgeMs = 3_000;

export class QuotaInvariants {
  readonly counts = { refused: 0, excused: 0 };
  readonly #isQuirky: boolean;
  readonly #layer: Contract["layers"]["uid"];
  readonly #serviceNow: () => number;
  readonly #fail: (invariant: Invariant, text: string) => void;
  readonly #foundOutAt: number[] = [];
  readonly #leftInto = new WeakMap<WireRequest, boolean>();
  #excusedUntil = Number.NEGATIVE_INFINITY;
  #shutMinute = Number.NEGATIVE_INFINITY;
  #intoShut = 0;

  /**
   * `isQuirky`: the service's limits differ from their description in some way, which a client finds out by refusals.
   */
  constructor(
    { layers }: Contract,
    serviceNow: () => number,
    fail: (invariant: Invariant, text: string) => void,
    isQuirky: boolean,
  ) {
    this.#isQuirky = isQuirky;
    this.#layer = layers.uid;
    this.#serviceNow = serviceNow;
    this.#fail = fail;
  }

  /** Another client or fault weighs on the present window. */
  excuse(): void {
    this.#excusedUntil = Math.max(this.#excusedUntil, this.#windowEnd());
  }

  /** The service's clock has moved: windows cannot be distinguished for a while. */
  excuseFor(ms: number): void {
    this.#excusedUntil = Math.max(this.#excusedUntil, this.#serviceNow() + ms);
  }

  /** Starts a process without knowledge of earlier refusals. */
  begin(): void {
    this.#foundOutAt.length = 0;
  }

  left(request: WireRequest): void {
    this.#leftInto.set(request, this.#minute() === this.#shutMinute);
  }

  /** The engine got an answer: a refusal by a limit shuts the minute in its eyes, anything else opens it. */
  heard(refused: boolean): void {
    if (refused && this.#isQuirky) this.#findOut();
    if (!refused) this.#shutMinute = Number.NEGATIVE_INFINITY;
    if (!refused || this.#shutMinute === this.#minute()) return;
    this.#shutMinute = this.#minute();
    this.#intoShut = 0;
  }

  arrived(request: WireRequest, { status, headers }: WireResponse, liveOrders: number): void {
    const { endpoint } = request;
    const excused = this.#serviceNow() < this.#excusedUntil;
    if (status === limitedStatus) {
      this.counts.refused++;
      // With different limits, refusals are judged when the process receives them.
      if (excused || this.#isQuirky) this.counts.excused++;
      else this.#fail("I7", `${endpoint} is refused by a limit (${JSON.stringify(headers)})`);
      if (!this.#isQuirky) this.#checkShut(request, headers);
      return;
    }
    const used = Number(headers[limitHeaders.uidUsed]);
    if (
      endpoint !== "placeOrder" ||
      excused ||
      this.#isQuirky ||
      Number.isNaN(used) ||
      this.#windowEnd() - this.#serviceNow() < edgeMs
    )
      return;
    const { exitWeight, ordersPerExit } = defaultReserve;
    const needed = exitWeight * Math.ceil(liveOrders / ordersPerExit);
    const rest = this.#layer.capacity - used;
    if (rest < needed)
      this.#fail("I5", `${rest} weight is left of the minute while cancelling ${liveOrders} orders takes ${needed}`);
  }

  /** Counts a refusal that the process received, from which it learns the different limits. */
  #findOut(): void {
    const now = this.#serviceNow();
    if (now < this.#excusedUntil) return;
    while ((this.#foundOutAt[0] ?? now) < now - foundOut.withinMs) this.#foundOutAt.shift();
    this.#foundOutAt.push(now);
    const count = this.#foundOutAt.length;
    if (count > foundOut.refusals)
      this.#fail("I7", `a process received ${count} refusals within ten minutes and has not learned the limits`);
  }

  #minute(): number {
    return Math.floor(this.#serviceNow() / this.#layer.windowMs);
  }

  #windowEnd(): number {
    return (this.#minute() + 1) * this.#layer.windowMs;
  }

  #checkShut(request: WireRequest, headers: WireResponse["headers"]): void {
    // The key's second opens again at once; only the minute stays shut.
    if (headers[limitHeaders.keyRemaining] === "0" || this.#leftInto.get(request) !== true) return;
    if (++this.#intoShut > intoShutMax)
      this.#fail("I7", `${request.endpoint} is the ${this.#intoShut}th request into a minute known to be shut`);
  }
}
