/**
 * What the service lists, as seen in the answers that pass by: the live market needs some of it and asks for nothing itself.
 *
 * Invariants: answers are handed on untouched; nothing is said of a product before a list was seen.
 */
import type { Contract } from "../../contract/contract.ts";
import type { InstrumentRecord } from "../../contract/schemas.ts";
import { type Interceptor, observing, type WireResponse } from "../../contract/transport.ts";
import { parseResponse } from "../parse-response.ts";

interface InstrumentCache {
  readonly watch: Interceptor;
  readonly isListed: (instId: string) => boolean | undefined;
  readonly contractValue: (instId: string) => string | undefined;
}

export const createInstrumentCache = (contract: Contract): InstrumentCache => {
  let listed: ReadonlyMap<string, InstrumentRecord> | undefined;
  return {
    watch: (next) => (request, sink) => {
      const onResponse = (response: WireResponse): void => {
        const outcome = parseResponse<InstrumentRecord>("instruments", response, contract, 0);
        if (outcome.kind === "done") listed = new Map(outcome.records.map((record) => [record.instId, record]));
      };
      const isWhole = request.endpoint === "instruments" && Object.keys(request.query).length === 0;
      next(request, isWhole ? observing(sink, onResponse) : sink);
    },
    isListed: (instId) => listed?.has(instId),
    contractValue: (instId) => listed?.get(instId)?.contractValue,
  };
};
