/**
 * Money of two users in one engine, as metrics, alerts, the store and the control room tell it: against figures made by hand and against
 * what the exchange itself keeps of each account.
 */
import { join } from "node:path";
import { concat, NEVER, of, Subject } from "rxjs";
import { describe, expect, it } from "vitest";
import alerts from "../../../plugins/alerts/index.ts";
import { ControlDocument, EngineSource } from "../../../plugins/control-room/index.ts";
import killSwitch from "../../../plugins/kill-switch/index.ts";
import prometheus from "../../../plugins/prometheus/index.ts";
import { metricsText } from "../../../plugins/prometheus/registries.ts";
import sqlite from "../../../plugins/sqlite/index.ts";
import { Sqlite } from "../../../plugins/sqlite/sqlite.ts";
import { compare, mul, sub, sum } from "../../../src/decimal.ts";
import { definePlugin, type Plugin, type WantedOrder } from "../../../src/index.ts";
import { type PluginTest, type TestOptions, testPlugin } from "../../../src/testing.ts";
import { closed, strategy, swap } from "../../support/harness/backtest.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const hasSqlite = (): boolean => {
  try {
    new Sqlite(":memory:").close();
    return true;
  } catch {
    return false;
  }
};

const users = { ann: { balances: { USDT: "1000" } }, ben: { balances: { USDT: "5000", BTC: "2" } } };

/**
 * Ann, the first user, buys 0.01 at 60000 and Ben sells 0.02 at 60100, both as makers at 2 basis points. At 60200 / 60201:
 * Ann has made 0.01 * 200 - 0.12 = 1.88, Ben -0.02 * 101 - 0.2404 = -2.2604.
 */
const profits = { ann: "1.88", ben: "-2.2604" } as const;

const traded = async (plugin: Plugin, given: TestOptions["users"] = users): Promise<PluginTest> => {
  const ben$ = new Subject<readonly WantedOrder[]>();
  const ofBen = { ...strategy("of ben", { wanted: () => concat(of([]), ben$, NEVER) }), user: "ben" };
  const t = await testPlugin(plugin, { users: given, strategies: [ofBen], fees: { makerBps: "2", takerBps: "5" } });
  // Accounts are read before anything is traded.
  await t.advance(5_000);
  t.quote(swap, { bidPx: "60000", askPx: "60100" });
  t.want([{ slot: "bid", instId: swap, side: "buy", px: "60000", qty: "0.01" }]);
  ben$.next([{ slot: "ask", instId: swap, side: "sell", px: "60100", qty: "0.02" }]);
  await t.advance(500);
  t.fill("bid");
  t.fill("ask");
  await t.advance(500);
  t.quote(swap, { bidPx: "60200", askPx: "60201" });
  t.trade(swap, { side: "buy", px: "60201", qty: "0.001" });
  await t.advance(3_000);
  return t;
};

/** By uid: the balance of USDT as the service says it, and the entry and size of what is held. */
const accountsOf = async (t: PluginTest) => {
  const accounts = new Map<
    string,
    { usdt: string; held: { readonly pos: string; readonly avgPx: string } | undefined }
  >();
  for (const user of t.engine.users) {
    const account = { usdt: "", held: undefined as { readonly pos: string; readonly avgPx: string } | undefined };
    accounts.set(user, account);
    t.engine.accountOf(user).balances$.subscribe(({ value }) => {
      account.usdt = value.find(({ currency }) => currency === "USDT")?.balance ?? "";
    });
    t.engine.accountOf(user).positions$.subscribe(({ value }) => {
      account.held = value[0];
    });
  }
  await t.advance(2_000);
  return accounts;
};

/** What an account is worth more than at the start, closed at the quote: nothing of the engine's own booking is in it. */
const gainOf = (
  { usdt, held }: { usdt: string; held: { readonly pos: string; readonly avgPx: string } | undefined },
  start: string,
) => {
  const { pos, avgPx } = held ?? { pos: "0", avgPx: "0" };
  const px = compare(pos, "0") > 0 ? "60200" : "60201";
  return sum([sub(usdt, start), mul(pos, sub(px, avgPx))]);
};

describe("Two users of one engine", () => {
  it("have each a profit of their own among the metrics, which is what the exchange keeps of each account", async () => {
    const t = await traded(prometheus({ serve: false }));
    const text = (await metricsText())?.text ?? "";
    const equity = text.split("\n").filter((line) => line.startsWith("sluice_equity{"));
    expect(equity).toEqual([
      `sluice_equity{user="ann",currency="USDT"} ${profits.ann}`,
      `sluice_equity{user="ben",currency="USDT"} ${profits.ben}`,
    ]);
    const accounts = await accountsOf(t);
    for (const user of ["ann", "ben"] as const) {
      expect(gainOf(accounts.get(user) as never, users[user].balances.USDT), user).toBe(profits[user]);
    }
    await t.stop();
  });

  it("are watched for losses one by one, and the alert names the user", async () => {
    const t = await traded(
      alerts({
        virtual: "send",
        channels: { screen: { kind: "print" } },
        rules: { fill: false, started: false, stopped: false },
        losses: { USDT: ["2"] },
      }),
    );
    // Together they have lost 0.3804 only.
    expect(t.printed).toEqual([`alerts: critical: profit of ben is ${profits.ben} USDT: a loss of 2 or more`]);
    t.quote(swap, { bidPx: "60090", askPx: "60091" });
    await t.advance(2_000);
    // Ben: 0.02 * 9 - 0.2404; Ann: 0.01 * 90 - 0.12.
    expect(t.printed.slice(1)).toEqual(["alerts: info: loss of ben is -0.0604 USDT: less than half of 2 lost"]);
    await t.stop();
  });

  it("have rows of their own in the control room, and only one currency is added up", async () => {
    const follower = new ControlDocument("main");
    const watching = definePlugin({
      name: "watching",
      options: closed,
      setup: (context) => {
        const accounts = context.users.map((user) => ({ user, ...context.accountOf(user) }));
        const facts = {
          name: "main",
          kind: "paper",
          environment: "",
          version: "",
          startedAt: 0,
          mode: "active",
          reason: "",
        } as const;
        const source = new EngineSource("main", { ...facts, state: "running" }, { ...context, accounts });
        follower.apply(source.snapshot());
        source.updates$.subscribe((update) => follower.apply(update));
        return () => source.end();
      },
    });
    const t = await traded(watching({}));
    const ann = { realised: "0", unrealised: "2", fees: "0.12", profit: profits.ann };
    const ben = { realised: "0", unrealised: "-2.02", fees: "0.2404", profit: profits.ben };
    expect(follower.row("userMoney", "ann|USDT")).toEqual({ user: "ann", currency: "USDT", ...ann });
    expect(follower.row("userMoney", "ben|USDT")).toEqual({ user: "ben", currency: "USDT", ...ben });
    const both = { realised: "0", unrealised: "-0.02", fees: "0.3604", profit: "-0.3804" };
    expect(follower.rows("money")).toEqual([{ currency: "USDT", ...both }]);
    await t.advance(60_000);
    const accounts = await accountsOf(t);
    expect(follower.row("balances", "ann|USDT")).toEqual({
      user: "ann",
      currency: "USDT",
      balance: "999.88",
      stale: false,
    });
    expect(follower.row("balances", "ben|USDT")).toMatchObject({ user: "ben", balance: accounts.get("ben")?.usdt });
    expect(follower.row("balances", "ben|USDT")).toMatchObject({ balance: "4999.7596" });
    expect(follower.row("balances", "ben|BTC")).toMatchObject({ user: "ben", balance: "2" });
    expect(follower.keys("accountPositions").toSorted()).toEqual([`ann|${swap}`, `ben|${swap}`]);
    expect(follower.row("accountPositions", `ann|${swap}`)).toMatchObject({ pos: "0.01", avgPx: "60000" });
    expect(follower.row("accountPositions", `ben|${swap}`)).toMatchObject({ pos: "-0.02", avgPx: "60100" });
    await t.stop();
  });

  it.each([
    // Ann has made about 1.9 and Ben lost about 2.25, by the exchange's own mark price between bid and ask.
    [{ lossMax: "0.3" }, "halted"],
    [{ lossMax: "0.5" }, "active"],
    [{ lossMax: "0.3", users: ["ann"] }, "active"],
    [{ lossMax: "2.1", users: ["ben"] }, "halted"],
  ] as [Parameters<typeof killSwitch>[0], string][])(
    "are watched by the kill switch, all of them unless it is told whom: %o",
    async (options, mode) => {
      // A balance without a price would leave nothing to judge by.
      const t = await traded(killSwitch(options), { ...users, ben: { balances: { USDT: "5000" } } });
      await t.advance(120_000);
      expect(t.mode).toBe(mode);
      await t.stop();
    },
  );

  it.skipIf(!hasSqlite())("are one curve in the store, the sum of their profits in a currency", async () => {
    const path = join(temporaryFolder("several-users"), "runs.db");
    const t = await traded(sqlite({ path, equityMs: 1_000 }));
    await t.stop();
    const database = new Sqlite(path, { readOnly: true });
    const last = database.all("SELECT currency, profit FROM equity ORDER BY at DESC LIMIT 1");
    database.close();
    expect(last).toEqual([{ currency: "USDT", profit: "-0.3804" }]);
  });
});
