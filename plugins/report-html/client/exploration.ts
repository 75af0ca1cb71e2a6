/**
 * State of the charts of a report: the stretch of time, whose fills and orders, and the fill or trade that is looked at.
 *
 * Invariants: all panes show the same time and the same instant under the cursor; a change of what is shown lets go of
 * the fill that was looked at.
 * Not here: the elements (explorer.tsx), the unpacking of data (unpack.ts).
 */
import { batch, computed, effect, signal, untracked } from "@preact/signals";
import type { FillGroup } from "../../ui-kit/client/columns.ts";
import { placeOf, placesWhere, spreadOf, valueAt } from "../../ui-kit/client/columns.ts";
import { livesOf } from "../../ui-kit/client/orders.ts";
import { forgetColours, linePane, type Pane, type Shared, type Span } from "../../ui-kit/client/pane.ts";
import type { Point, TradeMark } from "../../ui-kit/client/price-drawing.ts";
import { PricePane, type Shown } from "../../ui-kit/client/price-pane.ts";
import { fillTold, storyOf, type Told } from "../../ui-kit/client/story.tsx";
import { countOf, figure, instant } from "../../ui-kit/client/texts.ts";
import { createView } from "../../ui-kit/client/view.ts";
import type { PageData } from "../../ui-kit/page-data.ts";
import { linePanes } from "./line-panes.ts";

const syncKey = "run";

export class Exploration {
  readonly data;
  readonly view;
  readonly price;
  readonly strategy = signal("-1");
  readonly instrument = signal("0");
  readonly kind;
  readonly withFills = signal(true);
  readonly withOrders = signal(true);
  readonly withBenchmark;
  /** Another object each time the charts are to be drawn. */
  readonly span;
  readonly cursor = signal<number | undefined>(undefined);
  /** Instant whose values are shown. */
  readonly at = computed(() => this.cursor.value ?? Math.min(this.span.value.to, this.data.spanMs));
  readonly charts = signal<readonly Pane[]>([]);
  readonly tip = signal<Told | undefined>(undefined);
  /** Read aloud. */
  readonly announced = signal("");
  /** Changes with the colours of the page. */
  readonly theme = signal(0);
  readonly #trade = signal<TradeMark | undefined>(undefined);
  readonly #chosen = signal<Point | undefined>(undefined);
  readonly #shared: Shared;
  /** Place among the shown fills; -1 for none. */
  #fill = -1;

  /** Places of the fills and orders of the chosen strategy and instrument, and the lines in the chart of prices. */
  readonly #selected = computed(() => {
    const { fills, orders, plots } = this.data;
    const [instrument, strategy] = [Number(this.instrument.value), Number(this.strategy.value)];
    const isShown = (of: { instrument: ArrayLike<number>; strategy: ArrayLike<number> }) => (place: number) =>
      of.instrument[place] === instrument && (strategy === -1 || of.strategy[place] === strategy);
    return {
      instrument,
      fills: placesWhere(fills.at.length, isShown(fills)),
      orders: placesWhere(orders.px.length, isShown(orders)),
      plots: plots.filter(({ pane, instrument: of }) => pane === "price" && (of === -1 || of === instrument)),
    };
  });

  readonly #shown = computed(
    (): Shown => ({
      ...this.#selected.value,
      asLine: this.kind.value === "line",
      withFills: this.withFills.value,
      withOrders: this.withOrders.value,
      trade: this.#trade.value,
      chosen: this.#chosen.value,
    }),
  );

  constructor(data: PageData) {
    const { benchmark, equity, instruments } = data;
    this.data = data;
    livesOf(data);
    this.kind = signal(instruments[0]?.of === "candle" ? "bars" : "line");
    this.withBenchmark = signal(benchmark !== undefined && spreadOf(benchmark.value) <= 8 * spreadOf(equity.value));
    this.view = createView(data.spanMs, (span) => this.#draw(span));
    this.span = signal<Span>(this.view.span);
    this.#shared = {
      startAt: data.startAt,
      syncKey,
      onCursor: (at) => {
        this.cursor.value = at;
      },
    };
    this.price = new PricePane(data, this.#shared, this.#shown.value, innerWidth < 600 ? 240 : 340);
    effect(() => {
      void this.#selected.value;
      this.#fill = -1;
    });
    effect(() => this.#build(Number(this.instrument.value), this.withBenchmark.value));
    effect(() => {
      this.price.set(this.#shown.value);
      this.#draw({ ...this.view.span });
    });
    this.#listen();
  }

  /** Shows a trade, and announces it. */
  showTrade(trade: number) {
    const { trades, spanMs, startAt, strategies } = this.data;
    const [from, closed] = [valueAt(trades.openedAt, trade), valueAt(trades.closedAt, trade)];
    const to = closed < 0 ? spanMs : closed;
    batch(() => {
      this.instrument.value = String(valueAt(trades.instrument, trade));
      this.#chosen.value = undefined;
      this.#trade.value = {
        from: { at: from, px: valueAt(trades.entryPx, trade) },
        to: { at: to, px: valueAt(trades.exitPx, trade) },
        won: valueAt(trades.net, trade) > 0,
      };
    });
    const room = Math.max(500, (to - from) * 0.6);
    this.view.set(from - room, to + room);
    this.announced.value = `Trade of ${strategies[valueAt(trades.strategy, trade)]} from ${instant(from + startAt)} to ${instant(to + startAt)} is shown in the charts.`;
  }

  /** The colours of the page have changed. */
  recolour() {
    forgetColours();
    this.theme.value++;
  }

  /** Draws the charts in the width that they have now. */
  fit() {
    for (const pane of this.charts.value) pane.resize();
    this.#draw({ ...this.view.span });
  }

  letGo() {
    this.#fill = -1;
    batch(() => {
      this.#trade.value = undefined;
      this.#chosen.value = undefined;
    });
    this.tip.value = undefined;
  }

  /** To the next or the previous fill; the first time to one in sight. */
  step(by: 1 | -1) {
    const shown = this.#selected.value.fills;
    if (shown.length === 0) {
      this.announced.value = "No fill is shown.";
      return;
    }
    const { from, to } = this.view.span;
    if (this.#fill === -1) {
      const times = Float64Array.from(shown, (fill) => valueAt(this.data.fills.at, fill));
      this.#fill = by === 1 ? placeOf(times, from) - 1 : placeOf(times, to);
    }
    this.#choose(Math.max(0, Math.min(shown.length - 1, this.#fill + by)));
  }

  zoomToFill() {
    const fill = this.#selected.value.fills[this.#fill];
    if (fill === undefined) return;
    const at = valueAt(this.data.fills.at, fill);
    const { from, to } = this.view.span;
    this.view.set(at - (to - from) / 16, at + (to - from) / 16);
  }

  /** Announces the story of the fill that was chosen. */
  tell(story: string) {
    const count = this.#selected.value.fills.length;
    this.announced.value = `Fill ${figure(this.#fill + 1)} of ${countOf(count, "fill")}: ${story}`;
  }

  #draw(span: Span) {
    this.tip.value = undefined;
    this.cursor.value = undefined;
    this.span.value = span;
  }

  #build(instrument: number, withBenchmark: boolean) {
    for (const pane of untracked(() => this.charts.value)) if (pane !== this.price) pane.plot.destroy();
    const panes = linePanes(this.data, instrument, withBenchmark);
    this.charts.value = [
      this.price,
      ...panes.map((pane, index) => linePane(this.#shared, pane, index === panes.length - 1)),
    ];
  }

  #listen() {
    const { over } = this.price.plot;
    const groupAt = ({ offsetX, offsetY }: MouseEvent) => this.price.markNear(offsetX, offsetY);
    over.addEventListener("mousemove", (event) => {
      if (this.tip.value?.isPinned || event.buttons !== 0) return;
      const group = groupAt(event);
      this.tip.value = group && { at: group.at, px: group.px, story: storyOf(this.data, group) };
    });
    over.addEventListener("mouseleave", () => {
      if (!this.tip.value?.isPinned) this.tip.value = undefined;
    });
    over.addEventListener("click", (event) => {
      const group = groupAt(event);
      if (group === undefined) this.letGo();
      else if (group.count > 1) this.#closer(group);
      else this.#choose(this.#selected.value.fills.indexOf(group.first));
    });
  }

  #closer({ first, until }: FillGroup) {
    const from = valueAt(this.data.fills.at, first);
    const { span } = this.view;
    const length = Math.min((span.to - span.from) / 4, Math.max(until - from, (span.to - span.from) / 40) * 1.3);
    this.view.set((from + until - length) / 2, (from + until + length) / 2);
  }

  /**
   * Shows a fill and its story.
   *
   * @param index - among those shown
   */
  #choose(index: number) {
    const fill = valueAt(this.#selected.value.fills, index);
    const told = fillTold(this.data, fill);
    this.#fill = index;
    this.#chosen.value = { at: told.at, px: told.px };
    const { from, to } = this.view.span;
    const edge = (to - from) / 20;
    if (told.at < from + edge || told.at > to - edge)
      this.view.set(told.at - (to - from) / 2, told.at + (to - from) / 2);
    // When the panes have been drawn there.
    requestAnimationFrame(() => {
      this.tip.value = { ...told, isPinned: true };
    });
  }
}
