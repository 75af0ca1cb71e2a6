import { expect, it } from "vitest";
import { LiveSpan } from "../../../../plugins/control-room/client/live-span.ts";

const hour = 3_600_000;
const spanOf = (): LiveSpan => {
  const span = new LiveSpan(() => undefined);
  span.reach(0, hour);
  return span;
};

it("Everything is shown at first, and goes on to be shown while more comes", () => {
  const span = spanOf();
  expect(span.span).toEqual({ from: -0.01 * hour, to: 1.01 * hour });
  span.reach(0, 2 * hour);
  expect(span.span).toEqual({ from: -0.02 * hour, to: 2.02 * hour });
});

it("The last minutes follow the present at the length that was asked for", () => {
  const span = spanOf();
  span.last(600_000);
  span.reach(0, 2 * hour);
  expect(span.span).toEqual({ from: 2.02 * hour - 600_000, to: 2.02 * hour });
  expect(span.follows).toBe(true);
});

it("Looking back stays where it is while the present goes on", () => {
  const span = spanOf();
  span.set(100_000, 200_000);
  span.reach(0, 2 * hour);
  expect(span.span).toEqual({ from: 100_000, to: 200_000 });
  expect(span.follows).toBe(false);
});

it("Panning to the right edge follows again", () => {
  const span = spanOf();
  span.set(100_000, 200_000);
  span.pan(1_000);
  expect(span.follows).toBe(true);
  span.reach(0, 2 * hour);
  expect(span.span.to).toBe(2.02 * hour);
  expect(span.span.to - span.span.from).toBeCloseTo(100_000);
});

it("Zooming while it follows keeps the present at the right edge, and never shows less than a second", () => {
  const span = spanOf();
  span.zoom(0.5);
  expect(span.span.to).toBeCloseTo(1.01 * hour);
  expect(span.follows).toBe(true);
  for (let count = 0; count < 60; count++) span.zoom(0.5);
  expect(span.span.to - span.span.from).toBeCloseTo(1_000);
});
