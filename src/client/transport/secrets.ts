/**
 * API credentials, held so that nothing that prints, copies or serialises a value shows them.
 *
 * Invariants: a credentials value has no property of its own; the secret is a key of the platform's cipher library and
 * its text is not kept; no message written here holds a value that was read, only the name it was read under.
 * Not here: what is signed and how it travels (sign.ts), which is the only file that opens a seal.
 */
import { createHmac, createSecretKey } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { inspect } from "node:util";
import { didYouMean, SluiceError } from "../../errors.ts";

/** An opaque value: the secret and the passphrase are reachable only through a signer. */
export interface Credentials {
  readonly apiKey: string;
  /** The first characters of the key, to distinguish it from others. */
  toString(): string;
}

interface CredentialTexts {
  readonly apiKey: string;
  readonly secretKey: string;
  readonly passphrase: string;
}

/** Operations of a signer on credentials. */
export interface Seal {
  readonly apiKey: string;
  hmacSha256(text: string, encoding: "base64" | "hex"): string;
  passphrase(): string;
}

const seals = new WeakMap<Credentials, Seal>();

/** The three texts, created at each call; without the secret if it has more than `longest` characters. */
type Texts = (longest: number) => readonly string[];

const texts = new WeakMap<Credentials, Texts>();

/** Only for redaction in sign.ts, which no dialect can reach. */
export const textsOf = (credentials: Credentials): Texts => texts.get(credentials) ?? (() => []);

/** Only for sign.ts. */
export const sealOf = (credentials: Credentials): Seal => {
  const seal = seals.get(credentials);
  if (seal !== undefined) return seal;
  throw new SluiceError(
    "CONFIG_INVALID",
    "Credentials are made by credentialsFromEnv, credentialsFromFile or createCredentials; a plain object is not accepted, as it would be printed with its secret.",
  );
};

class Sealed implements Credentials {
  get apiKey(): string {
    return sealOf(this).apiKey;
  }
  toString(): string {
    const { apiKey } = sealOf(this);
    return `credentials of ${apiKey.length < 12 ? "a key" : `the key ${apiKey.slice(0, 4)}...`}`;
  }
  toJSON(): string {
    return this.toString();
  }
  [inspect.custom](): string {
    return `[${this.toString()}]`;
  }
}

type Field = keyof CredentialTexts;
const fields: readonly Field[] = ["apiKey", "secretKey", "passphrase"];

const problemOf = (field: Field, text: unknown): string | undefined => {
  if (text === undefined || text === null) return "is missing";
  if (typeof text !== "string") return "is not a text";
  if (text === "") return "is empty";
  if (text !== text.trim()) return "begins or ends with a space or a line break, probably copied along";
  // The secret stays here; the other two travel in headers.
  if (field !== "secretKey" && !/^[\x20-\x7e]+$/.test(text)) return "holds a character that no header can carry";
  return undefined;
};

/** `nameOf` returns the user's name for a field. */
const seal = (
  place: string,
  given: Readonly<Partial<Record<Field, unknown>>>,
  nameOf: (field: Field) => string,
): Credentials => {
  const issues = fields.flatMap((field) => {
    const problem = problemOf(field, given[field]);
    return problem === undefined ? [] : [`${nameOf(field)} ${problem}.`];
  });
  if (issues.length > 0) throw new SluiceError("CONFIG_INVALID", `${place}: the credentials are not complete.`, issues);
  const { apiKey, secretKey, passphrase } = given as CredentialTexts;
  const key = createSecretKey(secretKey, "utf8");
  const credentials = Object.freeze(new Sealed());
  seals.set(credentials, {
    apiKey,
    hmacSha256: (text, encoding) => createHmac("sha256", key).update(text, "utf8").digest(encoding),
    passphrase: () => passphrase,
  });
  const secretLength = secretKey.length;
  texts.set(credentials, (longest) =>
    secretLength <= longest ? [apiKey, passphrase, key.export().toString("utf8")] : [apiKey, passphrase],
  );
  return credentials;
};

/**
 * Credentials from their texts, for programs that keep secrets elsewhere than in the environment or a file.
 *
 * @param texts - key, secret and passphrase
 * @returns credentials that show no text when they are printed
 * @throws CONFIG_INVALID where a text is empty; the message shows none
 */
export const createCredentials = (texts: CredentialTexts): Credentials =>
  seal("createCredentials", texts, (field) => field);

const envNames: Readonly<Record<Field, string>> = {
  apiKey: "API_KEY",
  secretKey: "SECRET_KEY",
  passphrase: "PASSPHRASE",
};

/**
 * Reads PREFIX_API_KEY, PREFIX_SECRET_KEY and PREFIX_PASSPHRASE.
 *
 * @param prefix - first part of the names
 * @param env - gives the value of a variable
 * @returns credentials that show no text when they are printed
 * @throws CONFIG_INVALID where one is missing
 */
export const credentialsFromEnv = (prefix: string, env: (name: string) => string | undefined): Credentials => {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(prefix)) {
    throw new SluiceError(
      "CONFIG_INVALID",
      'The prefix of the environment names holds a character that no such name can; give one such as "SLUICE_TESTNET".',
    );
  }
  const nameOf = (field: Field): string => `${prefix}_${envNames[field]}`;
  const texts = Object.fromEntries(fields.map((field) => [field, env(nameOf(field))]));
  return seal("The environment", texts, nameOf);
};

/**
 * Reads `{"apiKey", "secretKey", "passphrase"}` from a file only its owner may read; with `name`, from the part of that
 * name.
 */
export const credentialsFromFile = (path: string, name?: string): Credentials => {
  const root = parsed(path, readPrivate(path));
  if (name === undefined) return seal(path, root, (field) => `"${field}"${nearMiss(root, field)}`);
  if (!Object.hasOwn(root, name)) {
    throw new SluiceError(
      "CONFIG_INVALID",
      `${path}: holds no credentials named "${name}".${didYouMean(name, Object.keys(root))}`,
    );
  }
  const part = asObject(root[name]);
  if (part === undefined)
    throw new SluiceError("CONFIG_INVALID", `${path}: "${name}" is not an object with ${fields.join(", ")}.`);
  return seal(path, part, (field) => `"${name}.${field}"${nearMiss(part, field)}`);
};

const bytesMax = 65_536;

const readPrivate = (path: string): string => {
  const refuse = (why: string): never => {
    throw new SluiceError("CONFIG_INVALID", `${path}: ${why}`);
  };
  let file: number;
  try {
    // Opened without blocking, because a pipe in its place must not delay the start.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    return refuse(
      `the file with the credentials cannot be opened (${(error as NodeJS.ErrnoException).code ?? "unknown"}).`,
    );
  }
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) return refuse("is not a plain file.");
    if (process.platform !== "win32" && (stat.mode & 0o077) !== 0) {
      const mode = (stat.mode & 0o777).toString(8).padStart(4, "0");
      return refuse(
        `others than its owner may open it (mode ${mode}). Run: chmod 600 '${path.replaceAll("'", "'\\''")}'`,
      );
    }
    if (stat.size > bytesMax) return refuse(`is larger than ${bytesMax} bytes, which no file of credentials is.`);
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
};

const asObject = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  value !== null && typeof value === "object" && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;

/** The parser's own message quotes the text around the fault, so it is not repeated. */
const parsed = (path: string, text: string): Readonly<Record<string, unknown>> => {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    value = undefined;
  }
  const root = asObject(value);
  if (root === undefined)
    throw new SluiceError("CONFIG_INVALID", `${path}: is not a JSON object with ${fields.join(", ")}.`);
  return root;
};

/** Names a key of the file only if it looks like the one that is missing. */
const nearMiss = (part: Readonly<Record<string, unknown>>, field: Field): string => {
  if (Object.hasOwn(part, field)) return "";
  const near = Object.keys(part).find((key) => key.toLowerCase().replace(/[^a-z]/g, "") === field.toLowerCase());
  return near === undefined ? "" : ` (the file writes "${near}")`;
};
