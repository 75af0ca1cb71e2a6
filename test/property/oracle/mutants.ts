/**
 * Ledgers with one deliberate fault each: what the oracle must be able to see.
 *
 * Invariants: every mutant behaves well until the service's time is known, so that it is caught for its fault and nothing else.
 */
import type { Charge, LayerSpec } from "../../../src/scheduler/quota/layers.ts";
import { type Answer, createLedger, type Ledger, type Rank } from "../../../src/scheduler/quota/ledger.ts";
import type { Ticket } from "../../../src/scheduler/quota/routes.ts";
import { eachOf } from "../../support/harness/ledger.ts";
import type { Alter } from "./world.ts";

type LedgerOptions = Parameters<typeof createLedger>[0];

const wrap = (make: (real: Ledger, options: LedgerOptions) => Partial<Ledger>): Alter => {
  return (options) => {
    const real = createLedger(options);
    const whole = {
      ask: (charge: Charge, rank: Rank, now: number, offered?: number) => real.ask(charge, rank, now, offered),
      spend: (charge: Charge, now: number, elements?: number) => real.spend(charge, now, elements),
      settle: (ticket: Ticket, answer: Answer, receivedAt: number) => real.settle(ticket, answer, receivedAt),
      lose: (ticket: Ticket, now: number) => real.lose(ticket, now),
      release: (ticket: Ticket) => real.release(ticket),
      noteExit: (now: number) => real.noteExit(now),
      noteOpen: (uid: string, orders: number) => real.noteOpen(uid, orders),
      disturb: (now: number) => real.disturb(now),
      divide: (division: Parameters<Ledger["divide"]>[0]) => real.divide(division),
      probing: (charge: Charge) => real.probing(charge),
      state: (now: number) => real.state(now),
      othersUse: (now: number) => real.othersUse(now),
      ...make(real, options),
    };
    return {
      ...whole,
      reserve: eachOf((charge, rank, now, offered) => {
        const verdict = whole.ask(charge, rank, now, offered);
        return verdict.granted ? whole.spend(charge, now, verdict.elements) : verdict;
      }),
      clock: real.clock,
      get turns() {
        return real.turns;
      },
    };
  };
};

const withLayers = (change: (layer: LayerSpec) => readonly LayerSpec[]): Alter => {
  return (options) => createLedger({ ...options, layers: options.layers.flatMap(change) });
};

const withCharge = (change: (charge: Charge) => Charge): Alter =>
  wrap((real) => ({
    ask: (charge, rank, now) => real.ask(change(charge), rank, now),
    spend: (charge, now) => real.spend(change(charge), now),
    probing: (charge) => real.probing(change(charge)),
  }));

const withAnswer = (change: (answer: Answer, receivedAt: number) => Answer): Alter =>
  wrap((real) => ({
    settle: (ticket, answer, receivedAt) => real.settle(ticket, change(answer, receivedAt), receivedAt),
  }));

/** Charges a call where its sending falls and never again; the clock still learns from the answer. */
const sendWindowOnly: Alter = wrap((real) => {
  const settled = new WeakSet<Ticket>();
  return {
    spend: (charge, now) => {
      const ticket = real.spend(charge, now);
      if (real.clock.known) {
        settled.add(ticket);
        real.settle(ticket, { status: 200, headers: {} }, now);
      }
      return ticket;
    },
    settle: (ticket, answer, receivedAt) => {
      if (!settled.has(ticket)) return real.settle(ticket, answer, receivedAt);
      real.clock.observeDate(ticket.sentAt, receivedAt, Date.parse(answer.headers["date"] ?? ""));
      return undefined;
    },
    lose: (ticket, now) => {
      if (!settled.has(ticket)) real.lose(ticket, now);
    },
  };
});

/** Counts a call when its answer is in. */
const forgetsUnanswered: Alter = wrap((real) => {
  const late = new WeakSet<Ticket>();
  return {
    spend: (charge, now) => {
      if (!real.clock.known) return real.spend(charge, now);
      const spent = real.spend(charge, now);
      real.release(spent);
      const ticket: Ticket = { ...spent, parts: [], probe: false };
      late.add(ticket);
      return ticket;
    },
    settle: (ticket, answer, receivedAt) =>
      real.settle(late.has(ticket) ? real.spend(ticket.charge, ticket.sentAt) : ticket, answer, receivedAt),
    lose: (ticket, now) => {
      if (!late.has(ticket)) real.lose(ticket, now);
    },
  };
});

/** Starts as if nothing had been spent and no earlier call could still land. */
const startsWarm: Alter = (options, plan) => {
  const real = createLedger({ ...options, quietMs: 0 });
  for (let user = 0; user < plan.users; user++) {
    const charge: Charge = {
      endpoint: "instruments",
      weight: 0,
      elements: 1,
      ip: "home",
      uid: `user-${user}`,
      key: undefined,
    };
    const serviceAt = options.startedAt + plan.skewMs;
    real.settle(
      real.spend(charge, options.startedAt),
      { status: 200, headers: { date: new Date(serviceAt).toUTCString() } },
      options.startedAt,
    );
  }
  return real;
};

const withoutUse = (headers: Answer["headers"]): Answer["headers"] =>
  headers["date"] === undefined ? {} : { date: headers["date"] };

export const mutants: Readonly<Record<string, Alter>> = {
  "charges only the window of sending": sendWindowOnly,
  "forgets calls until they are answered": forgetsUnanswered,
  "trusts the local clock": withAnswer((answer, at) => ({
    ...answer,
    headers: { ...answer.headers, date: new Date(at).toUTCString() },
  })),
  "ignores what the service says is used": withAnswer((answer) => ({ ...answer, headers: withoutUse(answer.headers) })),
  "takes a refusal for a success": withAnswer(({ headers }) => ({ status: 200, headers: withoutUse(headers) })),
  "starts warm": startsWarm,
  "one call too many for a key's second": withLayers((layer) => [
    layer.name === "key" ? { ...layer, capacity: layer.capacity + 1 } : layer,
  ]),
  "does not count the address": withLayers((layer) => (layer.name === "ip" ? [] : [layer])),
  "does not count the key's second": withLayers((layer) => (layer.name === "key" ? [] : [layer])),
  "takes each key for a user": withCharge((charge) => ({ ...charge, uid: charge.key ?? charge.uid })),
  "counts a call as one unit of weight": withCharge((charge) => ({ ...charge, weight: 1 })),
  "sees windows begin 7 ms early": wrap((real) => ({
    settle: (ticket, answer, receivedAt) => real.settle(ticket, answer, receivedAt - 7),
  })),
};

/** Everything may use the whole window, so nothing is kept for exits. */
export const withoutReserve: Alter = wrap((real) => ({
  ask: (charge, _rank, now) => real.ask(charge, "emergency", now),
}));
