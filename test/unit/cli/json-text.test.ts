/** JSON on standard output: nothing in it moves a cursor or reorders text, and what is parsed from it is unchanged. */
import { expect, it } from "vitest";
import { jsonText } from "../../../src/cli/io.ts";

it.each<[string, unknown, number | undefined]>([
  ["marks that reorder text", { msg: "a\u202eb" }, undefined],
  ["a control of eight bits", { msg: "\u009b2J" }, undefined],
  ["a separator of lines, and broken halves of characters", ["\u2028", "\ud800"], undefined],
  ["a mark beyond the first plane", "\u{e0001}", undefined],
  ["levels with spaces", { a: { b: "\u200d" } }, 2],
])("JSON of %s is plain ASCII and parses to the same value", (_, value, indent) => {
  const text = jsonText(value, indent);
  expect(text).toMatch(/^[\n -~]*$/);
  expect(JSON.parse(text)).toEqual(value);
  expect(text.includes("\n")).toBe(indent !== undefined);
});
