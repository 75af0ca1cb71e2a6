/** Optional packages of plugins and of the core are optional peers of the versions that their messages name. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

describe("A package that is not installed with Sluice", () => {
  it("is an optional peer of the version that the line asks for, and is there for the tests", () => {
    const { peerDependencies, peerDependenciesMeta, devDependencies } = JSON.parse(
      readFileSync("package.json", "utf8"),
    ) as Readonly<Record<string, Readonly<Record<string, { readonly optional?: true } & string>>>>;
    const calls = sourcesIn("src", "plugins").flatMap(callsIn);
    expect(calls.length).toBeGreaterThan(15);
    for (const { file, name, range } of calls) {
      expect(`${file}: ${name}@${range}`).toBe(`${file}: ${name}@${peerDependencies?.[name]}`);
      expect(peerDependenciesMeta?.[name] as unknown).toEqual({ optional: true });
      expect(devDependencies?.[name]).toMatch(new RegExp(`^${peerDependencies?.[name]}[.]`));
    }
  });
});

const sourcesIn = (...folders: readonly string[]): readonly string[] =>
  folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => join(folder, name)),
  );

/** Calls that load an optional package, in each of which name and range are literals. */
const callsIn = (file: string) => {
  const text = readFileSync(file, "utf8");
  const calls = [...text.matchAll(/\b(?:optionalPackage|requirePackage)<[^>(]+>\(([^,)]*),([^,)]*)/g)];
  return calls.map(([call, name = "", range = ""]) => {
    const [literal, version] = [name, range].map((part) => /^"([^"]+)"$/.exec(part.trim())?.[1]);
    expect(literal && version, `${file}: ${call} names a package and a range`).toBeTruthy();
    return { file, name: literal as string, range: version as string };
  });
};
