/**
 * One measurement of the load bench in a process of its own; prints what it found as JSON.
 *
 *   child.mjs write <folder> <rows> | read <folder> | report <recording> <folder> <strategies>
 */
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { register as registerCommonJs } from "tsx/cjs/api";
import { register } from "tsx/esm/api";
import { timed } from "../machine.mjs";

process.chdir(fileURLToPath(new URL("../../..", import.meta.url)));
process.env.TSX_TSCONFIG_PATH ??= join(process.cwd(), "tsconfig.json");
registerCommonJs();
register();
const { readFixture, writeFixture } = await import("../../../src/market/tape/fixture.ts");

/** Trades as a busy swap has them: several at one instant, prices that walk, sizes mostly small. */
const madeTrades = async (rows) => {
  const { createTape, seriesOf } = await import("../../../src/market/tape/tape.ts");
  const [at, px, qty] = [new Float64Array(rows), new Float64Array(rows), new Float64Array(rows)];
  const side = new Int8Array(rows);
  let seed = 12_345;
  const draw = () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed / 2 ** 32;
  };
  let [now, price] = [1_700_000_000_000, 600_000];
  for (let row = 0; row < rows; row++) {
    if (draw() > 0.3) now += Math.floor(draw() * draw() * 40);
    const move = draw();
    if (move < 0.2) price -= Math.ceil(draw() * 5);
    else if (move > 0.8) price += Math.ceil(draw() * 5);
    at[row] = now;
    px[row] = price;
    side[row] = draw() < 0.5 ? 1 : -1;
    qty[row] = 1 + Math.floor(draw() * draw() * 500);
  }
  return createTape(
    [{ instId: "BTC-USDT-SWAP", tickSize: "0.1", lotSize: "0.001" }],
    [seriesOf("trade", 0, at, [side, px, qty])],
  );
};

const write = async (folder, rows) => {
  const tape = await madeTrades(Number(rows));
  const { value, cpu } = await timed(async () =>
    writeFixture(join(folder, "trades"), tape, { source: "made for a bench" }),
  );
  return { bytes: value.series[0].bytes, seconds: cpu };
};

const read = async (folder) => {
  const dir = join(folder, "trades");
  // Megabytes of code and heap are there before the first row.
  globalThis.gc();
  const before = process.memoryUsage().rss;
  const start = performance.now();
  const first = await timed(async () => readFixture(dir));
  const peak = process.resourceUsage().maxRSS * 1024 - before;
  globalThis.gc();
  const kept = process.memoryUsage().arrayBuffers;
  const others = [first.others];
  let best = Number.POSITIVE_INFINITY;
  while (performance.now() - start < 4_000 && others.length < 8) {
    const again = await timed(async () => readFixture(dir));
    best = Math.min(best, again.cpu);
    others.push(again.others);
  }
  return {
    first: first.cpu,
    best,
    peak,
    kept,
    others: others[Math.floor(others.length / 2)],
    rows: first.value.tape.length,
  };
};

const report = async (recording, folder, which) => {
  const [{ importRecording }, { runBacktest }, { loadConfigFile }] = await Promise.all([
    import("../../../plugins/import/tape-import.ts"),
    import("../../../src/backtest/runner.ts"),
    import("../../../src/host/load.ts"),
  ]);
  const config = await loadConfigFile("config/backtest.ts", { command: "backtest" });
  const strategies = config.strategies.filter(({ name }) => which.startsWith("the demo") || name === which);
  const fixture = join(folder, "recording");
  const imported = await timed(async () =>
    importRecording({ file: recording, instrument: "BTC-USDT-SWAP", out: fixture }),
  );
  const ran = await timed(async () =>
    runBacktest({ ...config, strategies, plugins: [] }, { fixture, print: () => undefined }),
  );
  const brief = ({ cpu, seconds }) => ({ cpu, wall: seconds });
  return { imported: brief(imported), ran: brief(ran), rows: imported.value.rows, placed: ran.value.orders.placed };
};

const [, , task, ...args] = process.argv;
const { value } = await timed(() => ({ write, read, report })[task](...args));
process.stdout.write(JSON.stringify(value));
