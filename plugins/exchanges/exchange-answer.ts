/**
 * Answers of an exchange with an envelope of code, message and data, as the described service gives them.
 *
 * Invariants: pure; a refusal stays a refusal and an element of a batch stays in its place; an answer without the form
 * of the envelope, or a success without the form of its data, is an exception, which makes the outcome unknown.
 * Not here: names of a record's fields (record-table.ts), outcomes (the client of the described service).
 */

import {
  type ElementResult,
  type EndpointName,
  limitedStatus,
  type WireRequest,
  type WireResponse,
} from "sluice/dialect";
import { isRaw, type Raw } from "./record-table.ts";

interface AnswerTable {
  /**
   * Returns the status with which the described service answers the meaning of this code; undefined if the code has no
   * such meaning.
   */
  readonly statusOf: (code: string) => number | undefined;
  /** The records in the data of a success; throws where it has another form. */
  readonly records: Readonly<Record<Exclude<EndpointName, ElementWise>, (data: unknown) => readonly unknown[]>>;
  /** The result of one order of a call, which may leave its code to the envelope. */
  readonly result: (item: Raw, envelopeCode: string) => ElementResult;
}

type ElementWise = "placeOrder" | "amendOrder" | "cancelBatch";
interface Envelope {
  readonly code: string;
  readonly msg: string;
  readonly data: unknown;
}

export const answerOf =
  ({ statusOf, records, result }: AnswerTable) =>
  ({ endpoint }: Pick<WireRequest, "endpoint">, response: WireResponse): WireResponse => {
    const { status, headers, body } = response;
    // A proxy on the way sends no envelope; the reader decides whether a limit is the exchange's own.
    if (status === limitedStatus && !isRaw(body)) return { status, headers, body: undefined };
    const { code, msg, data } = envelopeOf(body);
    const refusal = code === "0" ? undefined : statusOf(code);
    if (isElementWise(endpoint) && Array.isArray(data) && data.length > 0) {
      const results = data.map((item) => result(recordOf(item), code));
      const whole = commonStatus(results, statusOf);
      const [first] = results;
      if (whole === undefined) return { status, headers, body: { code, msg, data: results } };
      return { status: whole, headers, body: { code: first?.sCode, msg: first?.sMsg, data: [] } };
    }
    if (code !== "0") return { status: refusal ?? status, headers, body: { code, msg, data: [] } };
    return {
      status,
      headers,
      body: { code, msg, data: isElementWise(endpoint) ? listOf(data) : records[endpoint](data) },
    };
  };

const isElementWise = (endpoint: EndpointName): endpoint is ElementWise =>
  endpoint === "placeOrder" || endpoint === "amendOrder" || endpoint === "cancelBatch";

const envelopeOf = (body: unknown): Envelope => {
  if (!isRaw(body)) throw notOfTheForm("the answer");
  const { code, msg, data } = body;
  if ((typeof code !== "string" && typeof code !== "number") || (typeof msg !== "string" && msg !== null))
    throw notOfTheForm("its envelope");
  return { code: String(code), msg: msg ?? "", data };
};

/** Returns the status shared by all results if it concerns the call and not its orders, such as a rate limit. */
const commonStatus = (results: readonly ElementResult[], statusOf: AnswerTable["statusOf"]): number | undefined => {
  const statuses = new Set(results.map(({ sCode }) => (sCode === "0" ? undefined : statusOf(sCode))));
  return statuses.size === 1 ? [...statuses][0] : undefined;
};

/**
 * Returns the advice for an account that keeps long and short positions side by side; undefined for any other account.
 */
export const twoSided = (mode: unknown): string | undefined =>
  mode === "long_short_mode"
    ? "the account keeps two sides of a position (long_short_mode), and orders of one side would be rejected. Switch it to the net mode at the exchange, without open orders and positions, and start again"
    : undefined;

export const listOf = (data: unknown): readonly unknown[] => {
  if (!Array.isArray(data)) throw notOfTheForm("its data");
  return data;
};

export const recordOf = (value: unknown): Raw => {
  if (!isRaw(value)) throw notOfTheForm("its data");
  return value;
};

export const wordOf = (value: unknown): string => {
  if (typeof value === "string") return value;
  if (typeof value === "number") return String(value);
  if (value === undefined || value === null) return "";
  throw notOfTheForm("a field");
};

const notOfTheForm = (what: string): TypeError => new TypeError(`${what} is not of the exchange's form`);
