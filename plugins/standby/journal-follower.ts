/**
 * Follower of a leader's journal: the folder of a standby, kept equal to the copy at the store.
 *
 * Invariants: files travel in pieces, and an attempt after a failure continues where the last one ended; a file appears
 * under its name once all of it is here. A folder keeps what continues the copy; what contradicts it is set aside under
 * another name, never dropped.
 * Not here: how a leader's journal gets to the store (journal-copy.ts), when it is followed (standby.ts).
 */
import { SluiceError } from "sluice";
import type { Disk } from "sluice/extension";
import type { JournalCopyStore } from "./lease-store.ts";

export interface CopyParts {
  readonly disk: Disk;
  /** Used for files in pieces: a slow line must not delay what else is asked of the store. */
  readonly store: JournalCopyStore;
}

/** So much travels at once. */
export const pieceBytes = 64 << 10;

/** True for the name of a segment of a journal. */
export const isSegment = (name: string): boolean => /^\d{8}\.journal$/.test(name);

/** Name under which a file that contradicts the copy is kept. */
export const firstFreeName = async (disk: Disk, name: string): Promise<string> => {
  const names = await disk.list();
  let count = 1;
  while (names.includes(`${name}.${count}.apart`)) count++;
  return `${name}.${count}.apart`;
};

/** The folder of a standby: follows the store's copy. What it has read is kept when an attempt fails. */
export class JournalFollower {
  readonly #parts: CopyParts;
  /** Files whose bytes here are those at the store, by how many there are here. */
  readonly #verified = new Map<string, number>();
  /** Files that are compared, by how many bytes were found equal. */
  readonly #equal = new Map<string, number>();
  /** Files that are not here yet, by how many bytes of them are. */
  readonly #fetched = new Map<string, number>();
  #version = Number.NaN;

  constructor(parts: CopyParts) {
    this.#parts = parts;
  }

  /** Of each file at the store that was read, how many bytes from its start are those of the folder. */
  get read(): ReadonlyMap<string, number> {
    return new Map([...this.#equal, ...this.#verified]);
  }

  /**
   * Brings the folder up to what the store has. A store that has nothing, as after a loss of memory, leaves it as it
   * is.
   */
  async follow(): Promise<void> {
    const { disk, store } = this.#parts;
    const { version, bytes } = await store.files();
    if (version !== this.#version) {
      this.#verified.clear();
      this.#equal.clear();
      this.#fetched.clear();
      this.#version = version;
    }
    const own = new Set((await disk.list()).filter(isSegment));
    const copied = [...bytes.keys()].filter(isSegment).sort();
    if (copied.length === 0) return;
    let isAhead = false;
    for (const name of copied) isAhead = await this.#take(name, own.has(name), bytes.get(name) ?? 0);
    const [first = "", last = ""] = [copied[0], copied.at(-1)];
    for (const name of own) {
      // Segments before the first one of the copy are not needed any more.
      if (name < first) await disk.remove(name);
      // Begun by this process when it led, and not changed by another since, or given up by the next leader.
      else if (name > last && !isAhead) await this.#setAside(name);
    }
  }

  /** True where the folder has all of it, and perhaps more. */
  async #take(name: string, isHere: boolean, total: number): Promise<boolean> {
    const { disk } = this.#parts;
    const known = this.#verified.get(name);
    if (known !== undefined) return known === total || (await this.#extend(name, total));
    const own = isHere && !this.#fetched.has(name) ? await disk.read(name) : undefined;
    if (own !== undefined && (await this.#isSame(name, own, Math.min(own.length, total)))) {
      // It may know more than the store, which then must not be appended to it.
      if (own.length > total) return true;
      this.#verified.set(name, own.length);
      return own.length === total || (await this.#extend(name, total));
    }
    await this.#fetch(name, total);
    if (isHere) await this.#setAside(name);
    await disk.rename(`${name}.part`, name);
    this.#fetched.delete(name);
    this.#verified.set(name, total);
    return false;
  }

  /** Under another name, until all of it is here. */
  async #fetch(name: string, total: number): Promise<void> {
    const { disk } = this.#parts;
    const part = `${name}.part`;
    if (!this.#fetched.has(name)) {
      if ((await disk.list()).includes(part)) await disk.remove(part);
      await disk.create(part, new Uint8Array());
      this.#fetched.set(name, 0);
    }
    await this.#append(name, part, total, this.#fetched);
  }

  /** True if the first bytes of the file are those of the folder. */
  async #isSame(name: string, own: Uint8Array, bytes: number): Promise<boolean> {
    for (let at = this.#equal.get(name) ?? 0; at < bytes; ) {
      const piece = await this.#piece(name, at, bytes);
      if (Buffer.compare(piece, own.subarray(at, at + piece.length)) !== 0) {
        this.#equal.delete(name);
        return false;
      }
      at += piece.length;
      this.#equal.set(name, at);
    }
    this.#equal.set(name, bytes);
    return true;
  }

  async #extend(name: string, total: number): Promise<false> {
    await this.#append(name, name, total, this.#verified);
    return false;
  }

  async #append(name: string, to: string, total: number, progress: Map<string, number>): Promise<void> {
    const file = await this.#parts.disk.open(to);
    try {
      for (let at = progress.get(name) ?? 0; at < total; ) {
        const piece = await this.#piece(name, at, total);
        await file.append(piece);
        at += piece.length;
        progress.set(name, at);
      }
    } finally {
      await file.sync();
      await file.close();
    }
  }

  async #piece(name: string, at: number, until: number): Promise<Uint8Array> {
    const piece = await this.#parts.store.read(name, at, Math.min(pieceBytes, until - at));
    if (piece.length > 0) return piece;
    throw new SluiceError("JOURNAL_FAILED", `${name}: the store has ${at} of ${until} bytes; it is read again`);
  }

  async #setAside(name: string): Promise<void> {
    const { disk } = this.#parts;
    await disk.rename(name, await firstFreeName(disk, name));
  }
}
