import { setTimeout as pause } from "node:timers/promises";
import {
  auditTime,
  bufferTime,
  concatMap,
  debounceTime,
  delay,
  from,
  interval,
  map,
  merge,
  Observable,
  of,
  Subject,
  Subscription,
  sampleTime,
  startWith,
  switchMap,
  take,
  throttleTime,
  timeInterval,
  timeout,
  timer,
  timestamp,
} from "rxjs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import {
  followPromises,
  guarded,
  inside,
  type Owner,
  outside,
  ownerNow,
  stretch,
  watchUnhandledRejections,
} from "../../../src/host/execution-context.ts";
import { owned } from "../../../src/host/owned-streams.ts";

const setup = (startAt = 1_000, followed = false) => {
  const clock = createVirtualClock(startAt);
  const failures: unknown[] = [];
  const owner: Owner = { clock, life: new Subscription(), fail: (error) => failures.push(error), followed };
  return { clock, owner, failures };
};

/** What a stream says and when, as milliseconds after the start. */
const timed = (make: () => Observable<unknown>, runMs = 1_000): readonly (readonly [number, unknown])[] => {
  const { clock, owner } = setup();
  const seen: [number, unknown][] = [];
  inside(owner, () => {
    make().subscribe({
      next: (value) => seen.push([clock.now() - 1_000, value]),
      error: (error: Error) => seen.push([clock.now() - 1_000, error.name]),
      complete: () => seen.push([clock.now() - 1_000, "end"]),
    });
  });
  clock.advanceTo(1_000 + runMs);
  return seen;
};

/** 0 at once, 1 after 30 ms, 2 after 60, 3 after 200. */
const bursts = (): Observable<number> =>
  merge(of(0), ...[30, 60, 200].map((ms, index) => timer(ms).pipe(map(() => index + 1))));

describe("Plain RxJS in an owner's code runs on the owner's clock", () => {
  it.each<[string, () => Observable<unknown>, readonly (readonly [number, unknown])[]]>([
    [
      "timer",
      () => timer(100),
      [
        [100, 0],
        [100, "end"],
      ],
    ],
    [
      "timer with a period",
      () => timer(50, 100).pipe(take(3)),
      [
        [50, 0],
        [150, 1],
        [250, 2],
        [250, "end"],
      ],
    ],
    [
      "timer at a date",
      () => timer(new Date(1_070)),
      [
        [70, 0],
        [70, "end"],
      ],
    ],
    [
      "interval",
      () => interval(100).pipe(take(2)),
      [
        [100, 0],
        [200, 1],
        [200, "end"],
      ],
    ],
    [
      "delay",
      () => of("a").pipe(delay(70)),
      [
        [70, "a"],
        [70, "end"],
      ],
    ],
    [
      "debounceTime",
      () => bursts().pipe(debounceTime(50)),
      [
        [110, 2],
        [200, 3],
        [200, "end"],
      ],
    ],
    [
      "throttleTime",
      () => bursts().pipe(throttleTime(50)),
      [
        [0, 0],
        [60, 2],
        [200, 3],
        [200, "end"],
      ],
    ],
    [
      "auditTime",
      () => bursts().pipe(auditTime(50)),
      [
        [50, 1],
        [110, 2],
        [250, 3],
        [250, "end"],
      ],
    ],
    [
      "sampleTime",
      () => bursts().pipe(sampleTime(100)),
      [
        [100, 2],
        [200, "end"],
      ],
    ],
    [
      "bufferTime",
      () => bursts().pipe(bufferTime(100)),
      [
        [100, [0, 1, 2]],
        [200, [3]],
        [200, "end"],
      ],
    ],
    ["timeout", () => timer(100).pipe(timeout(60)), [[60, "TimeoutError"]]],
    [
      "timestamp",
      () =>
        timer(100).pipe(
          timestamp(),
          map(({ timestamp: at }) => at),
        ),
      [
        [100, 1_100],
        [100, "end"],
      ],
    ],
    [
      "timeInterval",
      () =>
        interval(40).pipe(
          take(2),
          timeInterval(),
          map(({ interval: ms }) => ms),
        ),
      [
        [40, 40],
        [80, 40],
        [80, "end"],
      ],
    ],
    [
      "a timer in a timer",
      () => timer(10).pipe(switchMap(() => timer(10))),
      [
        [20, 0],
        [20, "end"],
      ],
    ],
    [
      "a timer started again",
      () => bursts().pipe(switchMap((value) => timer(50).pipe(map(() => value)))),
      [
        [110, 2],
        [250, 3],
        [250, "end"],
      ],
    ],
  ])("%s", (_, make, expected) => {
    expect(timed(make)).toEqual(expected);
  });
});

describe("An owner's time", () => {
  it("is not anybody else's", async () => {
    const { clock, owner } = setup();
    inside(owner, () => timer(5).subscribe());
    const before = Date.now();
    const seen: number[] = [];
    const watching = of(0)
      .pipe(delay(5), timestamp())
      .subscribe(({ timestamp: at }) => seen.push(at));
    expect(clock.pending).toBe(1);
    await pause(20);
    watching.unsubscribe();
    expect(seen).toHaveLength(1);
    expect(seen[0]).toBeGreaterThanOrEqual(before);
  });

  it("does not mix with another engine's, nested and side by side", () => {
    const a = setup(0);
    const b = setup(500);
    const seen: string[] = [];
    inside(a.owner, () => {
      timer(10).subscribe(() => seen.push(`a ${a.clock.now()}`));
      inside(b.owner, () => timer(10).subscribe(() => seen.push(`b ${b.clock.now()}`)));
      timer(20).subscribe(() => {
        seen.push(`a ${a.clock.now()}`);
        b.clock.advanceTo(600);
        // Moving the other clock leaves this time as it was.
        timer(5).subscribe(() => seen.push(`a ${a.clock.now()}`));
      });
    });
    a.clock.advanceTo(100);
    expect(seen).toEqual(["a 10", "a 20", "b 510", "a 25"]);
  });

  it("goes on after await, whoever moves the clock", async () => {
    const { clock, owner } = setup(0);
    const seen: number[] = [];
    inside(owner, () => {
      from([1, 2])
        .pipe(
          concatMap(async (value) => {
            await Promise.resolve();
            await new Promise((resolve) => timer(100).subscribe(resolve));
            return value;
          }),
          concatMap((value) => timer(50).pipe(map(() => value))),
        )
        .subscribe((value) => seen.push(value, clock.now()));
    });
    for (let at = 10; at <= 400; at += 10) {
      await pause(0);
      clock.advanceTo(at);
    }
    expect(seen).toEqual([1, 150, 2, 250]);
  });

  it("ends with the owner: no timer of its own runs any more", () => {
    const { clock, owner } = setup(0);
    const seen: number[] = [];
    inside(owner, () => interval(10).subscribe((tick) => seen.push(tick)));
    clock.advanceTo(25);
    owner.life.unsubscribe();
    expect(clock.pending).toBe(0);
    clock.advanceTo(100);
    expect(seen).toEqual([0, 1]);
  });

  it("leaves the engine's own code outside", () => {
    const { owner } = setup(0);
    let at = 0;
    inside(owner, () =>
      outside(() =>
        of(0)
          .pipe(startWith(0), timestamp())
          .subscribe(({ timestamp: now }) => {
            at = now;
          }),
      ),
    );
    expect(at).toBeGreaterThan(1_600_000_000_000);
  });
});

describe("A throw in an owner's code:", () => {
  it.each<[string, () => unknown]>([
    [
      "at once",
      () => {
        throw new Error("at once");
      },
    ],
    [
      "in a subscriber",
      () =>
        of(1).subscribe(() => {
          throw new Error("in a subscriber");
        }),
    ],
    [
      "in a timer",
      () =>
        timer(10).subscribe(() => {
          throw new Error("in a timer");
        }),
    ],
    [
      "in an operator nobody listens to for errors",
      () =>
        timer(10)
          .pipe(
            map(() => {
              throw new Error("in an operator nobody listens to for errors");
            }),
          )
          .subscribe(),
    ],
  ])("%s reaches the owner and nobody else", (what, work) => {
    const { clock, owner, failures } = setup(0);
    guarded(owner, work, undefined);
    clock.advanceTo(100);
    expect(failures).toEqual([new Error(what)]);
  });

  it("after await reaches the owner too", async () => {
    const { owner, failures } = setup(0);
    guarded(
      owner,
      () => {
        void (async () => {
          await Promise.resolve();
          of(1).subscribe(() => {
            throw new Error("late");
          });
        })();
      },
      undefined,
    );
    await pause(0);
    expect(failures).toEqual([new Error("late")]);
  });
});

describe("The engine's streams as an owner gets them", () => {
  it("tells a subscriber that is being completed nothing more", () => {
    const { owner } = setup();
    const seen: number[] = [];
    let tell: (value: number) => void = () => undefined;
    let end: () => void = () => undefined;
    const source$ = new Observable<number>((subscriber) => {
      tell = (value) => {
        subscriber.next(value);
      };
      end = () => {
        subscriber.complete();
      };
    });
    owned(owner, source$).subscribe({
      next: (value) => seen.push(value),
      complete: () => {
        tell(2);
      },
    });
    tell(1);
    end();
    expect(seen).toEqual([1]);
  });

  it("let go of their source when the subscriber does and when the owner ends", () => {
    const { owner } = setup();
    const source$ = new Subject<number>();
    const first = owned(owner, source$).subscribe();
    const seen: number[] = [];
    owned(owner, source$)
      .pipe(take(2))
      .subscribe((value) => seen.push(value));
    source$.next(1);
    first.unsubscribe();
    expect(source$.observed).toBe(true);
    source$.next(2);
    expect(source$.observed).toBe(false);
    expect(seen).toEqual([1, 2]);
    owned(owner, source$).subscribe();
    owner.life.unsubscribe();
    expect(source$.observed).toBe(false);
    owned(owner, source$).subscribe();
    expect(source$.observed).toBe(false);
  });

  it("fail the owner whose subscriber throws, and go on for the others", () => {
    const [a, b] = [setup(), setup()];
    const source$ = new Subject<number>();
    const seen: number[] = [];
    owned(a.owner, source$).subscribe(() => {
      throw new Error("no luck");
    });
    owned(b.owner, source$).subscribe((value) => seen.push(value));
    source$.next(1);
    source$.next(2);
    expect(a.failures).toEqual([new Error("no luck"), new Error("no luck")]);
    expect([b.failures, seen]).toEqual([[], [1, 2]]);
  });
});

describe.each([
  ["who are carried on by the async context", false, false],
  ["whose promises are followed", true, true],
  ["of whom one is followed", true, false],
])("A stretch of values for several owners %s", (_, ...followed) => {
  let unfollow: () => void = () => undefined;
  beforeEach(() => {
    unfollow = followPromises();
  });
  afterEach(() => {
    unfollow();
  });
  /** Whose code runs now and after a promise has settled. */
  const story = () => {
    const [a, b] = [setup(0, followed[0]), setup(0, followed[1])];
    const names = new Map([
      [a.owner, "a"],
      [b.owner, "b"],
    ]);
    const said: string[] = [];
    const whose = (): string => {
      const owner = ownerNow();
      return owner === undefined ? "engine" : (names.get(owner) ?? "stranger");
    };
    const settled = async (tell: () => void): Promise<void> => {
      await Promise.resolve();
      tell();
    };
    const ask = (place: string): void => {
      const before = whose();
      void settled(() => said.push(`${place}: ${before}, later ${whose()}`));
    };
    return { a: a.owner, b: b.owner, failures: a.failures, said, whose, ask };
  };

  it("gives each value to its owner, also across await, and the engine its own code back", async () => {
    const { a, b, said, whose, ask } = story();
    stretch(() => {
      for (const owner of [a, a, b, a]) guarded(owner, ask, "value");
      expect(whose()).toBe("engine");
    });
    ask("after");
    await pause(0);
    expect(said).toEqual(
      ["a", "a", "b", "a"].map((name) => `value: ${name}, later ${name}`).concat("after: engine, later engine"),
    );
  });

  it("keeps apart what the engine begins on behalf of an owner, and what that owner goes on with", async () => {
    const { a, b, said, ask } = story();
    stretch(() => {
      guarded(
        a,
        () => {
          outside(() => {
            ask("engine for a");
            guarded(b, ask, "b within");
            ask("engine again");
          });
          ask("a goes on");
        },
        undefined,
      );
      outside(() => {
        ask("engine between");
      });
    });
    await pause(0);
    expect(said).toEqual([
      "engine for a: engine, later engine",
      "b within: b, later b",
      "engine again: engine, later engine",
      "a goes on: a, later a",
      "engine between: engine, later engine",
    ]);
  });

  it("goes on after an owner threw, and ends as the engine's although it was thrown out of", async () => {
    const { a, b, failures, said, whose, ask } = story();
    const fail = (): void => {
      throw new Error("no luck");
    };
    expect(() =>
      stretch(() => {
        guarded(a, fail, undefined);
        guarded(b, ask, "value");
        expect(whose()).toBe("engine");
        inside(b, fail);
      }),
    ).toThrow("no luck");
    expect(failures).toEqual([new Error("no luck")]);
    ask("after");
    await pause(0);
    expect(said).toEqual(["value: b, later b", "after: engine, later engine"]);
  });

  it("may lie within an owner's own code, which goes on as that owner", async () => {
    const { a, b, said, ask } = story();
    inside(a, () => {
      stretch(() => {
        guarded(b, ask, "value");
      });
      ask("a goes on");
    });
    inside(a, () => {
      guarded(b, ask, "no stretch");
      ask("a goes on");
    });
    await pause(0);
    const goesOn = "a goes on: a, later a";
    expect(said).toEqual(["value: b, later b", goesOn, "no stretch: b, later b", goesOn]);
  });

  it("goes on as each owner through whatever promises are made of", async () => {
    const { a, b, said, whose } = story();
    const older = Promise.resolve();
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const say = (what: string) => said.push(`${what} ${whose()}`);
    const numbers = async function* () {
      yield 1;
      say("generator");
      yield 2;
    };
    const go = async (): Promise<void> => {
      await older;
      say("older");
      await Promise.all([older, opened, Promise.reject(new Error("no")).catch(() => say("catch"))]);
      say("all");
      for await (const value of numbers()) say(`number ${value}`);
      // biome-ignore lint/suspicious/noThenProperty: what others' promises look like.
      await { then: (resolve: (value: number) => void) => resolve(say("thenable")) };
      await new Promise((resolve) => setImmediate(resolve));
      say("turn");
    };
    stretch(() => {
      guarded(a, () => void go(), undefined);
      guarded(b, () => void older.then(() => say("then")).finally(() => say("finally")), undefined);
      guarded(b, () => open(), undefined);
    });
    say("outside");
    await pause(20);
    const of = (name: string, ...what: readonly string[]) => what.map((one) => `${one} ${name}`);
    expect(said.toSorted()).toEqual(
      [
        ...of("a", "older", "catch", "all", "number 1", "generator", "number 2", "thenable", "turn"),
        ...of("b", "then", "finally"),
        "outside engine",
      ].toSorted(),
    );
  });
});

describe("Owners whose promises are followed", () => {
  it("are blamed for what they leave unhandled, as long as anybody follows them and afterwards", async () => {
    watchUnhandledRejections();
    const { owner, failures } = setup(0, true);
    const unfollow = [followPromises(), followPromises()];
    const leave = (message: string) =>
      guarded(owner, () => void (async () => Promise.reject(new Error(message)))(), undefined);
    leave("first");
    await pause(5);
    unfollow[0]?.();
    leave("second");
    unfollow[1]?.();
    await pause(5);
    expect(failures).toEqual([new Error("first"), new Error("second")]);
    expect(ownerNow()).toBeUndefined();
  });
});
