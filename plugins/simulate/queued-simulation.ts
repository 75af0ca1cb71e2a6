/**
 * A simulation whose seeds are played by workers on other machines.
 *
 * Invariants: the summary is that of one process which plays the seeds in turn and ends after the same failures, except
 * for the elapsed time; seeds that were played before are not played again.
 * Not here: the queue (`sluice/plugins/sweep`), the worker side (simulation-work.ts).
 */
import { resolve } from "node:path";
import { SluiceError } from "sluice";
import {
  type CheckedConfig,
  checkConfig,
  hashOfConfig,
  hashOfSources,
  packageVersion,
  readManifest,
} from "sluice/extension";
import { placeBelow, QueueSubmitter, type SubmitterOptions, type WorkSheet } from "sluice/plugins/sweep";
import { fixtureOf } from "./seed-parts.ts";
import type { SeedAnswer, SeedJob } from "./seed-thread.ts";
import { failuresMaxDefault, joinSummaries, type Summary } from "./simulation.ts";

interface Asked {
  readonly seeds: number;
  readonly first: number;
  readonly minutes: number;
  readonly fixture?: string;
  readonly plugins?: boolean;
}

export interface QueuedRun extends Omit<SubmitterOptions, "durable"> {
  readonly onSeed: (seed: number) => void;
  readonly signal?: AbortSignal;
}

export const simulateOnWorkers = async (
  path: string,
  input: unknown,
  asked: Asked,
  run: QueuedRun,
): Promise<Summary> => {
  const { clock, signal, onSeed, url, onNotice } = run;
  const sheet = sheetOf(path, checkConfig(input), asked);
  const startedAt = clock.now();
  const answers = {
    failed: (error: string): SeedAnswer => ({ error }),
    again: (answer: SeedAnswer) => "error" in answer,
  };
  const submitter = await QueueSubmitter.open<SeedJob, SeedAnswer>(sheet, answers, {
    url,
    clock,
    onNotice,
    durable: false,
  });
  const stop = (): void => void submitter.close();
  signal?.addEventListener("abort", stop, { once: true });
  if (signal?.aborted === true) stop();
  const played = new InTurn(asked);
  try {
    await submitter.run(
      Array.from({ length: asked.seeds }, (_, at) => ({ index: asked.first + at })),
      ({ index }, answer) => {
        played.add(index, answer);
        onSeed(index);
        if (played.isOver) stop();
      },
    );
  } finally {
    signal?.removeEventListener("abort", stop);
    await submitter.close();
  }
  return { ...played.summary(), elapsedMs: Math.round(clock.now() - startedAt) };
};

const sheetOf = (path: string, config: CheckedConfig, { minutes, fixture, plugins = false }: Asked): WorkSheet => {
  const name = fixtureOf(config, fixture);
  return {
    kind: "simulation",
    version: packageVersion(),
    config: { path: placeBelow(path), sources: hashOfSources(path), hash: hashOfConfig(path, config) },
    ...(name !== undefined && { fixture: { name, contentHash: readManifest(resolve(name)).contentHash } }),
    settings: { minutes, plugins },
  };
};

/** Summaries of seeds, joined in their order up to the last failure that counts. */
class InTurn {
  readonly #asked: Asked;
  readonly #waiting = new Map<number, Summary>();
  #next: number;
  #joined: Summary | undefined;

  constructor(asked: Asked) {
    this.#asked = asked;
    this.#next = asked.first;
  }

  /** Nothing that comes now changes the summary. */
  get isOver(): boolean {
    const { seeds, first } = this.#asked;
    return this.#next >= first + seeds || (this.#joined?.failures.length ?? 0) >= failuresMaxDefault;
  }

  add(seed: number, answer: SeedAnswer): void {
    if ("error" in answer)
      throw new SluiceError("STRATEGY_FAILED", `seed ${seed} could not be played: ${answer.error}`);
    this.#waiting.set(seed, answer.summary);
    for (
      let next = this.#waiting.get(this.#next);
      next !== undefined && !this.isOver;
      next = this.#waiting.get(this.#next)
    ) {
      this.#waiting.delete(this.#next++);
      this.#joined = this.#joined === undefined ? next : joinSummaries([this.#joined, next]);
    }
  }

  summary(): Summary {
    if (this.#joined !== undefined && this.isOver) return this.#joined;
    const left = this.#asked.seeds - (this.#next - this.#asked.first) - this.#waiting.size;
    throw new SluiceError(
      "STOPPED",
      `Stopped with ${left} of ${this.#asked.seeds} scenarios missing. Results are kept with the queue: ask for the same again to go on.`,
    );
  }
}
