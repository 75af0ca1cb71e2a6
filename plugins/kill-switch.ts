/**
 * Halts trading and cancels every order when too much goes wrong: rejected orders, refusals by a rate limit, failed strategies.
 */
import { definePlugin } from "sluice";

export default definePlugin({
  name: "kill-switch",
  options: {
    type: "object",
    additionalProperties: false,
    properties: {
      /** Orders the service may reject within `withinMs`. */
      rejects: { type: "integer", minimum: 1, default: 60 },
      /** Refusals by a rate limit within `withinMs`. */
      refusals: { type: "integer", minimum: 1, default: 3 },
      withinMs: { type: "integer", minimum: 1000, default: 60000 },
      /** Halt when a strategy fails. */
      onFailure: { type: "boolean", default: false },
    },
  },
  setup: ({ on, halt, print, now, options: { rejects, refusals, withinMs, onFailure } }) => {
    let halted = false;
    const trip = (reason: string): void => {
      if (halted) return;
      halted = true;
      print(`kill switch: ${reason}; cancelling everything`);
      halt(reason).subscribe({ complete: () => print("kill switch: no order of ours is left") });
    };
    const counter = (most: number, what: string) => {
      let seen: number[] = [];
      return () => {
        seen = [...seen.filter((at) => at > now() - withinMs), now()];
        if (seen.length >= most) trip(`${seen.length} ${what} within ${withinMs / 1000} s`);
      };
    };
    on("order:rejected", counter(rejects, "orders rejected"));
    on("quota:refused", counter(refusals, "refusals by a rate limit"));
    if (onFailure) on("strategy:failed", () => trip("a strategy failed"));
  },
});
