/** Records engines on a virtual clock into temporary folders, and replays what was recorded. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type RecordedEngine, type RecordOptions, recordEngine } from "../../../../plugins/session/recorded-engine.ts";
import { type ReplayReport, replaySession } from "../../../../plugins/session/replayer.ts";
import { createSessionFile, readSession } from "../../../../plugins/session/session-file.ts";
import type { SessionSink } from "../../../../plugins/session/session-recorder.ts";
import type { SessionRecord } from "../../../../plugins/session/session-records.ts";
import { constant, type PaperOptions, paper } from "../../../../src/backtest.ts";
import type { OpenService, ServiceEnv } from "../../../../src/client/service-port.ts";
import { letPromisesSettle } from "../../../../src/clock/microtasks.ts";
import { createVirtualClock, type VirtualClock } from "../../../../src/clock/virtual-clock.ts";
import { type Config, defineStrategy, type Strategy, type StrategyDefinition } from "../../../../src/index.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

let count = 0;

export const newFolder = (): string => join(temporaryFolder("session"), `session-${count++}`);

export const closed = { type: "object", additionalProperties: false, properties: {} } as const;

/** A strategy without options. */
export const strategy = (
  name: string,
  parts: Pick<StrategyDefinition<typeof closed, object>, "wanted" | "run">,
): Strategy => defineStrategy({ name, options: closed, ...parts })({});

export interface Take extends Partial<Omit<Config, "service" | "strategies">> {
  readonly ms?: number;
  readonly paper?: Omit<PaperOptions, "clock">;
  readonly record?: RecordOptions;
  /** What the service says of itself beside what it is: that its list of products cannot change, or that it is one of real money. */
  readonly says?: Pick<OpenService, "listFixed" | "watchful">;
  /** Called when the engine has started, and may ask things of it. */
  readonly during?: (engine: RecordedEngine, clock: VirtualClock) => void;
  readonly cancel?: boolean;
}

export interface Recording {
  readonly dir: string;
  readonly config: Config;
}

/** Turns the clock until `until`, letting everything that came in have its turn after each step. */
export const drive = async (engine: RecordedEngine, clock: VirtualClock, until: number): Promise<void> => {
  await engine.settled();
  while (clock.step(until)) await engine.settled();
};

/** Resolves once `holds`; the bound is only there to end a test that cannot pass. */
const until = async (holds: () => boolean): Promise<void> => {
  const givenUpAt = performance.now() + 10_000;
  while (!holds() && performance.now() < givenUpAt) await letPromisesSettle();
};

export const record = async (strategies: readonly Strategy[], take: Take = {}): Promise<Recording> => {
  const { ms = 10_000, paper: options = {}, record: recordOptions = {}, says, during, cancel = false, ...rest } = take;
  const clock = createVirtualClock(1_767_575_000_000.25);
  const playing = paper({ instruments: ["BTC-USDT-SWAP"], latency: constant(7), ...options, clock });
  const service =
    says === undefined
      ? playing
      : { ...playing, baseUrl: "http://127.0.0.1:1", open: (env: ServiceEnv) => ({ ...playing.open(env), ...says }) };
  const config: Config = { service, strategies, ...rest };
  const dir = newFolder();
  const engine = recordEngine(config, (facts) => createSessionFile(dir, facts), recordOptions);
  let ready = false;
  const start = engine.start().finally(() => {
    ready = true;
  });
  start.catch(() => undefined);
  // A journal's lock waits for the machine and not for the clock.
  await until(() => ready || clock.nextAt() < Number.POSITIVE_INFINITY);
  await drive(engine, clock, clock.now() + 2_000);
  await start;
  during?.(engine, clock);
  await drive(engine, clock, clock.now() + ms);
  const stop = engine.stop({ cancel });
  stop.catch(() => undefined);
  await drive(engine, clock, clock.now() + 5_000);
  if (rest.journal === undefined) await stop;
  else await stop.catch(() => undefined);
  return { dir, config };
};

export const replayed = ({ dir, config }: Recording, changes: Partial<Config> = {}): Promise<ReplayReport> =>
  replaySession(readSession(dir), { ...config, ...changes });

export const fileOf = (dir: string): string => join(dir, "session.ndjson");
export const linesOf = (dir: string): string[] => readFileSync(fileOf(dir), "utf8").split("\n").slice(0, -1);
export const rewrite = (dir: string, lines: readonly string[]): void => {
  writeFileSync(fileOf(dir), lines.map((line) => `${line}\n`).join(""));
};

/** A sink that keeps everything in memory. */
export const memory = () => {
  const records: SessionRecord[] = [];
  const ends: string[] = [];
  const sink: SessionSink = {
    begin: () => undefined,
    write: (record) => records.push(record),
    flush: () => undefined,
    end: (why) => ends.push(why),
  };
  return { records, ends, sink };
};
