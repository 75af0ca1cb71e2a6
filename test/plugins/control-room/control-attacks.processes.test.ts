/** Attacks on the control port of an engine: none gets in, and none stops trading. */
import { once } from "node:events";
import type { Socket } from "node:net";
import { concat, map, NEVER, of, timer } from "rxjs";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { judge, tokenHash } from "../../../plugins/control-room/server/request-guard.ts";
import { far, strategy } from "../../support/harness/backtest.ts";
import { type Answered, type Asked, type Controlled, readAnswer, startControlled, written } from "./harness/control.ts";

const resting = () => strategy("resting", { wanted: () => concat(of([far("x"), far("y")]), NEVER) });
const actions = "/api/v1/sources/main/actions";
const halt = JSON.stringify({ type: "halt", reason: "attack" });
const json = { "Content-Type": "application/json" };
const post = (headers: Asked["headers"] = {}, body = halt, path = actions): Asked => ({
  method: "POST",
  path,
  headers,
  body,
});

let room: Controlled;
beforeAll(async () => {
  room = await startControlled([resting()]);
});
afterAll(async () => room.stop());

/** Whatever was tried: nothing was halted, nothing was journalled, and the port answers its user. */
const unharmed = async (): Promise<void> => {
  expect(room.engine.strategies()).toMatchObject([{ state: "running", mode: "active" }]);
  expect(room.engine.openOrders()).toHaveLength(2);
  expect(acted).toEqual([]);
  expect((await room.ask({})).status).toBe(200);
};
const acted: unknown[] = [];
beforeAll(() => {
  room.engine.on("operator.acted", (event) => acted.push(event));
});

describe("The control port refuses what does not come from its own page or its own user", () => {
  afterEach(unharmed);

  it.each<[attack: string, status: number, code: string, request: (port: number) => Asked]>([
    ["a rebound name", 421, "HOST_FOREIGN", () => post({ Host: "attacker.example" })],
    ["a rebound name with our port", 421, "HOST_FOREIGN", (port) => post({ Host: `attacker.example:${port}` })],
    [
      "our address as the beginning of a name",
      421,
      "HOST_FOREIGN",
      (port) => post({ Host: `127.0.0.1.attacker.example:${port}` }),
    ],
    [
      "localhost as the beginning of a name",
      421,
      "HOST_FOREIGN",
      (port) => post({ Host: `localhost.attacker.example:${port}` }),
    ],
    [
      "our address as the end of a name",
      421,
      "HOST_FOREIGN",
      (port) => post({ Host: `attacker.example@127.0.0.1:${port}` }),
    ],
    ["our address at another port", 421, "HOST_FOREIGN", (port) => post({ Host: `127.0.0.1:${port + 1}` })],
    ["our address without a port", 421, "HOST_FOREIGN", () => post({ Host: "127.0.0.1" })],
    ["another spelling of our address", 421, "HOST_FOREIGN", (port) => post({ Host: `2130706433:${port}` })],
    ["0.0.0.0", 421, "HOST_FOREIGN", (port) => post({ Host: `0.0.0.0:${port}` })],
    ["no Host", 421, "HOST_FOREIGN", () => post({ Host: undefined })],
    ["a page of another site", 403, "ORIGIN_FOREIGN", () => post({ Origin: "https://attacker.example" })],
    [
      "a page of another port of this machine",
      403,
      "ORIGIN_FOREIGN",
      (port) => post({ Origin: `http://127.0.0.1:${port + 1}` }),
    ],
    [
      "a page whose name begins like ours",
      403,
      "ORIGIN_FOREIGN",
      (port) => post({ Origin: `http://127.0.0.1:${port}.attacker.example` }),
    ],
    ["a page of another name of ours", 403, "ORIGIN_FOREIGN", (port) => post({ Origin: `http://localhost:${port}` })],
    ["a page without an origin", 403, "ORIGIN_FOREIGN", () => post({ Origin: "null" })],
    [
      "a request of another site that hides its origin",
      403,
      "ORIGIN_FOREIGN",
      () => post({ "Sec-Fetch-Site": "cross-site" }),
    ],
    ["a request of a neighbour site", 403, "ORIGIN_FOREIGN", () => post({ "Sec-Fetch-Site": "same-site" })],
    [
      "a stream for another site",
      403,
      "ORIGIN_FOREIGN",
      () => ({ path: "/api/v1/sources/main/stream", headers: { "Sec-Fetch-Site": "cross-site" } }),
    ],
    [
      "a preflight",
      401,
      "TOKEN_WRONG",
      () => ({ method: "OPTIONS", path: actions, headers: { Authorization: undefined } }),
    ],
    [
      "a form without a token",
      401,
      "TOKEN_WRONG",
      () => post({ Authorization: undefined, "Content-Type": "application/x-www-form-urlencoded" }),
    ],
    [
      "text without a token",
      401,
      "TOKEN_WRONG",
      () => post({ Authorization: undefined, "Content-Type": "text/plain" }),
    ],
    [
      "a token in the address",
      401,
      "TOKEN_WRONG",
      () => post({ Authorization: undefined }, halt, `${actions}?token=${room.token}`),
    ],
    [
      "a token in a cookie",
      401,
      "TOKEN_WRONG",
      () => post({ Authorization: undefined, Cookie: `token=${room.token}` }),
    ],
    ["a token as a password", 401, "TOKEN_WRONG", () => post({ Authorization: `Basic ${btoa(`a:${room.token}`)}` })],
    ["a wrong token", 401, "TOKEN_WRONG", () => post({ Authorization: `Bearer ${"a".repeat(43)}` })],
    [
      "the beginning of the token",
      401,
      "TOKEN_WRONG",
      () => post({ Authorization: `Bearer ${room.token.slice(0, 42)}` }),
    ],
    ["more than the token", 401, "TOKEN_WRONG", () => post({ Authorization: `Bearer ${room.token}a` })],
    [
      "a token of a megabyte's beginning",
      401,
      "TOKEN_WRONG",
      () => post({ Authorization: `Bearer ${"a".repeat(6_000)}` }),
    ],
    ["an empty token", 401, "TOKEN_WRONG", () => post({ Authorization: "Bearer " })],
    ["the hash of the token", 401, "TOKEN_WRONG", () => post({ Authorization: `Bearer ${tokenHash(room.token)}` })],
    [
      "another method by a header",
      400,
      "REQUEST_MALFORMED",
      () => ({ path: actions, headers: { "X-HTTP-Method-Override": "POST" } }),
    ],
    ["acting by GET", 405, "METHOD_WRONG", () => ({ path: actions })],
    ["acting by PUT", 405, "METHOD_WRONG", () => ({ ...post(), method: "PUT" })],
    ["a body of text", 415, "CONTENT_TYPE", () => post({ "Content-Type": "text/plain" })],
    ["a form", 415, "CONTENT_TYPE", () => post({ "Content-Type": "multipart/form-data; boundary=a" })],
    [
      "JSON under a type that begins like it",
      415,
      "CONTENT_TYPE",
      () => post({ "Content-Type": "application/json-patch" }),
    ],
    ["a huge body", 413, "BODY_LARGE", () => post({ "Content-Length": "100000000" }, "")],
    ["a body where none belongs", 413, "BODY_LARGE", () => ({ path: "/api/v1/sources", headers: json, body: halt })],
    ["HTTP/1.0", 505, "HTTP_VERSION", () => ({ ...post(), version: "1.0" })],
    [
      "an address of another server",
      400,
      "REQUEST_MALFORMED",
      () => post({}, halt, `http://attacker.example${actions}`),
    ],
    ["two hosts", 400, "REQUEST_MALFORMED", (port) => post({ host: `127.0.0.1:${port}` })],
    ["two tokens", 400, "REQUEST_MALFORMED", () => post({ authorization: "Bearer other" })],
    ["a field twice", 400, "REQUEST_MALFORMED", () => post({}, '{"type":"halt","strategy":"a","strategy":"b"}')],
    ["a prototype", 400, "ACTION_INVALID", () => post({}, '{"type":"halt","__proto__":{"strategy":"resting"}}')],
    [
      "a constructor",
      400,
      "ACTION_INVALID",
      () => post({}, '{"type":"options","strategy":"resting","changes":{"constructor":{"prototype":{"a":1}}}}'),
    ],
    ["an unknown field", 400, "ACTION_INVALID", () => post({}, '{"type":"halt","strategies":"resting"}')],
    ["an unknown action", 400, "ACTION_INVALID", () => post({}, '{"type":"eval","code":"process.exit()"}')],
    [
      "JSON as deep as it gets",
      400,
      "ACTION_INVALID",
      () =>
        post({}, `{"type":"options","strategy":"resting","changes":{"a":${"[".repeat(7_000)}${"]".repeat(7_000)}}}`),
    ],
    ["broken JSON", 400, "REQUEST_MALFORMED", () => post({}, '{"type":"halt"')],
    ["bytes that are no text", 400, "REQUEST_MALFORMED", () => post({}, "\u0000\ufffd{")],
    [
      "a regular expression as an id",
      400,
      "ACTION_INVALID",
      () => post({}, JSON.stringify({ type: "cancel", where: { clOrdId: `${"a".repeat(5_000)}(a+)+$` } })),
    ],
    [
      "a line break in a name",
      400,
      "ACTION_INVALID",
      () => post({}, JSON.stringify({ type: "halt", strategy: "a\r\nb" })),
    ],
    [
      "an id that is too long",
      404,
      "ORDER_UNKNOWN",
      () => ({ path: `/api/v1/sources/main/orders/${"(a+)+".repeat(200)}` }),
    ],
    [
      "an encoded line break as an id",
      404,
      "ORDER_UNKNOWN",
      () => ({ path: "/api/v1/sources/main/orders/a%0d%0aSet-Cookie:%20a" }),
    ],
    ["an engine that there is not", 404, "SOURCE_UNKNOWN", () => post({}, halt, "/api/v1/sources/__proto__/actions")],
    ["files above the page", 404, "PATH_UNKNOWN", () => ({ path: "/assets/../../../../etc/passwd" })],
    ["files above the page, encoded", 404, "PATH_UNKNOWN", () => ({ path: "/assets/%2e%2e/%2e%2e/%2e%2e/etc/passwd" })],
    [
      "files above the page, encoded twice",
      404,
      "PATH_UNKNOWN",
      () => ({ path: "/assets/..%252f..%252fetc%252fpasswd" }),
    ],
    ["files above the page with a zero byte", 404, "PATH_UNKNOWN", () => ({ path: "/assets/control-room/client/%00" })],
    ["the sources of the package", 404, "PATH_UNKNOWN", () => ({ path: "/assets/control-room/port-file.ts" })],
    ["anything else", 404, "PATH_UNKNOWN", () => ({ path: "/package.json" })],
  ])("%s: %i %s", async (_, status, code, request) => {
    const answer = await room.ask(request(room.port));
    expect([answer.status, JSON.parse(answer.body)]).toEqual([status, { ok: false, code, text: expect.any(String) }]);
    expect(answer.head).not.toMatch(/set-cookie|access-control/i);
    expect(answer.head + answer.body).not.toContain(room.token);
  });

  const broken = (answer: Answered): void => expect([0, 400, 431]).toContain(answer.status);
  it.each<[attack: string, bytes: (request: string) => string, check: (answer: Answered) => void]>([
    [
      "a header of a megabyte",
      (request) => request.replace("\r\n\r\n", `\r\nX: ${"a".repeat(1_000_000)}\r\n\r\n`),
      broken,
    ],
    ["ten thousand headers", (request) => request.replace("\r\n\r\n", `\r\n${"X: a\r\n".repeat(10_000)}\r\n`), broken],
    [
      "a length and chunks at once",
      (request) => request.replace("\r\n\r\n", "\r\nTransfer-Encoding: chunked\r\n\r\n"),
      broken,
    ],
    [
      "a header that is folded",
      (request) => request.replace("\r\n\r\n", "\r\nX: a\r\n b\r\n\r\n"),
      (answer) => expect(answer.status).toBe(400),
    ],
    ["a line that ends without a return", (request) => request.replaceAll("\r\n", "\n"), broken],
    ["a method of its own", (request) => request.replace("POST", "HALT"), broken],
    ["a tunnel", (request) => request.replace(`POST ${actions}`, "CONNECT attacker.example:443"), broken],
    [
      "another protocol",
      (request) => request.replace("Connection: close", "Connection: Upgrade\r\nUpgrade: websocket"),
      broken,
    ],
    ["a wait for permission", (request) => request.replace("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n"), broken],
    ["no HTTP at all", () => "\u0016\u0003\u0001\u0002\u0000\u0001\u0000", broken],
  ])("%s", async (_, bytes, check) => {
    check(readAnswer(await room.raw(bytes(written(room.port, room.token, post())), 12_000)));
  });

  it("a line break that an answer would repeat", async () => {
    const answer = await room.ask({ path: "/api/v1/sources/a%0d%0aX-Injected:%20a/stream" });
    expect([answer.status, /x-injected/i.test(answer.head)]).toEqual([404, false]);
  });
});

/** Waits until it is so; the test's own time is the bound. */
const eventually = async (is: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await is())) await new Promise((resolve) => setTimeout(resolve, 100));
};

describe("The control port bounds what a connection may cost", () => {
  afterEach(unharmed);

  it("a body in endless chunks ends at its bound", async () => {
    // The requests before may have used up what is answered within a second.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const socket = room.connect();
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString();
    });
    socket.write(
      written(room.port, room.token, {
        ...post({ "Content-Length": undefined, "Transfer-Encoding": "chunked" }),
        body: "",
      }),
    );
    const chunk = `1000\r\n${"a".repeat(0x1000)}\r\n`;
    let sent = 0;
    while (!text.includes("413") && sent < 200 && !socket.destroyed) {
      socket.write(chunk);
      sent++;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(readAnswer(text).status).toBe(413);
    expect(sent).toBeLessThan(100);
    socket.destroy();
  });

  it("a head that comes a byte at a time is given up after seconds", async () => {
    const socket = room.connect();
    socket.on("data", () => undefined);
    socket.write("GET / HTTP/1.1\r\nHost: ");
    const began = performance.now();
    const drip = setInterval(() => socket.write("a"), 200);
    await once(socket, "close");
    clearInterval(drip);
    expect(performance.now() - began).toBeLessThan(9_000);
  });

  it("a body that never comes is given up after seconds", async () => {
    const began = performance.now();
    const text = await room.raw(written(room.port, room.token, post({ "Content-Length": "50" }, "")), 20_000);
    expect([0, 408]).toContain(readAnswer(text).status);
    expect(performance.now() - began).toBeLessThan(15_000);
  });

  it("requests in a pipeline are each judged by themselves", async () => {
    const good = written(room.port, room.token, { headers: { Connection: undefined } });
    const bad = written(room.port, "a".repeat(43), post({ Connection: undefined }));
    const text = await room.raw(good + bad + good, 3_000);
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);
    expect(statuses.slice(0, 2)).toEqual(["200", "401"]);
  });

  it("ten thousand idle connections leave room for nothing but themselves, and go", async () => {
    const sockets: Socket[] = [];
    while (sockets.length < 10_000) {
      // Fewer at a time than the system keeps for a port: of what it drops beyond that, one that says nothing never learns.
      const some = Array.from({ length: 250 }, () => room.connect().resume());
      sockets.push(...some);
      await Promise.all(
        some.map((socket) => new Promise((resolve) => socket.once("connect", resolve).once("close", resolve))),
      );
    }
    // Those that the system has taken and the port has not met yet count as open here.
    const left = (): number => sockets.filter(({ destroyed }) => !destroyed).length;
    await eventually(() => left() <= 1_100);
    expect(room.engine.strategies()).toMatchObject([{ state: "running", mode: "active" }]);
    for (const socket of sockets) socket.destroy();
    await eventually(async () => (await room.ask({})).status === 200);
  });

  it("wrong tokens are answered late, and do not keep the right one out", async () => {
    const wrong = Array.from({ length: 40 }, () =>
      room.ask({ headers: { Authorization: `Bearer ${"b".repeat(43)}` } }),
    );
    const began = performance.now();
    expect((await room.ask({})).status).toBe(200);
    const own = performance.now() - began;
    const statuses = (await Promise.all(wrong)).map(({ status }) => status);
    // Sixteen at a time wait for half a second: on a busy machine the forty arrive over a longer time.
    const turns = Math.max(1, Math.floor((performance.now() - began) / 500));
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(1 + 16 * turns);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(39 - 16 * turns);
    expect(performance.now() - began).toBeGreaterThan(own);
  });
});

describe("The control port lets its user act only so often", () => {
  it("more than ten actions at once are too many", async () => {
    const mine = await startControlled([resting()], { name: "busy", port: 0, names: ["busy.example"] });
    const resume = { method: "POST", path: "/api/v1/sources/busy/actions", body: '{"type":"resume"}' };
    const began = performance.now();
    const statuses = (await Promise.all(Array.from({ length: 30 }, () => mine.ask(resume)))).map(
      ({ status }) => status,
    );
    // Ten at once and five a second: on a busy machine the thirty take their time.
    const most = 10 + Math.ceil((5 * (performance.now() - began)) / 1_000);
    const [taken, refused] = [200, 429].map((code) => statuses.filter((status) => status === code).length);
    expect(taken).toBeLessThanOrEqual(most);
    expect(refused).toBeGreaterThanOrEqual(30 - most);
    await mine.stop();
  });
});

describe("A halt gets into the control port whatever else is asked for", () => {
  const path = "/api/v1/sources/flooded/actions";
  const asking = (body: object): Asked => ({ method: "POST", path, body: JSON.stringify(body) });
  const statusesOf = (answers: readonly Answered[]): readonly number[] => answers.map(({ status }) => status);
  let mine: Controlled;
  beforeAll(async () => {
    mine = await startControlled([resting()], { name: "flooded", names: ["flooded.example"] });
  });
  afterAll(async () => mine.stop());

  it("halts and cancels of everything are answered while ordinary actions of the same token are too many", async () => {
    const flood = Array.from({ length: 60 }, () =>
      mine.ask(asking({ type: "options", strategy: "resting", changes: { a: 1 } })),
    );
    const halts = ["flood", "flood", "flood"].map((reason) => mine.ask(asking({ type: "halt", reason })));
    const cancels = [0, 1].map(() => mine.ask(asking({ type: "cancel", where: {} })));
    const one = mine.ask(asking({ type: "halt", strategy: "resting" }));
    expect(statusesOf(await Promise.all([...halts, ...cancels, one]))).toEqual([200, 200, 200, 200, 200, 200]);
    expect(statusesOf(await Promise.all(flood)).filter((status) => status === 429).length).toBeGreaterThanOrEqual(30);
    expect([mine.engine.strategies()[0]?.mode, mine.engine.openOrders()]).toEqual(["halted", []]);
  });

  it("a flood of halts costs the engine ten a second, and each is answered", async () => {
    const acts: string[] = [];
    const off = mine.engine.on("operator.acted", ({ action }) => acts.push(action));
    const began = performance.now();
    const answers = await Promise.all(Array.from({ length: 300 }, () => mine.ask(asking({ type: "halt" }))));
    const seconds = (performance.now() - began) / 1_000;
    expect(new Set(statusesOf(answers))).toEqual(new Set([200]));
    expect(acts.length).toBeLessThanOrEqual(10 * seconds + 2);
    off();
  });

  it("what is like a halt and is none waits its turn: of no strategy, of some orders, in a body that is no action", async () => {
    for (const body of [
      { type: "halt", strategy: "nobody" },
      { type: "cancel", where: { side: "buy" } },
      { type: "halt", by: "me" },
    ]) {
      const statuses = statusesOf(await Promise.all(Array.from({ length: 30 }, () => mine.ask(asking(body)))));
      expect(statuses.filter((status) => status === 429).length, JSON.stringify(body)).toBeGreaterThanOrEqual(10);
    }
  });

  it("without the token it does not get in, and its body is not waited for", async () => {
    const strange = {
      ...asking({ type: "halt" }),
      headers: { Authorization: `Bearer ${"c".repeat(43)}`, "Content-Length": "16000" },
    };
    const began = performance.now();
    expect((await mine.ask(strange)).status).toBe(401);
    expect(performance.now() - began).toBeLessThan(4_000);
  });
});

describe("A token of the control port", () => {
  it("is of no use after a restart", async () => {
    const first = await startControlled([resting()], { names: ["first.example"] });
    await first.stop();
    const second = await startControlled([resting()], { names: ["first.example"], port: first.port });
    expect(second.port).toBe(first.port);
    expect((await second.ask({ headers: { Authorization: `Bearer ${first.token}` } })).status).toBe(401);
    expect((await second.ask({})).status).toBe(200);
    expect(second.token).toMatch(/^[\w-]{43}$/);
    await second.stop();
  });

  it("that may read does not act, and is compared as a whole", () => {
    const rules = {
      isOpen: false,
      scheme: "http",
      hosts: new Set(["127.0.0.1:1"]),
      tokens: { read: tokenHash("r".repeat(43)), act: tokenHash("a".repeat(43)) },
    } as const;
    const verdict = (token: string, method = "POST") =>
      judge(
        {
          peer: "127.0.0.1",
          httpVersion: "1.1",
          method,
          url: method === "POST" ? actions : "/api/v1/sources",
          rawHeaders: ["Host", "127.0.0.1:1", "Authorization", `Bearer ${token}`, "Content-Type", "application/json"],
        },
        rules,
      );
    expect(verdict("r".repeat(43))).toMatchObject({ ok: false, code: "TOKEN_READS" });
    expect(verdict("r".repeat(43), "GET")).toMatchObject({ ok: true, access: "read" });
    expect(verdict("a".repeat(43))).toMatchObject({ ok: true, access: "act" });
    for (const token of ["a".repeat(42), `${"a".repeat(42)}b`, `b${"a".repeat(42)}`, ""]) {
      expect(verdict(token)).toMatchObject({ ok: false, code: "TOKEN_WRONG" });
    }
  });

  it.each(["10.0.0.7", "192.168.1.4", "::ffff:10.0.0.7", "127.0.0.1.attacker", ""])(
    "is not asked for from another machine: %s",
    (peer) => {
      const rules = {
        isOpen: false,
        scheme: "http",
        hosts: new Set(["127.0.0.1:1"]),
        tokens: { read: tokenHash("r") },
      } as const;
      expect(
        judge({ peer, httpVersion: "1.1", method: "GET", url: "/", rawHeaders: ["Host", "127.0.0.1:1"] }, rules),
      ).toMatchObject({
        code: "PEER_FOREIGN",
      });
    },
  );
});

describe("Under attack", () => {
  it("an engine places and cancels as before", async () => {
    const moving = strategy("moving", {
      wanted: () => timer(0, 300).pipe(map((round) => [{ ...far("m", `${30_000 + round}`), round }])),
    });
    const mine = await startControlled([moving], { name: "moving", names: ["moving.example"] });
    const placed = new Set<string>();
    mine.engine.on("order.live", ({ clOrdId }) => placed.add(clOrdId));
    const began = performance.now();
    while (performance.now() - began < 2_000) {
      await Promise.all(Array.from({ length: 50 }, () => mine.ask({ headers: { Host: "attacker.example" } })));
    }
    expect(placed.size).toBeGreaterThanOrEqual(3);
    await mine.stop();
  });
});
