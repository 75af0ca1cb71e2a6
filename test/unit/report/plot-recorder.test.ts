/** Values that strategies plot: what is kept of many. */
import { describe, expect, it } from "vitest";
import { PlotRecorder } from "../../../src/report/plot-recorder.ts";

const recorder = (): PlotRecorder => {
  const made = new PlotRecorder();
  made.isOn = true;
  return made;
};

describe("Recorded plots", () => {
  it("are none where nothing was asked for", () => {
    const plots = new PlotRecorder();
    plots.take("s", 1, "rsi", 50);
    expect(plots.lines).toEqual([]);
  });

  it("leave out what is not a finite number", () => {
    const plots = recorder();
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, "", " ", "x", "7.5", 8])
      plots.take("s", 1, "rsi", value);
    expect(plots.lines[0]?.points.map(({ value }) => value)).toEqual([7.5, 8]);
  });

  it("stay below 100,000 points a line, in order, with the first extreme spikes kept", () => {
    const plots = recorder();
    for (let at = 0; at < 1_000_000; at++)
      plots.take("s", at, "x", at === 77_777 ? 1e9 : at === 500_001 ? -1e9 : Math.sin(at / 1_000));
    const points = plots.lines[0]?.points ?? [];
    expect(points.length).toBeLessThan(100_000);
    expect(points.length).toBeGreaterThan(20_000);
    expect(points.filter(({ value }) => Math.abs(value) === 1e9)).toEqual([
      { at: 77_777, value: 1e9 },
      { at: 500_001, value: -1e9 },
    ]);
    expect(points.every(({ at }, index) => index === 0 || at > (points[index - 1]?.at ?? 0))).toBe(true);
  });

  it("are of at most 64 names, and the values of more are counted", () => {
    const plots = recorder();
    for (let index = 0; index < 70; index++) plots.take("s", index, `x${index}`, 1);
    expect([plots.lines.length, plots.leftOut]).toEqual([64, 6]);
  });
});
