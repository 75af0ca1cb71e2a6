import { Observable, of, Subject, toArray } from "rxjs";
import { describe, expect, it } from "vitest";
import { type Indicator, streamed } from "../../../strategies/streamed.ts";

/** The mean of the last `length` values, null until there are so many, as libraries have it. */
const mean = (length: number): Indicator<number, number> => {
  const values: number[] = [];
  return {
    add: (value) => {
      values.push(value);
      if (values.length > length) values.shift();
      return values.length < length ? null : values.reduce((sum, one) => sum + one, 0) / length;
    },
  };
};

const results = (source: Observable<unknown>): unknown[] => {
  const seen: unknown[] = [];
  source
    .pipe(toArray())
    .subscribe({ next: (all) => seen.push(...(all as unknown[])), error: (error: unknown) => seen.push(error) });
  return seen;
};

describe("An indicator made a stream", () => {
  it("is silent until it is stable, then answers every value", () => {
    expect(results(of(1, 2, 3, 4).pipe(streamed(() => mean(3))))).toEqual([2, 3]);
  });

  it("takes nothing for not ready, and zero for a result", () => {
    const signs: Indicator<number, number> = { add: (value) => (value < 0 ? undefined : 0) };
    expect(results(of(-1, 5, -2, 7).pipe(streamed(() => signs)))).toEqual([0, 0]);
  });

  it("begins anew for each subscriber", () => {
    const values$ = new Subject<number>();
    const means$ = values$.pipe(streamed(() => mean(2)));
    const [first, second]: [number[], number[]] = [[], []];
    means$.subscribe((value) => first.push(value));
    values$.next(1);
    means$.subscribe((value) => second.push(value));
    values$.next(3);
    values$.next(5);
    expect([first, second]).toEqual([[2, 4], [4]]);
  });

  it("passes an end and an error on, and lets go of its source", () => {
    const failed = new Error("no more");
    expect(
      results(new Observable((subscriber) => subscriber.error(failed)).pipe(streamed(() => mean(1) as never))),
    ).toEqual([failed]);
    const values$ = new Subject<number>();
    const watching = values$.pipe(streamed(() => mean(1))).subscribe();
    watching.unsubscribe();
    expect(values$.observed).toBe(false);
    const ended: string[] = [];
    values$.pipe(streamed(() => mean(1))).subscribe({ complete: () => ended.push("end") });
    values$.complete();
    expect(ended).toEqual(["end"]);
  });

  it("hands what an indicator throws to its subscriber", () => {
    const odd: Indicator<number, number> = {
      add: () => {
        throw new Error("odd value");
      },
    };
    expect(results(of(1).pipe(streamed(() => odd)))).toEqual([new Error("odd value")]);
  });
});
