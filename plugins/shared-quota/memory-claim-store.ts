/**
 * Claim store within one process: the algorithm that the script for Redis follows as well, for tests, simulation and
 * comparison.
 *
 * Invariants: of one window, what members hold, what is kept for silent ones and what others used never exceeds the
 * capacity by a grant; a statement is carried out whole or not at all.
 * Not here: the same for many machines (redis-claim-store.ts).
 */
import {
  byName,
  type ClaimItem,
  type ClaimReply,
  type ClaimStore,
  type Enrolled,
  evenlyMsMost,
  type Grant,
  keptWindows,
  lastMs,
  learnMs,
  noReason,
  presentMs,
  type ScopeHolding,
  type SpentEvenly,
  type Statement,
  shareSlack,
  silentMs,
  wholeMs,
} from "./claim.ts";
import { SilentUnits } from "./silent-units.ts";
import { WindowBeginnings } from "./window-beginnings.ts";

/** A member in one scope, by name and epoch. */
interface Member {
  readonly share: number;
  readonly lastWindow: number;
  /** It wanted more at its last statement than it had. */
  readonly isHungry: boolean;
  readonly openOrders: number;
  readonly exitsPerHour: number;
  readonly floor: number;
  readonly heardAt: number;
}

interface Row {
  readonly held: number;
  readonly settled: number;
}

interface Window {
  readonly rows: Map<string, Row>;
  foreign: number;
}

interface Scope {
  readonly members: Map<string, Member>;
  readonly beginnings: WindowBeginnings;
  readonly windows: Map<number, Window>;
}

interface Lives {
  epoch: number;
  seq: number;
}

interface Enrolment {
  readonly epoch: number;
  readonly share: number;
  readonly of: number;
  readonly heardAt: number;
}

export class MemoryClaimStore implements ClaimStore {
  readonly #now: () => number;
  #bornAt: number;
  readonly #lives = new Map<string, Lives>();
  readonly #scopes = new Map<string, Scope>();
  readonly #roster = new Map<string, Enrolment>();
  /** Instants until which scopes are spent evenly. */
  readonly #evenly = new Map<string, number>();
  #halt: string | undefined;

  /** `fresh`: it begins without waiting for statements. */
  constructor(now: () => number, fresh = true) {
    this.#now = now;
    this.#bornAt = fresh ? Number.NEGATIVE_INFINITY : now();
  }

  async register(member: string, gone: boolean, scopes: readonly string[]): Promise<number> {
    const before = this.#lives.get(member);
    const epoch = Math.max(Math.floor(this.#now()), (before?.epoch ?? 0) + 1);
    this.#lives.set(member, { epoch, seq: 0 });
    if (gone && before !== undefined) for (const scope of scopes) this.#forget(scope, `${member}#${before.epoch}`);
    return epoch;
  }

  async claim(statement: Statement): Promise<ClaimReply> {
    const { member, epoch, seq, share, of, items, evenly: needed } = statement;
    const life = this.#lives.get(member) ?? { epoch, seq: 0 };
    if (life.epoch > epoch) return { kind: "fenced" };
    if (life.epoch === epoch && seq <= life.seq) return { kind: "outdated" };
    this.#lives.set(member, { epoch, seq });
    const learning = this.#now() - this.#bornAt < learnMs;
    const isNew = !learning && this.#roster.get(member)?.epoch !== epoch;
    const enrolled = isNew ? this.#enrolled() : [];
    if (sharesBeside(member, enrolled) + share > of + shareSlack && isNew) return { kind: "full", enrolled };
    if (!learning) this.#roster.set(member, { epoch, share, of, heardAt: this.#now() });
    const halt = this.#halt;
    const evenly = this.#evenlyWith(needed);
    const grants = items.map((item) => this.#grant(statement, item, learning));
    return { kind: "granted", grants, halt, learning, evenly, ...(isNew && { enrolled }) };
  }

  async leave(member: string, epoch: number, scopes: readonly string[]): Promise<void> {
    if (this.#lives.get(member)?.epoch !== epoch) return;
    this.#roster.delete(member);
    const id = `${member}#${epoch}`;
    for (const scope of scopes) {
      const members = this.#scopes.get(scope)?.members;
      const row = members?.get(id);
      this.#scopes.get(scope)?.beginnings.forget(id);
      if (row !== undefined) members?.set(id, { ...row, isHungry: false, openOrders: 0, exitsPerHour: 0, floor: 0 });
    }
  }

  async members(): Promise<readonly Enrolled[]> {
    return this.#enrolled();
  }

  #enrolled(): readonly Enrolled[] {
    const now = this.#now();
    return [...this.#roster]
      .map(([member, { share, of, heardAt }]) => ({ member, share, of, heardMs: now - heardAt }))
      .filter(({ heardMs }) => heardMs <= presentMs)
      .toSorted(byName);
  }

  async ping(): Promise<void> {}

  async halt(reason: string | undefined): Promise<void> {
    this.#halt = reason === "" ? noReason : (reason ?? "");
  }

  async halted(): Promise<string | undefined> {
    return this.#halt === "" ? undefined : this.#halt;
  }

  async holdings(): Promise<readonly ScopeHolding[]> {
    return [...this.#scopes].flatMap(([scope, { windows }]) =>
      [...windows].map(([window, { rows, foreign }]) => ({
        scope,
        window,
        foreign,
        held: Object.fromEntries([...rows].map(([id, { held }]) => [id.replace(/#.*/, ""), held])),
      })),
    );
  }

  close(): void {}

  /** As a store that was restarted without its memory. */
  lose(): void {
    this.#scopes.clear();
    this.#roster.clear();
    this.#evenly.clear();
    this.#halt = undefined;
    this.#bornAt = this.#now();
  }

  #evenlyWith(needed: readonly SpentEvenly[]): readonly SpentEvenly[] {
    const now = this.#now();
    const evenly = this.#evenly;
    for (const { scope, forMs } of needed)
      evenly.set(scope, Math.max(evenly.get(scope) ?? 0, now + Math.min(forMs, evenlyMsMost)));
    for (const [scope, until] of evenly) if (until <= now) evenly.delete(scope);
    return Array.from(evenly, ([scope, until]) => ({ scope, forMs: until - now }));
  }

  #grant({ member, epoch, share }: Statement, item: ClaimItem, learning: boolean): Grant {
    const id = `${member}#${epoch}`;
    const {
      scope: name,
      window: number,
      capacity,
      has,
      settled,
      used,
      hungry,
      exits,
      floor,
      openOrders,
      exitsPerHour,
    } = item;
    const scope = this.#scopeOf(name);
    const window = windowOf(scope, number);
    const at = this.#now();
    const { astrayMs, isLost } = scope.beginnings.judge(id, item, scope.members.has(id), at);
    if (isLost) scope.members.delete(id);
    if (astrayMs !== 0) return { ...nothing, astrayMs };
    const before = scope.members.get(id);
    const lastWindow = Math.max(number, before?.lastWindow ?? number);
    scope.members.set(id, { share, lastWindow, isHungry: hungry === 1, openOrders, exitsPerHour, floor, heardAt: at });
    // What it brings and was not granted had looked like others' use.
    const granted = window.rows.get(id)?.held;
    if (granted === undefined || has > granted)
      window.foreign = Math.max(
        0,
        window.foreign - Math.max(0, has - (granted ?? Math.max(floor, underWayOf(scope, id, number)))),
      );
    const sums = sumsOf(scope, window, id, item, at);
    if (!learning) window.foreign = Math.max(window.foreign, used - has - sums.others - sums.silent);
    const free = capacity - window.foreign - sums.others - sums.silent - has;
    const forExits = Math.max(0, Math.min(exits, free));
    const ordinary = learning ? 0 : ordinaryOf(item, share, sums, free - forExits, window);
    window.rows.set(id, { held: has + forExits + ordinary, settled });
    forgetOld(scope, number);
    return {
      ordinary,
      exits: forExits,
      free: free - forExits - ordinary,
      foreign: window.foreign,
      openOrders: sums.openOrders + openOrders,
      exitsPerHour: sums.exitsPerHour + exitsPerHour,
      members: sums.members + 1,
      astrayMs: 0,
    };
  }

  #forget(scope: string, id: string): void {
    this.#scopes.get(scope)?.members.delete(id);
    this.#scopes.get(scope)?.beginnings.forget(id);
  }

  #scopeOf(name: string): Scope {
    let scope = this.#scopes.get(name);
    if (scope === undefined) {
      scope = { members: new Map(), beginnings: new WindowBeginnings(), windows: new Map() };
      this.#scopes.set(name, scope);
    }
    return scope;
  }
}

const sharesBeside = (member: string, enrolled: readonly Enrolled[]): number =>
  enrolled.reduce((sum, one) => (one.member === member ? sum : sum + one.share), 0);

const nothing: Omit<Grant, "astrayMs"> = {
  ordinary: 0,
  exits: 0,
  free: 0,
  foreign: 0,
  openOrders: 0,
  exitsPerHour: 0,
  members: 1,
};

const windowOf = ({ windows }: Scope, number: number): Window => {
  let window = windows.get(number);
  if (window === undefined) {
    window = { rows: new Map(), foreign: 0 };
    windows.set(number, window);
  }
  return window;
};

/** Units that may land in a window from a member's calls under way in the two before. */
const underWayOf = ({ windows }: Scope, id: string, number: number): number => {
  let underWay = 0;
  for (let back = 1; back <= keptWindows; back++) {
    const row = windows.get(number - back)?.rows.get(id);
    if (row !== undefined) underWay += row.held - row.settled;
  }
  return underWay;
};

interface Sums {
  others: number;
  silent: number;
  openOrders: number;
  exitsPerHour: number;
  members: number;
  /** Shares of other members that want more. */
  shares: number;
  readonly hungry: { readonly share: number; readonly held: number; readonly isHeard: boolean }[];
}

const sumsOf = (
  scope: Scope,
  { rows }: Window,
  id: string,
  { window: number, windowMs }: ClaimItem,
  at: number,
): Sums => {
  const sums: Sums = { others: 0, silent: 0, openOrders: 0, exitsPerHour: 0, members: 0, shares: 0, hungry: [] };
  const silent = new SilentUnits();
  for (const [name, { held }] of rows) if (name !== id) sums.others += held;
  for (const [name, member] of scope.members) {
    if (name === id || member.lastWindow < number - keptWindows) continue;
    const row = rows.get(name);
    if (row === undefined) silent.add(name, member.floor, underWayOf(scope, name, number));
    sums.openOrders += member.openOrders;
    sums.exitsPerHour += member.exitsPerHour;
    sums.members++;
    if (!member.isHungry || member.lastWindow < number - 1) continue;
    sums.shares += member.share;
    sums.hungry.push({ share: member.share, held: row?.held ?? 0, isHeard: at - member.heardAt <= silentMs });
  }
  for (const [name, floor] of scope.beginnings.floors(windowMs, at))
    if (name !== id && !scope.members.has(name)) silent.add(name, floor, 0);
  sums.silent = silent.sum;
  return sums;
};

/**
 * Half of the member's fair part of what is left, at least what helps; others' parts that they have not taken up are
 * kept for them.
 */
const ordinaryOf = (item: ClaimItem, share: number, sums: Sums, free: number, { foreign }: Window): number => {
  const { remainingMs, need, want, leave, has, capacity } = item;
  if (want <= 0) return 0;
  const pool = Math.max(0, capacity - foreign - leave);
  const part = share / (sums.shares + share);
  const spare = free - leave;
  let kept = 0;
  if (remainingMs > lastMs)
    for (const one of sums.hungry)
      if (one.isHeard) kept += Math.max(0, (pool * one.share) / (sums.shares + share) - one.held);
  const room = Math.floor(Math.min(spare, Math.max(spare - kept, pool * part - has)));
  const slice = remainingMs > wholeMs ? Math.floor((room * part) / 2) : room;
  return room >= need ? Math.min(want, room, Math.max(need, slice)) : 0;
};

const forgetOld = ({ windows, members }: Scope, number: number): void => {
  for (const old of windows.keys()) if (old < number - 2 * keptWindows - 1) windows.delete(old);
  for (const [id, { lastWindow }] of members) if (lastWindow < number - keptWindows - 2) members.delete(id);
};
