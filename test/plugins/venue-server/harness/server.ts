/**
 * A service on a port of this machine, on a clock that only the test moves, and a stranger's way to call it: node:http, sockets,
 * and a signature of a few lines that shares no code with the service.
 */
import { createHmac } from "node:crypto";
import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import type { FaultPlan } from "../../../../plugins/venue-server/server/faults.ts";
import type { ServerKey } from "../../../../plugins/venue-server/server/keyring.ts";
import { describedService, servedContract } from "../../../../plugins/venue-server/server/served-dialect.ts";
import { startVenueServer, type VenueServerOptions } from "../../../../plugins/venue-server/server/server.ts";
import { createVirtualClock } from "../../../../src/clock/virtual-clock.ts";
import type { ProfileOverrides } from "../../../../src/contract/profile.ts";
import { createRandom } from "../../../../src/random.ts";
import { createVenue, type VenueInstrument } from "../../../../src/venue/venue.ts";
import { everything, instruments } from "../../../support/harness/venue.ts";

/** 2023-11-14T22:13:20Z: twenty seconds into a minute. */
export const startAt = 1_700_000_000_000;

const keyOf = (apiKey: string, uid: string, permissions: readonly string[]): ServerKey => ({
  apiKey,
  secretKey: `${apiKey} secret`,
  passphrase: `${apiKey} phrase`,
  uid,
  permissions,
});
export const keys = {
  ann: keyOf("ann-1", "ann", everything),
  ann2: keyOf("ann-2", "ann", everything),
  reader: keyOf("ann-read", "ann", ["read"]),
  bob: keyOf("bob-1", "bob", everything),
} as const;

/** How a client signs; the defaults are those of the description's gap G12. */
export interface Style {
  readonly prefix?: string;
  readonly timestamp?: (at: number) => string;
  readonly digest?: "base64" | "hex" | "hex_base64";
  /** The signed text. */
  readonly text?: (part: { timestamp: string; method: string; path: string; query: string; body: string }) => string;
}

export interface Call {
  readonly key?: ServerKey | undefined;
  readonly query?: string;
  /** Sent as it is; other values as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly ip?: string;
  readonly style?: Style;
  /** The client's time; the service's when left out. */
  readonly at?: number;
}

export interface Heard {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Undefined when the text is no JSON. */
  readonly body: {
    readonly code: string;
    readonly msg: string;
    readonly data: readonly Readonly<Record<string, unknown>>[];
  };
}

export const signatureOf = (
  { secretKey }: ServerKey,
  style: Style,
  parts: { timestamp: string; method: string; path: string; query: string; body: string },
): string => {
  const { timestamp, method, path, body } = parts;
  const hmac = createHmac("sha256", secretKey).update(style.text?.(parts) ?? timestamp + method + path + body);
  if (style.digest === "hex_base64") return btoa(hmac.digest("hex"));
  return hmac.digest(style.digest ?? "base64");
};

export const signedHeaders = (
  key: ServerKey,
  style: Style,
  at: number,
  method: string,
  path: string,
  query: string,
  body: string,
) => {
  const { prefix = "X-API-" } = style;
  const timestamp = (style.timestamp ?? ((when) => new Date(when).toISOString()))(at);
  return {
    [`${prefix}Key`]: key.apiKey,
    [`${prefix}Sign`]: signatureOf(key, style, { timestamp, method, path, query, body }),
    [`${prefix}Timestamp`]: timestamp,
    [`${prefix}Passphrase`]: key.passphrase,
  };
};

const bodyText = (body: unknown): string =>
  body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body);

const parsed = (text: string): Heard["body"] => {
  try {
    return JSON.parse(text) as Heard["body"];
  } catch {
    return undefined as unknown as Heard["body"];
  }
};

const read = (response: IncomingMessage): Promise<Heard> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.on("error", reject);
    response.on("end", () => {
      const text = Buffer.concat(chunks).toString();
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text, body: parsed(text) });
    });
  });

export interface SettingOptions
  extends Partial<Omit<VenueServerOptions, "venue" | "contract" | "clock" | "keys" | "faults">> {
  readonly profile?: ProfileOverrides;
  readonly limits?: boolean;
  readonly listed?: readonly VenueInstrument[];
  readonly faults?: FaultPlan;
  readonly makerBps?: string;
}

export const serverSetting = async ({
  profile = {},
  limits = false,
  faults = {},
  listed = instruments,
  makerBps = "2",
  ...rest
}: SettingOptions = {}) => {
  const clock = createVirtualClock(startAt);
  const contract = servedContract(rest.dialect ?? describedService, profile);
  const venue = createVenue({
    contract,
    instruments: listed,
    users: ["ann", "bob"].map((uid) => ({
      uid,
      keys: Object.values(keys)
        .filter((key) => key.uid === uid)
        .map(({ apiKey, permissions }) => ({ name: apiKey, permissions })),
      balances: { USDT: "100000", BTC: "10" },
    })),
    fees: { SPOT: { makerBps, takerBps: "5" }, SWAP: { makerBps, takerBps: "5" } },
    enforceLimits: limits,
  });
  venue.quote("BTC-USDT-SWAP", 600_000, 100_000, 600_010, 100_000, startAt);
  const server = await startVenueServer({
    venue,
    contract,
    clock,
    random: createRandom(1),
    keys: Object.values(keys),
    faults,
    ipOf: ({ headers }) => String(headers["x-test-ip"] ?? "10.0.0.1"),
    ...rest,
  });
  onTestFinished(() => server.close());
  const port = Number(new URL(server.url).port);

  /** The bytes of the head are node's; path and query are sent as given. */
  const open = (method: string, path: string, call: Call = {}): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const { query = "", key, style = {}, at = clock.wallNow(), ip } = call;
      const body = bodyText(call.body);
      const headers = {
        ...(key !== undefined && signedHeaders(key, style, at, method, path, query, body)),
        ...(body !== "" && { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) }),
        ...(ip !== undefined && { "x-test-ip": ip }),
        ...call.headers,
      };
      const target = query === "" ? path : `${path}?${query}`;
      const sent = request({ host: "127.0.0.1", port, method, path: target, headers, agent: false }, resolve);
      sent.on("error", reject);
      sent.end(body);
    });
  const call = async (method: string, path: string, options: Call = {}): Promise<Heard> =>
    read(await open(method, path, options));
  return {
    server,
    venue,
    clock,
    port,
    contract,
    open,
    call,
    get: (rest_: string, options: Call = {}) => call("GET", `/api/v1/${rest_}`, options),
    post: (rest_: string, body: unknown, options: Call = {}) => call("POST", `/api/v1/${rest_}`, { ...options, body }),
    /** Places an order of Ann's that rests, unless told otherwise. */
    place: (order: Readonly<Record<string, unknown>> = {}, options: Call = {}) =>
      call("POST", "/api/v1/trade/order", {
        key: keys.ann,
        body: { instId: "BTC-USDT-SWAP", side: "buy", ordType: "limit", px: "50000", sz: "500", ...order },
        ...options,
      }),
  };
};

export type Setting = Awaited<ReturnType<typeof serverSetting>>;

/** How many whole answers a text holds. */
const answersIn = (text: string): number => {
  let count = 0;
  for (let from = 0; ; count++) {
    const end = text.indexOf("\r\n\r\n", from);
    if (end === -1) return count;
    from = end + 4 + Number(/content-length: (\d+)/i.exec(text.slice(from, end))?.[1] ?? 0);
    if (from > text.length) return count;
  }
};

/**
 * Writes bytes and gives what came back: once so many answers are whole, or the other side closed, or nothing came for `quietMs`.
 * The last is a bound unless silence is what is tested.
 */
export const rawTalk = (
  port: number,
  bytes: string | Uint8Array,
  { answers = 1, quietMs = 10_000 }: { readonly answers?: number; readonly quietMs?: number } = {},
): Promise<{ text: string; closed: boolean }> =>
  new Promise((resolve) => {
    let text = "";
    let timer: NodeJS.Timeout | undefined;
    const socket: Socket = connect({ host: "127.0.0.1", port });
    const end = (closed: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ text, closed });
    };
    const quiet = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => end(false), quietMs);
    };
    socket.on("connect", () => {
      socket.write(bytes);
      quiet();
    });
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      if (answersIn(text) >= answers) end(false);
      else quiet();
    });
    socket.on("error", () => undefined);
    socket.on("close", () => end(true));
  });

/** For what ends in a closed connection. */
export const toTheEnd = { answers: Number.POSITIVE_INFINITY } as const;
/** For what is never answered. */
export const silence = { quietMs: 20 } as const;

/** Resolves once `holds`; sockets need turns of the loop, and the bound is only there to end a test that cannot pass. */
export const until = async (holds: () => boolean): Promise<void> => {
  const givenUpAt = performance.now() + 10_000;
  while (!holds()) {
    if (performance.now() > givenUpAt) throw new Error("it never held");
    await new Promise((resolve) => setImmediate(resolve));
  }
};
