/**
 * Source of the running package, as a dependency for another project's package.json.
 *
 * Invariants: reads files only; a tarball or folder is named relative to the project, so that both can move together.
 * Not here: what else a new project holds (project-files.ts).
 */
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";

export interface PackageSource {
  /** Version or address for `dependencies`. */
  readonly spec: string;
  /** `folder`: a clone. `guess`: only the version is known, and a registry may not have it. */
  readonly kind: "file" | "folder" | "address" | "version" | "guess";
}

interface Manifest {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** `root` is the package's folder and `project` the new project's, both without symbolic links on their way. */
export const packageSource = (root: string, project: string): PackageSource => {
  if (basename(dirname(root)) !== "node_modules") return { spec: fileSpec(project, root), kind: "folder" };
  const holder = dirname(dirname(root));
  const { version = "0" } = read<Manifest>(join(root, "package.json")) ?? {};
  const { dependencies, devDependencies } = read<Manifest>(join(holder, "package.json")) ?? {};
  for (const told of [lockedIn(holder), dependencies?.["sluice"], devDependencies?.["sluice"]]) {
    if (told === undefined) continue;
    const file = /^file:(?:\/\/(?=\/))?(.+)$/.exec(told)?.[1];
    const found =
      file === undefined
        ? undefined
        : [file, decoded(file)].map((name) => resolve(holder, name)).find((name) => existsSync(name));
    if (found !== undefined) return { spec: fileSpec(project, found), kind: found.endsWith("gz") ? "file" : "folder" };
    if (/^https?:.*\/-\/sluice-[^/]+\.tgz$/.test(told)) return { spec: version, kind: "version" };
    if (/^(git|https?|ssh|github)[+:@]/.test(told)) return { spec: told, kind: "address" };
  }
  return { spec: version, kind: "guess" };
};

/** Source of an installation in npm's lock file, also of those that `npx` makes. */
const lockedIn = (holder: string): string | undefined =>
  read<{ readonly packages?: Readonly<Record<string, { readonly resolved?: string }>> }>(
    join(holder, "node_modules", ".package-lock.json"),
  )?.packages?.["node_modules/sluice"]?.resolved;

const fileSpec = (project: string, path: string): string => `file:${relative(project, path).replaceAll("\\", "/")}`;

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

const read = <T>(file: string): T | undefined => {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as T;
  } catch {
    return undefined;
  }
};
