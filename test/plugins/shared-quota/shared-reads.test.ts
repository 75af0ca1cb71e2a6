/** Reads that engines of one group answer each other, on virtual time: the value of the service is the time at which it was looked at. */
import fc from "fast-check";
import { map, Observable } from "rxjs";
import { describe, expect, it } from "vitest";
import { SharedReads } from "../../../plugins/shared-quota/shared-reads.ts";
import type { Outcome } from "../../../src/client/outcome.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { PolledResource } from "../../../src/orders/state/polled-resource.ts";
import type { ShareRead } from "../../../src/orders/state/read-sharing.ts";
import { MemoryAnswerStore } from "./harness/memory-answer-store.ts";

const everyMs = 10_000;
type Row = { readonly at: number };

/** `engines` that keep the same list up, and how often the service was asked. */
const group = ({
  freshMs = [everyMs, everyMs, everyMs, everyMs],
  readMs = (): number => 80,
  delayMs = (): number => 1,
  problems = [] as string[],
  rows = 1,
} = {}) => {
  const clock = createVirtualClock(1_000);
  const store = new MemoryAnswerStore(clock);
  const stage = { asked: 0, isBroken: false };
  const read = (): Observable<Outcome<Row>> =>
    new Observable((subscriber) => {
      stage.asked++;
      const takenMs = readMs();
      let at = 0;
      // The service looks somewhere between the question and the answer.
      const look = clock.setTimer(clock.now() + takenMs / 2, () => {
        at = clock.now();
      });
      const answer = clock.setTimer(clock.now() + takenMs, () => {
        const records = Array.from({ length: rows }, () => ({ at }));
        subscriber.next(
          stage.isBroken ? { kind: "unknown", message: "lost" } : { kind: "done", records, problems, at: clock.now() },
        );
        subscriber.complete();
      });
      return () => {
        look.cancel();
        answer.cancel();
      };
    });
  /** Answers that came from another engine, as they were taken. */
  const taken: { readonly value: number; readonly ageMs: number; readonly now: number }[] = [];
  const member = (keptMs: number) => {
    const reads = new SharedReads(clock, store.reached(delayMs));
    const share: ShareRead = (what, maxAgeMs, own) => reads.read(what, maxAgeMs, own);
    const resource = new PolledResource<number>({
      clock,
      initial: 0,
      freshMs: keptMs,
      read: (_, maxAgeMs) =>
        share("list", maxAgeMs, read).pipe(
          map(({ outcome, ageMs }) => {
            if (outcome.kind !== "done") return { kind: "failed", problem: "no answer" };
            const value = outcome.records[0]?.at ?? 0;
            if (ageMs > 0) taken.push({ value, ageMs, now: clock.now() });
            return { kind: "value", value, ageMs };
          }),
        ),
    });
    return {
      resource,
      seen: [] as { readonly value: number; readonly at: number; readonly stale: boolean; readonly now: number }[],
    };
  };
  const members = freshMs.map(member);
  const watching = members.map(({ resource, seen }) =>
    resource.value$.subscribe(({ value, at, stale }) => seen.push({ value, at, stale, now: clock.now() })),
  );
  const run = async (ms: number): Promise<void> => {
    const until = clock.now() + ms;
    while (clock.now() < until) {
      clock.advanceTo(Math.min(until, clock.now() + 20));
      for (let turn = 0; turn < 6; turn++) await Promise.resolve();
    }
  };
  return { clock, store, stage, members, watching, taken, run };
};

describe("Engines of one group", () => {
  it("cost one poller, and each knows the list as lately as one that asks for itself", async () => {
    const { clock, stage, members, run } = group();
    await run(1_000);
    expect(stage.asked).toBe(4);
    await run(600_000);
    // One every ten seconds, and one each at the start.
    expect(stage.asked).toBeGreaterThanOrEqual(60);
    expect(stage.asked).toBeLessThanOrEqual(4 + 62);
    for (const { resource, seen } of members) {
      expect(seen.filter(({ stale }) => stale)).toEqual([]);
      expect(clock.now() - resource.current.at).toBeLessThanOrEqual(everyMs + 500);
    }
  });

  it("take what another was answered, and count it from when that one asked", async () => {
    const { clock, stage, members, taken, run } = group({ freshMs: [everyMs, 16_000] });
    const [, second] = members;
    let oldest = 0;
    await run(1_000);
    for (let step = 0; step < 600; step++) {
      await run(1_000);
      oldest = Math.max(oldest, clock.now() - (second?.resource.current.value ?? 0));
    }
    expect(taken.length).toBeGreaterThan(30);
    expect(Math.max(...taken.map(({ ageMs }) => ageMs))).toBeGreaterThan(5_000);
    for (const { value, ageMs, now } of taken) expect(value).toBeGreaterThanOrEqual(now - ageMs);
    expect(oldest).toBeLessThanOrEqual(16_500);
    expect(stage.asked).toBeLessThan(75);
  });

  it("ask for themselves where news is wanted, whatever the others know", async () => {
    const { clock, stage, members, run } = group({ freshMs: [everyMs, 16_000] });
    await run(41_500);
    const [, second] = members;
    const before = stage.asked;
    const wantedAt = clock.now();
    second?.resource.refresh();
    await run(200);
    expect(stage.asked).toBe(before + 1);
    expect(second?.resource.current.value).toBeGreaterThanOrEqual(wantedAt);
  });

  it.each(["away", "silent"] as const)(
    "ask for themselves while the store is %s, and share again afterwards",
    async (state) => {
      const { clock, store, stage, members, run } = group({ freshMs: [2_000, 2_000, 2_000, 2_000] });
      await run(60_000);
      store.state = state;
      const [before, looks] = [stage.asked, store.looks];
      await run(100_000);
      expect(stage.asked - before).toBeGreaterThanOrEqual(160);
      // Once in ten seconds an engine looks whether it is there.
      expect(store.looks - looks).toBeLessThanOrEqual(44);
      for (const { resource } of members) expect(clock.now() - resource.current.at).toBeLessThanOrEqual(4_500);
      store.state = "there";
      await run(60_000);
      const again = stage.asked;
      await run(100_000);
      expect(stage.asked - again).toBeLessThanOrEqual(60);
    },
  );

  it("go on when the one that asks is gone in the midst of it", async () => {
    const { stage, members, watching, run } = group({ readMs: () => 2_000 });
    await run(21_000);
    // All ask at about the same time now, and one of them the service.
    const before = stage.asked;
    for (let waited = 0; waited < 200 && stage.asked === before; waited++) await run(100);
    expect(stage.asked).toBe(before + 1);
    for (const gone of watching.slice(0, 3)) gone.unsubscribe();
    await run(30_000);
    expect(members[3]?.seen.filter(({ stale }) => stale)).toEqual([]);
    expect((members[3]?.seen.at(-1)?.now ?? 0) - (members[3]?.seen.at(-1)?.value ?? 0)).toBeLessThan(everyMs);
  });

  it("wait three seconds for the one that asks, and then ask for themselves", async () => {
    let count = 0;
    const { clock, members, run } = group({ freshMs: [everyMs, everyMs], readMs: () => (++count === 3 ? 30_000 : 80) });
    await run(14_200);
    expect(count).toBe(4);
    const current = members.map(({ resource }) => resource.current).sort((a, b) => b.at - a.at);
    expect(clock.now() - (current[0]?.at ?? 0)).toBeLessThan(4_000);
  });

  it.each([
    ["that failed", { isBroken: true }, {}],
    ["that has a record nobody could read", {}, { problems: ["records[1]: no ordId"] }],
    ["that is too large", {}, { rows: 80_000 }],
  ])("do not share an answer %s", async (_, over, given) => {
    const { stage, run } = group({ freshMs: [everyMs, everyMs], ...given });
    Object.assign(stage, over);
    await run(1_000);
    const before = stage.asked;
    await run(60_000);
    expect(stage.asked - before).toBeGreaterThanOrEqual(10);
  });

  it("never take an answer for younger than it is, whatever the ways, and though the store's clock is set", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 700 }), { minLength: 5, maxLength: 40 }),
        fc.array(fc.integer({ min: 10, max: 6_000 }), { minLength: 3, maxLength: 20 }),
        fc.array(fc.tuple(fc.integer({ min: 5_000, max: 40_000 }), fc.integer({ min: -60_000, max: 60_000 })), {
          maxLength: 3,
        }),
        async (delays, takes, steps) => {
          let drawn = 0;
          const from = (list: readonly number[]) => () => list[drawn++ % list.length] as number;
          const { store, taken, run } = group({
            freshMs: [everyMs, 15_000, 30_000],
            delayMs: from(delays),
            readMs: from(takes),
          });
          for (const [afterMs, aheadMs] of steps) {
            await run(afterMs);
            store.aheadMs = aheadMs;
          }
          await run(90_000);
          // What a clock is set by less than half a second is not noticed.
          for (const { value, ageMs, now } of taken)
            expect(value).toBeGreaterThanOrEqual(now - ageMs - (steps.length === 0 ? 0 : 500));
        },
      ),
      { numRuns: 60, seed: 5 },
    );
  });
});
