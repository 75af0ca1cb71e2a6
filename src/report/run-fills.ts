/**
 * Fills of a run in real time one by one, and prices from them and from samples, for its page.
 *
 * Invariants: at most `keptMax` fills, the latest; prices are whole numbers of a unit that is fine enough for all of
 * them.
 * Not here: sums over fills (trade-statistics.ts).
 */
import { isPositive } from "../decimal.ts";
import type { Fill } from "../venue/venue.ts";
import type { FillDetail } from "./details.ts";
import type { PriceLine } from "./price-lines.ts";

export class RunFills {
  readonly #keptMax: number;
  readonly #all: FillDetail[] = [];

  constructor(keptMax: number) {
    this.#keptMax = keptMax;
  }

  get all(): readonly FillDetail[] {
    return this.#all;
  }

  /** `strategy` is empty where no strategy placed the order. */
  take({ clOrdId, instId, side, px, qty, cost, liquidity }: Fill, at: number, strategy: string): void {
    this.#all.push({ at, strategy, clOrdId, instId, side, px, qty, fee: cost, liquidity });
    if (this.#all.length > this.#keptMax) this.#all.shift();
  }

  /** Every known price of each instrument that was traded, in time: those of samples and of fills. */
  prices(
    samples: readonly { readonly at: number; readonly prices: ReadonlyMap<string, string> }[],
  ): readonly PriceLine[] {
    const lines = new Map<string, Point[]>();
    const note = (instId: string, at: number, px: string): void => {
      if (!isPositive(px)) return;
      const points = lines.get(instId);
      if (points === undefined) lines.set(instId, [{ at, px }]);
      else points.push({ at, px });
    };
    for (const { at, prices } of samples) for (const [instId, px] of prices) note(instId, at, px);
    for (const { at, instId, px } of this.#all) note(instId, at, px);
    return [...lines].map(([instId, points]) =>
      lineOf(
        instId,
        points.sort((a, b) => a.at - b.at),
      ),
    );
  }
}

interface Point {
  readonly at: number;
  readonly px: string;
}

const fractionOf = (px: string): string => px.split(".")[1] ?? "";

const lineOf = (instId: string, points: readonly Point[]): PriceLine => {
  const digits = points.reduce((most, { px }) => Math.max(most, fractionOf(px).length), 0);
  const whole = points.map(({ px }) => Number(`${px.split(".")[0]}${fractionOf(px).padEnd(digits, "0")}`));
  const unit = digits === 0 ? "1" : `0.${"1".padStart(digits, "0")}`;
  return {
    instId,
    of: "quote",
    barMs: 0,
    unit,
    at: points.map(({ at }) => Math.round(at)),
    open: whole,
    high: whole,
    low: whole,
    close: whole,
  };
};
