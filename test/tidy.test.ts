/**
 * Rules of the source tree: directions of imports, sizes, exports, names, bans. Each failure says what to do.
 *
 * Invariants: no exception but those with a reason beside them, and one that is not needed any more fails as well.
 * Not here: how a file is read (support/source-tree.ts).
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { packageEntries } from "./support/package-entries.ts";
import { exportsWithoutImport, importCycles, pathsUnder, type SourceFile, sourceTree } from "./support/source-tree.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const functionLinesMax = 100;
const fileLinesMax = 500;

/**
 * What each room may use, besides itself, lowest first. A room inside another is a room of its own, so that what is pure stays pure.
 * `errors decimal decimal-value random optional-package` are free to all; a star stands for everything but the command line.
 */
const rooms: Readonly<Record<string, readonly string[]>> = {
  clock: [],
  contract: [],
  journal: ["clock", "contract"],
  "market/calendar": [],
  "market/tape": ["contract", "market/calendar"],
  market: ["clock", "contract", "market/calendar", "market/tape"],
  venue: ["clock", "contract"],
  "scheduler/quota": ["contract"],
  scheduler: ["clock", "contract", "journal", "scheduler/quota"],
  "client/transport": ["clock", "contract"],
  client: ["clock", "contract", "journal", "market", "scheduler"],
  "client/live": ["clock", "contract", "market", "market/calendar", "client", "client/transport"],
  "orders/state": ["clock", "contract", "journal", "client"],
  "orders/risk": ["clock", "contract", "journal", "orders"],
  "orders/protection": ["clock", "contract", "journal", "orders", "orders/risk"],
  orders: ["clock", "contract", "journal", "client", "orders/protection", "orders/risk", "orders/state"],
  host: [
    "clock",
    "contract",
    "journal",
    "market",
    "market/calendar",
    "scheduler/quota",
    "client",
    "orders",
    "orders/protection",
    "orders/risk",
    "orders/state",
  ],
  engine: [
    "clock",
    "contract",
    "journal",
    "market",
    "scheduler",
    "scheduler/quota",
    "client",
    "orders",
    "orders/protection",
    "orders/risk",
    "orders/state",
    "host",
  ],
  report: ["clock", "contract", "journal", "market", "market/calendar", "market/tape", "venue", "orders"],
  backtest: [
    "clock",
    "contract",
    "market",
    "market/tape",
    "venue",
    "client",
    "client/transport",
    "host",
    "engine",
    "report",
  ],
  "backtest/testkit": [
    "clock",
    "contract",
    "journal",
    "market/tape",
    "venue",
    "client",
    "orders",
    "host",
    "engine",
    "backtest",
  ],
  "backtest/serve": ["clock", "contract", "market", "market/tape", "venue", "backtest"],
  entries: ["*"],
  // For plugins, which add commands too.
  extension: ["*", "cli"],
  cli: ["*"],
};
const free = ["errors", "decimal", "decimal-value", "random", "optional-package"];

const computed = "a calculation, compared with figures made by other means";
const reference = "the reference of configuration is made from it";
/** Exports that only tests or the documentation take, and why they are offered all the same. */
const offeredToTests: Readonly<Record<string, string>> = {
  "src/backtest/backtest-service.ts backtestSchema": reference,
  "src/backtest/backtest-service.ts feesSchema": reference,
  "src/backtest/backtest-service.ts paperSchema": reference,
  "src/client/live/live-service.ts liveSchema": reference,
  "src/host/define.ts isolationDefaults": reference,
  "src/host/restart-policy.ts backoffMs": computed,
  "src/journal/record-chain.ts markOf": "damaged journals are written with the marks of whole ones",
  "src/host/starter.ts starterFrom": "the layout of a package is tried in a folder of its own",
  "src/orders/risk/exposure.ts ExposureEntry": computed,
  "src/orders/risk/loss-limits.ts profitOf": computed,
  "src/orders/risk/order-throttle.ts takeToken": computed,
  "src/orders/state/order-store.ts mergeRecords": "the algebra of merging is proved for the function itself",
  "src/scheduler/quota/foreign-usage.ts poissonQuantile": computed,
  "src/scheduler/quota/retry-at.ts earliestFit": computed,
};

const roomOf = (file: string): string => {
  if (file === "src/extension.ts") return "extension";
  if (packageEntries.includes(file)) return "entries";
  const folders = file.split("/").slice(1, -1);
  while (folders.length > 1 && !(folders.join("/") in rooms)) folders.pop();
  return folders.length > 0 ? folders.join("/") : file.slice("src/".length).replace(/\.ts$/, "");
};

const banned: readonly (readonly [RegExp, string, readonly string[]])[] = [
  [
    /\bDate\.now\(|\bnew Date\(\)|\bsetTimeout\(|\bsetInterval\(|\bsetImmediate\(|\bperformance\.now\(/,
    "use the Clock",
    ["src/clock/system-clock.ts", "src/host/virtual-globals.ts", "plugins/control-room/client/browser-clock.ts"],
  ],
  [/\bMath\.random\(|\brandomUUID\(/, "use the seeded Random", ["src/random.ts", "src/host/virtual-globals.ts"]],
  [/from "ajv"/, "use contract/validate.ts", ["src/contract/validate.ts"]],
  [/from "eventemitter3"/, "use journal/event-emitter.ts", ["src/journal/event-emitter.ts"]],
  [
    /import \{[^}]*\b(timer|delay|debounceTime|throttleTime|auditTime|timeout|interval|bufferTime)\b[^}]*\} from "rxjs"/,
    "use after() and every() from clock/clock.ts",
    [],
  ],
  [/"rxjs\/internal|\._next\(|\bisObservable\(/, "use host/rxjs-version.ts", ["src/host/rxjs-version.ts"]],
  [/\b(TODO|FIXME|XXX)\b/, "finish it, or leave it out", []],
];

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");

const sources = sourceTree("src");
const loadable = sourceTree("strategies", "plugins");
const configs = sourceTree("config");

describe("The source tree", () => {
  it("has at most fifteen rooms", () => {
    const outer = readdirSync(join(root, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(outer.map(({ name }) => name).length).toBeLessThanOrEqual(15);
  });

  it("has a map that names the main file of every room", () => {
    const map = readFileSync(join(root, "src/README.md"), "utf8");
    const wrong = Object.keys(rooms)
      .filter((room) => existsSync(join(root, "src", room)))
      .flatMap((room) => {
        const file = new RegExp(`^${room} +([\\w-]+\\.ts) +\\S`, "m").exec(map)?.[1];
        if (file === undefined)
          return [`${room}: give it a line in the map of src/README.md: room, main file, what it is`];
        return existsSync(join(root, "src", room, file))
          ? []
          : [`${room}: its main file ${file} in the map of src/README.md is gone`];
      });
    expect(wrong).toEqual([]);
  });

  it("names no two files alike, commands and entries aside", () => {
    const places = new Map<string, string[]>();
    for (const { path } of sources) {
      const name = path.split("/").at(-1) as string;
      if (!path.startsWith("src/cli/") && !packageEntries.includes(path))
        places.set(name, [...(places.get(name) ?? []), path]);
    }
    expect([...places.values()].filter((files) => files.length > 1)).toEqual([]);
  });

  it("imports only downwards, and permits no import that is not made", () => {
    const wrong: string[] = [];
    const made = new Set<string>();
    for (const { path, imported } of sources) {
      const room = roomOf(path);
      const allowed = rooms[room] ?? (free.includes(room) ? [] : undefined);
      if (allowed === undefined) {
        wrong.push(`${path}: no such room; add it to test/tidy.test.ts and src/README.md`);
        continue;
      }
      for (const target of new Set(imported.map(({ from }) => roomOf(from)))) {
        made.add(`${room} ${target}`);
        if (
          target === room ||
          free.includes(target) ||
          allowed.includes(target) ||
          (allowed.includes("*") && target !== "cli")
        )
          continue;
        wrong.push(`${path} imports ${target}: ${room} may use only ${allowed.join(", ") || "nothing"}`);
      }
    }
    for (const [room, allowed] of Object.entries(rooms)) {
      const idle = allowed.filter((target) => target !== "*" && !made.has(`${room} ${target}`));
      if (idle.length > 0)
        wrong.push(`${room} does not import ${idle.join(", ")}: take it from its row in test/tidy.test.ts`);
    }
    expect(wrong).toEqual([]);
  });

  it("has at most fourteen rooms, each with its line on the map", () => {
    const folders = readdirSync(join(root, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(folders.length, "a fifteenth room: find the one it belongs to").toBeLessThanOrEqual(14);
    const map = readFileSync(join(root, "src/README.md"), "utf8");
    const missing = Object.keys(rooms).filter(
      (room) => room !== "entries" && room !== "extension" && !new RegExp(`^${room} +\\S+\\.ts `, "m").test(map),
    );
    expect(missing).toEqual([]);
  });

  it("has no import cycle, type imports included", () => {
    const cyclic = importCycles(sources).flatMap((files) =>
      files.map(
        (file) =>
          `${file}: imports in a circle with ${files.filter((other) => other !== file).join(", ")}; move the shared type or function to a file of its own`,
      ),
    );
    expect(cyclic).toEqual([]);
  });

  it("has no function that is too long", () => {
    const long = [...sources, ...loadable].flatMap(({ path, functions }) =>
      functions
        .filter(({ lines }) => lines > functionLinesMax)
        .map(
          ({ name, lines }) =>
            `${path} ${name}: ${lines} lines; ${functionLinesMax} is the bound: a class with #private, or smaller functions`,
        ),
    );
    expect(long).toEqual([]);
  });

  it("exports nothing that no other file takes", () => {
    const idle = exportsWithoutImport(sources, packageEntries);
    expect(
      Object.keys(offeredToTests).filter((name) => !idle.includes(name)),
      "these are imported or gone; take them from offeredToTests",
    ).toEqual([]);
    const advice =
      "no file of src imports it: take `export` away, or the whole if nothing uses it; tests go through what src uses";
    expect(idle.filter((name) => !(name in offeredToTests)).map((name) => `${name}: ${advice}`)).toEqual([]);
  });

  it("is used by strategies, plugins and configurations as any user would", () => {
    const wrong = [...loadable, ...configs].flatMap(({ path, specifiers }) =>
      specifiers
        .filter((specifier) => /(^|\/)src\//.test(specifier))
        .map((specifier) => `${path} imports ${specifier}: import from "sluice"`),
    );
    expect(wrong).toEqual([]);
  });

  it("has small files that open with their purpose and carry no vague name", () => {
    const check = ({ path, lines, text }: SourceFile): string[] => [
      ...(lines > fileLinesMax ? [`${path}: ${lines} lines; ${fileLinesMax} is the bound, split it by noun`] : []),
      ...(!/^(#!.*\n)?\/\*\*/.test(text) ? [`${path}: open with what must stay true`] : []),
      ...(/\/(types|utils|helpers|common|misc|base)\.ts$/.test(path) ? [`${path}: name it after its noun`] : []),
    ];
    expect([...sources, ...loadable].flatMap(check)).toEqual([]);
  });

  it("takes time and chance only where they are made, and leaves no work unfinished", () => {
    const wrong: string[] = [];
    for (const { path, text } of [...sources, ...loadable, ...configs]) {
      const rules = path.startsWith("src/")
        ? banned
        : banned.filter(([pattern]) => !pattern.source.includes("debounceTime"));
      for (const [pattern, replacement, except] of rules) {
        const hit = except.includes(path) ? null : pattern.exec(withoutComments(text));
        if (hit) wrong.push(`${path}: ${hit[0].slice(0, 40)}: ${replacement}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});

describe("The names of tests", () => {
  it("begin with their subject, so that each is a sentence in a list of failures", () => {
    const wrong = pathsUnder("test")
      .filter((path) => path.endsWith(".test.ts"))
      .flatMap((path) =>
        // Commands and identifiers keep their spelling.
        [
          ...readFileSync(join(root, path), "utf8").matchAll(
            /^(?:describe|it)(?:\.\w+)*\((?:\s*)"((?!sluice )[a-z]+\b(?!\.|[A-Z])[^"]*)"/gm,
          ),
        ].map(([, name]) => `${path}: "${name}": begin with a capital, and with what the test is about`),
      );
    expect(wrong).toEqual([]);
  });
});
