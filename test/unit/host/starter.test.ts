import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { starterFrom } from "../../../src/host/starter.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

it("The start script is beside the command line in a checkout, and beside the sources in a package", () => {
  const checkout = new URL("../../../src/cli/", import.meta.url).href;
  expect(starterFrom(checkout)).toBe(fileURLToPath(new URL("../../../src/cli/sluice.mjs", import.meta.url)));
  const folder = temporaryFolder("starter");
  const script = join(folder, "package", "src", "cli", "sluice.mjs");
  mkdirSync(join(script, ".."), { recursive: true });
  writeFileSync(script, "");
  const built = pathToFileURL(join(folder, "package", "dist", "cli", "/")).href;
  expect(starterFrom(built)).toBe(script);
  expect(existsSync(starterFrom(built))).toBe(true);
});
