/** Proxies of the environment: which connections pass one, and that it sees a tunnel and no request. */
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { WebSocketServer } from "ws";
import { proxyOf } from "../../../../src/client/transport/proxy.ts";
import { openWebSocket } from "../../../../src/client/transport/socket.ts";
import { httpText, startRawServer } from "../../../support/harness/raw-server.ts";
import { createClient, requestOf } from "../../../support/harness/transport.ts";
import { proxyNames, startTunnelProxy } from "../../../support/harness/tunnel-proxy.ts";
import { goodBody } from "./wire-faults.ts";

const set = (values: Readonly<Record<string, string>>): void => {
  for (const [name, value] of Object.entries(values)) vi.stubEnv(name, value);
};
const undo: (() => unknown)[] = [];
beforeEach(() => {
  for (const name of proxyNames) vi.stubEnv(name, undefined);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const one of undo.splice(0).reverse()) await one();
});

describe("The proxy of a connection", () => {
  it.each<[string, string, Readonly<Record<string, string>>, string | undefined]>([
    [
      "is that of its scheme",
      "https://api.example.com",
      { HTTPS_PROXY: "http://a:1", HTTP_PROXY: "http://b:2" },
      "http://a:1",
    ],
    ["is found in lower case", "https://api.example.com", { https_proxy: "http://a:1" }, "http://a:1"],
    ["is that of requests for a socket", "wss://api.example.com/ws", { HTTPS_PROXY: "http://a:1" }, "http://a:1"],
    ["is none without an environment", "https://api.example.com", {}, undefined],
    ["is none for another scheme", "https://api.example.com", { HTTP_PROXY: "http://b:2" }, undefined],
    [
      "is none for a name in NO_PROXY",
      "https://api.example.com",
      { HTTPS_PROXY: "http://a:1", NO_PROXY: "x.org,.example.com" },
      undefined,
    ],
    ["is none for this machine", "http://127.0.0.1:8080", { HTTP_PROXY: "http://b:2" }, undefined],
    ["is none for this machine's name", "http://localhost:8080", { HTTP_PROXY: "http://b:2" }, undefined],
    ["is none for this machine by IPv6", "http://[::1]:8080", { HTTP_PROXY: "http://b:2" }, undefined],
  ])("%s", (_, url, env, proxy) => {
    set(env);
    expect(proxyOf(url)).toBe(proxy);
  });

  it("is refused where it speaks no HTTP, without its password", () => {
    set({ HTTPS_PROXY: "socks5://user:secret@a:1" });
    expect(() => proxyOf("https://api.example.com")).toThrow(
      "HTTPS_PROXY names a proxy by socks5:. Write http://host:port, or name api.example.com in NO_PROXY.",
    );
  });
});

const startProxy = async (port: () => number) => {
  const proxy = await startTunnelProxy(port);
  undo.push(() => proxy.close());
  return proxy;
};

describe("Through a proxy", () => {
  it("a request travels in a tunnel, with the proxy's own credentials", async () => {
    const server = await startRawServer(({ socket }) => {
      socket.write(httpText(200, goodBody));
    });
    undo.push(() => server.close());
    const proxy = await startProxy(() => Number(new URL(server.url).port));
    set({ HTTP_PROXY: `http://user:secret@127.0.0.1:${proxy.port}` });
    const client = createClient("http://service.test", { plainAllowed: true });
    undo.push(() => client.close());
    await client.send(requestOf("pendingOrders"));
    expect(server.requests).toHaveLength(1);
    const credentials = Buffer.from("user:secret").toString("base64");
    expect(proxy.asked).toEqual([`CONNECT service.test:80 Basic ${credentials}`]);
  });

  it("a socket travels in a tunnel", async () => {
    const sockets = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    await new Promise((resolve) => sockets.once("listening", resolve));
    undo.push(() => new Promise((resolve) => sockets.close(resolve)));
    sockets.on("connection", (socket) => socket.send("hello"));
    const proxy = await startProxy(() => (sockets.address() as AddressInfo).port);
    set({ HTTP_PROXY: `http://127.0.0.1:${proxy.port}` });
    const text = await new Promise<string>((resolve, reject) => {
      const socket = openWebSocket("ws://service.test/ws", { opened: () => undefined, text: resolve, closed: reject });
      undo.push(() => socket.close());
    });
    expect(text).toBe("hello");
    expect(proxy.asked).toEqual(["CONNECT service.test:80"]);
  });
});
