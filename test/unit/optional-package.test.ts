/** Packages that only some files need are named with the line that installs them. */
import { describe, expect, it } from "vitest";
import { optionalPackage } from "../../src/optional-package.ts";

describe("A package that is not installed with Sluice", () => {
  it("is named, with the line that installs it, where it is missing", async () => {
    const missing = optionalPackage("not-installed", "1.2", "bars.parquet: Parquet files are read");
    await expect(missing).rejects.toThrow(
      /^bars.parquet: Parquet files are read with the package not-installed, which is not installed. Install it: npm install not-installed@1.2$/,
    );
    await expect(missing).rejects.toMatchObject({ code: "PLATFORM_UNSUPPORTED" });
  });
});
