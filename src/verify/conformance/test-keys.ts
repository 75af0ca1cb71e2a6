/**
 * Which of the given keys plays which part.
 *
 * Invariants: keys of one user share a uid; a part nobody can play is undefined, and the rules that need it are skipped.
 */
import type { Profile } from "../../contract/profile.ts";
import type { Need } from "./rule.ts";

export interface CheckKey {
  /** The name the transport knows it by. */
  readonly name: string;
  readonly uid: string;
  readonly permissions: readonly string[];
}

export interface Parts {
  /** Asks wherever a rule names nobody. */
  readonly main: CheckKey | undefined;
  /** The same key, when it may also place and cancel. */
  readonly trader: CheckKey | undefined;
  /** Another key of the same user that may read. */
  readonly second: CheckKey | undefined;
  /** A key of the same user that may read but not cancel. */
  readonly reader: CheckKey | undefined;
  /** A key of the same user that may cancel but not read. */
  readonly blind: CheckKey | undefined;
  /** A key of another user that may read. */
  readonly stranger: CheckKey | undefined;
}

const cancel = "trade_futures";

export const partsOf = (keys: readonly CheckKey[], { permissions }: Profile): Parts => {
  const may = (key: CheckKey, ...wanted: readonly string[]): boolean => wanted.every((name) => key.permissions.includes(name));
  const trader = keys.find((key) => may(key, "read", cancel, permissions.placeSwap));
  const main = trader ?? keys.find((key) => may(key, "read"));
  const own = keys.filter(({ uid }) => uid === main?.uid);
  const family = own.filter((key) => may(key, "read"));
  return {
    main,
    trader,
    second: family.find((key) => key !== main),
    reader: family.find((key) => !may(key, cancel)),
    blind: own.find((key) => may(key, cancel) && !may(key, "read")),
    stranger: keys.find((key) => main !== undefined && key.uid !== main.uid && may(key, "read")),
  };
};

const wants: Readonly<Record<Exclude<Need, "nothing" | "socket">, readonly [part: keyof Parts, words: string]>> = {
  key: ["main", "a key with the permission read"],
  "trade key": ["trader", "a key with the permissions read and trade_futures"],
  "two keys": ["second", "two keys of one user"],
  "two users": ["stranger", "keys of two users"],
  "read-only key": ["reader", "a key of the same user that may read but not cancel"],
  "trade-only key": ["blind", "a key of the same user that may cancel but not read"],
};

/** What is missing for `need`, in words, or undefined. */
export const missing = (need: Need, parts: Parts, socket: boolean): string | undefined => {
  if (need === "nothing") return undefined;
  if (need === "socket") return socket ? undefined : "needs the address of the WebSocket (--ws)";
  const [part, words] = wants[need];
  return parts[part] === undefined ? `needs ${words}` : undefined;
};
