/**
 * The charts of a page: panes over one span of time, what they show of whom, and the fill or trade that is looked at.
 *
 * Invariants: all panes show the same time and the same instant under the cursor; what can be done with a pointer can be done with keys.
 * Not here: where the data comes from (main.ts).
 */

import type { FillGroup } from "../../ui-kit/client/columns.ts";
import { placeOf, placesWhere, spreadOf, valueAt } from "../../ui-kit/client/columns.ts";
import { choice, element } from "../../ui-kit/client/elements.ts";
import { livesOf } from "../../ui-kit/client/orders.ts";
import type { Pane, Shared } from "../../ui-kit/client/pane.ts";
import { forgetColours, linePane } from "../../ui-kit/client/pane.ts";
import type { Shown } from "../../ui-kit/client/price-pane.ts";
import { PricePane } from "../../ui-kit/client/price-pane.ts";
import { fillStory, placeTip, storyOf } from "../../ui-kit/client/story.ts";
import { countOf, figure, instant, spanText } from "../../ui-kit/client/texts.ts";
import { createView, followPointer, takeKey } from "../../ui-kit/client/view.ts";
import type { PageData } from "../../ui-kit/page-data.ts";
import { linePanes } from "./line-panes.ts";
import { toolbar } from "./toolbar.ts";

const syncKey = "run";
const help =
  "Arrow keys pan, with Shift further; plus and minus zoom; 0 shows all; N and P go to the next and the previous fill; Enter looks closer; Escape lets go.";

export class Explorer {
  #data;
  #charts = element("div", { id: "charts", tabindex: "0", role: "group", "aria-label": `Charts. ${help}` });
  #tip = element("div", { class: "tip", hidden: true });
  #live = element("div", { class: "unseen", role: "status", "aria-live": "polite" });
  #clock = element("output", { class: "clock" });
  #view;
  #pointer;
  #panes: Pane[] = [];
  #price: PricePane;
  #shown: Shown;
  #strategy = -1;
  #withBenchmark;
  /** Place among the shown fills. */
  #fill = -1;
  #pinned = false;
  #shared: Shared;
  #instruments;

  constructor(data: PageData, node: HTMLElement) {
    this.#data = data;
    livesOf(data);
    const { benchmark, equity } = data;
    this.#withBenchmark = benchmark !== undefined && spreadOf(benchmark.value) <= 8 * spreadOf(equity.value);
    this.#shared = { startAt: data.startAt, syncKey, onCursor: (at) => this.#tell(at) };
    this.#shown = {
      instrument: 0,
      asLine: data.instruments[0]?.of !== "candle",
      withFills: true,
      withOrders: true,
      fills: new Uint32Array(),
      orders: new Uint32Array(),
      plots: [],
      trade: undefined,
      chosen: undefined,
    };
    this.#select();
    this.#instruments = choice(
      "instrument",
      data.instruments.map(({ instId }, index) => [String(index), instId]),
      (value) => this.#instrument(Number(value)),
    );
    this.#view = createView(data.spanMs, () => this.#draw());
    node.replaceChildren(
      this.#bar(),
      element("div", { class: "stage" }, this.#charts, this.#tip),
      this.#live,
      element("p", { class: "soft keys" }, help),
    );
    this.#price = new PricePane(data, this.#shared, this.#shown, innerWidth < 600 ? 240 : 340);
    this.#build();
    this.#pointer = followPointer(this.#charts, this.#view);
    this.#listen();
    this.#view.all();
  }

  /** Shows a trade in the charts, and announces it. */
  showTrade(trade: number) {
    const { trades, spanMs, startAt, strategies } = this.#data;
    const [from, closed] = [valueAt(trades.openedAt, trade), valueAt(trades.closedAt, trade)];
    const to = closed < 0 ? spanMs : closed;
    this.#instrument(valueAt(trades.instrument, trade));
    this.#change({
      trade: {
        from: { at: from, px: valueAt(trades.entryPx, trade) },
        to: { at: to, px: valueAt(trades.exitPx, trade) },
        won: valueAt(trades.net, trade) > 0,
      },
    });
    const room = Math.max(500, (to - from) * 0.6);
    this.#view.set(from - room, to + room);
    this.#charts.focus({ preventScroll: true });
    this.#charts.scrollIntoView({ block: "start", behavior: "instant" });
    this.#live.textContent = `Trade of ${strategies[valueAt(trades.strategy, trade)]} from ${instant(from + startAt)} to ${instant(to + startAt)} is shown in the charts.`;
  }

  restyle() {
    forgetColours();
    for (const pane of this.#all) pane.restyle();
  }

  /** To the room there is, or to the width that is given. */
  resize(width?: number) {
    this.#charts.style.width = width === undefined ? "" : `${width}px`;
    for (const pane of this.#all) pane.resize();
    this.#draw();
  }

  get #all() {
    return [this.#price, ...this.#panes];
  }

  #select() {
    const { fills, orders, plots } = this.#data;
    const { instrument } = this.#shown;
    const isOwn = (strategy: number | undefined) => this.#strategy === -1 || strategy === this.#strategy;
    this.#shown = {
      ...this.#shown,
      fills: placesWhere(
        fills.at.length,
        (fill) => fills.instrument[fill] === instrument && isOwn(fills.strategy[fill]),
      ),
      orders: placesWhere(
        orders.px.length,
        (order) => orders.instrument[order] === instrument && isOwn(orders.strategy[order]),
      ),
      plots: plots.filter(({ pane, instrument: of }) => pane === "price" && (of === -1 || of === instrument)),
    };
    this.#fill = -1;
  }

  #build() {
    for (const { plot } of this.#panes) plot.destroy();
    this.#charts.replaceChildren(this.#price.node);
    const panes = linePanes(this.#data, this.#shown.instrument, this.#withBenchmark);
    // Each is measured when it is in its place.
    this.#panes = panes.map((pane, index) => {
      const made = linePane(this.#shared, pane, index === panes.length - 1);
      this.#charts.append(made.node);
      made.resize();
      return made;
    });
    this.#price.resize();
  }

  #instrument(instrument: number) {
    if (instrument === this.#shown.instrument) return;
    this.#change({ instrument, trade: undefined, chosen: undefined });
    this.#instruments.value = String(instrument);
    this.#select();
    this.#build();
    this.#change({});
  }

  #change(what: Partial<Shown>) {
    this.#shown = { ...this.#shown, ...what };
    this.#draw();
  }

  #draw() {
    this.#price.set(this.#shown);
    for (const pane of this.#all) pane.show(this.#view.span);
    this.#hideTip();
    this.#tell(undefined);
  }

  #tell(at: number | undefined) {
    const { span } = this.#view;
    const { startAt, spanMs } = this.#data;
    const shown = at ?? Math.min(span.to, spanMs);
    for (const pane of this.#all) pane.tell(shown);
    this.#clock.textContent =
      at === undefined
        ? spanText(startAt, Math.max(0, span.from), shown)
        : `${instant(at + startAt, span.to - span.from)} UTC`;
  }

  #bar() {
    return toolbar(this.#data, this.#view, {
      instruments: this.#instruments,
      clock: this.#clock,
      asLine: this.#shown.asLine,
      withBenchmark: this.#withBenchmark,
      change: (what) => this.#change(what),
      strategy: (strategy) => {
        this.#strategy = strategy;
        this.#select();
        this.#change({ chosen: undefined });
      },
      benchmark: (on) => {
        this.#withBenchmark = on;
        this.#build();
        this.#draw();
      },
      step: (by) => this.#step(by),
    });
  }

  #listen() {
    const { over } = this.#price.plot;
    this.#charts.addEventListener("pointerdown", () => this.#charts.focus({ preventScroll: true }));
    over.addEventListener("mousemove", (event) => {
      if (this.#pinned || event.buttons !== 0) return;
      const group = this.#price.markNear(event.offsetX, event.offsetY);
      if (group === undefined) this.#hideTip();
      else placeTip(this.#tip, this.#price.plot, group, storyOf(this.#data, group));
    });
    over.addEventListener("mouseleave", () => {
      if (!this.#pinned) this.#hideTip();
    });
    over.addEventListener("click", (event) => {
      if (this.#pointer.wasDragged()) return;
      const group = this.#price.markNear(event.offsetX, event.offsetY);
      if (group === undefined) this.#letGo();
      else if (group.count > 1) this.#closer(group);
      else this.#choose(this.#shown.fills.indexOf(group.first));
    });
    this.#charts.addEventListener("keydown", (event) => {
      if (event.target !== this.#charts) return;
      const own = {
        n: () => this.#step(1),
        p: () => this.#step(-1),
        escape: () => this.#letGo(),
        enter: () => this.#zoomToFill(),
      }[event.key.toLowerCase()];
      if (own !== undefined && !event.ctrlKey && !event.metaKey) own();
      else if (!takeKey(event, this.#view)) return;
      event.preventDefault();
    });
  }

  #closer({ first, until }: FillGroup) {
    const from = valueAt(this.#data.fills.at, first);
    const { span } = this.#view;
    const length = Math.min((span.to - span.from) / 4, Math.max(until - from, (span.to - span.from) / 40) * 1.3);
    this.#view.set((from + until - length) / 2, (from + until + length) / 2);
  }

  #hideTip() {
    this.#pinned = false;
    this.#tip.hidden = true;
  }

  #letGo() {
    this.#fill = -1;
    this.#change({ trade: undefined, chosen: undefined });
  }

  /** To the next or the previous fill; the first time to one in sight. */
  #step(by: 1 | -1) {
    const { fills } = this.#data;
    const shown = this.#shown.fills;
    if (shown.length === 0) {
      this.#live.textContent = "No fill is shown.";
      return;
    }
    const { from, to } = this.#view.span;
    if (this.#fill === -1) {
      const times = Float64Array.from(shown, (fill) => valueAt(fills.at, fill));
      this.#fill = by === 1 ? placeOf(times, from) - 1 : placeOf(times, to);
    }
    this.#choose(Math.max(0, Math.min(shown.length - 1, this.#fill + by)));
  }

  /**
   * Shows a fill and its story.
   *
   * @param index - among those shown
   */
  #choose(index: number) {
    const { fills } = this.#data;
    const shown = this.#shown.fills;
    this.#fill = index;
    const fill = valueAt(shown, index);
    const [at, px] = [valueAt(fills.at, fill), valueAt(fills.px, fill)];
    this.#change({ chosen: { at, px } });
    const { from, to } = this.#view.span;
    const edge = (to - from) / 20;
    if (at < from + edge || at > to - edge) this.#view.set(at - (to - from) / 2, at + (to - from) / 2);
    // When the panes have been drawn there.
    requestAnimationFrame(() => {
      placeTip(this.#tip, this.#price.plot, { at, px }, fillStory(this.#data, fill));
      this.#pinned = true;
      this.#live.textContent = `Fill ${figure(this.#fill + 1)} of ${countOf(shown.length, "fill")}: ${[...this.#tip.children].map((child) => child.textContent).join(". ")}`;
    });
  }

  #zoomToFill() {
    const fill = this.#shown.fills[this.#fill];
    if (fill === undefined) return;
    const at = valueAt(this.#data.fills.at, fill);
    const { from, to } = this.#view.span;
    this.#view.set(at - (to - from) / 16, at + (to - from) / 16);
  }
}
