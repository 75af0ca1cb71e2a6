import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const bin = fileURLToPath(new URL("../../../src/cli/sluice.mjs", import.meta.url));
const folder = temporaryFolder("process");
writeFileSync(join(folder, "package.json"), '{"type":"module"}');

const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return name;
};

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

interface Watched {
  /** Reads nothing, as `| head -0` would. */
  readonly closeOut?: boolean;
  /** Sends Ctrl-C when stdout has this text. */
  readonly stopAt?: string;
}

/** The real program in the folder of a stranger. */
const sluice = (argv: readonly string[], { closeOut = false, stopAt }: Watched = {}): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [bin, ...argv], {
      cwd: folder,
      env: { ...process.env, NO_COLOR: "1", SLUICE_DEBUG: "" },
    });
    const ended = { out: "", err: "" };
    if (closeOut) child.stdout.destroy();
    child.stdout.on("data", (chunk: Buffer) => {
      ended.out += chunk.toString();
      if (stopAt !== undefined && ended.out.includes(stopAt)) child.kill("SIGINT");
    });
    child.stderr.on("data", (chunk: Buffer) => {
      ended.err += chunk.toString();
    });
    child.on("error", reject);
    child.on("close", (code) => {
      resolve({ code, ...ended });
    });
  });

describe("The program itself", () => {
  it("answers with its version", async () => {
    expect(await sluice(["--version"])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
      err: "",
    });
  });

  it("ends quietly when nobody reads", async () => {
    expect(await sluice(["--help"], { closeOut: true })).toEqual({ code: 0, out: "", err: "" });
  });

  it("closes the page of a recorded run at Ctrl-C, and ends as done", async () => {
    const events = file(
      "events.ndjson",
      '{"seq":0,"at":0,"type":"engine.ready"}\n{"seq":1,"at":1000,"type":"engine.stopped"}\n',
    );
    const { code, out, err } = await sluice(["ui", events], { stopAt: "Press Ctrl-C" });
    expect(out).toMatch(/^Open http:/);
    expect(err).not.toContain("unsettled");
    expect(code).toBe(0);
  });

  it.each([
    ["a config that does not exist", "confg.ts", undefined, /^error: confg\.ts: no such file\./],
    [
      "a syntax error",
      "syntax.ts",
      "const a = 1;\nconst b = = 2;\nexport default { a };\n",
      /^error: syntax\.ts could not be loaded: syntax\.ts:2:10: ERROR: Unexpected "="\n$/,
    ],
    [
      "a throw, by its line in the TypeScript file",
      "throws.ts",
      'interface A {\n  a: number;\n}\nthrow new TypeError("no luck");\nexport default {} as A;\n',
      /^error: throws\.ts could not be loaded: TypeError: no luck \(line 4\)\n$/,
    ],
    [
      "an import that does not exist",
      "lost.ts",
      'import "./nowhere.ts";\nexport default {};\n',
      /^error: lost\.ts could not be loaded: Cannot find module 'nowhere\.ts' imported from lost\.ts\n$/,
    ],
    [
      "a name that another entry of the package exports",
      "entry.ts",
      'import { backtest, defineConfig } from "sluice";\nexport default defineConfig({ service: backtest(), strategies: [] });\n',
      /^error: entry\.ts could not be loaded: SyntaxError: "sluice" exports no "backtest"\. .* come from sluice\/backtest,/,
    ],
    [
      "no default export",
      "named.ts",
      "export const strategies: string[] = [];\n",
      /^error: named\.ts has no default export; it exports strategies\./,
    ],
  ])("refuses %s with 2, one message and no stack", async (_, name, text, message) => {
    const ended = await sluice(["backtest", text === undefined ? name : file(name, text)]);
    expect(ended).toMatchObject({ code: 2, out: "" });
    expect(ended.err).toMatch(message);
    expect(ended.err).not.toMatch(/^ {4}at /m);
  });
});
