/**
 * The curve of profit: all strategies together, and each of those that made or lost most.
 *
 * Invariants: one currency at a time, as profits of different ones are not added; at most five strategies have a line of
 * their own, and the number of the others is shown.
 */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { bound, Choice, chosenOf, plainChoices } from "../../ui-kit/client/controls.tsx";
import { useKept } from "../../ui-kit/client/kept.ts";
import { linePane, lookOf, type Pane } from "../../ui-kit/client/pane.ts";
import { countOf } from "../../ui-kit/client/texts.ts";
import type { EquityRow } from "../control-rows.ts";
import { ChartGroup, ChartTime } from "./chart-group.tsx";
import type { Room } from "./room.ts";
import type { SourceState } from "./source-state.ts";
import type { WatchedEngine } from "./watched-engine.ts";
import { gainText, localOffset, shortName } from "./wording.ts";

const curvesMax = 5;
const spell = (value: number) => gainText(String(value));

/** The strategies that have a line: those that made or lost most, in their order. */
const shownOf = ({ strategies }: EquityRow, currency: string) => {
  const all = Object.keys(strategies);
  if (all.length < 2) return { shown: [], left: 0 };
  const size = (name: string) => Math.abs(Number(strategies[name]?.[currency] ?? 0));
  const most = all.toSorted((a, b) => size(b) - size(a)).slice(0, curvesMax);
  return { shown: all.filter((name) => most.includes(name)), left: all.length - most.length };
};

type Curve = { name: string; at: number[]; value: number[]; colour: string; dash: number[]; spell: typeof spell };

/** The lines of profit; the pane is made anew when others are shown. */
class EquityCurves {
  readonly time = new ChartTime("Profit over time");
  readonly charts = signal<readonly Pane[]>([]);
  #curves: readonly Curve[] = [];
  #built = "";
  #drawn = "";

  update(state: SourceState, currency: string, height: number) {
    const rows = state.list("equity");
    const [first, last] = [rows[0], rows.at(-1)];
    const version = `${currency} ${state.version(["equity"])}`;
    if (first === undefined || last === undefined || rows.length < 2) return;
    if (version === this.#drawn || !this.time.isDue) return;
    this.#drawn = version;
    const { shown } = shownOf(last, currency);
    const built = [currency, ...shown].join("\n");
    if (built !== this.#built) this.#build(shown, currency, height, last.at);
    this.#built = built;
    for (const [place, curve] of this.#curves.entries()) {
      const of = shown[place - 1];
      curve.at = rows.map(({ at }) => at);
      curve.value = rows.map((row) => Number((of === undefined ? row.profit : row.strategies[of])?.[currency] ?? 0));
    }
    this.time.show(first.at, Math.max(last.at, state.at));
  }

  #build(names: readonly string[], currency: string, height: number, at: number) {
    const { shared } = this.time;
    this.#curves = ["all", ...names].map((name, index) => ({
      ...(index === 0 ? { colour: "accent", dash: [] } : lookOf(index)),
      name: shortName(name),
      at: [],
      value: [],
      spell,
    }));
    shared.startAt = localOffset(at);
    const pane = { title: `Profit in ${currency}`, height, lines: this.#curves, spell, zero: true };
    // Plots of one stretch of time know each other until they are destroyed.
    for (const { plot } of this.charts.peek()) plot.destroy();
    this.charts.value = [linePane(shared, pane, true)];
  }
}

export const EquityChart = ({ watched, room, height }: { watched: WatchedEngine; room: Room; height: number }) => {
  const { state } = watched;
  const { curves, chosen } = useKept(`profit of ${watched.id}`, () => ({
    curves: new EquityCurves(),
    chosen: signal(""),
  }));
  const rows = state.list("equity");
  const last = rows.at(-1);
  const currencies = plainChoices(Object.keys(last?.profit ?? {}));
  const currency = chosenOf(chosen.value, currencies);
  const left = last === undefined ? 0 : shownOf(last, currency).left;
  void room.tick.value;
  useEffect(() => curves.update(state, currency, height));
  if (rows.length < 2) return <p class="empty">The curve begins with the first fill.</p>;
  return (
    <ChartGroup label="Profit over time" time={curves.time} charts={curves.charts.value} room={room}>
      <Choice label="currency of the curve" {...bound(chosen)} choices={currencies} hidden={currencies.length < 2} />
      <span class="soft">{left > 0 ? `${countOf(left, "strategy", "strategies")} not shown` : ""}</span>
    </ChartGroup>
  );
};
