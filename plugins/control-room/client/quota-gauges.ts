/**
 * The windows of the quota as gauges: the used part by user, the part reserved for exits, and the end of the window.
 *
 * Invariants: one gauge for each layer and scope; parts are distinguished by pattern and words as well as by colour; the sum of the parts
 * is the capacity.
 */
import { element } from "../../ui-kit/client/elements.ts";
import { figure } from "../../ui-kit/client/texts.ts";
import type { QuotaRow } from "../control-rows.ts";
import { put } from "./table-cells.ts";
import type { WatchedEngine } from "./watched-engine.ts";
import { leftText } from "./wording.ts";

const layers: Readonly<Record<string, readonly [name: string, unit: string, windowMs: number]>> = {
  ip: ["address", "requests", 60_000],
  uid: ["user", "weight", 60_000],
  key: ["key", "requests", 1_000],
};

export const unitOf = ({ layer }: QuotaRow) => layers[layer]?.[1] ?? "units";

const parts = ["own", "foreign", "free", "reserved"] as const;

class Gauge {
  node;
  #name = element("strong", {});
  #left = element("span", { class: "left" });
  #bar;
  #text = element("p", { class: "soft" });
  #parts = parts.map((name) => element("i", { class: name }));
  #time = element("i", { class: "time" });
  /** The longest that was left of a window: its length, as far as is known. */
  #lengthMs = 1_000;

  constructor() {
    this.#bar = element("div", { class: "gaugebar", role: "meter", "aria-valuemin": "0" }, ...this.#parts);
    this.node = element(
      "div",
      { class: "gauge" },
      element("div", { class: "head" }, this.#name, this.#left),
      this.#bar,
      element("div", { class: "timebar", "aria-hidden": "true" }, this.#time),
      this.#text,
    );
  }

  draw(row: QuotaRow, now: number) {
    const { layer, scope, capacity, used, reserved, foreign, windowEndsAt } = row;
    const leftMs = windowEndsAt - now;
    this.#lengthMs =
      layers[layer]?.[2] ?? Math.max(this.#lengthMs, leftMs > 1_500 ? Math.ceil(leftMs / 60_000) * 60_000 : 1_000);
    // After its end a window is empty, independent of the last update.
    const isOver = leftMs <= 0;
    const [spent, others] = isOver ? [0, 0] : [Math.min(used, capacity), Math.min(foreign, used)];
    const kept = Math.max(0, Math.min(reserved, capacity - spent));
    const widths = [spent - others, others, capacity - spent - kept, kept];
    for (const [place, part] of this.#parts.entries())
      setWidth(part, (100 * (widths[place] ?? 0)) / Math.max(1, capacity));
    setWidth(this.#time, isOver ? 0 : (100 * leftMs) / this.#lengthMs);
    const unit = unitOf(row);
    put(this.#name, `${layers[layer]?.[0] ?? layer}${scope === "" ? "" : ` ${scope}`}`);
    this.#name.title = `${layer} ${scope}`;
    put(this.#left, this.#lengthMs > 1_500 ? (isOver ? "new window" : `${leftText(leftMs)} left`) : "each second");
    const text = [
      `${figure(spent)} of ${figure(capacity)} ${unit} used`,
      ...(others > 0 ? [`${figure(others)} by other clients`] : []),
      ...(row.mode === "floor" ? ["spent evenly, without the service's counts"] : []),
      ...(kept > 0 ? [`${figure(kept)} kept for exits`] : []),
    ].join(" · ");
    put(this.#text, text);
    this.#bar.setAttribute("aria-valuemax", String(capacity));
    this.#bar.setAttribute("aria-valuenow", String(spent));
    this.#bar.setAttribute("aria-valuetext", text);
    this.#bar.setAttribute("aria-label", `${layer} ${scope}`);
    this.node.classList.toggle("full", spent + kept >= capacity);
  }
}

export class QuotaGauges {
  node = element("div", { class: "gauges" });
  #empty = element("p", { class: "empty" }, "The first answer of the service contains the limits.");
  #gauges: Map<string, Gauge> = new Map();

  draw({ state, now }: WatchedEngine) {
    const rows = state.rows("quota");
    for (const [key, row] of rows) {
      let gauge = this.#gauges.get(key);
      if (gauge === undefined) {
        gauge = new Gauge();
        this.#gauges.set(key, gauge);
        this.node.append(gauge.node);
      }
      gauge.draw(row, now);
    }
    for (const [key, gauge] of this.#gauges) {
      if (rows.has(key)) continue;
      gauge.node.remove();
      this.#gauges.delete(key);
    }
    if (rows.size === 0) this.node.append(this.#empty);
    else this.#empty.remove();
  }
}

const setWidth = (node: HTMLElement, percent: number) => {
  const text = `${Math.max(0, Math.min(100, percent)).toFixed(1)}%`;
  if (node.style.width !== text) node.style.width = text;
};
