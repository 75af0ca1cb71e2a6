import { describe, expect, it } from "vitest";
import { lineSplitter, type Report, readReport, readWord, type Word } from "../../../plugins/watchdog/messages.ts";

const reports: readonly Report[] = [
  { kind: "hello", version: 1, session: "ab12", beatMs: 1_000 },
  { kind: "beat", ready: true, open: 3 },
  { kind: "goodbye" },
];
const words: readonly Word[] = [
  { kind: "armed", silenceMs: 15_000 },
  { kind: "armed", silenceMs: 15_000, before: "no beat for 15 s; 2 orders were cancelled" },
  { kind: "heard" },
  { kind: "farewell" },
  { kind: "tripped", reason: "no beat for 15 s" },
  { kind: "tripped", reason: "no beat for 15 s", canceling: true },
];

describe("A watchdog message", () => {
  it("is read as it was said, by the side it is meant for alone", () => {
    for (const report of reports)
      expect([readReport(JSON.stringify(report)), readWord(JSON.stringify(report))]).toEqual([report, undefined]);
    for (const word of words)
      expect([readWord(JSON.stringify(word)), readReport(JSON.stringify(word))]).toEqual([word, undefined]);
  });

  it.each([
    ["no JSON", "beat"],
    ["no object", "[]"],
    ["null", "null"],
    ["another version", '{"kind":"hello","version":2,"session":"a","beatMs":1}'],
    ["a field nobody knows", '{"kind":"goodbye","orders":"kept"}'],
    ["a missing field", '{"kind":"beat","ready":true}'],
    ["a number that is none", '{"kind":"beat","ready":true,"open":"3"}'],
    ["a negative time", '{"kind":"hello","version":1,"session":"a","beatMs":-1}'],
    ["an endless name", JSON.stringify({ kind: "hello", version: 1, session: "x".repeat(501), beatMs: 1 })],
  ])("%s is no message", (_, line) => {
    expect(readReport(line)).toBeUndefined();
  });

  it("arrives whole whatever the pieces, and a line without end ends the conversation", () => {
    const lines: string[] = [];
    let broken = 0;
    const split = lineSplitter(
      (line) => lines.push(line),
      () => broken++,
    );
    for (const piece of ["a", "b\nc", "\n", "\nd"]) split(piece);
    expect([lines, broken]).toEqual([["ab", "c", ""], 0]);
    split("x".repeat(4_096));
    expect(broken).toBe(1);
  });
});
