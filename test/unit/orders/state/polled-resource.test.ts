/**
 * A piece of the service's state as a stream: shared, polled only while somebody listens, stale when it cannot be read.
 */
import { type Observable, of, Subject, take, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import type { Reading } from "../../../../src/client/outcome.ts";
import { createVirtualClock } from "../../../../src/clock/virtual-clock.ts";
import { PolledResource } from "../../../../src/orders/state/polled-resource.ts";
import type { Snapshot } from "../../../../src/orders/state/snapshot.ts";

const setting = (
  read?: () => Observable<Reading<number>>,
  freshMs: number | (() => number) = 100,
  kept?: () => boolean,
) => {
  const clock = createVirtualClock(1_000);
  const open: Subject<Reading<number>>[] = [];
  let reads = 0;
  const resource = new PolledResource<number>({
    clock,
    initial: 0,
    freshMs,
    ...(kept && { kept }),
    read: () => {
      reads++;
      if (read !== undefined) return read();
      const answer = new Subject<Reading<number>>();
      open.push(answer);
      return answer;
    },
  });
  const answer = (value: number | string): void => {
    const subject = open.shift() as Subject<Reading<number>>;
    subject.next(typeof value === "number" ? { kind: "value", value } : { kind: "failed", problem: value });
    subject.complete();
  };
  const seen: string[] = [];
  const watch = (source: Observable<Snapshot<number>> = resource.value$) =>
    source.subscribe(({ value, stale, problem }) => seen.push(`${value}${stale ? ` stale: ${problem}` : ""}`));
  return {
    clock,
    resource,
    answer,
    seen,
    watch,
    open,
    run: (ms: number) => clock.advanceTo(clock.now() + ms),
    reads: () => reads,
  };
};

describe("A polled resource", () => {
  it("reads for the first listener, shares the read, and gives the current value to later ones", () => {
    const it = setting();
    it.watch();
    it.watch();
    it.run(0);
    expect(it.reads()).toBe(1);
    it.answer(7);
    it.watch();
    expect(it.seen).toEqual(["7", "7", "7"]);
    it.run(99);
    expect(it.reads()).toBe(1);
  });

  it("that was due and could not be asked for is asked for again after a pause, not at once and for ever", () => {
    const setup = setting(() => of({ kind: "withdrawn" as const }), 60_000);
    setup.watch();
    setup.run(4_000);
    expect(setup.reads()).toBe(1);
    setup.run(60_000);
    expect(setup.reads()).toBe(4);
  });

  it("stops when nobody listens: no timer is left and the read under way is withdrawn", () => {
    const it = setting();
    const listeners = [it.watch(), it.watch()];
    it.run(0);
    const [under] = it.open;
    for (const listener of listeners) listener.unsubscribe();
    expect(it.clock.pending).toBe(0);
    expect(under?.observed).toBe(false);
    it.watch(it.resource.value$.pipe(take(1)));
    it.run(0);
    it.open.shift();
    it.answer(1);
    expect(it.clock.pending).toBe(0);
  });

  it("is as fresh as the most demanding listener asked, and no fresher once it has left", () => {
    const it = setting(() => of({ kind: "value", value: 1 }));
    it.watch();
    const demanding = it.resource.watch(10).subscribe();
    it.run(100);
    const while10 = it.reads();
    demanding.unsubscribe();
    it.run(1_000);
    expect(while10).toBe(11);
    expect(it.reads() - while10).toBe(10);
  });

  it("keeps its value when a read fails, says why, and tries again", () => {
    const it = setting();
    it.watch();
    it.run(0);
    it.answer(7);
    it.run(100);
    it.answer("50001 denied");
    it.run(100);
    it.answer(8);
    expect(it.seen).toEqual(["7", "7 stale: 50001 denied", "8"]);
  });

  it("never errors", () => {
    const it = setting(() => throwError(() => new Error("bug")));
    it.watch();
    it.run(250);
    expect(it.seen[0]).toBe("0 stale: Error: bug");
    expect(it.reads()).toBe(3);
  });

  it("is stale when an answer does not come", () => {
    const it = setting();
    it.watch();
    it.run(0);
    it.answer(7);
    it.run(1_000);
    expect(it.seen).toEqual(["7", "7 stale: the service has not answered in time"]);
    expect(it.reads()).toBe(2);
    it.answer(8);
    expect(it.seen.at(-1)).toBe("8");
  });

  it("is stale for a newcomer when nobody kept it up", () => {
    const it = setting();
    const first = it.watch();
    it.run(0);
    it.answer(7);
    first.unsubscribe();
    it.run(5_000);
    it.watch();
    expect(it.seen).toEqual(["7", "7 stale: read longer ago than asked"]);
    it.run(0);
    it.answer(8);
    expect(it.seen.at(-1)).toBe("8");
  });

  it("reads again after a refresh, also when a read was under way that may be older than the reason", () => {
    const it = setting();
    it.watch();
    it.run(0);
    it.answer(1);
    it.resource.refresh();
    it.run(0);
    it.resource.refresh();
    it.answer(2);
    it.run(0);
    expect(it.reads()).toBe(3);
  });

  it("takes news of a part without calling the rest fresh, and computes it only for whom it concerns", () => {
    const it = setting();
    let asked = 0;
    const latest = (value: number) => () => {
      asked++;
      return value;
    };
    it.resource.touch(latest(1));
    expect(it.resource.current).toMatchObject({ value: 0, at: -1 });
    const listener = it.watch();
    it.run(0);
    it.answer(7);
    it.resource.touch(latest(8));
    it.run(100);
    it.answer("down");
    it.resource.touch(latest(9));
    expect(it.seen).toEqual(["7", "8", "8 stale: down", "9 stale: down"]);
    listener.unsubscribe();
    asked = 0;
    for (let i = 10; i < 100; i++) it.resource.touch(latest(i));
    expect(asked).toBe(0);
    expect(it.resource.current.value).toBe(99);
    expect(asked).toBe(1);
  });

  it("tries a failed read again soon, then less and less often, however rarely it is due", () => {
    const it = setting(undefined, 3_600_000);
    it.watch();
    it.run(0);
    const waits = [5_000, 10_000, 20_000];
    for (const [index, wait] of waits.entries()) {
      it.answer("no");
      it.run(wait - 1);
      expect(it.reads()).toBe(index + 1);
      it.run(1);
      expect(it.reads()).toBe(index + 2);
    }
    it.answer(7);
    it.run(3_599_000 - 35_000);
    expect(it.reads()).toBe(4);
  });

  it("that keeps for ever is read once, again when that failed, and again only when somebody asks", () => {
    const it = setting(undefined, Number.POSITIVE_INFINITY);
    it.watch();
    it.run(0);
    it.answer("no");
    it.run(5_000);
    it.answer(7);
    expect(it.clock.pending).toBe(0);
    it.run(1e12);
    expect(it.seen).toEqual(["0 stale: no", "7"]);
    it.resource.refresh();
    it.run(0);
    it.answer(8);
    it.run(1e12);
    expect([it.seen.at(-1), it.reads(), it.clock.pending]).toEqual(["8", 3, 0]);
  });

  it("that other news keeps up while nobody listens is not read for who comes back", () => {
    let kept = true;
    const it = setting(undefined, 100, () => kept);
    const come = () => it.watch();
    const first = come();
    it.run(0);
    it.answer(7);
    first.unsubscribe();
    it.run(10_000);
    it.resource.touch(() => 8);
    const second = come();
    it.run(99);
    expect([it.seen, it.reads()]).toEqual([["7", "8"], 1]);
    it.run(1);
    expect(it.reads()).toBe(2);
    it.answer(9);
    second.unsubscribe();
    // A read that was asked for meanwhile is still owed.
    it.resource.refresh();
    it.run(10);
    const third = come();
    it.run(0);
    expect(it.reads()).toBe(3);
    it.answer("down");
    third.unsubscribe();
    // What could not be read is not known, whoever keeps it up.
    it.run(10_000);
    come().unsubscribe();
    kept = false;
    come();
    it.run(0);
    expect([it.seen.slice(2), it.reads()]).toEqual([["9", "9", "9 stale: down", "9 stale: down", "9 stale: down"], 4]);
  });

  it("asks its age anew for every plan, so that it may change while it runs", () => {
    let age = 100;
    const it = setting(undefined, () => age);
    it.watch();
    it.run(0);
    it.answer(1);
    it.run(100);
    expect(it.reads()).toBe(2);
    age = 1_000;
    it.answer(2);
    it.run(900);
    expect(it.reads()).toBe(2);
    it.run(100);
    expect(it.reads()).toBe(3);
  });

  it("says at once that it is doubted, and reads again", () => {
    const it = setting();
    it.watch();
    it.run(0);
    it.answer(7);
    it.run(10);
    it.resource.doubt("pushes have stopped");
    expect(it.seen).toEqual(["7", "7 stale: pushes have stopped"]);
    it.run(0);
    expect(it.reads()).toBe(2);
    it.answer(8);
    expect(it.seen.at(-1)).toBe("8");
  });

  it("is not doubted before it was read", () => {
    const it = setting();
    it.resource.doubt("pushes have stopped");
    it.watch();
    expect(it.seen).toEqual([]);
  });

  it("is doubted still when another engine's answer is older than the doubt, until it is read anew", () => {
    const setup = setting();
    setup.watch();
    setup.run(0);
    setup.answer(1);
    setup.run(100);
    setup.resource.doubt("pushes have stopped");
    setup.run(5);
    const shared = setup.open.shift();
    shared?.next({ kind: "value", value: 2, ageMs: 50 });
    shared?.complete();
    expect(setup.seen.at(-1)).toBe("2 stale: pushes have stopped");
    setup.run(0);
    setup.answer(3);
    expect(setup.seen.at(-1)).toBe("3");
  });
});
