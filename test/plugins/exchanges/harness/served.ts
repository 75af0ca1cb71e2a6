/**
 * A service that speaks as another exchange on the loopback, and a client that follows the exchange's published documentation: raw
 * HTTP, sockets, signatures of its own.
 */
import { createHmac } from "node:crypto";
import { onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { servedDialects } from "../../../../plugins/exchanges/served/served-dialects.ts";
import type { ServerKey } from "../../../../plugins/venue-server/server/keyring.ts";
import {
  type Call,
  keys,
  type SettingOptions,
  type Style,
  serverSetting,
  startAt,
} from "../../venue-server/harness/server.ts";
import { clientOf } from "../../venue-server/harness/sockets.ts";

/** Contracts of a hundredth of a coin, and of a tenth; a tenth of a contract is the least. */
export const contracts = [
  { instId: "BTC-USDT-SWAP", tickSize: "0.1", lotSize: "0.001", contractValue: "0.01", maxLeverage: "50" },
  { instId: "BTC-USDT", tickSize: "0.1", lotSize: "0.001" },
  { instId: "ETH-USDT-SWAP", tickSize: "0.01", lotSize: "0.01", contractValue: "0.1" },
];

const withQuery = (path: string, query: string): string => (query === "" ? path : `${path}?${query}`);

/** How the exchange's clients sign; a nonce is used once. */
const styles: Readonly<Record<string, (nonce: string) => Style>> = {
  okx: () => ({
    prefix: "OK-ACCESS-",
    text: ({ timestamp, method, path, query, body }) => `${timestamp}${method}${withQuery(path, query)}${body}`,
  }),
  blofin: (nonce) => ({
    prefix: "ACCESS-",
    timestamp: String,
    digest: "hex_base64",
    text: ({ timestamp, method, path, query, body }) => `${withQuery(path, query)}${method}${timestamp}${nonce}${body}`,
  }),
};

const digest = (secret: string, text: string) => createHmac("sha256", secret).update(text);

/** What a client would send to log in. */
export const logins = {
  okx: ({ apiKey, secretKey, passphrase }: ServerKey, at: number) => {
    const timestamp = String(Math.floor(at / 1_000));
    return {
      apiKey,
      passphrase,
      timestamp,
      sign: digest(secretKey, `${timestamp}GET/users/self/verify`).digest("base64"),
    };
  },
  blofin: ({ apiKey, secretKey, passphrase }: ServerKey, at: number) => {
    const [timestamp, nonce] = [String(at), "n-3"];
    const sign = btoa(digest(secretKey, `/users/self/verifyGET${timestamp}${nonce}`).digest("hex"));
    return { apiKey, passphrase, timestamp, nonce, sign };
  },
} as const;

export const servedSetting = async (name: keyof typeof servedDialects, options: SettingOptions = {}) => {
  const setting = await serverSetting({ dialect: servedDialects[name], listed: contracts, ...options });
  setting.venue.quote("BTC-USDT", 600_000, 100_000, 600_010, 100_000, startAt);
  setting.venue.quote("ETH-USDT-SWAP", 300_000, 100_000, 300_001, 100_000, startAt);
  const family = name.split("-")[0] as keyof typeof logins;
  let used = 0;
  const signed = ({ key = keys.ann, headers, ...call }: Call) => {
    const nonce = `nonce-${used++}`;
    return { key, style: styles[family]?.(nonce) as Style, headers: { "ACCESS-NONCE": nonce, ...headers }, ...call };
  };
  const socket = async (path: string) => {
    const opened = new WebSocket(`ws://127.0.0.1:${setting.port}${path}`, { perMessageDeflate: false });
    onTestFinished(() => opened.terminate());
    const client = clientOf(opened);
    await new Promise((resolve, reject) => {
      opened.on("open", resolve);
      opened.on("error", reject);
    });
    return client;
  };
  return {
    ...setting,
    get: (path: string, query = "", call: Call = {}) => setting.call("GET", path, signed({ query, ...call })),
    post: (path: string, body: unknown, call: Call = {}) => setting.call("POST", path, signed({ body, ...call })),
    socket,
    /** A socket that is logged in. */
    privateSocket: async (path: string, key: ServerKey = keys.ann) => {
      const client = await socket(path);
      client.say({ op: "login", args: [logins[family](key, setting.clock.wallNow())] });
      await client.takeEvent("login");
      return client;
    },
  };
};
