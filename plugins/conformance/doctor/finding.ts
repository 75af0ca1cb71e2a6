/**
 * Finding of a question to the service: the assumption, the behavior found, and the verdict.
 *
 * Invariants: `differs` is used only for values read in an answer; a finding about a row that could not be asked or
 * seen states the reason. Where a row of the profile holds the assumption, a differing finding carries the value that
 * would hold.
 */
import { defaultProfile, type Profile } from "sluice/dialect";

export type Verdict = "holds" | "differs" | "not seen" | "not asked";

/** A row of the service profile, such as `weights.getOrder`. */
export type RowPath = {
  [G in keyof typeof defaultProfile]: `${G}.${Extract<keyof (typeof defaultProfile)[G], string>}`;
}[keyof typeof defaultProfile];

export interface Override {
  readonly path: RowPath;
  readonly value: unknown;
}

/** Finding of the doctor about one assumption of the profile. */
export interface Finding {
  /** Gap of the service description, such as `G13`. */
  readonly gap: string;
  /** The profile's row, or a name in words for what no row holds. */
  readonly row: string;
  readonly assumed: string;
  readonly found: string;
  readonly verdict: Verdict;
  readonly evidence: string;
  readonly override?: Override;
}

const rowOf = <T extends object>(table: T, path: RowPath): unknown => {
  const [group = "", key = ""] = path.split(".");
  return (table as Readonly<Record<string, Readonly<Record<string, unknown>>>>)[group]?.[key];
};

export const assumedBy = (profile: Profile, path: RowPath): unknown => rowOf(profile, path);

const gapOf = (path: RowPath): string => (rowOf(defaultProfile, path) as { readonly gap: string }).gap;

const spelled = (value: unknown): string => (typeof value === "string" && value !== "" ? value : JSON.stringify(value));

/** Compares the value found with the value of the profile in force. */
export const judged = (
  profile: Profile,
  path: RowPath,
  found: unknown,
  evidence: string,
  gap = gapOf(path),
): Finding => {
  const assumed = assumedBy(profile, path);
  const parts = { gap, row: path, assumed: spelled(assumed), found: spelled(found), evidence };
  if (JSON.stringify(assumed) === JSON.stringify(found)) return { ...parts, verdict: "holds" };
  return { ...parts, verdict: "differs", override: { path, value: found } };
};

const without = (verdict: Verdict, profile: Profile, path: RowPath, why: string, gap: string): Finding => ({
  gap,
  row: path,
  assumed: spelled(assumedBy(profile, path)),
  found: "-",
  verdict,
  evidence: why,
});

export const unseen = (profile: Profile, path: RowPath, why: string, gap = gapOf(path)): Finding =>
  without("not seen", profile, path, why, gap);

export const unasked = (profile: Profile, path: RowPath, why: string, gap = gapOf(path)): Finding =>
  without("not asked", profile, path, why, gap);

/** Finding about an assumption that no row of the profile holds, so that no override can correct it. */
export const remark = (
  gap: string,
  row: string,
  verdict: Verdict,
  words: { readonly assumed: string; readonly found: string; readonly evidence: string },
): Finding => ({ gap, row, verdict, ...words });
