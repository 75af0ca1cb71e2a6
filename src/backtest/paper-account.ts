/**
 * Account of a paper run, as the embedded service keeps it: for reports on what the run made.
 *
 * Invariants: reads only; money is in the quote currency of the first instrument, converted at present prices.
 * Not here: reports made from it (report/run-recorder.ts).
 */
import type { OpenService } from "../client/service-port.ts";
import { readInstId } from "../contract/inst-id.ts";
import { sum } from "../decimal.ts";
import type { Tape } from "../market/tape/tape.ts";
import type { AccountMoney } from "../report/run-recorder.ts";
import type { Venue } from "../venue/venue.ts";

/** The embedded service and its products. */
interface Embedded {
  readonly venue: Venue;
  readonly instruments: Tape["instruments"];
}

/** A service that is embedded; `embedded` is undefined before it is loaded. */
export interface OpenPaper extends OpenService {
  readonly embedded: () => Embedded | undefined;
}

export interface PaperAccount {
  readonly money: AccountMoney;
  readonly venue: Pick<Venue, "onFill" | "onFunding" | "onLiquidation">;
}

/** Undefined where the service is not an embedded one. */
export const paperAccountOf = (service: OpenService): PaperAccount | undefined => {
  const embedded = (service as Partial<OpenPaper>).embedded?.();
  if (embedded === undefined) return undefined;
  const { venue, instruments } = embedded;
  const quoteOf = (instId: string): string => readInstId(instId)?.quote ?? "";
  const currency = quoteOf(instruments[0]?.instId ?? "");
  const rateOf = (instId: string): string | undefined => {
    const quote = quoteOf(instId);
    if (quote === currency) return "1";
    const rate = venue.convert("1", quote, currency);
    // Otherwise another currency of equal value at this moment would be treated as the currency of the run.
    return rate === "1" ? "1.0" : rate;
  };
  const equity = (): string => sum(service.users.map(({ uid }) => venue.equity(uid, currency)));
  return { venue, money: { currency, rateOf, equity, markPx: (instId) => venue.markPx(instId) } };
};
