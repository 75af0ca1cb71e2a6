/** Both transports under the one suite of their contract. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { inProcess } from "../../../../src/client/transport/in-process.ts";
import { createVirtualClock } from "../../../../src/clock/virtual-clock.ts";
import { endpointNames } from "../../../../src/contract/contract.ts";
import type { EndpointName } from "../../../../src/contract/endpoints.ts";
import type { WireRequest } from "../../../../src/contract/transport.ts";
import { testTransport } from "../../../support/contracts/transport.ts";
import { contract, createClient, until } from "../../../support/harness/transport.ts";

testTransport("in-process", async (respond) => {
  const clock = createVirtualClock();
  const latency = { name: "10 ms", entryMs: () => 5, responseMs: () => 5, feedMs: () => 0 };
  return {
    transport: inProcess({ clock, latency, timeoutMs: 1_000, handle: respond }),
    settle: async () => {
      clock.advanceTo(clock.now() + 20);
    },
    expire: async () => {
      clock.advanceTo(clock.now() + 1_000);
    },
    close: async () => undefined,
  };
});

const endpointOf = (method: string, path: string): EndpointName => {
  const found = endpointNames(contract).find(
    (name) => contract.endpoints[name].method === method && contract.endpoints[name].path === path,
  );
  if (found === undefined) throw new Error(`${method} ${path}`);
  return found;
};

testTransport("http", async (respond) => {
  // What was asked for, what has arrived, and what is left without an answer on purpose.
  const count = { sent: 0, arrived: 0, held: 0 };
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => {
      text += chunk;
    });
    request.on("end", () => {
      const url = new URL(request.url ?? "", "http://host");
      const method = request.method === "POST" ? "POST" : "GET";
      const wire: WireRequest = {
        endpoint: endpointOf(method, url.pathname),
        method,
        path: url.pathname,
        query: Object.fromEntries(url.searchParams),
        body: text === "" ? undefined : (JSON.parse(text) as unknown),
        key: request.headers["x-api-key"] === undefined ? undefined : "k1",
      };
      const answer = respond(wire);
      count.arrived++;
      if (answer === undefined) {
        count.held++;
        return;
      }
      const headers = Object.entries(answer.headers).map(([name, value]) => [name.toUpperCase(), value] as const);
      response.writeHead(answer.status, Object.fromEntries(headers));
      response.end(answer.body === undefined ? "<html>" : JSON.stringify(answer.body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = createClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return {
    transport: (request, sink) => {
      count.sent++;
      client.transport(request, sink);
    },
    // Every request under way has its deadline on the clock.
    settle: () => until(() => count.arrived === count.sent && client.clock.pending === count.held),
    expire: async () => {
      client.clock.advanceTo(client.clock.now() + 10_000);
      count.held = 0;
    },
    close: async () => {
      await client.close();
      server.close();
    },
  };
});
