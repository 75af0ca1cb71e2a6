import fc from "fast-check";
import { expect, it } from "vitest";
import { DateHeader } from "../../../src/venue/date-header.ts";

const spelled = (now: number): string => new Date(Math.floor(now / 1_000) * 1_000).toUTCString();

it("The Date header is what the platform spells, however instants follow each other", () => {
  const instants = fc.array(fc.double({ min: -1e12, max: 1e13, noNaN: true }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(instants, (all) => {
      const header = new DateHeader();
      for (const now of all) expect(header.of(now)).toBe(spelled(now));
    }),
  );
});

it("The last second of a day is followed by the first of the next", () => {
  const header = new DateHeader();
  const midnight = Date.UTC(2024, 1, 29);
  for (const ms of [-1_000, -1, 0, 999, 1_000, 86_399_999, 86_400_000])
    expect(header.of(midnight + ms)).toBe(spelled(midnight + ms));
});
