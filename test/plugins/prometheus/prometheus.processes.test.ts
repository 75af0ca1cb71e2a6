/**
 * The Prometheus plugin: figures against figures made by hand, its page, the dashboard, and a Prometheus that scrapes it where one is installed.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import prometheus from "../../../plugins/prometheus/index.ts";
import { metricsText } from "../../../plugins/prometheus/registries.ts";
import { metrics } from "../../../plugins/prometheus/series.ts";
import { definePlugin } from "../../../src/index.ts";
import { type PluginTest, testPlugin } from "../../../src/testing.ts";
import { freePort } from "../../support/harness/free-port.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const running: PluginTest[] = [];
afterEach(async () => {
  for (const t of running.splice(0)) await t.stop();
});

const start = async (options: Parameters<typeof prometheus>[0] = {}): Promise<PluginTest> => {
  const t = await testPlugin(prometheus({ port: 0, ...options }), { fees: { makerBps: "2", takerBps: "5" } });
  running.push(t);
  return t;
};

/** Buys 0.01 at 60000 as a maker, and a second order rests. */
const trade = async (t: PluginTest): Promise<void> => {
  t.quote("BTC-USDT-SWAP", { bidPx: "60000", askPx: "60001" });
  t.want([{ slot: "bid", instId: "BTC-USDT-SWAP", side: "buy", px: "60000", qty: "0.01" }]);
  await t.advance();
  t.fill("bid");
  await t.advance();
  t.want([{ slot: "low", instId: "BTC-USDT-SWAP", side: "buy", px: "50000", qty: "0.01" }]);
  await t.advance();
  t.quote("BTC-USDT-SWAP", { bidPx: "60100", askPx: "60101" });
  await t.advance(2_000);
};

const urlOf = async (t: PluginTest): Promise<string> => {
  await expect.poll(() => t.printed).toHaveLength(1);
  return t.printed[0]?.replace("prometheus: ", "") ?? "";
};

/** Series by name and labels, as the text format writes them. */
const seriesOf = (text: string): ReadonlyMap<string, number> =>
  new Map(
    text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]),
  );

/** Status of the page where it is asked for under a name. */
const statusUnder = async (url: string, host: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    request(url, { headers: { host } }, (response) => resolve(response.resume().statusCode))
      .on("error", reject)
      .end();
  });

const page = async (t: PluginTest): Promise<ReadonlyMap<string, number>> =>
  seriesOf(await (await fetch(await urlOf(t))).text());

describe("The prometheus plugin", () => {
  it("offers quota, orders and money with the figures that a hand table gives", async () => {
    const t = await start();
    await trade(t);
    const series = await page(t);
    const own = 'strategy="by hand"';
    // 0.01 at 60000 with a fee of 0.0002 costs 0.12; at a bid of 60100 it is worth 1 more.
    expect(
      Object.fromEntries(
        [...series].filter(([name]) => /^sluice_(profit|realised|unrealised|fees|equity|position|fills)/.test(name)),
      ),
    ).toEqual({
      [`sluice_profit{${own},currency="USDT"}`]: 0.88,
      [`sluice_realised{${own},currency="USDT"}`]: 0,
      [`sluice_unrealised{${own},currency="USDT"}`]: 1,
      [`sluice_fees{${own},currency="USDT"}`]: 0.12,
      'sluice_equity{user="paper",currency="USDT"}': 0.88,
      [`sluice_position{${own},instId="BTC-USDT-SWAP"}`]: 0.01,
      [`sluice_fills_total{${own},instId="BTC-USDT-SWAP",side="buy"}`]: 1,
    });
    expect(series.get(`sluice_orders_open{${own},phase="live"}`)).toBe(1);
    expect(series.get(`sluice_order_changes_total{${own},phase="filled"}`)).toBe(1);
    expect(series.get(`sluice_trading_mode{${own}}`)).toBe(2);
    expect(series.get('sluice_actions_total{endpoint="placeOrder",outcome="done"}')).toBe(2);
    // The way there and back takes 10 ms each.
    expect(series.get('sluice_action_seconds_sum{endpoint="placeOrder"}')).toBeCloseTo(0.04, 9);
    expect(series.get('sluice_action_seconds_bucket{le="0.025",endpoint="placeOrder"}')).toBe(2);
    const { layers, spent } = t.engine.quotaNow();
    for (const { layer, scope, capacity, used, reserved, foreign } of layers) {
      const labels = `{layer="${layer}",scope="${scope}"}`;
      const read = ["capacity", "used", "reserved", "foreign"].map((name) =>
        series.get(`sluice_quota_${name}${labels}`),
      );
      expect(read).toEqual([capacity, used, reserved, foreign]);
    }
    expect(series.get('sluice_quota_spent_total{owner="by hand"}')).toBe(spent["by hand"]);
    expect([series.get("sluice_queue"), series.get("sluice_in_flight"), series.has("sluice_journal_up")]).toEqual([
      0,
      0,
      false,
    ]);
  });

  it("follows a halt, a failure and closed positions: what is gone has no series", async () => {
    const t = await start();
    await trade(t);
    t.engine.halt("enough").subscribe();
    t.failStrategy("no luck");
    await t.advance();
    const series = await page(t);
    expect(series.get('sluice_trading_mode{strategy="by hand"}')).toBe(0);
    expect(series.get('sluice_strategy_up{strategy="by hand"}')).toBe(0);
    expect([...series.keys()].filter((name) => name.startsWith("sluice_orders_open"))).toEqual([]);
    expect(series.get('sluice_events_total{type="mode.changed"}')).toBe(1);
  });

  it("bounds the values of a label; what comes later counts as other", async () => {
    const t = await start({ labelsMax: 3 });
    await trade(t);
    const series = await page(t);
    const types = [...series].filter(([name]) => name.startsWith("sluice_events_total"));
    expect(types.map(([name]) => name)).toHaveLength(4);
    expect(types.at(-1)?.[0]).toBe('sluice_events_total{type="other"}');
    // One event came before the plugin: that of the start.
    expect(types.reduce((sum, [, count]) => sum + count, 0)).toBe(
      t.events.filter(({ type }) => type !== "engine.started").length - early(t),
    );
  });

  it("puts its labels on every series", async () => {
    const t = await start({ labels: { engine: "desk 1" } });
    for (const name of (await page(t)).keys()) expect(name).toContain('engine="desk 1"');
  });

  it("answers for its page only, and gives the port back", async () => {
    const t = await start();
    const url = await urlOf(t);
    expect((await fetch(url.replace("/metrics", "/"))).status).toBe(404);
    expect((await fetch(url, { method: "POST" })).status).toBe(405);
    expect((await fetch(url, { method: "HEAD" })).status).toBe(200);
    await t.stop();
    await expect.poll(() => fetch(url).then(String, () => "closed")).toBe("closed");
  });

  it("answers under names of this machine and those it was given, with its port", async () => {
    const t = await start({ names: ["desk.example.org"] });
    const url = await urlOf(t);
    const { port } = new URL(url);
    for (const name of ["localhost", "LOCALHOST", "127.0.0.1", "[::1]", "desk.example.org"])
      expect(await statusUnder(url, `${name}:${port}`), name).toBe(200);
    for (const host of [
      `evil.example.org:${port}`,
      "localhost",
      "localhost:1",
      `localhost.example.org:${port}`,
      "desk.example.org",
    ])
      expect(await statusUnder(url, host), host).toBe(403);
  });

  it("reads once a second, however often it is asked", async () => {
    const t = await start();
    await trade(t);
    const before = await page(t);
    t.engine.halt("enough").subscribe();
    await t.advance(500);
    expect(await page(t)).toEqual(before);
    await t.advance(500);
    expect((await page(t)).get('sluice_trading_mode{strategy="by hand"}')).toBe(0);
  });

  it("answers 500 when what it reads throws, and goes on", async () => {
    let isBroken = true;
    const other = await testPlugin(
      definePlugin({
        name: "broken",
        options: { type: "object" },
        setup: (context) => {
          const health = () => {
            if (isBroken) throw new Error("out of order");
            return context.health();
          };
          return prometheus({ port: 0 }).start({ ...context, health, options: {} as never });
        },
      })({}),
    );
    running.push(other);
    const url = await urlOf(other);
    expect((await fetch(url)).status).toBe(500);
    expect(other.printed[1]).toBe("prometheus: the page failed: out of order");
    isBroken = false;
    expect((await fetch(url)).status).toBe(200);
  });

  it("says when its port is taken, and trading goes on", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => {
      taken.listen(0, "127.0.0.1", resolve);
    });
    const t = await start({ port: (taken.address() as AddressInfo).port });
    await expect.poll(() => t.printed).toHaveLength(1);
    expect(t.printed[0]).toMatch(/^prometheus: no page: .*EADDRINUSE/);
    await trade(t);
    expect(t.position("BTC-USDT-SWAP")).toBe("0.01");
    taken.close();
  });

  it("hands its text to a server of one's own, as long as it runs", async () => {
    const t = await start({ serve: false });
    await trade(t);
    const { contentType, text } = (await metricsText()) ?? { contentType: "", text: "" };
    expect(contentType).toContain("text/plain; version=0.0.4");
    expect(seriesOf(text).get('sluice_equity{user="paper",currency="USDT"}')).toBe(0.88);
    expect(t.printed).toEqual([]);
    await t.stop();
    expect(await metricsText()).toBeUndefined();
  });
});

/** Events before the plugin began to listen, besides that of the start. */
const early = (t: PluginTest): number => t.events.findIndex(({ type }) => type === "engine.started");

describe("A package that a plugin needs", () => {
  it("is an optional peer of this one, in the version that is asked for", () => {
    const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Readonly<
      Record<"peerDependencies" | "devDependencies", Readonly<Record<string, string>>>
    > & { readonly peerDependenciesMeta: Readonly<Record<string, unknown>> };
    const asked = [
      "plugins/prometheus/series.ts",
      "plugins/alerts/mail.ts",
      "plugins/log/index.ts",
      "plugins/opentelemetry/index.ts",
    ].flatMap((file) => [
      ...readFileSync(file, "utf8").matchAll(/requirePackage<\w+>\("([^"]+)", "([^"]+)", import\.meta\.url\)/g),
    ]);
    expect(asked).toHaveLength(5);
    for (const [, name = "", range] of asked) {
      expect([manifest.peerDependencies[name], manifest.peerDependenciesMeta[name]]).toEqual([
        range,
        { optional: true },
      ]);
      expect(manifest.devDependencies[name]).toMatch(new RegExp(`^${range}[.]`));
    }
  });
});

describe("The page on metrics", () => {
  it("lists every metric as it is", () => {
    const rows = Object.entries(metrics).map(([name, [kind, help, labels]]) =>
      `| \`sluice_${name}\` | ${kind} | ${labels.map((label) => `\`${label}\``).join(", ")} | ${help} |`.replace(
        "|  |",
        "| |",
      ),
    );
    const page = readFileSync("docs/guides/metrics.md", "utf8");
    expect(page.split("\n").filter((line) => line.startsWith("| `sluice_"))).toEqual(rows);
  });
});

interface Panel {
  readonly targets?: readonly { readonly expr: string }[];
}
const dashboard = JSON.parse(readFileSync("docker/grafana/dashboard.json", "utf8")) as {
  readonly panels: readonly Panel[];
};
const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

describe("The dashboard for Grafana", () => {
  const named = new Set(
    expressions.flatMap((expr) => [...expr.matchAll(/sluice_\w+/g)].map(([name]) => name.replace(/_bucket$/, ""))),
  );

  it("asks for metrics that there are, by labels that they have", () => {
    for (const expr of expressions) {
      for (const [, name = "", by = ""] of [
        ...expr.matchAll(/by \(([\w, ]+)\)[\s\S]*?sluice_(\w+?)(?:_bucket)?\{/g),
      ].map(([all, labels, metric]) => [all, metric, labels] as const)) {
        const { [name as keyof typeof metrics]: known } = metrics;
        expect(known, expr).toBeDefined();
        for (const label of by.split(", ").filter((one) => one !== "le"))
          expect(known[2] as readonly string[], expr).toContain(label);
      }
    }
    expect([...named].filter((name) => !(name.replace("sluice_", "") in metrics))).toEqual([]);
    expect(named.size).toBeGreaterThan(25);
  });

  it("leaves no metric out but the count of events", () => {
    expect(Object.keys(metrics).filter((name) => !named.has(`sluice_${name}`))).toEqual(["events_total"]);
  });
});

const installed = (): boolean => {
  try {
    execFileSync("prometheus", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

describe.skipIf(!installed())(
  "A Prometheus of this machine (skipped where the command prometheus is not installed)",
  () => {
    let child: ChildProcess | undefined;
    afterEach(async () => {
      if (child?.exitCode === null) {
        const gone = new Promise((resolve) => child?.once("exit", resolve));
        child.kill("SIGTERM");
        await gone;
      }
    });

    it("scrapes the page and answers every expression of the dashboard", async () => {
      const t = await start();
      await trade(t);
      const folder = temporaryFolder("prometheus");
      const config = join(folder, "prometheus.yml");
      const target = new URL(await urlOf(t)).host;
      const shipped = readFileSync("docker/prometheus/prometheus.yml", "utf8");
      expect(shipped).toContain('["engine:9464"]');
      writeFileSync(config, shipped.replace("engine:9464", target).replace("10s", "1s").replace("5s", "1s"));
      const port = await freePort();
      child = spawn(
        "prometheus",
        [
          `--config.file=${config}`,
          `--storage.tsdb.path=${join(folder, "data")}`,
          `--web.listen-address=127.0.0.1:${port}`,
        ],
        { stdio: "ignore" },
      );
      const ask = async (
        expr: string,
      ): Promise<{
        readonly status: string;
        readonly data?: { readonly result: readonly { readonly value: readonly [number, string] }[] };
      }> =>
        (await (
          await fetch(`http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expr)}`)
        ).json()) as never;
      await expect
        .poll(
          () =>
            ask("sluice_profit").then(
              ({ data }) => data?.result.map(({ value }) => value[1]),
              () => [],
            ),
          { timeout: 30_000, interval: 250 },
        )
        .toEqual(["0.88"]);
      for (const expr of expressions)
        expect(await ask(expr.replaceAll("$instance", ".*")), expr).toMatchObject({ status: "success" });
    });
  },
);
