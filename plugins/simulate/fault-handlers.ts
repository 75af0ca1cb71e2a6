/**
 * Fault handlers: the effect of each fault on the environment or on the process at its instant.
 *
 * Invariants: every kind has a row; a fault with an end ends by itself; people act on the account through a key of
 * their own.
 */
import { mul, toStep } from "sluice";
import type { VenueResponse } from "sluice/backtest";
import { address, type Environment, humanKey } from "./environment.ts";
import { clearsUp, type Fault, type FaultKind, signOf, spellFault } from "./fault.ts";
import { networkKinds } from "./network.ts";
import type { ProcessSupervisor } from "./process-supervisor.ts";
import { pushKinds } from "./pushes.ts";

type Act = (fault: Fault) => void;

/** Acts on each fault. */
export const createFaultHandlers = (environment: Environment, supervisor: ProcessSupervisor): Act => {
  const acts: Partial<Record<FaultKind, Act>> = {
    ...networkActs(environment),
    ...pushActs(environment),
    ...otherClientActs(environment),
    ...manualActs(environment),
    ...crashActs(environment, supervisor),
    ...diskActs(environment),
    ...haltActs(environment, supervisor),
    ...marketActs(environment),
    "limit-quirk": () => {
      const { change } = environment.quirk ?? {};
      if (change === undefined) return;
      const { layer, capacity, fromMinute, toMinute } = change;
      later(environment, fromMinute * minuteMs, () => environment.venue.setCapacity(layer, capacity));
      if (toMinute === undefined) return;
      later(environment, toMinute * minuteMs, () =>
        environment.venue.setCapacity(layer, environment.contract.layers[layer].capacity),
      );
    },
    "service-step": () => {
      // The engine learns of the step from the next answers only.
      environment.quota.excuseFor(240_000);
    },
    "wall-step": (fault) => {
      environment.calendar.offsetMs += signOf(fault) * fault.size;
    },
  };
  return (fault) => {
    environment.tell(`FAULT ${spellFault(fault)}`);
    environment.marks.mark(`fault ${fault.kind}`);
    acts[fault.kind]?.(fault);
  };
};

const later = ({ time }: Pick<Environment, "time">, ms: number, run: () => void): void => {
  time.setTimer(time.now() + ms, run);
};

const pickOf = <T>(list: readonly T[], { pick }: Fault): T | undefined => list[pick % Math.max(1, list.length)];

const minuteMs = 60_000;
/** Faults of the network with these picks go for a cancel, for a placement. */
const cancelAim = 3;
const placementAim = 1;
/** An outage with this pick lets every request be executed and answers it with an error page. */
const executedAim = 9;
/** Delay of an outage; by then a restarted process knows the rest of the minute. */
const outageAfterMs = 5_000;
/** Time until a restarted process has read the state. */
const aliveAgainMs = 2_000;
const arrivalMs = 20_000;
/** Before the shortest time until the next process is started. */
const clearingMs = 150;
const unseenMs = 1_000;
const haltCrashMs = 1_000;
const haltedAfterMs = 20_000;
const beforeHaltMs = 3_000;
const resumeAgainMs = 5_000;

const haltNow = (environment: Environment, supervisor: ProcessSupervisor, forMs: number): void => {
  const process = supervisor.current;
  if (process?.state !== "running") return;
  process.clock.deliver(() => {
    process.engine.halt("asked for by hand").subscribe();
  });
  // The process that runs by then: a halt outlives the one that was halted.
  const resume = (): void => {
    const now = supervisor.current;
    if (now?.state !== "running") later(environment, resumeAgainMs, resume);
    else now.clock.deliver(() => now.engine.resume("asked for by hand"));
  };
  later(environment, forMs, resume);
};

const networkActs = (environment: Environment): Partial<Record<FaultKind, Act>> => {
  const arm: Act = (fault) => {
    environment.network.arm(fault);
  };
  const lag =
    (endpoint: "pendingOrders" | "orderHistory"): Act =>
    (fault) => {
      environment.lags[endpoint] = fault;
      later(environment, fault.forMs, () => {
        if (environment.lags[endpoint] === fault) environment.lags[endpoint] = undefined;
      });
    };
  const acts = Object.fromEntries(networkKinds.map((kind) => [kind, arm]));
  return { ...acts, "pending-lag": lag("pendingOrders"), "history-lag": lag("orderHistory") };
};

const pushActs = ({ pushes }: Environment): Partial<Record<FaultKind, Act>> => {
  const arm: Act = (fault) => {
    pickOf([...pushes.values()], fault)?.arm(fault);
  };
  return Object.fromEntries(pushKinds.map((kind) => [kind, arm]));
};

const otherClientActs = (environment: Environment): Partial<Record<FaultKind, Act>> => ({
  "other-client": (fault) => {
    environment.quota.excuse();
    environment.venue.spendElsewhere(
      pickOf(environment.users, fault)?.uid ?? "",
      fault.size,
      environment.service.now(),
    );
  },
  "shared-address": ({ size }) => {
    environment.quota.excuse();
    for (let count = 0; count < size; count++) environment.venue.knock(address, environment.service.now());
  },
});

type Named = Readonly<Record<"instId" | "ordId", string>>;

const askByHand = (
  environment: Environment,
  uid: string,
  path: "place" | "cancel-batch",
  body: unknown,
): VenueResponse => {
  environment.quota.excuse();
  const { placeOrder, cancelBatch } = environment.contract.endpoints;
  const endpoint = path === "place" ? placeOrder : cancelBatch;
  const request = {
    method: "POST",
    path: endpoint.path,
    query: {},
    body,
    key: humanKey(uid),
    ip: "elsewhere",
  } as const;
  return environment.venue.handle(request, environment.service.now());
};

/** Asked for each user: what belongs to another is not there for this one. */
const cancelByHand = (environment: Environment, orders: readonly Named[]): void => {
  const most = environment.contract.profile.cancelBatch.elementsMax;
  for (let from = 0; from < orders.length; from += most) {
    const body = orders.slice(from, from + most).map(({ instId, ordId }) => ({ instId, ordId }));
    for (const { uid } of environment.users) askByHand(environment, uid, "cancel-batch", body);
  }
};

const manualActs = (environment: Environment): Partial<Record<FaultKind, Act>> => {
  const { venue, users, oracle, ids } = environment;
  const ask = (uid: string, path: "place" | "cancel-batch", body: unknown): VenueResponse =>
    askByHand(environment, uid, path, body);
  const cancel = (uid: string, order: Named | undefined): void => {
    if (order !== undefined) ask(uid, "cancel-batch", [{ instId: order.instId, ordId: order.ordId }]);
  };
  const availableOf = (uid: string, instId: string): string =>
    venue.holdings(uid).balances.find(({ currency }) => currency === instId.split("-")[1])?.available ?? "0";
  return {
    "funds-locked": (fault) => {
      const { uid } = pickOf(users, fault) ?? { uid: "" };
      const { instId = "" } = pickOf(environment.tape.instruments, fault) ?? {};
      const bound: Named[] = [];
      // The share of the balance that one order can bind depends on the leverage and is found by trying: first too
      // much, then less.
      for (const share of lockShares) {
        const sz = toStep(mul(availableOf(uid, instId), share), "0.01", "down");
        const [{ ordId = "" } = {}] = recordsIn(
          ask(uid, "place", { instId, side: "buy", ordType: "limit", px: "10", sz }),
        );
        if (ordId !== "") bound.push({ instId, ordId });
      }
      later(environment, fault.forMs, () => {
        for (const order of bound) cancel(uid, order);
      });
    },
    "manual-place": (fault) => {
      const { uid } = pickOf(users, fault) ?? { uid: "" };
      const { instId = "" } = pickOf(environment.tape.instruments, fault) ?? {};
      // Far below any market: it rests until it is canceled.
      ask(uid, "place", { instId, side: "buy", ordType: "limit", px: "10", sz: "20", clOrdId: `hand${fault.at}` });
    },
    "manual-cancel": (fault) => {
      const order = pickOf([...oracle.live.values()], fault);
      if (order !== undefined) cancelByHand(environment, [order]);
    },
    "unseen-cancel": (fault) => {
      for (const pushes of environment.pushes.values()) pushes.arm({ ...fault, kind: "push-silent", forMs: unseenMs });
      const live = [...oracle.live.values()];
      const from = fault.pick % Math.max(1, live.length);
      cancelByHand(environment, live.slice(from, from + fault.size));
    },
    "manual-cancel-own": (fault) => {
      const { uid } = pickOf(users, fault) ?? { uid: "" };
      const open = venue
        .truth(uid)
        .orders.filter(({ state, clOrdId }) => state === "live" && ids.read(clOrdId) === undefined);
      cancel(uid, pickOf(open, fault));
    },
  };
};

const lockShares = ["9.5", "4.7", "4.7", "2.8", "1.9", "0.95", "0.95"];
const recordsIn = ({ body }: VenueResponse): readonly Readonly<Record<string, string>>[] => {
  const { data } = body as { readonly data?: unknown };
  return Array.isArray(data) ? (data as Readonly<Record<string, string>>[]) : [];
};

const crashActs = (environment: Environment, supervisor: ProcessSupervisor): Partial<Record<FaultKind, Act>> => {
  const crash: Act = (fault) => supervisor.crash(fault);
  const orphan: Act = (fault) => {
    const arrivesMs = fault.size + aliveAgainMs + (fault.pick % arrivalMs);
    environment.network.arm({ ...fault, kind: "delay-request", size: arrivesMs, pick: placementAim });
    crash(fault);
  };
  const still =
    (sleeping: boolean): Act =>
    ({ forMs }) => {
      const process = supervisor.current;
      if (process === undefined) return;
      process.clock.pause(sleeping);
      later(environment, forMs, () => process.clock.resume());
    };
  return {
    pause: still(false),
    suspend: still(true),
    crash,
    "exit-crash": crash,
    "exit-unsent": crash,
    orphan,
    "first-orphan": orphan,
    "journal-lost": (fault) => {
      crash(fault);
      if (clearsUp(fault))
        later(environment, clearingMs, () => cancelByHand(environment, [...environment.oracle.live.values()]));
    },
    restart: (fault) => supervisor.restart(fault),
    "unanswered-restart": (fault) => {
      supervisor.restart(fault);
      later(environment, fault.size + outageAfterMs, () =>
        environment.network.arm({ ...fault, kind: "outage", pick: executedAim }),
      );
    },
  };
};

const diskActs = ({ disk, ...environment }: Pick<Environment, "disk" | "time">): Partial<Record<FaultKind, Act>> => ({
  "disk-write": () => disk.fail("write"),
  "disk-flush": () => disk.fail("flush"),
  "disk-slow": ({ size, forMs }) => {
    disk.slow(size);
    later(environment, forMs, () => disk.slow(0));
  },
});

const haltActs = (environment: Environment, supervisor: ProcessSupervisor): Partial<Record<FaultKind, Act>> => ({
  halt: ({ size, forMs }) => {
    // Records that wait for the disk when the halt is requested must not be sent after it.
    environment.disk.slow(size);
    later(environment, beforeHaltMs, () => haltNow(environment, supervisor, forMs));
    later(environment, 2 * beforeHaltMs, () => environment.disk.slow(0));
  },
  "halt-crash": (fault) => {
    environment.network.arm({ ...fault, kind: "drop-request", pick: cancelAim });
    haltNow(environment, supervisor, haltCrashMs + fault.size + haltedAfterMs);
    later(environment, haltCrashMs, () => supervisor.crash(fault));
  },
  "long-halt": ({ forMs }) => haltNow(environment, supervisor, forMs),
  refuse: ({ forMs }) => {
    environment.refusal = "the port refuses orders";
    later(environment, forMs, () => {
      environment.refusal = undefined;
    });
  },
});

const marketActs = (environment: Environment): Partial<Record<FaultKind, Act>> => {
  const { venue, tape, service, oracle } = environment;
  return {
    "part-filled": (fault) => {
      const order = pickOf([...oracle.live.values()], fault);
      if (order !== undefined) environment.fillPart(order);
    },
    delist: (fault) => {
      const listed = tape.instruments.filter(({ instId }) => venue.lists(instId));
      const instrument = pickOf(tape.instruments, fault);
      // A service without any instrument is not simulated.
      if (instrument === undefined || listed.length < 2 || !listed.includes(instrument)) return;
      venue.delist(instrument.instId, service.now());
      later(environment, fault.forMs, () => {
        if (!venue.lists(instrument.instId)) venue.list(instrument, service.now());
      });
    },
    rules: (fault) => {
      const instrument = pickOf(tape.instruments, fault);
      if (instrument === undefined || !venue.lists(instrument.instId)) return;
      const { instId, tickSize, lotSize } = instrument;
      // The choice is independent of the instrument.
      const coarser =
        Math.floor(fault.pick / tape.instruments.length) % 2 === 0
          ? { tickSize: times(tickSize, fault.size) }
          : { lotSize: times(lotSize, fault.size) };
      environment.coarser.add(instId);
      venue.change(instId, coarser, service.now());
    },
  };
};

const times = (step: string, count: number): string => mul(step, String(count));
