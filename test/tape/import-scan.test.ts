import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseDecimal } from "../../src/market/tape/import-decimals.ts";
import { createScanner, type Scan } from "../../src/market/tape/import-scan.ts";

const time = "1723161255030314667";
const scanOf = (json: string): Scan | undefined => {
  const bytes = Buffer.from(`${time} ${json}`);
  return createScanner({ file: "x.txt", bytes, from: [0], to: [bytes.length], number: [1] })(0);
};

const trade =
  '{"stream":"btcusdt@trade","data":{"e":"trade","E":17,"s":"BTCUSDT","t":52,"p":"61800.30","q":"0.006","X":"MARKET","m":false}}';
const quote = '{"stream":"btcusdt@bookTicker","data":{"u":50,"s":"BTCUSDT","b":"61685.99","B":"1.25869000","a":"61686.0","A":"2"}}';
const named = '{"stream":"x","data":{"e":"bookTicker","s":"BTCUSDT","b":"1","B":"0","a":"2","A":"0.10"}}';
const delta =
  '{"stream":"btcusdt@depth@0ms","data":{"e":"depthUpdate","s":"BTCUSDT","U":51,"u":57,"pu":50,"b":[["58710.20","0.014"],["1","0"]],"a":[]}}';
const spelled: readonly string[] = [trade, quote, named, delta];

type Json = Readonly<Record<string, unknown>>;
const partsOf = (...texts: readonly unknown[]): number[] =>
  texts.flatMap((text) => {
    const { count, places } = parseDecimal(text, "x.txt", 1, "any");
    return [count, places];
  });

/** What a scan should hold, from the same text through objects. */
const throughObjects = (json: string): unknown => {
  const { stream, data, ...others } = JSON.parse(json) as { stream: string; data: Json };
  const event = data["e"] ?? (stream.endsWith("@bookTicker") && !("lastUpdateId" in data) ? "bookTicker" : undefined);
  const common = { event, symbol: data["s"], others };
  if (event === "trade") return { ...common, parts: partsOf(data["p"], data["q"]), makerBought: data["m"], origin: data["X"] };
  if (event === "bookTicker") return { ...common, parts: partsOf(data["b"], data["B"], data["a"], data["A"]) };
  const levels = (side: unknown) => partsOf(...(side as readonly (readonly unknown[])[]).flat());
  const [firstId, lastId, previousId] = [data["U"], data["u"], data["pu"]];
  return { ...common, firstId, lastId, previousId, bids: levels(data["b"]), asks: levels(data["a"]) };
};

const throughBytes = (scan: Scan): unknown => {
  const { event, symbol, parts, makerBought, origin, firstId, lastId, previousId, bids, asks } = scan;
  const common = { event, symbol, others: {} };
  if (event === "trade") return { ...common, parts: [...parts.subarray(0, 4)], makerBought, origin };
  if (event === "bookTicker") return { ...common, parts: [...parts.subarray(0, 8)] };
  return { ...common, firstId, lastId, previousId, bids: [...bids], asks: [...asks] };
};

describe("a line read from its bytes", () => {
  it.each(spelled)("holds what it holds as an object: %s", (json) => {
    const scan = scanOf(json);
    expect(scan).toBeDefined();
    expect(throughBytes(scan as Scan)).toEqual(throughObjects(json));
  });

  it.each<[string, string]>([
    ["a space", trade.replace(":{", ": {")],
    ["an escape", trade.replace("MARKET", "MARK\\u0045T")],
    ["a tab in a text", trade.replace("MARKET", "MARK\tET")],
    ["a letter beyond ASCII", trade.replace("MARKET", "MÄRKET")],
    ["a member twice", trade.replace('"p":"61800.30"', '"p":"1","p":"2"')],
    ["a number where a decimal is text", trade.replace('"0.006"', "0.006")],
    ["a sign", trade.replace('"0.006"', '"-0.006"')],
    ["a point without digits after it", trade.replace('"0.006"', '"1."')],
    ["an empty decimal", trade.replace('"0.006"', '""')],
    ["a price that is missing", trade.replace('"p":"61800.30",', "")],
    ["a maker that is no truth", trade.replace("false", "0")],
    ["another event", trade.replace('"e":"trade"', '"e":"aggTrade"')],
    ["no symbol", trade.replace('"s":"BTCUSDT",', "")],
    ["a leading zero", delta.replace('"U":51', '"U":051')],
    ["an id beyond exact numbers", delta.replace('"U":51', '"U":9007199254740993')],
    ["levels of three values", delta.replace('["1","0"]', '["1","0","2"]')],
    ["a comma after the last level", delta.replace('["1","0"]', '["1","0"],')],
    ["a list where a quote has a price", quote.replace('"b":"61685.99"', '"b":[["1","2"]]')],
    ["a number where a quote has a price", quote.replace('"b":"61685.99"', '"b":7')],
    ["a snapshot under the name of a quote", quote.replace('"u":50', '"lastUpdateId":50')],
    ["a stream of another kind without an event", quote.replace("@bookTicker", "@other")],
    ["a member beside data", `${trade.slice(0, -1)},"id":1}`],
    ["nothing at its end", trade.slice(0, -1)],
    ["something after its end", `${trade} `],
  ])("is left to others when it has %s", (_, json) => {
    expect(scanOf(json)).toBeUndefined();
  });

  it("keeps nothing of the line before it", () => {
    const lines = [trade.replace("MARKET", "INSURANCE"), trade.replace('"X":"MARKET",', ""), delta, delta.replace('"pu":50,', "")];
    const texts = lines.map((json) => Buffer.from(`${time} ${json}`));
    const from = texts.map((_, index) => Buffer.concat(texts.slice(0, index)).length);
    const to = texts.map((text, index) => (from[index] ?? 0) + text.length);
    const scan = createScanner({ file: "x.txt", bytes: Buffer.concat(texts), from, to, number: [1, 2, 3, 4] });
    const seen = lines.map((_, index) => {
      const { origin, previousId } = scan(index) ?? {};
      return [origin, previousId];
    });
    expect(seen).toEqual([
      ["INSURANCE", undefined],
      [undefined, undefined],
      [undefined, 50],
      [undefined, undefined],
    ]);
  });

  it("takes order numbers of a trade for what they are", () => {
    expect(scanOf(trade.replace('"t":52', '"b":88,"a":50'))?.event).toBe("trade");
  });

  it("whatever was done to it, is either left to others or holds what it holds as an object", () => {
    const pieces = [
      '"',
      ",",
      ":",
      "[",
      "]",
      "{",
      "}",
      "0",
      "1",
      ".",
      "-",
      "e",
      "\\",
      " ",
      "true",
      "null",
      '"b":',
      '"p":"7"',
      '["1","2"]',
      "@",
    ];
    const edit = fc.record({ at: fc.nat(160), drop: fc.nat(3), piece: fc.constantFrom("", ...pieces) });
    let read = 0;
    fc.assert(
      fc.property(fc.constantFrom(...spelled), fc.array(edit, { minLength: 1, maxLength: 2 }), (json, edits) => {
        let text = json;
        for (const { at, drop, piece } of edits) text = text.slice(0, at) + piece + text.slice(at + drop);
        const scan = scanOf(text);
        if (scan === undefined) return;
        read++;
        expect(throughBytes(scan)).toEqual(throughObjects(text));
      }),
      { numRuns: 20_000 },
    );
    expect(read).toBeGreaterThan(1_000);
  });
});
