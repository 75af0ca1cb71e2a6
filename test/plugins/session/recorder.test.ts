import { NEVER, Observable, of, Subject } from "rxjs";
import { describe, expect, it } from "vitest";
import { recorded } from "../../../plugins/session/session-recorder.ts";
import type { OpenService, ServiceSpec } from "../../../src/client/service-port.ts";
import { letPromisesSettle } from "../../../src/clock/microtasks.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createContract } from "../../../src/contract/contract.ts";
import { createRandom } from "../../../src/random.ts";
import { responsesOf, streamed } from "../../support/transports.ts";
import { memory } from "./harness/session.ts";

describe("A recorded service", () => {
  const contract = createContract();
  const open = (parts: Partial<OpenService>, leave: (ip: string) => number | undefined = () => undefined) => {
    const clock = createVirtualClock(0);
    const { records, ends, sink } = memory();
    const troubles: string[] = [];
    let env: Parameters<ServiceSpec["open"]>[0] | undefined;
    const spec: ServiceSpec = {
      kind: "odd",
      open: (given) => {
        env = given;
        return {
          clock,
          transport: () => undefined,
          market: {
            trades: () => NEVER,
            quotes: () => NEVER,
            books: () => NEVER,
            candles: () => NEVER,
            lastPx: () => undefined,
          },
          users: [{ uid: "u", ip: "i", keys: [{ name: "k", permissions: [] }], pushes$: NEVER, pushing$: of(false) }],
          assumptions: [],
          start: () => undefined,
          stop: () => undefined,
          ...parts,
        };
      },
    };
    const wrapped = recorded(spec, sink, { redact: (text) => text.replaceAll("hunter2", "***") });
    const service = wrapped.open({
      contract,
      random: createRandom(1),
      onError: (error) => troubles.push((error as Error).message),
      onAnomaly: (_, detail) => troubles.push(detail),
      leave,
    });
    return {
      clock,
      service,
      records,
      ends,
      troubles,
      env: () => env as NonNullable<typeof env>,
      turns: wrapped.turns(),
    };
  };
  const request = { endpoint: "instruments", method: "GET", path: "/x", query: {}, body: undefined, key: "k" } as const;

  it("is not in real time, so that nothing takes part that a replay does not have", () => {
    expect(open({ realTime: true }).service.realTime).toBe(false);
  });

  it("lets the engine see of an answer what is written, and nothing else", async () => {
    const answers$ = new Subject<never>();
    const { service, records, turns } = open({ transport: streamed(() => answers$) });
    const seen: unknown[] = [];
    responsesOf(service.transport, request).subscribe((answer) => seen.push(answer));
    const headers = { date: "now", "set-cookie": "a", "x-ratelimit-uid-weight-used": "4", authorization: "b" };
    answers$.next({
      status: 200,
      headers,
      body: { msg: "key hunter2 is fine", odd: undefined, late: new Date(0) },
    } as never);
    await turns?.settled();
    const answer = {
      status: 200,
      headers: { date: "now", "x-ratelimit-uid-weight-used": "4" },
      body: { msg: "key *** is fine", late: "1970-01-01T00:00:00.000Z" },
    };
    expect(seen).toEqual([answer]);
    expect(records.at(-1)).toEqual({ in: "answer", request: 0, ...answer, now: 0 });
  });

  it("writes how a request fails, and nothing of one that is not waited for any more", async () => {
    const answers$ = new Subject<never>();
    const { service, records, turns } = open({ transport: streamed(() => answers$) });
    const seen: string[] = [];
    const watch = (name: string) => ({
      error: (error: Error) => seen.push(`${name} ${error.message}`),
    });
    const gone = responsesOf(service.transport, request).subscribe(watch("gone"));
    responsesOf(service.transport, request).subscribe(watch("one"));
    answers$.error(new Error("no answer for hunter2"));
    gone.unsubscribe();
    await turns?.settled();
    expect(seen).toEqual(["one no answer for ***"]);
    const failures = records.filter((record) => "in" in record && record.in === "failure");
    expect(failures).toEqual([{ in: "failure", request: 1, error: "no answer for ***", now: 0 }]);
  });

  it("gives leave at once, in a call of the engine and between entries, and writes where it was asked", async () => {
    const asked: (number | undefined)[] = [];
    const { service, env, records, turns } = open(
      {
        start: () => {
          asked.push(env().leave("in a call"));
        },
      },
      (ip) => (ip === "in a call" ? 7 : undefined),
    );
    service.start();
    await turns?.settled();
    asked.push(env().leave("idle"));
    // The entry before is still in: another piece of the machine's work asks.
    asked.push(env().leave("in between"));
    let late = false;
    turns?.enter(
      () => ({ in: "trouble", message: "late" }),
      () => {
        late = true;
      },
    );
    expect(late).toBe(false);
    await turns?.settled();
    expect(asked).toEqual([7, undefined, undefined]);
    expect(records).toEqual([
      { in: "open", now: 0 },
      { out: "start" },
      { re: "leave", ip: "in a call" },
      { out: "leave", until: 7 },
      { in: "leave", ip: "idle", now: 0 },
      { out: "leave" },
      { in: "leave", ip: "in between", now: 0 },
      { out: "leave" },
      { in: "trouble", message: "late", now: 0 },
    ]);
  });

  it("asks once for a stream with several listeners, gives latecomers the latest, and asks anew when all have gone", async () => {
    const pushing$ = new Subject<boolean>();
    let asked = 0;
    const source$ = new Observable<boolean>((subscriber) => {
      asked++;
      subscriber.next(asked === 1);
      return pushing$.subscribe(subscriber);
    });
    const { service, turns } = open({ users: [{ uid: "u", ip: "i", keys: [], pushes$: NEVER, pushing$: source$ }] });
    const pushingOf = () => (service.users[0] as (typeof service.users)[number]).pushing$;
    const seen: string[] = [];
    const a = pushingOf().subscribe((value) => seen.push(`a ${value}`));
    const b = pushingOf().subscribe((value) => seen.push(`b ${value}`));
    await letPromisesSettle();
    pushing$.next(false);
    pushing$.next(true);
    b.unsubscribe();
    await turns?.settled();
    a.unsubscribe();
    pushingOf().subscribe((value) => seen.push(`c ${value}`));
    expect(seen).toEqual(["a true", "b true", "a false", "b false", "a true", "c false"]);
    expect(asked).toBe(2);
    await turns?.settled();
  });

  it("drops what still waits for its turn when the last listener leaves", async () => {
    const pushes$ = new Subject<never>();
    const { service, records, turns } = open({ users: [{ uid: "u", ip: "i", keys: [], pushes$, pushing$: NEVER }] });
    const seen: string[] = [];
    const listening = service.users[0]?.pushes$.subscribe(({ ordId }) => seen.push(ordId));
    // The entry that opened the service is still in, so both wait.
    pushes$.next({ ordId: "1" } as never);
    listening?.unsubscribe();
    const again = service.users[0]?.pushes$.subscribe(({ ordId }) => seen.push(ordId));
    pushes$.next({ ordId: "2" } as never);
    await turns?.settled();
    again?.unsubscribe();
    expect(seen).toEqual(["2"]);
    expect(records.filter((record) => "in" in record && record.in === "stream")).toHaveLength(1);
    await turns?.settled();
  });

  it("passes on what the service's side threw, without what must not be said", async () => {
    const { env, troubles, records, turns } = open({});
    await turns?.settled();
    env().onError(new Error("a listener broke"));
    await turns?.settled();
    expect(troubles).toEqual(["a listener broke"]);
    expect(records.at(-1)).toEqual({ in: "trouble", message: "a listener broke", now: 0 });
  });

  it("asks whether orders are refused where the service can say so", async () => {
    const { service, records, turns } = open({ ordersRefused: () => "the connection is down" });
    expect(service.ordersRefused?.()).toBe("the connection is down");
    expect(records.slice(-2)).toEqual([{ out: "ordersRefused" }, { re: "value", value: "the connection is down" }]);
    await turns?.settled();
    expect(open({}).service.ordersRefused).toBeUndefined();
  });
});
