/**
 * Language between an engine and the store that divides a quota among engines: what is stated, what is granted.
 *
 * A *scope* is one user or one address, a *window* its number on the service's clock. Of each window a *member* (an
 * engine) holds units; the sum of what all hold never exceeds the capacity, and what is held of one window is worth
 * nothing in the next.
 *
 * Invariants: durations and window numbers only, never an instant of somebody's clock; the member says what it holds,
 * the store what it may hold besides; a statement that comes twice or late changes nothing. A halt of the group changes
 * no grant: a halted engine places nothing, but it reads its state, also while it starts.
 * Not here: what the store does with it (memory-claim-store.ts, claim-script.ts), when to ask (shared-quota.ts).
 */

/** What one member says of one window of one scope, and what it asks for. All in units of the layer. */
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
  /** Of it, what was answered. */
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
  /** What ordinary actions of all members leave free. */
  readonly leave: number;
  /** Units the member may use of a window of which it has said nothing. */
  readonly floor: number;
  readonly openOrders: number;
  /** Exits that the member expects, a whole number. */
  readonly exitsPerHour: number;
  /** How much earlier than in `remainingMs` the window may end. */
  readonly spreadMs: number;
}

export interface Statement {
  /** Name of the member, unique in its group. */
  readonly member: string;
  readonly epoch: number;
  /** Rises with each statement of an epoch. */
  readonly seq: number;
  /** Relative part of the quota, and what the member takes for the sum of all parts. */
  readonly share: number;
  readonly of: number;
  readonly items: readonly ClaimItem[];
}

/** Answer to one item. */
export interface Grant {
  /** Units besides `has`, for anything and for exits only. */
  readonly ordinary: number;
  readonly exits: number;
  /** What is left after that, the reserve included. */
  readonly free: number;
  /** Used by clients outside the group, as far as is known. */
  readonly foreign: number;
  /** Of all members that were heard within the last windows, this one included. */
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
  /** Milliseconds since it was last heard. */
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

/** Who holds what of one window, for people. */
export interface ScopeHolding {
  readonly scope: string;
  readonly window: number;
  readonly foreign: number;
  readonly held: Readonly<Record<string, number>>;
}

/**
 * Where the members of one group meet. Every call may reject: with `NotSent` when nothing can have reached the store.
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
  /** Tells every member that the group is halted, or with undefined that it may trade again. */
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
/** What a halt without a reason is told with: an empty one says that there is none. */
export const noReason = "no reason given";
/**
 * Parts of members that were not heard for so long are open to others, and everybody's in the last part of a window.
 */
export const silentMs = 4_000;
export const lastMs = 2_000;
/** A member that was not heard for so long has left: its share may be another's. */
export const presentMs = 150_000;
/** What a statement takes to arrive, and clocks drift meanwhile, when beginnings of windows are compared. */
export const phaseSlackMs = 250;
/** From then on a grant is not halved: there is little time to come back for the rest. */
export const wholeMs = 1_000;
/** What is under way or promised to a silent member is kept for so many windows. */
export const keptWindows = 2;
