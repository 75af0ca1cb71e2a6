/** Alerts reach their service through the proxy of the environment. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it, vi } from "vitest";
import { overHttp, webhook } from "../../../plugins/alerts/channels.ts";
import { proxyNames, startTunnelProxy } from "../../support/harness/tunnel-proxy.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

it("An alert goes through the proxy that the environment names for its address, and directly where it names none", async () => {
  for (const name of proxyNames) vi.stubEnv(name, undefined);
  const heard: string[] = [];
  const server = createServer((request, response) => {
    heard.push(`${request.headers.host}${request.url}`);
    response.end("ok");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const proxy = await startTunnelProxy(() => port);
  const message = { title: "t", text: "x", level: "warning", at: 0 } as never;
  const say = (url: string) =>
    overHttp(
      webhook(url, undefined, () => 0),
      (text) => text,
    ).send(message, AbortSignal.timeout(10_000));
  vi.stubEnv("HTTP_PROXY", `http://127.0.0.1:${proxy.port}`);
  try {
    const answers = [await say("http://people.test/hook"), await say(`http://127.0.0.1:${port}/direct`)];
    expect(answers.map(({ kind }) => kind)).toEqual(["taken", "taken"]);
    expect(heard).toEqual(["people.test/hook", `127.0.0.1:${port}/direct`]);
    expect(proxy.asked).toEqual(["CONNECT people.test:80"]);
  } finally {
    await proxy.close();
    server.closeAllConnections();
    server.close();
  }
});
