import { afterEach, beforeEach, expect, it } from "vitest";
import * as wording from "../../../../plugins/control-room/client/wording.ts";

const zone = process.env["TZ"];
beforeEach(() => {
  process.env["TZ"] = "America/New_York";
});
afterEach(() => {
  if (zone === undefined) delete process.env["TZ"];
  else process.env["TZ"] = zone;
});

it("Times are local, with the date where it is not that of today", () => {
  const noon = Date.UTC(2026, 0, 5, 17, 30, 5);
  expect(wording.clockText(noon, noon + 3_600_000)).toBe("12:30:05");
  expect(wording.clockText(noon, noon + 86_400_000)).toBe("2026-01-05 12:30:05");
  // Half a year later the clocks there are an hour ahead.
  expect(wording.exactInstant(Date.UTC(2026, 6, 5, 17, 30, 5, 7))).toBe("2026-07-05 13:30:05.007");
});

it.each([
  ["1234.5", "+1,234.50"],
  ["-0.00421", "−0.0042"],
  ["0.00000012", "+0.00000012"],
  ["0", "0.00"],
  ["", "–"],
])("Money of %s is read as %s", (text, shown) => {
  expect(wording.gainText(text)).toBe(shown);
});

it.each([
  ["64123.40", "64,123.40"],
  ["0.000000001234", "0.000000001234"],
  ["-1250", "−1,250"],
  ["", "–"],
])("A price or size of %s is read as it was sent, %s", (text, shown) => {
  expect(wording.shortFigure(text)).toBe(shown);
});

it.each([
  ["64123.456789012345", "64,123.46"],
  ["0.000012345678912", "0.00001234568"],
  ["1.5", "1.5"],
  ["123456789.75", "123,456,790"],
])("An average of %s is read with seven digits that say something, %s", (text, shown) => {
  expect(wording.averageText(text)).toBe(shown);
});

it.each([
  [{ kind: "live", environment: "mainnet" }, "mainnet: real money", "real"],
  [{ kind: "live", environment: "testnet" }, "testnet", "test"],
  [{ kind: "live", environment: "" }, "live", "real"],
  [{ kind: "paper", environment: "" }, "paper: no real orders", "paper"],
  [{ kind: "backtest", environment: "" }, "backtest, played back", "played"],
])("Where %o trades is said in words, with a colour of its own for real money", (engine, text, tone) => {
  expect(wording.placeOfTrading(engine)).toEqual({ text, tone });
});

it("How long ago and how much longer are whole seconds", () => {
  expect([100, 1_400, 61_000].map(wording.ageText)).toEqual(["now", "1 s ago", "1 min 1 s ago"]);
  expect([0, 300, 59_100, 60_000].map(wording.leftText)).toEqual(["now", "1 s", "1 min", "1 min"]);
});

it("What a recording does not hold is one sentence, and nothing where it holds everything", () => {
  expect(wording.unrecordedText(["account", "book"])).toBe(
    "Not in this recording: balances and positions of the account, the book.",
  );
  expect([wording.unrecordedText([]), wording.unrecordedText(undefined)]).toEqual(["", ""]);
});
