import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { main } from "../../../src/cli/main.ts";
import { capturedIo } from "../../support/captured-io.ts";
import { pathsUnder } from "../../support/source-tree.ts";

const loaded = vi.hoisted(() => new Set<string>());
/** The command as it is, noted down when its file was fetched and it joins the program. */
const noted = vi.hoisted(
  () =>
    <A extends readonly unknown[]>(name: string, add: (...args: A) => void) =>
    (...args: A): void => {
      loaded.add(name);
      add(...args);
    },
);
vi.mock(import("../../../src/cli/run.ts"), async (original) => {
  const file = await original();
  return { ...file, addRunCommand: noted("run", file.addRunCommand) };
});
vi.mock(import("../../../src/cli/generate.ts"), async (original) => {
  const file = await original();
  return { ...file, addGenerateCommand: noted("generate", file.addGenerateCommand) };
});

const sluice = async (...argv: readonly string[]) => {
  const io = capturedIo();
  return { code: await main(argv, io), out: io.outText, err: io.errText };
};

beforeEach(() => {
  loaded.clear();
});

describe("Loading a command loads no other:", () => {
  it.each([
    ["for the version", ["--version"], []],
    ["for the version, in short", ["-V"], []],
    ["for the help of another", ["generate", "--help"], ["generate"]],
    ["for the help of another, in other words", ["help", "generate"], ["generate"]],
    ["for a mistake in another", ["run"], ["run"]],
    ["for a list of all", ["--help"], []],
    ["for the nearest", ["vnue"], []],
    ["for an option as the first word", ["--jsn", "run"], []],
    ["for a first word that every object has", ["constructor"], []],
  ])("%s", async (_, argv, files) => {
    await sluice(...argv);
    expect([...loaded].sort()).toEqual(files);
  });
});

describe("Every command is found by its name,", () => {
  it("as the help lists them, in its order", async () => {
    const { out } = await sluice("--help");
    const names = [...out.matchAll(/^ {2}([a-z]+) (?:\[|<|[A-Z]| )/gm)]
      .map((match) => match[1] as string)
      .filter((name) => name !== "help");
    // A file of a command names it where it adds it.
    const files = [...pathsUnder("src/cli"), ...pathsUnder("plugins")].filter((path) => path.endsWith(".ts"));
    const added = files.flatMap((file) =>
      [...readFileSync(file, "utf8").matchAll(/^(?! \*).*program\s*\.command\("([a-z]+)/gm)].map(
        (match) => match[1] as string,
      ),
    );
    expect(names.toSorted()).toEqual(added.toSorted());
    for (const name of names) {
      for (const argv of [
        [name, "--help"],
        ["help", name],
      ]) {
        const { code, out: text, err } = await sluice(...argv);
        expect([code, err, text.split("\n")[0]]).toEqual([
          0,
          "",
          expect.stringMatching(new RegExp(`^Usage: sluice ${name}( |$)`)),
        ]);
      }
    }
  });
});
