import { concat, NEVER, of, timer } from "rxjs";
import { expect, it } from "vitest";
import { definePlugin } from "../../../src/index.ts";
import { calm, closed, far, run, stored, strategy } from "../../support/harness/backtest.ts";

it("Halts one strategy and no other", async () => {
  const dir = stored(calm(30));
  const plugin = definePlugin({
    name: "p",
    options: closed,
    setup: ({ halt }) => timer(15_000).subscribe(() => halt("enough", { strategy: "a" }).subscribe()),
  });
  const rests = (name: string) => strategy(name, { desired: () => concat(of([far()]), NEVER) });
  const report = await run(dir, [rests("a"), rests("b")], { plugins: [plugin({})] });
  expect([report.perStrategy["a"]?.canceled, report.perStrategy["b"]?.canceled]).toEqual([1, 0]);
});
