/**
 * Short ways to damage a service: change an answer, a record, a header, or who seems to ask.
 */
import { createContract } from "../../../../src/contract/contract.ts";
import { layers, limitHeaders } from "../../../../src/contract/limits.ts";
import type { ProfileOverrides } from "../../../../src/contract/profile.ts";
import type { VenueRequest, VenueResponse } from "../../../../src/venue/venue.ts";
import type { Defect, Handle } from "./conformance.ts";

export type Raw = Readonly<Record<string, unknown>>;
export type Body = Raw & { readonly data?: unknown };

export interface Mutant {
  readonly name: string;
  readonly defect: Defect;
  /** The rules that have to fail, and no others. */
  readonly fails: readonly string[];
  /** Needs the stories that use up a minute. */
  readonly slow?: true;
}

export const path = (rest: string): string => `/api/v1/${rest}`;
export const paths = {
  order: path("trade/order"),
  pending: path("trade/orders/pending"),
  history: path("trade/orders/history"),
  cancel: path("trade/cancel-batch-orders"),
  balance: path("asset/spot"),
  positions: path("account/positions"),
  instruments: path("common/instruments"),
  close: path("trade/close-position"),
  leverage: path("account/set-leverage"),
} as const;

export const isOk = ({ status, body }: VenueResponse): boolean => status === 200 && (body as Body)?.["code"] === "0";
export const recordsOf = ({ body }: VenueResponse): readonly Raw[] => ((body as Body)?.data ?? []) as readonly Raw[];
export const withBody = (response: VenueResponse, change: Raw): VenueResponse => ({
  ...response,
  body: { ...(response.body as Raw), ...change },
});
export const withData = (response: VenueResponse, data: readonly unknown[]): VenueResponse =>
  withBody(response, { data });

type Change = (response: VenueResponse, request: VenueRequest, now: number) => VenueResponse;

export const answers = (change: Change): Defect => ({
  wrap: (handle) => (request, now) => change(handle(request, now), request, now),
});

/** Changes successes of one endpoint, where `where` holds of the query. */
export const successesOf = (
  method: string,
  at: string,
  change: Change,
  where: (query: Raw) => boolean = () => true,
): Defect =>
  answers((response, request, now) =>
    request.method === method && request.path === at && isOk(response) && where(request.query)
      ? change(response, request, now)
      : response,
  );

export const recordsAt = (at: string, change: (record: Raw) => Raw, where?: (query: Raw) => boolean): Defect =>
  successesOf("GET", at, (response) => withData(response, recordsOf(response).map(change)), where);

/** Changes the request on its way in, where it matches. */
export const requests = (at: string, change: (request: VenueRequest) => VenueRequest): Defect => ({
  wrap: (handle) => (request, now) => handle(request.path === at ? change(request) : request, now),
});

export const ignoring = (at: string, ...names: readonly string[]): Defect =>
  requests(at, (request) => ({
    ...request,
    query: Object.fromEntries(Object.entries(request.query).filter(([name]) => !names.includes(name))),
  }));

/** Lets one key in under another's name. */
export const posing = (method: string, at: string, who: string | undefined, as: string | undefined): Defect => ({
  wrap: (handle) => (request, now) =>
    handle(
      request.method === method && request.path === at && request.key === who ? { ...request, key: as } : request,
      now,
    ),
});

export const header = (
  name: keyof typeof limitHeaders,
  change: (value: number, request: VenueRequest) => number | undefined,
): Defect =>
  answers((response, request) => {
    const text = response.headers[limitHeaders[name]];
    if (text === undefined) return response;
    const value = change(Number(text), request);
    const { [limitHeaders[name]]: _, ...others } = response.headers;
    return { ...response, headers: value === undefined ? others : { ...others, [limitHeaders[name]]: String(value) } };
  });

/** Both defects at once; the first is nearer to the service. */
export const both = (inner: Defect, outer: Defect): Defect => ({
  ...inner,
  ...outer,
  wrap: (handle, venue) => {
    const middle: Handle = inner.wrap?.(handle, venue) ?? handle;
    return outer.wrap?.(middle, venue) ?? middle;
  },
});

export const builtWith = (profile: ProfileOverrides): Defect => ({
  venue: () => ({ contract: createContract(profile) }),
});

export const weighing = (endpoint: string, weight: number): Defect => ({
  venue: ({ contract }) => {
    const table = contract.endpoints as unknown as Readonly<Record<string, object>>;
    const endpoints = { ...table, [endpoint]: { ...table[endpoint], weight } };
    return { contract: { ...contract, endpoints: endpoints as unknown as typeof contract.endpoints } };
  },
});

export const holding = (layer: keyof typeof layers, capacity: number): Defect => ({
  venue: ({ contract }) => ({
    contract: { ...contract, layers: { ...contract.layers, [layer]: { ...layers[layer], capacity } } },
  }),
});

/** A success that was never earned. */
export const invented = (): VenueResponse => ({
  status: 200,
  headers: { [limitHeaders.ipRemaining]: "7", [limitHeaders.keyRemaining]: "7", [limitHeaders.uidUsed]: "7" },
  body: { code: "0", msg: "", data: [] },
});

export const tooMany = (): VenueResponse => ({
  status: 429,
  headers: {},
  body: { code: "50011", msg: "Too Many Requests", data: [] },
});

/** An order of somebody's, for lists it does not belong to. */
export const strayOrder = (state: string, instId = "ETH-USDT-SWAP"): Raw => ({
  instId,
  ordId: "999",
  clOrdId: "stray",
  px: "1",
  sz: "1",
  ordType: "limit",
  side: "buy",
  state,
  avgPx: "",
  accFillSz: "0",
  fee: "0",
  createdAt: "1700000000000",
  updatedAt: "1700000000000",
});

export const bare = (query: Raw): boolean => Object.keys(query).length === 0;

export const adding = (at: string, record: Raw, where: (query: Raw) => boolean = bare): Defect =>
  successesOf(
    "GET",
    at,
    (response) =>
      withData(response, recordsOf(response).length < 20 ? [...recordsOf(response), record] : recordsOf(response)),
    where,
  );

export const only =
  (...names: readonly string[]) =>
  (query: Raw): boolean =>
    Object.keys(query).sort().join() === [...names].sort().join();

export const mutant = (name: string, defect: Defect, ...fails: readonly string[]): Mutant => ({ name, defect, fails });
export const slow = (name: string, defect: Defect, ...fails: readonly string[]): Mutant => ({
  name,
  defect,
  fails,
  slow: true,
});
