/**
 * Users and keys of `sluice venue`: permissions, and the file from which clients read their secrets.
 *
 * Invariants: the same seed gives the same keys; a key file is private to its owner before the first secret is written,
 * and never replaces a file that this command did not write.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { SluiceError } from "sluice";
import type { Contract } from "sluice/dialect";
import type { ServerKey } from "./server/keyring.ts";

/** A key with the name it has in the file of keys. */
export interface NamedKey {
  readonly name: string;
  readonly key: ServerKey;
}

export const userIds = ["user-1", "user-2"] as const;

export const keysFor = (contract: Contract, seed: string): readonly NamedKey[] => {
  const all = permissionsOf(contract);
  const named = (name: string, uid: string, permissions: readonly string[]): NamedKey => ({
    name,
    key: {
      apiKey: textOf(seed, `${uid} ${name} key`).slice(0, 24),
      secretKey: textOf(seed, `${uid} ${name} secret`),
      passphrase: textOf(seed, `${uid} ${name} passphrase`).slice(0, 16),
      uid,
      permissions,
    },
  });
  return [named("trade", userIds[0], all), named("read", userIds[0], ["read"]), named("other", userIds[1], all)];
};

/** Every permission some endpoint asks for. */
const permissionsOf = ({ endpoints, profile }: Contract): readonly string[] => {
  const asked = Object.values(endpoints).map(({ permission }) => permission);
  return [...new Set(["read", ...asked, profile.permissions.placeSpot])].filter((permission) => permission !== "none");
};

const textOf = (seed: string, label: string): string =>
  createHash("sha256").update(`sluice venue/${seed}/${label}`).digest("hex");

const writer = "sluice venue";

/** One entry a key, by name, as `credentialsFromFile(path, name)` reads it. */
export const writeKeys = (path: string, keys: readonly NamedKey[]): void => {
  if (existsSync(path) && !isOurs(path)) {
    throw new SluiceError(
      "USAGE",
      `--keys: ${path} exists and was not written by this command. Name another file, or remove it.`,
    );
  }
  const entries = keys.map(({ name, key }) => [name, key]);
  const text = `${JSON.stringify({ writtenBy: writer, ...Object.fromEntries(entries) }, undefined, 2)}\n`;
  const draft = `${path}.new`;
  try {
    rmSync(draft, { force: true });
    writeFileSync(draft, text, { mode: 0o600, flag: "wx" });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw new SluiceError(
      "USAGE",
      `--keys: ${path} cannot be written (${(error as NodeJS.ErrnoException).code ?? String(error)}).`,
    );
  }
};

const isOurs = (path: string): boolean => {
  try {
    return (JSON.parse(readFileSync(path, "utf8")) as { writtenBy?: unknown } | null)?.writtenBy === writer;
  } catch {
    return false;
  }
};
