/**
 * The tree is enforced, not described: import directions, sizes, bans. Each failure names the replacement.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

const filesUnder = (folder: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesUnder(join(folder, entry.name)) : /\.(ts|mjs)$/.test(entry.name) ? [join(folder, entry.name)] : [],
  );

/**
 * What each room may use, besides itself, lowest first. A room inside another is a room of its own, so that what is pure stays pure.
 * `errors decimal random` are free to all; a star stands for everything but the command line.
 */
const rooms: Readonly<Record<string, readonly string[]>> = {
  clock: [],
  contract: [],
  "contract/documents": ["contract"],
  journal: ["contract"],
  "market/tape": ["contract"],
  market: ["contract", "market/tape"],
  venue: ["contract", "contract/documents"],
  "venue/server": ["clock", "contract", "contract/documents", "venue"],
  "scheduler/quota": ["contract"],
  scheduler: ["clock", "contract", "journal", "scheduler/quota"],
  "client/transport": ["clock", "contract"],
  client: ["clock", "contract", "journal", "market", "scheduler"],
  "client/live": ["clock", "contract", "market", "client", "client/transport"],
  "orders/state": ["clock", "contract", "journal", "client"],
  "orders/risk": ["clock", "contract", "journal", "orders"],
  orders: ["clock", "contract", "journal", "client", "orders/risk", "orders/state"],
  host: ["clock", "contract", "journal", "market", "scheduler/quota", "client", "orders", "orders/risk", "orders/state"],
  "engine/watchdog": ["clock", "contract", "journal", "scheduler", "scheduler/quota", "client", "orders", "host"],
  engine: [
    "clock",
    "contract",
    "journal",
    "market",
    "scheduler",
    "scheduler/quota",
    "client",
    "orders",
    "orders/risk",
    "orders/state",
    "host",
    "engine/watchdog",
  ],
  report: ["clock", "contract", "journal", "market", "market/tape", "venue", "orders"],
  backtest: ["clock", "contract", "market", "market/tape", "venue", "client", "client/transport", "host", "engine", "report"],
  "backtest/serve": ["clock", "contract", "market", "market/tape", "venue", "venue/server", "backtest"],
  "backtest/sweep": ["clock", "contract", "market", "market/tape", "host", "report", "backtest"],
  "verify/session": ["clock", "contract", "journal", "market", "market/tape", "client", "host", "engine", "backtest"],
  "verify/compare": ["contract", "journal", "market/tape", "client", "host", "report", "backtest", "verify/session"],
  "verify/conformance": ["clock", "contract", "client/transport"],
  "verify/doctor": ["clock", "contract", "client", "client/transport"],
  "verify/simulation": [
    "clock",
    "contract",
    "journal",
    "market",
    "market/tape",
    "venue",
    "venue/server",
    "scheduler/quota",
    "client",
    "client/transport",
    "orders",
    "host",
    "engine",
    "backtest",
  ],
  index: ["*"],
  cli: ["*"],
};
const free = ["errors", "decimal", "random"];

const roomOf = (file: string): string => {
  const [, first = "", second = ""] = file.split("/");
  const inner = `${first}/${second}`;
  return inner in rooms ? inner : first.replace(/\.ts$/, "");
};

const importsOf = (text: string): string[] => [...text.matchAll(/(?:from|import\()\s*"([^"]+)"/g)].map((match) => match[1] as string);

const banned: readonly (readonly [RegExp, string, readonly string[]])[] = [
  [
    /\bDate\.now\(|\bnew Date\(\)|\bsetTimeout\(|\bsetInterval\(|\bsetImmediate\(|\bperformance\.now\(/,
    "use the Clock",
    ["src/clock/system-clock.ts", "src/host/virtual-globals.ts"],
  ],
  [/\bMath\.random\(|\brandomUUID\(/, "use the seeded Random", ["src/random.ts", "src/host/virtual-globals.ts"]],
  [/from "ajv"/, "use contract/validate.ts", ["src/contract/validate.ts"]],
  [/from "eventemitter3"/, "use journal/notices.ts", ["src/journal/event-emitter.ts"]],
  [
    /import \{[^}]*\b(timer|delay|debounceTime|throttleTime|auditTime|timeout|interval|bufferTime)\b[^}]*\} from "rxjs"/,
    "use after() and every() from clock/clock.ts",
    [],
  ],
  [/\b(TODO|FIXME|XXX)\b/, "finish it, or leave it out", []],
];

describe("the tree", () => {
  const sources = filesUnder("src");

  it("has at most fourteen rooms", () => {
    const outer = readdirSync(join(root, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(outer.map(({ name }) => name).length).toBeLessThanOrEqual(14);
  });

  it("names no two files alike, commands aside", () => {
    const places = new Map<string, string[]>();
    for (const file of sources) {
      const name = file.split("/").at(-1) as string;
      if (!file.startsWith("src/cli/")) places.set(name, [...(places.get(name) ?? []), file]);
    }
    expect([...places.values()].filter((files) => files.length > 1)).toEqual([]);
  });

  it("imports only point down", () => {
    const wrong: string[] = [];
    for (const file of sources) {
      const room = roomOf(file);
      const allowed = rooms[room] ?? (free.includes(room) ? [] : undefined);
      if (allowed === undefined) {
        wrong.push(`${file}: no such room; add it to test/tidy.test.ts and src/README.md`);
        continue;
      }
      for (const specifier of importsOf(readFileSync(join(root, file), "utf8"))) {
        if (!specifier.startsWith(".")) continue;
        const target = roomOf(relative(root, resolve(root, dirname(file), specifier)));
        if (target === room || free.includes(target) || allowed.includes(target) || (allowed.includes("*") && target !== "cli")) continue;
        wrong.push(`${file} imports ${target}: ${room} may use only ${allowed.join(", ") || "nothing"}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it("strangers' folders use the same door as strangers", () => {
    const wrong: string[] = [];
    for (const file of ["strategies", "plugins", "config"].flatMap(filesUnder)) {
      for (const specifier of importsOf(readFileSync(join(root, file), "utf8"))) {
        if (/(^|\/)src\//.test(specifier)) wrong.push(`${file} imports ${specifier}: import from "sluice"`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it("files stay small, open with their purpose and carry no vague name", () => {
    const wrong: string[] = [];
    for (const file of [...sources, ...["strategies", "plugins"].flatMap(filesUnder)]) {
      const text = readFileSync(join(root, file), "utf8");
      const lines = text.split("\n").length;
      if (lines > 300) wrong.push(`${file}: ${lines} lines; 300 is the bound, split it by noun`);
      if (file !== "src/index.ts" && !/^(#!.*\n)?\/\*\*/.test(text)) wrong.push(`${file}: open with what must stay true`);
      if (/\/(types|utils|helpers|common|misc|base)\.ts$/.test(file)) wrong.push(`${file}: name it after its noun`);
    }
    expect(wrong).toEqual([]);
  });

  it("ambient time, chance and unfinished work are banned", () => {
    const wrong: string[] = [];
    for (const file of [...sources, ...["strategies", "plugins", "config"].flatMap(filesUnder)]) {
      const text = readFileSync(join(root, file), "utf8")
        .replace(/\/\*[\s\S]*?\*\//g, "")
        .replace(/^\s*\/\/.*$/gm, "");
      const rules = file.startsWith("src/") ? banned : banned.filter(([pattern]) => !pattern.source.includes("debounceTime"));
      for (const [pattern, replacement, except] of rules) {
        if (except.includes(file)) continue;
        const hit = pattern.exec(text);
        if (hit) wrong.push(`${file}: ${hit[0].slice(0, 40)}: ${replacement}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});
