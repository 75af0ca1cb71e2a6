/**
 * Protection of one position or part of it: how much it covers, at what average price, and whether a price has
 * triggered it. Pure.
 *
 * Invariants: an order counts with what it has executed in all, so that a repetition changes nothing; once
 * triggered it stays so until nothing is left to close; the stop of a bar is looked for before its best price moves the
 * stop.
 * Not here: orders and events (protections.ts), levels (protect.ts).
 */
import { isCancelable, type Profile, type Side } from "../../contract/profile.ts";
import {
  add,
  compare,
  type Decimal,
  isPositive,
  isZero,
  mul,
  positive,
  read,
  spell,
  sub,
  zero,
} from "../../decimal-value.ts";
import type { ProtectionKind, ProtectionRecord } from "../../journal/protection-records.ts";
import { isNumbered } from "../slot.ts";
import { averageOf, isAtOrBeyond, levelOf, type Protect, type Trigger, trailingPxOf } from "./protect.ts";

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

/** A level that was reached, and the price that reached it. */
interface Hit {
  readonly kind: ProtectionKind;
  readonly triggerPx: string;
  readonly px: string;
}

interface CurrentStop {
  readonly kind: "stopLoss" | "trailing";
  readonly px: Decimal;
}

/** Total execution of an entry order. */
interface EntryFill {
  readonly clOrdId: string;
  readonly filled: Decimal;
  readonly value: Decimal;
}

type Name = Pick<ProtectionRecord, "strategy" | "name" | "instId" | "scope" | "exitSlot">;

export class Protection {
  readonly name: Name;
  /** Slot of its entry orders in this run. */
  slot: string;
  /** Side of the closing order: `sell` for a long position. */
  side: Side;
  protect: Protect;
  /** Covered, in base currency. */
  qty: Decimal = zero;
  hit: Hit | undefined = undefined;
  /** It was armed at this instant: of bars that began before, only the close counts. */
  armedAt = Number.POSITIVE_INFINITY;
  /** A previous run left it, and the strategy has not declared it yet. */
  inherited = false;
  /** No price was seen since a previous run left it. */
  unseen = false;
  #entryQty: Decimal = zero;
  #entryValue: Decimal = zero;
  /** Best price since the entry, where a trailing stop follows it. */
  #extreme: Decimal | undefined;
  /** Orders of a previous run that may have executed and are not found yet: until then nothing held is no end. */
  readonly #awaited = new Set<string>();
  readonly #mayRest: boolean;
  /** Executed quantity and its value of orders that are not over, by client order id. */
  readonly #counted = new Map<string, readonly [filled: Decimal, value: Decimal]>();

  constructor(name: Name, side: Side, protect: Protect, profile: Profile) {
    this.#mayRest = isCancelable(name.instId, profile);
    this.name = name;
    // A number, which journals of earlier versions have, was a slot of another run.
    this.slot = isNumbered(name.name) ? "" : name.name;
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

  get avgPx(): Decimal {
    return averageOf(this.#entryValue, this.#entryQty);
  }

  /** An entry order that has executed so much in all. */
  entered({ clOrdId, filled, value }: EntryFill): void {
    const [before, valueBefore] = this.#counted.get(clOrdId) ?? [zero, zero];
    const more = sub(filled, before);
    if (!isPositive(more)) return;
    this.#counted.set(clOrdId, [filled, value]);
    // What was closed takes the average price with it.
    this.#beginWhenFlat();
    this.qty = add(this.qty, more);
    this.#entryQty = add(this.#entryQty, more);
    this.#entryValue = add(this.#entryValue, sub(value, valueBefore));
  }

  /** An order that closes it has executed so much in all; the increase is returned. */
  exited(clOrdId: string, filled: Decimal): Decimal {
    const [before] = this.#counted.get(clOrdId) ?? [zero];
    const more = sub(filled, before);
    if (!isPositive(more)) return zero;
    this.#counted.set(clOrdId, [filled, zero]);
    this.qty = positive(sub(this.qty, more));
    return more;
  }

  /** Covers all of a position at its average price. */
  cover(side: Side, qty: Decimal, avgPx: Decimal): void {
    if (side !== this.side) this.#begin();
    else this.#beginWhenFlat();
    this.side = side;
    this.qty = qty;
    this.#entryQty = qty;
    this.#entryValue = mul(qty, avgPx);
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

  stopPx(tick: Decimal): Decimal | undefined {
    return levelOf(this.side, this.protect.stopLoss, this.avgPx, tick, "-");
  }

  takeProfitPx(tick: Decimal): Decimal | undefined {
    return levelOf(this.side, this.protect.takeProfit, this.avgPx, tick, "+");
  }

  /** Level of the trailing stop; undefined before it is active. */
  trailingPx(): Decimal | undefined {
    return this.#extreme === undefined ? undefined : trailingPxOf(this.side, this.protect, this.#extreme);
  }

  /** Prices that trigger it, or from which its trailing stop follows. */
  levels(tick: Decimal): readonly Decimal[] {
    const activePx = this.protect.trailing?.activePx;
    const all = [
      this.stopPx(tick),
      this.restsProfit ? undefined : this.takeProfitPx(tick),
      this.trailingPx() ?? (activePx === undefined ? undefined : read(activePx)),
    ];
    return all.filter((px) => px !== undefined);
  }

  /** Level that these prices reach, if any; the trailing stop follows them. */
  see(range: PriceRange, tick: Decimal): Hit | undefined {
    const { side } = this;
    const isWhole = range.since >= this.armedAt;
    const [worst, best] = side === "sell" ? [range.low, range.high] : [range.high, range.low];
    const hit = this.#stopAt(isWhole ? worst : range.px, tick) ?? this.#profitAt(isWhole ? best : range.px, tick);
    if (hit !== undefined) return hit;
    if (this.protect.trailing !== undefined)
      this.#extreme = this.#extremeAfter(read(isWhole ? best : range.px), this.#extreme);
    const trailing = this.trailingPx();
    if (trailing === undefined || !isAtOrBeyond(side, read(range.px), trailing)) return undefined;
    return { kind: "trailing", triggerPx: spell(trailing), px: range.px };
  }

  /** The fixed stop, or the trailing one where that is nearer to the price. */
  currentStop(tick: Decimal, extreme = this.#extreme): CurrentStop | undefined {
    const stop = this.stopPx(tick);
    const trailing = extreme === undefined ? undefined : trailingPxOf(this.side, this.protect, extreme);
    const isTrailing = trailing !== undefined && (stop === undefined || !isAtOrBeyond(this.side, trailing, stop));
    const px = isTrailing ? trailing : stop;
    return px === undefined ? undefined : { kind: isTrailing ? "trailing" : "stopLoss", px };
  }

  /**
   * Price at which straight lines between the prices of `path` close the position. A resting take-profit counts like a
   * held one.
   */
  exitOn(path: readonly string[], tick: Decimal): string | undefined {
    const profit = this.takeProfitPx(tick);
    let extreme = this.#extreme;
    for (const text of path) {
      const px = read(text);
      const stop = this.currentStop(tick, extreme);
      if (stop !== undefined && isAtOrBeyond(this.side, px, stop.px)) return spell(stop.px);
      if (profit !== undefined && isAtOrBeyond(this.side, profit, px)) return spell(profit);
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
      qty: ended ? "0" : spell(qty),
      entryQty: spell(this.#entryQty),
      entryValue: spell(this.#entryValue),
      ...(this.#extreme !== undefined && { extreme: spell(this.#extreme) }),
      ...(hit !== undefined && { hit }),
      counted: Object.fromEntries(
        [...this.#counted].map(([clOrdId, [filled, value]]) => [clOrdId, [spell(filled), spell(value)] as const]),
      ),
      ...(ended && { ended }),
    };
  }

  /**
   * As a previous run left it, less what orders did that may still execute (`open` by client order id, those of its
   * strategy and instrument): they are counted again, in all, when their records are found. Until then what was
   * triggered stays so, and a trailing stop where it was.
   */
  restore({ qty, entryQty, entryValue, extreme, hit, counted }: ProtectionRecord, open: readonly string[]): void {
    this.qty = read(qty);
    this.#entryQty = read(entryQty);
    this.#entryValue = read(entryValue);
    this.#extreme = extreme === undefined ? undefined : read(extreme);
    this.hit = hit;
    this.inherited = true;
    this.unseen = true;
    for (const clOrdId of open) {
      const known = counted[clOrdId];
      if (known === undefined && this.name.scope === "order") continue;
      this.#awaited.add(clOrdId);
      if (known === undefined) continue;
      const [filled, value] = [read(known[0]), read(known[1])];
      if (isZero(value)) this.qty = add(this.qty, filled);
      else {
        this.qty = sub(this.qty, filled);
        this.#entryQty = sub(this.#entryQty, filled);
        this.#entryValue = sub(this.#entryValue, value);
      }
    }
    this.qty = positive(this.qty);
  }

  #beginWhenFlat(): void {
    if (isZero(this.qty) && this.#awaited.size === 0) this.#begin();
  }

  #begin(): void {
    this.#entryQty = zero;
    this.#entryValue = zero;
    this.#extreme = undefined;
    if (this.name.scope === "position") this.hit = undefined;
  }

  #stopAt(px: string, tick: Decimal): Hit | undefined {
    const stop = this.currentStop(tick);
    if (stop === undefined || !isAtOrBeyond(this.side, read(px), stop.px)) return undefined;
    return { kind: stop.kind, triggerPx: spell(stop.px), px };
  }

  #profitAt(px: string, tick: Decimal): Hit | undefined {
    const level = this.restsProfit ? undefined : this.takeProfitPx(tick);
    if (level === undefined || !isAtOrBeyond(this.side, level, read(px))) return undefined;
    return { kind: "takeProfit", triggerPx: spell(level), px };
  }

  /** Best price since the entry that a trailing stop follows, after `px` was seen. */
  #extremeAfter(px: Decimal, extreme: Decimal | undefined): Decimal | undefined {
    const activePx = this.protect.trailing?.activePx;
    const isActive = extreme !== undefined || activePx === undefined || isAtOrBeyond(this.side, read(activePx), px);
    if (!isActive) return undefined;
    const isBetter = extreme === undefined || compare(px, extreme) === (this.side === "sell" ? 1 : -1);
    return isBetter ? px : extreme;
  }
}
