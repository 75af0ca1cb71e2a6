/**
 * One story of the crash matrix: a life that dies at one step of the disk or of the wire, and the life after it.
 *
 * Invariants: the same seed, step and fate give the same story; what a dead life had sent arrives or is lost as its seed says.
 */
import { concat, NEVER, of } from "rxjs";
import { map } from "rxjs/operators";
import { after } from "../../../src/clock/clock.ts";
import { createRandom } from "../../../src/random.ts";
import { begun, crash, Dead, far, lifeOf, pass, resting, stop, worldOf } from "../harness/engine.ts";

export interface CrashCase {
  /** What becomes of bytes that were written and not flushed. */
  readonly fate: "lost" | "kept" | "torn";
  /** The first life dies at this step of the disk or the wire; 0: at none, it is killed from outside after six seconds. */
  readonly stopAt: number;
  readonly seed: string;
  /** The service can change orders. */
  readonly amends?: boolean;
}

export interface CrashEnd {
  /** What the first life did, in order, as far as it came. */
  readonly steps: readonly string[];
  readonly problems: readonly string[];
}

const wantedInTheEnd = ["29000", "30001"];

/** Seed 0 is a quiet one: nothing but the crash goes wrong. */
export const crashStory = async ({ fate, stopAt, seed, amends = false }: CrashCase): Promise<CrashEnd> => {
  const world = worldOf(amends ? { capabilities: { amend: true } } : {});
  const chance = createRandom(`${seed}/${fate}/${stopAt}`);
  const rough = seed !== "0";
  const steps: string[] = [];
  const early = [far("a", "30000"), far("b", "29000")];
  const late = [far("a", "30001"), far("b", "29000")];
  world.wanted$ = concat(of(early), after(world.clock, 2_000).pipe(map(() => late)), NEVER);
  if (rough) {
    // From a moment to longer than the next life takes to look through every list.
    world.placementMs = Math.round(5 * 5_000 ** chance.next());
    const lossy = chance.next() < 0.5;
    world.lose = ({ endpoint }) => {
      if (!lossy || !["placeOrder", "amendOrder", "cancelBatch"].includes(endpoint)) return undefined;
      const fateOfRequest = chance.next();
      return fateOfRequest < 0.2 ? "request" : fateOfRequest < 0.5 ? "answer" : undefined;
    };
  }
  world.step = (what) => {
    steps.push(what);
    if (steps.length === stopAt) throw new Dead();
  };
  const first = lifeOf(world);
  first.engine.start().catch(() => undefined);
  await pass(world, 6_000);
  await crash(world, first);
  world.disk.crash(fate, chance);
  await pass(world, rough ? Math.round(10 * 3_000 ** chance.next()) : 0);
  // A calendar may be set while nobody looks.
  if (rough) world.wallOffsetMs = [0, 0, 3_600_000, -3_600_000][chance.whole(0, 3)] ?? 0;
  Object.assign(world, {
    step: () => undefined,
    lose: () => undefined,
    placementMs: 20,
    wanted$: concat(of(late), NEVER),
  });
  const second = await begun(world);
  await pass(world, 150_000);
  const problems: string[] = [];
  const rests = resting(world);
  if (rests.join() !== wantedInTheEnd.join())
    problems.push(`rests ${rests.join(", ") || "nothing"} instead of ${wantedInTheEnd.join(", ")}`);
  for (const event of second.events) {
    if (
      event.type === "order.changed" &&
      event.phase === "absent" &&
      world.venue.truth("main").orders.some(({ clOrdId }) => clOrdId === event.clOrdId)
    )
      problems.push(`${event.clOrdId} was taken for absent and exists`);
  }
  await stop(world, second.engine);
  return { steps, problems };
};
