/**
 * Language between an engine and the store that divides a quota among engines: what is stated, what is granted.
 *
 * A *scope* is one user or one address, a *window* its number on the service's clock. Of each window a *member* (an
 * engine) holds units; the sum of what all hold never exceeds the capacity, and what is held of one window is worth
 * nothing in the next.
 *
 * Invariants: durations and window numbers only, never an instant of a machine's clock; the member states what it
 * holds, the store what it may hold besides; a statement that comes twice or late changes nothing. A halt of the group
 * changes no grant: a halted engine places nothing, but it reads its state, also while it starts.
 * Not here: what the store does with it (memory-claim-store.ts, claim-script.ts), when to ask (shared-quota.ts).
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
  /** 1 when it has lately wanted more than it had: its part is kept for it. */
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
}

/** Answer to one item. */
export interface Grant {
  /** Units besides `has`, for anything and for exits only. */
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
   * Of who numbers windows otherwise than most others: how much later its windows of one number begin. Nothing was
   * taken down of it then, and nothing is granted. 0 where it agrees.
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
   * `halt`: why the whole group is halted; empty where it was resumed, undefined where the store does not know.
   * `learning`: it has just lost its memory. `enrolled`: told to a member with the statement that makes it one; who has
   * its own name is the process before.
   */
  | {
      readonly kind: "granted";
      readonly grants: readonly Grant[];
      readonly halt: string | undefined;
      readonly learning: boolean;
      readonly enrolled?: readonly Enrolled[];
    }
  /** It is no member, and its share beside those of the others would be more than there is. */
  | { readonly kind: "full"; readonly enrolled: readonly Enrolled[] }
  /** A younger engine of the same name has registered. */
  | { readonly kind: "fenced" }
  /** A later statement came first. */
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
   * An epoch above all that the name had before. `gone`: the one before is known to be over, so nothing is kept for it.
   */
  register(member: string, gone: boolean, scopes: readonly string[]): Promise<number>;
  claim(statement: Statement): Promise<ClaimReply>;
  /** The member is going: nothing more is kept for it but what it has under way. */
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
