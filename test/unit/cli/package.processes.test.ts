/**
 * The package as somebody installs it: packed from a clone that was never built, unpacked elsewhere, and used from there.
 *
 * Without a network: what it depends on is linked from this folder's `node_modules`.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { type Ended, link, manifest, npm, packedProjectIn, packInto, root, run } from "../../support/packed-package.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder("package");
const made = packedProjectIn(folder);
const { installed, project, sluice, tarball } = made;
/** Types and the manifest have no part in which the platform is another one (vitest.config.ts). */
const isOnlyAnotherPlatform = process.env["PLATFORM_TESTS"] === "1";
let packed: readonly string[] = [];

/** Prints the address of every module of the package as it is loaded. */
const countingLoader = `import { register } from "node:module";
const hooks = \`import { writeSync } from "node:fs";
export const load = (url, context, next) => {
  if (url.includes("/sluice/dist/")) writeSync(1, url + "\\\\n");
  return next(url, context);
};\`;
register("data:text/javascript," + encodeURIComponent(hooks));
`;

/** A program that uses every entry, and exports what it defines with its declarations. */
const consumer = `import { map, type Observable } from "rxjs";
import { createEngine, defineConfig, defineStrategy, type EventMap, type Quote } from "sluice";
import { backtest, constant, paper, type RunReport, runBacktest } from "sluice/backtest";
import killSwitch from "sluice/plugins/kill-switch";
import watchdog from "sluice/plugins/watchdog";
import { guard, type LookAheadReport } from "sluice/plugins/compare";
import { recordEngine } from "sluice/plugins/session";
import ladder from "sluice/strategies/ladder";
import { type StrategyTest, testStrategy } from "sluice/testing";
import { startVenueServer } from "sluice/plugins/venue-server";
import { simulate } from "sluice/plugins/simulate";

export const once = defineStrategy({
  name: "once",
  options: { type: "object", additionalProperties: false, properties: { instId: { type: "string", default: "BTC-USDT-SWAP" } } },
  wanted: ({ market, options }) => {
    const quotes: Observable<Quote> = market.quotes(options.instId);
    return quotes.pipe(map(({ bidPx }) => [{ slot: "bid", instId: options.instId, side: "buy" as const, px: bidPx, notional: "100" }]));
  },
});
export const config = defineConfig({ service: backtest({ latency: constant(25) }), strategies: [once({}), ladder({})], plugins: [killSwitch({}), watchdog({}, { as: "dog" })] });
// @ts-expect-error: a name is text
watchdog({}, { as: 7 });
export const report: Promise<RunReport> = runBacktest(config);
export const engine = createEngine({ service: paper(), strategies: [once({})] });
export const fills: EventMap["fill"][] = [];
engine.on("fill", (fill) => fills.push(fill));
engine.on("order.filled", ({ phase }) => phase satisfies "filled");
// @ts-expect-error: no event has this name
engine.on("order.filed", () => undefined);
export const tested: Promise<StrategyTest> = testStrategy(once({}));
export const guarded: Promise<LookAheadReport> = guard("config.ts", { cuts: 2 });
export { recordEngine, simulate, startVenueServer };
`;

/** Imports of all plugins and strategies that the package has. */
const entryImports = (): string => {
  const dist = join(installed, "dist");
  const plugins = readdirSync(join(dist, "plugins")).filter((name) =>
    existsSync(join(dist, "plugins", name, "index.d.ts")),
  );
  const strategies = readdirSync(join(dist, "strategies")).filter((name) => name.endsWith(".d.ts"));
  return [
    ...plugins.map((name) => `import "sluice/plugins/${name}";`),
    ...strategies.map((name) => `import "sluice/strategies/${name.slice(0, -".d.ts".length)}";`),
  ].join("\n");
};

beforeAll(async () => {
  const { code, err } = await packInto(folder, made);
  expect([code, code === 0 ? "" : err]).toEqual([0, ""]);
  packed = (await run("tar", ["-tzf", tarball], folder)).out.trim().split("\n");
});

describe("A package packed from an unbuilt clone", () => {
  it("holds the build, its types, the command, the demo and what a user copies, and no tests or sources", () => {
    expect(packed).toEqual(
      expect.arrayContaining(
        [
          "package.json",
          "README.md",
          "LICENSE",
          "CHANGELOG.md",
          "dist/index.js",
          "dist/index.d.ts",
          "dist/cli/main.js",
          "src/cli/sluice.mjs",
          "dist/strategies/ladder.js",
          "dist/strategies/ladder.d.ts",
          "dist/plugins/kill-switch/index.js",
          "dist/plugins/ccxt/manifest.json",
          "strategies/ladder.ts",
          "plugins/ccxt/README.md",
          "config/backtest.ts",
          "template/strategies/trend.ts",
          "test/fixtures/demo/manifest.json",
        ].map((name) => `package/${name}`),
      ),
    );
    expect(packed.filter((name) => /^package\/(test\/(?!fixtures\/demo\/)|src\/)/.test(name))).toEqual([
      "package/src/cli/sluice.mjs",
    ]);
  });

  it("shows the description of every option of its strategies and plugins in their declarations", () => {
    const described = ["strategies/ladder.d.ts", "plugins/kill-switch/index.d.ts", "plugins/watchdog/plugin.d.ts"];
    const bare = described.flatMap((name) => {
      const text = readFileSync(join(installed, "dist", name), "utf8");
      const options = text.slice(text.indexOf("declare const _default"), text.lastIndexOf("}, naming?: "));
      return [...options.matchAll(/^(.*)\n {4}readonly (\w+)\??: /gm)].flatMap(([, before = "", option]) =>
        before.endsWith("*/") ? [] : [`${name} ${option}`],
      );
    });
    expect(bare).toEqual([]);
  });

  it("answers with its version", async () => {
    expect(await sluice("--version")).toEqual({ code: 0, out: `${manifest.version}\n`, err: "" });
  });

  it("can be imported by its name", async () => {
    const program =
      'const { createEngine, defineStrategy } = await import("sluice"); console.log(typeof createEngine, typeof defineStrategy);';
    writeFileSync(join(project, "program.mjs"), program);
    expect(await run(process.execPath, ["program.mjs"], project)).toEqual({
      code: 0,
      out: "function function\n",
      err: "",
    });
  });

  it("loads at most 60 of its files and 700 kB for whoever imports it, and the rest when an engine needs it", async () => {
    writeFileSync(join(project, "count.mjs"), countingLoader);
    const { code, out } = await run(
      process.execPath,
      ["--import", "./count.mjs", "-e", 'await import("sluice")'],
      project,
    );
    const loaded = out.trim().split("\n");
    const bytes = loaded.reduce((sum, url) => sum + statSync(fileURLToPath(url)).size, 0);
    expect([code, bytes > 300_000]).toEqual([0, true]);
    const advice =
      "import what only some configs need by import(), as src/engine/engine-lifecycle.ts does (LateCode), or types alone";
    expect(loaded.length, advice).toBeLessThanOrEqual(60);
    expect(bytes, advice).toBeLessThanOrEqual(700_000);
  });

  it("runs a backtest of a config and a strategy of one's own, written in TypeScript", async () => {
    const made = await sluice(
      "generate",
      "--out",
      "made",
      "--seed",
      "7",
      "--minutes",
      "5",
      "--instrument",
      "BTC-USDT-SWAP",
    );
    expect([made.code, made.err.includes("error")]).toEqual([0, false]);
    writeFileSync(
      join(project, "config.ts"),
      `import { map, take } from "rxjs";
import { defineConfig, defineStrategy } from "sluice";
import { backtest, constant } from "sluice/backtest";
import joinBest from "sluice/strategies/join-best";

const once = defineStrategy({
  name: "once",
  options: { type: "object", additionalProperties: false, properties: { instId: { type: "string", default: "BTC-USDT-SWAP" } } },
  wanted: ({ market, options }) =>
    market.quotes(options.instId).pipe(take(1), map(({ bidPx }) => [{ slot: "bid", instId: options.instId, side: "buy" as const, px: bidPx, notional: "100" }])),
});

export default defineConfig({ service: backtest({ fixture: "made", latency: constant(25) }), strategies: [once({}), joinBest({ notional: "100" })] });
`,
    );
    const { code, out, err } = await sluice("backtest", "config.ts", "--json");
    expect([code, code === 0 ? "" : err]).toEqual([0, ""]);
    const { resultHash } = JSON.parse(out) as { resultHash: string };
    expect(resultHash).toMatch(/^[0-9a-f]{8,}$/);
    // As npm init leaves it: below a package.json without "type" files are taken for CommonJS.
    mkdirSync(join(project, "plain"));
    writeFileSync(join(project, "plain/package.json"), "{}");
    cpSync(join(project, "config.ts"), join(project, "plain/config.ts"));
    expect(JSON.parse((await sluice("backtest", "plain/config.ts", "--json")).out)).toMatchObject({ resultHash });
  });

  it("runs the first strategy and config of the README in a project of one's own", async () => {
    const readme = readFileSync(join(root, "README.md"), "utf8");
    for (const name of ["strategies/fade.ts", "config/fade.ts"]) {
      const text = readme.split(`\`\`\`ts\n// ${name}\n`)[1]?.split("```")[0] ?? "";
      mkdirSync(dirname(join(project, name)), { recursive: true });
      writeFileSync(join(project, name), text);
    }
    const { code, out, err } = await sluice("backtest", "config/fade.ts", "--json");
    expect([code, code === 0 ? "" : err]).toEqual([0, ""]);
    expect(JSON.parse(out)).toMatchObject({ perStrategy: { fade: { state: "running" } } });
  });

  it("names what chose CommonJS where a config cannot be one", async () => {
    mkdirSync(join(project, "awaits"));
    writeFileSync(join(project, "awaits/package.json"), "{}");
    writeFileSync(join(project, "awaits/config.ts"), "await Promise.resolve();\nexport default {};\n");
    const { code, err } = await sluice("backtest", "awaits/config.ts");
    expect(code).toBe(2);
    expect(err).toContain('has no "type": "module": add it, or rename the file to .mts or .mjs');
  });

  it("writes a project that depends on the same tarball, and whose types, tests and backtest pass", async () => {
    const lock = { packages: { "node_modules/sluice": { resolved: `file:../sluice-${manifest.version}.tgz` } } };
    writeFileSync(join(project, "node_modules/.package-lock.json"), JSON.stringify(lock));
    expect(await sluice("init", "demo", "--yes")).toMatchObject({ code: 0 });
    const demo = join(project, "demo");
    const made = JSON.parse(readFileSync(join(demo, "package.json"), "utf8")) as {
      readonly dependencies: Readonly<Record<string, string>>;
    };
    expect(made.dependencies["sluice"]).toBe(`file:../../sluice-${manifest.version}.tgz`);
    cpSync(installed, join(demo, "node_modules/sluice"), { recursive: true });
    for (const name of [...Object.keys(manifest.dependencies), "rxjs", "@types", "typescript", "vitest"])
      link(join(root, "node_modules", name), join(demo, "node_modules", name));
    for (const [name, script] of [
      ["sluice", "../sluice/src/cli/sluice.mjs"],
      ["vitest", "../vitest/vitest.mjs"],
      ["tsc", "../typescript/bin/tsc"],
    ] as const)
      link(script, join(demo, "node_modules/.bin", name));
    expect(await npm(["run", "-s", "typecheck"], demo)).toMatchObject({ code: 0, out: "" });
    const tested = await npm(["test"], demo);
    expect([tested.code, tested.code === 0 ? "" : tested.out + tested.err]).toEqual([0, ""]);
    expect(tested.out).toMatch(/Tests +3 passed/);
    const started = await npm(["start"], demo);
    expect([started.code, started.code === 0 ? "" : started.err]).toEqual([0, ""]);
    expect(started.out).toContain("result hash");
  });

  it("runs from CommonJS", async () => {
    writeFileSync(
      join(project, "program.cjs"),
      `const { createEngine } = require("sluice");
const { default: ladder } = require("sluice/strategies/ladder");
const { default: killSwitch } = require("sluice/plugins/kill-switch");
console.log(typeof createEngine, typeof require("sluice/backtest").runBacktest, ladder({}).name, killSwitch({}).name);`,
    );
    const { code, out } = await run(process.execPath, ["program.cjs"], project);
    expect([code, out]).toEqual([0, "function function ladder kill-switch\n"]);
  });

  it.skipIf(isOnlyAnotherPlatform)(
    "has a manifest that publint and arethetypeswrong find nothing wrong with",
    async () => {
      const { code, out } = await run(
        process.execPath,
        [join(root, "node_modules/publint/src/cli.js"), "run", tarball, "--strict"],
        folder,
      );
      expect([code, code === 0 ? "" : out]).toEqual([0, ""]);
      const attw = join(root, "node_modules/@arethetypeswrong/cli/dist/index.js");
      const types = await run(
        process.execPath,
        [attw, tarball, "--profile", "esm-only", "--no-color", "--no-emoji"],
        folder,
      );
      expect([types.code, types.code === 0 ? "" : types.out]).toEqual([0, ""]);
    },
  );

  it.skipIf(isOnlyAnotherPlatform).each([
    ["NodeNext", "the newest rxjs", "rxjs"],
    ["NodeNext", "the lowest rxjs", "rxjs-lowest"],
    ["bundler", "the newest rxjs", "rxjs"],
  ])("has types that a strict project compiles with %s resolution and %s", async (resolution, _, rxjs) => {
    const place = join(folder, `${resolution}-${rxjs}`);
    for (const name of readdirSync(join(project, "node_modules"))) {
      if (name !== "rxjs" && name !== "sluice")
        link(join(project, "node_modules", name), join(place, "node_modules", name));
    }
    // Copied, as its types look for rxjs from where they lie.
    cpSync(installed, join(place, "node_modules/sluice"), { recursive: true });
    link(join(root, "node_modules", rxjs), join(place, "node_modules/rxjs"));
    const module = resolution === "bundler" ? "esnext" : resolution;
    const compilerOptions = {
      module,
      moduleResolution: resolution,
      target: "es2023",
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      types: ["node"],
      declaration: true,
    };
    writeFileSync(join(place, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
    writeFileSync(join(place, "package.json"), '{"name":"consumer","private":true,"type":"module"}');
    writeFileSync(join(place, "strategy.ts"), consumer);
    writeFileSync(join(place, "entries.ts"), entryImports());
    const { code, out } = await run(
      process.execPath,
      [join(root, "node_modules/typescript/bin/tsc"), "-p", "."],
      place,
    );
    expect([code, out]).toEqual([0, ""]);
  });

  it("without its build says what to do", async () => {
    rmSync(join(installed, "dist"), { recursive: true });
    const { code, out, err } = await sluice("--version");
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(
      /holds no dist: this package was packed or installed without its build\.\nInstall a package made by `npm pack`/,
    );
  });
});

describe("A clone that npm installs in", () => {
  const small = join(folder, "small");
  const dist = join(small, "dist");
  const build = (initCwd: string): Promise<Ended> =>
    run(process.execPath, [join(small, "src/cli/build.mjs"), "--when-installed"], small, { INIT_CWD: initCwd });

  // The whole of the sources is compiled before they are packed: here, as few as there can be.
  beforeAll(() => {
    mkdirSync(dist, { recursive: true });
    for (const name of readdirSync(root))
      if (/^(package\.json|tsconfig.*\.json)$/.test(name)) cpSync(join(root, name), join(small, name));
    for (const name of [
      "src/cli/build.mjs",
      "src/cli/core-bundle.mjs",
      "src/cli/option-docstrings.mjs",
      "plugins/ui-kit/bundle.mjs",
      "plugins/control-room/manifest.json",
    ])
      cpSync(join(root, name), join(small, name), { recursive: true });
    const entries = ["index", "extension", "dialect", "backtest", "testing", "cli/main", "host/isolation-worker"];
    for (const name of [...entries.map((entry) => `src/${entry}.ts`), "strategies/none.ts", "plugins/none/index.ts"]) {
      mkdirSync(dirname(join(small, name)), { recursive: true });
      writeFileSync(join(small, name), "export const none = 0;\n");
    }
    link(join(root, "node_modules"), join(small, "node_modules"));
  });

  it("is left alone when it is one's own, and built where it is installed into another project", async () => {
    writeFileSync(join(dist, "left-over.js"), "");
    expect(await build(join(small, "src"))).toMatchObject({ code: 0, out: "", err: "" });
    expect(readdirSync(dist)).toEqual(["left-over.js"]);
    expect(await build(project)).toMatchObject({ code: 0 });
    expect(readdirSync(dist)).toEqual(expect.arrayContaining(["index.js", "cli"]));
    expect(readdirSync(dist)).not.toContain("left-over.js");
  });
});
