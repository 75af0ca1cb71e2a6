/**
 * Metrics for Prometheus: quota, requests, orders, money and health, on a page that is scraped or through a server of
 * one's own.
 *
 * Invariants: what counts is counted as it happens, everything else is read when it is scraped; the registry is its
 * own; a page costs no request; the number of series is bounded.
 * Not here: names and texts of metrics (prometheus/series.ts), the text without a port (prometheus/registries.ts).
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { add, definePlugin, type PluginContext } from "sluice";
import type { StrategyView } from "sluice/extension";
import { keepRegistry } from "./registries.ts";
import { type Labels, SeriesSet } from "./series.ts";

export { metricsText } from "./registries.ts";

const modes = { active: 2, reducing: 1, halted: 0 } as const;
const secondsOf = (ms: number): number => ms / 1_000;
const flag = (is: boolean): number => (is ? 1 : 0);

type Context = Pick<PluginContext<unknown>, "health" | "on" | "openOrders" | "quotaNow" | "strategies">;

const countEvents = (series: SeriesSet, { on }: Context): void => {
  on("event", ({ type }) => series.count("events_total", { type }));
  on("action.sent", ({ class: kind, waitedMs }) =>
    series.observe("action_wait_seconds", { class: kind }, secondsOf(waitedMs)),
  );
  on("action.answered", ({ endpoint, outcome, status, elapsedMs }) => {
    series.count("actions_total", { endpoint, outcome });
    if (status > 0) series.observe("action_seconds", { endpoint }, secondsOf(elapsedMs));
  });
  on("quota.rejected", ({ layer }) => series.count("quota_rejected_total", { layer }));
  on("order.changed", ({ strategy, phase }) => series.count("order_changes_total", { strategy, phase }));
  on("order.refused", ({ strategy }) => series.count("orders_refused_total", { strategy }));
  on("fill", ({ strategy, instId, side }) => series.count("fills_total", { strategy, instId, side }));
  on("anomaly", ({ what }) => series.count("anomalies_total", { what }));
};

const readQuota = (series: SeriesSet, { quotaNow }: Context): void => {
  const { layers, queued, inFlight, spent } = quotaNow();
  const each = (
    name: "quota_capacity" | "quota_used" | "quota_reserved" | "quota_foreign",
    field: "capacity" | "used" | "reserved" | "foreign",
  ) =>
    series.replace(
      name,
      layers.map((row) => [{ layer: row.layer, scope: row.scope }, row[field]]),
    );
  each("quota_capacity", "capacity");
  each("quota_used", "used");
  each("quota_reserved", "reserved");
  each("quota_foreign", "foreign");
  series.replace(
    "quota_floor",
    layers.map(({ layer, scope, mode }) => [{ layer, scope }, mode === "floor" ? 1 : 0]),
  );
  series.replace("queue", [[{}, queued]]);
  series.replace("in_flight", [[{}, inFlight]]);
  series.replace(
    "quota_spent_total",
    Object.entries(spent).map(([owner, weight]) => [{ owner }, weight]),
  );
};

type Amount = "profit" | "realised" | "unrealised" | "fees";

/** Sums are exact; only what is shown is a number. */
const amountsOf = ({ name, positions }: StrategyView, amount: Amount) => {
  const sums = new Map<string, string>();
  for (const position of positions.values())
    sums.set(position.currency, add(sums.get(position.currency) ?? "0", position[amount]));
  return [...sums].map(([currency, sum]) => [{ strategy: name, currency }, sum] as const);
};

const readStrategies = (series: SeriesSet, { strategies, openOrders }: Context): void => {
  const views = strategies();
  series.replace(
    "strategy_up",
    views.map(({ name, state }) => [{ strategy: name }, flag(state === "running")]),
  );
  series.replace(
    "trading_mode",
    views.map(({ name, mode }) => [{ strategy: name }, modes[mode]]),
  );
  series.replace(
    "position",
    views.flatMap(({ name, positions }) =>
      [...positions.values()].map(({ instId, qty }) => [{ strategy: name, instId }, qty] as const),
    ),
  );
  for (const amount of ["profit", "realised", "unrealised", "fees"] as const) {
    series.replace(
      amount,
      views.flatMap((view) => amountsOf(view, amount)),
    );
  }
  series.replace(
    "orders_open",
    openOrders().map(({ strategy, phase }) => [{ strategy, phase }, 1]),
  );
};

const readHealth = (series: SeriesSet, { health }: Context): void => {
  const { clock, eventLoop, journal, pushing, resources, watchdog } = health();
  series.replace(
    "resource_age_seconds",
    resources.map(({ user, name, ageMs }) => [
      { user, resource: name },
      ageMs === undefined ? undefined : secondsOf(ageMs),
    ]),
  );
  series.replace(
    "resource_stale",
    // A series that was never read is not kept.
    resources.map(({ user, name, stale, ageMs }) => [
      { user, resource: name },
      ageMs === undefined ? undefined : flag(stale),
    ]),
  );
  series.replace(
    "pushing",
    Object.entries(pushing).map(([user, is]) => [{ user }, flag(is)]),
  );
  series.replace("clock_offset_seconds", [[{}, clock === undefined ? undefined : secondsOf(clock.offsetMs)]]);
  series.replace("event_loop_late_seconds", [[{}, eventLoop === undefined ? undefined : secondsOf(eventLoop.lateMs)]]);
  series.replace("journal_up", [[{}, journal.state === "none" ? undefined : flag(journal.state === "open")]]);
  series.replace("watchdog_armed", [[{}, watchdog.state === "none" ? undefined : flag(watchdog.state === "armed")]]);
  series.replace("memory_bytes", [[{}, process.memoryUsage.rss()]]);
};

interface Place {
  readonly host: string;
  readonly port: number;
  readonly names: readonly string[];
}

const loopback = /^(?:localhost|127[.]\d+[.]\d+[.]\d+|::1)$/;
const own = ["localhost", "127.0.0.1", "[::1]"];

/** True when the request names this machine: a site that points its name here is refused. */
const isOwnName = ({ host, names }: Place, port: number | undefined, asked = ""): boolean =>
  !loopback.test(host) ||
  [...own, ...names].some((name) => [`${name}:${port}`, ...(port === 80 ? [name] : [])].includes(asked.toLowerCase()));

/** The text as it was read last, for one second. */
const readOnceASecond = (series: SeriesSet, now: () => number): (() => Promise<string>) => {
  let last: { readonly at: number; readonly text: string } | undefined;
  return async () => {
    const at = now();
    if (last === undefined || at < last.at || at - last.at >= 1_000)
      last = { at, text: await series.registry.metrics() };
    return last.text;
  };
};

/** Offers the page; returns what ends it. */
const serve = (series: SeriesSet, place: Place, now: () => number, print: (line: string) => void) => {
  const { host, port } = place;
  const text = readOnceASecond(series, now);
  const server = createServer((request, response) => {
    const [path] = (request.url ?? "").split("?");
    const answer = (status: number, type: string, body: string): void => {
      response.writeHead(status, { "content-type": type, connection: "close" });
      response.end(request.method === "HEAD" ? "" : body);
    };
    if (!isOwnName(place, request.socket.localPort, request.headers.host))
      return answer(403, "text/plain", "Not a name of this page.\n");
    if (path !== "/metrics") return answer(404, "text/plain", "See /metrics.\n");
    if (request.method !== "GET" && request.method !== "HEAD") return answer(405, "text/plain", "Only GET.\n");
    text().then(
      (body) => answer(200, series.registry.contentType, body),
      (error: unknown) => {
        print(`the page failed: ${error instanceof Error ? error.message : "no reason given"}`);
        answer(500, "text/plain", "The metrics could not be read.\n");
      },
    );
    return undefined;
  });
  server.requestTimeout = 10_000;
  server.maxConnections = 16;
  server.on("error", ({ message }) => print(`no page: ${message}`));
  server.listen(port, host, () =>
    print(`http://${host.includes(":") ? `[${host}]` : host}:${(server.address() as AddressInfo).port}/metrics`),
  );
  return (): void => {
    server.close();
    server.closeAllConnections();
  };
};

export default definePlugin({
  name: "prometheus",
  options: {
    type: "object",
    additionalProperties: false,
    properties: {
      host: { description: "Address to listen on.", type: "string", default: "127.0.0.1" },
      port: {
        description: "Port to listen on; 0 takes a free one.",
        type: "integer",
        minimum: 0,
        maximum: 65_535,
        default: 9464,
      },
      names: {
        description:
          "Names besides localhost under which a page of this machine is asked for, as through a proxy; without the port.",
        type: "array",
        maxItems: 20,
        items: { type: "string", pattern: "^[a-z0-9.-]{1,253}$" },
        default: [],
      },
      serve: {
        description: "False where the text goes through a server of your own (`metricsText`).",
        type: "boolean",
        default: true,
      },
      labels: {
        description: "Labels of every series, such as the name of the engine.",
        type: "object",
        additionalProperties: { type: "string" },
        default: {},
      },
      labelsMax: {
        description: "Values that one label of one metric may take; later ones count as `other`.",
        type: "integer",
        minimum: 1,
        maximum: 10_000,
        default: 200,
      },
    },
  },
  setup: (context) => {
    const { name, accountOf, options, requirePackage, users } = context;
    const print = (line: string): void => context.print(`prometheus: ${line}`);
    const profits = new Map<string, ReadonlyMap<string, string>>();
    const series = new SeriesSet(requirePackage, options.labelsMax, options.labels as Labels, () => {
      readQuota(series, context);
      readStrategies(series, context);
      readHealth(series, context);
      series.replace(
        "equity",
        [...profits].flatMap(([user, amounts]) =>
          [...amounts].map(([currency, profit]) => [{ user, currency }, profit] as const),
        ),
      );
    });
    countEvents(series, context);
    for (const user of users) accountOf(user).equity$.subscribe((amounts) => profits.set(user, amounts));
    const drop = keepRegistry(name, series.registry);
    const close = options.serve ? serve(series, options, context.now, print) : undefined;
    return () => {
      close?.();
      drop();
    };
  },
});
