/**
 * Claim store in Redis or Valkey (6.2 or later), for engines on several machines.
 *
 * Invariants: a statement is sent once and never repeated by the client; what could not be sent fails with `NotSent`; a server that
 * does not answer for two seconds is dialled anew. Holds numbers and names only: no keys of the service, no orders.
 * Not here: the algorithm (claim-script.ts), what an engine does while the store is away (shared-quota.ts).
 */
import type { Redis } from "ioredis";
import { messageOf } from "../../errors.ts";
import { optionalPackage } from "../../optional-package.ts";
import {
  byName,
  type ClaimReply,
  type ClaimStore,
  type Enrolled,
  type Grant,
  keptWindows,
  NotSent,
  noReason,
  presentMs,
  type ScopeHolding,
  type Statement,
} from "./claim.ts";
import { claimScript, grantFields, itemFields, leaveScript, registerScript } from "./claim-script.ts";
import { dialled } from "./store-address.ts";

const answerMs = 1_000;
const redialMs = 2_000;
const backOffMsMax = 500;

/** What the store is asked with: two scripts beside plain commands. */
type Scripted = Redis & {
  claimQuota(keys: number, ...args: (string | number)[]): Promise<unknown>;
  registerMember(keys: number, ...args: (string | number)[]): Promise<string>;
  leaveGroup(keys: number, ...args: (string | number)[]): Promise<number>;
};
type Client = Pick<typeof import("ioredis"), "Redis">;

export class RedisClaimStore implements ClaimStore {
  readonly #redis: Scripted;
  readonly #tag: string;
  /** Which server this is; another one may have lost what the first knew. */
  #run: string | undefined;
  /** Answers due since so many turns of a second. */
  #failures = 0;

  private constructor(redis: Scripted, group: string) {
    this.#redis = redis;
    this.#tag = `{${group}}`;
    redis.defineCommand("claimQuota", { lua: claimScript });
    redis.defineCommand("registerMember", { lua: registerScript });
    redis.defineCommand("leaveGroup", { lua: leaveScript });
    const forget = (): void => {
      this.#run = undefined;
    };
    redis.on("close", forget);
    // Told to whoever asks next; without a listener the client would print it.
    redis.on("error", forget);
  }

  /** Connects when first asked; `url` is as store-address.ts reads it, with user and password where the store needs them. */
  static async open(url: string, group: string): Promise<RedisClaimStore> {
    const { Redis } = await optionalPackage<Client>("ioredis", "config.quota.shared: a store in Redis is reached");
    const settings = {
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      commandTimeout: answerMs,
      connectTimeout: redialMs,
      retryStrategy: (times: number) => Math.min(backOffMsMax, 50 * times),
    };
    const dial = dialled(url);
    const redis =
      typeof dial === "string" ? new Redis(dial, settings) : new Redis({ ...dial, ...settings, sentinelCommandTimeout: answerMs });
    return new RedisClaimStore(redis as Scripted, group);
  }

  async register(member: string, gone: boolean, scopes: readonly string[]): Promise<number> {
    const members = this.#memberKeys(scopes);
    return Number(await this.#ask(() => this.#redis.registerMember(1 + members.length, this.#who, ...members, member, gone ? 1 : 0)));
  }

  async leave(member: string, epoch: number, scopes: readonly string[]): Promise<void> {
    const keys = [this.#who, this.#rosterKey, ...this.#memberKeys(scopes)];
    await this.#ask(() => this.#redis.leaveGroup(keys.length, ...keys, member, epoch));
  }

  async members(): Promise<readonly Enrolled[]> {
    const now = await this.#ask(() => this.#redis.time());
    const rows = await this.#ask(() => this.#redis.hgetall(this.#rosterKey));
    return enrolledIn(rows, Number(now[0]) * 1_000 + Math.floor(Number(now[1]) / 1_000));
  }

  async claim({ member, epoch, seq, share, of, items }: Statement): Promise<ClaimReply> {
    const run = await this.#runId();
    const keys = [this.#who, this.#haltKey, this.#rosterKey];
    const numbers: (string | number)[] = [];
    for (const item of items) {
      keys.push(`${this.#tag}:m:${item.scope}`);
      for (let back = 0; back <= keptWindows; back++) keys.push(this.#windowKey(item.scope, item.window - back));
      for (const field of itemFields) numbers.push(item[field]);
    }
    const reply = await this.#ask(() => this.#redis.claimQuota(keys.length, ...keys, run, member, epoch, seq, share, of, ...numbers));
    if (reply === "fenced" || reply === "outdated") return { kind: reply };
    const [admitted, roster, halt, isKnown, learning, ...figures] = reply as readonly [
      number,
      string[],
      string,
      number,
      number,
      ...number[],
    ];
    if (admitted === 0) return { kind: "full", enrolled: enrolledOf(roster) };
    const grants = items.map((_, index) => {
      const from = index * grantFields.length;
      return Object.fromEntries(grantFields.map((field, place) => [field, figures[from + place]])) as unknown as Grant;
    });
    const isNew = roster.length > 0;
    return {
      kind: "granted",
      grants,
      halt: isKnown === 1 ? halt : undefined,
      learning: learning === 1,
      ...(isNew && { enrolled: enrolledOf(roster) }),
    };
  }

  async ping(): Promise<void> {
    await this.#runId();
    await this.#ask(() => this.#redis.ping());
  }

  async halt(reason: string | undefined): Promise<void> {
    await this.#ask(() => this.#redis.set(this.#haltKey, reason === "" ? noReason : (reason ?? "")));
  }

  async halted(): Promise<string | undefined> {
    const told = await this.#ask(() => this.#redis.get(this.#haltKey));
    return told === null || told === "" ? undefined : told;
  }

  async holdings(): Promise<readonly ScopeHolding[]> {
    const found: ScopeHolding[] = [];
    const prefix = `${this.#tag}:w:`;
    let cursor = "0";
    do {
      const [next, keys] = await this.#ask(() => this.#redis.scan(cursor, "MATCH", `${escaped(prefix)}*`, "COUNT", 200));
      cursor = next;
      for (const key of keys) found.push(await this.#holdingOf(key, key.slice(prefix.length)));
    } while (cursor !== "0");
    return found;
  }

  close(): void {
    this.#redis.disconnect();
  }

  async #holdingOf(key: string, name: string): Promise<ScopeHolding> {
    const { "!f": foreign = "0", ...rows } = await this.#ask(() => this.#redis.hgetall(key));
    const at = name.lastIndexOf(":");
    const held = Object.entries(rows).map(([id, row]) => [id.replace(/#\d+$/, ""), Number(row.split("|")[0])] as const);
    return { scope: name.slice(0, at), window: Number(name.slice(at + 1)), foreign: Number(foreign), held: Object.fromEntries(held) };
  }

  get #haltKey(): string {
    return `${this.#tag}:halt`;
  }

  get #rosterKey(): string {
    return `${this.#tag}:roster`;
  }

  #memberKeys(scopes: readonly string[]): readonly string[] {
    return scopes.map((scope) => `${this.#tag}:m:${scope}`);
  }

  get #who(): string {
    return `${this.#tag}:who`;
  }

  #windowKey(scope: string, window: number): string {
    return `${this.#tag}:w:${scope}:${window}`;
  }

  async #runId(): Promise<string> {
    if (this.#run === undefined) {
      const info = await this.#ask(() => this.#redis.info("server"));
      this.#run = /^run_id:(\w+)/m.exec(info)?.[1] ?? "unknown";
    }
    return this.#run;
  }

  async #ask<T>(call: () => Promise<T>): Promise<T> {
    const { status } = this.#redis;
    if (status !== "ready") throw new NotSent(`the store is not connected (${status})`);
    try {
      const answer = await call();
      this.#failures = 0;
      return answer;
    } catch (error) {
      // It was closed in this very turn, and the client keeps nothing back.
      if (messageOf(error).startsWith("Stream isn't writeable")) throw new NotSent(`the store is not connected: ${messageOf(error)}`);
      // The connection may hang without being closed: after two silent seconds another is opened.
      if (++this.#failures * answerMs >= redialMs) {
        this.#failures = 0;
        this.#redis.disconnect(true);
      }
      throw new Error(`the store did not answer: ${messageOf(error)}`);
    }
  }
}

/** Members that the roster holds, as of an instant of the store's clock. */
export const enrolledIn = (roster: Readonly<Record<string, string>>, now: number): readonly Enrolled[] =>
  Object.entries(roster)
    .map(([member, row]): Enrolled => {
      const [, share, of, heardAt] = row.split("|").map(Number) as [number, number, number, number];
      return { member, share, of, heardMs: Math.max(0, now - heardAt) };
    })
    .filter(({ heardMs }) => heardMs <= presentMs)
    .toSorted(byName);

const enrolledOf = (roster: readonly string[]): readonly Enrolled[] => {
  const found: Enrolled[] = [];
  for (let place = 0; place + 3 < roster.length; place += 4) {
    const [member = "", share, of, heardMs] = roster.slice(place, place + 4);
    found.push({ member, share: Number(share), of: Number(of), heardMs: Number(heardMs) });
  }
  return found.toSorted(byName);
};

const escaped = (text: string): string => text.replace(/[\\*?[\]]/g, "\\$&");
