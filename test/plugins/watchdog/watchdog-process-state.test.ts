/** What the watchdog cancels, against the embedded service with all its limits, on a virtual clock. */
import { resolve } from "node:path";
import { NEVER, of } from "rxjs";
import { describe, expect, it } from "vitest";
import type { Listen, Receiver } from "../../../plugins/watchdog/ipc.ts";
import type { Report, Word } from "../../../plugins/watchdog/messages.ts";
import type { TripRecord } from "../../../plugins/watchdog/trip-record.ts";
import { createWatchdog, type WatchdogNews, type WatchdogProcessOptions } from "../../../plugins/watchdog/watchdog.ts";
import { inProcess } from "../../../src/client/transport/in-process.ts";
import { letPromisesSettle } from "../../../src/clock/microtasks.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createContract } from "../../../src/contract/contract.ts";
import type { ProfileOverrides } from "../../../src/contract/profile.ts";
import type { WireRequest, WireResponse } from "../../../src/contract/transport.ts";
import { SluiceError } from "../../../src/errors.ts";
import type { ServiceSpec } from "../../../src/index.ts";
import type { Disk } from "../../../src/journal/disk.ts";
import { readChain } from "../../../src/journal/record-chain.ts";
import { openWriteAheadLog } from "../../../src/journal/write-ahead-log.ts";
import { createClientOrderIds } from "../../../src/orders/client-order-id.ts";
import { createVenue } from "../../../src/venue/venue.ts";
import { btc, strategy, swap } from "../../support/harness/backtest.ts";
import { memoryDisk } from "../../support/harness/memory-disk.ts";

type Spoil = (request: WireRequest, answer: () => WireResponse, at: number) => WireResponse | undefined;

interface Given {
  readonly users?: readonly string[];
  readonly permissions?: readonly string[];
  readonly profile?: ProfileOverrides;
  readonly spoil?: Spoil;
  readonly options?: Partial<WatchdogProcessOptions>;
  readonly watchful?: boolean;
  readonly journal?: { readonly dir: string };
}

const setup = async ({
  users = ["main"],
  permissions = ["read", "trade_futures"],
  profile = {},
  spoil = (_, answer) => answer(),
  options = {},
  watchful = true,
  journal,
}: Given = {}) => {
  const clock = createVirtualClock(1_700_000_000_000);
  const grant = ["read", "trade_futures", "trade_spot"];
  const venue = createVenue({
    contract: createContract(profile),
    instruments: [btc, { ...btc, instId: "BTC-USDT" }],
    users: users.map((uid) => ({
      uid,
      keys: [
        { name: `${uid}-dog`, permissions },
        ...Array.from({ length: 40 }, (_, index) => ({ name: `${uid}-${index}`, permissions: grant })),
      ],
      balances: { USDT: "10000000" },
    })),
    fees: { SPOT: { makerBps: "2", takerBps: "5" }, SWAP: { makerBps: "2", takerBps: "5" } },
    enforceLimits: true,
  });
  venue.quote(swap, 600_000, 10, 600_010, 10, clock.now());
  venue.quote("BTC-USDT", 600_000, 10, 600_010, 10, clock.now());
  const sent: WireRequest[] = [];
  const statuses: number[] = [];
  const transport = inProcess({
    clock,
    latency: { name: "constant", entryMs: () => 20, responseMs: () => 20, feedMs: () => 0 },
    timeoutMs: 3_000,
    handle: (request, at) => {
      sent.push(request);
      const { method, path, query, body, key } = request;
      const response = spoil(request, () => venue.handle({ method, path, query, body, key, ip: "local" }, at), at);
      statuses.push(response?.status ?? 0);
      return response;
    },
  });
  const service: ServiceSpec = {
    kind: "live",
    open: () => ({
      clock,
      transport,
      market: {
        trades: () => NEVER,
        quotes: () => NEVER,
        books: () => NEVER,
        candles: () => NEVER,
        lastPx: () => undefined,
      },
      users: users.map((uid) => ({
        uid,
        ip: "local",
        keys: [{ name: `${uid}-dog`, permissions }],
        pushes$: NEVER,
        pushing$: of(false),
      })),
      watchful,
      assumptions: [],
      start: () => {
        throw new Error("a watchdog opens no stream");
      },
      stop: () => undefined,
    }),
  };
  let ears: Receiver<Report> | undefined;
  const words: Word[] = [];
  const listen: Listen = async (accept) => {
    ears = accept({ send: (word) => words.push(word), close: () => undefined });
    return () => Promise.resolve();
  };
  const news: WatchdogNews[] = [];
  const config = {
    service,
    strategies: [strategy("s", { run: () => NEVER })],
    profile,
    instance: "one",
    ...(journal && { journal }),
  };
  let deed: string | undefined;
  const tripRecord: TripRecord = {
    note: (text) => {
      deed = text;
    },
    take: () => {
      const text = deed;
      deed = undefined;
      return text;
    },
  };
  const keeper = createWatchdog(config, { report: (one) => news.push(one), listen, tripRecord, ...options });
  const run = async (ms: number): Promise<void> => {
    const end = clock.now() + ms;
    await letPromisesSettle();
    while (clock.step(end)) await letPromisesSettle();
    clock.advanceTo(end);
  };
  let placed = 0;
  /** Each tenth by another key, as a key has ten calls a second. */
  const place = (
    count: number,
    { uid = "main", instance = "one", instId = swap }: { uid?: string; instance?: string; instId?: string } = {},
  ): void => {
    const ids = createClientOrderIds(instance);
    for (let index = 0; index < count; index++) {
      const body = {
        instId,
        side: "buy",
        ordType: "limit",
        px: "30000",
        sz: "300",
        clOrdId: ids.of(ids.slotHash("s", `${uid} ${placed++}`), 1),
      };
      const request = {
        method: "POST",
        path: "/api/v1/trade/order",
        query: {},
        body,
        key: `${uid}-${Math.floor(placed / 10) % 40}`,
        ip: "local",
      };
      const { status, body: answer } = venue.handle(request, clock.now());
      if (status !== 200 || !JSON.stringify(answer).includes('"sCode":"0"')) throw new Error(JSON.stringify(answer));
    }
  };
  /** In a minute of its own, so that placing does not use up what cancelling needs. */
  const quietly = async (work: () => void): Promise<void> => {
    work();
    await run(61_000);
  };
  const resting = (uid = "main"): number => {
    const answer = venue.handle(
      {
        method: "GET",
        path: "/api/v1/trade/orders/pending",
        query: { limit: "100" },
        body: undefined,
        key: `${uid}-0`,
        ip: "elsewhere",
      },
      clock.now(),
    );
    return (answer.body as { data: unknown[] }).data.length;
  };
  const starting = keeper.start();
  starting.catch(() => undefined);
  await run(3_000);
  return {
    clock,
    venue,
    keeper,
    news,
    words,
    sent,
    statuses,
    run,
    place,
    quietly,
    resting,
    starting,
    say: (report: Report): void => ears?.received(report),
    kinds: () => news.map(({ kind }) => kind).filter((kind) => kind !== "listed" && kind !== "unread"),
    calls: (endpoint: string) => sent.filter((request) => request.endpoint === endpoint).length,
  };
};
/** A journal of one life, and who asked for its lock. */
const journalOf = async () => {
  const disk = memoryDisk();
  const owner = { service: "live", users: "main", instance: "one" };
  const store = await openWriteAheadLog({ disk, owner, snapshot: () => [] });
  store.append({ type: "life", number: 1, at: 1 });
  await store.close();
  const dirs: string[] = [];
  const locks: string[] = [];
  let isHeld = false;
  const lock = async (name: string) => {
    if (isHeld) throw new SluiceError("ENGINE_STATE", "somebody holds it");
    locks.push(name);
    return async () => {
      locks.push("free");
    };
  };
  return {
    dirs,
    locks,
    openDisk: async (dir: string): Promise<Disk> => {
      dirs.push(dir);
      return { ...disk, lock };
    },
    hold: (held: boolean) => {
      isHeld = held;
    },
    last: (): unknown => [...disk.files.values()].flatMap((bytes) => readChain(bytes).records).at(-1),
  };
};
const hello: Report = { kind: "hello", version: 1, session: "a", beatMs: 1_000 };
const beat: Report = { kind: "beat", ready: true, open: 0 };

describe("The starting watchdog", () => {
  it("asks once, says what rests, and is then silent towards the service", async () => {
    const { news, sent, run, keeper } = await setup();
    await run(600_000);
    expect(news).toEqual([{ kind: "proved", user: "main", open: 0 }]);
    expect([sent.map(({ endpoint }) => endpoint), keeper.state]).toEqual([["pendingOrders"], "waiting"]);
  });

  it.each([
    ["cannot cancel", ["read"], /no key has the permission to cancel/],
    ["cannot read", ["trade_futures"], /could not cancel anything for user main/],
  ])("is refused with keys that %s", async (_, permissions, message) => {
    await expect((await setup({ permissions })).starting).rejects.toThrow(message);
  });

  it("whose key the service does not know is refused", async () => {
    const no = { status: 401, headers: {}, body: { code: "50004", msg: "unknown key", data: [] } };
    await expect((await setup({ spoil: () => no })).starting).rejects.toThrow(
      /could not cancel anything for user main: 50004 unknown key/,
    );
  });

  it("goes on where the service does not answer, and says so", async () => {
    const { starting, news, run } = await setup({ spoil: () => undefined });
    await run(30_000);
    await starting;
    expect(news).toEqual([{ kind: "unproved", user: "main", why: "pendingOrders: no answer within 3000 ms." }]);
  });

  it("is refused where the service ends with its engine", async () => {
    await expect(setup({ watchful: false })).rejects.toThrow(/its orders end with its process/);
  });
});

describe("A watchdog trip", () => {
  it("cancels the orders of the instance, leaves those of others, and says flat only after two listings", async () => {
    const { place, quietly, say, run, resting, news, kinds, keeper, calls, statuses } = await setup();
    await quietly(() => {
      place(3);
      place(2, { instance: "two" });
    });
    say(hello);
    say(beat);
    await run(14_000);
    expect(keeper.state).toBe("armed");
    await run(2_000);
    expect(keeper.state).toBe("canceling");
    await run(10_000);
    expect(resting()).toBe(2);
    expect(kinds()).toEqual(["proved", "armed", "tripped", "flat", "over"]);
    expect(news.filter(({ kind }) => kind === "listed")).toMatchObject([
      { open: 3, gone: 0 },
      { open: 0, gone: 3 },
      { open: 0 },
    ]);
    expect(news.at(-1)).toEqual({ kind: "over", gone: 3, stuck: 0 });
    expect([keeper.state, calls("cancelBatch"), statuses.includes(429)]).toEqual(["flat", 1, false]);
  });

  it("of the whole user cancels everything", async () => {
    const { place, quietly, say, run, resting } = await setup({ options: { scope: "user" } });
    await quietly(() => {
      place(1);
      place(2, { instance: "two" });
    });
    say(hello);
    await run(30_000);
    expect(resting()).toBe(0);
  });

  it("takes each user's orders, page after page, within the limits", async () => {
    const { place, quietly, say, run, resting, news, statuses, calls } = await setup({ users: ["main", "other"] });
    for (const uid of ["main", "other"]) await quietly(() => place(110, { uid }));
    say(hello);
    await run(120_000);
    expect([resting("main"), resting("other")]).toEqual([0, 0]);
    expect(news.at(-1)).toEqual({ kind: "over", gone: 220, stuck: 0 });
    expect([statuses.includes(429), calls("cancelBatch")]).toEqual([false, 12]);
  });

  it("beside a stranger who used up the minute it waits for the next and loses no time after it", async () => {
    const { place, quietly, say, run, clock, venue, resting, statuses } = await setup();
    await quietly(() => place(2));
    say(hello);
    await run(14_500);
    const use = (): number =>
      venue.handle(
        {
          method: "GET",
          path: "/api/v1/account/positions",
          query: {},
          body: undefined,
          key: `main-${stranger++ % 40}`,
          ip: "far",
        },
        clock.now(),
      ).status;
    let stranger = 0;
    // One key has ten a second; many keys together empty the user's minute at once.
    for (let left = 0; left < 245; left++) use();
    await run(60_000 - (clock.now() % 60_000) + 6_000);
    expect(resting()).toBe(0);
    // The one light call with which it finds out where it stands.
    expect(statuses.filter((status) => status === 429).length).toBeLessThanOrEqual(1);
  });

  it("says that it does not know while it cannot read, and finishes when it can", async () => {
    let down = false;
    const { place, quietly, say, run, news, resting, keeper } = await setup({
      spoil: (_, answer) => (down ? undefined : answer()),
    });
    await quietly(() => place(2));
    down = true;
    say(hello);
    await run(300_000);
    expect(new Set(news.slice(3).map(({ kind }) => kind))).toEqual(new Set(["unread"]));
    expect([keeper.state, resting()]).toEqual(["canceling", 2]);
    down = false;
    await run(120_000);
    expect([keeper.state, resting()]).toEqual(["flat", 0]);
  });

  it("takes no answer to a cancel for proof: lost ones are sent again, and one bad order does not save the others", async () => {
    let lost = 0;
    const bad = (body: unknown): boolean =>
      Array.isArray(body) && body.length > 1 && body.some(({ ordId }) => String(ordId).endsWith("3"));
    const { place, quietly, say, run, resting } = await setup({
      spoil: ({ endpoint, body }, answer) => {
        if (endpoint !== "cancelBatch") return answer();
        if (lost++ < 2) return undefined;
        return bad(body)
          ? { status: 400, headers: {}, body: { code: "50002", msg: "bad element", data: [] } }
          : answer();
      },
    });
    await quietly(() => place(6));
    say(hello);
    await run(120_000);
    expect(resting()).toBe(0);
  });

  it("takes a listing with a record that it cannot read for none", async () => {
    let torn = false;
    const { place, quietly, say, run, resting, keeper, news } = await setup({
      spoil: ({ endpoint }, answer) => {
        if (!torn || endpoint !== "pendingOrders") return answer();
        return { status: 200, headers: {}, body: { code: "0", msg: "", data: [{ ordId: 7 }] } };
      },
    });
    await quietly(() => place(1));
    torn = true;
    say(hello);
    await run(60_000);
    expect([keeper.state, new Set(news.slice(3).map(({ kind }) => kind))]).toEqual(["canceling", new Set(["unread"])]);
    torn = false;
    await run(60_000);
    expect([keeper.state, resting()]).toEqual(["flat", 0]);
  });

  it("cancels beside another program's order that it cannot read", async () => {
    const strange = { ordId: "7", clOrdId: "x1", state: "untriggered" };
    const { place, quietly, say, run, resting, keeper, kinds } = await setup({
      spoil: ({ endpoint }, answer) => {
        const { status, headers, body } = answer();
        const { data, ...rest } = body as { readonly data: readonly unknown[] };
        return { status, headers, body: endpoint === "pendingOrders" ? { ...rest, data: [strange, ...data] } : body };
      },
    });
    await quietly(() => place(1));
    say(hello);
    await run(60_000);
    expect([keeper.state, resting(), kinds().at(-1)]).toEqual(["flat", 0, "over"]);
  });

  it("asks ever more seldom while its cancels change nothing, and never ceases", async () => {
    const refused = {
      status: 200,
      headers: {},
      body: { code: "1", msg: "", data: [{ ordId: "", clOrdId: "", sCode: "51400", sMsg: "no" }] },
    };
    const { place, quietly, say, run, calls, keeper } = await setup({
      spoil: ({ endpoint }, answer) => (endpoint === "cancelBatch" ? refused : answer()),
    });
    await quietly(() => place(1));
    say(hello);
    await run(615_000);
    const tenMinutes = calls("cancelBatch");
    await run(600_000);
    expect(keeper.state).toBe("canceling");
    expect(tenMinutes).toBeLessThan(30);
    expect(calls("cancelBatch") - tenMinutes).toBeGreaterThan(15);
  });

  it("names orders that the service cannot cancel and says that they are left", async () => {
    const { place, quietly, say, run, news, keeper, calls } = await setup();
    await quietly(() => {
      place(1);
      place(2, { instId: "BTC-USDT" });
    });
    say(hello);
    await run(60_000);
    expect(news.find(({ kind }) => kind === "stuck")).toMatchObject({
      clOrdIds: [expect.any(String), expect.any(String)],
    });
    expect([news.at(-1), keeper.state, calls("cancelBatch")]).toEqual([{ kind: "over", gone: 1, stuck: 2 }, "left", 1]);
  });

  it("finds what arrives after the first empty listing", async () => {
    const { place, say, run, resting, news } = await setup();
    say(hello);
    await run(61_000 - 46_000 + 1_500);
    expect(news.at(-1)).toMatchObject({ kind: "listed", open: 0 });
    place(1);
    await run(20_000);
    expect([resting(), news.at(-1)]).toEqual([0, { kind: "over", gone: 1, stuck: 0 }]);
  });

  it("of an engine with a journal leaves a halt there for its next life", async () => {
    const { openDisk, dirs, locks, last } = await journalOf();
    const { place, quietly, say, run, news } = await setup({ options: { openDisk }, journal: { dir: "some/journal" } });
    await quietly(() => place(1));
    say(hello);
    await run(30_000);
    expect(news.at(-1)).toEqual({ kind: "over", gone: 1, stuck: 0, halt: { kind: "written" } });
    expect([dirs, locks]).toEqual([[resolve("some/journal")], ["live / main / one", "free"]]);
    expect(last()).toMatchObject({ type: "mode", mode: "halted", reason: "the watchdog tripped: no beat for 15 s" });
  });

  it("of an engine that keeps its journal leaves none while a new one has it, and a last try when the watchdog ends", async () => {
    for (const isNew of [true, false]) {
      const { openDisk, last, hold } = await journalOf();
      const { say, run, news, keeper } = await setup({ options: { openDisk }, journal: { dir: "some/journal" } });
      hold(true);
      say(hello);
      await run(30_000);
      expect(news.at(-1)).toMatchObject({ kind: "over", halt: { kind: "held" } });
      if (isNew) say({ ...hello, session: "b" });
      hold(false);
      await keeper.stop();
      expect(last()).toEqual(isNew ? { type: "life", number: 1, at: 1 } : expect.objectContaining({ mode: "halted" }));
    }
  });

  it("waits for no disk", async () => {
    const openDisk = (): Promise<Disk> => new Promise(() => undefined);
    const { place, quietly, say, run, resting, news } = await setup({
      options: { openDisk },
      journal: { dir: "some/journal" },
    });
    await quietly(() => place(1));
    say(hello);
    await run(30_000);
    expect([resting(), news.at(-1)]).toEqual([0, { kind: "over", gone: 1, stuck: 0 }]);
  });

  it("is broken off by a new engine, which hears of it", async () => {
    const { place, quietly, say, run, words, keeper, resting, kinds } = await setup({
      spoil: ({ endpoint }, answer) => (endpoint === "cancelBatch" ? undefined : answer()),
    });
    await quietly(() => place(2));
    say(hello);
    await run(17_000);
    expect(keeper.state).toBe("canceling");
    say({ ...hello, session: "b" });
    expect(keeper.state).toBe("armed");
    expect(words.at(-1)).toMatchObject({
      kind: "armed",
      before: expect.stringContaining("no beat for 15 s; the state of the orders"),
    });
    for (let second = 0; second < 30; second++) {
      say(beat);
      await run(1_000);
    }
    expect([resting(), kinds().at(-1)]).toEqual([2, "armed"]);
  });
});

describe("A watchdog whose engine never connected", () => {
  const why = "the run is gone";
  it("cancels the open orders of its own instance alone, and halts the next run", async () => {
    const { openDisk } = await journalOf();
    const given = { options: { openDisk, scope: "user" as const }, journal: { dir: "some/journal" } };
    const { keeper, place, quietly, resting, run, kinds, news, say, words } = await setup(given);
    await quietly(() => {
      place(2);
      place(3, { instance: "two" });
    });
    keeper.giveUp(why);
    await run(30_000);
    expect(resting()).toBe(3);
    expect(kinds()).toEqual(["proved", "unmet", "flat", "over"]);
    expect(news.at(-1)).toEqual({ kind: "over", gone: 2, stuck: 0, halt: { kind: "written" } });
    expect(keeper.state).toBe("flat");
    say({ kind: "hello", version: 1, session: "next", beatMs: 1_000 });
    expect(words).toMatchObject([{ kind: "armed", before: `${why}; 2 orders were canceled` }]);
  });

  it("notes no trip and no halt where nothing was open", async () => {
    const { openDisk, locks } = await journalOf();
    const { keeper, run, kinds, say, words } = await setup({ options: { openDisk }, journal: { dir: "some/journal" } });
    keeper.giveUp(why);
    await run(30_000);
    expect(kinds()).toEqual(["proved", "unmet", "flat", "over"]);
    expect(locks).toEqual([]);
    say({ kind: "hello", version: 1, session: "next", beatMs: 1_000 });
    expect(words).toEqual([{ kind: "armed", silenceMs: 15_000 }]);
  });

  it("does nothing once an engine has connected, and stops when one does", async () => {
    const met = await setup();
    await met.quietly(() => met.place(2));
    met.say({ kind: "hello", version: 1, session: "a", beatMs: 1_000 });
    met.keeper.giveUp(why);
    await met.run(5_000);
    expect([met.resting(), met.kinds()]).toEqual([2, ["proved", "armed"]]);
    const late = await setup();
    await late.quietly(() => late.place(2));
    late.keeper.giveUp(why);
    late.say({ kind: "hello", version: 1, session: "a", beatMs: 1_000 });
    await late.run(10_000);
    expect([late.resting(), late.kinds()]).toEqual([2, ["proved", "unmet", "taken-over", "armed"]]);
  });
});
