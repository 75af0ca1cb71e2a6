/**
 * Proxies between this machine and a service, as the environment names them.
 *
 * Invariants: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` count as everywhere, in either case; a service on this machine
 * is never reached through a proxy; a connection through one is a tunnel, so that the proxy sees no request and no
 * secret; no error message holds the credentials of a proxy.
 * Not here: connections without one (http.ts, socket.ts).
 */
import type { Agent } from "node:http";
import { createRequire } from "node:module";
import type { Dispatcher } from "undici";
import { SluiceError } from "../../errors.ts";
import { isLoopback } from "./service-address.ts";

const load = <T>(name: string): T => createRequire(import.meta.url)(name) as T;

/**
 * The proxy through which a URL is reached, as `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` name it.
 *
 * @param url - of the request
 * @returns undefined for a direct connection
 * @throws CONFIG_INVALID for a proxy that is neither `http://` nor `https://`
 */
export const proxyOf = (url: string): string | undefined => {
  const isNamed = /^https?_proxy$|^all_proxy$/i;
  if (!Object.keys(process.env).some((name) => isNamed.test(name))) return undefined;
  const { protocol, hostname } = new URL(url);
  if (isLoopback(hostname.replace(/^\[|\]$/g, ""))) return undefined;
  const { getProxyForUrl } = load<{ readonly getProxyForUrl: (url: string) => string }>("proxy-from-env");
  // Sockets go through the same proxy as requests.
  const proxy = getProxyForUrl(url.replace(/^ws/, "http"));
  if (proxy === "") return undefined;
  const scheme = URL.canParse(proxy) ? new URL(proxy).protocol : "";
  if (scheme === "http:" || scheme === "https:") return proxy;
  const name = protocol === "https:" || protocol === "wss:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  throw new SluiceError(
    "CONFIG_INVALID",
    `${name} names a proxy by ${scheme === "" ? "something that is no URL" : scheme}. Write http://host:port, or name ${hostname} in NO_PROXY.`,
  );
};

/**
 * Makes the connections of single requests through a proxy, as a dispatcher of undici; undefined for a direct
 * connection. To be closed once the answer has begun.
 *
 * @param url - of the request
 * @returns a dispatcher of undici, to be closed once the answer has begun; undefined for a direct connection
 */
export const proxyDispatcherOf = (url: string): Dispatcher | undefined => {
  const uri = proxyOf(url);
  if (uri === undefined) return undefined;
  const { ProxyAgent } = load<typeof import("undici")>("undici");
  return new ProxyAgent({ uri, proxyTunnel: true });
};

/** Makes the connections of sockets through a proxy; undefined for a direct connection. */
export const socketAgentOf = (url: string): Agent | undefined => {
  const proxy = proxyOf(url);
  if (proxy === undefined) return undefined;
  const { HttpsProxyAgent } = load<typeof import("https-proxy-agent")>("https-proxy-agent");
  return new HttpsProxyAgent(proxy);
};
