import { describe, expect, it } from "vitest";
import { rulesFor } from "../../../plugins/conformance/rules/suite.ts";
import type { ExtraLayer, ProfileOverrides } from "../../../src/contract/profile.ts";
import { SluiceError } from "../../../src/errors.ts";
import { examine, keys, ofKind, patient } from "./harness/conformance.ts";
import { paths } from "./harness/service-defects.ts";

const rules = rulesFor(undefined);

const narrow: ExtraLayer = {
  name: "listing",
  scope: "key",
  unit: "requests",
  capacity: 4,
  windowMs: 2_000,
  anchor: "sliding",
  endpoints: ["pendingOrders"],
  banMs: 0,
};

const profiles: readonly (readonly [string, ProfileOverrides])[] = [
  ["the default", {}],
  ["not found is empty", { answers: { notFound: "empty" } }],
  ["no data on errors", { answers: { dataOnError: "absent" } }],
  [
    "an object on errors",
    { answers: { dataOnError: "object", badRequestStatus: 200, orderErrorStatus: 400, permissionStatus: 401 } },
  ],
  [
    "results spelled code and msg",
    { cancelBatch: { resultFields: "code", envelopeCodeWhenMixed: "2", oneIdKind: false, elementsMax: 50 } },
  ],
  ["every refused request counts", { limits: { refusedCounts: "all" } }],
  ["no refused request counts", { limits: { refusedCounts: "none" } }],
  [
    "failures are free and carry no headers",
    { limits: { failedCounts: false, headersOnError: false, dateHeader: false } },
  ],
  ["windows begin with the first request", { limits: { anchor: "first_request" } }],
  ["windows slide", { limits: { anchor: "sliding" } }],
  [
    "sizes in contracts, short names",
    { order: { szUnit: { SWAP: "contracts", SPOT: "base" } }, instruments: { fieldNames: "short" } },
  ],
  [
    "sizes in base, oldest first",
    { order: { szUnit: { SWAP: "base", SPOT: "base" }, emptyDecimal: "0" }, paging: { newestFirst: false } },
  ],
  ["the list needs a key", { instruments: { needsKey: true } }],
  ["the list is charged to a user", { instruments: { chargesUserWithoutKey: true } }],
  [
    "a limit is cut",
    { paging: { limitAboveMax: "clamped", afterAndBefore: "refused" }, cancelBatch: { elementsMax: 5 } },
  ],
  ["history forgets", { history: { unfilledCanceledVanish: true } }],
  [
    "other weights of reads and elements",
    { weights: { getOrder: 2, pendingOrders: 3, orderHistory: 4, perCancelElement: 1 } },
  ],
  [
    "a layer of its own",
    {
      limits: {
        extraLayers: [
          { ...narrow, name: "cancelled", unit: "elements", capacity: 6, endpoints: ["cancelBatch"], banMs: 3_000 },
        ],
      },
      cancelBatch: { elementsMax: 5 },
    },
  ],
  ["a layer too narrow for a burst", { limits: { extraLayers: [narrow] } }],
  ["seconds and other signs", { order: { timeUnit: "s", feeSign: "positive_is_cost" } }],
];

/** Skipped by what a service of the profile leaves no way to ask. */
const unasked: Readonly<Record<string, readonly string[]>> = {
  "the list is charged to a user": ["8.1-ip", "8.1-ip-signed", "8.1-ip-free"],
  "a layer too narrow for a burst": rules.filter(({ id }) => /^(7\.2-|8\.1-key)/.test(id)).map(({ id }) => id),
  "history forgets": rules.filter(({ id }) => /^(3-canceled|4\.3-(?!states|active))/.test(id)).map(({ id }) => id),
};
const sockets = ["8.2-connections", "8.2-subscriptions", "8.2-words"];

describe("A conforming service", () => {
  it.each(profiles)("passes everything: %s", async (name, profile) => {
    const subject = patient(profile);
    const result = await examine(subject);
    expect(result.findings.filter(({ verdict }) => verdict.kind === "fail")).toEqual([]);
    expect([...ofKind(result, "skipped")].sort()).toEqual([...sockets, ...(unasked[name] ?? [])].sort());
    expect(result.leftBehind).toEqual([]);
    expect(subject.venue.truth("ann").orders.filter(({ state }) => state !== "canceled")).toEqual([]);
    expect(subject.clock.pending).toBe(0);
  });

  it("is not pressed beyond a limit except where a limit is the question", async () => {
    const subject = patient();
    await examine(subject, { quick: true, only: ["1", "2", "3", "4", "5", "7-", "8.1-weight", "8.4", "9"] });
    expect(subject.venue.meterReport().refused).toEqual({ ip: 0, key: 0, uid: 0 });
  });

  it("is not traded with beyond post-only orders on one swap", async () => {
    const subject = patient();
    await examine(subject, { quick: true });
    const placed = subject.seen
      .filter(({ method, path }) => method === "POST" && path === paths.order)
      .map(({ body }) => body as object);
    for (const body of placed) expect(body).toMatchObject({ ordType: "post_only", side: "buy" });
    expect(new Set(placed.map((body) => (body as { instId: string }).instId))).toEqual(
      new Set(["BTC-USDT-SWAP", "NOSUCH-NOTHING-SWAP"]),
    );
    expect(subject.venue.truth("bob").orders).toEqual([]);
  });
});

describe("The conformance suite skips what it cannot ask:", () => {
  it("without keys only the public rules are asked", async () => {
    const result = await examine(patient(), { keys: [] });
    const asked = result.findings.filter(({ verdict }) => verdict.kind !== "skipped").map(({ rule }) => rule.needs);
    expect(new Set(asked)).toEqual(new Set(["nothing"]));
    expect(ofKind(result, "fail")).toEqual([]);
  });

  it("with a key that may only read nothing is placed", async () => {
    const subject = patient();
    const result = await examine(subject, { keys: keys.filter(({ name }) => name === "ann-read"), quick: true });
    expect(ofKind(result, "fail")).toEqual([]);
    expect(subject.seen.some(({ method }) => method === "POST")).toBe(false);
    expect(ofKind(result, "pass")).toContain("8.1-key");
  });

  it("a quick run stays within half a minute, and waits for none", async () => {
    const subject = patient();
    const startedAt = subject.clock.now();
    const result = await examine(subject, { quick: true });
    expect(subject.clock.now() - startedAt).toBeLessThan(40_000);
    for (const { rule, verdict } of result.findings) if (rule.slow) expect(verdict.kind).toBe("skipped");
  });

  it("only the rules named are asked", async () => {
    const result = await examine(patient(), { only: ["4.5", "9-prefix"] });
    expect(result.findings.map(({ rule }) => rule.id)).toEqual([
      "4.5-listed",
      "4.5-stable",
      "4.5-complete",
      "4.5-key",
      "9-prefix",
    ]);
  });

  it("a service without swaps cannot be traded with, and that is no failure", async () => {
    const subject = patient(
      {},
      { venue: ({ instruments }) => ({ instruments: instruments.filter(({ instId }) => instId === "BTC-USDT") }) },
    );
    const result = await examine(subject, { quick: true });
    expect(ofKind(result, "fail")).toEqual([]);
    expect(result.findings.find(({ rule }) => rule.id === "4.1-ordId")?.verdict).toEqual({
      kind: "skipped",
      why: "a perpetual swap is not listed",
    });
  });

  it("orders that are always refused are named with the refusal", async () => {
    const result = await examine(patient(), { only: ["4.1-ordId"], order: { px: "7.77777", sz: "1" } });
    expect(result.findings[0]?.verdict).toMatchObject({
      kind: "skipped",
      why: expect.stringContaining("multiple of 0.1"),
    });
  });
});

describe("The conformance suite in trouble:", () => {
  it("a key that is not accepted ends the walk before it begins", async () => {
    const stranger = { name: "nobody", uid: "ann", permissions: ["read"] };
    await expect(examine(patient(), { keys: [stranger] })).rejects.toMatchObject({
      code: "USAGE",
      message: expect.stringContaining("401"),
    });
  });

  it("a request without an answer fails its rule and no other", async () => {
    const subject = patient();
    const lost = new SluiceError("OUTCOME_UNKNOWN", "positions: no answer.");
    const transport: typeof subject.transport = (request, sink) => {
      if (request.endpoint === "positions") sink.failed(lost);
      else subject.transport(request, sink);
    };
    const result = await examine({ ...subject, transport }, { quick: true, only: ["2.3", "4.5"] });
    expect(ofKind(result, "fail")).toEqual(["4.5-complete"]);
    expect(ofKind(result, "pass")).toContain("4.5-stable");
  });

  it("a placement without an answer fails one rule, and its order is found and cancelled", async () => {
    const subject = patient();
    let placements = 0;
    const transport: typeof subject.transport = (request, sink) => {
      const lost = request.endpoint === "placeOrder" && ++placements === 3;
      const ignored = { response: () => undefined, failed: () => undefined, closed: false };
      subject.transport(request, lost ? ignored : sink);
      if (lost) sink.failed(new SluiceError("OUTCOME_UNKNOWN", "placeOrder: no answer."));
    };
    const result = await examine({ ...subject, transport }, { quick: true, only: ["3", "4.1", "4.4"] });
    expect(ofKind(result, "fail")).toEqual(["3-live"]);
    expect(subject.venue.truth("ann").orders.filter(({ state }) => state !== "canceled")).toEqual([]);
    expect(result.leftBehind).toEqual([]);
  });

  it("a stop ends waiting, cancels what stands and keeps what was found", async () => {
    const subject = patient();
    const stop = new AbortController();
    const startedAt = subject.clock.now();
    // Whoever asks again must not cut short the tidying up.
    for (let at = startedAt + 2_000; at < startedAt + 8_000; at += 50) {
      subject.clock.setTimer(at, () => {
        stop.abort();
      });
    }
    const result = await examine(subject, { stop: stop.signal });
    expect(subject.clock.now() - startedAt).toBeLessThan(10_000);
    expect(result.findings.length).toBeLessThan(rules.length);
    expect(subject.venue.truth("ann").orders.length).toBeGreaterThan(0);
    expect(subject.venue.truth("ann").orders.filter(({ state }) => state === "live")).toEqual([]);
    expect(result.leftBehind).toEqual([]);
  });

  it("orders the service does not cancel are named", async () => {
    const subject = patient(
      {},
      {
        wrap: (handle) => (request, now) =>
          handle(request.path === paths.cancel ? { ...request, body: [] } : request, now),
      },
    );
    const result = await examine(subject, { quick: true, only: ["4.4-cancels"] });
    expect(ofKind(result, "fail")).toEqual(["4.4-cancels"]);
    expect(result.leftBehind).toHaveLength(4);
  });
});

describe("The conformance rules", () => {
  it("have ids of their own that begin with their section", () => {
    const ids = rules.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { id, section } of rules) expect(id.startsWith(`${section}-`), id).toBe(true);
  });

  it("cover every section of the description that speaks of behaviour", () => {
    expect([...new Set(rules.map(({ section }) => section))].sort()).toEqual(
      "2.1 2.2 2.3 3 4.1 4.2 4.3 4.4 4.5 4.6 5 7 7.2 8.1 8.2 8.4 9".split(" "),
    );
  });
});
