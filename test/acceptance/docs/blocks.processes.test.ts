/**
 * Every code block of README.md and of the documentation compiles, parses or runs.
 */
import { execFile } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { type DocBlock, type DocFile, docBlocks, docFiles, folderOf, writeDocFiles } from "../../support/doc-blocks.ts";
import { commandsOf, usageProblem } from "../../support/doc-commands.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const place = writeDocFiles("doc-blocks");

const blocks = docBlocks();
const of = (language: string): readonly DocBlock[] => blocks.filter((block) => block.language === language);
const files = docFiles();
const at = ({ page, line }: DocBlock | DocFile): string => `${page}:${line}`;

const run = (argv: readonly string[]): Promise<string> =>
  new Promise((resolve) => {
    execFile(process.execPath, argv, { cwd: root, env: { ...process.env, NO_COLOR: "1" } }, (error, out, err) => {
      resolve(error === null ? "" : `${out}${err}`);
    });
  });

/** Names of the page and the block instead of the file that was made of it. */
const told = (output: string): string =>
  files.reduce((text, file) => text.replaceAll(`out/doc-blocks/${file.path}`, `${at(file)} (${file.path})`), output);

const write = (name: string, text: string): void => {
  writeFileSync(join(place, name), text);
};

afterAll(() => {
  rmSync(place, { recursive: true, force: true });
});

describe("Code blocks of the documentation", () => {
  it("are of a kind that is checked", () => {
    const known = ["ts", "sh", "json", "text"];
    expect(
      blocks.filter(({ language }) => !known.includes(language)).map((block) => `${at(block)}: "${block.language}"`),
    ).toEqual([]);
    // Text is what something prints or reads: a note before it says what, for the test that compares them.
    expect(
      of("text")
        .filter(({ note }) => !/^\s*(output: |market\s|rooms\s)/.test(note))
        .map(at),
    ).toEqual([]);
  });

  it("fit beside the outline of a page without scrolling", () => {
    const long = blocks
      .filter(({ page }) => page.startsWith("docs/"))
      .flatMap((block) =>
        block.text
          .split("\n")
          .flatMap((line, index) => (line.length > 100 ? [`${block.page}:${block.line + 1 + index}`] : [])),
      );
    expect(long).toEqual([]);
  });

  it("in TypeScript are files of their page, each name once", () => {
    const paths = files.map(({ path }) => path);
    expect(paths.filter((path, index) => paths.indexOf(path) !== index)).toEqual([]);
  });

  it("in TypeScript compile strictly against the package's entries", async () => {
    write("tsconfig.json", JSON.stringify({ extends: "../../tsconfig.json", include: ["."] }));
    expect(
      told(await run(["node_modules/typescript/bin/tsc", "-p", "out/doc-blocks/tsconfig.json", "--pretty", "false"])),
    ).toBe("");
  });

  it("in JSON are JSON", () => {
    for (const block of of("json")) expect(() => JSON.parse(block.text) as unknown, at(block)).not.toThrow();
  });

  it("that are tests of strategies pass", async () => {
    write(
      "vitest.config.ts",
      `import base from "../../vitest.config.ts";\nexport default { resolve: base.resolve, test: { root: ${JSON.stringify(place)}, include: ["**/*.test.ts"], isolate: false, maxWorkers: 1, testTimeout: 60_000 } };\n`,
    );
    expect(files.filter(({ path }) => path.endsWith(".test.ts"))).not.toEqual([]);
    expect(
      told(await run(["node_modules/vitest/vitest.mjs", "run", "--config", "out/doc-blocks/vitest.config.ts"])),
    ).toBe("");
  });
});

/** A line of output as a pattern: `…` stands for anything. */
const patternOf = (line: string): RegExp =>
  new RegExp(
    line
      .trim()
      .split("…")
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"))
      .join(".*"),
  );

describe("Output that the documentation shows", () => {
  const shown = of("text").filter(({ note }) => note.trim().startsWith("output: "));

  it("is what the command prints in a new project", async () => {
    const project = join(place, "project");
    const sluice = (argv: readonly string[], cwd: string): Promise<string> =>
      new Promise((resolve) => {
        const env = { ...process.env, NO_COLOR: "1", COLUMNS: "100" };
        execFile(process.execPath, [join(root, "src/cli/sluice.mjs"), ...argv], { cwd, env }, (_, out, err) => {
          resolve(`${out}${err}`);
        });
      });
    await sluice(["init", project, "--yes"], root);
    expect(shown).not.toEqual([]);
    for (const block of shown) {
      const lines = (await sluice(block.note.trim().replace("output: ", "").split(" "), project)).split("\n");
      let from = 0;
      for (const line of block.text.split("\n").filter((text) => text.trim() !== "")) {
        const found = lines.findIndex((candidate, index) => index >= from && patternOf(line).test(candidate));
        expect(
          found,
          `${at(block)}: "${line}" is not printed${from === 0 ? "" : ` after "${lines[from - 1]}"`}`,
        ).not.toBe(-1);
        from = found + 1;
      }
    }
  });
});

describe("Commands of the documentation", () => {
  const commands = of("sh").flatMap((block) => commandsOf(block.text).map((words) => ({ block, words })));
  const sluice = commands.filter(({ words }) => words[0] === "npx" && words[1] === "sluice");

  it("are understood by the command line", async () => {
    const problems = await Promise.all(
      sluice.map(async ({ block, words }) => {
        const problem = await usageProblem(words.slice(2));
        return problem === undefined ? [] : [`${at(block)}: ${words.join(" ")}: ${problem}`];
      }),
    );
    expect(problems.flat()).toEqual([]);
    expect(sluice.length).toBeGreaterThan(10);
  });

  it("name configs and other files that the page, the repository or a new project holds", () => {
    const missing = sluice.flatMap(({ block, words }) =>
      words
        .filter((word) => /^[\w./-]+\.ts$/.test(word))
        .filter((word) => !files.some(({ path }) => path === `${folderOf(block.page)}/${word}`))
        .filter((word) => !existsSync(join(root, word)) && !existsSync(join(root, "template", word)))
        .map((word) => `${at(block)}: ${word}`),
    );
    expect(missing).toEqual([]);
  });

  it("of npm are scripts of the package or of a new project", () => {
    const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    const known = [...Object.keys(manifest.scripts), "paper"];
    const wrong = commands
      .filter(({ words }) => words[0] === "npm")
      .map(({ block, words }) => ({ block, name: words[1] === "run" ? words[2] : words[1] }))
      .filter(
        ({ name }) => !["ci", "install", "pack", "--version"].includes(name ?? "") && !known.includes(name ?? ""),
      );
    expect(wrong.map(({ block, name }) => `${at(block)}: npm run ${name}`)).toEqual([]);
  });

  it("are otherwise a few that every shell has", () => {
    const known = ["npx", "npm", "node", "cd", "export", "git", "curl", "kill"];
    const wrong = commands.filter(
      ({ words }) => !known.includes(words[0] ?? "") || (words[0] === "npx" && words[1] !== "sluice"),
    );
    expect(wrong.map(({ block, words }) => `${at(block)}: ${words.join(" ")}`)).toEqual([]);
  });
});
