/**
 * An engine that is none: a control document filled with made rows, and the HTTP port that a page follows it by, so that the page can be
 * tried at any rate and with any content.
 *
 * Invariants: equal seeds give equal rows; listens on loopback only; nothing goes on after `close`.
 * Not here: the port of an engine (plugins/control-room/server).
 */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ControlDocument, type ControlUpdate } from "../../../../plugins/control-room/control-document.ts";
import type { EngineRow, OrderRow } from "../../../../plugins/control-room/control-rows.ts";
import { pageFiles } from "../../../../plugins/control-room/server/page-files.ts";

const barMs = 60_000;
export const longId = "a-client-order-id-or-a-name-that-is-as-long-as-eighty-characters-and-not-any-less".slice(0, 80);

/** Chance that is the same each time. */
const chance = (seed: number) => (): number => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
  return seed / 2_147_483_648;
};

export interface MadeEngine {
  readonly document: ControlDocument;
  /** Changes so many rows, as an hour of trading would; the clock goes on by `ms`. */
  change(rows: number, ms: number): void;
  readonly now: () => number;
}

const instIds = ["BTC-USDT-SWAP", "ETH-USDT-SWAP", "SOL-USDT-SWAP"];
const names = ["ladder", "maker", longId];

/** A document in which every section has rows. */
export const madeEngine = (
  id: string,
  engine: Partial<EngineRow> = {},
  startAt = Date.UTC(2026, 0, 5, 9),
): MadeEngine => {
  const document = new ControlDocument(id);
  const random = chance(7);
  const prices = [64_000, 3_100, 148];
  let [now, serial] = [startAt, 0];
  const open: string[] = [];
  const px = (place: number, away = 0): string => ((prices[place] as number) * (1 + away)).toFixed(2);
  const row: EngineRow = {
    ...{
      name: id,
      kind: "live",
      environment: "mainnet",
      version: "0.2.0",
      startedAt: startAt - 6 * 3_600_000,
      mode: "active",
      reason: "",
    },
    ...{ run: 14, state: "running" },
    ...engine,
  };
  const placeOrder = (): void => {
    const [place, owner, side] = [
      Math.floor(random() * 3),
      Math.floor(random() * 3),
      random() < 0.5 ? "buy" : "sell",
    ] as const;
    const clOrdId =
      serial % 40 === 0
        ? `${longId.slice(0, 74)}${String(serial).padStart(6, "0")}`
        : `s14m${String(serial).padStart(8, "0")}x`;
    serial++;
    open.push(clOrdId);
    const order: OrderRow = {
      ...{
        clOrdId,
        strategy: names[owner] as string,
        slot: `rung ${Math.floor(random() * 8)}`,
        instId: instIds[place] as string,
        side,
      },
      ...{
        ordType: "limit",
        px: px(place, (side === "buy" ? -1 : 1) * random() * 0.004),
        qty: (random() * 2).toFixed(3),
        sz: "600",
        filledQty: "0",
        avgPx: "",
      },
      ...{ phase: "live", isFinal: false, reason: "", placedAt: now, changedAt: now },
    };
    document.put("orders", clOrdId, order);
  };
  const endOrder = (): void => {
    const clOrdId = open.shift();
    const order = clOrdId === undefined ? undefined : document.row("orders", clOrdId);
    if (clOrdId === undefined || order === undefined) return;
    const isFilled = random() < 0.4;
    const over = { isFinal: true, changedAt: now, phase: isFilled ? "filled" : "canceled" } as const;
    document.put("orders", clOrdId, {
      ...order,
      ...over,
      ...(isFilled ? { filledQty: order.qty, avgPx: order.px } : { reason: "replaced by the next wanted order" }),
    });
    if (!isFilled) return;
    const seq = serial++;
    const { strategy, slot, instId, side, qty } = order;
    const fill = {
      seq,
      at: now,
      strategy,
      slot,
      instId,
      clOrdId,
      side,
      px: order.px,
      qty,
      cost: (Number(qty) * 0.02).toFixed(6),
      currency: "USDT",
    };
    document.put("fills", `${seq}`, { ...fill, liquidity: "maker", position: "0.5" });
  };
  const tell = (): void => {
    const seq = serial++;
    const severity = random() < 0.06 ? "bad" : random() < 0.2 ? "warn" : "info";
    const text =
      severity === "bad"
        ? "placeOrder was not answered: the order is looked for"
        : severity === "warn"
          ? "a placement waits for quota"
          : `ladder bought 0.05 BTC at ${px(0)}`;
    document.put("events", `${seq}`, {
      seq,
      at: now,
      type: severity === "info" ? "fill" : "action.held",
      text,
      severity,
    });
  };
  const sample = (): void => {
    const gain = (share: number): string => ((serial / 40) * share + random() * 12 - 4).toFixed(8);
    const profits = names.map((name, place) => [name, { USDT: gain(place === 2 ? -0.2 : 0.6) }] as const);
    for (const [name, profit] of profits) {
      const schema = {
        type: "object",
        properties: {
          levels: { type: "integer", minimum: 1, maximum: 20, description: "Rungs on each side." },
          step: { type: "string" },
          kind: { enum: ["slow", "fast"] },
          hedge: { type: "boolean" },
        },
      };
      const options = { instId: "BTC-USDT-SWAP", levels: 4, step: "0.001", kind: "slow", hedge: false };
      const mode = { mode: row.mode, reason: row.reason };
      document.put("strategies", name, {
        name,
        user: "1001",
        state: "running",
        ...mode,
        options,
        schema,
        openOrders: 9,
        fills: Math.floor(serial / 9),
        weight: serial * 10,
        profit,
      });
    }
    const total = profits.reduce((sum, [, { USDT }]) => sum + Number(USDT), 0).toFixed(8);
    document.put("money", "USDT", {
      currency: "USDT",
      profit: total,
      realised: (Number(total) * 0.8).toFixed(8),
      unrealised: (Number(total) * 0.3).toFixed(8),
      fees: (Number(total) * 0.1).toFixed(8),
    });
    document.put("equity", `${now}`, { at: now, profit: { USDT: total }, strategies: Object.fromEntries(profits) });
    for (const [place, instId] of instIds.entries()) {
      const name = names[place] as string;
      const held = {
        qty: place === 1 ? "-1.25" : "0.05",
        avgPx: px(place, -0.001),
        markPx: px(place),
        currency: "USDT",
        unrealised: gain(0.1),
        realised: gain(0.3),
        fees: "1.204",
        profit: gain(0.4),
      };
      document.put("positions", `${name}|${instId}`, { strategy: name, instId, ...held });
    }
    document.put("balances", "1001|USDT", { user: "1001", currency: "USDT", balance: "25210.88231", stale: false });
    document.put("balances", "1001|BTC", { user: "1001", currency: "BTC", balance: "0.41", stale: true });
    document.put("accountPositions", "1001|BTC-USDT-SWAP", {
      ...{ user: "1001", instId: "BTC-USDT-SWAP", pos: "0.05", avgPx: px(0), upl: "3.2", stale: false },
    });
    for (const [name, value, unit, state] of [
      ["clock offset", 12, "ms", "ok"],
      ["event loop", 4, "ms", "ok"],
      ["sockets", 3, "", "ok"],
      ["pushed orders 1001", true, "", "ok"],
      ["journal", "open", "", "ok"],
      ["watchdog", "armed", "", "ok"],
      ["anomalies", 2, "", "warn"],
      ["pending 1001", "stale: the service answers nothing", "", "bad"],
      ["placeOrder p50", 31, "ms", "ok"],
      ["placeOrder p99", 240, "ms", "ok"],
    ] as const)
      document.putChanged("health", name, { value, unit, state });
  };
  const spend = (): void => {
    const minute = Math.floor(now / 60_000) * 60_000;
    const used = Math.min(1_080, Math.floor((now - minute) / 60));
    document.put("quota", "uid|1001", {
      layer: "uid",
      scope: "1001",
      capacity: 1_200,
      used,
      reserved: 105,
      foreign: Math.floor(used / 5),
      windowEndsAt: minute + 60_000,
      mode: "measured",
    });
    document.put("quota", "ip|203.0.113.7", {
      layer: "ip",
      scope: "203.0.113.7",
      capacity: 1_200,
      used: Math.floor(used / 8),
      reserved: 20,
      foreign: 0,
      windowEndsAt: minute + 60_000,
      mode: "measured",
    });
    document.put("quota", "key|main", {
      layer: "key",
      scope: "main",
      capacity: 20,
      used: Math.floor(random() * 18),
      reserved: 2,
      foreign: 0,
      windowEndsAt: Math.floor(now / 1_000) * 1_000 + 1_000,
      mode: "measured",
    });
    document.put("queue", "all", { queued: 3, inFlight: 2 });
    document.put("queue", "place|ladder", { queued: 3, inFlight: 1 });
    document.put("queue", "cancel|engine", { queued: 0, inFlight: 1 });
  };
  const trade = (): void => {
    for (const [place, instId] of instIds.entries()) {
      prices[place] = (prices[place] as number) * (1 + (random() - 0.498) * 0.0006);
      document.put("markets", instId, { instId, bid: px(place), ask: px(place, 0.0001), last: px(place), at: now });
      const levels = (way: number) =>
        Array.from(
          { length: 10 },
          (_, level) => [px(place, way * (0.00005 + level * 0.0001)), (random() * 4).toFixed(3)] as const,
        );
      document.put("book", instId, { instId, at: now, bids: levels(-1), asks: levels(1) });
      const at = (Math.floor(now / barMs) + 1) * barMs;
      const before = document.row("candles", `${instId}|${at}`);
      const c = px(place);
      const [h, l] = [Math.max(Number(c), Number(before?.h ?? c)), Math.min(Number(c), Number(before?.l ?? c))].map(
        String,
      ) as [string, string];
      document.put("candles", `${instId}|${at}`, { instId, at, o: before?.o ?? c, h, l, c });
    }
  };
  const acts = [placeOrder, endOrder, placeOrder, endOrder, placeOrder, endOrder, tell];
  document.put("engine", "", row);
  const change = (rows: number, ms: number): void => {
    now += ms;
    for (let done = 0; done < rows; done++) acts[done % acts.length]?.();
    trade();
    spend();
    sample();
  };
  for (let step = 0; step < 360; step++) change(3, 20_000);
  for (let count = 0; count < 30; count++) placeOrder();
  for (let count = 0; count < 40; count++) tell();
  document.take(now);
  return { document, change, now: () => now };
};

export interface MadePort {
  readonly url: string;
  /** What was asked for, as it came. */
  readonly acts: readonly { readonly source: string; readonly action: Readonly<Record<string, unknown>> }[];
  readonly send: (source: string) => void;
  /** The process stands still: connections stay open or are taken, and nothing comes, until `open` is called. */
  readonly freeze: () => void;
  /** Ends every connection and takes no new one until `open` is called. */
  readonly shut: () => Promise<void>;
  readonly open: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The port of part 4: snapshot, stream, story, actions. */
export const madePort = async (
  engines: ReadonlyMap<string, MadeEngine>,
  access: "read" | "act" = "act",
): Promise<MadePort> => {
  const assets = pageFiles();
  const acts: { source: string; action: Readonly<Record<string, unknown>> }[] = [];
  const readers = new Map<ServerResponse, string>();
  let port = 0;
  let isFrozen = false;
  const tell = (response: ServerResponse, event: string, data: unknown): void =>
    void response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  const json = (response: ServerResponse, status: number, value: unknown): void => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
  };
  const make = () =>
    createServer((request, response) => {
      if (isFrozen) return;
      const { pathname } = new URL(request.url ?? "/", "http://localhost");
      const file = assets.get(pathname);
      if (file !== undefined)
        return response
          .writeHead(200, { "content-type": file.type, "content-security-policy": "default-src 'self'" })
          .end(file.bytes);
      if (request.headers.authorization !== "Bearer secret")
        return json(response, 401, { ok: false, code: "TOKEN_WRONG", text: "The token is wrong." });
      const [, , , , id = "", what = ""] = pathname.split("/").map(decodeURIComponent);
      const engine = engines.get(id);
      if (pathname === "/api/v1/sources")
        return json(response, 200, { access, sources: [...engines.keys()].map((source) => ({ id: source })) });
      if (engine === undefined)
        return json(response, 404, { ok: false, code: "SOURCE_UNKNOWN", text: "No engine of this id is here." });
      if (what === "") return json(response, 200, engine.document.snapshot());
      if (what === "stream") {
        response.writeHead(200, { "content-type": "text/event-stream" });
        tell(response, "snapshot", engine.document.snapshot());
        readers.set(response, id);
        response.on("close", () => readers.delete(response));
      } else if (what === "actions") {
        let text = "";
        request.on("data", (part) => {
          text += part;
        });
        request.on("end", () => {
          acts.push({ source: id, action: JSON.parse(text) });
          json(response, 200, { ok: true, text: "Done.", count: 3 });
        });
      } else
        json(response, 200, [
          { type: "order.changed", seq: 1, at: engine.now(), phase: "planned", reason: "" },
          { type: "order.changed", seq: 2, at: engine.now() + 40, phase: "live", reason: "" },
        ]);
    });
  let server = make();
  const listen = (): Promise<void> => new Promise((done) => server.listen(port, "127.0.0.1", done));
  await listen();
  port = (server.address() as AddressInfo).port;
  const beat = (): void => {
    for (const response of readers.keys()) tell(response, "heartbeat", { silentMs: 20 });
  };
  let beating = setInterval(beat, 1_000);
  const shut = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  };
  return {
    url: `http://127.0.0.1:${port}/#token=secret`,
    acts,
    send: (source) => {
      const update: ControlUpdate | undefined = engines.get(source)?.document.take(engines.get(source)?.now() ?? 0);
      if (update !== undefined)
        for (const [response, id] of readers) if (id === source) tell(response, "update", update);
    },
    freeze: () => {
      isFrozen = true;
      clearInterval(beating);
    },
    shut,
    open: async () => {
      isFrozen = false;
      server = make();
      await listen();
      clearInterval(beating);
      beating = setInterval(beat, 1_000);
    },
    close: async () => {
      clearInterval(beating);
      await shut();
    },
  };
};
