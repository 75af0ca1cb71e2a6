/**
 * The chart of prices of our pages (uPlot with our drawing of bars and fills) beside TradingView's lightweight-charts, on the
 * same bars of a second and the same fills.
 * tsx test/bench/page/charts.ts [--rows 10000,100000,1000000,5000000] [--fills 100000] [--rounds 3]
 *   [--only uPlot] [--shots <folder>]
 *
 * Invariants: both pages get the same columns, and draw them at 1,440 × 600 pixels in the same browser, in turn; a chart is
 * drawn when two frames have passed after it was given its data; the median of the rounds counts; frames are the same pans
 * and zooms for both. The time of the processor in a frame is that of the page's thread alone, so it holds on a busy machine
 * too.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { type Browser, chromium, type Page } from "playwright-core";
import { rolldown } from "rolldown";
import { explorerStyle, style } from "../../../plugins/ui-kit/style.ts";
import { chromiumPath } from "../../support/chromium.ts";
import { installPeers } from "../install.mjs";

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "10000,100000,1000000,5000000" },
    fills: { type: "string", default: "100000" },
    rounds: { type: "string", default: "3" },
    only: { type: "string" },
    shots: { type: "string" },
  },
});
if (chromiumPath === undefined) {
  process.stderr.write("SKIPPED: no chromium is installed.\n");
  process.exit(0);
}
installPeers();

const frames = 120;
const tracing = { categories: ["toplevel", "__metadata"] };
const root = fileURLToPath(new URL("../../..", import.meta.url));
const kit = join(root, "plugins/ui-kit/client");

/** Bars of a second and fills at their prices, the same for both. */
const data = `
const columnsOf = (rows, fillCount) => {
  const [at, open, high, low, close] = Array.from({ length: 5 }, () => new Float64Array(rows));
  let [seed, px] = [7, 60_000];
  const random = () => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
  for (let place = 0; place < rows; place++) {
    at[place] = place * 1_000;
    open[place] = px;
    px += random() * 20 - 10;
    close[place] = px;
    high[place] = Math.max(open[place], px) + random() * 5;
    low[place] = Math.min(open[place], px) - random() * 5;
  }
  const places = Array.from({ length: fillCount }, (_, fill) => Math.floor((fill * rows) / fillCount));
  return { at, open, high, low, close, fills: { place: places, buy: places.map(() => (random() < 0.5 ? 1 : 0)) } };
};
const startAt = Date.UTC(2024, 0, 1);
const twoFrames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
const stage = document.getElementById("charts");`;

/** Each script sets \`draw(columns)\`, \`show(from, to)\` and \`shown()\` in parts of the whole, 0 to 1. */
const ours = `
import { PricePane } from "${kit}/price-pane.ts";
import { createView, followPointer } from "${kit}/view.ts";
import { livesOf } from "${kit}/orders.ts";
${data}
let view;
window.page = {
  columnsOf,
  draw: async ({ at, open, high, low, close, fills: { place, buy } }) => {
    const none = new Float64Array();
    const instrument = { instId: "BTC-USDT-SWAP", base: "BTC", places: 2, of: "bar", barMs: 1_000, unit: 1, at, open, high, low, close, position: { at: none, qty: none } };
    const zeros = place.map(() => 0);
    const fills = { at: place.map((index) => at[index]), order: place.map(() => -1), strategy: zeros, instrument: zeros, buy, maker: zeros, px: place.map((index) => close[index]), qty: place.map(() => 1), fee: zeros };
    const orders = Object.fromEntries(["id", "strategy", "slot", "instrument", "buy", "type", "px", "sz", "waited", "reason", "phases", "phase", "phaseAt"].map((name) => [name, []]));
    const whole = at[at.length - 1] + 1_000;
    const all = { startAt, spanMs: whole, currency: "USDT", strategies: [], slots: [], types: [], phases: [], reasons: [], instruments: [instrument], fills, orders };
    livesOf(all);
    const shown = { instrument: 0, asLine: false, fills: Uint32Array.from(place, (_, fill) => fill), orders: [], plots: [], withFills: true, withOrders: true };
    const pane = new PricePane(all, { startAt, syncKey: "bench", onCursor: () => undefined }, shown, 572);
    stage.append(pane.node);
    pane.resize();
    view = createView(whole, (span) => pane.show(span));
    followPointer(stage, view);
    pane.show(view.span);
    await twoFrames();
  },
  show: (from, to) => view.set(from * view.whole, to * view.whole),
  shown: () => [view.span.from / view.whole, view.span.to / view.whole],
};`;

const peers = `
import { CandlestickSeries, createChart, createSeriesMarkers } from "lightweight-charts";
${data}
let [time, count] = [undefined, 1];
window.page = {
  columnsOf,
  draw: async ({ at, open, high, low, close, fills: { place, buy } }) => {
    const chart = createChart(stage, { autoSize: true, timeScale: { timeVisible: true, secondsVisible: true, minBarSpacing: 1e-5, enableConflation: true } });
    const series = chart.addSeries(CandlestickSeries);
    const timeOf = (index) => (startAt + at[index]) / 1_000;
    series.setData(Array.from(at, (_, index) => ({ time: timeOf(index), open: open[index], high: high[index], low: low[index], close: close[index] })));
    if (place.length > 0) createSeriesMarkers(series, place.map((index, fill) => ({ time: timeOf(index), position: buy[fill] ? "belowBar" : "aboveBar", shape: buy[fill] ? "arrowUp" : "arrowDown", color: buy[fill] ? "#0b5cad" : "#b3541e" })));
    [time, count] = [chart.timeScale(), at.length];
    time.fitContent();
    await twoFrames();
  },
  show: (from, to) => time.setVisibleLogicalRange({ from: from * count, to: to * count }),
  shown: () => { const { from, to } = time.getVisibleLogicalRange(); return [from / count, to / count]; },
};`;

interface Peer {
  readonly name: string;
  readonly url: string;
  readonly kilobytes: number;
}

const bundled = async (name: string, entry: string, folder: string): Promise<Peer> => {
  const source = join(folder, `${name}.js`);
  writeFileSync(source, entry);
  const made = await rolldown({
    input: source,
    platform: "browser",
    tsconfig: join(kit, "tsconfig.json"),
    resolve: { modules: [join(root, "test/bench/node_modules"), join(root, "node_modules")] },
  });
  const { output } = await made.generate({ format: "iife", minify: true, comments: false });
  await made.close();
  const css = readFileSync(createRequire(import.meta.url).resolve("uplot/dist/uPlot.min.css"), "utf8");
  const look = name === "uPlot" ? `${style}${css}${explorerStyle}` : "";
  const page = join(folder, `${name}.html`);
  writeFileSync(
    page,
    `<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width"><style>${look}body{margin:0}#charts{height:600px}</style><div id="charts"></div><div style="height:1500px"></div><script>${output[0].code}</script>`,
  );
  return { name, url: pathToFileURL(page).href, kilobytes: gzipSync(output[0].code, { level: 9 }).length / 1_000 };
};

interface Figures {
  /** From the columns to the second frame that shows them, in milliseconds. */
  readonly drawn: number;
  /** Time of the processor for it, of the page's thread. */
  readonly drawnTaskMs: number;
  readonly heapMb: number;
  readonly frame: number;
  /** Time of the processor in a frame: of the slowest in a hundred. */
  readonly taskMs: number;
}

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly tid: number;
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

const at = (list: readonly number[], part: number): number =>
  list.toSorted((a, b) => a - b)[Math.floor(part * (list.length - 1))] ?? Number.NaN;

/** Pans through a tenth of the whole, then zooms from the whole to a thousandth of it, a step each frame. */
const moved = `new Promise((done) => {
  const times = [];
  let last = performance.now();
  const step = (now) => {
    times.push(now - last);
    last = now;
    const place = times.length;
    if (place > ${frames}) return done(times.slice(1));
    const part = place / ${frames};
    if (place < ${frames / 2}) page.show(part, part + 0.1);
    else page.show(0.5 - 0.5 / 1_000 ** (2 * part - 1), 0.5 + 0.5 / 1_000 ** (2 * part - 1));
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})`;

const taskTimes = (trace: Buffer): readonly number[] => {
  const { traceEvents } = JSON.parse(trace.toString("utf8")) as { readonly traceEvents: readonly TraceEvent[] };
  const threads = new Set(
    traceEvents
      .filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain")
      .map(({ tid }) => tid),
  );
  return traceEvents
    .filter(({ name, ph, tid }) => ph === "X" && name.endsWith("RunTask") && threads.has(tid))
    .map(({ tdur = 0 }) => tdur / 1_000)
    .toSorted((a, b) => b - a)
    .slice(0, frames);
};

const opened = async (browser: Browser, { url }: Peer): Promise<Page> => {
  const page = await browser.newPage({ viewport: { width: 1_440, height: 900 } });
  page.on("pageerror", ({ message }) => process.stderr.write(`${message}\n`));
  await page.goto(url);
  return page;
};

const measured = async (browser: Browser, peer: Peer, rows: number, fills: number): Promise<Figures> => {
  const page = await opened(browser, peer);
  const session = await page.context().newCDPSession(page);
  await page.evaluate(`window.columns = page.columnsOf(${rows}, ${fills})`);
  await browser.startTracing(page, tracing);
  const drawn = (await page.evaluate(
    "(async () => { const begun = performance.now(); await page.draw(columns); return performance.now() - begun; })()",
  )) as number;
  const drawnTaskMs = taskTimes(await browser.stopTracing()).reduce((sum, ms) => sum + ms, 0);
  if (values.shots !== undefined)
    await page.screenshot({ path: join(values.shots, `${peer.name}-${rows}-${fills}.png`) });
  await browser.startTracing(page, tracing);
  const times = (await page.evaluate(moved)) as number[];
  const tasks = taskTimes(await browser.stopTracing());
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await page.close();
  return { drawn, drawnTaskMs, heapMb: usedSize / 1e6, frame: at(times, 0.99), taskMs: at(tasks, 0.99) };
};

/** Whether one finger pans and two zoom, and whether a vertical drag still scrolls the page. */
const touched = async (browser: Browser, peer: Peer): Promise<string> => {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const page = await context.newPage();
  await page.goto(peer.url);
  await page.evaluate("page.draw(page.columnsOf(10_000, 1_000)).then(() => page.show(0.4, 0.6))");
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  const session = await context.newCDPSession(page);
  const drag = async (
    from: readonly (readonly [x: number, y: number])[],
    by: readonly (readonly [number, number])[],
  ) => {
    const points = (part: number) =>
      from.map(([x, y], id) => ({ x: x + part * (by[id]?.[0] ?? 0), y: y + part * (by[id]?.[1] ?? 0), id }));
    await session.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: points(0) });
    for (let step = 1; step <= 8; step++) {
      await session.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: points(step / 8) });
      await page.waitForTimeout(30);
    }
    await session.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
    await page.waitForTimeout(300);
  };
  const shown = async () => (await page.evaluate("page.shown()")) as [from: number, to: number];
  const [before] = await shown();
  await drag([[200, 200]], [[-120, 0]]);
  const [panned, pannedTo] = await shown();
  await drag(
    [
      [160, 200],
      [220, 200],
    ],
    [
      [-80, 0],
      [80, 0],
    ],
  );
  const [zoomed, zoomedTo] = await shown();
  await drag([[200, 400]], [[0, -250]]);
  const scrolled = Number(await page.evaluate("scrollY"));
  await context.close();
  const told = (name: string, isSo: boolean) => `${name} ${isSo ? "yes" : "no"}`;
  return [
    told("pan", panned > before + 0.01),
    told("pinch", zoomedTo - zoomed < 0.8 * (pannedTo - panned)),
    told("page scrolls", scrolled > 50),
  ].join(", ");
};

const folder = mkdtempSync(join(tmpdir(), "sluice-charts-"));
const browser = await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] });
try {
  const compared = [await bundled("uPlot", ours, folder), await bundled("lightweight-charts", peers, folder)].filter(
    ({ name }) => values.only === undefined || values.only === name,
  );
  for (const peer of compared)
    process.stdout.write(
      `${peer.name}: ${peer.kilobytes.toFixed(1)} kB compressed; by touch: ${await touched(browser, peer)}\n`,
    );
  process.stdout.write(
    "\n| rows | fills | library | drawn after | processor | frame p99 | processor in a frame p99 | heap |\n| ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |\n",
  );
  for (const rows of values.rows.split(",").map(Number)) {
    for (const fills of new Set([0, Number(values.fills)])) {
      const taken = compared.map((): Figures[] => []);
      for (let round = 0; round < Number(values.rounds); round++)
        for (const [place, peer] of compared.entries()) taken[place]?.push(await measured(browser, peer, rows, fills));
      for (const [place, { name }] of compared.entries()) {
        const median = (of: keyof Figures): number =>
          at(
            (taken[place] ?? []).map((one) => one[of]),
            0.5,
          );
        process.stdout.write(
          `| ${rows.toLocaleString("en")} | ${fills.toLocaleString("en")} | ${name} | ${median("drawn").toFixed(0)} ms | ${median("drawnTaskMs").toFixed(0)} ms | ${median("frame").toFixed(1)} ms | ${median("taskMs").toFixed(1)} ms | ${median("heapMb").toFixed(0)} MB |\n`,
        );
      }
    }
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
