/**
 * What the service lists, as seen in the answers that pass by: the live market needs some of it and asks for nothing itself.
 *
 * Invariants: answers are handed on untouched; nothing is said of a product before a list was seen.
 */
import { tap } from "rxjs";
import type { Contract } from "../../contract/contract.ts";
import type { InstrumentRecord } from "../../contract/schemas.ts";
import type { Interceptor } from "../../contract/transport.ts";
import { readAnswer } from "../parse-response.ts";

export interface Listed {
  readonly watch: Interceptor;
  readonly isListed: (instId: string) => boolean | undefined;
  readonly contractValue: (instId: string) => string | undefined;
}

export const createListed = (contract: Contract): Listed => {
  let listed: ReadonlyMap<string, InstrumentRecord> | undefined;
  return {
    watch: (next) => (request) => {
      const response$ = next(request);
      if (request.endpoint !== "instruments" || Object.keys(request.query).length > 0) return response$;
      return response$.pipe(
        tap((response) => {
          const outcome = readAnswer<InstrumentRecord>("instruments", response, contract, 0);
          if (outcome.kind === "done") listed = new Map(outcome.records.map((record) => [record.instId, record]));
        }),
      );
    },
    isListed: (instId) => listed?.has(instId),
    contractValue: (instId) => listed?.get(instId)?.contractValue,
  };
};
