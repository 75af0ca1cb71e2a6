import { concat, NEVER, of, timer } from "rxjs";
import { expect, it } from "vitest";
import { haltWith } from "../../../src/engine/trading-state.ts";
import type { UserAccounts } from "../../../src/engine/user-account.ts";
import { definePlugin } from "../../../src/index.ts";
import { calm, closed, far, run, stored, strategy } from "../../support/harness/backtest.ts";
import { ready } from "../../support/harness/orders.ts";

it("Halts one strategy and no other", async () => {
  const dir = stored(calm(30));
  const plugin = definePlugin({
    name: "p",
    options: closed,
    setup: ({ halt }) => timer(15_000).subscribe(() => halt("enough", { strategy: "a" }).subscribe()),
  });
  const rests = (name: string) => strategy(name, { wanted: () => concat(of([far()]), NEVER) });
  const report = await run(dir, [rests("a"), rests("b")], { plugins: [plugin({})] });
  expect([report.perStrategy["a"]?.canceled, report.perStrategy["b"]?.canceled]).toEqual([1, 0]);
});

it("A halt does not weaken a full stop of a strategy, whichever accounts the others trade on", () => {
  const rigs = [ready(), ready()];
  const accounts = { all: rigs.map(({ orderManager }) => ({ orderManager })) } as unknown as UserAccounts;
  const halt = haltWith(accounts, ["s"]);
  // Only the first account has the strategy.
  rigs[0]?.orderManager.setStrategyMode("s", "stopped", "look");
  halt("again", { strategy: "s" }).subscribe();
  expect(rigs[0]?.orderManager.restrictionOf("s")).toBe("stopped");
  rigs[0]?.orderManager.setMode("stopped", "look");
  halt("all").subscribe();
  expect(rigs.map(({ orderManager }) => orderManager.restrictionOf())).toEqual(["stopped", "halted"]);
});
