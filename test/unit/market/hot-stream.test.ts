/** A hot stream delivers in order to everybody, whatever subscribers do meanwhile. */
import {
  filter,
  firstValueFrom,
  map,
  Observable,
  pairwise,
  Subject,
  type Subscription,
  share,
  take,
  toArray,
} from "rxjs";
import { describe, expect, it } from "vitest";
import { HotStream } from "../../../src/market/hot-stream.ts";

const listening = <T>(stream: HotStream<T>): T[] => {
  const seen: T[] = [];
  stream.subscribe((value) => {
    seen.push(value);
  });
  return seen;
};

describe("A hot stream", () => {
  it("is an observable that operators accept", () => {
    const stream = new HotStream<number>();
    const seen: unknown[] = [];
    stream
      .pipe(
        filter((value) => value % 2 === 0),
        map((value) => value * 10),
        pairwise(),
      )
      .subscribe((pair) => seen.push(pair));
    for (const value of [1, 2, 3, 4, 6]) stream.next(value);
    expect(stream).toBeInstanceOf(Observable);
    expect(seen).toEqual([
      [20, 40],
      [40, 60],
    ]);
  });

  it("is observed exactly while somebody is subscribed", () => {
    const stream = new HotStream<number>();
    const states = [stream.observed];
    const subscription = stream.subscribe();
    states.push(stream.observed);
    subscription.unsubscribe();
    states.push(stream.observed);
    stream.pipe(take(1)).subscribe();
    states.push(stream.observed);
    stream.next(1);
    states.push(stream.observed);
    expect(states).toEqual([false, true, false, true, false]);
  });

  it("completes its subscribers once and late ones at once, and emits nothing after", async () => {
    const stream = new HotStream<number>();
    let completions = 0;
    const observer = { complete: () => completions++ };
    const all = firstValueFrom(stream.pipe(toArray()));
    stream.subscribe(observer);
    stream.next(1);
    stream.complete();
    stream.complete();
    stream.next(2);
    const late = stream.subscribe(observer);
    expect([completions, late.closed, stream.observed, await all]).toEqual([2, true, false, [1]]);
  });

  it("lets the others run on when one throws, and reports it", () => {
    const errors: unknown[] = [];
    const stream = new HotStream<number>({ onError: (error) => errors.push(error) });
    const before = listening(stream);
    stream.subscribe((value) => {
      throw new Error(`cannot take ${value}`);
    });
    const after = listening(stream);
    stream.next(1);
    stream.next(2);
    expect([before, after]).toEqual([
      [1, 2],
      [1, 2],
    ]);
    expect(errors.map(String)).toEqual(["Error: cannot take 1", "Error: cannot take 2"]);
  });

  it("reports what a complete handler throws and completes the others", () => {
    const errors: unknown[] = [];
    const stream = new HotStream<number>({ onError: (error) => errors.push(error) });
    let completed = false;
    stream.subscribe({
      complete: () => {
        throw new Error("no end");
      },
    });
    stream.subscribe({ complete: () => (completed = true) });
    stream.complete();
    expect([completed, errors.map(String)]).toEqual([true, ["Error: no end"]]);
  });

  it("ends a chain whose operator throws, and that chain alone", () => {
    const stream = new HotStream<number>();
    const errors: unknown[] = [];
    stream
      .pipe(
        map(() => {
          throw new Error("bad map");
        }),
      )
      .subscribe({ error: (error) => errors.push(error) });
    const other = listening(stream);
    stream.next(1);
    stream.next(2);
    expect([errors.length, other]).toEqual([1, [1, 2]]);
  });

  it("shows every subscriber a value caused by a value after the one that caused it", () => {
    const stream = new HotStream<number>();
    const first = listening(stream);
    stream.subscribe((value) => {
      if (value < 3) stream.next(value + 1);
    });
    const last = listening(stream);
    stream.next(1);
    expect([first, last]).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ]);
  });

  it("delivers what was already waiting when it is completed from within", () => {
    const stream = new HotStream<number>();
    stream.subscribe((value) => {
      if (value !== 1) return;
      stream.next(2);
      stream.complete();
      stream.next(3);
    });
    const seen: (number | string)[] = [];
    stream.subscribe({ next: (value) => seen.push(value), complete: () => seen.push("end") });
    stream.next(1);
    expect(seen).toEqual([1, 2, "end"]);
  });

  it("gives who subscribes during a value only the values after it", () => {
    const stream = new HotStream<number>();
    let late: number[] | undefined;
    stream.subscribe(() => {
      late ??= listening(stream);
    });
    stream.next(1);
    stream.next(2);
    expect(late).toEqual([2]);
  });

  it("spares who was unsubscribed during a value", () => {
    const stream = new HotStream<number>();
    const seen: number[] = [];
    let second: Subscription | undefined;
    stream.subscribe(() => second?.unsubscribe());
    second = stream.subscribe((value) => seen.push(value));
    stream.next(1);
    expect(seen).toEqual([]);
  });

  it("starts a new subscriber with the latest, if there is one", () => {
    let latest: number | undefined;
    const stream = new HotStream<number>({ latest: () => latest });
    const early = listening(stream);
    latest = 7;
    const late = listening(stream);
    stream.next(8);
    expect([early, late]).toEqual([[8], [7, 8]]);
  });

  it("does not keep a subscriber whom the latest value satisfied", () => {
    const stream = new HotStream<number>({ latest: () => 7 });
    stream.pipe(take(1)).subscribe();
    expect(stream.observed).toBe(false);
  });

  it("can be shared and fed into a subject", () => {
    const stream = new HotStream<number>();
    const shared = stream.pipe(share());
    const subject = new Subject<number>();
    const seen: number[] = [];
    subject.subscribe((value) => seen.push(value));
    shared.subscribe(subject);
    shared.subscribe((value) => seen.push(-value));
    stream.next(5);
    expect(seen).toEqual([5, -5]);
  });
});
