import { describe, expect, it } from "vitest";
import { count, createTally } from "../../../src/cli/run-progress.ts";
import { type Status, statusLine } from "../../../src/cli/status-line.ts";
import type { EventBody } from "../../../src/journal/events.ts";
import { layerState, ownPosition, quotaState, strategyView } from "../../support/harness/records.ts";

const tallied = (...bodies: readonly EventBody[]) => {
  const tally = createTally(0);
  for (const body of bodies) count(tally, { ...body, seq: 1, at: 0 });
  return tally;
};

describe("The status line", () => {
  const status: Status = {
    tally: { ...createTally(0), sent: 12, filled: 3, canceled: 4 },
    quota: quotaState(),
    strategies: [strategyView()],
    open: 6,
    now: 3_725_000,
  };
  const line = (given: Partial<Status>, width: number): string => statusLine({ ...status, ...given }, width);

  it.each([
    [
      Number.POSITIVE_INFINITY,
      "1:02:05 │ profit +12.34 USDT │ realised +13.10 │ unrealised +0.29 │ fees 1.05 │ 0.012 BTC-USDT-SWAP │ open 6 │ quota uid 480/1200 │ ip 12/1200 key 3/10 │ queue 2 │ sent 12 │ filled 3 │ canceled 4",
    ],
    [
      140,
      "1:02:05 │ profit +12.34 USDT │ realised +13.10 │ unrealised +0.29 │ fees 1.05 │ 0.012 BTC-USDT-SWAP │ open 6 │ quota uid 480/1200",
    ],
    [
      119,
      "1:02:05 │ profit +12.34 USDT r+13.10 │ unrealised +0.29 │ fees 1.05 │ 0.012 BTC-USDT-SWAP │ open 6 │ quota uid 480/1200",
    ],
    [79, "1:02:05 │ +12.34 USDT r+13.10 u+0.29 f1.05 │ 0.012 BTC │ open 6 │ quota 40%"],
    [60, "1:02:05 │ +12.34 USDT │ 0.012 BTC │ open 6 │ quota 40%"],
    [40, "1:02:05 │ profit +12.34 USDT │ 0.012 BTC"],
    [35, "1:02:05 │ +12.34 USDT │ 0.012 BTC"],
  ])("fits into %s columns with what matters most", (width, words) => {
    expect(statusLine(status, width)).toBe(words);
    expect(words.length).toBeLessThanOrEqual(width);
  });

  it("adds up strategies by currency, exactly, and counts what does not fit", () => {
    const positions = [
      strategyView([
        ownPosition({ qty: "0.1", profit: "0.1", realised: "0.3" }),
        ownPosition({
          instId: "ETH-BTC",
          qty: "-2",
          currency: "BTC",
          profit: "-0.00012",
          realised: "0",
          unrealised: "-0.00012",
          fees: "0",
        }),
      ]),
      strategyView([ownPosition({ qty: "-0.1", profit: "0.2", realised: "-0.1" })]),
    ];
    expect(line({ strategies: positions }, Number.POSITIVE_INFINITY)).toContain(
      "profit +0.30 USDT │ realised +0.20 │ unrealised +0.58 │ fees 2.10 │ profit -0.00012000 BTC │ realised 0.00000000",
    );
    expect(line({ strategies: positions }, 79)).toContain(
      "1:02:05 │ +0.30 USDT u+0.58 │ -0.00012000 BTC │ -2 ETH-BTC │ open 6 │ quota 40%",
    );
  });

  it("says that nothing is held or made", () => {
    expect(line({ strategies: [strategyView([])] }, 79)).toContain(
      "1:02:05 │ profit 0 │ flat │ open 6 │ quota uid 480/1200",
    );
  });

  it("shows the fullest of several keys", () => {
    const key = layerState("key", 10, 9);
    expect(
      line({ quota: { ...quotaState(), layers: [...quotaState().layers, { ...key, scope: "other" }] } }, 200),
    ).toContain("key 9/10");
  });

  it("adds what is out of the ordinary", () => {
    const tally = { ...status.tally, mode: "reducing", limited: 2 };
    expect(line({ tally }, 79)).toMatch(/^1:02:05 │ reducing │ \+12\.34 USDT/);
    expect(line({ tally }, 200)).toContain("│ 429s 2 │");
    const outage = { short: "UNREACHABLE for 0:00:30", long: "UNREACHABLE for 0:00:30, since 07:01:35 UTC" };
    expect(line({ outage }, 79)).toMatch(/^1:02:05 │ UNREACHABLE for 0:00:30 │ profit \+12\.34 USDT/);
    expect(line({ outage }, 200)).toContain("│ UNREACHABLE for 0:00:30, since 07:01:35 UTC │ profit +12.34 USDT");
  });

  const halts = (...bodies: readonly EventBody[]): string =>
    line({ tally: tallied({ type: "engine.started", strategies: [], plugins: [] }, ...bodies) }, 79);
  const halted = (reason: string): EventBody => ({ type: "mode.changed", mode: "halted", reason });
  const haltedOne = (strategy: string): EventBody => ({ type: "strategy.halted", strategy, reason: "lost too much" });

  it.each<[string, readonly EventBody[], string]>([
    ["of all", [halted("sluice close")], "HALTED: sluice close; resume with --resume"],
    ["of all and one", [haltedOne("a"), halted("sluice close")], "HALTED: sluice close; resume with --resume"],
    ["with a long reason", [halted("x".repeat(100))], `HALTED: ${"x".repeat(38)}…; resume with --resume`],
    ["of one strategy", [haltedOne("ladder")], "HALTED ladder: lost too much; resume with --resume"],
    ["of several", [haltedOne("a"), haltedOne("b")], "HALTED 2 strategies: a, b; resume with --resume"],
  ])("says a halt %s in 80 columns", (_, bodies, words) => {
    const text = halts(...bodies);
    expect(text.startsWith(`1:02:05 │ ${words}`)).toBe(true);
    expect(text.length).toBeLessThanOrEqual(79);
  });

  it("says no more of a halt that was taken back", () => {
    const back: readonly EventBody[] = [
      { type: "mode.changed", mode: "active", reason: "" },
      { type: "strategy.resumed", strategy: "a", reason: "" },
    ];
    expect(halts(halted("x"), haltedOne("a"), ...back)).not.toContain("HALTED");
  });

  it("does not invent what it was not told", () => {
    expect(line({ quota: undefined }, 200)).toContain("open 6 │ quota uid - │ ip - key - │ queue -");
  });
});
