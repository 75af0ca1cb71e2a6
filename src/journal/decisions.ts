/**
 * Decisions about trading that survive a restart: halts, and the risk limits in force.
 *
 * Invariants: pure; the latest decision for all strategies, and for each one, is in force; reading a record twice
 * changes nothing.
 * Not here: the file (write-ahead-log.ts), what a mode means (orders/risk/trading-mode.ts), which limits are wider
 * (orders/risk/limit-changes.ts).
 */
export interface Verdict {
  /** Name of the strategy; empty for all. */
  readonly strategy: string;
  readonly mode: "active" | "reducing" | "halted";
  readonly reason: string;
  /** True for a halt that is a full stop: without exits, stops and targets. */
  readonly full?: true;
}

/** Limits by name, as the config has them. */
export type Limits = Readonly<Record<string, string | number | boolean>>;

/** A halt, or its end, in the journal. */
export type DecisionRecord =
  | ({ readonly type: "mode" } & Verdict)
  /** These limits are in force from here on. */
  | { readonly type: "limits"; readonly limits: Limits };

interface Decisions {
  take(record: DecisionRecord): void;
  /** Modes other than `active`, that of all strategies first. */
  held(): readonly Verdict[];
  readonly limits: Limits | undefined;
  /** Records from which this state can be rebuilt. */
  snapshot(): readonly DecisionRecord[];
}

/**
 * Halts and resumes that people and programs decided, as a kind of record of the journal.
 *
 * @returns a kind of record for a journal
 */
export const createDecisions = (): Decisions => {
  const verdicts = new Map<string, Verdict>();
  let limits: Limits | undefined;
  const held = (): readonly Verdict[] => [...verdicts.values()].sort((a, b) => (a.strategy < b.strategy ? -1 : 1));
  return {
    take: (record) => {
      if (record.type === "limits") ({ limits } = record);
      else if (record.mode === "active") verdicts.delete(record.strategy);
      else {
        const { strategy, mode, reason, full } = record;
        verdicts.set(strategy, { strategy, mode, reason, ...(full === true && { full }) });
      }
    },
    held,
    get limits() {
      return limits;
    },
    snapshot: () => [
      ...(limits === undefined ? [] : [{ type: "limits" as const, limits }]),
      ...held().map((verdict) => ({ type: "mode" as const, ...verdict })),
    ],
  };
};
