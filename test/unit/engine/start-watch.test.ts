/** What a start says while it waits, and what ends it at once. */
import { EMPTY, NEVER, of } from "rxjs";
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import type { ResponseSink, Transport, WireRequest } from "../../../src/contract/transport.ts";
import { createStartWatch } from "../../../src/engine/start-watch.ts";
import { SluiceError } from "../../../src/errors.ts";
import { EventLog } from "../../../src/journal/event-log.ts";

const request = {
  endpoint: "instruments",
  method: "GET",
  path: "/api/v1/common/instruments",
  query: {},
  body: undefined,
  key: undefined,
} as unknown as WireRequest;
const lost =
  (code: string): Transport =>
  (_, sink) => {
    sink.failed(new SluiceError("OUTCOME_UNKNOWN", `instruments: no answer was read (${code}) after 2 ms.`));
  };
const status =
  (code: number): Transport =>
  (_, sink) => {
    sink.response({ status: code, headers: {}, body: undefined });
  };

const stage = (baseUrl?: string) => {
  const clock = createVirtualClock(0);
  const journal = new EventLog(() => clock.now());
  const told: string[] = [];
  journal.attach((event) => {
    if (event.type === "start.waiting") told.push(`${event.at} ${event.reason}`);
  });
  const watch = createStartWatch({ clock, journal, baseUrl });
  let end = "";
  watch.guard(NEVER).subscribe({
    error: (error: unknown) => {
      end = String(error);
    },
  });
  watch.begin();
  const ask = (transport: Transport): void => {
    watch.interceptor(transport)(request, { response: () => undefined, failed: () => undefined, closed: false });
  };
  return { clock, journal, told, watch, ask, end: () => end };
};
const url = "http://127.0.0.1:9";

it("What a start watches ends with its source: an engine stopped while it starts waits for nothing", () => {
  const { watch } = stage(url);
  let ended = false;
  watch.guard(of(1)).subscribe({
    complete: () => {
      ended = true;
    },
  });
  expect(ended).toBe(true);
});

describe("An engine's start", () => {
  it("no longer waits for what has ended, as when the engine stops meanwhile", () => {
    const { watch } = stage(url);
    let ended = false;
    watch.guard(EMPTY).subscribe({ complete: () => (ended = true) });
    expect(ended).toBe(true);
  });

  it("tells at once that the service does not answer, again after a while, and goes on", () => {
    const { clock, told, ask, end } = stage(url);
    ask(lost("ECONNREFUSED"));
    clock.advanceTo(1_000);
    ask(lost("ECONNREFUSED"));
    clock.advanceTo(15_000);
    ask(lost("ECONNREFUSED"));
    expect(told).toEqual([`0 ${url} does not answer (ECONNREFUSED)`, `15000 ${url} does not answer (ECONNREFUSED)`]);
    expect(end()).toBe("");
  });

  it("tells of an answer that does not come", () => {
    const { clock, told, ask } = stage(url);
    ask(() => undefined);
    clock.advanceTo(5_000);
    expect(told).toEqual([`3000 ${url} has not answered for 3 s`]);
  });

  it("gives a read up that is not answered, later each time, and takes no late answer of it", () => {
    const { clock, watch } = stage(url);
    const ends: string[] = [];
    let late: ResponseSink | undefined;
    const ask = (asked: WireRequest = request): void => {
      const failed = (error: unknown): void =>
        void ends.push(`${clock.now()} ${error instanceof Error ? error.message : ""}`);
      watch.interceptor((_, sink) => {
        late = sink;
      })(asked, { response: ({ status: told }) => void ends.push(`${clock.now()} ${told}`), failed, closed: false });
    };
    ask();
    ask();
    clock.advanceTo(3_000);
    expect(ends).toEqual(Array(2).fill("3000 instruments: no answer within 3000 ms, while the engine starts."));
    expect(late?.closed).toBe(true);
    late?.response({ status: 200, headers: {}, body: undefined });
    ask();
    clock.advanceTo(8_999);
    expect(ends).toHaveLength(2);
    clock.advanceTo(9_000);
    expect(ends.at(-1)).toBe("9000 instruments: no answer within 6000 ms, while the engine starts.");
    // From now on the transport's own limit holds, as it does for what changes something.
    ask();
    clock.advanceTo(60_000);
    late?.response({ status: 200, headers: {}, body: undefined });
    expect(ends.slice(3)).toEqual(["60000 200"]);
  });

  it("gives nothing up that changes something, nor what it is still waiting for when it has ended", () => {
    const { clock, watch } = stage(url);
    const ends: string[] = [];
    const sinks: ResponseSink[] = [];
    const ask = (method: "GET" | "POST"): void => {
      const sink = { response: () => void ends.push(method), failed: () => void ends.push("failed"), closed: false };
      watch.interceptor((_, inner) => void sinks.push(inner))({ ...request, method }, sink);
    };
    ask("POST");
    ask("GET");
    clock.advanceTo(2_000);
    watch.end();
    clock.advanceTo(9_000);
    for (const sink of sinks) sink.response({ status: 200, headers: {}, body: undefined });
    expect(ends).toEqual(["POST", "GET"]);
  });

  it.each<[string, Transport, string]>([
    ["a host that does not exist", lost("ENOTFOUND"), `${url} cannot be reached (ENOTFOUND).`],
    ["a server of another protocol", lost("HPE_INVALID"), `${url} cannot be reached (HPE_INVALID).`],
    [
      "another host by its certificate",
      lost("ERR_TLS_CERT_ALTNAME_INVALID"),
      `${url} cannot be reached (ERR_TLS_CERT_ALTNAME_INVALID).`,
    ],
  ])("ends at once at %s, and names it", (_, transport, words) => {
    const { ask, end, told } = stage(url);
    ask(transport);
    expect(end()).toContain(`The engine cannot start: ${words}`);
    expect(end()).toContain("Check the service's baseUrl in the config.");
    expect(told).toEqual([]);
  });

  it.each([404, 301])(
    "tells a path that does not exist, and ends when that is answered for the third time (%i)",
    (code) => {
      const { ask, end, told } = stage(url);
      ask(status(code));
      expect(told).toEqual([
        `0 ${url} has no such path (${code} for GET /api/v1/common/instruments): is the service's baseUrl right?`,
      ]);
      ask(status(code));
      expect(end()).toBe("");
      ask(status(code));
      expect(end()).toContain(
        `The engine cannot start: ${url} has no such path (${code} for GET /api/v1/common/instruments).`,
      );
      expect(end()).toContain("Check the service's baseUrl in the config.");
    },
  );

  it("goes on after a page of a proxy that is being restarted", () => {
    const { ask, end } = stage(url);
    for (const code of [404, 404, 200, 404, 404, 200]) ask(status(code));
    expect(end()).toBe("");
  });

  it("tells what the service refuses, in its own words", () => {
    const { ask, end, told } = stage(url);
    ask((_, sink) =>
      sink.response({
        status: 200,
        headers: {},
        body: { code: "152409", msg: "signature verification failed", data: [] },
      }),
    );
    ask((_, sink) => sink.response({ status: 200, headers: {}, body: { code: "0", msg: "", data: [] } }));
    expect(told).toEqual([
      "0 the service refuses GET /api/v1/common/instruments: 152409 signature verification failed",
    ]);
    expect(end()).toBe("");
  });

  it("waits for a rate limit, and says so", () => {
    const { clock, journal, told, ask, watch, end } = stage(url);
    ask(status(429));
    clock.advanceTo(500);
    const held = { type: "action.held", action: 1, endpoint: "instruments", class: "read", layer: "uid" } as const;
    journal.append({ ...held, until: 1_500 });
    journal.append({ ...held, until: 13_500 });
    expect(told).toEqual([
      "0 a rate limit refuses (429): other clients use this quota; waiting for the next window",
      "500 waiting for quota: 13 s",
    ]);
    expect([watch.limitedAt(), end()]).toEqual([500, ""]);
  });

  it("that is over says nothing, and a service without an address has no wrong one", () => {
    const { watch, told, ask } = stage(url);
    watch.end();
    ask(lost("ECONNREFUSED"));
    expect(told).toEqual([]);
    const inside = stage();
    inside.ask(status(404));
    expect(inside.end()).toBe("");
  });
});
