/**
 * A service to examine: the embedded one on a virtual clock, with a profile of its own and a door that checks signatures.
 */
import { NEVER, of } from "rxjs";
import { type Examination, type ExamineOptions, examine } from "../../../../plugins/conformance/doctor/doctor.ts";
import type { ExaminedService } from "../../../../plugins/conformance/doctor/examination.ts";
import { inProcess } from "../../../../src/client/transport/in-process.ts";
import { createVirtualClock, type VirtualClock } from "../../../../src/clock/virtual-clock.ts";
import { type Contract, createContract } from "../../../../src/contract/contract.ts";
import type { Profile, ProfileOverrides } from "../../../../src/contract/profile.ts";
import { prehashOf, queryText, timestampText } from "../../../../src/contract/signing.ts";
import type { WireRequest, WireResponse } from "../../../../src/contract/transport.ts";
import { createVenue, type Venue, type VenueInstrument } from "../../../../src/venue/venue.ts";

export const swap = "BTC-USDT-SWAP";

const instruments: readonly VenueInstrument[] = [
  { instId: "BTC-USDT", tickSize: "0.1", lotSize: "0.001" },
  { instId: swap, tickSize: "0.1", lotSize: "0.001", contractValue: "0.01" },
  { instId: "ETH-USDT-SWAP", tickSize: "0.01", lotSize: "0.01", contractValue: "0.1" },
];

export interface WardOptions {
  /** How the service differs from the default profile. */
  readonly service?: ProfileOverrides;
  /** Orders before the examination: two open, five past of which one took. Default true. */
  readonly orders?: boolean;
  /** Second of the minute at which the examination begins. */
  readonly second?: number;
  readonly permissions?: readonly string[];
  readonly instruments?: readonly VenueInstrument[];
  /** Whether the service looks at secrets at all. Default true. */
  readonly checksSignatures?: boolean;
  /** Calendar of the service minus ours. */
  readonly skewMs?: number;
  /** What becomes of an answer on its way; undefined loses it. `count` numbers the requests from 0. */
  readonly spoil?: (response: WireResponse, request: WireRequest, count: number) => WireResponse | undefined;
  /** Something that happens at the service when a request arrives. */
  readonly meanwhile?: (venue: Venue, at: number, count: number, request: WireRequest) => void;
}

/** 2023-11-14 22:13:00 UTC: a full minute. */
const minuteAt = 1_699_999_980_000;

/** What a signature would be, without the digest's arithmetic: equal exactly when both sides sign alike. */
const signatureOf = (profile: Profile, request: WireRequest, wallAt: number): string => {
  const timestamp = timestampText(profile, wallAt);
  const body = request.body === undefined ? "" : JSON.stringify(request.body);
  const parts = { timestamp, method: request.method, path: request.path, query: queryText(request.query), body };
  return `${profile.auth.headerPrefix} ${timestamp} ${profile.auth.digest} ${prehashOf(profile, parts)}`;
};

const refusal = ({ answers }: Profile): WireResponse => ({
  status: answers.authStatus,
  headers: {},
  body: { code: answers.authCode, msg: "Signature.", data: [] },
});

const populate = (venue: Venue, contract: Contract, at: number): void => {
  const { SWAP } = contract.profile.order.szUnit;
  const lot = SWAP === "base" ? "0.001" : SWAP === "contracts" ? "0.1" : "60";
  let ordId = "";
  let now = at;
  const call = (path: string, body: unknown): void => {
    now += 1_000;
    const { body: answer } = venue.handle(
      { method: "POST", path: `/api/v1/trade/${path}`, query: {}, body, key: "ann", ip: "elsewhere" },
      now,
    );
    const { data, code, msg } = answer as { data: Record<string, string>[]; code: string; msg: string };
    if (code !== "0") throw new Error(`the ward could not be furnished: ${msg}`);
    ordId = data[0]?.["ordId"] ?? "";
  };
  const place = (order: Record<string, string>): void => {
    call("order", { instId: swap, side: "buy", ordType: "post_only", px: "59000", sz: lot, ...order });
  };
  for (let count = 0; count < 4; count++) {
    place({});
    call("cancel-batch-orders", [{ instId: swap, ordId }]);
  }
  call("order", { instId: swap, side: "buy", ordType: "market", sz: lot });
  place({});
  place({ px: "58000" });
};

export const createWard = (options: WardOptions = {}) => {
  const clock: VirtualClock = createVirtualClock(minuteAt + (options.second ?? 20) * 1_000);
  const contract = createContract(options.service);
  const skewMs = options.skewMs ?? 0;
  const venue = createVenue({
    contract,
    instruments: options.instruments ?? instruments,
    users: [
      {
        uid: "ann",
        keys: [{ name: "ann", permissions: options.permissions ?? ["read", "trade_futures"] }],
        balances: { USDT: "100000" },
      },
    ],
    fees: { SPOT: { makerBps: "2", takerBps: "5" }, SWAP: { makerBps: "2", takerBps: "5" } },
    enforceLimits: true,
  });
  const earlier = clock.now() - 600_000;
  for (const { instId } of options.instruments ?? instruments)
    venue.quote(instId, 599_990, 1_000_000, 600_000, 1_000_000, earlier);
  if (options.orders ?? true) populate(venue, contract, earlier);
  const furnished = venue.meterReport().weight;
  const requests: WireRequest[] = [];
  let opened = 0;

  const open = (ours: Contract): ExaminedService => {
    opened++;
    const handle = (request: WireRequest, at: number): WireResponse | undefined => {
      const count = requests.push(request) - 1;
      options.meanwhile?.(venue, at + skewMs, count, request);
      const { key, ...rest } = request;
      const asAgreed = signatureOf(ours.profile, request, at) === signatureOf(contract.profile, request, at);
      const signed = key === undefined || (asAgreed && !key.includes("!")) || options.checksSignatures === false;
      const response = signed
        ? venue.handle({ ...rest, key: key?.split("!")[0], ip: "here" }, at + skewMs)
        : refusal(contract.profile);
      return options.spoil === undefined ? response : options.spoil(response, request, count);
    };
    const latency = { name: "constant", entryMs: () => 10, responseMs: () => 10, feedMs: () => 0 };
    return {
      clock,
      transport: inProcess({ clock, latency, timeoutMs: 2_000, handle }),
      users: [{ uid: "ann", keys: [{ name: "ann", permissions: options.permissions ?? ["read", "trade_futures"] }] }],
      market: { quotes: () => (options.instruments?.length === 0 ? NEVER : of({ bidPx: "59999" })) },
      start: () => undefined,
      stop: () => {
        opened--;
      },
    };
  };
  const stop = new AbortController();
  const examination = (given: Partial<ExamineOptions> = {}): Promise<Examination> =>
    drive(clock, examine({ profile: {}, open, stop: stop.signal, signs: true, quick: true, ...given }));
  const weight = (): number => venue.meterReport().weight - furnished;
  return { clock, venue, requests, stop, examine: examination, opened: () => opened, weight };
};

/** Turns the clock until the work is done: each timer runs only when everything before it has had its say. */
export const drive = async <T>(clock: VirtualClock, work: Promise<T>): Promise<T> => {
  let over = false;
  const ended = work.finally(() => {
    over = true;
  });
  ended.catch(() => undefined);
  while (!over) {
    await new Promise((resolve) => setImmediate(resolve));
    if (!over) clock.step();
  }
  return ended;
};

/** A finding by its row; the first where a row has several. */
export const found = ({ findings }: Examination, row: string) => findings.find((finding) => finding.row === row);

export const differing = ({ findings }: Examination): readonly string[] => [
  ...new Set(findings.filter(({ verdict }) => verdict === "differs").map(({ row }) => row)),
];
export const unaskedRows = ({ findings }: Examination): readonly string[] =>
  findings.filter(({ verdict }) => verdict === "not asked").map(({ row }) => row);
