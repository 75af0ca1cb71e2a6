/**
 * One run as it can be compared: every order's trace, refused and held orders, the totals, and the facts about its
 * causes.
 *
 * Invariants: times are milliseconds since the run's start; an order is wanted when it was sent, minus its wait; each
 * value of an order comes with the line that contains it.
 * Not here: reading files (read-run.ts), making traces from events (run-reader.ts).
 */

/** A line of the run, to show as evidence. */
export interface Line {
  readonly number: number;
  readonly ms: number;
  readonly text: string;
}

export interface OrderSpec {
  readonly instId: string;
  readonly side: string;
  readonly ordType: string;
  readonly px: string;
  readonly sz: string;
}

export interface OrderTrace {
  readonly strategy: string;
  readonly slot: string;
  readonly clOrdId: string;
  readonly wantedMs: number;
  readonly sentMs: number;
  readonly waitedMs: number;
  /** Unknown for an order of which neither request nor record is there. */
  readonly spec: OrderSpec | undefined;
  /** Milliseconds from sending until the order was first known as accepted; undefined if it never was. */
  readonly ackAfterMs: number | undefined;
  /** Time at which we began to cancel it. */
  readonly cancelMs: number | undefined;
  /** Last reported phase, such as `filled`, and its reason. */
  readonly phase: string;
  readonly endMs: number;
  readonly reason: string;
  /** Filled size, and below average price and cost, in the units and signs of the service. */
  readonly filledSz: string;
  readonly avgPx: string;
  readonly cost: string;
  readonly lines: readonly Line[];
}

/** An order the engine refused before it cost quota. */
export interface Refusal {
  readonly strategy: string;
  readonly slot: string;
  readonly ms: number;
  readonly reason: string;
  readonly line: Line;
}

/** An action that had to wait for quota. */
export interface Hold {
  readonly ms: number;
  readonly untilMs: number;
  readonly layer: string;
  readonly class: string;
  readonly line: Line;
}

export interface Totals {
  readonly orders: number;
  readonly filled: number;
  readonly canceled: number;
  readonly rejected: number;
  readonly refused: number;
  readonly fills: number;
  /** In the service's unit if computed from orders, in currency if read from a report. */
  readonly volume: string;
  readonly fees: string;
  readonly pnl: string | undefined;
  readonly waits: number;
  readonly waitedMs: number;
  readonly limited: number;
}

/** Inputs of the run besides its code; only known ones are present. */
export interface RunFacts {
  readonly seed?: string;
  /** Content of the market data. */
  readonly market?: string;
  readonly latency?: string;
  readonly limits?: boolean;
  /** Options, rules and the rest of the config. */
  readonly config?: unknown;
  /** Other assumptions of the run. */
  readonly assumptions?: readonly string[];
  /** `backtest`, `paper`, `live` …: who answered. */
  readonly service?: string;
}

export interface RunRecord {
  readonly name: string;
  readonly kind: "journal" | "session" | "report" | "backtest";
  /** On the calendar; 0 when unknown. */
  readonly startAt: number;
  readonly endAt: number;
  /** Undefined for a report, which holds totals only. */
  readonly orders: readonly OrderTrace[] | undefined;
  readonly refusals: readonly Refusal[];
  readonly holds: readonly Hold[];
  readonly totals: Totals;
  readonly facts: RunFacts;
  /** Notes for the reader, such as "cut off" or "changed". */
  readonly notes: readonly string[];
}
