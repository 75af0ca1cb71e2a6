/**
 * Ends of calls that no answer was read of, and requests of an address that left before the service's time was known.
 *
 * Invariants: such a request counts in every window until it is placed in those it may have landed in, and none for longer than any
 * window lasts: windows have no number before, and what was laid to one of them would be forgotten.
 */
import type { WindowTicket } from "./limit-window.ts";
import type { Ticket } from "./routes.ts";

const windowMsMost = 60_000;

/** It counts in the windows it may have landed in by `now`. */
export const loseCall = (ticket: Ticket, now: number): void => {
  for (const [index, gauge] of ticket.route.windows.entries()) gauge.lose(ticket.parts[index] as WindowTicket, now);
  endCall(ticket);
};

/** It never left. */
export const undoCall = (ticket: Ticket): void => {
  for (const [index, gauge] of ticket.route.windows.entries()) gauge.undo(ticket.parts[index] as WindowTicket);
  endCall(ticket);
};

const endCall = (ticket: Ticket): void => {
  if (--ticket.calls === 0) ticket.route.spare.push(ticket.parts);
};

export class UnplacedCalls {
  readonly #tickets: Ticket[] = [];

  keep(ticket: Ticket, now: number): void {
    this.#tickets.push(ticket);
    while ((this.#tickets[0] as Ticket).sentAt < now - windowMsMost) loseCall(this.#tickets.shift() as Ticket, now);
  }

  /** Windows have numbers now. */
  place(now: number): void {
    while (this.#tickets.length > 0) loseCall(this.#tickets.pop() as Ticket, now);
  }
}
