/**
 * Charts that show one stretch of time: they zoom, pan and point together, and follow the present.
 *
 * Invariants: charts are drawn at most twice a second without user input, and at once with it; a chart that is not in sight is not drawn;
 * every pointer operation is also possible with keys.
 * Not here: the stretch of time (live-span.ts), one chart (equity-chart.ts, market-chart.ts).
 */
import { button, element } from "../../ui-kit/client/elements.ts";
import type { Shared, Span } from "../../ui-kit/client/pane.ts";
import { forgetColours } from "../../ui-kit/client/pane.ts";
import { lasting } from "../../ui-kit/client/texts.ts";
import { followPointer, takeKey } from "../../ui-kit/client/view.ts";
import { nowMs, oncePerFrame } from "./browser-clock.ts";
import { LiveSpan } from "./live-span.ts";
import { put } from "./table-cells.ts";
import { exactInstant } from "./wording.ts";

type Chart = { show: (span: Span) => void; tell: (at: number) => void; restyle: () => void; resize: () => void };

const pauseMs = 500;
const lengths = [60_000, 600_000, 3_600_000, 6 * 3_600_000];

export class ChartGroup {
  node;
  /** Parts that all charts share. */
  shared: Shared;
  view;
  #stage = element("div", { class: "charts", tabindex: "0", role: "group" });
  #clock = element("output", { class: "clock" });
  #present;
  #charts: readonly Chart[] = [];
  #drawnAt = Number.NEGATIVE_INFINITY;
  #width = 0;
  #dragged;

  /** @param controls - in front of those of the time */
  constructor(label: string, ...controls: Node[]) {
    const draw = oncePerFrame(() => this.#draw());
    this.view = new LiveSpan(draw);
    this.shared = { startAt: 0, syncKey: label, onCursor: (at) => this.#tell(at) };
    this.#stage.setAttribute(
      "aria-label",
      `${label}. Arrow keys pan, plus and minus zoom, 0 shows all, End follows the present.`,
    );
    const spans = lengths.map((ms) => button(lasting(ms), `show the last ${lasting(ms)}`, () => this.view.last(ms)));
    this.#present = button("follow", "follow the present", () =>
      this.view.last(this.view.span.to - this.view.span.from),
    );
    const times = element(
      "span",
      { class: "group" },
      ...spans,
      button("all", "show all", () => this.view.all()),
      this.#present,
    );
    this.node = element("div", {}, element("div", { class: "bar" }, ...controls, times, this.#clock), this.#stage);
    this.#dragged = followPointer(this.#stage, this.view).wasDragged;
    this.#stage.addEventListener("pointerdown", () => this.#stage.focus({ preventScroll: true }));
    this.#stage.addEventListener("keydown", (event) => {
      if (event.key === "End") this.view.last(this.view.span.to - this.view.span.from);
      else if (!takeKey(event, this.view)) return;
      event.preventDefault();
      event.stopPropagation();
    });
    new ResizeObserver(() => this.#resize()).observe(this.#stage);
  }

  get stage() {
    return this.#stage;
  }

  /** Returns true where the last press was a drag and no click. */
  wasDragged() {
    return this.#dragged();
  }

  /** @param charts - whose nodes are in the stage */
  hold(charts: readonly Chart[]) {
    this.#charts = charts;
    for (const chart of charts) chart.resize();
    this.#drawnAt = Number.NEGATIVE_INFINITY;
  }

  /** There is data from here to there; true where it is time to draw it. */
  isDue(from: number, to: number) {
    if (nowMs() - this.#drawnAt < pauseMs) return false;
    this.view.reach(from, to);
    return true;
  }

  redraw() {
    this.#draw();
  }

  restyle() {
    forgetColours();
    for (const chart of this.#charts) chart.restyle();
  }

  #draw() {
    this.#drawnAt = nowMs();
    if (this.#stage.clientWidth === 0) return;
    for (const chart of this.#charts) chart.show(this.view.span);
    this.#tell(undefined);
    this.#present.setAttribute("aria-pressed", String(this.view.follows));
  }

  #resize() {
    const { clientWidth } = this.#stage;
    if (clientWidth === 0 || clientWidth === this.#width) return;
    this.#width = clientWidth;
    for (const chart of this.#charts) chart.resize();
    this.#draw();
  }

  #tell(at: number | undefined) {
    const { from, to } = this.view.span;
    for (const chart of this.#charts) chart.tell(at ?? to);
    const [first, last] = [exactInstant(from).slice(0, 19), exactInstant(to).slice(0, 19)];
    const until = first.slice(0, 10) === last.slice(0, 10) ? last.slice(11) : last;
    put(
      this.#clock,
      at === undefined ? `${first} – ${until}` : exactInstant(at).slice(0, to - from > 600_000 ? 19 : 23),
    );
  }
}
