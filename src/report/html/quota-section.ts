/**
 * The quota of a tearsheet: what each stretch of the run used of the user's minute and the key's second, and what waited for
 * which layer.
 *
 * Invariants: bars are of the fullest window in their stretch, so that no peak is averaged away; the limit is always in the
 * picture; a layer without waits is not drawn.
 */
import { layers } from "../../contract/limits.ts";
import { duration, grouped, percent } from "../number-format.ts";
import { type QuotaMinute, type WaitedFor, waitedFor } from "../quota-minutes.ts";
import type { RunReport } from "../report.ts";
import { delayFacts, quotaSentence, waitNames, windowNames } from "../run-facts.ts";
import { timeName, valueTicks } from "../ticks.ts";
import type { Sheet } from "./equity-section.ts";
import { figures, html, type Markup, tableOf } from "./markup.ts";
import { type Frame, path, plotOf, size, unit, xOf, yOf } from "./static-plot.ts";

export const quotaSection = (sheet: Sheet): Markup => {
  const { report } = sheet;
  return html`<p>${quotaSentence(report)}.</p>
${peaks(report)}
${barPlot(sheet, "User weight", layers.uid.capacity, ({ peakWeight }) => peakWeight, "minute")}
${barPlot(sheet, "Requests of a key", layers.key.capacity, ({ peakKey }) => peakKey, "second")}
${waitPlot(sheet)}
${delayTable(report)}`;
};

const peaks = ({ quota: { perLayerPeak } }: RunReport): Markup => {
  const rows = (["uid", "key", "ip"] as const).map((layer) => [
    layer,
    windowNames[layer],
    grouped(perLayerPeak[layer]),
    grouped(layers[layer].capacity),
    percent(perLayerPeak[layer], layers[layer].capacity),
  ]);
  return tableOf(
    "The peak window of each layer",
    [{ name: "layer" }, { name: "counts" }, ...figures("peak window", "allowed", "used")],
    rows,
  );
};

interface Bars {
  readonly frame: Frame;
  readonly spans: readonly QuotaMinute[];
  readonly spanMs: number;
}

const barsOf = ({ report, startAt, endAt }: Sheet, high: number): Bars => {
  const { spans, spanMs } = report.quota.overTime;
  return { frame: { startAt, endAt, low: 0, high }, spans, spanMs };
};

/** A bar from one height to another, with a hair of air between neighbours. */
const bar = ({ frame, spanMs }: Bars, at: number, from: number, to: number): string => {
  const [left, right] = [xOf(at, frame), xOf(at + spanMs, frame)];
  const air = (right - left) * 0.1;
  if (to <= from || right <= left) return "";
  return `M${unit(left + air)} ${unit(yOf(from, frame))}V${unit(yOf(to, frame))}H${unit(right - air)}V${unit(yOf(from, frame))}Z`;
};

const momentOf = (at: number, { frame }: Bars): string => timeName(at, 60_000, Math.max(frame.endAt - frame.startAt, 86_400_001));

/** Read in the middle of the bar. */
const readAt = (at: number, { spanMs, frame }: Bars): number => (Math.max(at, frame.startAt) + Math.min(at + spanMs, frame.endAt)) / 2;

const barPlot = (sheet: Sheet, what: string, capacity: number, value: (span: QuotaMinute) => number, window: string): Markup => {
  const peak = sheet.report.quota.overTime.spans.reduce((most, span) => Math.max(most, value(span)), 0);
  const bars = barsOf(sheet, Math.max(capacity, peak) * 1.08);
  const { spans, spanMs, frame } = bars;
  return plotOf({
    label: `${what}: ${grouped(peak)} of ${grouped(capacity)} in the peak ${window}`,
    caption: `${what} in the peak ${window} of each ${duration(spanMs)}; the dashed line is the limit of ${grouped(capacity)}`,
    height: 130,
    frame,
    ticks: valueTicks(0, frame.high, 4),
    drawing: [
      path("bar", spans.map((span) => bar(bars, span.at, 0, value(span))).join("")),
      path("limit", `M0 ${unit(yOf(capacity, frame))}H${size}`),
    ],
    names: ["", "peak", "sum of weight", "refused"],
    reads: spans.map((span) => ({
      at: readAt(span.at, bars),
      texts: [momentOf(span.at, bars), grouped(value(span)), grouped(span.weight), grouped(span.refused)],
    })),
  });
};

const tones: Readonly<Record<WaitedFor, string>> = { uid: "uid", key: "k-key", ip: "ip", other: "other", turn: "turn" };

const waitPlot = (sheet: Sheet): Markup => {
  const { waitedMs, overTime } = sheet.report.quota;
  const seen = waitedFor.filter((layer) => waitedMs[layer] > 0);
  if (seen.length === 0) return html`<p class="soft">Nothing had to wait for quota.</p>`;
  const sumOf = (span: QuotaMinute): number => seen.reduce((total, layer) => total + span.waitedMs[layer], 0) / 1_000;
  const high = overTime.spans.reduce((most, span) => Math.max(most, sumOf(span)), 0) * 1.08;
  const bars = barsOf(sheet, high);
  const drawn = seen.map((layer, index) => {
    const below = (span: QuotaMinute): number => seen.slice(0, index).reduce((total, one) => total + span.waitedMs[one], 0) / 1_000;
    const d = bars.spans.map((span) => bar(bars, span.at, below(span), below(span) + span.waitedMs[layer] / 1_000)).join("");
    return path(tones[layer], d);
  });
  const legend = seen.map(
    (layer) => html`<b class="${tones[layer]}"><i></i><span>${waitNames[layer]}, ${duration(waitedMs[layer])} in all</span></b>`,
  );
  return plotOf({
    label: `Time waited: ${seen.map((layer) => `${duration(waitedMs[layer])} for ${waitNames[layer]}`).join(", ")}`,
    caption: html`Seconds waited by all actions of each ${duration(bars.spanMs)}, for <span class="key">${legend}</span>`,
    height: 130,
    frame: bars.frame,
    ticks: valueTicks(0, high, 4, " s"),
    drawing: drawn,
    names: ["", "actions that waited", ...seen.map((layer) => waitNames[layer])],
    reads: bars.spans.map((span) => ({
      at: readAt(span.at, bars),
      texts: [momentOf(span.at, bars), grouped(span.waited), ...seen.map((layer) => duration(span.waitedMs[layer]))],
    })),
  });
};

const delayTable = (report: RunReport): Markup =>
  tableOf(
    "How long actions took",
    [{ name: "" }, ...figures("p50", "p99", "")],
    delayFacts(report).map(({ what, p50, p99, note }) => [what, p50, p99, note]),
  );
