/**
 * Instrument cache: the service's product lists, taken from answers that the engine requested; it requests nothing
 * itself.
 *
 * Invariants: answers are passed on unchanged; before the first list no product is known; a list of one kind of product
 * replaces the previous one of that kind.
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
        if (outcome.kind !== "done") return;
        const others = [...(listed?.values() ?? [])].filter(
          (record) => instType !== undefined && record.instType !== instType,
        );
        listed = new Map([...others, ...outcome.records].map((record) => [record.instId, record]));
      };
      const { instType, ...narrower } = request.query;
      const isList = request.endpoint === "instruments" && Object.keys(narrower).length === 0;
      next(request, isList ? observing(sink, onResponse) : sink);
    },
    isListed: (instId) => listed?.has(instId),
    contractValue: (instId) => listed?.get(instId)?.contractValue,
  };
};
