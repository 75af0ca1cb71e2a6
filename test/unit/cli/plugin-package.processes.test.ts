/**
 * A plugin as a package of its own, made of the code blocks of its guide: compiled against the packed Sluice, installed beside it in an
 * empty project, and seen to work through the command line there.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { docBlocks, fileOfBlock } from "../../support/doc-blocks.ts";
import { link, packedProjectIn, packInto, root, run } from "../../support/packed-package.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder("plugin-package");
const packed = packedProjectIn(folder);
const { installed, project, sluice } = packed;
const author = join(folder, "author");
const children: ChildProcess[] = [];

const write = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};

const page = docBlocks().filter((block) => block.page === "docs/guides/plugins.md");
const sources = page.filter(({ language }) => language === "ts").map(fileOfBlock);
const manifests = page.filter(({ language }) => language === "json").map(({ text }) => text);

const compilerOptions = {
  module: "nodenext",
  target: "es2023",
  strict: true,
  rewriteRelativeImportExtensions: true,
  rootDir: "src",
  outDir: "dist",
  types: ["node"],
};

/** The package as its author makes it, beside the project and not in it. */
const makePackage = async (): Promise<void> => {
  const [own = "", projects = ""] = manifests;
  write(join(author, "package.json"), own);
  for (const { path, text } of sources) {
    const inside = /^guides\/plugins\/(src\/.*)$/.exec(path)?.[1];
    if (inside !== undefined) write(join(author, inside), text);
  }
  write(join(author, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["src"] }));
  link(installed, join(author, "node_modules/sluice"));
  link(join(root, "node_modules/@types"), join(author, "node_modules/@types"));
  const compiled = await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", "."], author);
  expect([compiled.code, compiled.out]).toEqual([0, ""]);
  const place = join(project, "node_modules/sluice-quiet");
  for (const name of ["package.json", "dist"]) cpSync(join(author, name), join(place, name), { recursive: true });
  const whole = { name: "somebody", private: true, type: "module", ...(JSON.parse(projects) as object) };
  write(join(project, "package.json"), JSON.stringify(whole));
};

const strategy = `import { map, take } from "rxjs";
import { defineStrategy } from "sluice";
export const once = defineStrategy({
  name: "once",
  options: { type: "object", additionalProperties: false, properties: {} },
  wanted: ({ market }) => market.quotes("BTC-USDT-SWAP").pipe(take(1),
    map(({ askPx }) => [{ slot: "bid", instId: "BTC-USDT-SWAP", side: "buy" as const, px: askPx, qty: "0.01" }])),
});
`;

const configOf = (service: string, plugins: string, imports = ""): string => `import { defineConfig } from "sluice";
import { backtest, paper } from "sluice/backtest";
import { quietHours, requestLog, acme } from "sluice-quiet";
import { once } from "./once.ts";
${imports}
void [backtest, paper, quietHours, requestLog, acme];
export default defineConfig({ service: ${service}, strategies: [once({})], plugins: [${plugins}] });
`;

/** Runs to its end well, and gives what it printed. */
const done = async (...argv: readonly string[]): Promise<string> => {
  const { code, out, err } = await sluice(...argv);
  expect([argv.join(" "), code, code === 0 ? "" : err]).toEqual([argv.join(" "), 0, ""]);
  return out;
};

interface Line {
  readonly type: string;
  readonly what?: string;
  readonly detail?: string;
  readonly reason?: string;
  readonly phase?: string;
}
const eventsIn = (out: string): readonly Line[] =>
  out
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Line);

beforeAll(async () => {
  const { code, err } = await packInto(folder, packed);
  expect([code, code === 0 ? "" : err]).toEqual([0, ""]);
  await makePackage();
  write(join(project, "once.ts"), strategy);
  await done("generate", "--out", "made", "--seed", "7", "--minutes", "5", "--instrument", "BTC-USDT-SWAP");
});

afterAll(() => {
  for (const child of children) child.kill();
});

describe("A plugin package beside a packed Sluice", () => {
  it("adds a command, which the help lists", async () => {
    expect(await done("--help")).toMatch(/quiet <from> <to> +list the hours in which nothing is entered/);
    expect(await done("quiet", "22", "6")).toBe("From 22 to 6 o'clock UTC.\n");
  });

  it("adds an interceptor and a report file to a backtest", async () => {
    write(
      join(project, "traded.ts"),
      configOf('backtest({ fixture: "made" })', 'requestLog({ file: "requests.txt" })'),
    );
    const { pnl, fills } = JSON.parse(await done("backtest", "traded.ts", "--json", "--line", "line.txt")) as {
      readonly pnl: string;
      readonly fills: number;
    };
    expect(fills).toBe(1);
    expect(readFileSync(join(project, "line.txt"), "utf8")).toBe(`${pnl} USDT, 1 fills\n`);
    expect(readFileSync(join(project, "requests.txt"), "utf8").split("\n")).toContain("placeOrder");
  });

  it("adds a reason to refuse to a backtest", async () => {
    write(join(project, "quiet.ts"), configOf('backtest({ fixture: "made" })', "quietHours({ from: 0, to: 24 })"));
    const { code, out, err } = await sluice("backtest", "quiet.ts", "--json");
    expect(JSON.parse(out)).toMatchObject({ fills: 0 });
    // A run in which no order was accepted says so.
    expect([code, err]).toEqual([1, expect.stringContaining("quiet hours")]);
  });

  it("adds an option of run", async () => {
    write(join(project, "paper.ts"), configOf("paper()", ""));
    const help = await done("run", "--help");
    expect(help).toMatch(/--quiet <from-to> +refuse entries between two hours of UTC/);
    const { out } = await sluice("run", "paper.ts", "--seconds", "3", "--json", "--quiet", "0-24");
    const events = eventsIn(out);
    expect(events).toContainEqual(expect.objectContaining({ type: "order.refused", reason: "quiet hours" }));
    const wrong = await sluice("run", "paper.ts", "--quiet", "late");
    expect(wrong.err).toContain("--quiet takes two hours: 22-6.");
  });

  it("adds a service with its own dialect", async () => {
    const venue = spawn(
      process.execPath,
      [join(installed, "src/cli/sluice.mjs"), "venue", "--json", "--seed", "7", "--keys", "keys.json"],
      { cwd: project, stdio: ["ignore", "pipe", "inherit"] },
    );
    children.push(venue);
    const opened = await new Promise<string>((resolve) => venue.stdout.once("data", (text) => resolve(String(text))));
    const { url, wsUrl } = JSON.parse(opened) as { readonly url: string; readonly wsUrl: string };
    expect(existsSync(join(project, "keys.json"))).toBe(true);
    const options = `{ environment: "testnet", baseUrl: "${url}", wsUrl: "${wsUrl}", keys: [fromFile("keys.json", "trade")] }`;
    write(
      join(project, "acme.ts"),
      configOf(`acme(${options})`, 'requestLog({ file: "acme.txt" })', 'import { fromFile } from "sluice";'),
    );
    const events = eventsIn(await done("run", "acme.ts", "--seconds", "5", "--json"));
    const untried = { type: "anomaly", what: "dialect.untried", detail: expect.stringContaining("acme-v1") as string };
    expect(events).toContainEqual(expect.objectContaining(untried));
    expect(events.filter(({ type }) => type === "order.changed").map(({ phase }) => phase)).toContain("filled");
    expect(readFileSync(join(project, "acme.txt"), "utf8")).toContain("placeOrder\n");
  });
});
