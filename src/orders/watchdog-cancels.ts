/**
 * Cancels by the watchdog: distinguishes exits that our own watchdog process canceled from those that another client
 * canceled.
 *
 * The watchdog cancels every order of an engine that is silent, exits too. An engine that resumes afterwards learns of
 * these cancels from records, as it does of those of an operator.
 *
 * Invariants: an order that was sent after the watchdog had finished was canceled by others; so was an order whose end
 * is seen a minute later or more.
 * Not here: when such an exit is placed again (exits.ts), the connection to the watchdog (plugins/watchdog).
 */
import type { Order } from "./order-state.ts";

/**
 * State of the watchdog's cancels. `quiet`: it canceled nothing. `doubtful`: this process was blocked, and the watchdog
 * has not answered yet. `finished`: it canceled the open orders, and cancels nothing that is sent from `at` on.
 */
export type WatchdogStanding =
  | { readonly state: "quiet" | "doubtful" | "canceling" }
  | { readonly state: "finished"; readonly at: number };

/** Longest time after the watchdog has finished in which its cancels become known. */
const learnedMsMax = 60_000;

export const canceledByWatchdog = "canceled by the watchdog";

/** Returns who canceled an order, if this process did not. */
export const cancelerOf = (
  standing: WatchdogStanding,
  { sentAt }: Pick<Order, "sentAt">,
  now: number,
): "watchdog" | "others" | "not known" => {
  switch (standing.state) {
    case "quiet":
      return "others";
    case "doubtful":
      return "not known";
    case "canceling":
      return "watchdog";
    case "finished":
      return sentAt < standing.at && now - standing.at < learnedMsMax ? "watchdog" : "others";
  }
};
