/** Quiet, probing, going on, refused: what a user's standing lets leave, step by step. */
import { describe, expect, it } from "vitest";
import { ProbeState } from "../../../../src/scheduler/quota/probe-state.ts";

describe("The probe state after a start", () => {
  it("is quiet until the instant given, then lets one call at a time probe", () => {
    const standing = new ProbeState(500);
    expect([standing.warm, standing.blockedUntil(499), standing.blockedUntil(500)]).toEqual([false, 500, undefined]);
    expect(standing.leave()).toBe(true);
    // When the answer comes nobody knows; a minute is the longest anyone waits for one.
    expect([standing.blockedUntil(500), standing.blockedUntil(700)]).toEqual([60_500, 60_700]);
    standing.back();
    expect(standing.blockedUntil(701)).toBeUndefined();
  });

  it("waits for each of two probes that left after all", () => {
    const standing = new ProbeState(0);
    standing.leave();
    standing.leave();
    standing.back();
    expect(standing.blockedUntil(10)).toBe(60_010);
    standing.back();
    expect(standing.blockedUntil(10)).toBeUndefined();
  });

  it("a probe that comes back twice makes no room for two", () => {
    const standing = new ProbeState(0);
    standing.back();
    standing.back();
    standing.leave();
    expect(standing.blockedUntil(10)).toBe(60_010);
  });

  it("lets all leave, none of them a probe, once enough is known", () => {
    const standing = new ProbeState(500);
    standing.warm = true;
    expect([standing.warm, standing.blockedUntil(0), standing.leave(), standing.blockedUntil(0)]).toEqual([
      true,
      undefined,
      false,
      undefined,
    ]);
  });

  it("begun again, it is quiet and probes as at first", () => {
    const standing = new ProbeState(0);
    standing.warm = true;
    standing.restart(2_000);
    expect([standing.warm, standing.blockedUntil(1_999), standing.blockedUntil(2_000)]).toEqual([
      false,
      2_000,
      undefined,
    ]);
    expect([standing.leave(), standing.blockedUntil(2_001)]).toEqual([true, 62_001]);
  });

  it("lets exits leave before the quiet is over, one at a time", () => {
    const standing = new ProbeState(1_000, 0);
    expect([standing.blockedUntil(1, true), standing.leave()]).toEqual([undefined, true]);
    expect([standing.blockedUntil(2, true), standing.blockedUntil(2)]).toEqual([60_002, 1_000]);
    standing.back();
    standing.warmUp(50);
    // What was used of the key's second before the start is not known before it is over.
    expect([standing.warm, standing.blockedUntil(51), standing.blockedUntil(51, true)]).toEqual([
      false,
      1_000,
      undefined,
    ]);
    expect([standing.blockedUntil(1_000), standing.warm]).toEqual([undefined, true]);
  });

  it("lets not even exits leave while a refusal is waited out", () => {
    const standing = new ProbeState(1_000, 0);
    standing.warmUp(50);
    standing.restart(5_000);
    expect([standing.isShut(4_999), standing.blockedUntil(4_999, true), standing.isShut(5_000)]).toEqual([
      true,
      5_000,
      false,
    ]);
    standing.leave();
    expect(standing.blockedUntil(5_000)).toBe(65_000);
  });

  it("calls that left while all was open are no probes when it begins again", () => {
    const standing = new ProbeState(0);
    standing.warm = true;
    standing.leave();
    standing.restart(100);
    expect(standing.blockedUntil(100)).toBeUndefined();
  });
});

describe("Pauses after lost probes", () => {
  it("double up to sixteen seconds, hold no exit back, and begin again once an answer came", () => {
    const standing = new ProbeState(0);
    const pauses = [0, 1, 2, 3, 4, 5].map(() => {
      standing.pause(100);
      return (standing.blockedUntil(101) as number) - 100;
    });
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 16_000]);
    expect(standing.blockedUntil(101, true)).toBeUndefined();
    standing.warmUp(101);
    standing.restart(200);
    standing.pause(300);
    expect(standing.blockedUntil(301)).toBe(1_300);
  });
});

describe("The use of a user's windows", () => {
  it("is followed since the first count, also over refusals", () => {
    const standing = new ProbeState(500);
    expect(standing.toldAt).toBe(Number.POSITIVE_INFINITY);
    standing.warmUp(300);
    standing.warmUp(700);
    standing.restart(2_000);
    standing.warmUp(2_100);
    expect(standing.toldAt).toBe(300);
  });
});

describe("Strikes of refusals:", () => {
  it("a burst of refusals is one, whatever the order its answers come in", () => {
    const standing = new ProbeState(0);
    expect(standing.strikes).toBe(0);
    expect([standing.strike(100, 150), standing.strikes]).toEqual([true, 1]);
    // Sent before or as the latest refusal was heard: it belongs to the same burst.
    expect([standing.strike(149, 180), standing.strike(180, 170), standing.strike(180, 190), standing.strikes]).toEqual(
      [false, false, false, 1],
    );
    expect([standing.strike(191, 210), standing.strikes]).toEqual([true, 2]);
  });

  it("are forgotten after a success, but the burst they came from is not", () => {
    const standing = new ProbeState(0);
    standing.strike(100, 150);
    standing.strikes = 0;
    expect([standing.strikes, standing.strike(140, 160), standing.strikes]).toEqual([0, false, 0]);
    expect([standing.strike(161, 200), standing.strikes]).toEqual([true, 1]);
  });
});
