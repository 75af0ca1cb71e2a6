/**
 * Measurements in processes of their own that take turns.
 *
 * Invariants: in each round every subject does the same work, the first of them another one each time; a subject that dies fails the
 * measurement; no process is left behind.
 */
import { execFileSync, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { many } from "./scenarios.mjs";

export const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

const fileOf = (name) => fileURLToPath(new URL(`./${name}`, import.meta.url));

/** Counts of one scenario by function. */
export const counted = (compiled, scenario, measure) =>
  JSON.parse(
    execFileSync(process.execPath, [fileOf("count.mjs"), compiled, scenario, measure], {
      encoding: "utf8",
      maxBuffer: 1 << 26,
    }),
  );

/** A process that answers each message with one. */
const started = async (file, args) => {
  const child = fork(fileOf(file), args, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const waiting = [];
  let ending;
  child.on("message", (answer) => waiting.shift()?.resolve(answer));
  child.on("exit", (code) => {
    ending = new Error(`${file} ${args[0]} ended with ${code}`);
    waiting.shift()?.reject(ending);
  });
  const answered = () =>
    new Promise((resolve, reject) => (ending === undefined ? waiting.push({ resolve, reject }) : reject(ending)));
  await answered();
  return {
    ask: (message) => {
      child.send(message);
      return answered();
    },
    end: () => child.kill(),
  };
};

/** The subjects by name, in an order that changes with each round. */
const rotated = (names, round) => names.map((_, index) => names[(index + round) % names.length]);

const inTurns = async (names, rounds, ask) => {
  const found = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const name of rotated(names, round)) found[name].push(await ask(name));
  }
  return found;
};

/** Backtests after which no more code is thrown away to be compiled anew: that happens as late as the seventh. */
const warmUps = 10;

const restingMoveCount = 3_000;

/** Processor time of warm backtests; `packages` are compiled folders by name, `costOf` what one measurement of a process gives. */
const warm = async (packages, rounds, costOf) => {
  const children = {};
  try {
    for (const [name, compiled] of Object.entries(packages)) children[name] = await started("time.mjs", [compiled]);
    for (let i = 0; i < warmUps; i++) for (const child of Object.values(children)) await costOf(child);
    return await inTurns(Object.keys(packages), rounds, (name) => costOf(children[name]));
  } finally {
    for (const child of Object.values(children)) child.end();
  }
};

/** Microseconds an order, the tape's quotes and the run's start taken off. */
export const warmOrders = (packages, scenario, rounds) =>
  warm(packages, rounds, async ({ ask }) => {
    const all = await ask({ scenario, orders: many });
    const none = await ask({ scenario, orders: 0 });
    return (all.us - none.us) / many;
  });

/** Re-quotes in a second of processor time. */
export const warmQuotes = (packages, rounds) =>
  warm(packages, rounds, async ({ ask }) => {
    const { us, done } = await ask({ scenario: "requotes" });
    return (done * 1e6) / us;
  });

/** Microseconds of a move beside so many resting orders: many moves less one, both with the same orders at rest. */
export const restingMoves = async (compiled, sizes, rounds) => {
  const child = await started("time.mjs", [compiled]);
  const usOf = async (resting, moves) => (await child.ask({ scenario: "resting", orders: { resting, moves } })).us;
  try {
    for (let i = 0; i < 3; i++) await usOf(sizes[0], restingMoveCount);
    return await inTurns(sizes, rounds, async (resting) => {
      const one = await usOf(resting, 1);
      return ((await usOf(resting, restingMoveCount)) - one) / (restingMoveCount - 1);
    });
  } finally {
    child.end();
  }
};

/** Milliseconds of a first backtest in a fresh process, modules loaded. */
export const coldOrders = (packages, scenario, rounds) =>
  inTurns(Object.keys(packages), rounds, async (name) => {
    const child = await started("time.mjs", [packages[name]]);
    try {
      return (await child.ask({ scenario, orders: many })).us / 1_000;
    } finally {
      child.end();
    }
  });

/** Addresses and keys of a service that has just been started; an error where it ends instead. */
const readyFacts = async (service) => {
  const died = once(service, "exit").then(([code]) => {
    throw new Error(`the service ended with ${code}`);
  });
  const [line] = await Promise.race([once(service.stdout, "data"), died]);
  died.catch(() => undefined);
  return JSON.parse(String(line));
};

/**
 * The client's side of actions at a service in another process: microseconds of processor time of an action, one figure a round, and
 * milliseconds on the wall of every action. `subjects` are names of live-client.mjs.
 */
export const liveActions = async (compiled, subjects, { rounds, actions, progress }) => {
  const checkout = fileURLToPath(new URL("../../..", import.meta.url));
  const service = spawn(process.execPath, ["src/cli/sluice.mjs", "venue", "--json", "--no-limits", "--seed", "bench"], {
    cwd: checkout,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const children = {};
  try {
    const { url, wsUrl, keys } = await readyFacts(service);
    const facts = JSON.stringify({ url, wsUrl, key: keys[0], compiled });
    for (const name of subjects) children[name] = await started("live-client.mjs", [name, facts]);
    for (let i = 0; i < 4; i++) {
      progress(`live, warm-up ${i + 1} of 4`);
      for (const child of Object.values(children)) await child.ask({ actions });
    }
    const found = await inTurns(subjects, rounds, async (name) => {
      progress(`live, ${name}`);
      return children[name].ask({ actions });
    });
    return Object.fromEntries(
      Object.entries(found).map(([name, all]) => [
        name,
        { us: all.map(({ us }) => us), wallMs: all.flatMap(({ wallMs }) => wallMs) },
      ]),
    );
  } finally {
    for (const child of Object.values(children)) child.end();
    service.kill();
  }
};

/** The value that a share of the others is not above: 0.99 for the 99th percentile. */
export const quantile = (values, share) => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
};
