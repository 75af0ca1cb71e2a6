/**
 * Cancels by the watchdog: distinguishes exits that our own second process canceled from those that another client
 * canceled.
 *
 * The watchdog cancels every order of an engine that is silent, exits too. An engine that resumes afterwards learns of
 * these cancels from records, as it does of those of an operator.
 *
 * Invariants: an order that was sent when the watchdog had finished was canceled by others; so was one whose end is
 * learned a minute later or more.
 * Not here: when such an exit is placed again (exits.ts), the connection to the watchdog (plugins/watchdog).
 */
import type { Clock } from "../clock/clock.ts";
import type { Order } from "./order-state.ts";

/**
 * State of the watchdog's cancels. `quiet`: it canceled nothing. `doubtful`: this process was blocked, and the watchdog
 * has not answered yet. `finished`: it canceled what was open, and cancels nothing that is sent from `at` on.
 */
export type WatchdogStanding =
  | { readonly state: "quiet" | "doubtful" | "canceling" }
  | { readonly state: "finished"; readonly at: number };

/** Cancels are learned so long after the watchdog has finished, at the latest. */
const learnedMsMax = 60_000;

export const canceledByWatchdog = "canceled by the watchdog";

export class WatchdogCancels {
  readonly #clock: Clock;
  #standing: () => WatchdogStanding = () => ({ state: "quiet" });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A watchdog looks after the orders. */
  watchedBy(standing: () => WatchdogStanding): void {
    this.#standing = standing;
  }

  get state(): WatchdogStanding["state"] {
    return this.#standing().state;
  }

  /** Returns the party that canceled an order, where this process did not. */
  causeOf({ sentAt }: Pick<Order, "sentAt">): "watchdog" | "others" | "not known" {
    const standing = this.#standing();
    switch (standing.state) {
      case "quiet":
        return "others";
      case "doubtful":
        return "not known";
      case "canceling":
        return "watchdog";
      case "finished":
        return sentAt < standing.at && this.#clock.now() - standing.at < learnedMsMax ? "watchdog" : "others";
    }
  }
}
