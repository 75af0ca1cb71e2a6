/** Bars begin and end where calendars say; the expected instants are those of Python's zoneinfo. */
import { describe, expect, it } from "vitest";
import { askedBars, BarCalendar, type BarLength, gridName, gridOf } from "../../../src/market/calendar/bar-calendar.ts";

const iso = (at: number): string => new Date(at).toISOString().slice(0, 16);
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

describe("A bar calendar", () => {
  it.each<[BarLength, string | undefined, string, string, string, string]>([
    ["day", undefined, "America/New_York", "2024-03-10T18:40", "2024-03-10T05:00", "2024-03-11T04:00"],
    ["day", "17:00", "America/New_York", "2016-03-13T16:31", "2016-03-12T22:00", "2016-03-13T21:00"],
    ["day", "17:00", "America/New_York", "2024-03-10T01:46", "2024-03-09T22:00", "2024-03-10T21:00"],
    ["week", "17:00", "America/New_York", "2016-03-13T15:05", "2016-03-06T22:00", "2016-03-13T21:00"],
    ["week", "17:00", "America/New_York", "2016-03-10T05:28", "2016-03-06T22:00", "2016-03-13T21:00"],
    ["month", undefined, "UTC", "2023-12-02T23:51", "2023-12-01T00:00", "2024-01-01T00:00"],
    ["month", undefined, "UTC", "2021-04-04T18:32", "2021-04-01T00:00", "2021-05-01T00:00"],
    ["month", "17:00", "America/New_York", "2019-03-02T02:33", "2019-02-28T22:00", "2019-03-31T21:00"],
    ["month", "17:00", "America/New_York", "2020-11-06T04:20", "2020-10-31T21:00", "2020-11-30T22:00"],
    ["day", "16:00", "UTC", "2018-03-07T02:52", "2018-03-06T16:00", "2018-03-07T16:00"],
    ["day", "16:00", "UTC", "2022-08-16T17:49", "2022-08-16T16:00", "2022-08-17T16:00"],
    ["week", undefined, "UTC", "2023-03-30T08:24", "2023-03-27T00:00", "2023-04-03T00:00"],
    ["week", undefined, "UTC", "2021-09-16T08:05", "2021-09-13T00:00", "2021-09-20T00:00"],
    ["week", undefined, "Europe/Berlin", "2021-10-31T06:05", "2021-10-24T22:00", "2021-10-31T23:00"],
    ["week", undefined, "Europe/Berlin", "2016-10-27T20:42", "2016-10-23T22:00", "2016-10-30T23:00"],
    ["day", "09:15", "Asia/Kolkata", "2018-08-24T10:08", "2018-08-24T03:45", "2018-08-25T03:45"],
    ["day", "09:15", "Asia/Kolkata", "2016-09-02T09:14", "2016-09-02T03:45", "2016-09-03T03:45"],
    ["month", undefined, "Australia/Sydney", "2019-04-25T21:46", "2019-03-31T13:00", "2019-04-30T14:00"],
    ["month", undefined, "Australia/Sydney", "2015-04-16T19:23", "2015-03-31T13:00", "2015-04-30T14:00"],
    ["day", undefined, "America/Sao_Paulo", "2016-10-16T20:12", "2016-10-16T03:00", "2016-10-17T02:00"],
    ["week", "16:00", "UTC", "2023-01-23T23:45", "2023-01-22T16:00", "2023-01-29T16:00"],
    ["week", "16:00", "UTC", "2017-03-22T12:36", "2017-03-19T16:00", "2017-03-26T16:00"],
    // Months of a leap year, and a day that begins when the clocks go forward at midnight.
    ["month", undefined, "UTC", "2024-02-29T23:59", "2024-02-01T00:00", "2024-03-01T00:00"],
    ["day", undefined, "America/Sao_Paulo", "2016-10-16T02:59", "2016-10-15T03:00", "2016-10-16T03:00"],
  ])("gives the %s from %s in %s of %s", (length, anchor, zone, at, start, end) => {
    const calendar = new BarCalendar(askedBars(length, { anchor, zone }).grid);
    const instant = Date.parse(`${at}Z`);
    expect([calendar.startOf(instant), calendar.endOf(instant)].map(iso)).toEqual([start, end]);
    expect(iso(calendar.openedBy(Date.parse(`${end}Z`)))).toBe(start);
    expect(iso(calendar.before(Date.parse(`${end}Z`), 1))).toBe(start);
  });

  it.each<[string, BarLength, string | number | undefined, string, string]>([
    ["fixed bars at multiples since 1970", 7 * minute, undefined, "1970-01-01T00:06", "1970-01-01T00:00"],
    ["hours from half past", hour, "00:30", "2024-03-01T10:10", "2024-03-01T09:30"],
    ["a number of milliseconds later", hour, 30 * minute, "2024-03-01T10:10", "2024-03-01T09:30"],
    ["weeks on Monday", 7 * day, undefined, "2024-03-10T23:59", "2024-03-04T00:00"],
    ["fortnights on Monday", 14 * day, undefined, "1970-01-18T00:00", "1970-01-05T00:00"],
  ])("begins %s", (_, length, anchor, at, start) => {
    const calendar = new BarCalendar(askedBars(length, { anchor }).grid);
    expect(iso(calendar.startOf(Date.parse(`${at}Z`)))).toBe(start);
  });

  it("cuts short the last bar of a day that has lost an hour", () => {
    const calendar = new BarCalendar(askedBars(4 * hour, { zone: "America/New_York" }).grid);
    const starts: string[] = [];
    for (let at = Date.parse("2024-03-10T05:00Z"); at <= Date.parse("2024-03-11T04:00Z"); at = calendar.endOf(at))
      starts.push(iso(at).slice(8));
    expect(starts).toEqual(["10T05:00", "10T09:00", "10T13:00", "10T17:00", "10T21:00", "11T01:00", "11T04:00"]);
  });

  it("leaves no hole and no overlap in ten years", () => {
    for (const length of ["day", "week", "month", 4 * hour] as const) {
      const calendar = new BarCalendar(askedBars(length, { anchor: "17:00", zone: "America/New_York" }).grid);
      let at = calendar.startOf(Date.parse("2015-01-01T00:00Z"));
      for (let bar = 0; bar < 500; bar++) {
        const end = calendar.endOf(at);
        expect([calendar.startOf(end - 1), calendar.endOf(end - 1), calendar.startOf(end)]).toEqual([at, end, end]);
        at = end;
      }
    }
  });

  it("is known by a name without blanks", () => {
    const { grid } = askedBars("week", { anchor: "17:00", zone: "America/New_York" });
    expect(gridName(grid)).toBe("604800000@-25200000@America/New_York");
    expect(gridOf(gridName(grid))).toEqual(grid);
    expect([gridName(askedBars("month").grid), gridName(askedBars("day").grid)]).toEqual(["month", "86400000"]);
  });

  it.each<[BarLength, object, RegExp]>([
    ["year" as "day", {}, /"year"; write milliseconds, "day", "week" or "month"/],
    ["day", { zone: "Mars/Olympus" }, /no time zone "Mars\/Olympus"/],
    ["day", { anchor: "25:00" }, /anchor is "25:00"; write a time of day/],
    [7 * minute, { zone: "Europe/Berlin" }, /do not divide a day/],
  ])("refuses %s %j", (length, options, message) => {
    expect(() => new BarCalendar(askedBars(length, options).grid)).toThrow(message);
  });
});
