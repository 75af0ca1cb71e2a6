/**
 * What a run reads from disk: noted, and one folder shown in the place of another.
 *
 * A strategy may read files; one that reads the recording it is tested on knows the future. The switches are put into Node's own
 * modules, so that imported functions and global ones are the same.
 *
 * Invariants: paths outside the folder are read as always; programs and their manifests are not noted; `stop` puts everything back.
 * Not here: files read by other processes or by native code; nothing in this process sees those.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

interface FileWatch {
  /** Data files that were opened for reading, in the order of the alphabet. */
  read(): readonly string[];
  stop(): void;
}

interface Shown {
  /** The folder that is asked for. */
  readonly folder: string;
  /** The folder that is read instead. */
  readonly instead: string;
}

const reading = ["readFile", "open", "createReadStream", "readFileSync", "openSync"];
const looking = [
  "stat",
  "statSync",
  "lstat",
  "lstatSync",
  "readdir",
  "readdirSync",
  "access",
  "accessSync",
  "existsSync",
  "opendir",
  "opendirSync",
];

type Function = (...args: unknown[]) => unknown;

/** One watch at a time: `stop` the one before. */
export const watchFiles = (shown?: Shown): FileWatch => {
  const noted = new Set<string>();
  const restores: (() => void)[] = [];
  const moved = mover(shown);
  for (const place of [fs, fs.promises] as unknown as Record<string, Function | undefined>[]) {
    for (const name of [...reading, ...looking]) {
      const original = place[name];
      if (typeof original !== "function") continue;
      const switched = (path: unknown, ...rest: unknown[]): unknown => {
        const text = textOf(path);
        if (text === undefined) return original.call(place, path, ...rest);
        if (reading.includes(name) && isReading(rest[0]) && isData(text)) noted.add(text);
        return original.call(place, moved(text) ?? path, ...rest);
      };
      place[name] = Object.assign(switched, original);
      restores.push(() => {
        place[name] = original;
      });
    }
  }
  syncBuiltinESMExports();
  return {
    read: () => [...noted].sort(),
    stop: () => {
      for (const restore of restores.splice(0)) restore();
      syncBuiltinESMExports();
    },
  };
};

const mover = (shown: Shown | undefined): ((path: string) => string | undefined) => {
  if (shown === undefined) return () => undefined;
  // People reach a folder by its name or by where a link leads.
  const names = [resolve(shown.folder), ...(fs.existsSync(shown.folder) ? [fs.realpathSync(shown.folder)] : [])];
  return (path) => {
    const name = names.find((folder) => path === folder || path.startsWith(folder + sep));
    return name === undefined ? undefined : join(shown.instead, relative(name, path));
  };
};

const textOf = (path: unknown): string | undefined => {
  if (typeof path === "string") return resolve(path);
  if (path instanceof URL && path.protocol === "file:") return fileURLToPath(path);
  return Buffer.isBuffer(path) ? resolve(path.toString()) : undefined;
};

/** Flags stand alone or among options; without any a file is read. */
const isReading = (options: unknown): boolean => {
  const flags =
    typeof options === "object" && options !== null
      ? ((options as { flag?: unknown; flags?: unknown }).flag ?? (options as { flags?: unknown }).flags)
      : options;
  return typeof flags !== "string" || !/[wax]/.test(flags) || !/^[rwaxs+]+$/.test(flags);
};

const program = /\.(m|c)?[jt]sx?$|\.node$|\.wasm$|\.map$|(^|[\\/])(package|tsconfig[^\\/]*)\.json$/;

/** Where the loader of TypeScript keeps what it has compiled. */
const compiled = join(tmpdir(), "tsx-");

const isData = (path: string): boolean =>
  !program.test(path) && !path.includes(`${sep}node_modules${sep}`) && !path.startsWith(`${sep}proc${sep}`) && !path.startsWith(compiled);
