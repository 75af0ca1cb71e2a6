/**
 * Confirmation file: a probe's result about the unit of `sz`, the assumption that must not be wrong with real money.
 *
 * Invariants: a damaged file is an error, a missing one is not; it is written atomically; it is valid for the service
 * it was found at and for environments of the same domain, never for others.
 * Not here: the probe (plugins/conformance).
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { isIP } from "node:net";
import { dirname } from "node:path";
import type { Profile } from "../../contract/profile.ts";
import { parseHuman } from "../../contract/validate.ts";
import { SluiceError } from "../../errors.ts";

interface SizeUnitConfirmation {
  /** Address of the service where it was confirmed. */
  readonly baseUrl: string;
  readonly szUnit: Profile["order"]["szUnit"];
  /** Instant of the confirmation, as ISO 8601 text. */
  readonly at: string;
}

export const confirmationPath = ".sluice/confirmed.json";

const unit = { type: "string", enum: ["quote_notional", "base", "contracts"] } as const;
const schema = {
  type: "object",
  additionalProperties: false,
  required: ["baseUrl", "szUnit", "at"],
  properties: {
    baseUrl: { type: "string", minLength: 1 },
    szUnit: {
      type: "object",
      additionalProperties: false,
      required: ["SPOT", "SWAP"],
      properties: { SPOT: unit, SWAP: unit },
    },
    at: { type: "string", pattern: "^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z$" },
  },
} as const;

/** Reads the file; undefined when there is none. */
export const readConfirmation = (path: string): SizeUnitConfirmation | undefined => {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new SluiceError("CONFIG_INVALID", `${path}: the confirmation cannot be read (${(error as Error).message}).`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new SluiceError(
      "CONFIG_INVALID",
      `${path}: the confirmation is not JSON. Delete the file and run \`sluice doctor\` again.`,
    );
  }
  return parseHuman<SizeUnitConfirmation>(schema, value, path);
};

/**
 * Writes the file as a whole, with the folders above it.
 *
 * @param path - of the file
 * @param confirmation - what was found out
 */
export const writeConfirmation = (path: string, confirmation: SizeUnitConfirmation): void => {
  const checked = parseHuman<SizeUnitConfirmation>(schema, confirmation, "confirmation");
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.draft`;
  writeFileSync(draft, `${JSON.stringify(checked, null, 2)}\n`);
  renameSync(draft, path);
};

/** True if the confirmation shows that `szUnit` holds at `baseUrl`. */
export const confirms = (
  { baseUrl, szUnit }: Pick<SizeUnitConfirmation, "baseUrl" | "szUnit">,
  found: SizeUnitConfirmation | undefined,
): boolean =>
  found !== undefined &&
  found.szUnit.SPOT === szUnit.SPOT &&
  found.szUnit.SWAP === szUnit.SWAP &&
  isSameService(baseUrl, found.baseUrl);

const isSameService = (a: string, b: string): boolean => {
  if (!URL.canParse(a) || !URL.canParse(b)) return false;
  const [one, other] = [new URL(a), new URL(b)];
  if (one.origin === other.origin) return true;
  const domain = domainOf(one.hostname);
  return domain !== undefined && domain === domainOf(other.hostname);
};

/**
 * `example.com` of `testnet.example.com`; undefined for IP addresses and single names, which do not identify an owner.
 */
const domainOf = (host: string): string | undefined => {
  const labels = host.split(".");
  return isIP(host) === 0 && labels.length > 1 ? labels.slice(-2).join(".") : undefined;
};
