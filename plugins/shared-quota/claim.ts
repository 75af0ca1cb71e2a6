/**
 * Messages between an engine and the store that divides a quota among engines: statements and grants.
 *
 * A *scope* is one user or one address, a *window* its number on the service's clock. Of each window a *member* (an
 * engine) holds units; the sum of all members' units never exceeds the capacity, and units of one window do not carry
 * over to the next.
 *
 * Invariants: durations and window numbers only, never an instant of a machine's clock. The member states the units it
 * holds, and the store the units it may hold in addition; a statement that arrives twice or late changes nothing. A
 * halt of the group changes no grant: a halted engine places nothing, but it reads its state, also while it starts.
 * Not here: the store's work (memory-claim-store.ts, claim-script.ts), the times of statements (shared-quota.ts).
 */

/** Statement and request of one member for one window of one scope. All in units of the layer. */
export interface ClaimItem {
  /** `uid:NAME` or `ip:NAME`. */
  readonly scope: string;
  readonly window: number;
  readonly windowMs: number;
  /** Milliseconds until the window ends, as far as the member knows. */
  readonly remainingMs: number;
  readonly capacity: number;
  /** Held, or begun where that is more: the member is the authority. */
  readonly has: number;
  /** Answered part of it. */
  readonly settled: number;
  /** The service's own count of the window as last read, 0 where it was not. */
  readonly used: number;
  /** Least that helps an ordinary action, and most that is wanted; 0 for nothing. */
  readonly need: number;
  readonly want: number;
  /** 1 when it has lately wanted more than it had: its part is reserved for it. */
  readonly hungry: number;
  /** Wanted for exits, which take from the reserve. */
  readonly exits: number;
  /** Units that ordinary actions of all members leave free. */
  readonly leave: number;
  /** Units that the member may use of a window without a statement. */
  readonly floor: number;
  readonly openOrders: number;
  /** Exits that the member expects, a whole number. */
  readonly exitsPerHour: number;
  /** Milliseconds by which the window may end earlier than `remainingMs`. */
  readonly spreadMs: number;
}

/** Scope whose counts are not used: every member spends its part evenly, which is the quota's floor. */
export interface SpentEvenly {
  readonly scope: string;
  /** Milliseconds for which a member needs that, a whole number above 0. */
  readonly forMs: number;
}

export interface Statement {
  /** Name of the member, unique in its group. */
  readonly member: string;
  readonly epoch: number;
  /** Rises with each statement of an epoch. */
  readonly seq: number;
  /** Relative part of the quota, and the sum of all parts by the member's config. */
  readonly share: number;
  readonly of: number;
  readonly items: readonly ClaimItem[];
  /** Scopes that have to be spent evenly by the member's own evidence. */
  readonly evenly: readonly SpentEvenly[];
}

/** Answer to one item. */
export interface Grant {
  /** Units in addition to `has`, for anything and for exits only. */
  readonly ordinary: number;
  readonly exits: number;
  /** Remaining units after that, including the reserve. */
  readonly free: number;
  /** Used by clients outside the group, as far as is known. */
  readonly foreign: number;
  /** Open orders of all members with a statement within the last windows, including this one. */
  readonly openOrders: number;
  readonly exitsPerHour: number;
  readonly members: number;
  /**
   * For a member that numbers windows differently from most others: the delay of its windows of one number. Its
   * statement was not recorded then, and nothing is granted. 0 where it agrees.
   */
  readonly astrayMs: number;
}

/** A member of the group, as the store knows it. */
export interface Enrolled {
  readonly member: string;
  readonly share: number;
  readonly of: number;
  /** Milliseconds since its last statement. */
  readonly heardMs: number;
}

/** Answer of the store of a group to the statement of a member. */
export type ClaimReply =
  /**
   * `halt`: reason of the whole group's halt; empty after a resume, undefined where the store does not know.
   * `learning`: the store has just lost its memory. `enrolled`: answer to the statement with which it became a member;
   * an entry of the same name is the process before.
   */
  | {
      readonly kind: "granted";
      readonly grants: readonly Grant[];
      readonly halt: string | undefined;
      readonly learning: boolean;
      /** Scopes that have to be spent evenly by the evidence of any member. */
      readonly evenly: readonly SpentEvenly[];
      readonly enrolled?: readonly Enrolled[];
    }
  /** It is no member, because its share and those of the others would exceed the whole. */
  | { readonly kind: "full"; readonly enrolled: readonly Enrolled[] }
  /** A younger engine of the same name has registered. */
  | { readonly kind: "fenced" }
  /** A later statement arrived first. */
  | { readonly kind: "outdated" };

/** Holdings of the members in one window, for people. */
export interface ScopeHolding {
  readonly scope: string;
  readonly window: number;
  readonly foreign: number;
  readonly held: Readonly<Record<string, number>>;
}

/**
 * Store of the members of one group. Every call may reject: with `NotSent` when nothing can have reached the store.
 */
export interface ClaimStore {
  /**
   * An epoch above all that the name had before. `gone`: the previous process is known to have ended, so no units are
   * kept for it.
   */
  register(member: string, gone: boolean, scopes: readonly string[]): Promise<number>;
  claim(statement: Statement): Promise<ClaimReply>;
  /** The member leaves: only units of its calls under way are kept for it. */
  leave(member: string, epoch: number, scopes: readonly string[]): Promise<void>;
  members(): Promise<readonly Enrolled[]>;
  ping(): Promise<void>;
  /** Informs every member that the group is halted, or with undefined that it may trade again. */
  halt(reason: string | undefined): Promise<void>;
  halted(): Promise<string | undefined>;
  holdings(): Promise<readonly ScopeHolding[]>;
  close(): void;
}

/** Shares may be fractions, whose sums are not exact. */
export const shareSlack = 1e-6;
export const byName = (a: Enrolled, b: Enrolled): number => (a.member < b.member ? -1 : 1);
/** A store that lost its memory only listens for so long. */
export const learnMs = 3_000;
/** Reason of a halt without one: an empty text means no halt. */
export const noReason = "no reason given";
/** The evidence of a member that has gone counts for so long at most. */
export const evenlyMsMost = 600_000;
/**
 * Parts of members without a statement for so long are open to others, and all parts in the last part of a window.
 */
export const silentMs = 4_000;
export const lastMs = 2_000;
/** A member without a statement for so long has left: another may take its share. */
export const presentMs = 150_000;
/** Tolerance for the delay of a statement and the drift of clocks when beginnings of windows are compared. */
export const phaseSlackMs = 250;
/** From then on a grant is not halved: there is little time to come back for the rest. */
export const wholeMs = 1_000;
/** Number of windows for which units of a silent member, under way or promised, are kept. */
export const keptWindows = 2;
