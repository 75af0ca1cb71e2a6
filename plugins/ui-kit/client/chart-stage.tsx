/**
 * Charts under each other over one stretch of time, moved by wheel, pointer and keys.
 *
 * Invariants: all charts show the same time; a chart without room is not drawn; what pointer and keys do is the same
 * for all of them.
 * Not here: the stretch of time (view.ts), one chart (pane.ts, price-pane.ts).
 */
import { type ReadonlySignal, useSignalEffect } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { forgetColours, type Pane, type Span } from "./pane.ts";
import { followPointer, type View } from "./view.ts";

export type Chart = Omit<Pane, "plot">;

type Parts = {
  id?: string;
  label: string;
  view: View;
  charts: readonly Chart[];
  /** Another object each time the charts are to be drawn. */
  span: ReadonlySignal<Span>;
  /** Instant whose values are shown. */
  at: ReadonlySignal<number>;
  /** Changes with the colours of the page. */
  theme: ReadonlySignal<number>;
  /** Returns true where the key was taken. */
  takeKey: (event: KeyboardEvent) => boolean;
};

export const ChartStage = ({ id, label, view, charts, span, at, theme, takeKey }: Parts) => {
  const stage = useRef<HTMLDivElement>(null);
  const draw = () => {
    const shown = span.value;
    if (stage.current?.clientWidth) for (const chart of charts) chart.show(shown);
  };
  const tell = () => {
    const instant = at.value;
    for (const chart of charts) chart.tell(instant);
  };
  useLayoutEffect(() => followPointer(stage.current as HTMLDivElement, view), [view]);
  useLayoutEffect(() => {
    const node = stage.current as HTMLDivElement;
    node.replaceChildren(...charts.map((chart) => chart.node));
    const fitAll = () => {
      for (const chart of charts) chart.resize();
      draw();
      tell();
    };
    fitAll();
    let width = node.clientWidth;
    const sizes = new ResizeObserver(() => {
      if (node.clientWidth === width) return;
      width = node.clientWidth;
      fitAll();
    });
    sizes.observe(node);
    return () => sizes.disconnect();
  }, [charts]);
  useSignalEffect(draw);
  useSignalEffect(tell);
  useSignalEffect(() => {
    if (theme.value === 0) return;
    forgetColours();
    for (const chart of charts) chart.restyle();
  });
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
