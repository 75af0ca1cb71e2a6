/** An import that is killed while it replaces a fixture leaves the old one or the new one, whole. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { importMarket } from "../../../plugins/import/import-market.ts";
import { readFixture } from "../../../src/market/tape/fixture.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const home = temporaryFolder("killed");
const program = fileURLToPath(new URL("../../../plugins/import/import-market.ts", import.meta.url));
const start = Date.UTC(2024, 0, 1);

const barsOf = (name: string, from: number, to: number): string => {
  const rows = Array.from({ length: to - from }, (_, index) => `${start + (from + index) * 60_000},1,2,1,2,${index}`);
  const file = join(home, name);
  writeFileSync(file, ["timestamp,open,high,low,close,volume", ...rows].join("\n"));
  return file;
};

/** Imports in a process of its own, which kills itself after (or, for 0, before) that many renames of folders. */
const importKilled = (file: string, out: string, renames: number): NodeJS.Signals | null => {
  const script = join(home, `import-${renames}.mts`);
  writeFileSync(
    script,
    `import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
const rename = fs.renameSync;
let count = 0;
const dieAt = (n: number) => { if (n === ${renames}) process.kill(process.pid, "SIGKILL"); };
fs.renameSync = (...args) => { dieAt(count); rename(...args); dieAt(++count); };
syncBuiltinESMExports();
const { importMarket } = await import(${JSON.stringify(program)});
await importMarket({ file: ${JSON.stringify(file)}, instrument: "BTC-USDT", out: ${JSON.stringify(out)} });
`,
  );
  return spawnSync(process.execPath, ["--import", "tsx", script], { stdio: "ignore" }).signal;
};

describe("An import that is killed", () => {
  it.each([
    [0, "before the old fixture is moved aside", 5],
    [1, "between the two moves", 5],
    [2, "before what was replaced is removed", 9],
  ])("after %i moves, %s, leaves a whole fixture", async (renames, _, rows) => {
    const out = join(home, `fixture-${renames}`);
    await importMarket({ file: barsOf("a.csv", 0, 5), instrument: "BTC-USDT", out });
    expect(importKilled(barsOf("b.csv", 5, 9), out, renames)).toBe("SIGKILL");
    expect(existsSync(out)).toBe(renames !== 1);
    expect(readFixture(out).tape.length).toBe(rows);
    const { rows: after } = await importMarket({ file: barsOf("c.csv", 20, 22), instrument: "BTC-USDT", out });
    expect(after).toBe(rows + 2);
    // A draft that was never finished may belong to an import that still runs.
    const left = readdirSync(home).filter((name) => name.startsWith(`.fixture-${renames}-`));
    expect(left.length).toBe(renames === 0 ? 1 : 0);
    rmSync(out, { recursive: true });
    expect(() => readFixture(out)).toThrow(/expected a fixture folder, found nothing/);
  });
});
