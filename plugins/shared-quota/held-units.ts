/**
 * Units that one engine holds of one divided scope, window by window: its allowance, and its statements to the store.
 *
 * Invariants: of a window with a statement, the engine holds the units it last stated and those granted since; of a
 * window without one, at most the floor, and only soon after the store's last answer. Units of calls that began count
 * as held. Of a window that is spent evenly the engine's part is held, also for the rest of the window in which counts are
 * used again.
 * Not here: the times of statements (shared-quota.ts), the store (claim.ts).
 */
import type { DivisionFacts, FixedWindow, Rank } from "sluice/extension";
import { type ClaimItem, type Grant, keptWindows, phaseSlackMs } from "./claim.ts";
import { Demand } from "./demand.ts";
import { EvenPart } from "./even-part.ts";
import { GroupReserve, idleGivesBackMs } from "./group-reserve.ts";
import { SpendRate } from "./spend-rate.ts";

/** Units held of one window. */
interface Row {
  held: number;
  /** A statement about it may have reached the store. */
  said: boolean;
  /** Begun before the clock was disturbed. */
  base: number;
  /** Units that the last grant left free. */
  free: number;
  members: number;
}

/** A statement and its instant, so that one that was not sent can be withdrawn. */
export interface Stated {
  readonly held: HeldUnits;
  readonly index: number;
  readonly item: ClaimItem;
  readonly row: Row;
  readonly before: Pick<Row, "held" | "said">;
}

/** So near to the end no unit is used without a grant, because the reserve is lent out by then. */
const strictMs = 800;
/** Time that an exit waits for the store's answer before it takes its own part of the free units. */
export const doubtMsLeast = 25;
const floorPart = 0.5;
const sliceMost = 300;
const astrayTimesLeast = 3;

/** Figures of a statement that depend on how the window is spent. */
type StatedFigures = Omit<ClaimItem, "scope" | "window" | "windowMs" | "openOrders" | "exitsPerHour">;

export class HeldUnits {
  readonly name: string;
  /** Its part of the window while counts are not used. */
  readonly even: EvenPart;
  /** The last window for which the store has granted units. */
  lastAnswered = Number.NEGATIVE_INFINITY;
  readonly #gauge: FixedWindow;
  readonly #part: number;
  readonly #rows = new Map<number, Row>();
  readonly #reserve: GroupReserve;
  /** Window number of the others less the number here. */
  #shift = 0;
  /** Its windows differ from those of the others: it keeps to its part and to the service's counts. */
  #isApart = false;
  #astrayTimes = 0;
  readonly #demand = new Demand();
  readonly #rate = new SpendRate();

  /** `name` is the scope's name for all members; `part` is this engine's, of 1. */
  constructor(name: string, gauge: FixedWindow, facts: DivisionFacts, part: number) {
    this.name = name;
    this.#gauge = gauge;
    this.#part = part;
    this.#reserve = new GroupReserve(gauge, facts, part);
    this.even = new EvenPart(gauge, part, () => this.#reserve.purse(Number.POSITIVE_INFINITY));
  }

  /**
   * Most units of ours that window `index` may have in addition to those from before a disturbance; undefined where the
   * store has been silent for too long to divide anything.
   */
  most(index: number, rank: Rank, at: number, doubtMs: number): number | undefined {
    const row = this.#rows.get(index);
    const remMs = this.#gauge.endOf(index, at) - at;
    if (row?.said !== true) {
      if (index > this.lastAnswered + keptWindows) return undefined;
      if (index <= this.lastAnswered) return 0;
      // The whole of what is left is small: exits come first, with all of it.
      return rank === "ordinary" ? this.floor - this.#reserve.own(this.floor, remMs, at, this.floor) : this.floor;
    }
    const held = row.held - row.base;
    if (rank === "ordinary")
      return held - Math.max(0, Math.min(this.#purse(remMs, at), held - this.#gauge.ownOf(index).begun));
    // Only half of its own part of the units that were free last: the others got their answers at other times.
    const part = doubtMs >= doubtMsLeast && remMs > strictMs ? Math.floor(row.free / Math.max(1, 2 * row.members)) : 0;
    return held + part;
  }

  /** As `most`, where no grant can be requested: its own part. */
  mostAlone(index: number, rank: Rank, at: number): number {
    const part = Math.floor(this.#gauge.capacity * this.#part);
    return rank === "ordinary" ? part - this.#reserve.own(part, this.#gauge.endOf(index, at) - at, at) : part;
  }

  /** As `most`, where its windows differ from those of the others: two of its own may fall into one of theirs. */
  mostApart(index: number, rank: Rank, at: number): number {
    if (rank !== "ordinary") return this.mostAlone(index, rank, at);
    const half = Math.floor(this.floor / 2);
    return half - this.#reserve.own(half, this.#gauge.endOf(index, at) - at, at);
  }

  /**
   * The store has not answered: the apparent use by others may be use by engines of the same group, which are in the
   * same doubt.
   */
  doubt(at: number): void {
    this.#reserve.watchFrom((this.#gauge.spanAt(at)?.last ?? this.lastAnswered) + 1);
  }

  /** Units that may be used of a window without a statement. */
  get floor(): number {
    return Math.floor(this.#gauge.capacity * floorPart * this.#part);
  }

  /** A call of so many units was not granted; false where the cause was not a lack of held units. */
  lacks(units: number, rank: Rank, at: number, doubtMs: number): boolean {
    const span = this.#gauge.spanAt(at);
    if (span === undefined || this.even.isActive) return false;
    let isOurs = false;
    for (let index = span.first; index <= span.last; index++) {
      const most = this.most(index, rank, at, doubtMs) ?? Number.POSITIVE_INFINITY;
      isOurs ||= this.#gauge.ownOf(index).begun + units > most;
    }
    if (!isOurs) return false;
    this.#demand.lack(units, rank, at);
    return true;
  }

  spent(at: number): void {
    this.#demand.spent(at);
  }

  /** True if exits were not granted since the last statement. */
  get owesExits(): boolean {
    return this.#demand.exits > 0;
  }

  /** True if ordinary actions were not granted since the last statement. */
  get owesOrdinary(): boolean {
    return this.#demand.owesOrdinary;
  }

  /** True if the rest of the slice will be used within half a second. */
  runsShort(at: number): boolean {
    const span = this.#gauge.spanAt(at);
    if (span === undefined || !this.#demand.isHungry(at)) return false;
    const row = this.#rows.get(span.last);
    return (
      row?.said === true &&
      row.held - this.#begunIn(span.last, row) - this.#reserve.purse(Number.POSITIVE_INFINITY) <
        this.#rate.perSecond / 2
    );
  }

  /** True if some running window has no statement yet. */
  isUnspoken(at: number): boolean {
    const span = this.#gauge.spanAt(at);
    return span !== undefined && this.#rows.get(span.last)?.said !== true;
  }

  endsAt(at: number): number {
    return this.even.isActive ? at : this.#gauge.windowEndsAt(at);
  }

  /**
   * States for every window that may run the units that are held and the further units that are wanted, which are none
   * where the engine goes by its own part.
   */
  state(at: number, isAlone: boolean): readonly Stated[] {
    const span = this.#gauge.spanAt(at);
    if (span === undefined) return [];
    this.#rate.measure(this.#gauge.begun, at);
    const stated: Stated[] = [];
    for (let index = span.first; index <= span.last; index++)
      stated.push(this.even.isActive ? this.#evenStateOf(index, at) : this.#stateOf(index, at, isAlone));
    this.#demand.stated();
    for (const old of this.#rows.keys()) if (old < span.first - keptWindows) this.#rows.delete(old);
    return stated;
  }

  get isApart(): boolean {
    return this.#isApart;
  }

  /** Takes the store's answer in. Returns the fault where windows are numbered differently from the others. */
  granted(stated: Stated, grant: Grant, at: number): "renamed" | "apart" | undefined {
    if (grant.astrayMs !== 0) return this.#leave(stated, grant.astrayMs);
    this.#astrayTimes = 0;
    const { index, item, row } = stated;
    if (this.#isApart) this.#setApart(false);
    row.held = item.has + grant.ordinary + grant.exits;
    row.free = grant.free;
    row.members = grant.members;
    this.#reserve.hear(item.window, grant, at);
    this.lastAnswered = Math.max(this.lastAnswered, index);
    this.#gauge.strangers = grant.foreign;
    this.#gauge.heldElsewhere = {
      window: index,
      units: Math.max(0, item.capacity - grant.foreign - row.held - grant.free),
    };
    return undefined;
  }

  /**
   * Units were held of other windows than was assumed. Where only the numbers differ, the engine takes over the others'
   * numbers.
   */
  #leave(stated: Stated, astrayMs: number): "renamed" | "apart" | undefined {
    const { windowMs } = this.#gauge.spec;
    this.unsaid(stated);
    for (const row of this.#rows.values()) row.said = false;
    const windows = Math.round(astrayMs / windowMs);
    if (windows !== 0 && Math.abs(astrayMs - windows * windowMs) <= stated.item.spreadMs + phaseSlackMs) {
      // Both windows that may run are stated at once.
      if (stated.item.window - stated.index === this.#shift) this.#shift += windows;
      return "renamed";
    }
    // A statement may have come late.
    if (++this.#astrayTimes !== astrayTimesLeast) return undefined;
    this.#setApart(true);
    return "apart";
  }

  #setApart(apart: boolean): void {
    this.#isApart = apart;
    this.#gauge.divided = !apart;
  }

  /** The statement was not sent. */
  unsaid({ row, before }: Stated): void {
    row.held = before.held;
    row.said = before.said;
  }

  /** Counts the held units as spent, because their window is not known. */
  disturb(): void {
    // Units under way are held already, and continue to count as under way.
    for (const row of this.#rows.values()) row.base = Math.max(0, row.held - this.#gauge.open);
  }

  /** If false, only the service's own counts bound the use, and the use of other engines counts as foreign. */
  set divided(divided: boolean) {
    this.#gauge.divided = divided && !this.#isApart;
  }

  #stateOf(index: number, at: number, isAlone: boolean): Stated {
    const gauge = this.#gauge;
    const row = this.#rowOf(index);
    const { settled, reported } = gauge.ownOf(index);
    const begun = this.#begunIn(index, row);
    const remainingMs = this.#remainingMs(index, at);
    const purse = this.#purse(remainingMs, at);
    const slack = Math.max(0, row.held - begun);
    const inPurse = Math.min(slack, purse);
    const lack = isAlone ? 0 : this.#demand.units(at, remainingMs);
    const slice = this.#demand.keeps(slack - inPurse, lack, at, remainingMs) ? slack - inPurse : 0;
    const target = lack === 0 ? 0 : Math.max(lack, Math.min(sliceMost, Math.ceil(this.#rate.perSecond)), 3 * lack);
    return this.#stated(index, at, {
      remainingMs,
      capacity: gauge.capacity,
      has: begun + inPurse + slice,
      settled: settled + row.base,
      used: reported,
      need: Math.max(0, lack - slice),
      want: Math.max(0, target - slice),
      hungry: this.#demand.isHungry(at) ? 1 : 0,
      exits: isAlone ? 0 : Math.max(0, purse + this.#demand.exits - inPurse - slice),
      leave: this.#reserve.leave(remainingMs, at),
      floor: this.floor,
      spreadMs: Math.ceil(Math.min(2 * gauge.spec.windowMs, gauge.widthMs(at))),
    });
  }

  /** As `#stateOf`, for a window that is spent evenly: holds the whole part and wants nothing. */
  #evenStateOf(index: number, at: number): Stated {
    const gauge = this.#gauge;
    const { capacity, windowMs } = gauge.spec;
    const has = Math.max(gauge.capacity, this.#begunIn(index, this.#rowOf(index)));
    return this.#stated(index, at, {
      remainingMs: this.#remainingMs(index, at),
      capacity,
      has,
      settled: has - gauge.open,
      used: 0,
      need: 0,
      want: 0,
      hungry: 0,
      exits: 0,
      leave: 0,
      floor: gauge.capacity,
      // Where windows begin is not known, so the store does not compare it.
      spreadMs: 2 * windowMs,
    });
  }

  /** Completes a statement about window `index`. From now on the engine holds the units that it names. */
  #stated(index: number, at: number, figures: StatedFigures): Stated {
    const row = this.#rowOf(index);
    const before = { held: row.held, said: row.said };
    row.held = figures.has;
    row.said = true;
    const item: ClaimItem = {
      scope: this.name,
      window: index + this.#shift,
      windowMs: this.#gauge.spec.windowMs,
      ...figures,
      ...this.#reserve.expected(at),
    };
    return { held: this, index, item, row, before };
  }

  #remainingMs(index: number, at: number): number {
    return Math.max(0, Math.round(this.#gauge.endOf(index, at) - at));
  }

  #purse(remMs: number, at: number): number {
    return this.#demand.isBusy(at) || remMs > idleGivesBackMs ? this.#reserve.purse(remMs) : 0;
  }

  #begunIn(index: number, row: Row): number {
    return this.#gauge.ownOf(index).begun + row.base;
  }

  #rowOf(index: number): Row {
    let row = this.#rows.get(index);
    if (row === undefined) {
      row = { held: 0, said: false, base: 0, free: 0, members: 1 };
      this.#rows.set(index, row);
    }
    return row;
  }
}
