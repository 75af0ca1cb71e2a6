/**
 * A server that writes whatever bytes a test tells it to, on 127.0.0.1.
 *
 * Invariants: every request is kept in the order it was read whole; nothing is written that the test did not ask for; closing
 * ends every connection.
 */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer, type Socket } from "node:net";

export interface RawRequest {
  readonly line: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Exchange {
  readonly request: RawRequest;
  readonly socket: Socket;
  /** Counts requests over all connections, from 0. */
  readonly index: number;
}

export type Answer = (exchange: Exchange) => void;

export interface RawServer {
  readonly url: string;
  readonly requests: readonly RawRequest[];
  readonly connections: readonly Socket[];
  /** Resolves when so many requests have been read whole. */
  arrived(count: number): Promise<void>;
  close(): Promise<void>;
}

const readHeaders = (lines: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );

export const startRawServer = async (
  answer: Answer,
  connected: (socket: Socket) => void = () => undefined,
): Promise<RawServer> => {
  const requests: RawRequest[] = [];
  const connections: Socket[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  const server = createServer((socket) => {
    connections.push(socket);
    socket.on("error", () => undefined);
    connected(socket);
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      for (;;) {
        const end = text.indexOf("\r\n\r\n");
        if (end < 0) return;
        const [line = "", ...rest] = text.slice(0, end).split("\r\n");
        const headers = readHeaders(rest);
        const whole = end + 4 + Number(headers["content-length"] ?? "0");
        if (text.length < whole) return;
        const request = { line, headers, body: Buffer.from(text.slice(end + 4, whole), "latin1").toString("utf8") };
        text = text.slice(whole);
        requests.push(request);
        for (const { count, resolve } of waiting) if (requests.length >= count) resolve();
        answer({ request, socket, index: requests.length - 1 });
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    connections,
    arrived: (count) =>
      new Promise((resolve) => {
        if (requests.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
    close: async () => {
      for (const socket of connections) socket.destroy();
      server.close();
      if (server.listening) await once(server, "close");
    },
  };
};

/** A whole answer: status line, headers, a length that is right unless `headers` brings its own. */
export const httpText = (
  status: number | string,
  body: string | Buffer = "",
  headers: Readonly<Record<string, string>> = {},
): Buffer => {
  const bytes = Buffer.from(body as string);
  const own = Object.keys(headers).some((name) => /^(content-length|transfer-encoding)$/i.test(name));
  const lines = Object.entries({ ...(own ? {} : { "content-length": String(bytes.length) }), ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  const line = typeof status === "number" ? `HTTP/1.1 ${status} Word` : status;
  return Buffer.concat([Buffer.from(`${[line, ...lines].join("\r\n")}\r\n\r\n`, "latin1"), bytes]);
};
