/**
 * Port to the store that the processes of one engine share: the leader's record, and a copy of the leader's journal.
 *
 * Invariants: of each name one process holds the lease, the one of the highest epoch. A record never expires by the
 * store's clock: a candidate measures with its own clock for how long it has not changed. Writes to the copy by a
 * holder of an older epoch change nothing.
 * Not here: when the lease is taken or released (lease.ts), what is copied (journal-copy.ts).
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
   * The lease has run out, and the store may have lost the record of a newer holder: it has no record, or another
   * memory than the one that confirmed the lease.
   */
  | { readonly kind: "unsure" }
  /** Another process has taken the lease. */
  | { readonly kind: "deposed"; readonly by: string };

export interface Candidate extends Pick<LeaseRecord, "name" | "session" | "owner"> {}

export interface Holder extends Candidate, Pick<LeaseRecord, "epoch" | "seq"> {
  /**
   * The lease has not run out by the holder's own clocks: the record is written again to a store that has lost it or
   * has an older one.
   */
  readonly valid: boolean;
  /** The memory that last confirmed the lease. Another one must not confirm it once it has run out. */
  readonly memory: string;
}

/**
 * State of the copy at the store: bytes of each file. A new `version` means that files were replaced or removed, not
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
  /** A piece of a file that replaces another once it is whole; a piece at 0 begins again. */
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
  /** Releases the lease, so that the next process need not wait. */
  release(holder: Pick<Holder, "epoch" | "session">): Promise<void>;
  close(): void;
}
