/**
 * What a charge touches, looked up once, and what is spent on the calls that take that way.
 *
 * Invariants: a route is good until routes are forgotten, which has to happen whenever a gauge or a standing is replaced; a
 * ticket never changes, so calls that leave alike share one: a burst would otherwise hold thousands of equal ones.
 */
import type { Rank } from "./allowance.ts";
import type { Charge } from "./layers.ts";
import type { Ceiling, LimitWindow, WindowTicket } from "./limit-window.ts";
import type { ProbeState } from "./probe-state.ts";

/** How far a gauge may go on being charged at one instant, as long as nothing else happens to the ledger. */
export interface Room {
  at: number;
  epoch: number;
  /** What may have been begun in all, this much included. */
  most: number;
  /** What the least call of the route counts for. */
  units: number;
}

/** How one gauge of a route is asked by one rank. */
export interface Measure {
  readonly gauge: LimitWindow;
  readonly ceiling: Ceiling;
  readonly floor: Ceiling;
  readonly room: Room;
}

export interface Route {
  readonly windows: readonly LimitWindow[];
  /** One list a rank, one entry a gauge. */
  readonly measures: Readonly<Record<Rank, readonly Measure[]>>;
  readonly standing: ProbeState;
  /** Of the call that took it last, and the epoch in which it did. */
  last: Ticket | undefined;
  lastEpoch: number;
}

/** What was spent on one call. It is leave to send as well, and does not expire. */
export interface Ticket {
  readonly granted: true;
  readonly charge: Charge;
  readonly expiresAt: number;
  /** Elements that were charged for, and the most the call may carry. */
  readonly elements: number;
  readonly sentAt: number;
  readonly route: Route;
  /** One per gauge of the route. */
  readonly parts: readonly WindowTicket[];
  readonly probe: boolean;
}

interface ChargeCache {
  of(charge: Charge): Route;
  forget(): void;
}

const recentMax = 6;

export const createChargeCache = (open: (charge: Charge) => Route): ChargeCache => {
  let known = new WeakMap<Charge, Route>();
  const recent: { readonly charge: Charge; readonly route: Route }[] = [];
  return {
    of: (charge) => {
      // Most often it is one of a few: looking through them is cheaper than a map.
      for (let index = 0; index < recent.length; index++) {
        const near = recent[index] as { readonly charge: Charge; readonly route: Route };
        if (near.charge === charge) return near.route;
      }
      let route = known.get(charge);
      if (route === undefined) {
        route = open(charge);
        known.set(charge, route);
      }
      if (recent.length === recentMax) recent.shift();
      recent.push({ charge, route });
      return route;
    },
    forget: () => {
      known = new WeakMap();
      recent.length = 0;
    },
  };
};
