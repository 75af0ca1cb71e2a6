import { describe, expect, it } from "vitest";
import { kindOf, readValues, type ValueKind } from "../../../plugins/sweep/option-values.ts";

describe("A swept option", () => {
  it.each<[string, string, ValueKind, readonly unknown[]]>([
    ["a range of whole numbers", "1..5", "whole", [1, 2, 3, 4, 5]],
    ["a range with a step that does not meet its end", "1..10/4", "whole", [1, 5, 9]],
    ["a range of one", "3..3", "whole", [3]],
    ["numbers below zero", "-2..2/2", "whole", [-2, 0, 2]],
    ["lists and ranges in one", "1..3,7,9..11", "whole", [1, 2, 3, 7, 9, 10, 11]],
    ["a value named twice", "1..3,2,3", "whole", [1, 2, 3]],
    ["decimals as they were spelled", "0.0005,0.0010", "decimal", ["0.0005", "0.0010"]],
    ["an exact range of decimals", "0.1..0.5/0.1", "decimal", ["0.1", "0.2", "0.3", "0.4", "0.5"]],
    ["a range of decimals between whole ends", "1..3", "decimal", ["1", "2", "3"]],
    ["an exact range of numbers", "0.1..0.3/0.1", "number", [0.1, 0.2, 0.3]],
    ["words", "BTC-USDT-SWAP, ETH-USDT-SWAP", "text", ["BTC-USDT-SWAP", "ETH-USDT-SWAP"]],
    ["a word that looks like a range", "1..3", "text", ["1..3"]],
    ["true and false", "true,false", "truth", [true, false]],
    ["a JSON array for anything", '["a,b", 1, null]', "json", ["a,b", 1, null]],
    ["a JSON array for words", '["a,b","c"]', "text", ["a,b", "c"]],
  ])("reads %s", (_, text, kind, expected) => {
    expect(readValues(text, kind, "here")).toEqual(expected);
  });

  it.each<[string, string, ValueKind, string]>([
    ["nothing", " ", "whole", "here: no value is given. Write whole numbers such as 1..5, 1..9/2 or 1,3,8."],
    ["a hole in a list", "1,,2", "whole", 'here: "" is not a whole number.'],
    ["a fraction for a whole number", "1.5", "whole", 'here: "1.5" is not a whole number.'],
    ["a range of fractions for a whole number", "1..2/0.5", "whole", 'here: "1.5" is not a whole number.'],
    ["an exponent", "1e3", "decimal", 'here: "1e3" is not a decimal. Write decimals such as 0.0005,0.001'],
    ["a range that falls", "5..1", "whole", 'here: "5..1" falls. Write it upwards: 1..5.'],
    [
      "a range without a step between fractions",
      "0.1..0.5",
      "decimal",
      '"0.1..0.5" names no step. Write 0.1..0.5/STEP',
    ],
    ["a step of nothing", "1..5/0", "whole", '"1..5/0" has a step that does not rise. Write one above 0.'],
    ["a step that falls", "1..5/-1", "whole", "has a step that does not rise"],
    ["too many", "0..1/0.00001", "decimal", "0..1/0.00001 has more than 10000 values. Take a larger step."],
    ["text that is no truth", "yes", "truth", '"yes" is not true or false. Write true,false.'],
    ["a broken array", "[1,", "json", "here: [1, is not a JSON array"],
    ["an empty array", "[]", "json", "here: [] holds no values"],
    [
      "plain text for an option of another type",
      "a",
      "json",
      '"a" is not a JSON array. Write the values as a JSON array',
    ],
  ])("refuses %s", (_, text, kind, message) => {
    expect(() => readValues(text, kind, "here")).toThrow(message);
  });

  it.each<[unknown, ValueKind]>([
    [{ type: "integer" }, "whole"],
    [{ type: "number" }, "number"],
    [{ type: "boolean" }, "truth"],
    [{ type: "string", format: "decimal" }, "decimal"],
    [{ type: "string", format: "inst-id" }, "text"],
    [{ type: ["string", "number"] }, "json"],
    [{ enum: [1, "a"] }, "json"],
    [undefined, "json"],
  ])("spells %j as %s", (schema, kind) => {
    expect(kindOf(schema)).toBe(kind);
  });
});
