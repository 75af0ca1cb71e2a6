/**
 * Port to the store where the processes of one engine meet: who leads, and a copy of the leader's journal.
 *
 * Invariants: of each name one process holds the lease, the one of the highest epoch; a record never runs out by the
 * store's clock: who watches decides by its own how long it stood still; what a holder of an older epoch writes to the
 * copy changes nothing.
 * Not here: when the lease is taken or given up (lease.ts), what is copied (journal-copy.ts).
 */

/** Record of the leader in the store. */
export interface LeaseRecord {
  /** Rises with each process that takes the lease. */
  readonly epoch: number;
  /** Rises with each renewal. */
  readonly seq: number;
  /** Name of the process, for people. */
  readonly name: string;
  /** One process from its start to its end. */
  readonly session: string;
  /**
   * Service, users and instance: two engines of one name that are not the same engine must not replace each other.
   */
  readonly owner: string;
  /** It was given back in order: nothing of its holder is under way any more. */
  readonly released: boolean;
}

export interface Sighting {
  /** Undefined where the store knows of none. */
  readonly record: LeaseRecord | undefined;
  /** Id of the store's memory: another one may have lost what the first knew. */
  readonly memory: string;
}

/** A process and the age of its last message to the store. */
export interface Heard {
  readonly name: string;
  readonly ms: number;
}

/** Leader of one instance, as the store knows it, and its standbys. */
export interface Leadership {
  readonly instance: string;
  readonly leader: Heard;
  readonly released: boolean;
  readonly standbys: readonly Heard[];
}

export type Renewal =
  | { readonly kind: "renewed"; readonly memory: string; readonly standbys: readonly Heard[] }
  /**
   * The lease has run out, and the store may have lost who took it since: it knows of nobody, or has another memory
   * than the one that confirmed it.
   */
  | { readonly kind: "unsure" }
  /** Another process has taken the lease. */
  | { readonly kind: "deposed"; readonly by: string };

export interface Candidate extends Pick<LeaseRecord, "name" | "session" | "owner"> {}

export interface Holder extends Candidate, Pick<LeaseRecord, "epoch" | "seq"> {
  /**
   * The lease has not run out by the holder's own clocks: a store that has lost the record, or holds an older one, is
   * told anew.
   */
  readonly valid: boolean;
  /** The memory that last confirmed the lease. Another one must not confirm it once it has run out. */
  readonly memory: string;
}

/**
 * What the store has of the copy: bytes of each file. A new `version` says that files were replaced or removed, not
 * only appended to.
 */
export interface CopiedFiles {
  readonly version: number;
  readonly bytes: ReadonlyMap<string, number>;
}

/** `gap`: what comes before is not there. `deposed`: another process leads. */
export type Copied = "copied" | "gap" | "deposed";

export interface JournalCopyStore {
  files(): Promise<CopiedFiles>;
  /** Reads at most so many `bytes` of the file. */
  read(file: string, from: number, bytes: number): Promise<Uint8Array>;
  /** Bytes of the file from `at` on; what is there already is left as it is. */
  append(epoch: number, file: string, at: number, bytes: Uint8Array): Promise<Copied>;
  /** The whole file, in place of what was there. */
  replace(epoch: number, file: string, bytes: Uint8Array): Promise<Copied>;
  /** A piece of a file that replaces another once it is whole; from 0 on it begins again. */
  stage(epoch: number, file: string, at: number, bytes: Uint8Array): Promise<Copied>;
  /** The staged file, which has so many bytes, in place of what was there. `gap`: it has not. */
  replaceStaged(epoch: number, file: string, bytes: number): Promise<Copied>;
  remove(epoch: number, file: string): Promise<Copied>;
}

/** Every call may reject: then it is not known whether it was done. */
export interface LeaseStore extends JournalCopyStore {
  /** Reads the leader, and notes at the same time that this process is a standby. */
  look(candidate: Candidate): Promise<Sighting>;
  /** Takes the lease where the record is still as it was `seen`. The new epoch, or undefined where it is not. */
  take(candidate: Candidate, seen: LeaseRecord | undefined): Promise<number | undefined>;
  renew(holder: Holder): Promise<Renewal>;
  /** Gives the lease back: the next process need not wait. */
  release(holder: Pick<Holder, "epoch" | "session">): Promise<void>;
  close(): void;
}
