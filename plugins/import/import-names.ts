/**
 * Files of an import, and the instruments in the names of files.
 *
 * Invariants: files come in the order of their names; an instrument id in a name is used unchanged, and for a name that
 * could be spot or a swap (BTCUSDT) there is no guess.
 */
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { SluiceError } from "sluice";
import { readInstId } from "sluice/dialect";

/** Matches checksums, descriptions and hidden files next to the data of an exchange. */
const beside = /^\.|\.(checksum|md|pdf)$|^readme/i;

/** Files, all files within folders, and all that match patterns with `*`, `?` and `**`. */
export const filesNamed = (given: readonly string[]): readonly string[] => {
  const files = given.flatMap((name) => {
    if (!existsSync(name)) return /[*?]/.test(name) ? matching(name) : [name];
    if (!statSync(name).isDirectory()) return [name];
    const found = filesUnder(name);
    if (found.length === 0) throw new SluiceError("IMPORT_INVALID", `${name}: the folder holds no files.`);
    return found;
  });
  return [...new Map(files.map((file) => [resolve(file), file])).values()];
};

const filesUnder = (folder: string): readonly string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !beside.test(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => (entry.isDirectory() ? filesUnder(join(folder, entry.name)) : [join(folder, entry.name)]));

const matching = (pattern: string): readonly string[] => {
  const fixed = pattern.slice(0, pattern.search(/[*?]/));
  const folder = fixed.includes("/") || fixed.includes(sep) ? dirname(`${fixed}x`) : ".";
  const test = patternOf(resolve(folder) === resolve(".") && folder === "." ? join(".", pattern) : pattern);
  const found = existsSync(folder) ? filesUnder(folder).filter((file) => test.test(file)) : [];
  if (found.length > 0) return found;
  throw new SluiceError(
    "IMPORT_INVALID",
    `${pattern}: no file matches. Quote patterns, and write ** for folders of any depth.`,
  );
};

const patternOf = (pattern: string): RegExp => {
  const source = pattern.replaceAll(/\*\*\/|\*\*|\*|\?|[.+^${}()|[\]\\]/g, (part) => {
    if (part === "**/") return "(?:.*/)?";
    if (part === "**") return ".*";
    return part === "*" ? "[^/]*" : part === "?" ? "[^/]" : `\\${part}`;
  });
  return new RegExp(`^${source}$`);
};

export interface InstrumentChoice {
  /** Instrument of all files that no pattern matches. */
  readonly instrument?: string | undefined;
  /** Instruments by patterns of file names, such as `BTCUSDT-*`. */
  readonly instruments?: Readonly<Record<string, string>> | undefined;
  /** Kind of market of names such as BTCUSDT. */
  readonly market?: "spot" | "swap" | undefined;
}

/** Returns the instrument of a file: the requested one, else from its name. Throws `USAGE` with the option to use. */
export const instrumentOf = (file: string, { instrument, instruments = {}, market }: InstrumentChoice): string => {
  const name = basename(file);
  const asked = Object.entries(instruments).find(
    ([pattern]) => patternOf(pattern).test(name) || patternOf(pattern).test(file),
  );
  const told = asked?.[1] ?? instrument;
  if (told !== undefined) return told;
  // The names of archives, and of folders that hold one instrument, may contain it if the names of their files do not.
  const found = pairIn(name) ?? pairIn(basename(dirname(file)));
  if (found === undefined)
    throw new SluiceError(
      "USAGE",
      `${file}: its name contains no instrument. Name it: --instrument BTC-USDT-SWAP, or --instrument '${name}=BTC-USDT-SWAP'.`,
    );
  const kind = market ?? found.market ?? marketIn(file);
  if (kind !== undefined) return `${found.pair}${kind === "swap" ? "-SWAP" : ""}`;
  const id = `${found.pair}-SWAP`;
  throw new SluiceError(
    "USAGE",
    `${file}: is ${found.pair} spot or a perpetual swap? Write --market spot or --market swap, or name it: --instrument '${name.slice(0, name.search(/[-_.]|$/))}*=${id}'.`,
  );
};

interface Found {
  readonly pair: string;
  readonly market?: "spot" | "swap";
}

const quotes = "USDT|USDC|FDUSD|BUSD|TUSD|DAI|USD|EUR|GBP|JPY|KRW|TRY|BTC|ETH|BNB";
const dashed = new RegExp(`(?<![A-Z0-9])([A-Z0-9]{2,20})[-/](${quotes})(-SWAP|-PERP)?(?![A-Z0-9])`);
const freqtrade = /^([A-Z0-9]{2,20})_(?!PERP)([A-Z0-9]{2,20})(_[A-Z0-9]{2,20})?-(?:\d+[smhdwM]|trades)/;
/** A date may follow without a mark between. */
const joined = new RegExp(
  `(?<![A-Z0-9])([A-Z0-9]{2,20}?)_?(${quotes})(-PERP|_PERP)?(?=\\d{4}-\\d{2}-\\d{2}|(?![A-Z0-9]))`,
);

const pairIn = (name: string): Found | undefined => {
  const program = freqtrade.exec(name);
  if (program !== null)
    return { pair: `${program[1]}-${program[2]}`, market: program[3] === undefined ? "spot" : "swap" };
  const parts = dashed.exec(name);
  if (parts !== null) return { pair: `${parts[1]}-${parts[2]}`, market: parts[3] === undefined ? "spot" : "swap" };
  const whole = joined.exec(name);
  const pair = whole === null ? "" : `${whole[1]}-${whole[2]}`;
  if (readInstId(pair) === undefined) return undefined;
  return whole?.[3] === undefined ? { pair } : { pair, market: "swap" };
};

/** Returns the market; folders of Binance Vision contain its name. */
const marketIn = (file: string): "spot" | "swap" | undefined => {
  const folders = resolve(file).split(sep);
  if (folders.includes("futures") && folders.includes("um")) return "swap";
  return folders.includes("spot") ? "spot" : undefined;
};
