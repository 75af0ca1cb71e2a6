/**
 * The quota in tables: the fullest window of each layer, what waited for which layer, and how long actions took.
 *
 * Not here: its use over time, which the charts show (page-contents.ts).
 */
import { layers } from "../../contract/limits.ts";
import { duration, grouped, percent } from "../number-format.ts";
import { waitedFor } from "../quota-minutes.ts";
import type { RunReport } from "../report.ts";
import { delayFacts, quotaSentence, waitNames, windowNames } from "../run-facts.ts";
import { figures, html, type Markup, tableOf } from "./markup.ts";
import type { Sheet } from "./period-table.ts";

export const quotaSection = (sheet: Sheet): Markup => {
  const { report } = sheet;
  return html`<p>${quotaSentence(report)}.</p>
${peaks(report)}
${waitTable(report)}
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

/** What was waited for; nothing where nothing waited. */
const waitTable = ({ quota: { waitedMs } }: RunReport): Markup => {
  const rows = waitedFor
    .filter((layer) => waitedMs[layer] > 0)
    .map((layer) => [waitNames[layer], duration(waitedMs[layer])]);
  if (rows.length === 0) return html`<p class="soft">Nothing had to wait for quota.</p>`;
  return tableOf("What actions waited for, all together", [{ name: "waited for" }, ...figures("time")], rows);
};

const delayTable = (report: RunReport): Markup =>
  tableOf(
    "How long actions took",
    [{ name: "" }, ...figures("p50", "p99", "")],
    delayFacts(report).map(({ what, p50, p99, note }) => [what, p50, p99, note]),
  );
