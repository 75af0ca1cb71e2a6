/**
 * One measurement in a process of its own: node --expose-gc measure.mjs <compiled bench> <subject> <measure> <calls>, a JSON
 * line on stdout. The measure `alone` has no subject but ours: give it any name.
 *
 * Invariants: real clock, real timers; the limiter has served one call before the measurement begins.
 */
import { pathToFileURL } from "node:url";
import { subjects } from "./subjects.mjs";

const noLimit = 1e9;
const task = { weight: 1, urgent: false };
const urgentTask = { weight: 1, urgent: true };
const answer = { status: 200, headers: {} };
const send = async () => answer;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const secondsMax = 30;

/** Every limit off: what a call costs from submission to its end, all submitted at once. */
const throughput = async (create, calls) => {
  const turn = create(noLimit, noLimit);
  await turn(task, send);
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  let ended = 0;
  const all = [];
  for (let i = 0; i < calls; i++) all.push(turn(task, send).then(() => ended++));
  await Promise.race([Promise.all(all), pause(secondsMax * 1_000)]);
  const wallMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpu);
  return { ended, nsPerCall: (wallMs * 1e6) / ended, cpuNsPerCall: ((user + system) * 1_000) / ended };
};

/** A minute that is spent: what a waiting call weighs in memory. */
const memory = async (create, calls) => {
  const turn = create(1_000, noLimit);
  await turn(task, send);
  for (let i = 0; i < 2_000; i++) void turn(task, send);
  await pause(200);
  globalThis.gc();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < calls; i++) void turn(task, send);
  await pause(200);
  globalThis.gc();
  return { bytesPerCall: (process.memoryUsage().heapUsed - before) / calls };
};

/** Ten calls a second and all others waiting: how long an urgent one takes to be sent, and how many went before it. */
const urgent = async (create, calls) => {
  const turn = create(noLimit, 10);
  await turn(task, send);
  let sent = 0;
  const counted = async () => {
    sent += 1;
    return answer;
  };
  for (let i = 0; i < calls; i++) void turn(task, counted);
  await pause(1);
  const before = sent;
  const startedAt = performance.now();
  const ms = await Promise.race([
    new Promise((resolve) => {
      void turn(urgentTask, async () => {
        resolve(performance.now() - startedAt);
        return answer;
      });
    }),
    pause(secondsMax * 1_000).then(() => null),
  ]);
  return { urgentMs: ms, overtakenBy: sent - before };
};

/** Ours without promises, closures and timers of the caller's; the least of several waves, as the machine is shared. */
const alone = async (compiled, calls) => {
  const { costsOf } = await import(`${compiled}/alone.js`);
  const { bare, charging, queueing } = await import(`${compiled}/floors.js`);
  const { least } = await import(`${compiled}/stopwatch.js`);
  const collect = () => {
    globalThis.gc?.();
  };
  const lives = (play) => Array.from({ length: 7 }, play);
  // The parts come first: the ledger takes twice the time in a process whose code has served a scheduler.
  const parts = {
    bare: least(lives(() => bare(calls, collect))),
    charging: least(lives(() => charging(calls, collect))),
    queueing: least(lives(() => queueing(calls, false, collect))),
    shuffled: least(lives(() => queueing(calls, true, collect))),
  };
  const bursts = costsOf(calls, noLimit, 7, collect);
  const turns = costsOf(calls, 1_000, 7, collect);
  return {
    ...parts,
    burst: least(bursts.map(({ total }) => total)),
    first: bursts[0].total,
    submit: least(bursts.map(({ submit }) => submit)),
    turns: least(turns.map(({ total }) => total)),
    bytesPerCall: Math.min(...bursts.map(({ bytesPerEntry }) => bytesPerEntry)),
  };
};

const measures = { throughput, memory, urgent };
const [folder, name, measure, calls] = process.argv.slice(2);
const compiled = pathToFileURL(folder).href;
const measureSubject = async () => {
  const create = await subjects[name].load(compiled);
  if (create === undefined) throw new Error(`${name} exports no such limiter`);
  return await measures[measure](create, Number(calls));
};
const result = await (measure === "alone" ? alone(compiled, Number(calls)) : measureSubject());
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
