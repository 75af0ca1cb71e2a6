/** The proxies of the environment as ccxt takes them. */
import { afterEach, expect, it, vi } from "vitest";
import { proxiesOf } from "../../../plugins/ccxt/ccxt-proxies.ts";
import { proxyNames } from "../../support/harness/tunnel-proxy.ts";

const urls = {
  logo: "https://logos.example",
  api: { public: "https://api.{hostname}/v5", ws: { public: "wss://stream.{hostname}/ws" } },
};
const exchange = { urls, hostname: "okx.test" };

afterEach(() => {
  vi.unstubAllEnvs();
});

it.each<[string, Readonly<Record<string, string>>, object]>([
  ["none without an environment", {}, {}],
  ["one for requests and sockets", { HTTPS_PROXY: "http://a:1" }, { httpsProxy: "http://a:1", wssProxy: "http://a:1" }],
  ["none for a name in NO_PROXY", { HTTPS_PROXY: "http://a:1", NO_PROXY: ".okx.test" }, {}],
  [
    "that of the address and not of a logo",
    { HTTPS_PROXY: "http://a:1", NO_PROXY: "logos.example" },
    { httpsProxy: "http://a:1", wssProxy: "http://a:1" },
  ],
])("%s", (_, env, expected) => {
  for (const name of proxyNames) vi.stubEnv(name, env[name]);
  expect(proxiesOf(exchange)).toEqual(expected);
});
