/**
 * The least a service can do: one answer for every request, on 127.0.0.1, in a process of its own.
 *
 * Invariants: prints its port once; ends with its parent.
 */
import { createServer } from "node:http";

const body = JSON.stringify({
  code: "0",
  msg: "",
  data: [{ ordId: "1234567890123456789", clOrdId: "c1", sCode: "0", sMsg: "" }],
});
const headers = {
  "content-type": "application/json",
  "content-length": Buffer.byteLength(body),
  "x-ratelimit-ip-remaining": "1199",
  "x-ratelimit-key-remaining": "9",
  "x-ratelimit-uid-weight-used": "0",
};

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  request.resume();
  request.on("end", () => {
    response.writeHead(200, headers);
    response.end(body);
  });
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${server.address().port}\n`);
});
process.stdin.on("end", () => process.exit(0));
process.stdin.resume();
