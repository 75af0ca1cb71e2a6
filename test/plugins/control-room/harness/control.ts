/**
 * Control port of a paper engine in real time, and requests to it written byte by byte.
 *
 * Invariants: everything is on 127.0.0.1; closing ends the engine, its port and every socket of the test.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import type { EngineSource } from "../../../../plugins/control-room/index.ts";
import dashboard from "../../../../plugins/dashboard/index.ts";
import { constant, paper } from "../../../../src/backtest.ts";
import { createEngine, type Engine, type Strategy } from "../../../../src/index.ts";
import { defaultFolder } from "../../../../src/journal/own-folder.ts";
import { swap } from "../../../support/harness/backtest.ts";

export interface Controlled {
  readonly engine: Engine;
  readonly port: number;
  readonly token: string;
  readonly printed: readonly string[];
  /** Text of the answer to these bytes, until the connection ends or `ms` have passed. */
  raw(bytes: string, ms?: number): Promise<string>;
  /** One request with the right Host and the acting token; `undefined` takes a header away. */
  ask(request: Asked): Promise<Answered>;
  connect(): Socket;
  stop(): Promise<void>;
}

export interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
  readonly version?: string;
}

export interface Answered {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

export const readAnswer = (text: string): Answered => {
  const end = text.indexOf("\r\n\r\n");
  const head = end < 0 ? text : text.slice(0, end);
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0), head, body: end < 0 ? "" : text.slice(end + 4) };
};

/** Text of a request. */
export const written = (
  port: number,
  token: string,
  { method = "GET", path = "/api/v1/sources", headers = {}, body, version = "1.1" }: Asked,
): string => {
  const all: Record<string, string | undefined> = {
    Host: `127.0.0.1:${port}`,
    Authorization: `Bearer ${token}`,
    ...(body !== undefined && { "Content-Type": "application/json", "Content-Length": `${Buffer.byteLength(body)}` }),
    Connection: "close",
    ...headers,
  };
  const lines = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`]));
  return `${method} ${path} HTTP/${version}\r\n${lines.join("\r\n")}\r\n\r\n${body ?? ""}`;
};

/** The acting one of a `tokenFile`, which is not printed. */
const ownToken = ({ tokenFile }: { readonly tokenFile?: string }): string =>
  tokenFile !== undefined && existsSync(tokenFile) ? (readFileSync(tokenFile, "utf8").split("\n")[0] ?? "") : "";

/** By the file that the port has left. */
const portOf = (token: string): number => {
  for (const name of readdirSync(defaultFolder())) {
    const port = new RegExp(`^control-${process.pid}-(\\d+)\\.json$`).exec(name)?.[1];
    if (port !== undefined && readFileSync(join(defaultFolder(), name), "utf8").includes(token)) return Number(port);
  }
  return 0;
};

export const startControlled = async (strategies: readonly Strategy[], options: object = {}): Promise<Controlled> => {
  const printed: string[] = [];
  const listening = deferred();
  const print = (line: string): void => {
    printed.push(line);
    if (line.startsWith("dashboard: ")) listening.resolve();
  };
  const service = paper({ instruments: [swap], latency: constant(5), balances: { USDT: "1000000" } });
  const engine = createEngine({ service, strategies, plugins: [dashboard(options)] }, { print });
  engine.on("plugin.failed", ({ message }) => {
    printed.push(message);
    listening.resolve();
  });
  await engine.start();
  await listening.promise;
  const [, made = ""] = /\/#token=([\w-]+)$/.exec(printed[0] ?? "") ?? [];
  const token = made === "" ? ownToken(options) : made;
  const port = token === "" ? 0 : portOf(token);
  const sockets = new Set<Socket>();
  const open = (): Socket => {
    const socket = connect(port, "127.0.0.1");
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    return socket;
  };
  const raw = (bytes: string, ms = 5_000): Promise<string> =>
    new Promise((resolve) => {
      const socket = open();
      let text = "";
      const timer = setTimeout(() => socket.destroy(), ms);
      socket.on("data", (chunk) => {
        text += chunk.toString("utf8");
      });
      socket.on("close", () => {
        clearTimeout(timer);
        resolve(text);
      });
      socket.write(bytes);
    });
  const ask = async (request: Asked): Promise<Answered> => readAnswer(await raw(written(port, token, request)));
  if (port !== 0) await shown(engine, ask, `/api/v1/sources/${(options as { readonly name?: string }).name ?? "main"}`);
  return {
    engine,
    port,
    token,
    printed,
    raw,
    ask,
    connect: open,
    stop: async () => {
      await engine.stop();
      for (const socket of sockets) socket.destroy();
    },
  };
};

const looksMax = 50;

/** Waits until the first orders rest and those who watch are told of them, where it can be asked so. */
const shown = async (engine: Engine, ask: Controlled["ask"], path: string): Promise<void> => {
  for (let look = 0; look < looksMax; look++) {
    const open = engine.openOrders();
    const { status, body } = await ask({ path });
    if (status !== 200) return;
    const told = rowsOf(body, "strategies").reduce((sum, row) => sum + Number(row["openOrders"]), 0);
    if (open.length > 0 && open.every(({ phase }) => phase === "live") && told === open.length) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};

const deferred = () => {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
};

/** Rows of a section in the answer to a snapshot. */
export const rowsOf = (body: string, section: string): readonly Record<string, unknown>[] =>
  (JSON.parse(body) as ReturnType<EngineSource["snapshot"]>).rows.flatMap(([name, , row]) =>
    name === section && row !== null ? [row as never] : [],
  );

interface StreamEvent {
  readonly event: string;
  readonly data: unknown;
}

/** Server-sent events of the engine `main`, read as they come. */
export const streamOf = (room: Controlled, id = "main") => {
  const { port, token } = room;
  const socket = room.connect();
  let text = "";
  let isOver = false;
  let wake: () => void = () => undefined;
  socket.on("data", (chunk) => {
    text += chunk.toString("utf8");
    wake();
  });
  socket.on("close", () => {
    isOver = true;
    wake();
  });
  socket.write(written(port, token, { path: `/api/v1/sources/${id}/stream` }));
  /** Events that have arrived, chunk sizes taken away. */
  const taken = (): StreamEvent[] => {
    const events: StreamEvent[] = [];
    for (;;) {
      const found = /event: (\w+)\ndata: (.*)\n\n/.exec(text);
      if (found === null) return events;
      text = text.slice(found.index + found[0].length);
      events.push({ event: found[1] as string, data: JSON.parse(found[2] as string) });
    }
  };
  return {
    /** Events up to the first that satisfies `found`; that one alone is the last. Gives up with the test. */
    until: async (found: (one: StreamEvent) => boolean): Promise<readonly StreamEvent[]> => {
      for (;;) {
        const match = taken().find(found);
        if (match !== undefined) return [match];
        if (isOver) throw new Error("the stream ended before");
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    /** Everything until the end of the stream. */
    rest: async (): Promise<readonly StreamEvent[]> => {
      while (!isOver) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return taken();
    },
    end: () => socket.destroy(),
  };
};
