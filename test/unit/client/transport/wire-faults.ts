/**
 * What a connection can do to an answer, one row each, with what must be made of it: by the transport, and by the gateway for a
 * read and for a placement.
 *
 * Invariants: `good` is an answer that both endpoints can read, so that a row tells of the wire alone.
 */
import { gzipSync } from "node:zlib";
import type { Outcome } from "../../../../src/client/outcome.ts";
import { type Answer, httpText } from "../../../support/harness/raw-server.ts";

type OutcomeKind = Outcome<unknown>["kind"];

export const goodBody =
  '{"code":"0","msg":"","data":[{"instId":"BTC-USDT-SWAP","pos":"1","avgPx":"2","ordId":"7","clOrdId":"c","sCode":"0","sMsg":""}]}';
const good = httpText(200, goodBody);
const half = good.subarray(0, good.length - 40);

export interface WireFault {
  readonly name: string;
  readonly answer: Answer;
  readonly wire: string | RegExp;
  readonly read: OutcomeKind;
  readonly place: OutcomeKind;
  /** The deadline has to pass before anything is told. */
  readonly hangs?: boolean;
}

const bytes =
  (...parts: readonly (string | Buffer)[]): Answer =>
  ({ socket }) => {
    socket.write(Buffer.concat(parts.map((part) => Buffer.from(part as string))));
  };
const thenEnd =
  (part: string | Buffer): Answer =>
  ({ socket }) => {
    socket.end(part);
  };
const thenReset =
  (part: string | Buffer): Answer =>
  ({ socket }) => {
    socket.write(part, () => {
      // The bytes must be on their way before the reset, which would otherwise take them back.
      setTimeout(() => socket.resetAndDestroy(), 5);
    });
  };
const drip =
  (head: string, drop: string, ms = 1): Answer =>
  ({ socket }) => {
    socket.write(head);
    const timer = setInterval(() => socket.write(drop), ms);
    socket.on("close", () => {
      clearInterval(timer);
    });
  };
const flood =
  (head: string): Answer =>
  ({ socket }) => {
    const block = Buffer.alloc(65_536, 32);
    socket.write(head);
    const pour = (): void => {
      while (!socket.destroyed && socket.write(block)) {
        // until the other side is full
      }
    };
    socket.on("drain", pour);
    pour();
  };

const bracketText = `{"code":"1","msg":"${"[".repeat(50)}\\"${"[".repeat(50)}\\\\"}`;
const bomb = gzipSync(Buffer.alloc(64 * 1_024 * 1_024, 32));
const ok = `200 ${goodBody}`;
const reset = /^OUTCOME_UNKNOWN \w+: no answer was read \((ECONNRESET|UND_ERR_SOCKET)\) after 0 ms\.$/;
const cut = /^OUTCOME_UNKNOWN \w+: the answer was cut( \([A-Z_]+\))? after 0 ms\.$/;
const broken =
  /^OUTCOME_UNKNOWN \w+: (no answer was read|the answer was cut) \((HPE_INVALID|UND_ERR_[A-Z_]+)\) after 0 ms\.$/;
const late = /^OUTCOME_UNKNOWN \w+: no answer was complete after 10000 ms\.$/;
const large = /^OUTCOME_UNKNOWN \w+: the answer is larger than 4194304 bytes and was given up after 0 ms\.$/;
const compressed =
  /^OUTCOME_UNKNOWN \w+: the answer is compressed \((gzip|br)\), which was not asked for, and was not read after 0 ms\.$/;

type Row = readonly [name: string, answer: Answer, wire: string | RegExp, read: OutcomeKind, place: OutcomeKind];
const row = ([name, answer, wire, read, place]: Row): WireFault => ({
  name,
  answer,
  wire,
  read,
  place,
  hangs: wire === late,
});

/** Answers that never become whole. */
// biome-ignore format: one row a line
const unread: readonly Row[] = [
  ["reset after the request was read", ({ socket }) => socket.resetAndDestroy(), reset, "unknown", "unknown"],
  ["closed after the request was read", ({ socket }) => socket.end(), reset, "unknown", "unknown"],
  ["reset within the headers", thenReset("HTTP/1.1 200 OK\r\ncontent-le"), reset, "unknown", "unknown"],
  ["closed within the headers", thenEnd("HTTP/1.1 200 OK\r\ncontent-le"), /^OUTCOME_UNKNOWN \w+: no answer was read/, "unknown", "unknown"],
  ["reset within the body", thenReset(half), cut, "unknown", "unknown"],
  ["closed within the body", thenEnd(half), cut, "unknown", "unknown"],
  ["closed within a chunked body", thenEnd('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"cod'), cut, "unknown", "unknown"],
  ["closed before the last chunk", thenEnd(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${goodBody.length.toString(16)}\r\n${goodBody}\r\n`), cut, "unknown", "unknown"],
  ["a length that is too large, then closed", thenEnd(httpText(200, goodBody, { "content-length": "999" })), cut, "unknown", "unknown"],
  ["a length that is too large, then silence", bytes(httpText(200, goodBody, { "content-length": "999" })), late, "unknown", "unknown"],
  ["silence", () => undefined, late, "unknown", "unknown"],
  ["one byte, then silence", bytes("H"), late, "unknown", "unknown"],
  ["headers that never end", drip("HTTP/1.1 200 OK\r\nx-slow: ", "a", 5), late, "unknown", "unknown"],
  ["a body that never ends", drip("HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n", " "), late, "unknown", "unknown"],
  ["chunks that never end", drip("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", "1\r\n \r\n"), late, "unknown", "unknown"],
  ["interim answers that never end", drip("", "HTTP/1.1 102 Processing\r\n\r\n"), late, "unknown", "unknown"],
  ["a flood of headers", bytes("HTTP/1.1 200 OK\r\n", "x-flood: 1\r\n".repeat(30_000)), broken, "unknown", "unknown"],
  ["one huge header", bytes("HTTP/1.1 200 OK\r\nx-huge: ", "a".repeat(1_000_000)), broken, "unknown", "unknown"],
  ["a body of known length that is too large", flood("HTTP/1.1 200 OK\r\ncontent-length: 4000000000\r\n\r\n"), large, "unknown", "unknown"],
  ["a body of unknown length that is too large", flood("HTTP/1.1 200 OK\r\n\r\n"), large, "unknown", "unknown"],
  ["a gzip bomb", bytes(httpText(200, bomb, { "content-encoding": "gzip" })), compressed, "unknown", "unknown"],
  ["a compressed body", bytes(httpText(200, gzipSync(goodBody), { "content-encoding": "GZIP" })), compressed, "unknown", "unknown"],
  ["another compression", bytes(httpText(200, goodBody, { "content-encoding": "br" })), compressed, "unknown", "unknown"],
  ["a chunk size that is none", bytes("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n"), broken, "unknown", "unknown"],
  ["chunks and a length at once", bytes(`HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`), broken, "unknown", "unknown"],
  ["a length that is no number", bytes(httpText(200, goodBody, { "content-length": "many" })), broken, "unknown", "unknown"],
  ["a negative length", bytes(httpText(200, goodBody, { "content-length": "-5" })), broken, "unknown", "unknown"],
  ["two lengths that differ", bytes(`HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n{}    `), broken, "unknown", "unknown"],
  ["a length beyond every number", bytes(httpText(200, goodBody, { "content-length": "9".repeat(30) })), broken, "unknown", "unknown"],
  ["another protocol", bytes("SSH-2.0-OpenSSH_9.2\r\n"), broken, "unknown", "unknown"],
  ["a body without headers", bytes(goodBody), broken, "unknown", "unknown"],
  ["a status that is no number", bytes("HTTP/1.1 abc OK\r\n\r\n"), broken, "unknown", "unknown"],
  ["a header with a null byte", bytes("HTTP/1.1 200 OK\r\nx-a: \0\r\ncontent-length: 0\r\n\r\n"), broken, "unknown", "unknown"],
  ["a header without a name", bytes("HTTP/1.1 200 OK\r\n: x\r\ncontent-length: 0\r\n\r\n"), broken, "unknown", "unknown"],
  ["100 Continue, which nobody asked for", bytes("HTTP/1.1 100 Continue\r\n\r\n", good), /^OUTCOME_UNKNOWN \w+: no answer was read \(UND_ERR_SOCKET\) after 0 ms\.$/, "unknown", "unknown"],
  ["a switch of protocols", bytes("HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n"), /^OUTCOME_UNKNOWN \w+: .* after 0 ms\.$/, "unknown", "unknown"],
];

/** Answers that are whole, whatever they are worth. */
// biome-ignore format: one row a line
const whole: readonly Row[] = [
  ["nothing wrong", bytes(good), ok, "done", "done"],
  ["chunks", bytes(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\n${goodBody.slice(0, 3)}\r\n${(goodBody.length - 3).toString(16)};x=y\r\n${goodBody.slice(3)}\r\n0\r\nx-trailer: 1\r\n\r\n`), ok, "done", "done"],
  ["an older protocol that closes", thenEnd(`HTTP/1.0 200 OK\r\n\r\n${goodBody}`), ok, "done", "done"],
  ["an older protocol that was cut", thenEnd(`HTTP/1.0 200 OK\r\n\r\n${goodBody.slice(0, 30)}`), "200 no body", "unknown", "unknown"],
  ["many interim answers first", bytes("HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n".repeat(200), good), ok, "done", "done"],
  ["rubbish behind it", bytes(good, "rubbish".repeat(10)), ok, "done", "done"],
  ["the same answer twice", bytes(good, good), ok, "done", "done"],
  ["a length that is too small", bytes(httpText(200, goodBody, { "content-length": "30" })), "200 no body", "unknown", "unknown"],
  ["an encoding that is none", bytes(httpText(200, goodBody, { "content-encoding": "identity" })), ok, "done", "done"],
  ["a type that is not its own", bytes(httpText(200, goodBody, { "content-type": "text/html" })), ok, "done", "done"],
  ["no content", bytes("HTTP/1.1 204 No Content\r\n\r\n"), "204 no body", "unknown", "unknown"],
  ["not modified", bytes("HTTP/1.1 304 Not Modified\r\n\r\n"), "304 no body", "unknown", "unknown"],
  ["an empty body", bytes(httpText(200)), "200 no body", "unknown", "unknown"],
  ["a blank body", bytes(httpText(200, "  \r\n")), "200 no body", "unknown", "unknown"],
  ["a page instead of an answer", bytes(httpText(200, "<html>Maintenance</html>", { "content-type": "text/html" })), "200 no body", "unknown", "unknown"],
  ["a page that claims to be JSON", bytes(httpText(200, "<html>", { "content-type": "application/json" })), "200 no body", "unknown", "unknown"],
  ["bytes that are not UTF-8", bytes(httpText(200, Buffer.concat([Buffer.from('{"code":"0","msg":"'), Buffer.from([0xff, 0xfe]), Buffer.from('","data":[]}')]))), "200 no body", "unknown", "unknown"],
  ["UTF-16", bytes(httpText(200, Buffer.from(goodBody, "utf16le"))), "200 no body", "unknown", "unknown"],
  ["a byte order mark", bytes(httpText(200, `\uFEFF${goodBody}`)), ok, "done", "done"],
  ["null", bytes(httpText(200, "null")), "200 null", "unknown", "unknown"],
  ["a text", bytes(httpText(200, '"0"')), '200 "0"', "unknown", "unknown"],
  ["NaN", bytes(httpText(200, '{"code":NaN,"data":[]}')), "200 no body", "unknown", "unknown"],
  ["two values", bytes(httpText(200, `${goodBody}${goodBody}`)), "200 no body", "unknown", "unknown"],
  ["arrays ten thousand deep", bytes(httpText(200, "[".repeat(10_000) + "]".repeat(10_000))), "200 no body", "unknown", "unknown"],
  ["objects ten thousand deep", bytes(httpText(200, `{"code":"0","data":[${'{"px":'.repeat(10_000)}1${"}".repeat(10_000)}]}`)), "200 no body", "unknown", "unknown"],
  ["brackets in a text", bytes(httpText(400, bracketText)), `400 ${bracketText}`, "rejected", "unknown"],
  ["a bad gateway's page", bytes(httpText(502, "<html>Bad Gateway</html>")), "502 no body", "unknown", "unknown"],
  ["unavailable, with an envelope", bytes(httpText(503, '{"code":"50003","msg":"busy"}')), '503 {"code":"50003","msg":"busy"}', "unknown", "unknown"],
  ["unavailable, with a success inside", bytes(httpText(503, goodBody)), `503 ${goodBody}`, "unknown", "unknown"],
  ["a server error without a code", bytes(httpText(500, '{"error":"oops"}')), '500 {"error":"oops"}', "unknown", "unknown"],
  ["a status nobody has seen", bytes(httpText(599, goodBody)), `599 ${goodBody}`, "unknown", "unknown"],
  ["a gateway that gave up", bytes(httpText(408, "<html>")), "408 no body", "unknown", "unknown"],
  ["a limit told by a page", bytes(httpText(429, "<html>Too Many Requests</html>")), "429 no body", "limited", "unknown"],
  ["a limit without a word", bytes(httpText(429)), "429 no body", "limited", "unknown"],
  ["a limit with a code that is a number", bytes(httpText(429, '{"code":50011,"msg":"Too Many Requests"}')), '429 {"code":50011,"msg":"Too Many Requests"}', "limited", "limited"],
  ["a limit with a compressed body", bytes(httpText(429, gzipSync("{}"), { "content-encoding": "gzip" })), "429 no body", "limited", "unknown"],
  ["a firewall's page", bytes(httpText(403, "<html>Access denied</html>", { "content-type": "text/html" })), "403 no body", "rejected", "unknown"],
  ["a stale timestamp", bytes(httpText(401, '{"code":"50004","msg":"timestamp"}')), '401 {"code":"50004","msg":"timestamp"}', "rejected", "rejected"],
  ["no such address", bytes(httpText(404, "<html>")), "404 no body", "rejected", "unknown"],
  ["bad parameters", bytes(httpText(400, '{"code":"50002","msg":"sz"}')), '400 {"code":"50002","msg":"sz"}', "rejected", "rejected"],
];

export const wireFaults: readonly WireFault[] = [...unread, ...whole].map(row);
