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

/** What each room may use, besides itself. `errors decimal random` are free to all; a star stands for everything but the command line. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  clock: [],
  journal: ["contract"],
  quota: ["contract"],
  transport: ["contract", "clock"],
  scheduler: ["contract", "clock", "journal", "quota", "transport"],
  gateway: ["contract", "clock", "journal", "quota", "scheduler", "transport"],
  market: ["contract", "clock", "journal"],
  resources: ["contract", "clock", "journal", "gateway", "scheduler", "market"],
  orders: ["contract", "clock", "journal", "quota", "scheduler", "gateway", "resources", "market"],
  host: ["contract", "clock", "journal", "quota", "transport", "scheduler", "gateway", "market", "resources", "orders"],
  venue: ["contract", "clock"],
  watchdog: ["contract", "clock", "journal", "quota", "transport", "scheduler", "gateway", "orders", "host"],
  engine: [
    "contract",
    "clock",
    "journal",
    "quota",
    "transport",
    "scheduler",
    "gateway",
    "market",
    "resources",
    "orders",
    "host",
    "watchdog",
  ],
  tape: ["contract", "market"],
  report: ["contract", "clock", "journal", "market", "orders", "venue"],
  backtest: [
    "contract",
    "clock",
    "journal",
    "quota",
    "transport",
    "scheduler",
    "gateway",
    "market",
    "orders",
    "host",
    "venue",
    "engine",
    "tape",
    "report",
  ],
  live: ["contract", "clock", "journal", "transport", "gateway", "market", "host"],
  session: ["contract", "clock", "journal", "transport", "gateway", "market", "orders", "host", "engine", "backtest", "tape", "report"],
  sweep: ["contract", "clock", "host", "engine", "market", "backtest", "tape", "report"],
  compare: ["contract", "clock", "journal", "host", "engine", "backtest", "tape", "report", "session"],
  simulate: [
    "contract",
    "clock",
    "journal",
    "quota",
    "transport",
    "gateway",
    "market",
    "orders",
    "host",
    "venue",
    "engine",
    "backtest",
    "tape",
    "report",
  ],
  conformance: ["contract", "clock", "transport"],
  doctor: ["contract", "clock", "transport", "gateway", "live"],
  index: ["*"],
  cli: ["*"],
};
const free = ["errors", "decimal", "random"];

const roomOf = (file: string): string => {
  const [, first = ""] = file.split("/");
  return first.replace(/\.ts$/, "");
};

const importsOf = (text: string): string[] => [...text.matchAll(/(?:from|import\()\s*"([^"]+)"/g)].map((match) => match[1] as string);

const banned: readonly (readonly [RegExp, string, readonly string[]])[] = [
  [
    /\bDate\.now\(|\bnew Date\(\)|\bsetTimeout\(|\bsetInterval\(|\bsetImmediate\(|\bperformance\.now\(/,
    "use the Clock",
    ["src/clock/system-clock.ts", "src/host/ambient.ts"],
  ],
  [/\bMath\.random\(|\brandomUUID\(/, "use the seeded Random", ["src/random.ts", "src/host/ambient.ts"]],
  [/from "ajv"/, "use contract/validate.ts", ["src/contract/validate.ts"]],
  [/from "eventemitter3"/, "use journal/notices.ts", ["src/journal/notices.ts"]],
  [
    /import \{[^}]*\b(timer|delay|debounceTime|throttleTime|auditTime|timeout|interval|bufferTime)\b[^}]*\} from "rxjs"/,
    "use after() and every() from clock/clock.ts",
    [],
  ],
  [/\b(TODO|FIXME|XXX)\b/, "finish it, or leave it out", []],
];

describe("the tree", () => {
  const sources = filesUnder("src");

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
