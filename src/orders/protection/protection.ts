/**
 * Protection of one position or part of it: how much it covers, at what average price, and whether a price has
 * triggered it. Pure.
 *
 * Invariants: an order counts with its total execution, so that a repetition changes nothing; once triggered, a
 * protection stays triggered until nothing is left to close; for a bar, the stop is checked before the bar's best price
 * moves the stop.
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
 * Prices since `since` (milliseconds of the engine's clock); `px` is the latest. All three prices are equal if they are
 * not of a bar.
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
  /** Covered quantity in base currency. */
  qty: Decimal = zero;
  hit: Hit | undefined = undefined;
  /** Instant at which it was armed. For bars that began earlier, only the close counts. */
  armedAt = Number.POSITIVE_INFINITY;
  /** True if a previous run left it and the strategy has not declared it yet. */
  inherited = false;
  /** True if no price has been seen since a previous run left it. */
  unseen = false;
  #entryQty: Decimal = zero;
  #entryValue: Decimal = zero;
  /** Best price since the entry, if a trailing stop follows it. */
  #extreme: Decimal | undefined;
  /**
   * Orders of a previous run that may have executed and are not found yet. Until they are found, an empty position does
   * not end the protection.
   */
  readonly #awaited = new Set<string>();
  readonly #mayRest: boolean;
  /** Executed quantity and value of orders that are not over, by client order id. */
  readonly #counted = new Map<string, readonly [filled: Decimal, value: Decimal]>();

  constructor(name: Name, side: Side, protect: Protect, profile: Profile) {
    this.#mayRest = isCancelable(name.instId, profile);
    this.name = name;
    // Journals of earlier versions contain a number here: a slot of another run.
    this.slot = isNumbered(name.name) ? "" : name.name;
    this.side = side;
    this.protect = protect;
  }

  /**
   * True if the take-profit rests at the service. It does so only if it can be canceled, because otherwise it would
   * keep a stop from leaving.
   */
  get restsProfit(): boolean {
    return this.#mayRest && this.protect.takeProfitAs === "limit";
  }

  get trigger(): Trigger {
    return this.protect.trigger ?? "best";
  }

  get avgPx(): Decimal {
    return averageOf(this.#entryValue, this.#entryQty);
  }

  /** Takes the total execution of an entry order. */
  entered({ clOrdId, filled, value }: EntryFill): void {
    const [before, valueBefore] = this.#counted.get(clOrdId) ?? [zero, zero];
    const more = sub(filled, before);
    if (!isPositive(more)) return;
    this.#counted.set(clOrdId, [filled, value]);
    // A new average price begins once everything was closed.
    this.#beginWhenFlat();
    this.qty = add(this.qty, more);
    this.#entryQty = add(this.#entryQty, more);
    this.#entryValue = add(this.#entryValue, sub(value, valueBefore));
  }

  /** Takes the total execution of an order that closes the position. Returns the increase. */
  exited(clOrdId: string, filled: Decimal): Decimal {
    const [before] = this.#counted.get(clOrdId) ?? [zero];
    const more = sub(filled, before);
    if (!isPositive(more)) return zero;
    this.#counted.set(clOrdId, [filled, zero]);
    this.qty = positive(sub(this.qty, more));
    return more;
  }

  /** Covers the whole position at its average price. */
  cover(side: Side, qty: Decimal, avgPx: Decimal): void {
    if (side !== this.side) this.#begin();
    else this.#beginWhenFlat();
    this.side = side;
    this.qty = qty;
    this.#entryQty = qty;
    this.#entryValue = mul(qty, avgPx);
  }

  /** Called when the order's record arrived and its execution is counted. */
  found(clOrdId: string): void {
    if (this.#awaited.size > 0) this.#awaited.delete(clOrdId);
  }

  /** The order is over and will execute nothing more. */
  forget(clOrdId: string): void {
    this.#counted.delete(clOrdId);
  }

  /** True while one of its orders is not over or not found. */
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

  /** Price levels that trigger it, or at which its trailing stop begins to follow. */
  levels(tick: Decimal): readonly Decimal[] {
    const activePx = this.protect.trailing?.activePx;
    const all = [
      this.stopPx(tick),
      this.restsProfit ? undefined : this.takeProfitPx(tick),
      this.trailingPx() ?? (activePx === undefined ? undefined : read(activePx)),
    ];
    return all.filter((px) => px !== undefined);
  }

  /** Level that these prices reach, if any. The trailing stop follows the prices. */
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

  /** The stop that is nearer to the price: the fixed or the trailing one. */
  currentStop(tick: Decimal, extreme = this.#extreme): CurrentStop | undefined {
    const stop = this.stopPx(tick);
    const trailing = extreme === undefined ? undefined : trailingPxOf(this.side, this.protect, extreme);
    const isTrailing = trailing !== undefined && (stop === undefined || !isAtOrBeyond(this.side, trailing, stop));
    const px = isTrailing ? trailing : stop;
    return px === undefined ? undefined : { kind: isTrailing ? "trailing" : "stopLoss", px };
  }

  /**
   * Price at which the position is closed if the price moves in straight lines along `path`. A resting take-profit
   * counts like a held one.
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
   * Restores the state that a previous run left, less the executions of orders that may still execute (`open` by client
   * order id, for its strategy and instrument). When the records of these orders are found, their total execution is
   * counted. Until then a triggered protection stays triggered, and a trailing stop keeps its level.
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

  /** Best price since the entry that a trailing stop follows, including `px`. */
  #extremeAfter(px: Decimal, extreme: Decimal | undefined): Decimal | undefined {
    const activePx = this.protect.trailing?.activePx;
    const isActive = extreme !== undefined || activePx === undefined || isAtOrBeyond(this.side, read(activePx), px);
    if (!isActive) return undefined;
    const isBetter = extreme === undefined || compare(px, extreme) === (this.side === "sell" ? 1 : -1);
    return isBetter ? px : extreme;
  }
}
