/**
 * What a charge touches, looked up once: charges are few and long-lived.
 *
 * Invariants: a route is good until routes are forgotten, which has to happen whenever a gauge or a standing is replaced.
 */
import type { Rank } from "./ceilings.ts";
import type { Ceiling, Gauge } from "./gauge.ts";
import type { Charge } from "./layers.ts";
import type { Standing } from "./standing.ts";

export interface Route {
  readonly gauges: readonly Gauge[];
  /** One list a rank, one ceiling a gauge. */
  readonly ceilings: Readonly<Record<Rank, readonly Ceiling[]>>;
  readonly standing: Standing;
}

export interface Routes {
  of(charge: Charge): Route;
  forget(): void;
}

const recentMax = 6;

export const createRoutes = (open: (charge: Charge) => Route): Routes => {
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
