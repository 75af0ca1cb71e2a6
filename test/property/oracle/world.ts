import { createVirtualClock, type VirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createContract } from "../../../src/contract/contract.ts";
import type { EndpointName } from "../../../src/contract/endpoints.ts";
import type { Transport, WireRequest, WireResponse } from "../../../src/contract/transport.ts";
import { EventLog } from "../../../src/journal/event-log.ts";
import type { ActionClass } from "../../../src/journal/events.ts";
import { createRandom, type Random } from "../../../src/random.ts";
import type { Account } from "../../../src/scheduler/action.ts";
import { layersOf } from "../../../src/scheduler/quota/layers.ts";
import { createLedger, type Ledger } from "../../../src/scheduler/quota/ledger.ts";
import { createScheduler, type Scheduler } from "../../../src/scheduler/scheduler.ts";
import { type Caller, createOracleMeter, documentedLimits, type Judgement, type OracleMeter } from "./meter.ts";
import { legsOf, type NetworkKind } from "./network.ts";

type LedgerOptions = Parameters<typeof createLedger>[0];

export interface Plan {
  readonly seed: number;
  readonly minutes: number;
  readonly skewMs: number;
  readonly driftPpm: number;
  readonly dateOffMs: number;
  readonly network: NetworkKind;
  readonly users: number;
  readonly keysPerUser: number;
  readonly mix: "trading" | "light";
  /** Actions kept waiting per user; the rest of the load comes in crowds at the edges. */
  readonly outstanding: number;
  readonly lostShare: number;
  /** Weight an earlier life of each user has spent in the minute of the start. */
  readonly spentBefore: number;
  /** Calls of weight 10 a minute by somebody else under each user. */
  readonly strangerPerMinute: number;
  readonly phaseMs: number;
  /** Instants, from the start, at which the machine sleeps, and for how long; the steady clock stands still meanwhile. */
  readonly sleeps: readonly { readonly atMs: number; readonly forMs: number }[];
}

export interface Refusal {
  readonly by: "ip" | "key" | "uid";
  readonly at: number;
  /** Our own calls alone were over the limit, whatever anybody else did. */
  readonly ours: boolean;
  /** It left after an earlier refusal by this user's minute had been read. */
  readonly warned: boolean;
}

export interface Story {
  readonly refusals: readonly Refusal[];
  readonly waiting: number;
  /** Waits of lone exits: no other of the user was waiting or in flight. */
  readonly exitWaitsMs: readonly number[];
  readonly conflicts: number;
}

export type Alter = (options: LedgerOptions, plan: Plan) => Ledger;

const day = 1_767_600_000_000;
const timeoutMs = 150_000;

export const faithful: Alter = (options) => createLedger(options);

interface Stage {
  readonly plan: Plan;
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly meter: OracleMeter;
  readonly refusals: Refusal[];
  readonly readAt: Map<string, number>;
  readonly serviceNow: () => number;
}

const callerOf = ({ query, key }: WireRequest): Caller => ({
  ip: query["ip"] ?? "",
  uid: key === undefined ? undefined : query["uid"],
  key,
});

const noteRefusal = (
  stage: Stage,
  caller: Caller,
  sentAt: number,
  weight: number,
  { refusedBy, ownBefore }: Judgement,
): void => {
  if (refusedBy === undefined) return;
  const serviceAt = stage.serviceNow();
  const read = stage.readAt.get(`${caller.uid} ${Math.floor(serviceAt / 60_000)}`) ?? Number.POSITIVE_INFINITY;
  const ours = refusedBy !== "uid" || stage.plan.strangerPerMinute === 0 || ownBefore + weight > documentedLimits.uid;
  stage.refusals.push({ by: refusedBy, at: serviceAt, ours, warned: read < sentAt });
};

const responseOf = (
  stage: Stage,
  { refusedBy, ipUsed, keyUsed, uidUsed }: Judgement,
  caller: Caller,
): WireResponse => ({
  status: refusedBy === undefined ? 200 : 429,
  headers: {
    date: new Date(stage.serviceNow() + stage.plan.dateOffMs).toUTCString(),
    "x-ratelimit-ip-remaining": String(Math.max(0, documentedLimits.ip - ipUsed)),
    ...(caller.key === undefined
      ? {}
      : {
          "x-ratelimit-key-remaining": String(documentedLimits.key - keyUsed),
          "x-ratelimit-uid-weight-used": String(uidUsed),
        }),
  },
  body: undefined,
});

const transportOf =
  (stage: Stage): Transport =>
  (request, sink) => {
    const { clock, random, plan } = stage;
    const sentAt = clock.now();
    const lost = random.next() < plan.lostShare;
    const lands = !lost || random.next() < 0.5;
    const { thereMs, backMs } = legsOf(plan.network, random, stage.serviceNow());
    const caller = callerOf(request);
    const weight = Number(request.query["weight"]);
    const cut = new Error("the line went dead");
    if (lost) clock.setTimer(sentAt + thereMs + 500 * random.next(), () => sink.failed(cut));
    if (!lands) return;
    clock.setTimer(sentAt + Math.min(thereMs, timeoutMs), () => {
      const judgement = stage.meter.judge(stage.serviceNow(), caller, weight, false);
      noteRefusal(stage, caller, sentAt, weight, judgement);
      const response = responseOf(stage, judgement, caller);
      const minute = Math.floor(stage.serviceNow() / 60_000);
      if (lost) return;
      clock.setTimer(clock.now() + backMs, () => {
        const mark = `${caller.uid} ${minute}`;
        if (judgement.refusedBy === "uid" && !stage.readAt.has(mark)) stage.readAt.set(mark, clock.now());
        sink.response(response);
      });
    });
  };

interface Kind {
  readonly endpoint: EndpointName;
  readonly class: ActionClass;
  readonly weight: number;
}

const trading: readonly Kind[] = [
  { endpoint: "placeOrder", class: "place", weight: 10 },
  { endpoint: "placeOrder", class: "place", weight: 10 },
  { endpoint: "getOrder", class: "read", weight: 5 },
  { endpoint: "instruments", class: "backfill", weight: 2 },
  { endpoint: "setLeverage", class: "resolve", weight: 5 },
];
const light: readonly Kind[] = [{ endpoint: "instruments", class: "read", weight: 2 }];
const exit: Kind = { endpoint: "cancelBatch", class: "cancel", weight: 15 };

/** The service's clock shows an edge a little after or before most of these client instants. */
const crowdsOf = ({ plan, clock, random, serviceNow }: Stage): number[] => {
  const start = clock.now();
  const toMinute = 60_000 - (serviceNow() % 60_000);
  const instants: number[] = [];
  for (let minute = 0; minute < plan.minutes; minute++) {
    instants.push(start + toMinute + minute * 60_000 + 160 * (random.next() - 0.5));
    for (let i = 0; i < 3; i++)
      instants.push(start + toMinute + minute * 60_000 - 1_000 * random.whole(1, 50) + 160 * (random.next() - 0.5));
  }
  return instants.filter((at) => at > start);
};

const accountsOf = ({ users, keysPerUser }: Plan): Account[] =>
  Array.from({ length: users }, (_, user) => ({
    uid: `user-${user}`,
    ip: "home",
    keys: Array.from({ length: keysPerUser }, (_, key) => `key-${user}-${key}`),
  }));

const loadOn = (stage: Stage, scheduler: Scheduler, account: Account, exitWaitsMs: number[]): void => {
  const { plan, clock } = stage;
  const random = stage.random.fork(account.uid);
  const kinds = plan.mix === "light" ? light : trading;
  const endsAt = clock.now() + plan.minutes * 60_000;
  let exits = 0;
  const ask = (kind: Kind, then: () => void): void => {
    const lone = kind === exit && exits === 0;
    if (kind === exit) exits++;
    scheduler.submit({
      ...kind,
      account,
      owner: `owner-${random.whole(1, 3)}`,
      build: (key) => ({
        endpoint: kind.endpoint,
        method: "GET",
        path: "",
        query: { uid: account.uid, ip: account.ip, weight: String(kind.weight) },
        body: undefined,
        key,
      }),
      done: (ending) => {
        if (kind === exit) exits--;
        if (lone && ending.kind === "answered") exitWaitsMs.push(ending.waitedMs);
        then();
      },
    });
  };
  const keepAsking = (): void => {
    if (clock.now() >= endsAt) return;
    ask(kinds[random.whole(0, kinds.length - 1)] as Kind, () => {
      clock.setTimer(clock.now() + 1, keepAsking);
    });
  };
  for (let i = 0; i < plan.outstanding; i++) keepAsking();
  for (const at of crowdsOf(stage)) {
    clock.setTimer(at, () => {
      for (let i = random.whole(1, 12); i > 0; i--)
        ask(kinds[random.whole(0, kinds.length - 1)] as Kind, () => undefined);
      // Exits come alone now and then, and as a crowd seldom.
      const urgent = random.next();
      for (let i = urgent < 0.05 ? 12 : urgent < 0.5 ? 1 : 0; i > 0; i--) ask(exit, () => undefined);
    });
  }
};

const strangersOn = (stage: Stage, accounts: readonly Account[]): void => {
  const { plan, clock, meter } = stage;
  if (plan.strangerPerMinute === 0) return;
  const random = stage.random.fork("strangers");
  const endsAt = clock.now() + plan.minutes * 60_000;
  const again = (uid: string): void => {
    clock.setTimer(clock.now() + random.exponential(60_000 / plan.strangerPerMinute), () => {
      if (clock.now() >= endsAt) return;
      meter.judge(stage.serviceNow(), { ip: "elsewhere", uid, key: `stranger-${uid}` }, 10, true);
      again(uid);
    });
  };
  for (const { uid } of accounts) again(uid);
};

export const play = (plan: Plan, alter: Alter = faithful): Story => {
  const clock = createVirtualClock(day + plan.phaseMs);
  const startedAt = clock.now();
  let sleptMs = 0;
  const serviceNow = (): number =>
    clock.now() + plan.skewMs + sleptMs + (clock.now() - startedAt) * plan.driftPpm * 1e-6;
  const random = createRandom(`oracle ${plan.seed}`);
  const stage: Stage = { plan, clock, random, meter: createOracleMeter(), refusals: [], readAt: new Map(), serviceNow };
  const accounts = accountsOf(plan);
  if (plan.spentBefore > 0) {
    for (const { uid } of accounts)
      stage.meter.judge(serviceNow(), { ip: "home", uid, key: undefined }, plan.spentBefore, false);
  }
  const ledger = alter({ layers: layersOf(createContract()), startedAt }, plan);
  const scheduler = createScheduler({
    clock,
    ledger,
    transport: transportOf(stage),
    journal: new EventLog(() => clock.now()),
  });
  const exitWaitsMs: number[] = [];
  for (const account of accounts) loadOn(stage, scheduler, account, exitWaitsMs);
  strangersOn(stage, accounts);
  for (const { atMs, forMs } of plan.sleeps) {
    clock.setTimer(startedAt + atMs, () => {
      sleptMs += forMs;
      clock.stepWall(forMs);
    });
  }
  clock.advanceTo(startedAt + (plan.minutes + 4) * 60_000);
  return { refusals: stage.refusals, waiting: scheduler.queued, exitWaitsMs, conflicts: ledger.clock.conflicts };
};
