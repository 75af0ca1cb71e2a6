/**
 * A server that misbehaves: every row of the table at the transport, then through the gateway for a read and for a placement.
 */
import { firstValueFrom } from "rxjs";
import { afterEach, describe, expect, it } from "vitest";
import type { EndpointName } from "../../../../src/contract/endpoints.ts";
import { readTimestamp } from "../../../../src/contract/signing.ts";
import { httpText, type RawServer, startRawServer } from "../../../support/harness/raw-server.ts";
import {
  type Client,
  contract,
  createClient,
  createDoor,
  moment,
  requestOf,
  spell,
  swap,
} from "../../../support/harness/transport.ts";
import { bodyFaults } from "./body-faults.ts";
import { goodBody, type WireFault, wireFaults } from "./wire-faults.ts";

let server: RawServer | undefined;
let client: Client | undefined;

afterEach(async () => {
  await client?.close();
  expect(client?.open() ?? 0).toBe(0);
  await server?.close();
  client = undefined;
  server = undefined;
});

const facing = async ({ answer }: WireFault): Promise<{ client: Client; server: RawServer }> => {
  server = await startRawServer(answer);
  client = createClient(server.url);
  return { client, server };
};

/** Lets the deadline pass where only that ends the request. */
const ended = async <T>(result: Promise<T>, { hangs = false }: WireFault, count: number): Promise<T> => {
  if (hangs) {
    await server?.arrived(count);
    await moment();
    client?.clock.advanceTo(client.clock.now() + 10_000);
  }
  return result;
};

const sample = (text: string): string => text.slice(0, 300);

describe("The HTTP transport before a misbehaving server:", () => {
  it.each(wireFaults.map((fault) => [fault.name, fault] as const))("%s", async (_, fault) => {
    const { client: facingIt, server: facedBy } = await facing(fault);
    const before = process.memoryUsage().arrayBuffers;
    const told = await ended(facingIt.send(requestOf("placeOrder")), fault, 1);
    if (typeof fault.wire === "string") expect(told).toBe(fault.wire);
    else expect(sample(told)).toMatch(fault.wire);
    expect(facedBy.requests).toHaveLength(1);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(40_000_000);
    // Whatever it was, the next request is on its own.
    expect(facedBy.connections.length).toBe(1);
  });
});

describe("The gateway before a misbehaving server:", () => {
  it.each(wireFaults.map((fault) => [fault.name, fault.read, fault.place, fault] as const))(
    "%s: %s, %s",
    async (_, read, place, fault) => {
      const { client: facingIt, server: facedBy } = await facing(fault);
      const door = createDoor(facingIt);
      const options = { class: "place", owner: "test" } as const;
      const positions = firstValueFrom(door.call("positions", {}, options));
      expect(spell(await ended(positions, fault, 1))).toMatch(new RegExp(`^${read}`));
      // A refusal by a limit shuts the door until the window has passed.
      facingIt.clock.advanceTo(facingIt.clock.now() + 120_000);
      const order = { instId: swap, side: "buy", ordType: "limit", sz: "1", px: "1" };
      const placing = firstValueFrom(door.call("placeOrder", order, options));
      expect(spell(await ended(placing, fault, 2))).toMatch(new RegExp(`^${place}`));
      expect(facedBy.requests).toHaveLength(2);
    },
  );
});

describe("The gateway before a service with invalid content:", () => {
  const inputs: Readonly<Partial<Record<EndpointName, unknown>>> = {
    getOrder: { ordId: "7" },
    placeOrder: { instId: swap, side: "buy", ordType: "limit", sz: "1", px: "1" },
    cancelBatch: [
      { instId: swap, ordId: "7" },
      { instId: swap, ordId: "8" },
    ],
  };

  it.each(bodyFaults)("%s in %s", async (_, endpoint, body, outcome) => {
    server = await startRawServer(({ socket }) => {
      socket.write(httpText(200, body));
    });
    client = createClient(server.url);
    const answer$ = createDoor(client).call(endpoint, (inputs[endpoint] ?? {}) as never, {
      class: "place",
      owner: "test",
    });
    expect(spell(await firstValueFrom(answer$))).toBe(outcome);
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it("a million things that are no records are not all told", async () => {
    server = await startRawServer(({ socket }) => {
      socket.write(httpText(200, `{"code":"0","data":[${"1,".repeat(1_000_000)}1]}`));
    });
    client = createClient(server.url);
    const outcome = await firstValueFrom(
      createDoor(client).call("pendingOrders", {}, { class: "read", owner: "test" }),
    );
    // The last one says that there are more.
    expect(outcome.kind === "done" ? [outcome.records.length, outcome.problems.length] : outcome).toEqual([0, 1_001]);
  });

  it.each<[string, Readonly<Record<string, string>>]>([
    ["no date", {}],
    ["a date that is none", { date: "yesterday" }],
    ["the first of all dates", { date: "Thu, 01 Jan 1970 00:00:00 GMT" }],
    ["two dates", { date: "Fri, 02 Jan 2026 03:04:05 GMT\r\ndate: Fri, 02 Jan 2026 04:04:05 GMT" }],
    [
      "counts that are none",
      { "x-ratelimit-ip-remaining": "many", "x-ratelimit-key-remaining": "", "x-ratelimit-uid-weight-used": "5.5" },
    ],
    [
      "counts below zero",
      { "x-ratelimit-ip-remaining": "-1", "x-ratelimit-key-remaining": "-1", "x-ratelimit-uid-weight-used": "-5" },
    ],
    [
      "counts beyond all bounds",
      { "x-ratelimit-ip-remaining": "9".repeat(400), "x-ratelimit-uid-weight-used": "1e999" },
    ],
    [
      "counts twice",
      { "x-ratelimit-ip-remaining": "5\r\nx-ratelimit-ip-remaining: 6", "x-ratelimit-uid-weight-used": "5, 6" },
    ],
  ])("%s in the headers costs nothing", async (_, headers) => {
    server = await startRawServer(({ socket }) => {
      socket.write(httpText(200, goodBody, headers));
    });
    client = createClient(server.url);
    const door = createDoor(client);
    for (let i = 0; i < 4; i++) {
      client.clock.advanceTo(client.clock.now() + 2_000);
      const outcome = await firstValueFrom(door.call("positions", {}, { class: "read", owner: "test" }));
      expect(outcome.kind).toBe("done");
    }
    const timestamp = server.requests[3]?.headers["x-api-timestamp"] ?? "";
    expect(readTimestamp(contract.profile, timestamp)).toBe(client.clock.now());
  });
});
