/**
 * Lease store in Redis or Valkey (6.2 or later), for processes on several machines.
 *
 * Invariants: each command is sent once and never repeated. The copied journal contains the orders: every reader of the
 * store can read them.
 * Not here: the algorithm (lease-scripts.ts), what a process does while the store does not answer (lease.ts).
 */

import { SluiceError } from "sluice";
import { messageOf } from "sluice/extension";
import { openRedis, type RedisConnection, type Scripted, shownAddress } from "sluice/plugins/redis";
import {
  appendScript,
  lookScript,
  releaseScript,
  removeScript,
  renewScript,
  replaceScript,
  replaceStagedScript,
  stageScript,
  standbyMs,
  takeScript,
} from "./lease-scripts.ts";
import type {
  Candidate,
  Copied,
  CopiedFiles,
  Heard,
  Holder,
  Leadership,
  LeaseRecord,
  LeaseStore,
  Renewal,
  Sighting,
} from "./lease-store.ts";

const answerMsDefault = 1_000;
const refused = /WRONGPASS|NOAUTH|NOPERM|invalid password/;

const scripts = {
  lookLease: lookScript,
  takeLease: takeScript,
  renewLease: renewScript,
  releaseLease: releaseScript,
  appendCopy: appendScript,
  replaceCopy: replaceScript,
  removeCopy: removeScript,
  stageCopy: stageScript,
  replaceStagedCopy: replaceStagedScript,
} as const;
type Connection = RedisConnection<keyof typeof scripts>;

export class RedisLeaseStore implements LeaseStore {
  readonly #connection: Connection;
  readonly #tag: string;
  readonly #keyOf: (kind: string) => string;
  /** As people may see it. */
  readonly #address: string;

  private constructor(connection: Connection, address: string, group: string, instance: string) {
    this.#connection = connection;
    this.#address = address;
    this.#tag = `{${group}}`;
    this.#keyOf = (kind) => `${this.#tag}:${kind}:${instance}`;
  }

  /**
   * Connects when first asked; `url` is an address as plugins/redis reads it. An answer that takes longer than
   * `answerMs` is none.
   */
  static async open(
    url: string,
    group: string,
    instance: string,
    answerMs: number = answerMsDefault,
  ): Promise<RedisLeaseStore> {
    const needs = "standby: a store in Redis is reached";
    return new RedisLeaseStore(await openRedis({ url, needs, answerMs, scripts }), shownAddress(url), group, instance);
  }

  async look({ name }: Candidate): Promise<Sighting> {
    const memory = await this.#serverId();
    const fields = (await this.#ask((redis) => redis.lookLease(2, ...this.#leaseKeys, name))) as readonly string[];
    return { record: recordOf(pairs(fields)), memory };
  }

  async take({ name, session, owner }: Candidate, seen: LeaseRecord | undefined): Promise<number | undefined> {
    const { epoch = "", seq = "" } = seen ?? {};
    const taken = await this.#ask((redis) => redis.takeLease(2, ...this.#leaseKeys, name, session, owner, epoch, seq));
    return taken === "" ? undefined : Number(taken);
  }

  async renew({ name, session, owner, epoch, seq, valid, memory }: Holder): Promise<Renewal> {
    const known = await this.#serverId();
    if (!valid && memory !== known) return { kind: "unsure" };
    const [kind, ...more] = (await this.#ask((redis) =>
      redis.renewLease(2, ...this.#leaseKeys, name, session, owner, epoch, seq, valid ? 1 : 0),
    )) as readonly [string, ...string[]];
    if (kind === "unsure") return { kind };
    if (kind === "deposed") return { kind, by: more[0] ?? "" };
    return { kind: "renewed", memory: known, standbys: heardOf(more) };
  }

  async release({ epoch, session }: Pick<Holder, "epoch" | "session">): Promise<void> {
    await this.#ask((redis) => redis.releaseLease(1, this.#keyOf("lease"), session, epoch));
  }

  async files(): Promise<CopiedFiles> {
    const held = await this.#ask((redis) => redis.hgetall(this.#keyOf("files")));
    const bytes = new Map<string, number>();
    for (const name of Object.keys(held)) {
      if (name !== "!version") bytes.set(name, await this.#ask((redis) => redis.strlen(this.#fileKey(name))));
    }
    return { version: Number(held["!version"] ?? 0), bytes };
  }

  async read(file: string, from: number, bytes: number): Promise<Uint8Array> {
    return this.#ask((redis) => redis.getrangeBuffer(this.#fileKey(file), from, from + bytes - 1));
  }

  async append(epoch: number, file: string, at: number, bytes: Uint8Array): Promise<Copied> {
    return (await this.#ask((redis) =>
      redis.appendCopy(3, ...this.#copyKeys(file), epoch, file, at, Buffer.from(bytes)),
    )) as Copied;
  }

  async replace(epoch: number, file: string, bytes: Uint8Array): Promise<Copied> {
    return (await this.#ask((redis) =>
      redis.replaceCopy(3, ...this.#copyKeys(file), epoch, file, Buffer.from(bytes)),
    )) as Copied;
  }

  async stage(epoch: number, file: string, at: number, bytes: Uint8Array): Promise<Copied> {
    const [lease, files] = this.#copyKeys(file);
    return (await this.#ask((redis) =>
      redis.stageCopy(3, lease, files, this.#stagedKey(file), epoch, file, at, Buffer.from(bytes)),
    )) as Copied;
  }

  async replaceStaged(epoch: number, file: string, bytes: number): Promise<Copied> {
    return (await this.#ask((redis) =>
      redis.replaceStagedCopy(4, ...this.#copyKeys(file), this.#stagedKey(file), epoch, file, bytes),
    )) as Copied;
  }

  async remove(epoch: number, file: string): Promise<Copied> {
    return (await this.#ask((redis) => redis.removeCopy(3, ...this.#copyKeys(file), epoch, file))) as Copied;
  }

  /** Leader of each instance of the group. */
  async leaderships(): Promise<readonly Leadership[]> {
    const now = await this.#told(this.#connection.now());
    const since = (at: string | undefined): number => Math.max(0, now - Number(at ?? now));
    const prefix = `${this.#tag}:lease:`;
    const found: Leadership[] = [];
    for (const key of await this.#told(this.#connection.keysUnder(prefix))) {
      const instance = key.slice(prefix.length);
      const { name = "", released, heard } = await this.#ask((redis) => redis.hgetall(key));
      const looked = await this.#ask((redis) => redis.hgetall(`${this.#tag}:standbys:${instance}`));
      const standbys = Object.entries(looked).map(([one, at]) => ({ name: one, ms: since(at) }));
      found.push({
        instance,
        leader: { name, ms: since(heard) },
        released: released === "1",
        standbys: standbys.filter(({ ms }) => ms <= standbyMs),
      });
    }
    return found.sort((a, b) => (a.instance < b.instance ? -1 : 1));
  }

  close(): void {
    this.#connection.close();
  }

  get #leaseKeys(): readonly [string, string] {
    return [this.#keyOf("lease"), this.#keyOf("standbys")];
  }

  #copyKeys(file: string): readonly [string, string, string] {
    return [this.#keyOf("lease"), this.#keyOf("files"), this.#fileKey(file)];
  }

  #fileKey(file: string): string {
    return `${this.#keyOf("file")}:${file}`;
  }

  #stagedKey(file: string): string {
    return `${this.#keyOf("staged")}:${file}`;
  }

  #serverId(): Promise<string> {
    return this.#told(this.#connection.serverId());
  }

  #ask<T>(call: (redis: Scripted<keyof typeof scripts>) => Promise<T>): Promise<T> {
    return this.#told(this.#connection.ask(call));
  }

  async #told<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      throw this.#failure(messageOf(error));
    }
  }

  #failure(why: string): Error {
    if (!refused.test(why)) return new Error(`the store ${this.#address} does not answer: ${why}`);
    return new SluiceError(
      "CONFIG_INVALID",
      `standby.store: ${this.#address} refuses this process (${why}). Correct the user and password in the address, or the rights of that user.`,
    );
  }
}

const pairs = (list: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from({ length: list.length / 2 }, (_, index) => [list[2 * index], list[2 * index + 1]]));

const recordOf = (fields: Readonly<Record<string, string>>): LeaseRecord | undefined => {
  const { epoch, seq, name = "", session = "", owner = "", released } = fields;
  return epoch === undefined
    ? undefined
    : { epoch: Number(epoch), seq: Number(seq), name, session, owner, released: released === "1" };
};

const heardOf = (list: readonly string[]): readonly Heard[] =>
  Object.entries(pairs(list)).map(([name, ms]) => ({ name, ms: Number(ms) }));
