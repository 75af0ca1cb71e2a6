/**
 * Proxy on this machine between a client and any address that drops, corrupts and duplicates calls.
 *
 * Invariants: bytes are handed on as they are, so that signatures hold; a fault applies only to the calls it was set
 * for, as often as it was set; closing ends every connection; it listens on loopback only.
 * Not here: recognizing a call by its bytes (lost-orders.ts), sockets, which go straight to the service.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from "node:http";
import { request as secureRequest } from "node:https";
import type { AddressInfo } from "node:net";

/** Effect of each kind of fault on a call; with all but `drop_request` the service executes the call. */
export const wayFaults = {
  drop_response: "the connection is closed in place of the answer",
  truncated: "the answer ends in the middle",
  html: "a page comes in place of the answer, with status 502",
  unavailable: "status 503 comes in place of the answer, with JSON of another form",
  json: "an empty object comes in place of the answer, with status 200",
  not_json: "words come in place of the answer, with status 200",
  empty_body: "status 200 comes without a body",
  redirect: "the answer is a redirect to another address",
  silence: "no answer comes, and the connection stays",
  duplicate: "the call is made twice, and the second answer comes",
  drop_request: "the connection is closed before the service sees the call",
} as const;
export type WayFault = keyof typeof wayFaults;

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

interface WayOptions {
  /** Scheme and host of the service. */
  readonly target: string;
  /** The fault for this call, if there is one left. */
  readonly faultFor: (seen: Seen) => WayFault | undefined;
}

interface FaultyWay {
  readonly url: string;
  close(): Promise<void>;
}

export const openFaultyWay = async ({ target, faultFor }: WayOptions): Promise<FaultyWay> => {
  const server = createServer((incoming, response) => {
    response.on("error", () => undefined);
    void bodyOf(incoming)
      .then(async (body) => {
        const { method = "GET", url: path = "/" } = incoming;
        const fault = faultFor({ method, path, body: body.toString("utf8") });
        if (fault === "drop_request") {
          incoming.socket.destroy();
          return;
        }
        if (fault === "duplicate") await forward(target, incoming, body);
        spoil(response, await forward(target, incoming, body), fault);
      })
      // The service is away: so is the answer.
      .catch(() => incoming.socket.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const bodyOf = async (stream: AsyncIterable<Buffer>): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
};

const forward = (target: string, { method, url = "/", headers }: IncomingMessage, body: Buffer): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const to = new URL(url, target);
    const ask = to.protocol === "https:" ? secureRequest : request;
    const { connection: _, "transfer-encoding": __, ...kept } = headers;
    const outgoing = ask(to, { method, headers: { ...kept, host: to.host, connection: "close" } }, (incoming) => {
      bodyOf(incoming).then(
        (whole) => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: whole }),
        (error: unknown) => reject(error as Error),
      );
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });

const page = "<html><body><h1>502 Bad Gateway</h1></body></html>";

const spoil = (response: ServerResponse, { status, headers, body }: Answer, fault: WayFault | undefined): void => {
  const say = (
    code: number,
    type: string,
    text: string | Buffer,
    more: Readonly<Record<string, string>> = {},
  ): void => {
    response.writeHead(code, { "content-type": type, "content-length": Buffer.byteLength(text), ...more });
    response.end(text);
  };
  switch (fault) {
    case "drop_response":
      response.socket?.destroy();
      return;
    case "truncated":
      response.writeHead(status, { "content-type": "application/json", "content-length": body.length + 1 });
      response.write(body.subarray(0, Math.ceil(body.length / 2)), () => response.socket?.destroy());
      return;
    case "html":
      say(502, "text/html", page);
      return;
    case "unavailable":
      say(503, "application/json", '{"error":"unavailable"}');
      return;
    case "json":
      say(200, "application/json", "{}");
      return;
    case "not_json":
      say(200, "text/plain", "OK");
      return;
    case "empty_body":
      say(200, "application/json", "");
      return;
    case "redirect":
      say(307, "text/plain", "", { location: "http://127.0.0.1:9/" });
      return;
    case "silence":
      return;
    case "duplicate":
    case "drop_request":
    case undefined: {
      const { date, "content-type": type = "application/json", "retry-after": later } = headers;
      say(status, type, body, {
        ...(date !== undefined && { date }),
        ...(later !== undefined && { "retry-after": later }),
      });
      response.sendDate = false;
    }
  }
};
