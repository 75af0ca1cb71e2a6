/**
 * The readers of sockets.mjs, in a process of their own: open, subscribe, check every message, tell what was found.
 *
 * Invariants: a message counts as wrong when its number is not the next of its subscription, names another one before it, or its
 * content is not that of this number.
 */
import { once } from "node:events";
import { WebSocket } from "ws";

const now = () => Number(process.hrtime.bigint()) / 1e6;
const delays = [];
let wrong = 0;
let read = 0;
let expected = Number.POSITIVE_INFINITY;
let finish = () => undefined;

const take = (next, message) => {
  const { instId } = message.arg;
  const before = next.get(instId) ?? -1;
  const [trade] = message.data;
  const right =
    message.event === "trades" &&
    message.prevSeqId === before &&
    message.seqId === before + 1 &&
    message.data.length === 1 &&
    trade.instId === instId &&
    trade.px === String(before + 1) &&
    trade.tradeId === String(before + 2);
  if (!right) wrong++;
  next.set(instId, message.seqId);
  delays.push(now() - Number(trade.sz));
  if (++read >= expected) finish();
};

const open = async (url, products) => {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  await once(socket, "open");
  const next = new Map();
  let acknowledged = 0;
  await new Promise((resolve, reject) => {
    socket.on("message", (data) => {
      const message = JSON.parse(data);
      if (message.data !== undefined) take(next, message);
      else if (message.event === "ping") socket.send('{"op":"pong"}');
      else if (message.event !== "subscribe") reject(new Error(JSON.stringify(message)));
      else if (++acknowledged === products.length) resolve();
    });
    socket.on("close", () => {
      wrong++;
      finish();
    });
    socket.send(JSON.stringify({ op: "subscribe", args: products.map((instId) => ({ channel: "trades", instId })) }));
  });
};

const [{ url, products, connections }] = await once(process, "message");
for (let count = 0; count < connections; count++) await open(url, products);
const cpu = process.cpuUsage();
const beganAt = now();
process.send({ ready: true });
[{ expected }] = await once(process, "message");
if (read < expected) {
  await new Promise((resolve) => {
    finish = resolve;
    // What has not come by now was lost.
    setTimeout(resolve, 3_000);
  });
}
const { user, system } = process.cpuUsage(cpu);
const clientCpu = (user + system) / 1_000 / (now() - beganAt);
delays.sort((a, b) => a - b);
const at = (share) => Number((delays[Math.min(delays.length - 1, Math.floor(delays.length * share))] ?? 0).toFixed(3));
process.send(
  { read, wrong, p50Ms: at(0.5), p99Ms: at(0.99), worstMs: at(1), clientCpu: Number(clientCpu.toFixed(2)) },
  () => process.exit(0),
);
