/** Ports of others as a relay meets them: made ones on the loopback, honest and not. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { EngineRow } from "../../../plugins/control-room/control-rows.ts";
import { EngineRelay } from "../../../plugins/control-room/relay/engine-relay.ts";
import type { RelaySource } from "../../../plugins/control-room/relay/relay-source.ts";
import { type PortLink, readLink } from "../../../plugins/control-room/relay/upstream-port.ts";
import { createSystemClock } from "../../../src/clock/system-clock.ts";

const token = "t".repeat(43);
const engine: EngineRow = {
  name: "main",
  kind: "paper",
  environment: "",
  version: "0.0.0",
  startedAt: 0,
  mode: "active",
  reason: "",
  state: "running",
};
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
const serve = async (answer: Answer): Promise<PortLink & { readonly asked: string[] }> => {
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token, asked };
};
const json = (response: ServerResponse, value: unknown): void => {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
};
const listed = (...ids: readonly string[]) => ({
  access: "act",
  sources: ids.map((id) => ({ id, isGone: false, engine })),
});
const stream = (response: ServerResponse, ...messages: readonly (readonly [string, unknown])[]): void => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const [name, data] of messages) response.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
};
const snapshot = (rows: readonly unknown[]) => ["snapshot", { source: "main", seq: 1, at: 5, rows }] as const;
/** A port that lists these and tells these rows of each. */
const port = (ids: readonly string[], rows: readonly unknown[] = [["engine", "", engine]]): Answer => {
  return ({ url = "" }, response) => {
    if (url === "/api/v1/sources") json(response, listed(...ids));
    else stream(response, snapshot(rows));
  };
};

const relayOf = async (...links: readonly PortLink[]) => {
  const sources: RelaySource[] = [];
  const lines: string[] = [];
  const beats = { count: 0 };
  const relay = new EngineRelay({
    clock: createSystemClock(),
    show: async (source) => {
      sources.push(source);
      return { beat: () => beats.count++, leave: async () => undefined };
    },
    print: (line) => lines.push(line),
  });
  ends.unshift(() => relay.end());
  relay.replace(links);
  await relay.look();
  return { relay, sources, lines, beats };
};
const rowsOf = (source: RelaySource | undefined, section: string): readonly unknown[] =>
  (source?.snapshot().rows ?? []).flatMap(([of, , row]) => (of === section ? [row] : []));

describe("A relay of control ports", () => {
  it("gives engines of one name the address of their port, and each what its own port tells", async () => {
    const [one, two] = [await serve(port(["main"])), await serve(port(["main", "other"]))];
    const { relay, sources } = await relayOf(one, two);
    const long = (link: PortLink): string => `main (${new URL(link.origin).host})`;
    expect([...relay.names].sort()).toEqual([long(one), long(two), "other"].sort());
    for (const source of sources) {
      await expect
        .poll(() => rowsOf(source, "engine"))
        .toEqual([{ ...engine, name: source.id, via: source.engine.link.origin }]);
    }
    await relay.look();
    expect(relay.names).toHaveLength(3);
  });

  it("does not show what another page only passes on, nor what has ended", async () => {
    const link = await serve((_, response) =>
      json(response, {
        access: "act",
        sources: [
          { id: "passed", isGone: false, engine: { ...engine, via: "http://127.0.0.1:1" } },
          { id: "over", isGone: true, engine },
          { id: 7, isGone: false, engine },
          "text",
        ],
      }),
    );
    expect((await relayOf(link)).relay.names).toEqual([]);
  });

  it("follows no redirect and takes its token nowhere else", async () => {
    const elsewhere = await serve(port(["stolen"]));
    const redirecting = await serve((_, response) =>
      response.writeHead(307, { location: `${elsewhere.origin}/api/v1/sources` }).end(),
    );
    const { relay, lines } = await relayOf(redirecting);
    expect([relay.names, elsewhere.asked]).toEqual([[], []]);
    expect(lines).toEqual([expect.stringContaining(`${redirecting.origin} does not answer`)]);
    expect(lines.join("")).not.toContain(token);
    await relay.look();
    expect(lines).toHaveLength(1);
  });

  it("does not act by a redirect either, and says that nothing is known of it", async () => {
    const elsewhere = await serve(port([]));
    const link = await serve((request, response) => {
      if (request.method === "POST") response.writeHead(307, { location: `${elsewhere.origin}${request.url}` }).end();
      else port(["main"])(request, response);
    });
    const { sources } = await relayOf(link);
    expect(await sources[0]?.act({ type: "halt" })).toMatchObject({ ok: false, code: "ENGINE_GONE" });
    expect(elsewhere.asked).toEqual([]);
  });

  it("takes no row that is none, and no section that it does not know", async () => {
    const odd = [
      ["engine", "", engine],
      ["orders"],
      ["toString", "a", {}],
      ["__proto__", "a", {}],
      ["orders", 3, {}],
      ["markets", "a", "text"],
      5,
    ];
    const { sources } = await relayOf(await serve(port(["main"], [...odd, ["health", "x", { name: "x" }]])));
    await expect.poll(() => rowsOf(sources[0], "health")).toEqual([{ name: "x" }]);
    expect(sources[0]?.snapshot().rows).toHaveLength(2);
  });

  it("keeps within the bounds of a document, whatever a port sends", async () => {
    const many = Array.from({ length: 3_000 }, (_, seq) => [
      "events",
      `${seq}`,
      { seq, at: 1, type: "fill", severity: "info", text: "x" },
    ]);
    const { sources } = await relayOf(await serve(port(["main"], [["engine", "", engine], ...many])));
    await expect.poll(() => rowsOf(sources[0], "events").length).toBe(500);
  });

  it("replaces everything when it hears an engine again, and drops what is not there any more", async () => {
    let round = 0;
    const responses: ServerResponse[] = [];
    const link = await serve((request, response) => {
      if (request.url === "/api/v1/sources") return json(response, listed("main"));
      responses.push(response);
      return stream(
        response,
        snapshot([
          ["engine", "", engine],
          ["health", `run ${++round}`, { name: `run ${round}` }],
        ]),
      );
    });
    const { sources } = await relayOf(link);
    await expect.poll(() => rowsOf(sources[0], "health")).toEqual([{ name: "run 1" }]);
    responses[0]?.destroy();
    await expect.poll(() => rowsOf(sources[0], "engine")).toEqual([expect.objectContaining({ state: "gone" })]);
    await expect.poll(() => rowsOf(sources[0], "health"), { timeout: 5_000 }).toEqual([{ name: "run 2" }]);
    expect(rowsOf(sources[0], "engine")).toEqual([expect.objectContaining({ state: "running" })]);
  });

  it("beats while the engine's own thread does, and not while only its port lives", async () => {
    let response: ServerResponse | undefined;
    const link = await serve((request, given) => {
      port(["main"])(request, given);
      if (request.url !== "/api/v1/sources") response = given;
    });
    const { beats, sources } = await relayOf(link);
    await expect.poll(() => rowsOf(sources[0], "engine")).toHaveLength(1);
    const before = beats.count;
    response?.write('event: heartbeat\ndata: {"silentMs":9000}\n\n');
    response?.write('event: heartbeat\ndata: {"silentMs":20}\n\n');
    await expect.poll(() => beats.count).toBe(before + 1);
  });
});

describe("A link of a control port", () => {
  it.each([
    ["http://127.0.0.1:8787/#token=tttttttttttttttttttt", "http://127.0.0.1:8787"],
    ["https://desk.example.org/#token=tttttttttttttttttttt", "https://desk.example.org"],
  ])("%s", (text, origin) => expect(readLink(text)).toEqual({ origin, token: "t".repeat(20) }));

  it.each([
    ["http://127.0.0.1:8787/", "the token of the engine is missing"],
    ["http://127.0.0.1:8787/#token=a b", "the token of the engine is missing"],
    ["file:///etc/passwd#token=tttttttttttttttttttt", "begins with http"],
    ["http://user:secret@127.0.0.1:1/#token=tttttttttttttttttttt", "user's name or password"],
    ["127.0.0.1:8787", "no address"],
    ["http://", "no address"],
  ])("is refused: %s", (text, why) => expect(() => readLink(text)).toThrow(why));

  it("is not repeated with its token", () => {
    expect(() => readLink(`ftp://127.0.0.1/#token=${token}`)).toThrow(
      expect.not.stringContaining(token) as unknown as string,
    );
  });
});
