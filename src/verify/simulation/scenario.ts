/**
 * Tells one story: a config, a seed, a list of faults, from the first process to the last timer.
 *
 * Invariants: the same story gives the same events on every machine; it ends at the first violation; nothing is left behind in
 * this process.
 */
import { createHash } from "node:crypto";
import type { BacktestSpec } from "../../backtest/backtest-service.ts";
import { lognormal } from "../../backtest/latency.ts";
import { watchPromises } from "../../clock/microtasks.ts";
import type { CheckedConfig } from "../../host/config.ts";
import type { Tape } from "../../market/tape/tape.ts";
import { createMarks, type Marks } from "./coverage-marks.ts";
import { bendTape } from "./distorted-tape.ts";
import { createWorld, type World } from "./environment.ts";
import type { Fault } from "./fault.ts";
import { createHappenings } from "./fault-handlers.ts";
import { checkQuiet, checkStopped } from "./final-checks.ts";
import type { Violation } from "./invariants.ts";
import { createPlay } from "./play.ts";
import { createCompany } from "./process-supervisor.ts";

export interface Story {
  readonly config: CheckedConfig;
  readonly tape: Tape;
  readonly seed: string;
  readonly minutes: number;
  readonly faults: readonly Fault[];
  /** Plugins of the config take part too. */
  readonly plugins: boolean;
}

export interface Ending {
  readonly violations: readonly Violation[];
  /** SHA-256 of everything the engines said. */
  readonly hash: string;
  readonly events: number;
  readonly steps: number;
  readonly lives: number;
  readonly requests: number;
  readonly refused: number;
  readonly excused: number;
  readonly weight: number;
  /** Simulated milliseconds. */
  readonly ms: number;
}

export interface TellOptions {
  readonly marks?: Marks;
  /** Each line of the story, with milliseconds after the market began. */
  readonly onLine?: (at: number, line: string) => void;
}

const quietMs = 300_000;
const afterStopMs = 190_000;

export const tellStory = async (story: Story, { marks = createMarks(), onLine }: TellOptions = {}): Promise<Ending> => {
  const { config, seed, minutes, faults, plugins } = story;
  const { startAt } = story.tape;
  const tape = bendTape(story.tape, faults, startAt);
  const hash = createHash("sha256");
  let events = 0;
  const tell = onLine ?? (() => undefined);
  const world = createWorld({ config, tape, startAt, seed, faults, marks, tell });
  const company = createCompany(world, {
    seed: `${String(config.seed)}/${seed}`,
    plugins,
    log: (event) => {
      events++;
      hash.update(JSON.stringify(event));
    },
  });
  const happen = createHappenings(world, company);
  const promises = watchPromises();
  const failed = catchRejections(world);
  const { latency = lognormal({ medianMs: 25 }) } = (config.service as Partial<BacktestSpec>).options ?? {};
  const play = createPlay(world, company, promises, latency);
  const { time } = world;
  try {
    for (const fault of faults) {
      time.setTimer(startAt + fault.at, () => {
        happen(fault);
      });
    }
    company.begin();
    await play.to(startAt + minutes * 60_000);
    if (world.violations.length === 0) await goQuiet(world, company, play);
    if (world.violations.length === 0) {
      const life = company.current;
      company.retire();
      await play.to(time.now() + afterStopMs, () => company.retired && life?.state === "over");
      if (world.violations.length === 0) checkStopped(world);
      await play.to(time.now() + afterStopMs);
    }
  } finally {
    await discard(company);
    promises.stop();
    failed.stop();
  }
  const { requests, weight } = world.venue.meterReport();
  return {
    violations: world.violations,
    hash: hash.digest("hex"),
    events,
    steps: play.steps,
    lives: company.lives,
    requests,
    weight,
    ...world.quota.counts,
    ms: time.now() - startAt,
  };
};

type CompanyOf = ReturnType<typeof createCompany>;
type PlayOf = ReturnType<typeof createPlay>;

const goQuiet = async (world: World, company: CompanyOf, play: PlayOf): Promise<void> => {
  world.tell("QUIET: nothing goes wrong from here on");
  world.network.calm();
  for (const pushes of world.pushes.values()) pushes.calm();
  world.lags.pendingOrders = undefined;
  world.lags.orderHistory = undefined;
  world.refusal = undefined;
  world.disk.calm();
  company.calm();
  await play.to(world.time.now() + quietMs / 2);
  company.calm();
  await play.to(world.time.now() + quietMs / 2);
  if (world.violations.length === 0) await checkQuiet(world, company.current, play);
};

/** Whatever is left is killed, so that the next story begins alone. */
const discard = async (company: CompanyOf): Promise<void> => {
  company.current?.clock.kill();
  company.current?.abandon();
  await company.current?.engine.stop().catch(() => undefined);
  company.current?.feed.complete();
};

const catchRejections = (world: World): { stop(): void } => {
  const note = (error: unknown): void => {
    world.fail("I12", `a promise failed unseen: ${error instanceof Error ? error.message : String(error)}`);
  };
  process.on("unhandledRejection", note);
  return {
    stop: () => {
      process.off("unhandledRejection", note);
    },
  };
};
