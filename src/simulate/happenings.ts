/**
 * What each fault does to the world or to the process when its moment has come.
 *
 * Invariants: every kind has a row; a fault with an end ends by itself; people act on the account through a key of their own.
 */
import { mul } from "../decimal.ts";
import type { VenueResponse } from "../venue/venue.ts";
import type { Company } from "./company.ts";
import { type Fault, type FaultKind, signOf, spellFault } from "./fault.ts";
import { networkKinds } from "./network.ts";
import { pushKinds } from "./pushes.ts";
import { address, humanKey, type World } from "./world.ts";

type Act = (fault: Fault) => void;

/** Acts on each fault. */
export const createHappenings = (world: World, company: Company): Act => {
  const acts: Partial<Record<FaultKind, Act>> = {
    ...networkActs(world),
    ...pushActs(world),
    ...strangerActs(world),
    ...humanActs(world),
    ...processActs(world, company),
    ...productActs(world),
    "service-step": () => {
      // Whoever spends by the clock learns of the step from the next answers only.
      world.quota.excuseFor(240_000);
    },
    "wall-step": (fault) => {
      world.calendar.offsetMs += signOf(fault) * fault.size;
    },
  };
  return (fault) => {
    world.tell(`FAULT ${spellFault(fault)}`);
    world.marks.mark(`fault ${fault.kind}`);
    acts[fault.kind]?.(fault);
  };
};

const later = ({ time }: World, ms: number, run: () => void): void => {
  time.setTimer(time.now() + ms, run);
};

const pickOf = <T>(list: readonly T[], { pick }: Fault): T | undefined => list[pick % Math.max(1, list.length)];

const networkActs = (world: World): Partial<Record<FaultKind, Act>> => {
  const arm: Act = (fault) => {
    world.network.arm(fault);
  };
  const lag =
    (endpoint: "pendingOrders" | "orderHistory"): Act =>
    (fault) => {
      world.lags[endpoint] = fault;
      later(world, fault.forMs, () => {
        if (world.lags[endpoint] === fault) world.lags[endpoint] = undefined;
      });
    };
  const acts = Object.fromEntries(networkKinds.map((kind) => [kind, arm]));
  return { ...acts, "pending-lag": lag("pendingOrders"), "history-lag": lag("orderHistory") };
};

const pushActs = ({ pushes }: World): Partial<Record<FaultKind, Act>> => {
  const arm: Act = (fault) => {
    pickOf([...pushes.values()], fault)?.arm(fault);
  };
  return Object.fromEntries(pushKinds.map((kind) => [kind, arm]));
};

const strangerActs = (world: World): Partial<Record<FaultKind, Act>> => ({
  stranger: (fault) => {
    world.quota.excuse();
    world.venue.spendElsewhere(pickOf(world.users, fault)?.uid ?? "", fault.size, world.service.now());
  },
  neighbour: ({ size }) => {
    world.quota.excuse();
    for (let count = 0; count < size; count++) world.venue.knock(address, world.service.now());
  },
});

const humanActs = (world: World): Partial<Record<FaultKind, Act>> => {
  const { venue, users, oracle, ids, service } = world;
  const ask = (uid: string, path: "place" | "cancel-batch", body: unknown): VenueResponse => {
    world.quota.excuse();
    const { endpoints } = world.contract;
    const endpoint = path === "place" ? endpoints.placeOrder : endpoints.cancelBatch;
    return venue.handle({ method: "POST", path: endpoint.path, query: {}, body, key: humanKey(uid), ip: "elsewhere" }, service.now());
  };
  const cancel = (uid: string, order: { readonly instId: string; readonly ordId: string } | undefined): void => {
    if (order !== undefined) ask(uid, "cancel-batch", [{ instId: order.instId, ordId: order.ordId }]);
  };
  return {
    "human-place": (fault) => {
      const { uid } = pickOf(users, fault) ?? { uid: "" };
      const { instId = "" } = pickOf(world.tape.instruments, fault) ?? {};
      // Far below any market: it rests until somebody takes it back.
      ask(uid, "place", { instId, side: "buy", ordType: "limit", px: "10", sz: "20", clOrdId: `hand${fault.at}` });
    },
    "human-cancel": (fault) => {
      const order = pickOf([...oracle.live.values()], fault);
      for (const { uid } of users) cancel(uid, order);
    },
    "human-cancel-own": (fault) => {
      const { uid } = pickOf(users, fault) ?? { uid: "" };
      const open = venue.truth(uid).orders.filter(({ state, clOrdId }) => state === "live" && ids.read(clOrdId) === undefined);
      cancel(uid, pickOf(open, fault));
    },
  };
};

const processActs = (world: World, company: Company): Partial<Record<FaultKind, Act>> => {
  const crash: Act = (fault) => {
    company.crash(fault);
  };
  const still =
    (sleeping: boolean): Act =>
    ({ forMs }) => {
      const life = company.current;
      if (life === undefined) return;
      life.clock.pause(sleeping);
      later(world, forMs, () => {
        life.clock.resume();
      });
    };
  return {
    pause: still(false),
    suspend: still(true),
    crash,
    "journal-lost": crash,
    restart: (fault) => {
      company.restart(fault);
    },
    "disk-write": () => {
      world.disk.fail("write");
    },
    "disk-flush": () => {
      world.disk.fail("flush");
    },
    "disk-slow": ({ size, forMs }) => {
      world.disk.slow(size);
      later(world, forMs, () => {
        world.disk.slow(0);
      });
    },
    halt: ({ forMs }) => {
      const life = company.current;
      if (life?.state !== "running") return;
      life.clock.deliver(() => {
        life.engine.halt("somebody said so").subscribe();
      });
      later(world, forMs, () => {
        life.clock.deliver(() => {
          if (life.state === "running") life.engine.resume("somebody said so");
        });
      });
    },
    refuse: ({ forMs }) => {
      world.refusal = "the port refuses orders";
      later(world, forMs, () => {
        world.refusal = undefined;
      });
    },
  };
};

const productActs = (world: World): Partial<Record<FaultKind, Act>> => {
  const { venue, tape, service } = world;
  return {
    delist: (fault) => {
      const instrument = pickOf(tape.instruments, fault);
      if (instrument === undefined || !venue.lists(instrument.instId)) return;
      venue.delist(instrument.instId, service.now());
      later(world, fault.forMs, () => {
        if (!venue.lists(instrument.instId)) venue.list(instrument, service.now());
      });
    },
    rules: (fault) => {
      const instrument = pickOf(tape.instruments, fault);
      if (instrument === undefined || !venue.lists(instrument.instId)) return;
      const { instId, tickSize, lotSize } = instrument;
      const coarser = fault.pick % 2 === 0 ? { tickSize: times(tickSize, fault.size) } : { lotSize: times(lotSize, fault.size) };
      venue.change(instId, coarser, service.now());
    },
  };
};

const times = (step: string, count: number): string => mul(step, String(count));
