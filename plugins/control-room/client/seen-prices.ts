/**
 * Prices that the page has seen: the last price of each instrument over time, for charts of instruments without bars.
 *
 * Invariants: instants of an instrument rise; at most `seenMax` prices of each are kept, the newest.
 */
import type { SourceState } from "./source-state.ts";

export interface PriceLine {
  readonly at: number[];
  readonly px: number[];
}

const seenMax = 4_000;

export class SeenPrices {
  readonly #lines = new Map<string, PriceLine>();

  of(instId: string): PriceLine | undefined {
    return this.#lines.get(instId);
  }

  /** Takes the current price of each instrument. */
  note(state: SourceState): void {
    for (const { instId, last, bid, ask, at } of state.rows("markets").values()) {
      const middle = bid === "" || ask === "" ? Number(bid) || Number(ask) : (Number(bid) + Number(ask)) / 2;
      const px = middle || Number(last);
      if (!(px > 0)) continue;
      const line = this.#lines.get(instId) ?? { at: [], px: [] };
      this.#lines.set(instId, line);
      const before = line.at.at(-1) ?? Number.NEGATIVE_INFINITY;
      // Another run or an earlier instant of a played one.
      if (at < before) line.at.length = line.px.length = 0;
      if (at === before) continue;
      line.at.push(at);
      line.px.push(px);
      if (line.at.length <= seenMax) continue;
      line.at.splice(0, seenMax / 4);
      line.px.splice(0, seenMax / 4);
    }
  }
}
