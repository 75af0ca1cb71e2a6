/**
 * Keys of `sluice check`: from a file, or one from the environment.
 *
 * Invariants: secrets go into credentials and nowhere else; a message names a key by its place, never by its content; a
 * file of keys for another machine's service must be its owner's alone.
 */
import { readFileSync, statSync } from "node:fs";
import { type Credentials, createCredentials, SluiceError } from "sluice";
import type { Profile } from "sluice/dialect";
import { credentialsFromEnv } from "sluice/extension";
import type { CheckKey } from "./test-keys.ts";

interface KeySet {
  readonly keys: readonly CheckKey[];
  /** By the name of the key. */
  readonly credentials: ReadonlyMap<string, Credentials>;
  /** Address of the socket, if the file contains it. */
  readonly wsUrl?: string;
}

type Raw = Readonly<Record<string, unknown>>;

const isRaw = (value: unknown): value is Raw => value !== null && typeof value === "object" && !Array.isArray(value);

/** Default permissions of a key: everything that some endpoint needs. */
const everything = ({ permissions }: Profile): readonly string[] => [
  ...new Set(["read", "trade_futures", permissions.placeSwap, permissions.placeSpot, permissions.account]),
];

const none: KeySet = { keys: [], credentials: new Map() };

const environmentPrefix = "SLUICE";

/** One key from SLUICE_API_KEY, SLUICE_SECRET_KEY and SLUICE_PASSPHRASE; none when the first is not set. */
const keysFromEnv = (env: (name: string) => string | undefined, profile: Profile): KeySet => {
  if ((env(`${environmentPrefix}_API_KEY`) ?? "") === "") return none;
  const credentials = credentialsFromEnv(environmentPrefix, env);
  const key = { name: "environment", uid: "environment", permissions: everything(profile) };
  return {
    keys: [key],
    credentials: new Map([[key.name, credentials]]),
  };
};

/** Reads the line of `sluice venue --json`, or the file of `sluice venue --keys`. */
const keysFromFile = (path: string, profile: Profile, local: boolean): KeySet => {
  const root = parsed(path, readText(path, local));
  const listed = root["keys"];
  const named: readonly (readonly [string, unknown])[] = Array.isArray(listed)
    ? listed.map((entry: unknown, index) => [`key-${index + 1}`, entry])
    : Object.entries(root);
  const entries = named.flatMap(([name, entry]) => (isRaw(entry) ? [[name, entry] as const] : []));
  if (entries.length === 0)
    throw new SluiceError("USAGE", `${path}: holds no keys. Give the line of sluice venue --json, or its --keys file.`);
  const keys: CheckKey[] = [];
  const credentials = new Map<string, Credentials>();
  for (const [name, entry] of entries) {
    const secrets = credentialsOf(path, name, entry);
    credentials.set(name, secrets);
    const { uid, permissions } = entry;
    keys.push({
      name,
      uid: typeof uid === "string" ? uid : name,
      permissions: textsOf(permissions) ?? everything(profile),
    });
  }
  const { wsUrl } = root;
  return { keys, credentials, ...(typeof wsUrl === "string" && { wsUrl }) };
};

/**
 * The keys of this file, or of the environment where none is named. A file may be open to others where the service is
 * on this machine.
 */
export const keysFrom = (
  url: string,
  path: string | undefined,
  profile: Profile,
  env: (name: string) => string | undefined,
): KeySet => (path === undefined ? keysFromEnv(env, profile) : keysFromFile(path, profile, isLoopback(url)));

/** By its whole name: localhost.example.com is another machine. */
export const isLoopback = (url: string): boolean =>
  URL.canParse(url) && /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/.test(new URL(url).hostname);

const credentialsOf = (path: string, name: string, { apiKey, secretKey, passphrase }: Raw) => {
  if (typeof apiKey === "string" && typeof secretKey === "string" && typeof passphrase === "string") {
    return createCredentials({ apiKey, secretKey, passphrase });
  }
  throw new SluiceError("USAGE", `${path}: the key "${name}" lacks apiKey, secretKey or passphrase.`);
};

const textsOf = (value: unknown): readonly string[] | undefined =>
  Array.isArray(value) && value.every((item) => typeof item === "string") ? value : undefined;

const readText = (path: string, local: boolean): string => {
  try {
    if (!local && process.platform !== "win32" && (statSync(path).mode & 0o077) !== 0) {
      throw new SluiceError("USAGE", `${path}: other users can read these keys. Run: chmod 600 ${path}`);
    }
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof SluiceError) throw error;
    throw new SluiceError("USAGE", `${path}: cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown"}).`);
  }
};

/** The parser's own message would quote a secret. */
const parsed = (path: string, text: string): Raw => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (isRaw(value)) return value;
  throw new SluiceError(
    "USAGE",
    `${path}: is not a JSON object. Give the line of sluice venue --json, or its --keys file.`,
  );
};
