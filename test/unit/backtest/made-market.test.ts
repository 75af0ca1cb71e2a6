/** The made market of paper: the same as one made at once, made as it is played. */
import { describe, expect, it } from "vitest";
import { constant, type PaperOptions, paper } from "../../../src/backtest.ts";
import type { OpenService } from "../../../src/client/service-port.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createContract } from "../../../src/contract/contract.ts";
import { generateParts, generateTape, instrumentFor } from "../../../src/market/tape/generate.ts";
import type { Tape } from "../../../src/market/tape/tape.ts";
import { createRandom } from "../../../src/random.ts";

const never = (): void => expect.unreachable();
const startAt = 1_767_575_000_000;

const open = (options: PaperOptions) => {
  const clock = createVirtualClock(startAt);
  const env = {
    contract: createContract(),
    random: createRandom(1),
    onError: never,
    onAnomaly: never,
    leave: () => undefined,
  };
  return { clock, service: paper({ ...options, clock }).open(env) as OpenService };
};

/** `[series, ms after the start, first price]` of every row in its order. */
const rowsOf = ({ series, order }: Tape): readonly (readonly [number, number, number])[] =>
  Array.from(order.series, (which, index) => {
    const one = series[which];
    const row = order.row[index] as number;
    if (one?.kind !== "quote" && one?.kind !== "trade") throw new Error("only quotes and trades are made");
    return [which, one.at[row] as number, (one.kind === "quote" ? one.bidPx : one.px)[row] as number] as const;
  });

describe("A generated market made in parts", () => {
  it.each([
    [120, 2],
    [7, 1],
    [1, 1],
  ])("is the one that is made at once, with %i quotes a minute and parts of %i minutes", (quotesPerMinute, minutes) => {
    const options = { seed: 5, instruments: ["BTC-USDT-SWAP", "X-USDT"].map(instrumentFor), quotesPerMinute };
    const next = generateParts({ ...options, minutes });
    const parts = Array.from({ length: 12 / minutes }, (_, part) => {
      // However much of it was made ahead.
      for (let ahead = part % 4; ahead > 0; ahead--) next.prepare();
      return rowsOf(next());
    });
    expect(parts.flat()).toEqual(rowsOf(generateTape({ ...options, minutes: 12 })));
    expect(parts.flat().length).toBeGreaterThan(5);
  });
});

describe("The paper service on a generated market", () => {
  it.each(["quotes", "trades"] as const)("shows the parts one after the other, with fills from %s", (fills) => {
    const { clock, service } = open({ instruments: ["BTC-USDT-SWAP"], latency: constant(3), fills });
    const seen: number[] = [];
    service.market.quotes("BTC-USDT-SWAP").subscribe(({ at, bidFloat }) => seen.push(at - startAt, bidFloat));
    service.start();
    clock.advanceTo(startAt + 1_500 + 7 * 60_000);
    const whole = generateTape({ seed: "paper", instruments: [instrumentFor("BTC-USDT-SWAP")], minutes: 7 });
    const [quotes] = whole.series;
    if (quotes?.kind !== "quote") throw new Error("quotes come first");
    const expected = Array.from(quotes.at, (at, row) => [
      at - whole.startAt + 1_503,
      (quotes.bidPx[row] as number) / 10,
    ]);
    expect(seen).toEqual(expected.filter(([at = 0]) => at <= 1_500 + 7 * 60_000).flat());
    void service.stop();
    expect(clock.pending).toBe(0);
  });

  it("holds only what is played: some kilobytes a product, however long it plays", () => {
    const products = 200;
    const before = process.memoryUsage().arrayBuffers;
    const { clock, service } = open({
      instruments: Array.from({ length: products }, (_, index) => `C${index}-USDT-SWAP`),
    });
    service.start();
    clock.advanceTo(startAt + 5_000);
    // Four hours of one were 1.9 MB.
    expect((process.memoryUsage().arrayBuffers - before) / products).toBeLessThan(250_000);
    void service.stop();
  });
});
