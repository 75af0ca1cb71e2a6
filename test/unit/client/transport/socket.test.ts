import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { type WebSocket as Peer, WebSocketServer } from "ws";
import { openWebSocket, type Socket } from "../../../../src/client/transport/socket.ts";

const servers: (Server | WebSocketServer)[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.close();
  for (const server of servers.splice(0)) {
    if (server instanceof WebSocketServer) for (const client of server.clients) client.terminate();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** A story of one socket, and a way to wait for a line of it. */
const openTo = (url: string) => {
  const story: string[] = [];
  let wake = (): void => undefined;
  const tell = (line: string): void => {
    story.push(line);
    wake();
  };
  const socket = openWebSocket(url, {
    opened: () => tell("opened"),
    text: (message) => tell(`text ${message.slice(0, 40)}`),
    closed: (reason) => tell(`closed ${reason}`),
  });
  sockets.push(socket);
  const until = async (start: string): Promise<void> => {
    while (!story.some((line) => line.startsWith(start))) await new Promise<void>((resolve) => (wake = resolve));
  };
  return { socket, story, until };
};

const serve = async (meet: (peer: Peer) => void): Promise<string> => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  servers.push(server);
  server.on("connection", meet);
  await new Promise((resolve) => server.once("listening", resolve));
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}/ws/v1`;
};

const serveHttp = async (server: Server): Promise<string> => {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
};

describe("openWebSocket", () => {
  it("tells opened, text and closed, each in its place", async () => {
    const url = await serve((peer) => {
      peer.on("message", (data, isBinary) => peer.send(data, { binary: isBinary }));
    });
    const { socket, story, until } = openTo(url);
    expect(story).toEqual([]);
    socket.send("too early");
    await until("opened");
    socket.send("hello");
    await until("text");
    socket.close();
    await until("closed");
    socket.send("too late");
    socket.close();
    expect(story).toEqual(["opened", "text hello", "closed closed by us"]);
  });

  it("reads bytes as text", async () => {
    const url = await serve((peer) => peer.send(Buffer.from('{"event":"ping"}')));
    const { story, until } = openTo(url);
    await until("text");
    expect(story.at(-1)).toBe('text {"event":"ping"}');
  });

  it("ends at a message beyond the cap", async () => {
    const url = await serve((peer) => peer.send("x".repeat(1_048_577)));
    const { story, until } = openTo(url);
    await until("closed");
    expect(story).toEqual(["opened", "closed Max payload size exceeded"]);
  });

  it("offers no compression", async () => {
    const offered: unknown[] = [];
    const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: true });
    servers.push(server);
    server.on("connection", (_, request) => offered.push(request.headers["sec-websocket-extensions"]));
    await new Promise((resolve) => server.once("listening", resolve));
    const { until } = openTo(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await until("opened");
    expect(offered).toEqual([undefined]);
  });

  it("does not follow a redirect", async () => {
    let followed = 0;
    const elsewhere = await serve(() => followed++);
    const host = await serveHttp(
      createServer().on("upgrade", (_, socket) =>
        socket.end(`HTTP/1.1 302 Found\r\nLocation: ${elsewhere}\r\nContent-Length: 0\r\n\r\n`),
      ),
    );
    const { story, until } = openTo(`ws://${host}/`);
    await until("closed");
    expect(story).toEqual(["closed Unexpected server response: 302"]);
    expect(followed).toBe(0);
  });

  it("a host that nobody listens on is an end, not an exception", async () => {
    const server = createServer();
    const host = await serveHttp(server);
    await new Promise((resolve) => server.close(resolve));
    servers.length = 0;
    const { story, until } = openTo(`ws://${host}/`);
    await until("closed");
    expect(story).toHaveLength(1);
    expect(story[0]).toContain("ECONNREFUSED");
  });

  it("closing while it opens is an end, and it never opens", async () => {
    const url = await serve(() => undefined);
    const { socket, story, until } = openTo(url);
    socket.close();
    await until("closed");
    expect(story).toEqual(["closed closed by us"]);
  });

  it("does not wait long for a goodbye that never comes, and tells nothing meanwhile", async () => {
    const peers: Peer[] = [];
    const url = await serve((peer) => {
      // It stops reading, so it never sees the goodbye.
      peer.pause();
      peers.push(peer);
    });
    const { socket, story, until } = openTo(url);
    await until("opened");
    socket.close();
    await new Promise((resolve) => peers[0]?.send("last words", resolve));
    await until("closed");
    expect(story).toEqual(["opened", "closed closed by us"]);
  });
});
