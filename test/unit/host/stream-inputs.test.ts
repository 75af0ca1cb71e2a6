/** A strategy returns a stream of any kind, and it ends with the strategy. */
import { NEVER, Observable } from "rxjs";
import { Observable as OtherObservable } from "rxjs-lowest";
import { describe, expect, it } from "vitest";
import type { WantedOrder } from "../../../src/index.ts";
import { calm, far, run, stored, strategy } from "../../support/harness/backtest.ts";

const dir = stored(calm(5));
type Set = readonly WantedOrder[];
const set: Set = [far()];

/** What ended it, in order. */
const ended: string[] = [];
const note = (what: string) => () => {
  ended.push(what);
};

/** As browsers have it: no `pipe`, no symbol, ended by a signal. */
const platform = {
  subscribe: ({ next }: { next?: (value: Set) => void }, options?: { readonly signal: AbortSignal }): void => {
    options?.signal.addEventListener("abort", note("signal"));
    next?.(set);
  },
};

/** As a later RxJS may have it: no `pipe`, and a subscription. */
const withoutPipe = {
  subscribe: ({ next }: { next?: (value: Set) => void }) => {
    next?.(set);
    return { unsubscribe: note("unsubscribe") };
  },
};

const interop = {
  [Symbol.for("observable")]: undefined,
  "@@observable": () => new Observable<Set>((to) => to.next(set)),
};

const iterator = (): AsyncIterable<Set> => {
  let isFirst = true;
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        const value = { value: set, done: false } as const;
        if (!isFirst) return new Promise(() => undefined);
        isFirst = false;
        return Promise.resolve(value);
      },
      return: async () => {
        ended.push("return");
        return { value: undefined, done: true };
      },
    }),
  };
};

async function* generated(): AsyncGenerator<Set> {
  await new Promise((resolve) => {
    setTimeout(resolve, 1_000);
  });
  yield set;
  await new Promise(() => undefined);
}

describe("A strategy may return", () => {
  it.each<[string, () => unknown, readonly string[]]>([
    ["an observable", () => new Observable<Set>((to) => to.next(set)), []],
    ["an observable of another copy of RxJS", () => new OtherObservable<Set>((to) => to.next(set)), []],
    ["an observable of a library that knows the symbol", () => interop, []],
    ["an observable of the platform", () => platform, ["signal"]],
    ["an observable without pipe", () => withoutPipe, ["unsubscribe"]],
    ["an asynchronous iterable", iterator, ["return"]],
    ["an asynchronous generator", generated, []],
  ])("%s, whose set stays until it ends", async (_, wanted, endings) => {
    ended.length = 0;
    const report = await run(dir, [strategy("any", { wanted: wanted as () => Observable<Set> })]);
    expect(report.perStrategy["any"]).toMatchObject({ state: "running", placed: 1, canceled: 0 });
    expect(ended).toEqual(endings);
  });

  it.each<[string, () => unknown]>([
    ["a promise", async () => set],
    ["an iterable of sets", () => [set]],
  ])("%s, which completes and withdraws its set", async (_, wanted) => {
    const report = await run(dir, [strategy("any", { wanted: wanted as () => Observable<Set> })]);
    expect(report.perStrategy["any"]).toMatchObject({ state: "completed" });
  });

  it("a promise that is awaited before it trades", async () => {
    const report = await run(dir, [
      strategy("any", {
        run: async ({ orders }) => {
          await Promise.resolve();
          orders.place(far()).subscribe();
        },
      }),
      strategy("idle", { run: () => NEVER }),
    ]);
    expect(report.perStrategy["any"]).toMatchObject({ placed: 1, state: "completed" });
  });

  it("what fails, and fails with it", async () => {
    const failing = { subscribe: ({ error }: { error?: (why: unknown) => void }) => error?.(new Error("no luck")) };
    const report = await run(dir, [strategy("any", { run: () => failing })]);
    expect(report.perStrategy["any"]).toMatchObject({ state: "failed", error: "no luck" });
  });
});
