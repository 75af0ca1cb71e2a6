/**
 * Reads that somebody asked for besides the timetable: sent while one who asked needs them, or when they have become due.
 */
import { EMPTY, type Observable, of, Subject } from "rxjs";
import { describe, expect, it } from "vitest";
import type { Reading } from "../../../../src/client/outcome.ts";
import { createVirtualClock } from "../../../../src/clock/virtual-clock.ts";
import { PolledResource } from "../../../../src/orders/state/polled-resource.ts";
import type { Snapshot } from "../../../../src/orders/state/snapshot.ts";

/** Every read is answered by hand; `needed` of each is kept, to ask it when its slot would open. */
const setting = (startAt = 1_000) => {
  const clock = createVirtualClock(startAt);
  const reads: { readonly needed: () => boolean; readonly answer$: Subject<Reading<number>> }[] = [];
  const resource = new PolledResource<number>({
    clock,
    initial: 0,
    freshMs: 100,
    read: (needed) => {
      const answer$ = new Subject<Reading<number>>();
      reads.push({ needed, answer$ });
      return answer$;
    },
  });
  const answer = (value: number): void => {
    const answer$ = reads.at(-1)?.answer$;
    answer$?.next({ kind: "value", value });
    answer$?.complete();
  };
  const seen: Snapshot<number>[] = [];
  const run = (ms: number) => clock.advanceTo(clock.now() + ms);
  return {
    clock,
    resource,
    reads,
    seen,
    answer,
    run,
    watch: () => resource.value$.subscribe((snapshot) => seen.push(snapshot)),
  };
};
/** Read once, with a value of 7. */
const known = () => {
  const it = setting();
  it.watch();
  it.run(0);
  it.answer(7);
  return it;
};
const needed = (it: ReturnType<typeof setting>): boolean | undefined => it.reads.at(-1)?.needed();

describe("A read that was asked for", () => {
  it("is needed while one of those who asked needs it", () => {
    const it = known();
    const wants = { a: true, b: true };
    it.resource.refresh(() => wants.a);
    it.resource.refresh(() => wants.b);
    it.run(0);
    expect(it.reads).toHaveLength(2);
    expect(needed(it)).toBe(true);
    wants.a = false;
    expect(needed(it)).toBe(true);
    wants.b = false;
    expect(needed(it)).toBe(false);
  });

  it("is needed by nobody and sent all the same once the timetable wants it, to the instant", () => {
    const it = known();
    it.run(50);
    it.resource.refresh(() => false);
    it.run(0);
    it.run(49);
    expect(needed(it)).toBe(false);
    it.run(1);
    expect(needed(it)).toBe(true);
  });

  it("by the timetable alone is always needed", () => {
    const it = known();
    it.run(100);
    expect(it.reads).toHaveLength(2);
    expect(needed(it)).toBe(true);
  });

  it("leaves the timetable as it was when it was not needed", () => {
    const it = known();
    it.run(40);
    it.resource.refresh(() => false);
    it.run(0);
    const answer$ = it.reads.at(-1)?.answer$;
    answer$?.next({ kind: "withdrawn" });
    answer$?.complete();
    it.run(59);
    expect(it.reads).toHaveLength(2);
    it.run(1);
    expect(it.reads).toHaveLength(3);
  });

  it("while one is under way forgets the needs that have passed by then", () => {
    const it = known();
    it.resource.refresh();
    it.run(0);
    let wants = true;
    it.resource.refresh(() => wants);
    wants = false;
    it.resource.refresh(() => false);
    it.answer(8);
    it.run(0);
    expect(it.reads).toHaveLength(3);
    expect(needed(it)).toBe(false);
  });

  it("while nobody listens is made when somebody does, however fresh the value is", () => {
    const it = setting();
    const first = it.watch();
    it.run(0);
    it.answer(7);
    first.unsubscribe();
    it.run(10);
    it.resource.refresh();
    it.run(0);
    expect(it.reads).toHaveLength(1);
    it.watch();
    it.run(0);
    expect(it.reads).toHaveLength(2);
  });
});

describe("The state of a polled value:", () => {
  it("a read that ends without one says so", () => {
    const clock = createVirtualClock(0);
    const read = (): Observable<Reading<number>> => EMPTY;
    const seen: (string | undefined)[] = [];
    new PolledResource<number>({ clock, initial: 0, freshMs: 100, read }).value$.subscribe(({ problem }) =>
      seen.push(problem),
    );
    clock.advanceTo(0);
    expect(seen).toEqual(["the read ended without a value"]);
  });

  it("a newcomer takes a value of exactly the wanted age, and none that is older", () => {
    for (const [age, stale] of [
      [100, false],
      [101, true],
    ] as const) {
      const it = known();
      // The next read is never answered.
      it.run(age);
      it.watch();
      expect(it.seen.at(-1)?.stale).toBe(stale);
    }
  });

  it("at the clock's zero it is known as at any other time", () => {
    const it = setting(0);
    it.watch();
    it.run(0);
    it.answer(7);
    it.resource.touch(() => 8);
    it.resource.doubt("pushes have stopped");
    it.watch();
    expect(it.seen.map(({ value, stale }) => `${value} ${stale}`)).toEqual(["7 false", "8 false", "8 true", "8 true"]);
    it.run(0);
    expect(it.reads).toHaveLength(2);
  });

  it("doubt before the first read says nothing and asks for nothing, also while somebody listens", () => {
    const it = setting();
    it.watch();
    it.run(0);
    it.resource.doubt("pushes have stopped");
    it.resource.touch(() => 9);
    it.run(50);
    expect([it.seen.length, it.reads.length, it.resource.current.value]).toEqual([0, 1, 0]);
  });

  it("that it was denied is kept with the news of a part, and gone with the next value", () => {
    const clock = createVirtualClock(0);
    const answers: Reading<number>[] = [
      { kind: "value", value: 1 },
      { kind: "failed", problem: "50110 unknown key", denied: true },
      { kind: "value", value: 3 },
    ];
    const read = () => of(answers.shift() as Reading<number>);
    const resource = new PolledResource<number>({ clock, initial: 0, freshMs: 100, read });
    resource.value$.subscribe();
    clock.advanceTo(100);
    resource.touch(() => 2);
    expect(resource.current).toEqual({ value: 2, at: 100, stale: true, problem: "50110 unknown key", denied: true });
    clock.advanceTo(200);
    expect(resource.current).toEqual({ value: 3, at: 200, stale: false });
  });
});
