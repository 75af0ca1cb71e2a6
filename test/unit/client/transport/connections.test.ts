/**
 * The connections of the transport: kept, bounded, never trusted with more than one answer a request, closed to the last one.
 */
import { afterEach, describe, expect, it } from "vitest";
import { type Answer, httpText, type RawServer, startRawServer } from "../../../support/harness/raw-server.ts";
import {
  type Client,
  createClient,
  type HttpOptions,
  moment,
  requestOf,
  startedAt,
  until,
} from "../../../support/harness/transport.ts";
import { responsesOf } from "../../../support/transports.ts";
import { goodBody } from "./wire-faults.ts";

const open: { server?: RawServer; client?: Client } = {};

afterEach(async () => {
  await open.client?.close();
  await open.server?.close();
  delete open.client;
  delete open.server;
});

const good = httpText(200, goodBody);
const facing = async (
  answer: Answer,
  part: Partial<HttpOptions> = {},
): Promise<{ client: Client; server: RawServer }> => {
  const server = await startRawServer(answer);
  const client = createClient(server.url, part);
  Object.assign(open, { server, client });
  return { client, server };
};
const answering: Answer = ({ socket }) => {
  socket.write(good);
};
const ok = `200 ${goodBody}`;

describe("HTTP connections", () => {
  it("are used again, and bounded", async () => {
    const { client, server } = await facing(answering, { sockets: 2 });
    await Promise.all([1, 2, 3, 4, 5].map(() => client.send(requestOf("positions"))));
    for (let i = 0; i < 5; i++) {
      await client.send(requestOf("positions"));
    }
    expect(server.requests).toHaveLength(10);
    expect(server.connections.length).toBeLessThanOrEqual(2);
    expect(client.open()).toBeLessThanOrEqual(2);
  });

  it("that the server closes between two requests cost no request", async () => {
    const { client, server } = await facing(({ socket }) => {
      socket.end(good);
    });
    for (let i = 0; i < 3; i++) {
      expect(await client.send(requestOf("placeOrder"))).toBe(ok);
      await until(() => client.open() === 0);
    }
    expect(server.requests).toHaveLength(3);
    expect(server.connections).toHaveLength(3);
  });

  it("that end under a request are no reason to send it again", async () => {
    const { client, server } = await facing(({ socket, index }) => {
      if (index === 0) socket.write(good);
      else socket.resetAndDestroy();
    });
    expect(await client.send(requestOf("placeOrder"))).toBe(ok);
    await moment();
    expect(await client.send(requestOf("placeOrder"))).toMatch(
      /^OUTCOME_UNKNOWN placeOrder: no answer was read \(ECONNRESET\)/,
    );
    await moment();
    expect(server.requests).toHaveLength(2);
    expect(server.connections).toHaveLength(1);
  });

  const second = httpText(200, '{"code":"0","data":["of another request"]}');
  it.each<[string, Answer]>([
    [
      "in one piece",
      ({ socket, index }) => {
        socket.write(index === 0 ? Buffer.concat([good, second]) : good);
      },
    ],
    [
      "one after the other",
      ({ socket, index }) => {
        socket.write(good);
        if (index === 0) setTimeout(() => socket.write(second), 5);
      },
    ],
    [
      "in pieces",
      ({ socket, index }) => {
        socket.write(good);
        if (index === 0) setTimeout(() => socket.write(second.subarray(0, 20)), 5);
      },
    ],
  ])("that bring a second answer, %s, are not used again", async (_, answer) => {
    const { client, server } = await facing(answer);
    expect(await client.send(requestOf("positions"))).toBe(ok);
    await until(() => client.open() === 0);
    expect(await client.send(requestOf("positions"))).toBe(ok);
    expect(server.connections).toHaveLength(2);
  });

  it("do not outlive a close, which ends what is under way", async () => {
    const { client, server } = await facing(({ socket, index }) => {
      if (index === 0) socket.write(good);
    });
    await client.send(requestOf("positions"));
    const pending = [client.send(requestOf("placeOrder")), client.send(requestOf("positions"))];
    await server.arrived(3);
    await Promise.all([client.close(), client.close()]);
    expect(client.open()).toBe(0);
    expect(await Promise.all(pending)).toEqual([
      "OUTCOME_UNKNOWN placeOrder: the transport was closed after 0 ms.",
      "OUTCOME_UNKNOWN positions: the transport was closed after 0 ms.",
    ]);
    expect(await client.send(requestOf("positions"))).toBe(
      "ENGINE_STATE positions: the transport is closed; nothing was sent.",
    );
    expect(client.clock.pending).toBe(0);
  });

  it("are not opened again for requests that were still in line at a close", async () => {
    const { client, server } = await facing(() => undefined, { sockets: 1 });
    const pending = [1, 2, 3].map(() => client.send(requestOf("positions")));
    await server.arrived(1);
    await client.close();
    for (const told of await Promise.all(pending))
      expect(told).toMatch(/^OUTCOME_UNKNOWN positions: the transport was closed/);
    await moment();
    expect([client.open(), server.connections.length, server.requests.length]).toEqual([0, 1, 1]);
  });

  it("are not kept waiting by requests in line whose deadline has passed", async () => {
    const { client, server } = await facing(
      ({ socket, index }) => {
        if (index > 0) socket.write(good);
      },
      { sockets: 1 },
    );
    const pending = [1, 2, 3].map(() => client.send(requestOf("positions")));
    await server.arrived(1);
    client.clock.advanceTo(startedAt + 10_000);
    for (const told of await Promise.all(pending))
      expect(told).toMatch(/^OUTCOME_UNKNOWN positions: no answer was complete after 10000 ms/);
    expect(await client.send(requestOf("positions"))).toBe(ok);
    expect(server.requests).toHaveLength(2);
  });

  it("are none before the first request", async () => {
    const { client, server } = await facing(answering);
    await moment();
    expect([client.open(), server.connections.length]).toEqual([0, 0]);
    await client.close();
  });

  it("that cannot be made are no answer", async () => {
    const { client, server } = await facing(answering);
    await server.close();
    expect(await client.send(requestOf("placeOrder"))).toBe(
      "OUTCOME_UNKNOWN placeOrder: no answer was read (ECONNREFUSED) after 0 ms.",
    );
    await client.close();
    expect(client.open()).toBe(0);
  });

  it("that are reset before the request is read are no answer", async () => {
    const server = await startRawServer(answering, (socket) => socket.resetAndDestroy());
    const client = createClient(server.url);
    Object.assign(open, { server, client });
    expect(await client.send(requestOf("placeOrder"))).toMatch(
      /^OUTCOME_UNKNOWN placeOrder: no answer was read \((ECONNRESET|EPIPE)\)/,
    );
    expect(server.connections).toHaveLength(1);
  });
});

describe("An abandoned request", () => {
  it("is sent and read to its end, and its connection serves the next", async () => {
    const sockets: { write(bytes: Buffer): unknown }[] = [];
    const { client, server } = await facing(({ socket, index }) => {
      if (index === 0) sockets.push(socket);
      else socket.write(good);
    });
    const heard: string[] = [];
    responsesOf(client.transport, requestOf("placeOrder"))
      .subscribe({ next: () => heard.push("next"), error: () => heard.push("error") })
      .unsubscribe();
    await server.arrived(1);
    sockets[0]?.write(good);
    await until(() => client.clock.pending === 0);
    await moment();
    expect(await client.send(requestOf("positions"))).toBe(ok);
    expect(server.connections).toHaveLength(1);
    expect(heard).toEqual([]);
  });

  it("still ends by its deadline", async () => {
    const { client, server } = await facing(() => undefined);
    responsesOf(client.transport, requestOf("placeOrder")).subscribe().unsubscribe();
    await server.arrived(1);
    client.clock.advanceTo(startedAt + 10_000);
    await until(() => server.connections[0]?.closed === true);
    expect(client.clock.pending).toBe(0);
  });
});

describe("A sink that throws", () => {
  it("ends the process, as any uncaught error, and no connection", async () => {
    const { client, server } = await facing(answering);
    const handlers = process.listeners("uncaughtException");
    process.removeAllListeners("uncaughtException");
    const uncaught = new Promise((resolve) => process.once("uncaughtException", resolve));
    try {
      const response = (): void => {
        throw new Error("a mistake of ours");
      };
      client.transport(requestOf("positions"), { response, failed: response, closed: false });
      expect(await uncaught).toEqual(new Error("a mistake of ours"));
    } finally {
      for (const handler of handlers) process.on("uncaughtException", handler);
    }
    await moment();
    expect(await client.send(requestOf("positions"))).toBe(ok);
    expect(server.connections).toHaveLength(1);
  });
});
