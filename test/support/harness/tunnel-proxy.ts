/** A proxy on this machine that leads every tunnel to one port, and keeps what it was asked. */
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";

/** Variables that name a proxy. */
export const proxyNames = [
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "ALL_PROXY",
  "http_proxy",
  "https_proxy",
  "no_proxy",
  "all_proxy",
] as const;

export const startTunnelProxy = async (port: () => number) => {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const proxy = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(502).end();
  });
  proxy.on("connect", (request: IncomingMessage, client: Socket) => {
    asked.push(`CONNECT ${request.url} ${request.headers["proxy-authorization"] ?? ""}`.trim());
    const server = connect(port(), "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      client.pipe(server).pipe(client);
    });
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
    }
  });
  await new Promise<void>((resolve) => {
    proxy.listen(0, "127.0.0.1", resolve);
  });
  const close = (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => {
      proxy.close(() => resolve());
    });
  };
  return { asked, port: (proxy.address() as AddressInfo).port, close };
};
