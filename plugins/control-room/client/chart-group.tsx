/**
 * Charts that show one stretch of time: they zoom, pan and point together, and follow the present.
 *
 * Invariants: charts are drawn at most twice a second without user input, and at once with it; a chart that is not in
 * sight is not drawn; every pointer operation is also possible with keys.
 * Not here: the stretch of time (live-span.ts), one chart (equity-chart.tsx, market-chart.tsx).
 */
import { computed, type Signal, signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { ChartStage } from "../../ui-kit/client/chart-stage.tsx";
import { Button } from "../../ui-kit/client/controls.tsx";
import type { Pane, Shared, Span } from "../../ui-kit/client/pane.ts";
import { lasting } from "../../ui-kit/client/texts.ts";
import { takeKey } from "../../ui-kit/client/view.ts";
import { nowMs } from "./browser-clock.ts";
import { LiveSpan } from "./live-span.ts";
import type { Room } from "./room.ts";
import { exactInstant } from "./wording.ts";

const pauseMs = 500;
const lengths = [60_000, 600_000, 3_600_000, 6 * 3_600_000];

/** What the charts of a group share: their time, the instant under the pointer, and when they were drawn. */
export class ChartTime {
  readonly view = new LiveSpan(() => this.#redraw());
  readonly shared: Shared;
  /** Another object each time the charts are to be drawn. */
  readonly span: Signal<Span> = signal(this.view.span);
  readonly cursor = signal<number | undefined>(undefined);
  /** Instant whose values are shown. */
  readonly at = computed(() => this.cursor.value ?? this.span.value.to);
  #drawnAt = Number.NEGATIVE_INFINITY;

  /** @param label - distinguishes this group from others on the page */
  constructor(label: string) {
    this.shared = {
      startAt: 0,
      syncKey: label,
      onCursor: (at) => {
        this.cursor.value = at;
      },
    };
  }

  /** True where it is time to draw what has come. */
  get isDue() {
    return nowMs() - this.#drawnAt >= pauseMs;
  }

  /** Draws the data, which goes from here to there. */
  show(from: number, to: number) {
    this.view.reach(from, to);
    this.#redraw();
  }

  #redraw() {
    this.#drawnAt = nowMs();
    this.span.value = { ...this.view.span };
  }

  /** Follows the present at the length that is shown. */
  follow() {
    this.view.last(this.view.span.to - this.view.span.from);
  }
}

const Clock = ({ time: { span, cursor } }: { time: ChartTime }) => {
  const { from, to } = span.value;
  const [first, last] = [exactInstant(from).slice(0, 19), exactInstant(to).slice(0, 19)];
  const until = first.slice(0, 10) === last.slice(0, 10) ? last.slice(11) : last;
  const at = cursor.value;
  return (
    <output class="clock">
      {at === undefined ? `${first} – ${until}` : exactInstant(at).slice(0, to - from > 600_000 ? 19 : 23)}
    </output>
  );
};

const Times = ({ time }: { time: ChartTime }) => {
  void time.span.value;
  return (
    <span class="group">
      {lengths.map((ms) => (
        <Button key={ms} text={lasting(ms)} label={`show the last ${lasting(ms)}`} act={() => time.view.last(ms)} />
      ))}
      <Button text="all" label="show all" act={() => time.view.all()} />
      <Button text="follow" label="follow the present" act={() => time.follow()} aria-pressed={time.view.follows} />
    </span>
  );
};

type Parts = {
  label: string;
  time: ChartTime;
  charts: readonly Pane[];
  room: Room;
  /** Controls in front of those of the time. */
  children?: ComponentChildren;
};

export const ChartGroup = ({ label, time, charts, room, children }: Parts) => {
  const takeKeys = (event: KeyboardEvent) => {
    if (event.key !== "End") return takeKey(event, time.view);
    time.follow();
    return true;
  };
  return (
    <div>
      <div class="bar">
        {children}
        <Times time={time} />
        <Clock time={time} />
      </div>
      <ChartStage
        label={`${label}. Arrow keys pan, plus and minus zoom, 0 shows all, End follows the present.`}
        view={time.view}
        charts={charts}
        span={time.span}
        at={time.at}
        theme={room.theme}
        takeKey={takeKeys}
      />
    </div>
  );
};
