/**
 * Lease store within one process: the algorithm that the scripts for Redis follow as well, for tests and comparison.
 *
 * Not here: loss, delay and repetition of messages, which a test puts around it.
 */

import { standbyMs } from "./lease-scripts.ts";
import type {
  Candidate,
  Copied,
  CopiedFiles,
  Holder,
  LeaseRecord,
  LeaseStore,
  Renewal,
  Sighting,
} from "./lease-store.ts";

export class MemoryLeaseStore implements LeaseStore {
  readonly #now: () => number;
  #memory = 1;
  #record: LeaseRecord | undefined;
  readonly #standbys = new Map<string, number>();
  readonly #files = new Map<string, Uint8Array>();
  readonly #staged = new Map<string, Uint8Array>();
  #version = 0;

  /** `now`: the store's calendar. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** As a restart without a file does. */
  forget(): void {
    this.#memory++;
    this.#record = undefined;
    this.#standbys.clear();
    this.#files.clear();
    this.#staged.clear();
    this.#version = 0;
  }

  get record(): LeaseRecord | undefined {
    return this.#record;
  }

  async look({ name }: Candidate): Promise<Sighting> {
    this.#standbys.set(name, this.#now());
    return { record: this.#record, memory: String(this.#memory) };
  }

  async take({ name, session, owner }: Candidate, seen: LeaseRecord | undefined): Promise<number | undefined> {
    const { epoch, seq } = this.#record ?? {};
    if (epoch !== seen?.epoch || seq !== seen?.seq) return undefined;
    const mine = Math.max(this.#now(), (epoch ?? 0) + 1);
    this.#record = { epoch: mine, seq: 0, name, session, owner, released: false };
    this.#standbys.delete(name);
    return mine;
  }

  async renew({ name, session, owner, epoch, seq, valid, memory }: Holder): Promise<Renewal> {
    if (!valid && memory !== String(this.#memory)) return { kind: "unsure" };
    const known = this.#record;
    const knownEpoch = known?.epoch ?? 0;
    if (knownEpoch < epoch && valid) this.#record = { epoch, seq, name, session, owner, released: false };
    else if (known === undefined || knownEpoch < epoch) return { kind: "unsure" };
    else if (knownEpoch > epoch || known.released) return { kind: "deposed", by: known.name };
    else if (seq > known.seq) this.#record = { ...known, seq };
    const now = this.#now();
    for (const [one, at] of this.#standbys) if (now - at > standbyMs) this.#standbys.delete(one);
    const standbys = [...this.#standbys].map(([one, at]) => ({ name: one, ms: Math.max(0, now - at) }));
    return { kind: "renewed", memory: String(this.#memory), standbys };
  }

  async release({ epoch, session }: Pick<Holder, "epoch" | "session">): Promise<void> {
    const known = this.#record;
    if (known?.epoch === epoch && known.session === session) this.#record = { ...known, released: true };
  }

  async files(): Promise<CopiedFiles> {
    return { version: this.#version, bytes: new Map([...this.#files].map(([name, bytes]) => [name, bytes.length])) };
  }

  async read(file: string, from: number, bytes: number): Promise<Uint8Array> {
    return (this.#files.get(file) ?? new Uint8Array()).slice(from, from + bytes);
  }

  async append(epoch: number, file: string, at: number, bytes: Uint8Array): Promise<Copied> {
    const before = this.#files.get(file);
    const stop = this.#fenced(epoch);
    if (stop !== undefined) return stop;
    if (before === undefined || at > before.length) return "gap";
    if (at + bytes.length > before.length)
      this.#files.set(file, Buffer.concat([before, bytes.subarray(before.length - at)]));
    return "copied";
  }

  async replace(epoch: number, file: string, bytes: Uint8Array): Promise<Copied> {
    const stop = this.#fenced(epoch);
    if (stop !== undefined) return stop;
    this.#files.set(file, Uint8Array.from(bytes));
    this.#version++;
    return "copied";
  }

  async stage(epoch: number, file: string, at: number, bytes: Uint8Array): Promise<Copied> {
    const stop = this.#fenced(epoch);
    if (stop !== undefined) return stop;
    const before = at === 0 ? new Uint8Array() : (this.#staged.get(file) ?? new Uint8Array());
    if (at > before.length) return "gap";
    if (at === 0 || at + bytes.length > before.length) {
      this.#staged.set(file, Buffer.concat([before, bytes.subarray(before.length - at)]));
    }
    return "copied";
  }

  async replaceStaged(epoch: number, file: string, bytes: number): Promise<Copied> {
    const stop = this.#fenced(epoch);
    if (stop !== undefined) return stop;
    const staged = this.#staged.get(file);
    if (staged?.length !== bytes) return "gap";
    this.#staged.delete(file);
    return this.replace(epoch, file, staged);
  }

  async remove(epoch: number, file: string): Promise<Copied> {
    const stop = this.#fenced(epoch);
    if (stop !== undefined) return stop;
    this.#files.delete(file);
    this.#version++;
    return "copied";
  }

  close(): void {}

  #fenced(epoch: number): Copied | undefined {
    const known = this.#record?.epoch ?? 0;
    return known > epoch ? "deposed" : known < epoch ? "gap" : undefined;
  }
}
