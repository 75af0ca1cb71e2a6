/**
 * Who is compared: the limiter, the file that holds it, its configurations.
 *
 * Invariants: ours comes first; the references come last; a peer is loaded in its own worker only.
 */

export interface Entrant {
  readonly name: string;
  readonly module: string;
  readonly configurations: readonly string[];
  readonly role: "ours" | "peer" | "reference";
}

export const roster: readonly Entrant[] = [
  { name: "sluice", module: "./sluice.ts", configurations: ["shared", "default", "paced"], role: "ours" },
  {
    name: "ccxt",
    module: "./peers/ccxt.mjs",
    configurations: [
      "leakyBucket / nominal",
      "leakyBucket / careful",
      "rollingWindow as shipped / nominal",
      "rollingWindow x2 / nominal",
      "rollingWindow x2 / careful",
    ],
    role: "peer",
  },
  {
    name: "bottleneck",
    module: "./peers/bottleneck.mjs",
    configurations: ["nominal", "careful", "headers", "split", "chain() / nominal"],
    role: "peer",
  },
  { name: "p-queue", module: "./peers/p-queue.mjs", configurations: ["nominal", "careful"], role: "peer" },
  { name: "p-throttle", module: "./peers/p-throttle.mjs", configurations: ["nominal", "careful"], role: "peer" },
  { name: "limiter", module: "./peers/limiter.mjs", configurations: ["nominal", "careful"], role: "peer" },
  {
    name: "rate-limiter-flexible",
    module: "./peers/rate-limiter-flexible.mjs",
    configurations: ["nominal", "careful"],
    role: "peer",
  },
  { name: "hand-written", module: "./peers/hand-written.mjs", configurations: ["nominal", "careful"], role: "peer" },
  { name: "reference", module: "./reference.ts", configurations: ["oracle", "greedy"], role: "reference" },
];

export interface Contender {
  readonly label: string;
  readonly module: string;
  readonly configuration: string;
  readonly role: Entrant["role"];
}

export const contendersOf = (entrants: readonly Entrant[]): Contender[] =>
  entrants.flatMap(({ name, module, configurations, role }) =>
    configurations.map((configuration) => ({ label: `${name} / ${configuration}`, module, configuration, role })),
  );
