import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { NEVER, Subject } from "rxjs";
import { describe, expect, it } from "vitest";
import { main } from "../../../src/cli/main.ts";
import type { RunParts } from "../../../src/cli/run.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import type { Event, EventBody, OrderPhase } from "../../../src/journal/events.ts";
import { capturedIo } from "../../support/captured-io.ts";
import { orderRecord } from "../../support/harness/records.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

type CreateEngine = NonNullable<RunParts["createEngine"]>;

const folder = temporaryFolder("live");

const configFor = (name: string, config: object): string => {
  const path = join(folder, `${name}.mjs`);
  writeFileSync(path, `export default ${JSON.stringify(config)};\n`);
  return path;
};
const baseUrl = "https://testnet.example.com";
const testnet = configFor("testnet", { service: { kind: "live", environment: "testnet", baseUrl } });
const mainnet = configFor("mainnet", { service: { kind: "live", environment: "mainnet", baseUrl } });
const paper = configFor("paper", { service: { kind: "paper" } });

const changed = (clOrdId: string, phase: OrderPhase, reason = "", instId = "BTC-USDT-SWAP"): EventBody => ({
  type: "order.changed",
  strategy: "s",
  slot: clOrdId,
  instId,
  clOrdId,
  phase,
  record: phase === "live" || phase === "filled" ? orderRecord({ clOrdId, instId }) : undefined,
  reason,
});

/** Runs until told to stop; `story` happens while it runs. */
const run = async (path: string, argv: readonly string[], story: readonly EventBody[] = [], config = path) => {
  const io = capturedIo();
  const events$ = new Subject<Event>();
  const log: unknown[] = [];
  let begin = (): void => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const createEngine: CreateEngine = () => ({
    events$,
    quota$: NEVER,
    strategies: () => [],
    openOrders: () => [],
    start: () => {
      log.push("start");
      begin();
      return Promise.resolve();
    },
    stop: (options) => {
      log.push(["stop", options]);
      events$.complete();
      return Promise.resolve();
    },
  });
  const ended = main(["run", config, ...argv], io, { createEngine, clock: createVirtualClock() });
  await Promise.race([begun, ended]);
  // One turn, for what the command does once the start is done.
  await new Promise((resolve) => setImmediate(resolve));
  story.forEach((body, seq) => {
    events$.next({ ...body, seq, at: 1_000 });
  });
  io.stop();
  return { code: await ended, io, log };
};

describe("Running against mainnet", () => {
  it("is refused without --mainnet, before anything is opened", async () => {
    const { code, io, log } = await run(mainnet, []);
    expect([code, log]).toEqual([2, []]);
    expect(io.errText).toMatch(/^error: config\.service is mainnet: orders would cost real money\. Add --mainnet/);
  });

  it("is done with --mainnet", async () => {
    const { code, log } = await run(mainnet, ["--mainnet"]);
    expect([code, log[0]]).toEqual([0, "start"]);
  });

  it("needs no word for a testnet or for paper", async () => {
    expect([(await run(testnet, [])).code, (await run(paper, [])).code]).toEqual([0, 0]);
  });
});

describe("Running in a dialect that was not tried", () => {
  const file = join(folder, "untried.mjs");
  const service = `{ kind: "live", environment: "mainnet", baseUrl: "${baseUrl}", untried: "acme-v2", open: (env) => { globalThis.acmeEnv = env; } }`;
  writeFileSync(file, `export default { service: ${service} };\n`);

  it("is refused on mainnet until somebody says to have tested it", async () => {
    const { code, io, log } = await run(file, ["--mainnet"]);
    expect([code, log]).toEqual([2, []]);
    expect(io.errText).toMatch(
      /^error: config\.service uses the dialect acme-v2, which has not been tested .* then add --i-tested-this\.$/m,
    );
  });

  it("hands that word to the service", async () => {
    const { code, log } = await run(file, ["--mainnet", "--i-tested-this"]);
    expect([code, log[0]]).toEqual([0, "start"]);
  });

  it("asks for --mainnet first", async () => {
    expect((await run(file, ["--i-tested-this"])).io.errText).toMatch(/Add --mainnet/);
  });
});

describe("Resting orders at the end of a run:", () => {
  it.each([
    [[], false],
    [["--keep"], false],
    [["--cancel"], true],
  ] as const)("%j: cancelled %s", async (argv, cancel) => {
    const { log } = await run(testnet, argv);
    expect(log.at(-1)).toEqual(["stop", { cancel, settleMs: expect.any(Number) }]);
  });

  it("--cancel and --keep exclude each other", async () => {
    const { code, io } = await run(testnet, ["--cancel", "--keep"]);
    expect(code).toBe(2);
    expect(io.errText).toContain("cannot be used with");
  });

  it("that stay are told with their place and the way to cancel them", async () => {
    const story = [
      changed("a", "live"),
      changed("b", "live"),
      changed("b", "canceled"),
      changed("c", "live", "", "ETH-USDT-SWAP"),
      changed("d", "live"),
    ];
    const { code, io } = await run(testnet, [], story);
    expect(code).toBe(0);
    expect(io.errText).toContain(
      `3 orders stay open at ${baseUrl}: 2 in BTC-USDT-SWAP, 1 in ETH-USDT-SWAP. To cancel: sluice run ${testnet} --seconds 5 --cancel\n`,
    );
  });

  it("that should have gone and were not seen to go are told by id, and the run has failed", async () => {
    const { code, io } = await run(
      testnet,
      ["--cancel"],
      [changed("a", "live"), changed("b", "live"), changed("b", "canceling"), changed("a", "canceled")],
    );
    expect(io.errText).toContain(`1 order could not be confirmed as canceled at ${baseUrl}; look for clOrdId b.\n`);
    expect(io.errText).toContain("error: 1 order could not be confirmed as canceled and may still be open");
    expect(code).toBe(1);
  });

  it.each(["sent", "unknown"] as const)("that are %s when all were to be canceled are a failure", async (phase) => {
    expect((await run(testnet, ["--cancel"], [changed("a", phase)])).code).toBe(1);
    expect((await run(testnet, ["--cancel"], [changed("a", phase), changed("a", "canceled")])).code).toBe(0);
  });

  it("of which nothing is known are told by id, and end with 0", async () => {
    const { code, io } = await run(
      testnet,
      [],
      [changed("a", "sent"), changed("b", "unknown"), changed("c", "unknown"), changed("c", "absent")],
    );
    expect(code).toBe(0);
    expect(io.errText).toContain(`2 orders may or may not have reached ${baseUrl}; look for clOrdId a, b.\n`);
  });

  it("are nothing to tell of when the service ends with the run", async () => {
    const { io } = await run(paper, [], [changed("a", "live"), changed("b", "unknown")]);
    expect(io.errText).toBe("Stopping: Ctrl-C.\n");
  });
});

describe("The order summary of a run", () => {
  it("warns with the commonest reason when every order was refused", async () => {
    const refused = (reason: string): EventBody => ({ type: "order.refused", strategy: "s", slot: "x", reason });
    const story = [
      refused("below the minimum"),
      changed("a", "rejected", "51008 no funds"),
      refused("below the minimum"),
    ];
    const { code, io } = await run(testnet, [], story);
    expect(code).toBe(1);
    expect(io.errText).toContain("warning: every order was refused (3); most often (2): below the minimum\n");
    expect((await run(testnet, [], [...story, changed("b", "live")])).io.errText).not.toContain(
      "every order was refused",
    );
  });

  it.each([
    ["quote_notional", "50 USDT"],
    ["base", "50 BTC"],
    ["contracts", "50 contracts"],
  ])("fills are told in what sz counts: %s", async (SWAP, words) => {
    const path = configFor(SWAP, { service: { kind: "paper" }, profile: { order: { szUnit: { SWAP } } } });
    const { io } = await run(path, [], [changed("a", "filled")]);
    expect(io.outText).toContain(`filled s/a buy BTC-USDT-SWAP ${words} at 42000.5`);
    expect((await run(path, ["--json"], [changed("a", "filled")])).io.outText).toContain('"accFillSz":"50"');
  });
});

describe("Risk limits meant to outlast a run", () => {
  const orders = { positionInAll: "1000", lossPerStrategy: "10", orderNotionalMax: "5" };
  const service = { kind: "live", environment: "testnet", baseUrl };

  it("and cannot without a journal are named", async () => {
    const { io } = await run(configFor("forgetful", { service, orders }), []);
    expect(io.errText).toContain(
      "Without config.journal each run counts orders.positionInAll, orders.lossPerStrategy from nothing.",
    );
  });

  it.each<[string, object]>([
    ["with a journal", { service, orders, journal: { dir: "j" } }],
    ["on paper, where every run has a service of its own", { service: { kind: "paper" }, orders }],
    ["where none is set", { service, orders: { orderNotionalMax: "5" } }],
  ])("%s nothing is said", async (name, config) => {
    const { io } = await run(configFor(name.replaceAll(/[ ,]/g, "-"), config), []);
    expect(io.errText).not.toContain("from nothing");
  });
});
