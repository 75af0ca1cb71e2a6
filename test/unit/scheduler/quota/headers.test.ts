/** Reading the quota headers of answers; what is absent or malformed is never guessed. */
import { describe, expect, it } from "vitest";
import { usualHeaders } from "../../../../src/client/transport/answer-body.ts";
import { createContract } from "../../../../src/contract/contract.ts";
import { limitHeaders } from "../../../../src/contract/limits.ts";
import { dateOf, holdMsOf, usedOf } from "../../../../src/scheduler/quota/headers.ts";
import { headersRead, type LayerSpec, layersOf } from "../../../../src/scheduler/quota/layers.ts";

const bare: LayerSpec = {
  name: "uid",
  scope: "uid",
  unit: "weight",
  capacity: 1_200,
  windowMs: 60_000,
  anchor: "wall_clock",
  banMs: 0,
};
const used: LayerSpec = { ...bare, header: { name: "x-used", kind: "used" } };
const remaining: LayerSpec = { ...bare, header: { name: "x-left", kind: "remaining" } };

describe("The use of a layer", () => {
  it.each<[string, string, number | undefined]>([
    ["none", "0", 0],
    ["the digits before the nine", "1234567890".slice(0, 9), 123_456_789],
    ["more digits than a window can count", "1234567890", undefined],
    ["zeroes in front", "0012", 12],
    ["nothing", "", undefined],
    ["a sign", "-1", undefined],
    ["a fraction", "1.5", undefined],
    ["the character before 0", "1/", undefined],
    ["the character after 9", ":1", undefined],
    ["the highest digits", "909", 909],
    ["words", "many", undefined],
    ["a space", " 7", undefined],
  ])("told as %s", (_, text, value) => {
    expect(usedOf(used, { "x-used": text })).toBe(value);
  });

  it.each<[string, number | undefined]>([
    ["1200", 0],
    ["1190", 10],
    ["0", 1_200],
    // A service that allows more than it says has nothing used.
    ["1300", 0],
    ["few", undefined],
  ])("told as what remains, %s", (text, value) => {
    expect(usedOf(remaining, { "x-left": text })).toBe(value);
  });

  it("is not told where the layer has no header, or the answer has not got it", () => {
    expect(usedOf(bare, { "x-used": "5", undefined: "5" })).toBeUndefined();
    expect(usedOf(used, { "x-left": "5" })).toBeUndefined();
    expect(usedOf(remaining, {})).toBeUndefined();
  });

  it("with an answer that was counted report no more than the layer holds, neither used nor left", () => {
    const most = used.capacity;
    expect([most, most + 1].map((count) => usedOf(used, { "x-used": String(count) }, true))).toEqual([most, undefined]);
    expect([1_200, 1_201].map((count) => usedOf(remaining, { "x-left": String(count) }, true))).toEqual([0, undefined]);
  });
});

it.each<[string, string | undefined, number | undefined]>([
  ["its instant", "Mon, 05 Jan 2026 08:00:01 GMT", Date.UTC(2026, 0, 5, 8, 0, 1)],
  ["nothing where it is absent", undefined, undefined],
  ["nothing where it is no date", "never", undefined],
  ["nothing where its time of day does not exist", "Mon, 05 Jan 2026 25:00:00 GMT", undefined],
])("The date stamp of an answer is read as %s", (_, date, at) => {
  expect(dateOf(date === undefined ? {} : { date })).toBe(at);
});

describe("A pause that a refusal asks for", () => {
  const date = "Mon, 05 Jan 2026 08:00:00 GMT";
  it.each<[string, number, Readonly<Record<string, string>>, number | undefined]>([
    ["seconds", 429, { "retry-after": "3" }, 3_000],
    ["of a machine in front", 503, { "retry-after": "120" }, 120_000],
    ["of a firewall", 403, { "retry-after": "1" }, 1_000],
    ["a date", 429, { date, "retry-after": "Mon, 05 Jan 2026 08:01:30 GMT" }, 90_000],
    ["a date that begins with its year", 429, { date, "retry-after": "2026-01-05T08:01:30Z" }, 90_000],
    ["a date, but not what date it is", 429, { "retry-after": "Mon, 05 Jan 2026 08:01:30 GMT" }, undefined],
    ["a date that is over", 429, { date, "retry-after": "Mon, 05 Jan 2026 07:59:00 GMT" }, undefined],
    ["a day: asked about again after ten minutes", 429, { "retry-after": "86400" }, 600_000],
    ["nothing", 429, {}, undefined],
    ["no time", 429, { "retry-after": "0" }, undefined],
    ["words", 429, { date, "retry-after": "soon" }, undefined],
    ["with a success", 200, { "retry-after": "3" }, undefined],
    ["with a refusal of what was asked", 400, { "retry-after": "3" }, undefined],
  ])("%s", (_, status, headers, ms) => {
    expect(holdMsOf(status, headers)).toBe(ms);
  });
});

describe("The headers a transport has to keep", () => {
  it("are those of every layer, of the contract and of a config, in lower case, and those that belong to no layer", () => {
    const own: LayerSpec = { ...bare, header: { name: "X-Used-Weight", kind: "used" } };
    const names = headersRead([...layersOf(createContract()), own, bare]);
    expect([...names].sort()).toEqual(["date", "retry-after", ...Object.values(limitHeaders), "x-used-weight"].sort());
    // What is read of every service is kept without being named.
    expect(usualHeaders).toEqual(expect.arrayContaining([...headersRead(layersOf(createContract()))]));
  });
});
