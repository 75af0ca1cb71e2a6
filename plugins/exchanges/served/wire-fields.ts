/**
 * Fields of calls in the terms of other exchanges, and the units of their sizes.
 *
 * Invariants: nothing here throws, for any input of a client; a number counts as the text it is spelled with; sizes are
 * cut, never rounded up.
 */

import { div, parseInstId } from "sluice";
import type { VenueRequest, VenueResponse } from "sluice/backtest";
import type { EndpointName } from "sluice/dialect";
import type { Service } from "sluice/plugins/venue-server";

/** Method, path behind the root, and the endpoint that answers it. */
export type RouteRow = readonly ["GET" | "POST", string, EndpointName];

/** Endpoints by method and path. */
export const routesAt = (root: string, rows: readonly RouteRow[]): ReadonlyMap<string, EndpointName> =>
  new Map(rows.map(([method, path, endpoint]) => [`${method} ${root}${path}`, endpoint]));

type Fields = Readonly<Record<string, unknown>>;
export type Texts = Readonly<Record<string, string | undefined>>;

/** Returns the scalar fields of a body as text; absent and other fields are left out. */
export const textsOf = (value: unknown): Texts => {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return {};
  const told = Object.entries(value).filter(
    ([, field]) => ["string", "number", "boolean"].includes(typeof field) && field !== "",
  );
  return Object.fromEntries(told.map(([name, field]) => [name, String(field)]));
};

/** Returns the fields without those that are undefined. */
export const known = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** Returns the defined fields as a query. */
export const queryWith = (fields: Texts): VenueRequest["query"] => known(fields) as VenueRequest["query"];

/** Returns the first of the names that has no value. */
export const missing = (given: Texts, names: readonly string[]): string | undefined =>
  names.find((name) => given[name] === undefined);

/** Fraction digits of the venue's money. */
const places = 18;

/** A quantity of base currency as the exchange counts it: contracts of a swap, base currency of a spot product. */
export const sizeOf = ({ listing }: Service, instId: string, base: string): string => {
  const contractValue = instId.endsWith("-SWAP") ? listing(instId)?.contractValue : undefined;
  return contractValue === undefined || base === "" ? base : div(base, contractValue, places);
};

export const quoteOf = (instId: string): string => parseInstId(instId, "venue").quote;

interface Envelope {
  readonly code: string;
  readonly msg: string;
  readonly data: readonly Readonly<Record<string, string>>[];
}

/** Returns the envelope of the venue's answer. */
export const envelopeOf = ({ body }: VenueResponse): Envelope => {
  const { code = "", msg = "", data } = (body ?? {}) as Partial<Envelope>;
  return { code, msg, data: Array.isArray(data) ? data : [] };
};

/** Headers of the answer: its time; the described service's counters are not the exchange's. */
export const headersOf = ({ headers: { date } }: VenueResponse): VenueResponse["headers"] =>
  date === undefined ? {} : { date };

/** Schema of a login whose argument has these texts. */
export const loginOf = (...required: readonly string[]) => ({
  type: "object",
  required: ["op", "args"],
  properties: {
    op: { type: "string", const: "login" },
    args: {
      type: "array",
      minItems: 1,
      maxItems: 1,
      items: {
        type: "object",
        required,
        properties: Object.fromEntries(required.map((name) => [name, { type: "string" }])),
      },
    },
  },
});
