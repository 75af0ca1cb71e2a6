/**
 * Why orders came to nothing: the commonest reasons, by who gave them.
 *
 * Invariants: reasons that differ only in numbers or ids are one reason, except that a code the service gave always
 * tells them apart; bounded however many there are, and what the bound leaves out is counted; equal counts are listed
 * by text, so the list is the same everywhere.
 */
import type { Event } from "../journal/events.ts";

/** Why orders were refused or rejected, and how many. */
export interface RejectionReason {
  readonly count: number;
  /** `engine`: refused before it cost quota; `service`: rejected by the service. */
  readonly by: "engine" | "service";
  /** Text with … in the place of numbers in which the orders differ. */
  readonly reason: string;
  /** The strategies it happened to. */
  readonly strategies: readonly string[];
  /** The first of these orders, in full. */
  readonly example: { readonly strategy: string; readonly slot: string; readonly reason: string };
}

/** Number of reasons and orders that a list of the commonest reasons leaves out. */
export interface MoreRejections {
  readonly reasons: number;
  readonly orders: number;
}

interface Group {
  count: number;
  readonly by: RejectionReason["by"];
  readonly pattern: string;
  /** All orders of the group so far have the same text. */
  same: boolean;
  readonly strategies: Set<string>;
  readonly example: RejectionReason["example"];
}

const distinctMax = 1_000;
const mostDefault = 8;

export class RejectionReasons {
  readonly #groups = new Map<string, Group>();
  /** Orders of reasons beyond the bound. */
  #beyond = 0;

  onEvent(event: Event): void {
    if (event.type === "order.refused") this.#note("engine", event);
    else if (event.type === "order.changed" && event.phase === "rejected") this.#note("service", event);
  }

  /** Returns at most `most` reasons, commonest first. */
  list(most = mostDefault): readonly RejectionReason[] {
    return this.#sorted().slice(0, most).map(rowOf);
  }

  /** Returns what `list` with the same bound leaves out. */
  more(most = mostDefault): MoreRejections {
    const rest = this.#sorted().slice(most);
    return { reasons: rest.length, orders: rest.reduce((total, { count }) => total + count, this.#beyond) };
  }

  #note(by: RejectionReason["by"], { strategy, slot, reason }: RejectionReason["example"]): void {
    const pattern = patternOf(reason);
    const name = `${by} ${pattern}`;
    const known = this.#groups.get(name);
    if (known !== undefined) {
      known.count++;
      known.same &&= known.example.reason === reason;
      known.strategies.add(strategy);
    } else if (this.#groups.size < distinctMax) {
      this.#groups.set(name, {
        count: 1,
        by,
        pattern,
        same: true,
        strategies: new Set([strategy]),
        example: { strategy, slot, reason },
      });
    } else this.#beyond++;
  }

  #sorted(): readonly Group[] {
    return [...this.#groups.values()].sort((a, b) => b.count - a.count || (a.pattern < b.pattern ? -1 : 1));
  }
}

const rowOf = ({ count, by, pattern, same, strategies, example }: Group): RejectionReason => ({
  count,
  by,
  reason: same ? example.reason : pattern,
  strategies: [...strategies],
  example,
});

const code = /^\d{4,6}(?= )/;
// Words of eight characters or more that hold a digit are ids; a word of digits alone is a number.
const varying = /\b(?=[A-Za-z]*\d)[A-Za-z\d]{8,}\b|(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?(?!\w)/g;

const patternOf = (reason: string): string => {
  const [lead = ""] = code.exec(reason) ?? [];
  return lead + reason.slice(lead.length).replace(varying, "…");
};
