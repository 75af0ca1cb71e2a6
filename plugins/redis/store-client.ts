/**
 * Commands of a store that plugins use, as the client `ioredis` has them.
 *
 * Invariants: no type of an optional package, so that a program that compiles against this file need not have installed
 * it.
 */

/** Argument of a script. */
type Argument = string | number | Buffer;

/** Client of one server. A command rejects where the server does not answer or refuses. */
export interface StoreClient {
  connect(): Promise<void>;
  disconnect(reconnect?: boolean): void;
  on(event: "error", listener: (error: Error) => void): unknown;
  ping(): Promise<string>;
  info(section: string): Promise<string>;
  /** Seconds and microseconds of the server's calendar. */
  time(): Promise<readonly (string | number)[]>;
  get(key: string): Promise<string | null>;
  set(key: string, value: string): Promise<unknown>;
  /** Stores the value for so many milliseconds. */
  set(key: string, value: string, unit: "PX", ms: number): Promise<unknown>;
  strlen(key: string): Promise<number>;
  getrangeBuffer(key: string, from: number, to: number): Promise<Buffer>;
  hget(key: string, field: string): Promise<string | null>;
  hgetall(key: string): Promise<Record<string, string>>;
  hset(key: string, field: string, value: string): Promise<unknown>;
  hdel(key: string, field: string): Promise<unknown>;
  pexpire(key: string, ms: number): Promise<unknown>;
  /** One page of the keys that match: the next cursor, "0" at the end, and keys. */
  scan(
    cursor: string,
    match: "MATCH",
    pattern: string,
    count: "COUNT",
    pageSize: number,
  ): Promise<[cursor: string, keys: string[]]>;
  eval(script: string, keys: number, ...args: Argument[]): Promise<unknown>;
  evalsha(sha: string, keys: number, ...args: Argument[]): Promise<unknown>;
}

/** Client with the scripts of one kind of store as methods: number of keys, keys, arguments. */
export type Scripted<Name extends string> = StoreClient &
  Record<Name, (keys: number, ...args: Argument[]) => Promise<unknown>>;
