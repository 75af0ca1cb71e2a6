/**
 * Claim store in Redis or Valkey (6.2 or later), for engines on several machines.
 *
 * Invariants: a statement is sent once and never repeated; what could not be sent fails with `NotSent`. The store holds
 * numbers and names only: no keys of the service, no orders.
 * Not here: the algorithm (claim-script.ts), what an engine does while the store is away (shared-quota.ts).
 */

import { openRedis, type RedisConnection } from "sluice/plugins/redis";
import {
  byName,
  type ClaimReply,
  type ClaimStore,
  type Enrolled,
  type Grant,
  keptWindows,
  noReason,
  presentMs,
  type ScopeHolding,
  type SpentEvenly,
  type Statement,
} from "./claim.ts";
import { claimScript, grantFields, itemFields, leaveScript, registerScript } from "./claim-script.ts";

const answerMs = 1_000;

const scripts = { claimQuota: claimScript, registerMember: registerScript, leaveGroup: leaveScript } as const;
type Connection = RedisConnection<keyof typeof scripts>;

export class RedisClaimStore implements ClaimStore {
  readonly #connection: Connection;
  readonly #tag: string;

  private constructor(connection: Connection, group: string) {
    this.#connection = connection;
    this.#tag = `{${group}}`;
  }

  /** Connects when first asked; `url` is as store-address.ts reads it. */
  static async open(url: string, group: string): Promise<RedisClaimStore> {
    const needs = "sharedQuota: a store in Redis is reached";
    return new RedisClaimStore(await openRedis({ url, needs, answerMs, scripts }), group);
  }

  async register(member: string, gone: boolean, scopes: readonly string[]): Promise<number> {
    const members = this.#memberKeys(scopes);
    return Number(
      await this.#connection.ask((redis) =>
        redis.registerMember(1 + members.length, this.#who, ...members, member, gone ? 1 : 0),
      ),
    );
  }

  async leave(member: string, epoch: number, scopes: readonly string[]): Promise<void> {
    const keys = [this.#who, this.#rosterKey, ...this.#memberKeys(scopes)];
    await this.#connection.ask((redis) => redis.leaveGroup(keys.length, ...keys, member, epoch));
  }

  async members(): Promise<readonly Enrolled[]> {
    const now = await this.#connection.now();
    const rows = await this.#connection.ask((redis) => redis.hgetall(this.#rosterKey));
    return enrolledIn(rows, now);
  }

  async claim({ member, epoch, seq, share, of, items, evenly }: Statement): Promise<ClaimReply> {
    const run = await this.#connection.serverId();
    const keys = [this.#who, this.#haltKey, this.#rosterKey, this.#evenlyKey];
    const numbers: (string | number)[] = [evenly.length, ...evenly.flatMap(({ scope, forMs }) => [scope, forMs])];
    for (const item of items) {
      keys.push(`${this.#tag}:m:${item.scope}`);
      for (let back = 0; back <= keptWindows; back++) keys.push(this.#windowKey(item.scope, item.window - back));
      for (const field of itemFields) numbers.push(item[field]);
    }
    const reply = await this.#connection.ask((redis) =>
      redis.claimQuota(keys.length, ...keys, run, member, epoch, seq, share, of, ...numbers),
    );
    if (reply === "fenced" || reply === "outdated") return { kind: reply };
    const [admitted, roster, halt, isKnown, learning, scopes, ...figures] = reply as readonly [
      number,
      string[],
      string,
      number,
      number,
      string[],
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
      evenly: evenlyOf(scopes),
      ...(isNew && { enrolled: enrolledOf(roster) }),
    };
  }

  async ping(): Promise<void> {
    await this.#connection.serverId();
    await this.#connection.ask((redis) => redis.ping());
  }

  async halt(reason: string | undefined): Promise<void> {
    await this.#connection.ask((redis) => redis.set(this.#haltKey, reason === "" ? noReason : (reason ?? "")));
  }

  async halted(): Promise<string | undefined> {
    const told = await this.#connection.ask((redis) => redis.get(this.#haltKey));
    return told === null || told === "" ? undefined : told;
  }

  async holdings(): Promise<readonly ScopeHolding[]> {
    const found: ScopeHolding[] = [];
    const prefix = `${this.#tag}:w:`;
    for (const key of await this.#connection.keysUnder(prefix))
      found.push(await this.#holdingOf(key, key.slice(prefix.length)));
    return found;
  }

  close(): void {
    this.#connection.close();
  }

  async #holdingOf(key: string, name: string): Promise<ScopeHolding> {
    const { "!f": foreign = "0", ...rows } = await this.#connection.ask((redis) => redis.hgetall(key));
    const at = name.lastIndexOf(":");
    const held = Object.entries(rows).map(([id, row]) => [id.replace(/#\d+$/, ""), Number(row.split("|")[0])] as const);
    return {
      scope: name.slice(0, at),
      window: Number(name.slice(at + 1)),
      foreign: Number(foreign),
      held: Object.fromEntries(held),
    };
  }

  get #haltKey(): string {
    return `${this.#tag}:halt`;
  }

  get #evenlyKey(): string {
    return `${this.#tag}:evenly`;
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

const evenlyOf = (told: readonly string[]): readonly SpentEvenly[] => {
  const evenly: SpentEvenly[] = [];
  for (let place = 0; place + 1 < told.length; place += 2)
    evenly.push({ scope: told[place] as string, forMs: Number(told[place + 1]) });
  return evenly;
};

const enrolledOf = (roster: readonly string[]): readonly Enrolled[] => {
  const found: Enrolled[] = [];
  for (let place = 0; place + 3 < roster.length; place += 4) {
    const [member = "", share, of, heardMs] = roster.slice(place, place + 4);
    found.push({ member, share: Number(share), of: Number(of), heardMs: Number(heardMs) });
  }
  return found.toSorted(byName);
};
