import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Help } from "commander";
import { describe, expect, it } from "vitest";
import type { RunOptions } from "../../../src/backtest/runner.ts";
import { type CliParts, main, programOf } from "../../../src/cli/main.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { type ErrorCode, errorCodes, SluiceError } from "../../../src/errors.ts";
import type { RunReport } from "../../../src/report/report.ts";
import { reportText } from "../../../src/report/report-text.ts";
import { type CaptureOptions, capturedIo } from "../../support/captured-io.ts";
import { commandsOf, usageProblem } from "../../support/doc-commands.ts";
import { sampleReport, strategy } from "../../support/harness/sample-report.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder("main");
const config = join(folder, "config.mjs");
writeFileSync(config, "export default ({ command }) => ({ command });");

const sluice = async (argv: readonly string[], parts: CliParts = {}, look: CaptureOptions = {}) => {
  const io = capturedIo(look);
  const code = await main(argv, io, parts);
  return { code, out: io.outText, err: io.errText };
};

const calls: { config: unknown; options: RunOptions }[] = [];
const reporting = (change: Partial<RunReport> = {}): CliParts => ({
  runBacktest: (given, options) => {
    calls.push({ config: given, options });
    return Promise.resolve({ ...sampleReport(), ...change });
  },
});
const failing = (error: unknown): CliParts => ({ runBacktest: () => Promise.reject(error as Error) });

describe("Wrong usage ends with 2 and one message", () => {
  it.each([
    [
      "an unknown command, with the nearest",
      ["bactest"],
      "error: unknown command 'bactest'. Did you mean backtest?\nSee: sluice --help\n",
    ],
    ["an unknown command, with nothing near", ["xyzzy"], "error: unknown command 'xyzzy'\nSee: sluice --help\n"],
    [
      "an unknown option, with the nearest",
      ["backtest", "a.ts", "--jsn"],
      "error: unknown option '--jsn'. Did you mean --json?\nSee: sluice backtest --help\n",
    ],
    ["a missing argument", ["run"], "error: missing required argument 'config'\nSee: sluice run --help\n"],
    ["an argument too many", ["run", "a", "b"], /^error: too many arguments for 'run'/],
    ["an option without its value", ["backtest", "a.ts", "--seed"], /^error: option '--seed <n>' argument missing/],
    [
      "a seed in words",
      ["backtest", "a.ts", "--seed", "abc"],
      /^error: option '--seed <n>' argument 'abc' is invalid\. Write a whole number from 0 to/,
    ],
    ["a negative seed", ["backtest", "a.ts", "--seed", "-5"], /argument '-5' is invalid/],
    ["a seed with a fraction", ["backtest", "a.ts", "--seed", "1.5"], /argument '1\.5' is invalid/],
    ["an empty seed", ["backtest", "a.ts", "--seed", ""], /argument '' is invalid/],
    [
      "a seed beyond exact numbers",
      ["backtest", "a.ts", "--seed", "9007199254740992"],
      /argument '9007199254740992' is invalid/,
    ],
    [
      "no time at all",
      ["run", "a.ts", "--seconds", "0"],
      /argument '0' is invalid\. Write a number of seconds above 0/,
    ],
    ["time in words", ["run", "a.ts", "--seconds", "1e3"], /argument '1e3' is invalid/],
    [
      "help on a command that does not exist",
      ["help", "bactest"],
      "error: unknown command 'bactest'. Did you mean \"backtest\"?\n",
    ],
    ["controls in an argument", ["\u001b[2J"], "error: unknown command '\\u001b[2J'\nSee: sluice --help\n"],
  ])("%s", async (_, argv, message) => {
    const { code, out, err } = await sluice(argv);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(message instanceof RegExp ? message : /^/);
    if (typeof message === "string") expect(err).toBe(message);
    expect(err.trimEnd().split("\n").length).toBeLessThanOrEqual(2);
  });

  it("no command at all shows the help, where messages go", async () => {
    const { code, out, err } = await sluice([]);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain("Usage: sluice [options] [command]");
  });
});

describe("Help and version", () => {
  it("go to stdout and end with 0", async () => {
    const { code, out, err } = await sluice(["--help"]);
    expect([code, err]).toEqual([0, ""]);
    for (const name of ["backtest", "run", "generate"]) expect(out).toMatch(new RegExp(`^  ${name} `, "m"));
    expect(out).toContain(
      "Exit codes: 0 done, 1 failed, 2 wrong usage or config, 3 trading is halted, 130 stopped by Ctrl-C.",
    );
  });

  it("lists the commands in groups, a line each at 80 columns, and each command's help has examples that are taken", async () => {
    const { out } = await sluice(["--help"], {}, { columns: 80 });
    const headings = ["Research:", "Trading:", "Market data:"];
    expect(
      headings.map((heading) => out.indexOf(`\n${heading}\n`)).every((at, index, all) => at > (all[index - 1] ?? 0)),
    ).toBe(true);
    const loaded = await programOf([], capturedIo(), {}, { all: true });
    const usages = loaded.commands.map((command) => new Help().subcommandTerm(command));
    for (const usage of usages) expect(out).toContain(`  ${usage} `);
    const names = loaded.commands.map((command) => command.name());
    const list = out.split("\n").filter((line) => /^ {2}[a-z]+ .* {2}[a-z]/.test(line));
    expect(new Set(list.map((line) => line.trim().split(" ")[0]))).toEqual(new Set([...names, "help"]));
    for (const name of names) {
      const [, examples = ""] = (await sluice([name, "--help"])).out.split("Examples:\n");
      expect(commandsOf(examples.split("\n\n")[0] ?? "").length, name).toBeGreaterThan(0);
      for (const [program, ...argv] of commandsOf(examples.split("\n\n")[0] ?? "")) {
        expect([program, await usageProblem(argv)], argv.join(" ")).toEqual(["sluice", undefined]);
      }
    }
  });

  it("explain each command", async () => {
    const { code, out } = await sluice(["backtest", "--help"]);
    expect(code).toBe(0);
    for (const option of ["--fixture <dir>", "--seed <n>", "--no-limits", "--json"]) expect(out).toContain(option);
  });

  it("the version is the package's", async () => {
    expect(await sluice(["--version"])).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });
});

describe("The backtest command", () => {
  it.each([
    [[], 10, ["panel: 4,493 lines left out; --verbose shows them", "panel 4504"]],
    [["--verbose"], 4_504, []],
  ])(
    "with %j shows %i lines of a plugin that prints 4,504, tells of the others, and every line of another plugin",
    async (argv, shown, told) => {
      const { code, err } = await sluice(["backtest", config, ...argv], {
        runBacktest: (_, { print }) => {
          for (let line = 1; line <= 4_504; line++) print?.(`panel ${line}`, "panel");
          print?.("switch: canceling all orders", "switch");
          return Promise.resolve(sampleReport());
        },
      });
      const first = Array.from({ length: shown }, (_, index) => `panel ${index + 1}`);
      expect([code, err.trimEnd().split("\n")]).toEqual([0, [...first, "switch: canceling all orders", ...told]]);
    },
  );

  it("prints the report for people", async () => {
    const { code, out, err } = await sluice(["backtest", config], reporting(), { columns: 90 });
    expect([code, err]).toEqual([0, ""]);
    expect(out).toBe(reportText(sampleReport(), { columns: 90, colour: false }));
  });

  it("prints one JSON document and nothing else", async () => {
    const { code, out, err } = await sluice(["backtest", config, "--json"], reporting(), { isTty: true });
    expect([code, err]).toEqual([0, ""]);
    expect(JSON.parse(out)).toEqual(sampleReport());
    expect(out.split("\n")).toHaveLength(2);
  });

  it.each([
    ["nothing that was not asked for", [], {}],
    ["the fixture", ["--fixture", "some/dir"], { fixture: "some/dir" }],
    ["the seed as a number", ["--seed", "42"], { seed: 42 }],
    ["seed zero", ["--seed", "0"], { seed: 0 }],
    ["limits turned off", ["--no-limits"], { limits: false }],
  ])("hands the run %s", async (_, argv, options) => {
    calls.length = 0;
    await sluice(["backtest", config, ...argv], reporting());
    expect(calls).toEqual([{ config: { command: "backtest" }, options: { print: expect.any(Function), ...options } }]);
  });

  it("shows progress on a terminal only, at most ten times a second, and wipes it", async () => {
    const moments = [
      { now: 0, at: 10 },
      { now: 50, at: 20 },
      { now: 100, at: 50 },
    ];
    const look = async (isTty: boolean): Promise<string> => {
      const clock = createVirtualClock();
      const runBacktest: CliParts["runBacktest"] = (_, { onProgress }) => {
        for (const { now, at } of moments) {
          clock.advanceTo(now);
          onProgress?.({ at, startAt: 0, endAt: 100, tradesAt: 0, pnl: "0", events: at });
        }
        return Promise.resolve(sampleReport());
      };
      return (await sluice(["backtest", config], { runBacktest, clock }, { isTty })).err;
    };
    const watched = await look(true);
    expect(watched.split("\r").map((line) => line.match(/\d+ %/)?.[0])).toEqual([undefined, "10 %", "50 %", undefined]);
    expect(watched.endsWith("\r\u001b[K")).toBe(true);
    expect(await look(false)).toBe("");
  });

  it("passes on what plugins print, made harmless, where messages go", async () => {
    const runBacktest: CliParts["runBacktest"] = (_, { print }) => {
      print?.("saved\u001b[2J");
      return Promise.resolve(sampleReport());
    };
    const { out, err } = await sluice(["backtest", config, "--json"], { runBacktest });
    expect(err).toBe("saved\\u001b[2J\n");
    expect(JSON.parse(out)).toEqual(sampleReport());
  });

  it("wipes the progress before a line that plugins print", async () => {
    const runBacktest: CliParts["runBacktest"] = (_, { onProgress, print }) => {
      onProgress?.({ at: 1, startAt: 0, endAt: 100, tradesAt: 0, pnl: "0", events: 1 });
      print?.("saved");
      return Promise.resolve(sampleReport());
    };
    const { err } = await sluice(["backtest", config], { runBacktest, clock: createVirtualClock() }, { isTty: true });
    expect(err).toContain("\r\u001b[Ksaved\n");
  });

  it("reports a run whose strategy failed, and fails", async () => {
    const perStrategy = { ladder: strategy(), broken: strategy({ state: "failed", error: "no bid" }) };
    const { code, out, err } = await sluice(["backtest", config, "--json"], reporting({ perStrategy }));
    expect(code).toBe(1);
    expect(JSON.parse(out).perStrategy.broken.error).toBe("no bid");
    expect(err).toBe("error: A strategy failed:\n  - broken: no bid\n");
  });

  it("refuses a config that does not exist", async () => {
    const { code, err } = await sluice(["backtest", join(folder, "confg.mjs")], reporting());
    expect(code).toBe(2);
    expect(err).toMatch(/^error: .*confg\.mjs: no such file\. Did you mean ".*config\.mjs"\?/);
  });
});

describe("Failures of a command", () => {
  const codes: Readonly<Record<string, number>> = { config: 2, usage: 2, resume: 3, again: 130 };
  it.each((Object.keys(errorCodes) as ErrorCode[]).map((code) => [code, errorCodes[code].fix] as const))(
    "%s, to be mended in %s",
    async (code, fix) => {
      const ended = await sluice(["backtest", config], failing(new SluiceError(code, "broken", ["here"])));
      expect(ended).toEqual({
        code: codes[fix] ?? 1,
        out: "",
        err: "error: broken\n  - here\n",
      });
    },
  );

  it("unexpected ones are one message, with the way to the stack", async () => {
    const ended = await sluice(["backtest", config], failing(new TypeError("x is not a function")));
    expect(ended).toEqual({
      code: 1,
      out: "",
      err: "error: x is not a function\nSet SLUICE_DEBUG=1 to see where it happened.\n",
    });
  });

  it("what is not even an error is said too", async () => {
    expect(await sluice(["backtest", config], failing("no"))).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^error: no was thrown\n/),
    });
  });

  it("show their stack when asked", async () => {
    const { err } = await sluice(["backtest", config], failing(new SluiceError("BUG", "broken")), {
      env: { SLUICE_DEBUG: "1" },
    });
    expect(err).toMatch(/^error: broken\nSluiceError: broken\n {4}at /);
  });

  it("cannot move the cursor", async () => {
    const { err } = await sluice(["backtest", config], failing(new SluiceError("FIXTURE_INVALID", "a\u001b[2J\nb")));
    expect(err).toBe("error: a\\u001b[2J\nb\n");
  });
});
