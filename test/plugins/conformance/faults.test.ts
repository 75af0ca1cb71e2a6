import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { WireResponse } from "../../../src/contract/transport.ts";
import { createWard, differing, found, unaskedRows } from "./harness/doctor.ts";

const unavailable: WireResponse = { status: 503, headers: {}, body: { code: "50003", msg: "Unavailable", data: [] } };
const page: WireResponse = { status: 200, headers: {}, body: undefined };
const throttled: WireResponse = { status: 429, headers: {}, body: undefined };
const cut: WireResponse = { status: 200, headers: {}, body: { code: "0" } };

describe("A service in trouble", () => {
  it.each<readonly [string, () => WireResponse | undefined]>([
    ["answers 503", () => unavailable],
    ["answers pages", () => page],
    ["answers nothing", () => undefined],
    ["refuses everything by a rate limit", () => throttled],
    ["redirects", () => ({ status: 302, headers: { location: "https://example.com" }, body: undefined })],
  ])("that %s: nothing is said of it, and it is left alone soon", async (_, spoil) => {
    const ward = createWard({ spoil });
    const examination = await ward.examine({ quick: false });
    expect(differing(examination)).toEqual([]);
    expect(examination.findings.filter(({ verdict }) => verdict === "holds")).toEqual([]);
    expect(unaskedRows(examination)).toEqual(
      expect.arrayContaining(["instruments.needsKey", "auth.digest", "paging.newestFirst", "weights.getOrder"]),
    );
    expect(ward.requests.length).toBeLessThanOrEqual(6);
  });

  it("a success without a list of records proves nothing", async () => {
    const examination = await createWard({
      spoil: (answer, { endpoint }) => (endpoint === "pendingOrders" ? cut : answer),
    }).examine();
    expect(differing(examination)).toEqual([]);
    expect(found(examination, "paging.newestFirst")).toMatchObject({ verdict: "not asked", gap: "G6" });
  });

  it("one answer lost is asked for once more", async () => {
    const ward = createWard({ spoil: (answer, _, count) => (count === 5 ? undefined : answer) });
    const examination = await ward.examine();
    expect([differing(examination), unaskedRows(examination)]).toEqual([[], []]);
  });

  it("no mixture of lost and unavailable answers makes a wrong verdict", async () => {
    const bad = fc.constantFrom(unavailable, page, throttled, undefined);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.boolean(), bad), { minLength: 10, maxLength: 30 }), async (plan) => {
        const ward = createWard({
          spoil: (answer, _, count) => {
            const [spoiled, response] = plan[count % plan.length] ?? [false, undefined];
            return spoiled ? response : answer;
          },
        });
        expect(differing(await ward.examine({ quick: false }))).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  it("a key that may not read leaves what needs it unasked", async () => {
    const examination = await createWard({ permissions: ["trade_futures"], orders: false }).examine();
    expect(differing(examination)).toEqual([]);
    expect(found(examination, "paging.limitAboveMax")).toMatchObject({
      verdict: "not asked",
      evidence: expect.stringContaining("no key"),
    });
  });

  it("an unknown way to sign says what to check, and asks nothing else", async () => {
    const ward = createWard({ service: { auth: { headerPrefix: "OTHER-" } } });
    const examination = await ward.examine();
    expect(found(examination, "auth.digest")).toMatchObject({
      verdict: "not asked",
      evidence: expect.stringMatching(
        /status 401, code 50004, as with a wrong secret, also in 8 other documented ways to sign: check key, secret, passphrase/,
      ),
    });
    expect(examination).toMatchObject({
      overrides: [],
      inconclusive: expect.stringContaining("check key, secret, passphrase"),
    });
    expect(ward.requests.some(({ endpoint }) => endpoint === "pendingOrders")).toBe(false);
    expect(ward.opened()).toBe(0);
  });

  it("a service without orders leaves their rows unseen", async () => {
    const examination = await createWard({ orders: false }).examine();
    expect([differing(examination), unaskedRows(examination)]).toEqual([[], []]);
    for (const row of ["paging.newestFirst", "paging.cursorIncluded", "order.timeUnit", "order.feeSign"]) {
      expect([row, found(examination, row)?.verdict]).toEqual([row, "not seen"]);
    }
  });

  it("told to stop, it asks nothing more", async () => {
    const ward = createWard({
      spoil: (answer, _, count) => {
        if (count === 3) ward.stop.abort();
        return answer;
      },
    });
    const examination = await ward.examine({ quick: false });
    expect(examination.stopped).toBe(true);
    expect(ward.requests.length).toBe(4);
    expect([differing(examination), ward.opened()]).toEqual([[], 0]);
  });
});

describe("A service that cannot be traded at", () => {
  const spoilRecords =
    (change: (record: Record<string, string>) => Record<string, string>) =>
    (answer: WireResponse): WireResponse => {
      const body = answer.body as { data?: unknown };
      if (!Array.isArray(body.data)) return answer;
      return { ...answer, body: { ...body, data: body.data.map((record: Record<string, string>) => change(record)) } };
    };

  const without = (record: Record<string, string>, name: string): Record<string, string> =>
    Object.fromEntries(Object.entries(record).filter(([key]) => key !== name));

  it.each([
    [
      "instruments.fieldNames",
      ({ tickSize, lotSize, ...rest }: Record<string, string>) => ({ ...rest, step: tickSize ?? lotSize ?? "" }),
    ],
    [
      "instrument sizes",
      (record: Record<string, string>) => ("tickSize" in record ? { ...record, tickSize: "0" } : record),
    ],
    [
      "instruments.instIdPattern",
      (record: Record<string, string>) => ("tickSize" in record ? { ...record, instId: "btc_usdt" } : record),
    ],
    ["balance record", (record: Record<string, string>) => without(record, "frozen")],
    ["ordId", (record: Record<string, string>) => ("ordId" in record ? { ...record, ordId: "a1b2" } : record)],
    [
      "states",
      (record: Record<string, string>) =>
        "state" in record && "ordId" in record ? { ...record, state: "expired" } : record,
    ],
    [
      "order.ordTypes",
      (record: Record<string, string>) => ("ordType" in record ? { ...record, ordType: "trigger" } : record),
    ],
    ["order record", (record: Record<string, string>) => without(record, "accFillSz")],
  ] as const)("is found out by its %s", async (row, change) => {
    const examination = await createWard({ spoil: (answer) => spoilRecords(change as never)(answer) }).examine();
    expect(found(examination, row)?.verdict).toBe("differs");
  });

  it("a list as long as a page is suspected of being one", async () => {
    const instruments = Array.from({ length: 100 }, (_, index) => ({
      instId: `C${index}-USDT-SWAP`,
      tickSize: "0.1",
      lotSize: "0.001",
    }));
    const examination = await createWard({ instruments, orders: false }).examine();
    expect(found(examination, "whole list")).toMatchObject({ verdict: "not seen", found: "100 products" });
  });
});
