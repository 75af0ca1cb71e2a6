/**
 * What the command line asks for.
 *
 * Invariants: an unknown scenario, limiter or option is an error that names what there is; `minutes` is shared out evenly
 * among the seeds.
 */
import { parseArgs } from "node:util";
import { SluiceError } from "../../../src/errors.ts";
import { scenarios } from "./all-scenarios.ts";
import { exotic } from "./exotic.ts";
import { groups } from "./groups.ts";
import { type Contender, contendersOf, roster } from "./roster.ts";
import { troubles } from "./troubles.ts";
import { unlisted } from "./unlisted.ts";

export interface Options {
  readonly scenarios: readonly string[];
  readonly contenders: readonly Contender[];
  readonly seeds: number;
  readonly minutesPerSeed: number;
  readonly jobs: number;
  readonly json: boolean;
  /** One line a row, for judging a change. */
  readonly lines: boolean;
  /** File with the `--json` output of an earlier run, whose figures are printed beside those of this one. */
  readonly against: string | undefined;
}

/** Enough to see that a change spoils something, in about two seconds a scenario. */
const quick = { seeds: "2", minutes: "40", peers: "none", ours: "default,shared" };

/** Rows that between them need every mechanism of the limiter. */
export const chosen: readonly string[] = [
  ...["A", "B", "C", "D", "E", "F", "G", "K", "L", "S500"],
  ...["anchor-odd-key", "date-steps", "dateless-key", "behind-key", "bare-key", "sliding-key", "address-cut"],
  ...["address-neighbour", "key-cut", "user-cut", "user-back", "path-400", "lost-key", "pareto-key", "copies-key"],
  ...["drift-key", "beside", "storms", "uneven-key", "drift-light", "counts-before", "stranger-bursts", "limits-move"],
  ...["slides-key", "slides-user", "cached", "cached-key", "rare-counts-stranger", "another-key", "another-user"],
  ...["garbage-key", "nodes", "nodes-key", "late-minutes", "leaky-key", "slow-windows", "slow-windows-key"],
  ...["five-engines", "light-beside"],
];

const usage = (message: string): SluiceError => new SluiceError("USAGE", message);

const wholeOf = (name: string, text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw usage(`--${name} "${text}" is not a whole number above zero; write --${name} 5.`);
  return value;
};

const scenariosOf = (text: string): string[] => {
  const sweep = Object.keys(scenarios).filter((id) => /^S\d/.test(id));
  const sets: Readonly<Record<string, readonly string[]>> = {
    all: Object.keys(scenarios),
    sweep,
    troubles: Object.keys(troubles),
    exotic: Object.keys(exotic),
    unlisted: Object.keys(unlisted),
    groups: Object.keys(groups),
    chosen,
  };
  const ids = text.split(",").flatMap((id) => sets[id] ?? [id]);
  for (const id of ids) {
    if (scenarios[id] === undefined) {
      throw usage(
        `--scenario "${id}" does not exist; there are ${Object.keys(scenarios).join(", ")}, sweep, troubles, exotic, unlisted, groups, chosen and all.`,
      );
    }
  }
  return ids;
};

/** Ours runs whatever is asked; `name` means all configurations of a limiter and `name / configuration` one. */
const entrantsOf = (text: string): Contender[] => {
  const known = contendersOf(roster);
  const ours = known.filter(({ role }) => role === "ours");
  if (text === "none") return ours;
  if (text === "all") return known;
  const picked = text.split(",").flatMap((name) => {
    const found = known.filter(({ label }) => label === name || label.startsWith(`${name} / `));
    if (found.length === 0)
      throw usage(
        `--peers "${name}" is not compared here; there are ${roster.map((entrant) => entrant.name).join(", ")}.`,
      );
    return found;
  });
  return [...ours, ...picked.filter(({ role }) => role !== "ours")];
};

export const optionsFrom = (args: readonly string[]): Options => {
  let values: {
    scenario: string;
    minutes: string;
    seeds: string;
    peers: string;
    jobs: string;
    json: boolean;
    ours: string;
    quick: boolean;
    "without-ours": boolean;
    lines: boolean;
    against?: string;
  };
  try {
    ({ values } = parseArgs({
      args: [...args],
      options: {
        scenario: { type: "string", default: "A,B,C,D,E,F,G,J,K,L,groups" },
        minutes: { type: "string", default: "100" },
        seeds: { type: "string", default: "5" },
        peers: { type: "string", default: "all" },
        jobs: { type: "string", default: "1" },
        json: { type: "boolean", default: false },
        ours: { type: "string", default: "all" },
        quick: { type: "boolean", default: false },
        "without-ours": { type: "boolean", default: false },
        lines: { type: "boolean", default: false },
        against: { type: "string" },
      },
    }));
  } catch (cause) {
    throw usage(`${cause instanceof Error ? cause.message : String(cause)}; see test/bench/quota/README.md.`);
  }
  if (values.quick) values = { ...values, ...quick };
  const seeds = wholeOf("seeds", values.seeds);
  const minutes = wholeOf("minutes", values.minutes);
  if (minutes % seeds !== 0)
    throw usage(`--minutes ${minutes} cannot be shared out among ${seeds} seeds; make it a multiple.`);
  const runs = (configuration: string): boolean =>
    !values["without-ours"] && (values.ours === "all" || values.ours.split(",").includes(configuration));
  return {
    scenarios: scenariosOf(values.scenario),
    contenders: entrantsOf(values.peers).filter(({ configuration, role }) => role !== "ours" || runs(configuration)),
    seeds,
    minutesPerSeed: minutes / seeds,
    jobs: wholeOf("jobs", values.jobs),
    json: values.json,
    lines: values.lines,
    against: values.against,
  };
};
