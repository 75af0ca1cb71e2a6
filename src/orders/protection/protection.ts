/**
 * Protection of one position or part of it: how much it covers, at what average price, and whether a price has
 * triggered it. Pure.
 *
 * Invariants: an order counts with what it has executed in all, so that being told twice changes nothing; once
 * triggered it stays so until nothing is left to close; the stop of a bar is looked for before its best price moves the
 * stop.
 * Not here: orders and events (protections.ts), levels (protect.ts).
 */
import { isCancelable, type Profile, type Side } from "../../contract/profile.ts";
import { add, compare, isPositive, isZero, mul, sub } from "../../decimal.ts";
import type { ProtectionKind, ProtectionRecord } from "../../journal/protection-records.ts";
import {
  averageOf,
  isAtOrBeyond,
  type Protect,
  stopPxOf,
  type Trigger,
  takeProfitPxOf,
  trailingPxOf,
} from "./protect.ts";

/**
 * Prices since `since` (milliseconds of the engine's clock), `px` the latest; one price three times where they are no
 * bar's.
 */
export interface PriceRange {
  readonly px: string;
  readonly low: string;
  readonly high: string;
  readonly since: number;
}

interface Hit {
  readonly kind: ProtectionKind;
  readonly triggerPx: string;
  /** That reached it. */
  readonly px: string;
}

interface StandingStop {
  readonly kind: "stopLoss" | "trailing";
  readonly px: string;
}

/** How much of an entry order was executed in all, and at what price. */
interface EntryFill {
  readonly clOrdId: string;
  readonly filled: string;
  readonly value: string;
}

/** Prices of a protection as long as its entry, side and words stay the same. */
interface Levels {
  readonly protect: Protect;
  readonly side: Side;
  readonly tick: string;
  readonly stopPx: string | undefined;
  readonly takeProfitPx: string | undefined;
}

type Name = Pick<ProtectionRecord, "strategy" | "name" | "instId" | "scope" | "exitSlot">;

export class Protection {
  readonly name: Name;
  /** Of the order that closes: `sell` for a long position. */
  side: Side;
  protect: Protect;
  /** Covered, in base currency. */
  qty = "0";
  hit: Hit | undefined = undefined;
  /** It was armed at this instant: bars that began before tell of it by their close only. */
  armedAt = Number.POSITIVE_INFINITY;
  /** A previous run left it, and the strategy has not spoken of it yet. */
  inherited = false;
  /** No price was seen since a previous run left it. */
  unseen = false;
  #entryQty = "0";
  #entryValue = "0";
  #extreme: string | undefined;
  /** Looked at with every price: worked out again only when the entry has changed. */
  #levels: Levels | undefined;
  /** Orders of a previous run that may have executed and are not found yet: until then nothing held is no end. */
  readonly #awaited = new Set<string>();
  readonly #mayRest: boolean;
  /** Executed quantity and its value of orders that are not over, by client order id. */
  readonly #counted = new Map<string, readonly [filled: string, value: string]>();

  constructor(name: Name, side: Side, protect: Protect, profile: Profile) {
    this.#mayRest = isCancelable(name.instId, profile);
    this.name = name;
    this.side = side;
    this.protect = protect;
  }

  /** The take-profit rests at the service: only where it can be canceled, as it would keep a stop from leaving. */
  get restsProfit(): boolean {
    return this.#mayRest && this.protect.takeProfitAs === "limit";
  }

  get trigger(): Trigger {
    return this.protect.trigger ?? "best";
  }

  get avgPx(): string {
    return averageOf(this.#entryValue, this.#entryQty);
  }

  /** An entry order that has executed so much in all. */
  entered({ clOrdId, filled, value }: EntryFill): void {
    const [before, valueBefore] = this.#counted.get(clOrdId) ?? ["0", "0"];
    const more = sub(filled, before);
    if (!isPositive(more)) return;
    this.#counted.set(clOrdId, [filled, value]);
    // What was closed takes the average price with it.
    this.#beginWhenFlat();
    this.qty = add(this.qty, more);
    this.#enter(add(this.#entryQty, more), add(this.#entryValue, sub(value, valueBefore)));
  }

  /** An order that closes it has executed so much in all; the increase is returned. */
  exited(clOrdId: string, filled: string): string {
    const [before] = this.#counted.get(clOrdId) ?? ["0"];
    const more = sub(filled, before);
    if (!isPositive(more)) return "0";
    this.#counted.set(clOrdId, [filled, "0"]);
    const left = sub(this.qty, more);
    this.qty = isPositive(left) ? left : "0";
    return more;
  }

  /** Covers all of a position at its average price. */
  cover(side: Side, qty: string, avgPx: string): void {
    if (side !== this.side) this.#begin();
    else this.#beginWhenFlat();
    this.side = side;
    this.qty = qty;
    this.#enter(qty, mul(qty, avgPx));
  }

  /** The order's record has come, and what it executed is counted. */
  found(clOrdId: string): void {
    if (this.#awaited.size > 0) this.#awaited.delete(clOrdId);
  }

  /** The order is over and will execute nothing more. */
  forget(clOrdId: string): void {
    this.#counted.delete(clOrdId);
  }

  /** Some order of it is not over, or not found. */
  get isOpen(): boolean {
    return this.#counted.size > 0 || this.#awaited.size > 0;
  }

  stopPx(tick: string): string | undefined {
    return this.#levelsAt(tick).stopPx;
  }

  takeProfitPx(tick: string): string | undefined {
    return this.#levelsAt(tick).takeProfitPx;
  }

  /** Where the trailing stop stands; undefined before it is active. */
  trailingPx(): string | undefined {
    return this.#extreme === undefined ? undefined : trailingPxOf(this.side, this.protect, this.#extreme);
  }

  /** Prices that trigger it, or from which its trailing stop follows. */
  levels(tick: string): readonly string[] {
    const { trailing } = this.protect;
    const all = [
      this.stopPx(tick),
      this.restsProfit ? undefined : this.takeProfitPx(tick),
      this.trailingPx() ?? trailing?.activePx,
    ];
    return all.filter((px) => px !== undefined);
  }

  /** What these prices trigger, if anything; the trailing stop follows them. */
  see(range: PriceRange, tick: string): Hit | undefined {
    const whole = range.since >= this.armedAt;
    const worst = whole ? (this.side === "sell" ? range.low : range.high) : range.px;
    const best = whole ? (this.side === "sell" ? range.high : range.low) : range.px;
    const hit = this.#stopAt(worst, tick) ?? this.#profitAt(best, tick);
    if (hit !== undefined) return hit;
    this.#follow(best);
    const trailing = this.trailingPx();
    if (trailing === undefined || !isAtOrBeyond(this.side, range.px, trailing)) return undefined;
    return { kind: "trailing", triggerPx: trailing, px: range.px };
  }

  /** The fixed stop, or the trailing one where that is nearer to the price. */
  standingStop(tick: string, extreme = this.#extreme): StandingStop | undefined {
    const stop = this.stopPx(tick);
    const trailing = extreme === undefined ? undefined : trailingPxOf(this.side, this.protect, extreme);
    const isTrailing = trailing !== undefined && (stop === undefined || !isAtOrBeyond(this.side, trailing, stop));
    const px = isTrailing ? trailing : stop;
    return px === undefined ? undefined : { kind: isTrailing ? "trailing" : "stopLoss", px };
  }

  /**
   * Returns the price at which straight lines between the prices of `path` close it. A resting take-profit counts like
   * a held one.
   */
  exitOn(path: readonly string[], tick: string): string | undefined {
    const profit = this.takeProfitPx(tick);
    let extreme = this.#extreme;
    for (const px of path) {
      const stop = this.standingStop(tick, extreme);
      if (stop !== undefined && isAtOrBeyond(this.side, px, stop.px)) return stop.px;
      if (profit !== undefined && isAtOrBeyond(this.side, profit, px)) return profit;
      extreme = this.#extremeAfter(px, extreme);
    }
    return undefined;
  }

  record(ended = false): ProtectionRecord {
    const { name, side, protect, qty, hit } = this;
    return {
      ...name,
      side,
      protect,
      qty: ended ? "0" : qty,
      entryQty: this.#entryQty,
      entryValue: this.#entryValue,
      ...(this.#extreme !== undefined && { extreme: this.#extreme }),
      ...(hit !== undefined && { hit }),
      counted: Object.fromEntries(this.#counted),
      ...(ended && { ended }),
    };
  }

  /**
   * As a previous run left it, less what orders did that may still execute (`open` by client order id, those of its
   * strategy and instrument): they are counted anew, in all, when their records are found. Until then what was
   * triggered stays so, and a trailing stop where it was.
   */
  restore({ qty, entryQty, entryValue, extreme, hit, counted }: ProtectionRecord, open: readonly string[]): void {
    this.qty = qty;
    this.#enter(entryQty, entryValue);
    this.#extreme = extreme;
    this.hit = hit;
    this.inherited = true;
    this.unseen = true;
    for (const clOrdId of open) {
      const [filled, value] = counted[clOrdId] ?? [undefined, "0"];
      if (filled === undefined && this.name.scope === "order") continue;
      this.#awaited.add(clOrdId);
      if (filled === undefined) continue;
      if (value === "0") this.qty = add(this.qty, filled);
      else {
        this.qty = sub(this.qty, filled);
        this.#enter(sub(this.#entryQty, filled), sub(this.#entryValue, value));
      }
    }
    if (!isPositive(this.qty)) this.qty = "0";
  }

  #enter(qty: string, value: string): void {
    this.#entryQty = qty;
    this.#entryValue = value;
    this.#levels = undefined;
  }

  #levelsAt(tick: string): Levels {
    const { side, protect } = this;
    const known = this.#levels;
    if (known !== undefined && known.protect === protect && known.side === side && known.tick === tick) return known;
    const { avgPx } = this;
    const stopPx = stopPxOf(side, protect, avgPx, tick);
    this.#levels = { protect, side, tick, stopPx, takeProfitPx: takeProfitPxOf(side, protect, avgPx, tick) };
    return this.#levels;
  }

  #beginWhenFlat(): void {
    if (isZero(this.qty) && this.#awaited.size === 0) this.#begin();
  }

  #begin(): void {
    this.#enter("0", "0");
    this.#extreme = undefined;
    if (this.name.scope === "position") this.hit = undefined;
  }

  #stopAt(px: string, tick: string): Hit | undefined {
    const stop = this.standingStop(tick);
    if (stop === undefined || !isAtOrBeyond(this.side, px, stop.px)) return undefined;
    return { kind: stop.kind, triggerPx: stop.px, px };
  }

  #profitAt(px: string, tick: string): Hit | undefined {
    if (this.restsProfit) return undefined;
    const level = this.takeProfitPx(tick);
    return level !== undefined && isAtOrBeyond(this.side, level, px)
      ? { kind: "takeProfit", triggerPx: level, px }
      : undefined;
  }

  #follow(px: string): void {
    if (this.protect.trailing !== undefined) this.#extreme = this.#extremeAfter(px, this.#extreme);
  }

  /** The best price since the entry that a trailing stop follows, once `px` was seen. */
  #extremeAfter(px: string, extreme: string | undefined): string | undefined {
    const activePx = this.protect.trailing?.activePx;
    if (extreme === undefined && activePx !== undefined && !isAtOrBeyond(this.side, activePx, px)) return undefined;
    const isBetter = extreme === undefined || compare(px, extreme) === (this.side === "sell" ? 1 : -1);
    return isBetter ? px : extreme;
  }
}
