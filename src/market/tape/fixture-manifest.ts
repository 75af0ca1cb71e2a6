/**
 * The manifest of a fixture: what its files hold, in one readable page.
 *
 * Invariants: a manifest of another format version is refused before anything else is read;
 * `contentHash` depends on instruments and rows alone, so the same data has the same hash with any compression.
 */
import { createHash } from "node:crypto";
import { parseHuman } from "../../contract/validate.ts";
import { SluiceError } from "../../errors.ts";
import {
  type FixtureManifest,
  type FixtureSeries,
  isPlainManifest,
  manifestFormat,
  manifestSchema,
} from "./manifest-schema.ts";
import type { TapeInstrument } from "./tape.ts";

/**
 * Reads the manifest of a fixture.
 *
 * @param json - its text
 * @param file - its path, for the message
 * @returns the manifest
 * @throws FIXTURE_INVALID where it is none
 */
export const parseManifest = (json: string, file: string): FixtureManifest => {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new SluiceError(
      "FIXTURE_INVALID",
      `${file}: expected JSON, found text that is not (${(error as Error).message}).`,
    );
  }
  const format = (value as { format?: unknown } | null)?.format;
  if (format !== manifestFormat) {
    throw new SluiceError(
      "FIXTURE_INVALID",
      `${file}: expected format "${manifestFormat}", found ${JSON.stringify(format) ?? "none"}. ${remedyFor(format)}`,
    );
  }
  return isPlainManifest(value) ? value : parseHuman<FixtureManifest>(manifestSchema, value, file, "FIXTURE_INVALID");
};

const remedyFor = (format: unknown): string =>
  typeof format === "string" && format.startsWith("sluice-fixture/")
    ? "It was written by another version; import the recording again with this one."
    : "This folder is not a fixture; make one with `sluice import` or `sluice generate`.";

/**
 * Hash of a fixture: of its instruments and of the content of its series.
 *
 * @param instruments - of the fixture
 * @param series - entries of its manifest
 * @returns SHA-256 in hex
 */
export const contentHashOf = (
  instruments: readonly TapeInstrument[],
  series: readonly Pick<FixtureSeries, "kind" | "instId" | "barMs" | "bars" | "rows" | "content">[],
): string => {
  const data = [
    manifestFormat,
    instruments.map(({ instId, tickSize, lotSize }) => [instId, tickSize, lotSize]),
    series.map(({ kind, instId, barMs, bars, rows, content }) => [kind, instId, bars ?? barMs ?? 0, rows, content]),
  ];
  return createHash("sha256").update(JSON.stringify(data)).digest("hex");
};
