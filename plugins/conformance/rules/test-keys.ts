/**
 * Roles of the given keys in the suite.
 *
 * Invariants: keys of one user share a uid; a role that no key fits is undefined, and the rules that need it are
 * skipped.
 */
import type { Profile, wire } from "sluice/dialect";

export interface CheckKey {
  /** The name the transport knows it by. */
  readonly name: string;
  readonly uid: string;
  readonly permissions: readonly string[];
}

export interface How {
  /** Whose key signs; the main one when left out. */
  readonly as?: CheckKey | "no key";
  /** Layers to keep within; all of them when left out. */
  readonly within?: readonly wire.LayerName[];
  /** One part of the signature is wrong on purpose. */
  readonly fault?: wire.KeyFault;
  /**
   * A call that the dialect does not offer, or an answer that it cannot read, is a reply of status 0 without anything
   * in it.
   */
  readonly mayBeUnread?: boolean;
  /** Another address than the endpoint's own. */
  readonly path?: string;
}

/** Requirements of a rule. */
export type Need =
  | "nothing"
  | "key"
  | "trade key"
  | "two keys"
  | "two users"
  | "read-only key"
  | "trade-only key"
  | "socket";

export interface Roles {
  /** Key used if a rule names no other. */
  readonly main: CheckKey | undefined;
  /** The main key, if it may also place and cancel. */
  readonly trader: CheckKey | undefined;
  /** Another key of the same user that may read. */
  readonly second: CheckKey | undefined;
  /** A key of the same user that may read but not cancel. */
  readonly readOnly: CheckKey | undefined;
  /** A key of the same user that may cancel but not read. */
  readonly tradeOnly: CheckKey | undefined;
  /** A key of another user that may read. */
  readonly otherUser: CheckKey | undefined;
}

const cancel = "trade_futures";

export const rolesOf = (keys: readonly CheckKey[], { permissions }: Profile): Roles => {
  const may = (key: CheckKey, ...wanted: readonly string[]): boolean =>
    wanted.every((name) => key.permissions.includes(name));
  const trader = keys.find((key) => may(key, "read", cancel, permissions.placeSwap));
  const main = trader ?? keys.find((key) => may(key, "read"));
  const own = keys.filter(({ uid }) => uid === main?.uid);
  const family = own.filter((key) => may(key, "read"));
  return {
    main,
    trader,
    second: family.find((key) => key !== main),
    readOnly: family.find((key) => !may(key, cancel)),
    tradeOnly: own.find((key) => may(key, cancel) && !may(key, "read")),
    otherUser: keys.find((key) => main !== undefined && key.uid !== main.uid && may(key, "read")),
  };
};

const wants: Readonly<Record<Exclude<Need, "nothing" | "socket">, readonly [role: keyof Roles, words: string]>> = {
  key: ["main", "a key with the permission read"],
  "trade key": ["trader", "a key with the permissions read and trade_futures"],
  "two keys": ["second", "two keys of one user"],
  "two users": ["otherUser", "keys of two users"],
  "read-only key": ["readOnly", "a key of the same user that may read but not cancel"],
  "trade-only key": ["tradeOnly", "a key of the same user that may cancel but not read"],
};

/** Returns the description of what is missing for `need`, or undefined. */
export const missing = (need: Need, roles: Roles, socket: boolean): string | undefined => {
  if (need === "nothing") return undefined;
  if (need === "socket") return socket ? undefined : "needs the address of the WebSocket (--ws)";
  const [role, words] = wants[need];
  return roles[role] === undefined ? `needs ${words}` : undefined;
};
