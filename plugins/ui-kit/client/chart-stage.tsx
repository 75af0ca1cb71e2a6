/**
 * Charts under each other over one stretch of time, moved by wheel, pointer and keys.
 *
 * Invariants: all charts show the same time; a chart without room is not drawn; what pointer and keys do is the same
 * for all of them.
 * Not here: the stretch of time (view.ts), one chart (pane.ts, price-pane.ts).
 */
import { effect, type ReadonlySignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Pane, Span } from "./pane.ts";
import { followPointer, type View } from "./view.ts";

type Drawn = {
  charts: readonly Pane[];
  /** Another object each time the charts are to be drawn. */
  span: ReadonlySignal<Span>;
  /** Instant whose values are shown. */
  at: ReadonlySignal<number>;
  /** Changes with the colours of the page. */
  theme: ReadonlySignal<number>;
};

type Parts = Drawn & {
  id?: string;
  label: string;
  view: View;
  /** Returns true where the key was taken. */
  takeKey: (event: KeyboardEvent) => boolean;
};

/**
 * Puts the charts into the stage and draws them, again whenever their span, the colours or the width change.
 *
 * @returns the function that stops it
 */
const keepDrawn = (stage: HTMLElement, { charts, span, at, theme }: Drawn) => {
  let width = stage.clientWidth;
  const resize = () => {
    for (const chart of charts) chart.resize();
  };
  const draw = () => {
    void theme.value;
    const shown = span.value;
    if (width > 0) for (const chart of charts) chart.show(shown);
  };
  const tell = () => {
    const instant = at.value;
    for (const chart of charts) chart.tell(instant);
  };
  stage.replaceChildren(...charts.map((chart) => chart.node));
  resize();
  const stops = [effect(draw), effect(tell)];
  const sizes = new ResizeObserver(() => {
    if (stage.clientWidth === width) return;
    width = stage.clientWidth;
    resize();
    draw();
    tell();
  });
  sizes.observe(stage);
  return () => {
    sizes.disconnect();
    for (const stop of stops) stop();
  };
};

export const ChartStage = ({ id, label, view, takeKey, charts, span, at, theme }: Parts) => {
  const stage = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => followPointer(stage.current as HTMLDivElement, view), [view]);
  useLayoutEffect(
    () => keepDrawn(stage.current as HTMLDivElement, { charts, span, at, theme }),
    [charts, span, at, theme],
  );
  const keyDown = (event: KeyboardEvent) => {
    if (event.target !== stage.current || !takeKey(event)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: charts are no fields of a form.
    <div
      ref={stage}
      id={id}
      class="charts"
      role="group"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: charts are panned and zoomed by keys.
      tabIndex={0}
      aria-label={label}
      onPointerDown={() => stage.current?.focus({ preventScroll: true })}
      onKeyDown={keyDown}
    />
  );
};
