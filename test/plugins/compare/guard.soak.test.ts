import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { main } from "../../../src/cli/main.ts";
import { capturedIo } from "../../support/captured-io.ts";
import { calm, stored, swap } from "../../support/harness/backtest.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder("guard");
writeFileSync(join(folder, "package.json"), '{"type":"module"}');

const said = async (...argv: readonly string[]) => {
  const io = capturedIo({ env: { NO_COLOR: "1" } });
  const code = await main(argv, io);
  return { code, out: io.outText, err: io.errText };
};

describe("sluice guard", () => {
  const dir = stored(calm(40));
  const config = (name: string, body: string): string => {
    const path = join(folder, name);
    writeFileSync(
      path,
      `import { defineConfig, defineStrategy } from "sluice";
       import { backtest, constant, readFixture } from "sluice/backtest";
       import honest from "${fileURLToPath(new URL("../../../strategies/join-best.ts", import.meta.url))}";
       const prices = [...readFixture("${dir}").tape.series[0].bidPx];
       const closed = { type: "object", additionalProperties: false, properties: {} };
       ${body}
       export default defineConfig({ service: backtest({ fixture: "${dir}", latency: constant(10) }), strategies });`,
    );
    return path;
  };

  it("catches a strategy that filled a global array from the recording when it was loaded", async () => {
    const path = config(
      "cheats.ts",
      `const cheat = defineStrategy({ name: "cheat", options: closed, run: ({ market, orders }) => {
         let row = -1;
         market.quotes("${swap}").subscribe(() => {
           row++;
           if (row % 20 === 0 && prices[row + 1] > prices[row]) orders.place({ instId: "${swap}", side: "buy", px: "30000", qty: "0.01" }).subscribe();
         });
         return market.trades("${swap}");
       } });
       const strategies = [honest({}), cheat({})];`,
    );
    const { code, out, err } = await said("guard", path, "--cuts", "3", "--json");
    expect(JSON.parse(out)).toMatchObject({
      verdict: "sees-the-future",
      glimpses: [{ strategy: "cheat", kind: "asks" }],
    });
    expect([code, err]).toEqual([1, `error: ${path}: cheat saw the future.\n`]);
  });

  it("clears one that looked at the same array only as far as it had come", async () => {
    const path = config("honest.ts", `console.log(prices.length); const strategies = [honest({})];`);
    const { code, out, err } = await said("guard", path, "--cuts", "2", "--seed", "5");
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(
      /^No look-ahead found: \d+ decisions are the same in (a run that ends|2 runs that end) earlier\.\nNot seen by the guard: [^\n]+\n$/,
    );
  });

  it.each<readonly [string, readonly string[], RegExp]>([
    ["a config that is not there", ["nope.ts"], /nope\.ts: no such file/],
    ["no cuts", ["config/backtest.ts", "--cuts", "0"], /Write a whole number from 1 to 1000\./],
    [
      "a config without a recorded market",
      ["config/paper.ts"],
      /config\.service is paper\(…\); a recorded market needs/,
    ],
  ])("refuses %s with exit code 2", async (_, argv, message) => {
    const { code, err } = await said("guard", ...argv);
    expect(code).toBe(2);
    expect(err).toMatch(message);
  });
});
