/**
 * Answer store in Redis or Valkey: answers of the service, shared by the engines of a group.
 *
 * Invariants: ages are measured on the store server's clock, from before the request; a late answer never replaces one
 * that was requested later; an answer from the future, after the clock was set back, is dropped; unused answers expire.
 * Not here: when to read (shared-reads.ts).
 */
import { openRedis, type RedisConnection } from "sluice/plugins/redis";
import type { AnswerReply, AnswerStore } from "./shared-reads.ts";

/** Longest wait for the answer of another engine that asks. */
const askingMs = 5_000;
const keptMs = 120_000;
const answerMs = 1_000;

const lookScript = `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local known = redis.call('HMGET', KEYS[1], 'at', 'text')
if known[1] then
  local age = now - tonumber(known[1])
  if age >= 0 and age <= tonumber(ARGV[1]) then return {'answer', now, age, known[2]} end
  if age < 0 then redis.call('DEL', KEYS[1]) end
end
local mark = string.format('%.0f', now) .. ':' .. ARGV[2]
if redis.call('SET', KEYS[2], mark, 'NX', 'PX', ARGV[3]) then return {'ask', now, mark} end
return {'wait', now}`;

const leaveScript = `
if redis.call('GET', KEYS[2]) == ARGV[1] then redis.call('DEL', KEYS[2]) end
if ARGV[2] == '' then return 0 end
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local at = tonumber(string.match(ARGV[1], '^%d+'))
if at > now then return 0 end
local known = redis.call('HGET', KEYS[1], 'at')
if known and tonumber(known) > at then return 0 end
redis.call('HSET', KEYS[1], 'at', string.format('%.0f', at), 'text', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1`;

const scripts = { lookForAnswer: lookScript, leaveAnswer: leaveScript } as const;
type Connection = RedisConnection<keyof typeof scripts>;

export class RedisAnswerStore implements AnswerStore {
  readonly #connection: Connection;
  readonly #prefix: string;
  readonly #member: string;
  #count = 0;

  private constructor(connection: Connection, prefix: string, member: string) {
    this.#connection = connection;
    this.#prefix = prefix;
    this.#member = member;
  }

  /**
   * Connects when first asked; `url` is an address as plugins/redis reads it. `kind` separates engines of different
   * kinds: an answer is read only by engines of the same kind.
   */
  static async open(url: string, group: string, kind: string, member: string): Promise<RedisAnswerStore> {
    const needs = "sharedQuota: a store in Redis is reached";
    return new RedisAnswerStore(await openRedis({ url, needs, answerMs, scripts }), `{${group}}:r:${kind}`, member);
  }

  async look(name: string, maxAgeMs: number): Promise<AnswerReply> {
    const mark = `${this.#member}:${++this.#count}`;
    const reply = await this.#connection.ask((redis) =>
      redis.lookForAnswer(2, ...this.#keys(name), Math.floor(maxAgeMs), mark, askingMs),
    );
    const [kind, storeMs, ...rest] = reply as readonly (string | number)[];
    const time = { storeMs: Number(storeMs) };
    if (kind === "answer") return { kind, ageMs: Number(rest[0]), text: String(rest[1]), ...time };
    return kind === "ask" ? { kind, mark: String(rest[0]), ...time } : { kind: "wait", ...time };
  }

  async leave(name: string, mark: string, text = ""): Promise<void> {
    await this.#connection.ask((redis) => redis.leaveAnswer(2, ...this.#keys(name), mark, text, keptMs));
  }

  close(): void {
    this.#connection.close();
  }

  #keys(name: string): [string, string] {
    return [`${this.#prefix}:${name}`, `${this.#prefix}:${name}:asking`];
  }
}
