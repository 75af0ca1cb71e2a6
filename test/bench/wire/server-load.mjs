/**
 * The load for server.mjs: several connections, one signed request under way on each, reads and placements mixed.
 *
 * Invariants: bytes are written and read by hand, so that this process costs less than the server it measures; every answer is
 * checked to be a 200 with an envelope of code 0.
 */
import { createHmac } from "node:crypto";
import { connect } from "node:net";

process.once("message", ({ url, key, instId, seconds, connections }) => {
  const { hostname, port, host } = new URL(url);
  const took = [];
  let wrong = 0;
  let orders = 0;
  let ordId = "1";
  let counting = false;

  const signed = (method, path, query, body) => {
    const timestamp = new Date().toISOString();
    const sign = createHmac("sha256", key.secretKey).update(`${timestamp}${method}${path}${body}`).digest("base64");
    const target = query === "" ? path : `${path}?${query}`;
    const head = [
      `${method} ${target} HTTP/1.1`,
      `host: ${host}`,
      `x-api-key: ${key.apiKey}`,
      `x-api-sign: ${sign}`,
      `x-api-timestamp: ${timestamp}`,
      `x-api-passphrase: ${key.passphrase}`,
      ...(body === "" ? [] : ["content-type: application/json", `content-length: ${Buffer.byteLength(body)}`]),
    ];
    return `${head.join("\r\n")}\r\n\r\n${body}`;
  };
  const place = (ordType, px) =>
    signed(
      "POST",
      "/api/v1/trade/order",
      "",
      JSON.stringify({ instId, side: "buy", ordType, px, sz: "100", clOrdId: `c${orders++}` }),
    );
  const next = (turn) => {
    if (turn % 3 === 0) return place("ioc", "50000");
    if (turn % 3 === 1) return signed("GET", "/api/v1/trade/order", `ordId=${ordId}&instId=${instId}`, "");
    return signed("GET", "/api/v1/trade/orders/pending", `instId=${instId}&limit=20`, "");
  };

  let turn = 0;
  const open = (first) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    let sentAt = 0;
    let text = "";
    const send = (request) => {
      sentAt = performance.now();
      socket.write(request);
    };
    socket.setEncoding("latin1");
    socket.on("data", (chunk) => {
      text += chunk;
      const end = text.indexOf("\r\n\r\n");
      if (end === -1) return;
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
      if (text.length < end + 4 + length) return;
      if (!text.startsWith("HTTP/1.1 200 ") || !text.startsWith('{"code":"0"', end + 4)) wrong++;
      if (first !== undefined) ordId = /"ordId":"(\d+)"/.exec(text)?.[1] ?? ordId;
      first = undefined;
      if (counting) took.push(performance.now() - sentAt);
      text = "";
      send(next(turn++));
    });
    socket.on("error", () => undefined);
    socket.on("connect", () => send(first));
    return socket;
  };
  // Each connection begins with an order that stays, so that listings have something to show.
  const sockets = Array.from({ length: connections }, () => open(place("post_only", "40000")));
  setTimeout(() => {
    counting = true;
    wrong = 0;
    process.send({ warm: true });
    setTimeout(() => {
      counting = false;
      took.sort((a, b) => a - b);
      const at = (share) => Number((took[Math.floor(took.length * share)] ?? 0).toFixed(3));
      process.send({ answered: took.length, wrong, p50Ms: at(0.5), p99Ms: at(0.99) });
      for (const socket of sockets) socket.destroy();
    }, seconds * 1_000);
  }, 1_500);
});
