/** The quota and the book of a recorded session, against what its engine itself knew at the same instants. */
import { interval, map } from "rxjs";
import { expect, it } from "vitest";
import { ControlDocument } from "../../../plugins/control-room/control-document.ts";
import { type RecordedMore, timelineOfEvents } from "../../../plugins/playback/event-timeline.ts";
import { RecordedQuota } from "../../../plugins/playback/recorded-quota.ts";
import type { Timeline } from "../../../plugins/playback/timeline.ts";
import playableRuns from "../../../plugins/session/played-session.ts";
import { definePlugin, type QuotaState } from "../../../src/index.ts";
import { closed, swap } from "../../support/harness/backtest.ts";
import { linesOf, record, rewrite, strategy } from "../session/harness/session.ts";

const resting = Array.from({ length: 45 }, (_, slot) => ({ slot: `rest ${slot}`, px: "29000" }));
/** Two orders that are replaced every 400 ms among many that rest: placements, batch cancels, reads, and a reserve for exits. */
const restless = (name: string) =>
  strategy(name, {
    wanted: () =>
      interval(400).pipe(
        map((round) =>
          [...["a", "b"].map((slot) => ({ slot, px: `${30_000 + (round % 5)}` })), ...resting].map((order) => ({
            ...{ ...order, instId: swap, side: "buy" as const, qty: "0.001" },
          })),
        ),
      ),
  });

const recordRestless = async () => {
  const samples: QuotaState[] = [];
  const sampling = definePlugin({
    name: "sampling",
    options: closed,
    // Between the instants at which anything else happens.
    setup: ({ every, quotaNow }) => every(333.125, () => void samples.push(quotaNow())),
  });
  const { dir } = await record(
    [
      { ...restless("one"), user: "ann" },
      { ...restless("two"), user: "ben" },
    ],
    { ms: 75_000, paper: { users: { ann: { keys: 2 }, ben: {} } }, plugins: [sampling({})] },
  );
  return { dir, samples };
};

it("A session's quota stands in each window of address, users and keys as its engine knew it", async () => {
  const { dir, samples } = await recordRestless();
  const run = playableRuns.read(dir);
  const quota = new RecordedQuota(run.facts, run.quota);
  let next = 0;
  let fullest = 0;
  for (const { at, layers, inFlight } of samples) {
    for (let event = run.events[next]; event !== undefined && event.at <= at; event = run.events[++next])
      quota.take(event);
    const rebuilt = quota.stateAt(at);
    const known = new Set(rebuilt.layers.map(nameOf));
    const told = layers.filter((row) => known.has(nameOf(row)));
    expect({ at, layers: rebuilt.layers.toSorted(byName), inFlight: rebuilt.inFlight }).toEqual({
      at,
      layers: told.toSorted(byName),
      inFlight,
    });
    // A key that was asked about and did nothing yet.
    for (const row of layers) if (!known.has(nameOf(row))) expect(row.used).toBe(0);
    fullest = Math.max(fullest, ...layers.filter(({ layer }) => layer === "uid").map(({ used }) => used));
  }
  expect(samples.length).toBeGreaterThan(200);
  expect(quota.stateAt(samples.at(-1)?.at ?? 0).layers.map(nameOf)).toEqual(
    expect.arrayContaining(["key ann-1", "key ben-1", "uid ann", "uid ben"]),
  );
  // Nearly a whole minute of weight was used, so that every part of the window was told.
  expect(fullest).toBeGreaterThan(1_000);
});

type Scoped = Pick<QuotaState["layers"][number], "layer" | "scope">;
const nameOf = ({ layer, scope }: Scoped): string => `${layer} ${scope}`;
const byName = (a: Scoped, b: Scoped): number => (nameOf(a) < nameOf(b) ? -1 : 1);

it("A session is played with its book, users and options, and says what it does not hold", async () => {
  const { dir } = await recordRestless();
  const { facts: header, events, quota, ...market } = playableRuns.read(dir);
  expect(market.books).toEqual([]);
  const strategies = header.strategies.map((one) => ({ ...one, user: one.user ?? "" }));
  const facts = { name: "run", kind: "session", version: "1" } as const;
  const play = (more: RecordedMore) => timelineOfEvents(facts, events, more);
  const documentOf = (timeline: Timeline, at: number): ControlDocument => {
    const document = new ControlDocument("run");
    document.apply({ source: "run", seq: 1, at, rows: timeline.rowsAfter(timeline.countUntil(at)) });
    return document;
  };
  const timeline = play({ ...market, strategies, quota: new RecordedQuota(header, quota) });
  const middle = documentOf(timeline, (timeline.from + timeline.to) / 2);
  expect(middle.rows("strategies").map(({ name, user }) => [name, user])).toEqual([
    ["one", "ann"],
    ["two", "ben"],
  ]);
  expect(middle.row("quota", "uid|ann")?.used).toBeGreaterThan(100);
  expect(middle.row("engine", "")?.unrecorded).toEqual(["account", "prices", "book", "queue", "health"]);
  expect(documentOf(play({}), timeline.from).row("engine", "")?.unrecorded).toEqual([
    ...["account", "prices", "book", "queue", "limits", "options", "health"],
  ]);
});

it("A book that was recorded as what changed in it is shown whole, its best ten levels, the last of each tenth of a second", async () => {
  const { dir } = await record([restless("one")], { ms: 3_000 });
  const lines = linesOf(dir);
  const startAt = 1_767_575_001_000;
  const book = (ms: number, whole: 0 | 1, bids: readonly unknown[], asks: readonly unknown[]): string =>
    JSON.stringify({
      in: "stream",
      stream: `books ${swap}`,
      value: [startAt + ms, whole, bids, asks],
      now: startAt + ms,
    });
  const deep = Array.from({ length: 12 }, (_, level) => [`${100 - level}`, "1"]);
  const made = [
    book(0, 1, deep, [["101", "2"]]),
    // The best bid goes, another level grows.
    book(
      250,
      0,
      [
        ["100", "0"],
        ["99", "7.5"],
      ],
      [],
    ),
    book(290, 0, [["99", "7"]], [["100.5", "0.25"]]),
  ];
  const place = lines.findIndex((line) => line.includes('"now":176757500'));
  rewrite(dir, [...lines.slice(0, place), ...made, ...lines.slice(place)]);
  const bids = deep.slice(1, 11).map(([px, qty]) => [px, px === "99" ? "7" : qty]);
  expect(playableRuns.read(dir).books).toEqual([
    { instId: swap, at: startAt, bids: deep.slice(0, 10), asks: [["101", "2"]] },
    {
      instId: swap,
      at: startAt + 250,
      bids,
      asks: [
        ["100.5", "0.25"],
        ["101", "2"],
      ],
    },
  ]);
  const timeline = timelineOfEvents({ name: "run", kind: "session", version: "1" }, [], {
    books: playableRuns.read(dir).books,
  });
  const shown = timeline.rowsAfter(timeline.countUntil(timeline.to)).find(([section]) => section === "book");
  expect(shown?.[2]).toMatchObject({ instId: swap, bids });
});
