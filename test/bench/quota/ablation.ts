/**
 * The limiter without each of its mechanisms in turn, on the row of the bench that needs it.
 *
 * Invariants: a mechanism whose absence changes no figure of its row fails the run: then either the row is the wrong one, or the
 * mechanism can go. The product has no switches: a part of the limiter is replaced by one that lacks the mechanism.
 */
import { CountLag } from "../../../src/scheduler/quota/count-lag.ts";
import { Floor } from "../../../src/scheduler/quota/floor.ts";
import { ForeignUsage, LateUsage } from "../../../src/scheduler/quota/foreign-usage.ts";
import { LearnedLimit } from "../../../src/scheduler/quota/learned-limit.ts";
import { OpenEnd } from "../../../src/scheduler/quota/open-end.ts";
import { type LimiterParts, limiterParts } from "../../../src/scheduler/quota/parts.ts";
import { ExitRate } from "../../../src/scheduler/quota/reserve.ts";
import { RoundTripTime } from "../../../src/scheduler/quota/server-clock.ts";
import { WindowLength } from "../../../src/scheduler/quota/window-length.ts";
import { WindowPhase } from "../../../src/scheduler/quota/window-phase.ts";
import { WindowUsage } from "../../../src/scheduler/quota/window-usage.ts";
import { scenarios } from "./all-scenarios.ts";
import { runCell } from "./cell.ts";
import type { Scenario } from "./scenarios.ts";
import { createSluice } from "./sluice.ts";
import { cellsOf, lineHead, lineOf } from "./table.ts";
import { addTallies, type Figures, figuresOf, type Tally } from "./tally.ts";

interface Ablation {
  readonly mechanism: string;
  /** The row that needs it. */
  readonly row: string;
  readonly without: Partial<LimiterParts>;
  /** What the service is no longer declared to do. */
  readonly undeclared?: Partial<Scenario["faults"]>;
}

class NoLag extends CountLag {
  override observe(): void {}
  override observeLone(): void {}
}

class NoFloor extends Floor {
  override refuse(): boolean {
    return false;
  }
  override doubt(): boolean {
    return false;
  }
}

class HastyFloor extends Floor {
  override mayLeave(): boolean {
    return true;
  }
}

class LastResortFloor extends Floor {
  override isBetter(): boolean {
    return false;
  }
}

class SlowFloor extends Floor {
  override landedBy(at: number): number {
    return at;
  }
}

class UnlearnedLimit extends LearnedLimit {
  override refuse(): "unmoved" {
    return "unmoved";
  }
}

class BoldLimit extends LearnedLimit {
  override most(): number {
    return Number.POSITIVE_INFINITY;
  }
}

class NoMissingKey extends WindowUsage {
  override learnMissing(): void {}
}

class NoShortfall extends WindowUsage {
  override learnShortfall(): void {}
}

class SteadyUsage extends WindowUsage {
  override get unsteady(): boolean {
    return false;
  }
}

class CredulousPhase extends WindowPhase {
  override expects(): boolean {
    return true;
  }
}

class UnprovedPhase extends WindowPhase {
  override proves(): boolean {
    return false;
  }
}

class ProvedPhase extends WindowPhase {
  override proves(): boolean {
    return true;
  }
}

class PunctualPhase extends WindowPhase {
  override learnLate(): boolean {
    return false;
  }
}

class StubbornPhase extends WindowPhase {
  override unlearnLate(): void {}
}

class BelievedLength extends WindowLength {
  override measure(): void {}
  override doubt(): void {}
}

class BlindEnd extends OpenEnd {
  override get looks(): boolean {
    return false;
  }
}

class FixedExits extends ExitRate {
  override note(): void {}
}

class NoForeign extends ForeignUsage {
  override margin(): number {
    return 0;
  }
}

class Unsurprised extends ForeignUsage {
  override surprised(): void {}
}

class NoLate extends LateUsage {
  override margin(): number {
    return 0;
  }
}

class FixedTrips extends RoundTripTime {
  override observe(): void {}
}

const ablations: readonly Ablation[] = [
  { mechanism: "floor", row: "slides-key", without: { floor: (spec) => new NoFloor(spec) } },
  { mechanism: "stay on the floor", row: "cached-key", without: { floor: (spec) => new HastyFloor(spec) } },
  {
    mechanism: "comparison with the floor",
    row: "weighed-key",
    without: { floor: (...of) => new LastResortFloor(...of) },
  },
  { mechanism: "round trips on the floor", row: "swell-key", without: { floor: (...of) => new SlowFloor(...of) } },
  { mechanism: "count lag", row: "behind-key", without: { lag: () => new NoLag() } },
  {
    mechanism: "learned limit",
    row: "user-cut",
    without: { limit: ({ capacity, windowMs }) => new UnlearnedLimit(capacity, windowMs) },
  },
  {
    mechanism: "half of a learned limit first",
    row: "user-cut",
    without: { limit: ({ capacity, windowMs }) => new BoldLimit(capacity, windowMs) },
  },
  { mechanism: "missing slots of a key", row: "key-cut", without: { usage: (isOurs) => new NoMissingKey(isOurs) } },
  {
    mechanism: "missing calls of an address",
    row: "address-cut",
    without: { usage: (isOurs) => new NoShortfall(isOurs) },
  },
  {
    mechanism: "slot for a call that arrives twice",
    row: "copies-key",
    without: { usage: (isOurs) => new SteadyUsage(isOurs) },
  },
  { mechanism: "own counts prove landing", row: "late-answers-key", without: { usage: () => new WindowUsage(false) } },
  {
    mechanism: "confirmation of falls",
    row: "garbage",
    without: { phase: (windowMs, clock) => new CredulousPhase(windowMs, clock) },
  },
  {
    mechanism: "proof of beginnings",
    row: "path-400",
    without: { phase: (windowMs, clock) => new UnprovedPhase(windowMs, clock) },
  },
  {
    mechanism: "entry by one call",
    row: "anchor-odd",
    without: { phase: (windowMs, clock) => new ProvedPhase(windowMs, clock) },
  },
  {
    mechanism: "late beginnings",
    row: "late-minutes",
    without: { phase: (windowMs, clock) => new PunctualPhase(windowMs, clock) },
  },
  {
    mechanism: "late beginnings taken back",
    row: "limits-move-key",
    without: { phase: (windowMs, clock) => new StubbornPhase(windowMs, clock) },
  },
  {
    mechanism: "proof of a minute's length",
    row: "slow-windows",
    without: { phase: (windowMs, clock) => new WindowPhase(windowMs, clock, new BelievedLength(windowMs, 0)) },
  },
  {
    mechanism: "doubt of a second's length",
    row: "slow-windows-key",
    without: { phase: (windowMs, clock) => new WindowPhase(windowMs, clock, new BelievedLength(windowMs)) },
  },
  { mechanism: "declared changes", row: "limits-declared", without: {}, undeclared: { announced: false } },
  { mechanism: "doubt of other layers", row: "cached", without: { floor: (spec) => new Floor(spec) } },
  {
    mechanism: "looks for a window's end",
    row: "late-minutes",
    without: { openEnd: ({ capacity, windowMs }) => new BlindEnd(capacity, windowMs) },
  },
  { mechanism: "forecast of exits", row: "storms", without: { exits: (startedAt) => new FixedExits(startedAt) } },
  { mechanism: "others' use", row: "C", without: { foreign: () => new NoForeign() } },
  { mechanism: "caution after a refusal", row: "five-engines", without: { foreign: () => new Unsurprised() } },
  { mechanism: "others' exits", row: "five-engines", without: { late: () => new NoLate() } },
  { mechanism: "round trips", row: "S500", without: { trips: () => new FixedTrips() } },
];

const minutes = 30;
const seeds = [1, 2];

const figuresWith = async (
  row: string,
  parts: Partial<LimiterParts>,
  undeclared: Partial<Scenario["faults"]> = {},
): Promise<Figures> => {
  const scenario = scenarios[row] as Scenario;
  const tallies: Tally[] = [];
  for (const seed of seeds) {
    tallies.push(
      await runCell({
        scenario: { ...scenario, faults: { ...scenario.faults, ...undeclared } },
        seed,
        minutes,
        createLimiter: createSluice({}, undefined, undefined, { ...limiterParts, ...parts }),
      }),
    );
  }
  return figuresOf(addTallies(tallies));
};

/** Prints each mechanism's row with and without it; tells whether each changes a figure. */
export const runAblations = async (): Promise<boolean> => {
  const whole = new Map<string, Figures>();
  const idle: string[] = [];
  process.stdout.write(`${lineOf(lineHead)}  without\n`);
  for (const { mechanism, row, without, undeclared } of ablations) {
    const figures = whole.get(row) ?? (await figuresWith(row, {}));
    whole.set(row, figures);
    const ablated = await figuresWith(row, without, undeclared);
    const isIdle = JSON.stringify(ablated) === JSON.stringify(figures);
    if (isIdle) idle.push(`${mechanism}: its absence changes no figure of ${row}`);
    process.stdout.write(`${lineOf([row, ...cellsOf(figures)])}\n${lineOf(["", ...cellsOf(ablated)])}  ${mechanism}\n`);
  }
  for (const text of idle) process.stdout.write(`FAIL  ${text}\n`);
  return idle.length === 0;
};
