/**
 * Requests that must not leave after all: the question is asked when their bytes are about to, not when they were signed.
 */
import { afterEach, describe, expect, it } from "vitest";
import { httpText, type RawServer, startRawServer } from "../../../support/harness/raw-server.ts";
import {
  type Client,
  createClient,
  createDoor,
  requestOf,
  spell,
  swap,
  until,
} from "../../../support/harness/transport.ts";
import { goodBody } from "./wire-faults.ts";

const open: { server?: RawServer; client?: Client } = {};
afterEach(async () => {
  await open.client?.close();
  await open.server?.close();
});

describe("A signed request that waits for a connection", () => {
  it("is not sent when it must not leave by then, and the connection serves the next", async () => {
    const answers: (() => void)[] = [];
    let why: string | undefined;
    const server = await startRawServer(({ socket }) => void answers.push(() => socket.write(httpText(200, goodBody))));
    const client = createClient(server.url, {
      sockets: 1,
      mayNot: ({ method }) => (method === "POST" ? why : undefined),
    });
    Object.assign(open, { server, client });
    const first = client.send(requestOf("placeOrder", { body: { instId: swap, clOrdId: "first" } }));
    await until(() => answers.length === 1);
    const second = client.send(requestOf("placeOrder", { body: { instId: swap, clOrdId: "second" } }));
    const third = client.send(requestOf("pendingOrders"));
    why = "another process leads";
    answers[0]?.();
    expect(await first).toBe(`200 ${goodBody}`);
    expect(await second).toBe("NOT_LEADING placeOrder: another process leads; nothing was sent.");
    await until(() => answers.length === 2);
    answers[1]?.();
    expect(await third).toBe(`200 ${goodBody}`);
    expect(server.requests.map(({ line }) => line)).toEqual([
      "POST /api/v1/trade/order HTTP/1.1",
      "GET /api/v1/trade/orders/pending HTTP/1.1",
    ]);
  });

  it("is dropped and not lost: its quota is free again, and nobody looks for it at the service", async () => {
    const server = await startRawServer(() => undefined);
    const client = createClient(server.url, { mayNot: () => "another process leads" });
    Object.assign(open, { server, client });
    const outcome = await new Promise<string>((resolve) => {
      createDoor(client).submit({
        endpoint: "placeOrder",
        class: "emergency",
        owner: "test",
        input: () => ({ instId: swap, side: "buy", ordType: "limit", px: "1", sz: "1", clOrdId: "one" }),
        done: (end) => resolve(spell(end)),
      });
    });
    expect(outcome).toBe("dropped: unwritten");
    expect(server.requests).toEqual([]);
  });
});
