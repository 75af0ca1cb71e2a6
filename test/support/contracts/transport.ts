/**
 * What every transport promises, whatever is behind it.
 *
 * Invariants: a transport under test is driven only through what `make` returns; the service behind it answers from a function.
 */
import { afterEach, describe, expect, it } from "vitest";
import type { Transport, WireRequest, WireResponse } from "../../../src/contract/transport.ts";
import { isSluiceError } from "../../../src/errors.ts";
import { responsesOf } from "../transports.ts";

/** What the service behind the transport makes of a request; undefined never answers. */
export type Respond = (request: WireRequest) => WireResponse | undefined;

export interface DrivenTransport {
  readonly transport: Transport;
  /** Lets everything under way arrive, but no deadline pass. */
  readonly settle: () => Promise<void>;
  /** Lets the deadline of everything under way pass. */
  readonly expire: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** An ending as words: everything the sink was told, in order. */
const listen = (transport: Transport, request: WireRequest): string[] => {
  const heard: string[] = [];
  transport(request, {
    response: ({ status, body }) => heard.push(`${status} ${body === undefined ? "no body" : JSON.stringify(body)}`),
    failed: (error) => heard.push(isSluiceError(error) ? `error ${error.code}` : `error ${String(error)}`),
    closed: false,
  });
  return heard;
};

const reading: WireRequest = {
  endpoint: "getOrder",
  method: "GET",
  path: "/api/v1/trade/order",
  query: { clOrdId: "a b&c", instId: "BTC-USDT" },
  body: undefined,
  key: "k1",
};
const placing: WireRequest = {
  ...reading,
  endpoint: "placeOrder",
  method: "POST",
  query: {},
  body: { clOrdId: "ü\n", list: [1, true, null] },
};

export const testTransport = (name: string, make: (respond: Respond) => Promise<DrivenTransport>): void => {
  describe(`${name} keeps the promises of a transport`, () => {
    let driven: DrivenTransport | undefined;
    let arrivals: WireRequest[] = [];
    const facing = async (respond: Respond): Promise<DrivenTransport> => {
      arrivals = [];
      driven = await make((request) => {
        arrivals.push(request);
        return respond(request);
      });
      return driven;
    };
    afterEach(async () => {
      await driven?.close();
      driven = undefined;
    });

    it.each([200, 201, 400, 401, 404, 429, 500, 503])("one response, whatever the status: %i", async (status) => {
      const { transport, settle } = await facing(() => ({ status, headers: {}, body: { code: String(status) } }));
      const heard = listen(transport, reading);
      await settle();
      expect(heard).toEqual([`${status} {"code":"${status}"}`]);
    });

    it("a body that is no JSON is undefined", async () => {
      const { transport, settle } = await facing(() => ({ status: 502, headers: {}, body: undefined }));
      const heard = listen(transport, reading);
      await settle();
      expect(heard).toEqual(["502 no body"]);
    });

    it("headers have lower-case names", async () => {
      const headers = { "x-ratelimit-uid-weight-used": "7", date: "Fri, 02 Jan 2026 03:04:05 GMT" };
      const { transport, settle } = await facing(() => ({ status: 200, headers, body: {} }));
      const seen: unknown[] = [];
      responsesOf(transport, reading).subscribe((response) => seen.push(response.headers));
      await settle();
      expect(seen).toEqual([expect.objectContaining(headers)]);
    });

    it.each([
      ["a read", reading],
      ["a placement", placing],
    ])("%s arrives as it was given", async (_, request) => {
      const { transport, settle } = await facing(() => ({ status: 200, headers: {}, body: {} }));
      listen(transport, request);
      await settle();
      expect(arrivals).toEqual([request]);
    });

    it("each call sends once, even of one request", async () => {
      const { transport, settle } = await facing(() => ({ status: 200, headers: {}, body: {} }));
      listen(transport, reading);
      listen(transport, reading);
      await settle();
      expect(arrivals).toHaveLength(2);
    });

    it.each([
      ["a read", reading],
      ["a placement", placing],
    ])("%s without an answer ends by its deadline in one error, and is not repeated", async (_, request) => {
      const { transport, settle, expire } = await facing(() => undefined);
      const heard = listen(transport, request);
      await settle();
      expect(heard).toEqual([]);
      await expire();
      expect(heard).toEqual(["error OUTCOME_UNKNOWN"]);
      await settle();
      expect(arrivals).toHaveLength(1);
    });

    it("requests under way together get their own answers", async () => {
      const { transport, settle } = await facing(({ query }) => ({
        status: 200,
        headers: {},
        body: { told: query["n"] },
      }));
      const heard = Array.from({ length: 20 }, (_, n) => listen(transport, { ...reading, query: { n: String(n) } }));
      await settle();
      expect(heard).toEqual(heard.map((__, n) => [`200 {"told":"${n}"}`]));
    });

    it("a sink that is closed takes nothing back", async () => {
      const { transport, settle } = await facing(() => ({ status: 200, headers: {}, body: {} }));
      let closed = false;
      transport(placing, {
        response: () => undefined,
        failed: () => undefined,
        get closed() {
          return closed;
        },
      });
      closed = true;
      await settle();
      expect(arrivals).toHaveLength(1);
    });

    it("never calls back from within the call", async () => {
      const { transport, settle } = await facing(() => ({ status: 200, headers: {}, body: {} }));
      const heard = listen(transport, reading);
      expect(heard).toEqual([]);
      await settle();
      expect(heard).toHaveLength(1);
    });
  });
};
