/** Who leaves next, and when: the scheduler with the real ledger on a clock that is only told. */
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createContract } from "../../../src/contract/contract.ts";
import type { Transport, WireRequest, WireResponse } from "../../../src/contract/transport.ts";
import { EventLog } from "../../../src/journal/event-log.ts";
import type { ActionClass, Event } from "../../../src/journal/events.ts";
import type { Account, Action, Ending } from "../../../src/scheduler/action.ts";
import { layersOf } from "../../../src/scheduler/quota/layers.ts";
import { createLedger } from "../../../src/scheduler/quota/ledger.ts";
import { createScheduler } from "../../../src/scheduler/scheduler.ts";

const noon = 1_767_600_000_000;
const account: Account = { uid: "u", ip: "home", keys: ["k"] };

interface Sent {
  readonly name: string;
  readonly key: string | undefined;
  readonly at: number;
}

interface Options extends Partial<Parameters<typeof createScheduler>[0]> {
  /** Milliseconds until an answer; several calls can then be in flight. */
  readonly answerMs?: number;
  readonly cold?: boolean;
}

const stage = (options: Options = {}) => {
  const clock = createVirtualClock(noon + 500);
  const ledger = createLedger({
    layers: layersOf(createContract()),
    startedAt: clock.now(),
    quietMs: 0,
    clock: { dateSlackMs: 0, driftPpm: 0 },
  });
  const sent: Sent[] = [];
  const events: Event[] = [];
  const journal = new EventLog(() => clock.now());
  journal.attach((event) => events.push(event));
  const respond = (): WireResponse => ({
    status: 200,
    headers: { date: new Date(clock.now()).toUTCString() },
    body: undefined,
  });
  const transport: Transport = (request, sink) => {
    sent.push({ name: request.path, key: request.key, at: clock.now() - noon });
    const answer = (): void => {
      sink.response(respond());
    };
    if (options.answerMs === undefined) answer();
    else clock.setTimer(clock.now() + options.answerMs, answer);
  };
  const scheduler = createScheduler({ clock, ledger, journal, transport, ...options });
  if (options.cold !== true) {
    // The service's time is known to the millisecond, and the account is open.
    const ticket = ledger.spend(
      { endpoint: "instruments", weight: 0, elements: 1, ip: "home", uid: "u", key: undefined },
      clock.now(),
    );
    ledger.clock.observeDate(noon - 1, noon - 1, noon - 1_000);
    ledger.clock.observeDate(noon, noon, noon);
    ledger.settle(ticket, respond(), clock.now());
  }
  const endings: Record<string, Ending> = {};
  const built: string[] = [];
  const submit = (name: string, kind: ActionClass = "read", given: Partial<Action> = {}) =>
    scheduler.submit({
      endpoint: kind === "cancel" || kind === "emergency" ? "cancelBatch" : "getOrder",
      class: kind,
      owner: "one",
      weight: kind === "cancel" || kind === "emergency" ? 15 : 5,
      account,
      build: (key): WireRequest => {
        built.push(name);
        return { endpoint: "getOrder", method: "GET", path: name, query: {}, body: undefined, key };
      },
      done: (ending) => {
        endings[name] = ending;
      },
      ...given,
    });
  const names = (): string[] => sent.map(({ name }) => name);
  /** Uses up what this second gives, so that what follows has to queue; those calls are not listed. */
  const fill = (kind: ActionClass = "emergency", calls = 10): void => {
    for (let i = 0; i < calls; i++) submit("filler", kind, { weight: 1 });
    sent.length = 0;
    built.length = 0;
  };
  return { clock, ledger, scheduler, sent, events, endings, built, submit, names, fill };
};

describe("The scheduler's order:", () => {
  it("exits strictly by class, then the rest by class among equals in age", () => {
    const { clock, submit, names, fill } = stage();
    fill();
    for (const kind of ["backfill", "read", "place", "resolve", "close", "cancel", "emergency"] as const)
      submit(kind, kind);
    expect(names()).toEqual([]);
    clock.advanceTo(noon + 10_000);
    expect(names()).toEqual(["emergency", "cancel", "close", "resolve", "place", "read", "backfill"]);
  });

  it("in the order of submission within a class", () => {
    const { clock, submit, names, fill } = stage();
    fill();
    for (const name of ["a", "b", "c"]) submit(name, "read", { owner: name });
    clock.advanceTo(noon + 2_000);
    expect(names()).toEqual(["a", "b", "c"]);
  });

  it("a read that has waited long enough passes fresh placements", () => {
    const { clock, submit, names, ledger } = stage();
    const exhausting = ledger.spend(
      { endpoint: "getOrder", weight: 1_190, elements: 1, ip: "home", uid: "u", key: "other" },
      clock.now(),
    );
    ledger.settle(exhausting, { status: 200, headers: {} }, clock.now());
    submit("old read", "read");
    clock.advanceTo(noon + 9_000);
    submit("place at 9 s", "place", { owner: "two" });
    clock.advanceTo(noon + 12_000);
    submit("place at 12 s", "place", { owner: "three" });
    clock.advanceTo(noon + 59_000);
    expect(names()).toEqual([]);
    // A place is worth ten seconds more than a read.
    clock.advanceTo(noon + 70_000);
    expect(names()).toEqual(["place at 9 s", "old read", "place at 12 s"]);
  });

  it("an owner who queues much does not push back one who queues little", () => {
    const { clock, submit, names, fill } = stage();
    fill();
    for (let i = 0; i < 30; i++) submit(`greedy ${i}`, "read", { owner: "greedy" });
    submit("modest", "read", { owner: "modest" });
    clock.advanceTo(noon + 10_000);
    expect(names().indexOf("modest")).toBeLessThanOrEqual(1);
  });

  it("owners share by the parts they were given", () => {
    const { clock, submit, names, fill } = stage({ shares: { big: 3 } });
    fill();
    for (let i = 0; i < 40; i++) {
      submit("big", "read", { owner: "big" });
      submit("small", "read", { owner: "small" });
    }
    clock.advanceTo(noon + 3_100);
    const big = names().filter((name) => name === "big").length;
    expect(big / names().length).toBeGreaterThan(0.65);
    expect(big).toBeLessThan(names().length);
  });

  it("with a hundred thousand waiting, the urgent one is next", () => {
    const { clock, scheduler, submit, names, fill } = stage();
    fill();
    for (let i = 0; i < 100_000; i++) submit("read", "read");
    expect(scheduler.queued).toBe(100_000);
    submit("urgent", "emergency");
    clock.advanceTo(noon + 1_000);
    expect(names()[0]).toBe("urgent");
  });
});

describe("The scheduler and weights:", () => {
  it("a light call passes a heavy one only when the minute cannot hold the heavy one any more", () => {
    const { clock, submit, names, ledger } = stage();
    ledger.spend({ endpoint: "getOrder", weight: 1_100, elements: 1, ip: "home", uid: "u", key: "other" }, clock.now());
    clock.advanceTo(noon + 59_700);
    submit("heavy", "place", { weight: 150, endpoint: "placeOrder" });
    submit("light", "read", { weight: 5 });
    expect(names()).toEqual(["light"]);
  });

  it("it waits behind a heavy one that only the reserve keeps back", () => {
    const { clock, submit, names, ledger } = stage();
    ledger.spend({ endpoint: "getOrder", weight: 1_000, elements: 1, ip: "home", uid: "u", key: "other" }, clock.now());
    clock.advanceTo(noon + 30_500);
    submit("heavy", "place", { weight: 180, endpoint: "placeOrder" });
    submit("light", "read", { weight: 5 });
    expect(names()).toEqual([]);
  });

  it("a cancel leaves while the ordinary share is exhausted", () => {
    const { submit, names } = stage();
    for (let i = 0; i < 20; i++) submit("place", "place", { weight: 140, endpoint: "placeOrder" });
    const ordinary = names().length;
    expect(ordinary).toBeLessThan(10);
    submit("cancel", "cancel");
    expect(names().slice(ordinary)).toEqual(["cancel"]);
  });

  it("the second key is used when the first one's second is full", () => {
    const { submit, sent } = stage();
    for (let i = 0; i < 20; i++) submit(`c${i}`, "cancel", { weight: 1, account: { ...account, keys: ["k", "l"] } });
    expect(sent.map(({ key }) => key)).toEqual([...Array<string>(10).fill("k"), ...Array<string>(10).fill("l")]);
  });

  it("a call without a key is sent unsigned and charged to its address only", () => {
    const { submit, sent, ledger } = stage();
    submit("public", "read", { account: { ...account, keys: [] } });
    expect(sent).toMatchObject([{ name: "public", key: undefined }]);
    expect(ledger.state(noon + 500).map(({ layer }) => layer)).not.toContain("key");
  });
});

describe("A late decision:", () => {
  it("the request is built once, when its slot has opened", () => {
    const { clock, submit, built, fill } = stage();
    fill();
    submit("a");
    expect(built).toEqual([]);
    clock.advanceTo(noon + 5_000);
    expect(built).toEqual(["a"]);
  });

  it("one that is no longer needed costs nothing and lets the next one go", () => {
    const { clock, submit, names, fill, endings, ledger } = stage();
    fill();
    submit("gone", "read", { build: () => undefined });
    submit("next");
    clock.advanceTo(noon + 1_100);
    expect(names()).toEqual(["next"]);
    expect(endings["gone"]).toEqual({ kind: "dropped", reason: "withdrawn" });
    expect(ledger.state(noon + 1_100).find(({ layer }) => layer === "key")?.used).toBe(1);
  });

  it("one withdrawn before it was sent never leaves and is never built", () => {
    const { clock, scheduler, submit, built, fill, endings } = stage();
    fill();
    submit("a")();
    expect(scheduler.queued).toBe(0);
    clock.advanceTo(noon + 5_000);
    expect([built, endings["a"]]).toEqual([[], undefined]);
  });

  it("withdrawing after it was sent takes nothing back", () => {
    const { clock, scheduler, submit, endings } = stage({ answerMs: 50 });
    submit("a")();
    expect(scheduler.inFlight).toBe(1);
    clock.advanceTo(noon + 1_000);
    expect([scheduler.inFlight, endings["a"]]).toEqual([0, undefined]);
  });

  it("a deadline drops what still waits and says so", () => {
    const { clock, submit, names, endings, events, fill } = stage();
    fill();
    submit("late", "read", { deadlineAt: noon + 900 });
    clock.advanceTo(noon + 899);
    expect(endings["late"]).toBe(undefined);
    clock.advanceTo(noon + 5_000);
    expect(names()).toEqual([]);
    expect(endings["late"]).toEqual({ kind: "dropped", reason: "deadline" });
    expect(events.filter(({ type }) => type === "action.dropped")).toMatchObject([
      { at: noon + 900, reason: "deadline" },
    ]);
  });

  it("a deadline after the sending does nothing", () => {
    const { clock, submit, endings } = stage({ answerMs: 500 });
    submit("a", "read", { deadlineAt: noon + 700 });
    clock.advanceTo(noon + 2_000);
    expect(endings["a"]?.kind).toBe("answered");
  });
});

describe("The end of an action:", () => {
  it("an answer tells how long it waited and how long it took", () => {
    const { clock, submit, endings, fill } = stage({ answerMs: 40 });
    fill();
    clock.advanceTo(noon + 800);
    submit("a");
    clock.advanceTo(noon + 3_000);
    expect(endings["a"]).toMatchObject({ kind: "answered", waitedMs: 200, elapsedMs: 40 });
  });

  it.each<[string, Transport]>([
    ["fails", (_, sink) => sink.failed(new Error("line dead"))],
    [
      "throws",
      () => {
        throw new Error("line dead");
      },
    ],
  ])("a transport that %s leaves the call lost, charged and settled", (_, transport) => {
    const { scheduler, submit, endings, ledger } = stage({ transport });
    submit("a");
    expect(endings["a"]).toEqual({ kind: "lost", message: "line dead", waitedMs: 0 });
    expect(scheduler.inFlight).toBe(0);
    expect(ledger.state(noon + 500).find(({ layer }) => layer === "key")?.used).toBe(1);
  });

  it("a second word of a transport is ignored", () => {
    const answer: WireResponse = { status: 200, headers: {}, body: undefined };
    const twice: Transport = (_, sink) => {
      sink.response(answer);
      sink.response(answer);
      sink.failed(new Error("late"));
    };
    const ended: string[] = [];
    const { scheduler, submit } = stage({ transport: twice });
    submit("a", "read", { done: ({ kind }) => ended.push(kind) });
    expect([ended, scheduler.inFlight]).toEqual([["answered"], 0]);
  });

  it("nothing is sent after the end, and no answer is taken in", () => {
    const { clock, scheduler, submit, names, endings, ledger } = stage({ answerMs: 40 });
    submit("a");
    scheduler.close();
    submit("b");
    clock.advanceTo(noon + 5_000);
    expect(names()).toEqual(["a"]);
    expect(endings).toEqual({});
    expect(ledger.state(clock.now()).find(({ layer }) => layer === "uid")?.used).toBe(10);
  });

  it("a full queue refuses, and says who fills it", () => {
    const { scheduler, submit, fill } = stage({ queueMax: 3 });
    fill("emergency", 10);
    for (let i = 0; i < 3; i++) submit(`r${i}`);
    expect(() => submit("more", "read", { owner: "greedy" })).toThrow(
      'The request queue holds 3 actions; "greedy" adds faster than the quota allows. Ask less often.',
    );
    expect(scheduler.queued).toBe(3);
  });

  it("an action submitted while another ends is sent in its turn", () => {
    const { scheduler, submit, names } = stage();
    const chain = (left: number): void => {
      scheduler.submit({
        endpoint: "getOrder",
        class: "read",
        owner: "one",
        weight: 1,
        account,
        build: (key) => ({
          endpoint: "getOrder",
          method: "GET",
          path: `chain ${left}`,
          query: {},
          body: undefined,
          key,
        }),
        done: () => {
          if (left > 0) chain(left - 1);
        },
      });
    };
    chain(3);
    submit("after");
    expect(names()).toEqual(["chain 3", "chain 2", "chain 1", "chain 0", "after"]);
  });

  it("an action submitted while another is built does not overtake it", () => {
    const { submit, names } = stage();
    submit("outer", "read", {
      build: (key) => {
        submit("inner", "emergency");
        return { endpoint: "getOrder", method: "GET", path: "outer", query: {}, body: undefined, key };
      },
    });
    expect(names()).toEqual(["outer", "inner"]);
  });
});

describe("The scheduler over time:", () => {
  it("what had to wait once is asked at once when quota is back and nothing waits any more", () => {
    const { clock, submit, names, fill } = stage();
    fill();
    submit("held");
    clock.advanceTo(noon + 2_500);
    submit("next");
    expect(names()).toEqual(["held", "next"]);
  });

  it("at the start one call goes ahead, the lightest, and the rest follow its answer", () => {
    const { clock, submit, names } = stage({ cold: true, answerMs: 30 });
    submit("heavy", "place", { weight: 10 });
    submit("light", "backfill", { weight: 2, endpoint: "instruments" });
    expect(names()).toEqual(["heavy"]);
    submit("cancel", "emergency");
    clock.advanceTo(noon + 525);
    expect(names()).toEqual(["heavy"]);
    clock.advanceTo(noon + 600);
    expect(names()).toEqual(["heavy", "cancel", "light"]);
  });

  it("a calendar that steps closes the account until it has asked again", () => {
    const { clock, submit, names, events } = stage({ answerMs: 30 });
    clock.stepWall(3_600_000);
    submit("a");
    submit("b");
    expect(names()).toEqual(["a"]);
    expect(events.filter(({ type }) => type === "anomaly")).toMatchObject([
      { what: "clock.step", detail: "the calendar moved by 3600000 ms" },
    ]);
    clock.advanceTo(noon + 600);
    expect(names()).toEqual(["a", "b"]);
  });

  it("what is held, sent and dropped is in the journal, once each", () => {
    const { clock, submit, events, fill } = stage();
    fill();
    const before = events.length;
    submit("a", "read", { owner: "o" });
    submit("b", "read", { deadlineAt: noon + 600 });
    clock.advanceTo(noon + 2_000);
    expect(events.slice(before).map(({ type, at }) => [type, at - noon])).toEqual([
      ["action.held", 500],
      ["action.dropped", 600],
      ["action.sent", 1_000],
    ]);
  });
});

describe("A key without room", () => {
  const kept: Account = { uid: "u", ip: "home", keys: ["other"] };

  it("holds back calls on itself, and none of the user's on another key", () => {
    const { clock, submit, names, fill } = stage();
    fill();
    submit("first", "read", { owner: "o" });
    submit("heavier", "read", { owner: "o", weight: 10 });
    submit("placement", "place", { owner: "o", weight: 10, account: kept });
    submit("second", "read", { owner: "o", account: kept });
    expect(names()).toEqual(["placement", "second"]);
    clock.advanceTo(noon + 1_000);
    expect(names()).toEqual(["placement", "second", "first", "heavier"]);
  });
});

describe("A process that is held up between looks at its two clocks", () => {
  /** The next look at the calendar is late by so much, on both clocks. */
  const heldUp = (lateMs: number, stepMs = 0) => {
    const virtual = createVirtualClock(noon);
    let late = 0;
    let step = 0;
    let isHeldUp = false;
    const clock = {
      now: () => virtual.now() + late,
      wallNow: () => {
        if (isHeldUp) [late, step, isHeldUp] = [late + lateMs, step + stepMs, false];
        return virtual.now() + late + step;
      },
      setTimer: (at: number, run: () => void) => virtual.setTimer(at, run),
    };
    const it = stage({ clock });
    isHeldUp = true;
    it.scheduler.wake();
    return it.events.filter((event) => event.type === "anomaly");
  };

  it("takes that for no step of the calendar, however long it was", () => {
    expect(heldUp(150)).toEqual([]);
    expect(heldUp(30_000)).toEqual([]);
  });

  it("still sees a step that happened meanwhile", () => {
    expect(heldUp(150, 3_600_000)).toMatchObject([{ what: "clock.step" }]);
    expect(heldUp(150, -3_600_000)).toMatchObject([{ what: "clock.step" }]);
  });
});
