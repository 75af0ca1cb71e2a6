/**
 * Interface of durable storage: a folder with append-only files and files that are created atomically.
 *
 * - Bytes written by `append` survive a crash only after `sync` has resolved. Until then any part of them may be lost.
 * `sync` returns undefined if data survives by itself.
 * - `create` makes a file with all its bytes, durably, or not at all; it never changes an existing one.
 * - After a failed `sync` the content on disk is undefined; the file must not be used any more.
 */
export interface DiskFile {
  append(bytes: Uint8Array): Promise<void>;
  sync(): Promise<void> | undefined;
  close(): Promise<void>;
}

/** A folder of files, as the journal uses it. */
export interface Disk {
  /** Names of the files, sorted. */
  list(): Promise<readonly string[]>;
  read(name: string): Promise<Uint8Array>;
  create(name: string, bytes: Uint8Array): Promise<void>;
  /** Opens an existing file to append to. */
  open(name: string): Promise<DiskFile>;
  /** Cuts a file off after so many bytes, durably. */
  truncate(name: string, bytes: number): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** Reserves `name` for this process on this machine, until the returned function is called or the process ends. */
  lock(name: string): Promise<() => Promise<void>>;
  /** Name of the folder in messages. */
  readonly name: string;
}
