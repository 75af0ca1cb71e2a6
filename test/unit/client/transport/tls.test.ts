/**
 * Encrypted connections: a certificate is verified whatever the environment says, and a wrong one is no answer.
 */
import { once } from "node:events";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { WebSocketServer } from "ws";
import { openWebSocket } from "../../../../src/client/transport/socket.ts";
import { loopbackCertificate, loopbackKey } from "../../../support/harness/loopback-certificate.ts";
import { type Client, createClient, moment, requestOf } from "../../../support/harness/transport.ts";
import { goodBody } from "./wire-faults.ts";

let server: Server;
let client: Client | undefined;
let requests = 0;

beforeEach(async () => {
  requests = 0;
  server = createServer({ key: loopbackKey, cert: loopbackCertificate }, (_, response) => {
    requests++;
    response.end(goodBody);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});

afterEach(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  await client?.close();
  expect(client?.open()).toBe(0);
  server.closeAllConnections();
  server.close();
  await once(server, "close");
});

const url = (host = "127.0.0.1"): string => `https://${host}:${(server.address() as AddressInfo).port}`;

describe("A TLS connection", () => {
  it("is made to a service whose certificate is trusted, and used again", async () => {
    client = createClient(url(), { ca: loopbackCertificate });
    expect(await client.send(requestOf("positions"))).toBe(`200 ${goodBody}`);
    await moment();
    expect(await client.send(requestOf("placeOrder"))).toBe(`200 ${goodBody}`);
    expect([requests, client.open()]).toEqual([2, 1]);
  });

  it.each(["", "0"])(
    "is refused with a certificate nobody vouches for, also where the environment says %j",
    async (value) => {
      // The platform warns of the setting, which is the point of the test.
      vi.spyOn(process, "emitWarning").mockReturnValue(undefined);
      vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", value);
      client = createClient(url());
      expect(await client.send(requestOf("placeOrder"))).toBe(
        "OUTCOME_UNKNOWN placeOrder: no answer was read (DEPTH_ZERO_SELF_SIGNED_CERT) after 0 ms.",
      );
      expect(requests).toBe(0);
    },
  );

  it("is refused with a certificate of another name", async () => {
    client = createClient(url("localhost"), { ca: loopbackCertificate });
    expect(await client.send(requestOf("placeOrder"))).toBe(
      "OUTCOME_UNKNOWN placeOrder: no answer was read (ERR_TLS_CERT_ALTNAME_INVALID) after 0 ms.",
    );
    expect(requests).toBe(0);
  });
});

describe("A socket over TLS", () => {
  it.each(["", "0"])(
    "is not opened with a certificate that nothing trusts, where the environment says %j",
    async (value) => {
      vi.spyOn(process, "emitWarning").mockReturnValue(undefined);
      vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", value);
      const received: string[] = [];
      const sockets = new WebSocketServer({ server });
      sockets.on("connection", (socket) => socket.on("message", () => received.push("a message")));
      const reason = await new Promise<string>((closed) => {
        const socket = openWebSocket(url().replace("https", "wss"), {
          opened: () => {
            socket.send("the login");
            socket.close();
          },
          text: () => undefined,
          closed,
        });
      });
      expect(reason).toContain("self-signed certificate");
      expect(received).toEqual([]);
      sockets.close();
    },
  );
});
