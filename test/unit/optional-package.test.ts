/** Packages that only some files need are named with the line that installs them. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { optionalPackage, optionalPackages } from "../../src/optional-package.ts";

describe("A package that is not installed with Sluice", () => {
  it("is named, with the line that installs it, where it is missing", async () => {
    const missing = optionalPackage("not-installed" as "hyparquet", "bars.parquet: Parquet files are read");
    await expect(missing).rejects.toThrow(
      /^bars.parquet: Parquet files are read with the package not-installed, which is not installed. Install it: npm install /,
    );
    await expect(missing).rejects.toMatchObject({ code: "PLATFORM_UNSUPPORTED" });
  });

  it("is an optional peer of the version that the line asks for, and is there for the tests", () => {
    const { peerDependencies, peerDependenciesMeta, devDependencies } = JSON.parse(
      readFileSync("package.json", "utf8"),
    ) as Readonly<Record<string, Readonly<Record<string, { readonly optional?: true } & string>>>>;
    for (const [name, asked] of Object.entries(optionalPackages)) {
      expect(asked).toBe(`${name}@${peerDependencies?.[name]}`);
      expect(peerDependenciesMeta?.[name] as unknown).toEqual({ optional: true });
      expect(devDependencies?.[name]).toMatch(new RegExp(`^${peerDependencies?.[name]}[.]`));
    }
  });
});
