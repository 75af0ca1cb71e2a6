/**
 * What packages add to the command line: written into a project's `node_modules`, read from manifests, and run by the command line's own
 * process.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readContributions } from "../../../src/cli/plugin-manifest.ts";
import { isSluiceError } from "../../../src/errors.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder("plugin-manifest");
const sluice = fileURLToPath(new URL("../../../src/cli/sluice.mjs", import.meta.url));

const greet = {
  module: "./greet.js",
  group: "Greetings:",
  usage: "<name>",
  summary: "greet somebody",
  examples: ["greet Ada"],
  loadsFiles: false,
};

const write = (path: string, content: string | object): void => {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
};

/** A project that names packages, each with its manifest and files. */
const project = (
  name: string,
  packages: Readonly<Record<string, { readonly sluice: unknown; readonly files?: Readonly<Record<string, string>> }>>,
): string => {
  const place = join(folder, name);
  write(join(place, "package.json"), { name, sluice: { plugins: Object.keys(packages) } });
  for (const [id, { sluice: manifest, files = {} }] of Object.entries(packages)) {
    const root = join(place, "node_modules", id);
    write(join(root, "package.json"), { name: id, type: "module", exports: {}, sluice: manifest });
    for (const [file, text] of Object.entries(files)) write(join(root, file), text);
  }
  return place;
};

const run = (cwd: string, ...argv: string[]): string => {
  try {
    return execFileSync(process.execPath, [sluice, ...argv], {
      cwd,
      encoding: "utf8",
      env: { ...process.env, NO_COLOR: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
  } catch (error) {
    return (error as { readonly stderr: string }).stderr;
  }
};

const refusal = (run_: () => unknown): string | undefined => {
  try {
    run_();
  } catch (error) {
    return isSluiceError(error) && error.code === "CONFIG_INVALID" ? error.message : String(error);
  }
  return undefined;
};

describe("Commands of packages", () => {
  it("are listed from the manifest without their code, and loaded when they are called", () => {
    const place = project("lists", {
      "sluice-greet": {
        sluice: { commands: { greet } },
        files: {
          "greet.js": `
            process.stderr.write("loaded\\n");
            export default { kind: "command", name: "greet", add: (program, io) => {
              program.command("greet").argument("<name>").action((name) => io.out(\`Hello \${name}\\n\`));
            } };`,
        },
      },
    });
    const help = run(place, "--help");
    expect(help).toMatch(/\nGreetings:\n {2}greet <name> +greet somebody\n/);
    expect(help).not.toContain("loaded");
    expect(run(place, "greet", "Ada")).toBe("Hello Ada\n");
    expect(run(place, "help", "greet")).toContain("Examples:\n  sluice greet Ada\n");
  });

  it("do not replace a command of the core, nor one of a package before them", () => {
    const row = (module: string) => ({ ...greet, module });
    const place = project("twice", {
      first: { sluice: { commands: { greet: row("./first.js"), backtest: row("./own.js") } } },
      second: { sluice: { commands: { greet: row("./second.js") } } },
    });
    expect(readContributions(place).commands.get("greet")?.module).toBe("./first.js");
    expect(run(place, "backtest", "--help")).toContain("Replay a recorded market");
  });

  it("whose module has no such command are refused by their place in the manifest", () => {
    const place = project("wrong-module", {
      empty: { sluice: { commands: { greet } }, files: { "greet.js": "export const nothing = 0;" } },
    });
    expect(run(place, "greet", "Ada")).toMatch(
      /node_modules\/empty\/package\.json: commands\.greet\.module: \.\/greet\.js does not export this command\. Write export default defineCommand\("greet", …\)\./,
    );
  });
});

describe("Dialects of packages", () => {
  it("are named in the manifest for both sides, and loaded when they are asked for", async () => {
    const place = project("dialects", {
      "sluice-acme": {
        sluice: { dialects: { acme: { module: "./acme.js" } }, servedDialects: { acme: { module: "./served.js" } } },
        files: {
          "acme.js": `export default { name: "acme-v2" };`,
          "served.js": `export default { name: "acme" };`,
        },
      },
    });
    const { dialects, servedDialects } = readContributions(place);
    expect(await dialects.get("acme")?.load()).toEqual({ name: "acme-v2" });
    expect(await servedDialects.get("acme")?.load()).toEqual({ name: "acme" });
  });
});

describe("Report exporters of packages", () => {
  const [config, fixture] = ["config/backtest.ts", "test/fixtures/demo"].map((path) =>
    fileURLToPath(new URL(`../../../${path}`, import.meta.url)),
  ) as [string, string];
  const row = { module: "./pnl.js", flags: "--pnl <file>", description: "write the result as text" };
  const exporter = (sluice: object, text = "export default {};") => ({
    "sluice-pnl": { sluice, files: { "pnl.js": text } },
  });

  it("are options of backtest, run and report, loaded when they are given, and write the file", () => {
    const place = project(
      "exporters",
      exporter(
        { exporters: { pnl: row } },
        `process.stderr.write("loaded\\n");
         export default {
           kind: "report-exporter",
           contents: async ({ pnl, currency, fills }, details) => pnl + " " + currency + " " + (details.fills.length === fills),
         };`,
      ),
    );
    for (const command of ["backtest", "run", "report"]) {
      const help = run(place, command, "--help");
      expect(help).toMatch(/--pnl <file> +write the result as text/);
      expect(help).not.toContain("loaded");
    }
    const argv = ["backtest", config, "--fixture", fixture, "--json", "--pnl", "deep/pnl.txt"];
    const { pnl } = JSON.parse(run(place, ...argv)) as { pnl: string };
    expect(readFileSync(join(place, "deep/pnl.txt"), "utf8")).toBe(`${pnl} USDT true`);
    expect(run(place, "backtest", config, "--pnl", ".")).toContain(". cannot be written: it is a folder");
  });

  it.each([
    ["takes no file", { ...row, flags: "--pnl" }, 'exporters.pnl.flags: "--pnl" takes no file. Write --pnl <file>.'],
    [
      "has the name of an option of the command",
      { ...row, flags: "--json <file>" },
      "exporters.pnl.flags: sluice backtest has the option --json already.",
    ],
    [
      "leads to a module without an exporter",
      row,
      "exporters.pnl.module: ./pnl.js does not export an exporter. Write export default defineReportExporter(…).",
    ],
  ])("whose row %s are refused by their place in the manifest", (name, entry, message) => {
    const place = project(`exporter that ${name}`, exporter({ exporters: { pnl: entry } }));
    expect(run(place, "backtest", config, "--pnl", "pnl.txt")).toContain(
      `node_modules/sluice-pnl/package.json: ${message}`,
    );
  });
});

describe("Recorded runs of packages", () => {
  const runs = { module: "./runs.js", file: "mine.txt" };

  it("are read by the package whose file is in the folder, which must export a reader", () => {
    const place = project("runs", {
      broken: { sluice: { playableRuns: { mine: runs } }, files: { "runs.js": "export default {};" } },
      whole: {
        sluice: { playableRuns: { other: { ...runs, file: "other.txt" } } },
        files: {
          "runs.js": `export default { kind: "playable-runs", read: (dir) => { throw new Error("read " + dir); } };`,
        },
      },
    });
    for (const name of ["mine", "other", "none"]) write(join(place, name, `${name}.txt`), {});
    expect(run(place, "ui", "other")).toContain("read other");
    expect(run(place, "ui", "mine")).toMatch(
      /node_modules\/broken\/package\.json: \.\/runs\.js exports no reader of runs\. Write export default definePlayableRuns/,
    );
    expect(run(place, "ui", "none")).toContain("none holds no session");
  });
});

describe("Kinds of work of packages", () => {
  it("must be exported by the module that the manifest names", () => {
    const place = project("work", {
      broken: { sluice: { work: { mine: { module: "./work.js" } } }, files: { "work.js": "export default {};" } },
    });
    expect(run(place, "worker", "--queue", "redis://127.0.0.1:1")).toMatch(
      /node_modules\/broken\/package\.json: work\.mine\.module: \.\/work\.js exports no work\. Write export default defineWork/,
    );
  });
});

describe("A manifest that is wrong", () => {
  it.each([
    ["a list", [], "the manifest is not an object"],
    ["commands as a text", { commands: "greet" }, "commands: is not an object"],
    ["a command as a text", { commands: { greet: "./greet.js" } }, "commands.greet: is not an object"],
    ["no module", { commands: { greet: { ...greet, module: undefined } } }, "commands.greet.module: write a text"],
    ["work without a module", { work: { mine: {} } }, "work.mine.module: write a text"],
    ["an exporter without flags", { exporters: { a: { module: "./a.js" } } }, "exporters.a.flags: write a text"],
    [
      "a pattern without a hint",
      { runOptions: { a: { module: "./a.js", flags: "--a [n]", description: "a", pattern: "^1$" } } },
      "runOptions.a.hint: write a text",
    ],
    ["runs without a file", { playableRuns: { mine: { module: "./a.js" } } }, "playableRuns.mine.file: write a text"],
    [
      "examples as a text",
      { commands: { greet: { ...greet, examples: "x" } } },
      "commands.greet.examples: write a list of texts",
    ],
    ["a dialect without a module", { dialects: { acme: {} } }, "dialects.acme.module: write a text"],
    ["served dialects as a list", { servedDialects: [] }, "servedDialects: is not an object"],
  ])("as %s is refused with its place", (name, manifest, message) => {
    const place = project(`wrong ${name}`, { wrong: { sluice: manifest } });
    expect(refusal(() => readContributions(place))).toBe(
      `${join(place, "node_modules/wrong/package.json")}: ${message}`,
    );
  });

  it("is refused where the project names what is not installed, or no list", () => {
    const place = join(folder, "missing");
    write(join(place, "package.json"), { sluice: { plugins: ["not-installed"] } });
    expect(refusal(() => readContributions(place))).toBe(
      `${join(place, "package.json")}: "sluice": { "plugins" } names not-installed, which is not installed. Install it: npm install not-installed`,
    );
    write(join(place, "package.json"), { sluice: { plugins: "not-installed" } });
    expect(refusal(() => readContributions(place))).toContain("is not a list of names of packages");
    write(join(place, "package.json"), "{");
    expect(refusal(() => readContributions(place))).toContain("is not JSON");
  });

  it("is not read for a command of the core that takes nothing from it", () => {
    const place = project("unread", { wrong: { sluice: { commands: "x" } } });
    expect(run(place, "generate", "--help")).toContain("Usage: sluice generate");
    expect(run(place, "--help")).toContain("commands: is not an object");
  });
});
