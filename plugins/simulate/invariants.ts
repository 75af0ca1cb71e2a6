/**
 * Invariants of the simulation, by name. A violation is a bug in the engine, in a strategy, or in the simulation.
 */
export const invariants = {
  I1: "one intent is at most one order at the service",
  I2: "a slot has at most one live order",
  I3: "an order that is live at the service is never treated as ended",
  I4: "filled size is never above the service's and never falls",
  I5: "what is open can be cancelled within the reserve",
  I6: "no order leaves while trading is halted, refused or cannot be written down",
  I7: "no request of ours is refused by a limit that only we have used",
  I8: "a placement is durable before it leaves",
  I9: "what is over is over by evidence",
  I10: "after quiet the engine's picture is the service's, and what is wanted is there",
  I11: "after quiet nothing is of unknown outcome",
  I12: "after a stop nothing is left running, and no promise failed unseen",
  I13: "orders of others are left alone",
  I14: "a strategy does not fail and the engine reports no fault of its own",
  I15: "time advances: nothing is repeated endlessly at one instant",
  I16: "a position is never left without the stop that protects it",
  I17: "a stop closes no more than its entries executed, and never opens or turns a position",
  I18: "what strategies hold is what their orders executed, and together the account's position",
} as const;

export type Invariant = keyof typeof invariants;

export interface Violation {
  readonly invariant: Invariant;
  /** Milliseconds after the market began. */
  readonly at: number;
  readonly text: string;
}

/** A difference between two pictures at one instant, which lasts or is on its way out. */
export interface Finding {
  readonly invariant: Invariant;
  /** Subject of the violation: a difference of the same subject a while later is the same one. */
  readonly subject: string;
  readonly text: string;
}
