/** `sluice exchanges`: what is offered, and what was not verified. */
import { describe, expect, it } from "vitest";
import { main } from "../../../src/cli/main.ts";
import { capturedIo } from "../../support/captured-io.ts";

const listed = async (...flags: readonly string[]): Promise<string> => {
  const io = capturedIo();
  expect(await main(["exchanges", ...flags], io)).toBe(0);
  return io.outText;
};

describe("The list of exchanges", () => {
  it("names entries, addresses, limits, and what nobody has verified", async () => {
    const text = await listed();
    for (const line of [
      "OKX v5: okx of sluice/plugins/exchanges, not tried at the exchange itself",
      "  testnet: https://www.okx.com, wss://wspap.okx.com:8443",
      "    cancel: 300 elements in 2 s of a user",
      "    place: 60 requests in 2 s of a user, for each product",
      "    lost orders: eleven kinds of lost, spoiled and doubled placements and cancels before that copy: one order each",
      "BloFin v1: blofin of sluice/plugins/exchanges, not tried at the exchange itself",
      "    minute: 500 requests in 60 s of an address, else shut out for 5 min",
      "    the demo account: not yet",
    ]) {
      expect(text.split("\n")).toContain(line);
    }
  });

  it("is data with --json", async () => {
    const exchanges = JSON.parse(await listed("--json")) as readonly Readonly<Record<string, unknown>>[];
    expect(exchanges.map(({ name, dialect, tried }) => [name, dialect, tried])).toEqual([
      ["okx", "okx-v5", false],
      ["blofin", "blofin-v1", false],
    ]);
  });
});
