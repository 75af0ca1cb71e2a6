/**
 * Bench of the control room's page: frame times in Chromium while a made engine changes rows, and the heap after an hour of updates.
 * tsx test/bench/page/frames.ts [--rates 0,1000,5000] [--widths 1440,390] [--schemes dark,light] [--views Overview,Orders] [--hour]
 *
 * Invariants: one line for each view, width, scheme and rate on stdout; before each group the same figures of a page that only paints a
 * canvas of the window's size: where its slowest frames are as slow, they are those of the machine. The exit code is 1 where the median
 * frame is longer than 17 ms, where a task of the page takes the processor for longer than a frame, or where an hour of updates leaves
 * more than twice the heap and 20 MB.
 */
import { parseArgs } from "node:util";
import { type Browser, type CDPSession, chromium, type Page } from "playwright-core";
import { madeEngine, madePort } from "../../plugins/control-room/harness/made-engine.ts";
import { chromiumPath } from "../../support/chromium.ts";

const { values } = parseArgs({
  options: {
    rates: { type: "string", default: "0,1000" },
    widths: { type: "string", default: "1440,390" },
    schemes: { type: "string", default: "dark,light" },
    views: { type: "string", default: "Overview,Market,Orders,Quota,Events,Health" },
    hour: { type: "boolean", default: false },
  },
});
if (chromiumPath === undefined) {
  process.stderr.write("SKIPPED: no chromium is installed.\n");
  process.exit(0);
}

const frames = 300;
const frameMsMax = 17;
const stepMs = 100;
const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** Times between frames, in milliseconds. */
const frameTimes = `new Promise((done) => {
  const times = [];
  let last = performance.now();
  const step = (now) => {
    times.push(now - last);
    last = now;
    if (times.length <= ${frames}) requestAnimationFrame(step);
    else done(times.slice(1));
  };
  requestAnimationFrame(step);
})`;

const metricsOf = async (session: CDPSession): Promise<Readonly<Record<string, number>>> => {
  const { metrics } = await session.send("Performance.getMetrics");
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
};

interface Look {
  readonly width: number;
  readonly scheme: "dark" | "light";
}

const opened = async (
  browser: Browser,
  url: string,
  { width, scheme }: Look,
): Promise<{ readonly page: Page; readonly session: CDPSession }> => {
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: scheme });
  await page.goto(url);
  await page.waitForSelector("html[data-ready]");
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  return { page, session };
};

interface Frames {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** Time of the processor that the longest task of the page's thread took. */
  readonly taskMs: number;
}

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

const longestTask = (trace: Buffer): number => {
  const { traceEvents } = JSON.parse(trace.toString("utf8")) as { readonly traceEvents: readonly TraceEvent[] };
  const threads = new Set(
    traceEvents
      .filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain")
      .map(({ tid }) => tid),
  );
  const tasks = traceEvents.filter(({ name, ph, tid }) => ph === "X" && name.endsWith("RunTask") && threads.has(tid));
  return Math.max(0, ...tasks.map(({ tdur = 0 }) => tdur)) / 1_000;
};

const framesOf = async (browser: Browser, page: Page): Promise<Frames> => {
  await browser.startTracing(page, { categories: ["toplevel", "__metadata"] });
  const times = ((await page.evaluate(frameTimes)) as number[]).sort((a, b) => a - b);
  const taskMs = longestTask(await browser.stopTracing());
  const at = (part: number): number => times[Math.floor(part * (times.length - 1))] ?? 0;
  return { p50: at(0.5), p99: at(0.99), max: at(1), taskMs };
};

const spelled = ({ p50, p99, max, taskMs }: Frames): string =>
  `frames p50 ${p50.toFixed(1)} p99 ${p99.toFixed(1)} max ${max.toFixed(1)} ms, longest task ${taskMs.toFixed(1)} ms of the processor`;

/** A page that paints a canvas of the window's size each frame, and nothing else. */
const canvasAlone = async (browser: Browser, { width, scheme }: Look): Promise<Frames> => {
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: scheme });
  await page.setContent(`<canvas width="${width}" height="900"></canvas>`);
  await page.evaluate(`{
    const canvas = document.querySelector("canvas").getContext("2d");
    let turn = 0;
    const paint = () => {
      canvas.fillStyle = turn++ % 2 ? "#123" : "#321";
      canvas.fillRect(0, 0, ${width}, 900);
      requestAnimationFrame(paint);
    };
    paint();
  }`);
  await pause(500);
  const measured = await framesOf(browser, page);
  await page.close();
  return measured;
};

/** True where every view keeps its frames at this many changes a second. */
const measureRate = async (browser: Browser, rate: number, look: Look): Promise<boolean> => {
  const group = `${look.width} px ${look.scheme}, ${rate} rows/s`;
  const bare = await canvasAlone(browser, look);
  process.stdout.write(`${group}, a canvas alone: ${spelled(bare)}\n`);
  const engine = madeEngine("measured");
  const port = await madePort(new Map([["measured", engine]]));
  const { page, session } = await opened(browser, port.url, look);
  const changing = setInterval(() => {
    if (rate === 0) return;
    engine.change((rate * stepMs) / 1_000, stepMs);
    port.send("measured");
  }, stepMs);
  let isMet = true;
  for (const view of values.views.split(",")) {
    await page.click(`.views button:text-is("${view}")`);
    await pause(500);
    const [before, begun] = [await metricsOf(session), performance.now()];
    const measured = await framesOf(browser, page);
    const [after, wall] = [await metricsOf(session), (performance.now() - begun) / 1_000];
    const share = (...names: readonly string[]): string =>
      `${((100 * names.reduce((sum, name) => sum + (after[name] ?? 0) - (before[name] ?? 0), 0)) / wall).toFixed(1)} %`;
    isMet &&= measured.p50 <= frameMsMax && measured.taskMs <= frameMsMax;
    const costs = `script ${share("ScriptDuration")}, layout and style ${share("LayoutDuration", "RecalcStyleDuration")}, all tasks ${share("TaskDuration")}`;
    process.stdout.write(`${group}, ${view}: ${spelled(measured)}; ${costs}\n`);
  }
  clearInterval(changing);
  await page.close();
  await port.close();
  return isMet;
};

/** Ten updates of a hundred rows for each second of an hour, as fast as the page takes them. */
const measureHour = async (browser: Browser): Promise<boolean> => {
  const engine = madeEngine("measured");
  const port = await madePort(new Map([["measured", engine]]));
  const { page, session } = await opened(browser, port.url, { width: 1_440, scheme: "dark" });
  const heap = async (): Promise<number> => {
    await session.send("HeapProfiler.collectGarbage");
    return (await metricsOf(session))["JSHeapUsedSize"] ?? 0;
  };
  const first = await heap();
  for (let count = 1; count <= 36_000; count++) {
    engine.change(100, stepMs);
    port.send("measured");
    if (count % 5 === 0) await pause(2);
    if (count % 9_000 === 0)
      process.stdout.write(`after ${count / 600} min: ${((await heap()) / 1e6).toFixed(1)} MB\n`);
  }
  await pause(2_000);
  const last = await heap();
  process.stdout.write(
    `heap at the start ${(first / 1e6).toFixed(1)} MB, after an hour ${(last / 1e6).toFixed(1)} MB\n`,
  );
  await page.close();
  await port.close();
  return last < 2 * first + 20e6;
};

const browser = await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] });
const met: boolean[] = [];
for (const width of values.widths.split(",").map(Number)) {
  for (const scheme of values.schemes.split(",") as Look["scheme"][]) {
    for (const rate of values.rates.split(",").map(Number))
      met.push(await measureRate(browser, rate, { width, scheme }));
  }
}
if (values.hour) met.push(await measureHour(browser));
await browser.close();
process.exitCode = met.every(Boolean) ? 0 : 1;
