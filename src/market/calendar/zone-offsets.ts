/**
 * Offsets of a time zone from UTC, and the instant of a wall-clock time.
 *
 * Invariants: of a wall-clock time that occurs twice the first instant is taken; one that does not occur is the instant
 * that many minutes after the clocks changed.
 */
import { SluiceError } from "../../errors.ts";

const dayMs = 86_400_000;

export class ZoneOffsets {
  readonly #format: Intl.DateTimeFormat;
  /** Offset at the begin of each day of UTC, by its number since the epoch. */
  readonly #days = new Map<number, number>();

  /** `zone` is a name such as `America/New_York`. Throws CONFIG_INVALID for a name that the platform does not know. */
  constructor(zone: string) {
    try {
      this.#format = new Intl.DateTimeFormat("en-US", {
        timeZone: zone,
        hourCycle: "h23",
        year: "numeric",
        month: "numeric",
        day: "numeric",
        hour: "numeric",
        minute: "numeric",
        second: "numeric",
      });
    } catch {
      const example = "Write a name such as America/New_York, or UTC.";
      throw new SluiceError("CONFIG_INVALID", `candles: there is no time zone ${JSON.stringify(zone)}. ${example}`);
    }
  }

  /** Milliseconds that the wall clock is ahead of UTC at an instant. */
  at(instant: number): number {
    const day = Math.floor(instant / dayMs);
    const [before, after] = [this.#atDay(day), this.#atDay(day + 1)];
    return before === after ? before : this.#read(instant);
  }

  instantOf(wall: number): number {
    const [before, after] = [this.at(wall - dayMs), this.at(wall + dayMs)];
    const fitting = [before, after].filter((offset) => this.at(wall - offset) === offset);
    return fitting.length === 0 ? wall - before : wall - Math.max(...fitting);
  }

  #atDay(day: number): number {
    const known = this.#days.get(day);
    if (known !== undefined) return known;
    const offset = this.#read(day * dayMs);
    this.#days.set(day, offset);
    return offset;
  }

  #read(instant: number): number {
    const whole = Math.floor(instant / 1_000) * 1_000;
    const parts = new Map(this.#format.formatToParts(whole).map(({ type, value }) => [type, Number(value)]));
    const part = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
    const wall = Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
    return wall - whole;
  }
}
