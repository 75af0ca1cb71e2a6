/** A ledger that has just been told where it stands, and what it takes to ask it. */
import { createContract } from "../../../src/contract/contract.ts";
import { type Charge, layersOf } from "../../../src/scheduler/quota/layers.ts";
import { createLedger, type Ledger, type Rank, type Refusal } from "../../../src/scheduler/quota/ledger.ts";
import type { Grant, QuotaPort } from "../../../src/scheduler/quota/port.ts";
import type { Ticket } from "../../../src/scheduler/quota/routes.ts";

type LedgerOptions = Parameters<typeof createLedger>[0];

export const layers = layersOf(createContract());
/** Noon of some day: the edge of a minute and of a second, on the service's clock and on ours. */
export const noon = 1_767_600_000_000;
export const charge: Charge = { endpoint: "getOrder", weight: 5, elements: 1, ip: "home", uid: "u", key: "k" };
/** Of the user but of no key, whose few slots would come first. */
export const keyless: Charge = { ...charge, key: undefined };

export interface Told {
  readonly status?: number;
  readonly uid?: number;
  readonly key?: number;
  readonly date?: boolean;
}

/** An answer stamped `at` on the service's clock, which is ours. */
export const answer = (at: number, { status = 200, uid, key, date = true }: Told = {}) => ({
  status,
  headers: {
    ...(date ? { date: new Date(at).toUTCString() } : {}),
    ...(uid === undefined ? {} : { "x-ratelimit-uid-weight-used": String(uid) }),
    ...(key === undefined ? {} : { "x-ratelimit-key-remaining": String(10 - key) }),
  },
});

export const make = (given: Partial<LedgerOptions> = {}): Ledger =>
  createLedger({ layers, startedAt: noon, quietMs: 0, clock: { dateSlackMs: 0, driftPpm: 0 }, ...given });

/** A ledger that knows the service's time to the millisecond and has asked once, for nothing. */
export const warm = (given: Partial<LedgerOptions> = {}, used = 0): Ledger => {
  const ledger = make(given);
  const ticket = ledger.spend({ ...charge, weight: 0 }, noon + 10_000);
  ledger.clock.observeDate(noon + 9_999, noon + 9_999, noon + 9_000);
  ledger.settle(ticket, answer(noon + 10_000, { uid: used }), noon + 10_000);
  return ledger;
};

/** How many calls leave at one instant. */
export const grants = (ledger: Ledger, what: Charge, rank: Rank, at: number): number => {
  let count = 0;
  for (; count < 2_000 && ledger.ask(what, rank, at).granted; count++) ledger.spend(what, at);
  return count;
};

/** Asks for each charge until one is granted; without one, the refusal that ends first. */
export const eachOf =
  <Given extends Grant>(reserve: (charge: Charge, rank: Rank, now: number, elements: number) => Given) =>
  (charges: readonly Charge[], rank: Rank, now: number, elements: number): Given => {
    const refusals: (Given & Refusal)[] = [];
    for (const charge of charges) {
      const answer = reserve(charge, rank, now, elements);
      if (answer.granted) return answer;
      refusals.push(answer as Given & Refusal);
    }
    return refusals.reduce((first, next) => (next.until < first.until ? next : first));
  };

/** How calls end at a ledger, for a port of a test that only grants otherwise. */
export const endingsOf = (ledger: Ledger): Pick<QuotaPort, "settle" | "lose" | "release"> => ({
  settle: (lease, answered, receivedAt) => ledger.settle(lease as Ticket, answered, receivedAt),
  lose: (lease, now) => ledger.lose(lease as Ticket, now),
  release: (lease) => ledger.release(lease as Ticket),
});
