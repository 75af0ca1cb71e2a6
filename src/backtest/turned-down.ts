/**
 * Why orders came to nothing: the commonest reasons, by who gave them.
 *
 * Invariants: bounded however many reasons there are; equal counts are listed by text, so the list is the same everywhere.
 */
import type { Event } from "../journal/events.ts";

export interface TurnedDown {
  readonly count: number;
  /** `engine`: refused before it cost quota; `service`: rejected by the service. */
  readonly by: "engine" | "service";
  readonly reason: string;
}

export interface Reasons {
  readonly onEvent: (event: Event) => void;
  /** At most `most`, commonest first. */
  readonly list: (most?: number) => readonly TurnedDown[];
}

const distinctMax = 1_000;

export const createReasons = (): Reasons => {
  const counts = new Map<string, { count: number; readonly by: TurnedDown["by"]; readonly reason: string }>();
  const note = (by: TurnedDown["by"], reason: string): void => {
    const name = `${by} ${reason}`;
    const known = counts.get(name);
    if (known !== undefined) known.count++;
    else if (counts.size < distinctMax) counts.set(name, { count: 1, by, reason });
  };
  return {
    onEvent: (event) => {
      if (event.type === "order.refused") note("engine", event.reason);
      else if (event.type === "order.changed" && event.phase === "rejected") note("service", event.reason);
    },
    list: (most = 8) =>
      [...counts.values()]
        .sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1))
        .slice(0, most)
        .map(({ count, by, reason }) => ({ count, by, reason })),
  };
};
