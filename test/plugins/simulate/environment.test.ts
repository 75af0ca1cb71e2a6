/**
 * What the rarer worlds of a story are made of: outages, lost memory, ids that come again, slots that hold one order
 * too many.
 */
import { concat, map, NEVER, range } from "rxjs";
import { describe, expect, it } from "vitest";
import { CoverageMarks } from "../../../plugins/simulate/coverage-marks.ts";
import type { Fault, FaultKind } from "../../../plugins/simulate/fault.ts";
import { Network } from "../../../plugins/simulate/network.ts";
import { Oracle } from "../../../plugins/simulate/oracle.ts";
import { ProcessClock } from "../../../plugins/simulate/process-clock.ts";
import { runScenario } from "../../../plugins/simulate/scenario.ts";
import { marketOf } from "../../../plugins/simulate/simulated-market.ts";
import { simulate } from "../../../plugins/simulate/simulation.ts";
import { SurplusCheck } from "../../../plugins/simulate/surplus-check.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createContract } from "../../../src/contract/contract.ts";
import type { OrderRecord } from "../../../src/contract/schemas.ts";
import type { WireRequest, WireResponse } from "../../../src/contract/transport.ts";
import { checkConfig } from "../../../src/host/config.ts";
import type { OrderPhase } from "../../../src/journal/events.ts";
import { createClientOrderIds } from "../../../src/orders/client-order-id.ts";
import busy from "../../support/configs/busy-quota.ts";
import guarded from "../../support/configs/protected-positions.ts";
import { strategy } from "../../support/harness/backtest.ts";

const ended: OrderRecord = {
  instId: "BTC-USDT-SWAP",
  ordId: "1",
  clOrdId: "",
  px: "60000",
  sz: "100",
  ordType: "limit",
  side: "buy",
  state: "canceled",
  avgPx: "",
  accFillSz: "0",
  fee: "0",
  createdAt: "1",
  updatedAt: "2",
};

const faultOf = (kind: FaultKind, at: number, given: Partial<Fault> = {}): Fault => ({
  kind,
  at,
  size: 500,
  forMs: 0,
  pick: 0,
  ...given,
});

describe("A simulated outage", () => {
  const rig = () => {
    const time = createVirtualClock(0);
    const clock = new ProcessClock(time, () => 0);
    const served: string[] = [];
    const network = new Network({
      time,
      latency: { name: "none", entryMs: () => 1, responseMs: () => 1, feedMs: () => 0 },
      timeoutMs: 1_000,
      unavailableCode: "busy",
      date: () => ({}),
      handle: ({ endpoint }) => {
        served.push(endpoint);
        return { status: 200, headers: {}, body: { code: "0", msg: "", data: [] } };
      },
      mark: () => undefined,
      hush: () => undefined,
      fillPart: () => undefined,
    });
    const { send } = network.join({ clock, sent: () => true, heard: () => undefined, unheard: () => undefined });
    const ask = async (endpoint: "getOrder" | "pendingOrders" | "placeOrder"): Promise<number> => {
      const method = endpoint === "placeOrder" ? "POST" : "GET";
      const request: WireRequest = { endpoint, method, path: "", query: {}, body: undefined, key: undefined };
      const answer = new Promise<WireResponse>((resolve, reject) => {
        send(request, { response: resolve, failed: reject, closed: false });
      });
      time.advanceTo(time.now() + 10);
      return (await answer).status;
    };
    return { time, network, ask, served };
  };

  it.each([
    ["every request", 0, [503, 503, 503]],
    ["every read", 1, [503, 503, 200]],
    ["every question for an order by its id", 2, [503, 200, 200]],
  ])("of %s meets those and no others", async (_, pick, statuses) => {
    const { network, ask } = rig();
    network.arm(faultOf("outage", 0, { forMs: 60_000, pick }));
    expect([await ask("getOrder"), await ask("pendingOrders"), await ask("placeOrder")]).toEqual(statuses);
  });

  it("meets the same request again and again until it ends by itself", async () => {
    const { time, network, ask, served } = rig();
    network.arm(faultOf("outage", 0, { forMs: 5_000 }));
    for (let count = 0; count < 5; count++) expect(await ask("getOrder")).toBe(503);
    expect(served).toEqual([]);
    time.advanceTo(5_000);
    expect(await ask("getOrder")).toBe(200);
  });

  it("is over when nothing goes wrong any more", async () => {
    const { network, ask } = rig();
    network.arm(faultOf("outage", 0, { forMs: 5_000 }));
    network.calm();
    expect(await ask("getOrder")).toBe(200);
    network.arm(faultOf("outage", 0, { forMs: 5_000 }));
    expect(await ask("getOrder")).toBe(200);
  });
});

describe("A slot with two orders", () => {
  const crowding = () => {
    const surplus = new SurplusCheck();
    const change = (clOrdId: string, phase: OrderPhase, slot = "bid", instId = "BTC-USDT-SWAP"): string | undefined =>
      surplus.note({
        type: "order.changed",
        seq: 0,
        at: 0,
        strategy: "s",
        slot,
        instId,
        clOrdId,
        phase,
        record: undefined,
        reason: "",
      });
    const placements = (count: number): (string | undefined)[] =>
      Array.from({ length: count }, (_, index) => change(`other ${index}`, "sent", `other ${index}`));
    return { change, placements };
  };

  it("is noticed once the process had the means to ask for many others, and has not asked for either to be cancelled", () => {
    const { change, placements } = crowding();
    change("one", "live");
    change("two", "live");
    const said = placements(21);
    expect(said.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => undefined));
    expect(said[20]).toBe('"s bid" still holds one and two: neither is canceled');
  });

  it.each<[string, OrderPhase]>([
    ["was asked to go, although that was denied", "canceling"],
    ["came to its end", "filled"],
    ["is of unknown outcome", "unknown"],
  ])("is no matter when one of them %s", (_, phase) => {
    const { change, placements } = crowding();
    change("one", "live");
    change("two", "live");
    change("two", phase);
    if (phase === "canceling") change("two", "live");
    expect(placements(40).filter((said) => said !== undefined)).toEqual([]);
  });

  it.each([
    ["what nobody wants yet", "", "BTC-USDT-SWAP"],
    ["names that mean nothing to a later life", "#1", "BTC-USDT-SWAP"],
    ["what cannot be cancelled", "bid", "BTC-USDT"],
  ])("is not looked for among %s", (_, slot, instId) => {
    const { change, placements } = crowding();
    change("one", "live", slot, instId);
    change("two", "live", slot, instId);
    expect(placements(40).filter((said) => said !== undefined)).toEqual([]);
  });
});

describe("A reused client order id", () => {
  const ids = createClientOrderIds("one");
  /** The calendar's number when the process began is 1000. */
  const bornAt = 500_000;
  const sentAgain = (environment: {
    amnesia: boolean;
    forgetful: boolean;
    generation: number;
    accFillSz?: string;
  }): readonly string[] => {
    const { amnesia, forgetful, generation, accFillSz = "0" } = environment;
    const clOrdId = ids.of(ids.slotHash("s", "bid"), generation);
    const said: string[] = [];
    const oracle = new Oracle({
      contract: createContract(),
      ids,
      now: () => 0,
      wallNow: () => bornAt,
      isRecorded: () => true,
      amnesia: () => amnesia,
      forgetful,
      isExit: () => false,
      halted: () => false,
      fail: (invariant) => said.push(invariant),
    });
    const life = oracle.born(2, 0);
    oracle.order("main", { ...ended, clOrdId, accFillSz });
    oracle.sent(life, "main", {
      endpoint: "placeOrder",
      method: "POST",
      path: "",
      query: {},
      body: { clOrdId },
      key: undefined,
    });
    return said;
  };

  it.each([
    ["by a process that has its journal", { amnesia: false, forgetful: true, generation: 1_000 }],
    ["at a service that remembers the order", { amnesia: true, forgetful: false, generation: 1_000 }],
    ["of an order that traded", { amnesia: true, forgetful: true, generation: 1_000, accFillSz: "1" }],
    ["with a number the calendar had passed", { amnesia: true, forgetful: true, generation: 999 }],
  ])("violates an invariant: %s", (_, environment) => {
    expect(sentAgain(environment)).toEqual(["I1"]);
  });

  it("is none where neither journal nor service nor calendar can tell that it was used", () => {
    expect(sentAgain({ amnesia: true, forgetful: true, generation: 1_000 })).toEqual([]);
  });
});

describe("An instant that does not end", () => {
  it("violates an invariant, and ends the scenario", async () => {
    const want = { slot: "one", instId: "BTC-USDT-SWAP", side: "buy", qty: "0.01" } as const;
    const wanted$ = range(0, 21_000).pipe(map((step) => [{ ...want, px: String(30_000 + step) }]));
    const restless = strategy("restless", { wanted: () => concat(wanted$, NEVER) });
    // Every wanted order is refused by a rule, and the next one comes at once.
    const { failures } = await simulate(
      { ...busy, strategies: [restless], orders: { openInAll: 0 } },
      { seeds: 1, minutes: 1 },
    );
    expect(failures[0]?.violation).toMatchObject({
      invariant: "I15",
      text: "20000 events at one instant, the last of them order.refused",
    });
  });
});

describe("A scenario in which the calendar steps while no answer comes", () => {
  it.each(["memory", "a", "b"])("keeps the quota that canceling takes, on market %s", async (seed) => {
    const config = checkConfig(busy);
    const faults = [
      faultOf("outage", 20_000, { forMs: 40_000, pick: 9 }),
      faultOf("wall-step", 28_000, { size: 22_699, pick: 1 }),
    ];
    const { violations } = await runScenario({
      config,
      tape: marketOf(config)(seed, 2),
      seed,
      minutes: 2,
      faults,
      plugins: false,
    });
    expect(violations).toEqual([]);
  });
});

describe("A scenario with protected positions", () => {
  const tell = async (...faults: readonly Fault[]) => {
    const config = checkConfig(guarded);
    const lines: string[] = [];
    const story = { config, tape: marketOf(config)("calm1", 2), seed: "calm1", minutes: 2, faults, plugins: false };
    const { violations } = await runScenario(story, { onLine: (_, line) => lines.push(line) });
    expect(violations).toEqual([]);
    return lines;
  };

  it("whose process dies before a recorded exit leaves: the next one proves it absent and sends another one", async () => {
    const lines = await tell(faultOf("exit-unsent", 40_000));
    const diedAt = lines.indexOf("process #1 dies");
    const [, clOrdId = ""] = /^#1 sends placeOrder (\S+)/.exec(lines[diedAt - 1] ?? "") ?? [];
    const slot = lines.find((line) => line.includes(clOrdId) && line.includes("for sent"))?.split(/[()]/)[1] ?? "";
    expect(slot).not.toBe("");
    expect(lines.filter((line) => line.startsWith(`at the service ${clOrdId} `))).toEqual([]);
    const absentAt = lines.findIndex((line) => line.startsWith(`#2 takes ${clOrdId} (${slot}) for absent`));
    expect(absentAt).toBeGreaterThan(diedAt);
    expect(lines.slice(absentAt).some((line) => line.includes(`(${slot}) for sent`))).toBe(true);
  });

  it("in which the market fills a part of an order that rests: it rests with the other part", async () => {
    const lines = await tell(faultOf("part-filled", 40_000));
    const at = lines.findIndex((line) => line.startsWith("the market fills a part of"));
    const clOrdId = lines[at]?.split(" ").at(-1) ?? "";
    expect(lines.slice(at).find((line) => line.startsWith(`at the service ${clOrdId} `))).toContain("partially_filled");
  });
});

describe("A scenario with lost memory:", () => {
  const config = checkConfig(busy);
  const tell = async (...faults: readonly Fault[]) => {
    const lines: string[] = [];
    const marks = new CoverageMarks();
    const story = { config, tape: marketOf(config)("memory", 1), seed: "memory", minutes: 1, faults, plugins: false };
    const { violations, processes } = await runScenario(story, { marks, onLine: (_, line) => lines.push(line) });
    expect(violations).toEqual([]);
    return { lines, processes, marks: marks.counts };
  };
  const linesFrom = (lines: readonly string[], from: RegExp): readonly string[] =>
    lines.slice(lines.findIndex((line) => from.test(line)));

  it("with an order on its way: it arrives at a process that has read what there is, and gives way to the next of its slot", async () => {
    const { lines, processes, marks } = await tell(faultOf("orphan", 5_000, { pick: 3_000 }));
    expect(processes).toBe(2);
    const [, clOrdId = ""] = /#1 sends placeOrder (\w+)/.exec(lines[lines.indexOf("process #1 dies") - 1] ?? "") ?? [];
    const second = linesFrom(lines, /process #2 starts/);
    const arrived = second.findIndex((line) => line.startsWith(`at the service ${clOrdId} is live`));
    expect(arrived).toBeGreaterThan(second.findIndex((line) => line.includes("#2 engine.started")));
    expect(marks.get("a surplus order was canceled")).toBe(1);
  });

  it("with its very first order on its way: nothing shows that an id was used, and the next process uses others", async () => {
    const { lines, processes, marks } = await tell(faultOf("first-orphan", 0, { pick: 3_000 }));
    expect(processes).toBe(2);
    expect(marks.get("a dead process's placement was executed")).toBe(1);
    const idsSentBy = (number: number): readonly string[] =>
      lines.flatMap((line) => new RegExp(`^#${number} sends placeOrder (\\w+)`).exec(line)?.[1] ?? []);
    const [first = "", ...more] = idsSentBy(1);
    expect(more).toEqual([]);
    const arrived = lines.findIndex((line) => line.startsWith(`at the service ${first} is live`));
    expect(arrived).toBeGreaterThan(lines.findIndex((line) => line.startsWith("#2 sends placeOrder")));
    const ids = createClientOrderIds(config.instance);
    const used = ids.read(first)?.generation ?? Number.NaN;
    expect(idsSentBy(2).every((clOrdId) => (ids.read(clOrdId)?.generation ?? 0) > used)).toBe(true);
  });

  it("may be one in which somebody clears up before the next process starts", async () => {
    const { lines } = await tell(faultOf("journal-lost", 20_000));
    const between = linesFrom(lines, /process #1 dies/).slice(0, -linesFrom(lines, /process #2 starts/).length);
    expect(between.filter((line) => / is canceled, filled /.test(line)).length).toBeGreaterThan(10);
    const kept = await tell(faultOf("journal-lost", 20_000, { pick: 1 }));
    expect(kept.marks.get("an order of a previous run was taken over")).toBeGreaterThan(10);
  });

  it("of pushes: what the owner cancels meanwhile is found out by reading", async () => {
    const { lines, marks } = await tell(faultOf("unseen-cancel", 30_000, { size: 3 }));
    expect(marks.get("a change while pushes were silent")).toBeGreaterThanOrEqual(3);
    const told = linesFrom(lines, /^FAULT pushes are lost/).slice(1);
    const gone = told.slice(0, 3).map((line) => /^at the service (\w+) is canceled/.exec(line)?.[1] ?? "?");
    expect(gone).not.toContain("?");
    for (const clOrdId of gone) {
      const heard = told.filter((line) => line.startsWith(`#1 takes ${clOrdId}`));
      expect(heard.some((line) => /for canceled/.test(line))).toBe(true);
    }
  });
});

describe("A restart within a minute", () => {
  it("knows what is left of it before all answers are replaced by error pages for a while", async () => {
    const config = checkConfig(busy);
    const said: { readonly at: number; readonly line: string }[] = [];
    const faults = [faultOf("unanswered-restart", 20_000, { forMs: 10_000, pick: 1 })];
    const story = { config, tape: marketOf(config)("memory", 1), seed: "memory", minutes: 1, faults, plugins: false };
    const { violations, processes } = await runScenario(story, { onLine: (at, line) => said.push({ at, line }) });
    expect(violations).toEqual([]);
    expect(processes).toBe(2);
    const heard = said.filter(({ line }) => line.startsWith("#2 hears"));
    const pages = heard.filter(({ line }) => line.startsWith("#2 hears 502"));
    const between = (fromAt: number, untilAt: number): number =>
      heard.filter(({ at }) => at > fromAt && at < untilAt).length;
    expect(pages.some(({ line }) => line.endsWith("to placeOrder"))).toBe(true);
    expect(between(20_500, 25_500)).toBeGreaterThan(0);
    expect(between(25_600, 35_500)).toBe(pages.length);
    expect(pages.every(({ at }) => at > 25_500 && at < 35_700)).toBe(true);
  });
});
