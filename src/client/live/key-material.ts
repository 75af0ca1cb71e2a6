/**
 * Users of a live service and their keys, as read from a config.
 *
 * Invariants: errors name the place, never the value, as it may be a secret; names of keys are unique over all users.
 * Not here: reading and holding credentials (client/transport/secrets.ts).
 */
import { SluiceError } from "../../errors.ts";
import { type Credentials, credentialsFromEnv, credentialsFromFile, sealOf } from "../transport/secrets.ts";

/** One API key of the service, made by `fromEnv` or `fromFile`. */
export interface LiveKey {
  /** Name of the key in events and reports; that of its user when left out. */
  readonly name?: string;
  /** Permissions that the service has given it. */
  readonly permissions?: readonly string[];
  readonly credentials: Credentials;
}

/** The keys of several users, by a label of your choice. Each user has its own minute of weight. */
export type LiveUsers = Readonly<Record<string, readonly LiveKey[]>>;

type Grant = Omit<LiveKey, "credentials">;

/**
 * A key from the environment: PREFIX_API_KEY, PREFIX_SECRET_KEY and PREFIX_PASSPHRASE.
 *
 * @param prefix - first part of the three names, such as "SLUICE_TESTNET"
 * @param grant - name of the key in reports, and its permissions
 * @returns a key for `live`
 * @throws CONFIG_INVALID where a variable is missing or empty; its value is never shown
 * @example
 * live({ environment: "testnet", baseUrl: "https://testnet.example", keys: [fromEnv("SLUICE_TESTNET")] })
 */
export const fromEnv = (prefix: string, grant: Grant = {}): LiveKey => ({
  ...grant,
  credentials: credentialsFromEnv(prefix, (name) => process.env[name]),
});

/**
 * A key from a JSON file that only its owner may read: `{ "apiKey", "secretKey", "passphrase" }`.
 *
 * @param path - the file
 * @param part - name of the entry with the key, where the file has several
 * @param grant - name of the key in reports, and its permissions
 * @returns a key for `live`
 * @throws CONFIG_INVALID where the file cannot be read, others may read it, or a text is missing
 */
export const fromFile = (path: string, part?: string, grant: Grant = {}): LiveKey => ({
  ...grant,
  credentials: credentialsFromFile(path, part),
});

interface KnownKey {
  readonly name: string;
  readonly permissions: readonly string[];
  readonly credentials: Credentials;
}

export interface KnownUser {
  readonly uid: string;
  readonly keys: readonly KnownKey[];
}

const defaultPermissions: readonly string[] = ["read", "trade_futures", "trade_spot"];

/** The users of the options `keys` (one user) or `users` (several, by label), with every problem listed. */
export const readUsers = (keys: unknown, users: unknown, place: string): readonly KnownUser[] => {
  if ((keys === undefined) === (users === undefined)) {
    throw invalid(
      `${place}: give either keys, such as keys: [fromEnv("SLUICE")], or users, such as users: { main: [fromEnv("SLUICE")] }.`,
    );
  }
  if (users !== undefined && !isRecord(users))
    throw invalid(`${place}.users: is not an object of lists of keys by user.`);
  const given = users === undefined ? { main: keys } : (users as Readonly<Record<string, unknown>>);
  const issues: string[] = [];
  const known = Object.entries(given).map(([uid, list]) =>
    readUser(uid, list, users === undefined ? "keys" : `users.${uid}`, issues),
  );
  if (known.length === 0) issues.push("users: there is none.");
  const names = known.flatMap((user) => user.keys.map(({ name }) => name));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) issues.push(`two keys are named "${twice}"; give one of them another name.`);
  if (issues.length > 0) throw new SluiceError("CONFIG_INVALID", `${place} are not valid:`, issues);
  return known;
};

const readUser = (uid: string, list: unknown, place: string, issues: string[]): KnownUser => {
  if (!Array.isArray(list) || list.length === 0) {
    issues.push(`${place}: is not a list of keys, such as [fromEnv("SLUICE")].`);
    return { uid, keys: [] };
  }
  return { uid, keys: list.map((key: unknown, index) => readKey(key, uid, index, `${place}.${index}`, issues)) };
};

const readKey = (given: unknown, uid: string, index: number, place: string, issues: string[]): KnownKey => {
  const key = (isRecord(given) ? given : {}) as Partial<LiveKey>;
  const { name = index === 0 ? uid : `${uid}-${index + 1}`, permissions = defaultPermissions, credentials } = key;
  const unknown = Object.keys(key).find((field) => !["name", "permissions", "credentials"].includes(field));
  // A secret written here by mistake must not be printed: only the names of fields are.
  if (unknown !== undefined)
    issues.push(`${place}: has a field it does not know; a key has name, permissions and credentials.`);
  if (!/^\S{1,40}$/.test(String(name))) issues.push(`${place}.name: is not a word of at most 40 characters.`);
  if (
    !Array.isArray(permissions) ||
    permissions.length === 0 ||
    permissions.some((one) => typeof one !== "string" || one === "")
  ) {
    issues.push(`${place}.permissions: is not a list of words, such as ["read"].`);
  }
  if (!isSealed(credentials))
    issues.push(`${place}.credentials: are not made by fromEnv, fromFile or createCredentials.`);
  return { name: String(name), permissions: permissions as readonly string[], credentials: credentials as Credentials };
};

const isSealed = (credentials: unknown): boolean => {
  try {
    sealOf(credentials as Credentials);
    return true;
  } catch {
    return false;
  }
};

const isRecord = (value: unknown): boolean => value !== null && typeof value === "object" && !Array.isArray(value);

const invalid = (message: string): SluiceError => new SluiceError("CONFIG_INVALID", message);
