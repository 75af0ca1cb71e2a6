import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { runBacktest } from "../../../src/backtest/runner.ts";
import { withDetails } from "../../../src/backtest/with-details.ts";
import { backtest } from "../../../src/backtest.ts";
import { type CliParts, main } from "../../../src/cli/main.ts";
import { packageSource } from "../../../src/cli/package-source.ts";
import type { RunDetails } from "../../../src/report/details.ts";
import trend from "../../../template/strategies/trend.ts";
import { type CaptureOptions, capturedIo } from "../../support/captured-io.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = realpathSync(temporaryFolder("init"));
const root = realpathSync(fileURLToPath(new URL("../../..", import.meta.url)));
const init = async (argv: readonly string[], parts: CliParts = {}, look: CaptureOptions = {}) => {
  const io = capturedIo(look);
  const code = await main(["init", ...argv], io, parts);
  return { code, out: io.outText, err: io.errText };
};
const write = (file: string, value: unknown): void => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof value === "string" ? value : JSON.stringify(value));
};
const textOf = (project: string, path: string): string => readFileSync(join(project, path), "utf8");

describe("A new project", () => {
  it("holds a strategy, its test, three configs and a market, and the next command is said", async () => {
    const project = join(folder, "a", "Demo");
    const { code, out, err } = await init([project, "--yes"]);
    expect(code).toBe(0);
    const files = readdirSync(project, { recursive: true, encoding: "utf8" });
    expect(files).toEqual(
      expect.arrayContaining(
        "package.json tsconfig.json .gitignore README.md config/backtest.ts config/paper.ts config/testnet.ts strategies/trend.ts test/trend.test.ts fixture/manifest.json".split(
          " ",
        ),
      ),
    );
    expect(out).toContain(join(project, "strategies/trend.ts"));
    expect(err).toContain("npm install && npm test && npm start");
    expect(JSON.parse(textOf(project, "package.json"))).toMatchObject({
      name: "demo",
      type: "module",
      scripts: { test: "vitest run", start: "sluice backtest config/backtest.ts", paper: "sluice run config/paper.ts" },
    });
  });

  it("is of the instrument and name that were given, with a size of ten lots", async () => {
    const project = join(folder, "eth");
    expect((await init([project, "--instrument", "ETH-USDT-SWAP", "--name", "mine", "--yes"])).code).toBe(0);
    expect(textOf(project, "config/backtest.ts")).toContain('trend({ instId: "ETH-USDT-SWAP", qty: "0.1" })');
    expect(textOf(project, "test/trend.test.ts")).not.toContain("BTC");
    expect(JSON.parse(textOf(project, "fixture/manifest.json"))).toMatchObject({
      instruments: [{ instId: "ETH-USDT-SWAP" }],
    });
    expect(JSON.parse(textOf(project, "package.json"))).toMatchObject({ name: "mine" });
  });

  it("never replaces a file: it is named, and nothing is written", async () => {
    const project = join(folder, "taken");
    write(join(project, "config/paper.ts"), "mine");
    const { code, err } = await init([project, "--yes"]);
    expect(code).toBe(2);
    expect(err).toContain(`${project} already holds config/paper.ts; nothing was written.`);
    expect(textOf(project, "config/paper.ts")).toBe("mine");
    expect(existsSync(join(project, "package.json"))).toBe(false);
    expect(await init([join(project, "config/paper.ts"), "--yes"])).toMatchObject({ code: 2 });
  });

  it("is asked about on a terminal only, by at most two questions", async () => {
    const asked: string[] = [];
    const ask = (question: string): Promise<string> => {
      asked.push(question);
      return Promise.resolve(question.startsWith("Name") ? " " : "SOL-USDT-SWAP");
    };
    expect((await init([join(folder, "silent")], { ask })).code).toBe(0);
    expect((await init([join(folder, "yes"), "--yes"], { ask }, { isTty: true })).code).toBe(0);
    expect(asked).toEqual([]);
    expect((await init([join(folder, "asked")], { ask }, { isTty: true })).code).toBe(0);
    expect(asked).toEqual(["Name (asked): ", "Instrument (BTC-USDT-SWAP): "]);
    expect(textOf(join(folder, "asked"), "config/paper.ts")).toContain('instruments: ["SOL-USDT-SWAP"]');
  });

  it.each([
    ["spot", ["--instrument", "BTC-USDT"], /where a stop cannot be an order that only reduces\. Write BTC-USDT-SWAP\./],
    ["a name that npm would refuse", ["--name", "My Project"], /cannot be the name of a package/],
  ])("is not made of %s", async (_, argv, message) => {
    const { code, err } = await init([join(folder, "not"), "--yes", ...argv]);
    expect([code, existsSync(join(folder, "not"))]).toEqual([2, false]);
    expect(err).toMatch(message);
  });

  it("is explained with an example", async () => {
    expect((await init(["--help"])).out).toContain(
      "npx sluice init demo --yes && cd demo && npm install && npm test && npm start",
    );
  });
});

describe("The package that a new project depends on", () => {
  const place = join(folder, "places");
  const installed = (name: string, resolved: string | undefined, spec?: string): string => {
    const holder = join(place, name);
    const at = join(holder, "node_modules/sluice");
    write(join(at, "package.json"), { name: "sluice", version: "1.2.3" });
    if (resolved !== undefined)
      write(join(holder, "node_modules/.package-lock.json"), { packages: { "node_modules/sluice": { resolved } } });
    write(join(holder, "package.json"), { dependencies: spec === undefined ? {} : { sluice: spec } });
    return at;
  };
  write(join(place, "made/sluice 1.tgz"), "");

  it.each([
    [
      "a tarball, seen from the project",
      "tarball",
      "file:../made/sluice 1.tgz",
      undefined,
      "file:../../made/sluice 1.tgz",
      "file",
    ],
    [
      "a tarball with an escaped name",
      "escaped",
      "file:../made/sluice%201.tgz",
      undefined,
      "file:../../made/sluice 1.tgz",
      "file",
    ],
    [
      "the parent's word where npm noted nothing",
      "word",
      undefined,
      "file:../made/sluice 1.tgz",
      "file:../../made/sluice 1.tgz",
      "file",
    ],
    [
      "a repository",
      "git",
      "git+ssh://git@example.com/sluice.git#abc",
      undefined,
      "git+ssh://git@example.com/sluice.git#abc",
      "address",
    ],
    [
      "a registry's version",
      "registry",
      "https://registry.example.com/sluice/-/sluice-1.2.3.tgz",
      undefined,
      "1.2.3",
      "version",
    ],
    ["the version where the tarball is gone", "gone", "file:../made/gone.tgz", undefined, "1.2.3", "guess"],
  ])("is %s", (_, name, resolved, spec, wanted, kind) => {
    expect(packageSource(installed(name, resolved, spec), join(place, name, "demo"))).toEqual({ spec: wanted, kind });
  });

  it("is the clone where it runs from one", () => {
    expect(packageSource(root, join(root, "out/demo"))).toEqual({ spec: "file:../..", kind: "folder" });
  });
});

describe("The strategy of a new project", () => {
  it.each([
    ["filled whole", "0.01"],
    ["filled in part, as the market shows less than it wants", "8"],
  ])("is flat after each exit and never short when its entries are %s", async (_, qty) => {
    const instId = "BTC-USDT-SWAP";
    let details: RunDetails | undefined;
    const service = backtest({ fixture: "test/fixtures/demo", balances: { USDT: "1000000" } });
    const report = await runBacktest(
      withDetails({ service, strategies: [trend({ instId, qty })] }, (given) => {
        details = given;
      }),
    );
    let held = 0;
    const afterExits: number[] = [];
    // In thousandths, the lot: exact.
    for (const fill of details?.fills ?? []) {
      const lots = Math.round(Number(fill.qty) * 1_000);
      held += fill.side === "buy" ? lots : -lots;
      expect(held).toBeGreaterThanOrEqual(0);
      expect(held).toBeLessThanOrEqual(Number(qty) * 1_000);
      if (fill.side === "sell") afterExits.push(held);
    }
    expect(afterExits.length).toBeGreaterThan(2);
    expect(afterExits.filter((lots) => lots === 0).length).toBeGreaterThan(2);
    expect(report.perStrategy["trend"]).toMatchObject({ rejected: 0, refused: 0 });
  });
});
