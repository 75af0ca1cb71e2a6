import { describe, expect, it } from "vitest";
import { createAnomalies } from "../../../../src/client/live/anomalies.ts";

describe("Anomalies of a live service:", () => {
  it("every one is counted, ten of a kind are told, then one each time their number has doubled", () => {
    const told: string[] = [];
    const { note, counts } = createAnomalies((what, detail) => told.push(`${what}: ${detail}`));
    for (let index = 1; index <= 100; index++) note("message.malformed", `number ${index}`);
    note("socket.lost", "reset");
    expect(counts).toEqual(
      new Map([
        ["message.malformed", 100],
        ["socket.lost", 1],
      ]),
    );
    expect(told.slice(8)).toEqual([
      "message.malformed: number 9",
      "message.malformed: number 10",
      "message.malformed: number 20 (20 such so far)",
      "message.malformed: number 40 (40 such so far)",
      "message.malformed: number 80 (80 such so far)",
      "socket.lost: reset",
    ]);
  });
});
