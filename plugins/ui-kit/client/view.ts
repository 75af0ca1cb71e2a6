/**
 * The stretch of time that all panes show, and how wheel, pointer and keys move it.
 *
 * Invariants: the stretch stays within the run and is never shorter than `spanMin`; a wheel that has nothing left to zoom out scrolls the
 * page; changes within one frame are drawn once.
 */
import { oncePerFrame } from "./frame.ts";
import type { Span } from "./pane.ts";

export type View = {
  readonly span: Span;
  readonly whole: number;
  set: (from: number, to: number) => void;
  pan: (share: number) => void;
  zoom: (factor: number, at?: number) => void;
  all: () => void;
};

const spanMin = 20;
/** Movement from which a press is a drag. */
const draggedPx = 3;

export const createView = (wholeMs: number, draw: (span: Span) => void): View => {
  // A little air, so that what happens at the edges can be seen.
  const [least, most] = [-wholeMs * 0.01, wholeMs * 1.01];
  let span = { from: least, to: most };
  const drawSpan = oncePerFrame(() => draw(span));
  const set = (from: number, to: number) => {
    const length = Math.min(most - least, Math.max(spanMin, to - from));
    const middle = (from + to) / 2;
    const begin = Math.min(most - length, Math.max(least, to - from < spanMin ? middle - length / 2 : from));
    span = { from: begin, to: begin + length };
    drawSpan();
  };
  return {
    get span() {
      return span;
    },
    whole: most - least,
    set,
    pan: (share) => {
      const by = share * (span.to - span.from);
      set(span.from + by, span.to + by);
    },
    zoom: (factor, at = (span.from + span.to) / 2) => set(at - (at - span.from) * factor, at + (span.to - at) * factor),
    all: () => set(least, most),
  };
};

/** Wheel, drag, pinch and double click on the charts. */
export const followPointer = (node: HTMLElement, view: View) => {
  const held: Map<number, number> = new Map();
  let moved = 0;
  const over = ({ target }: Event) => (target instanceof Element ? target.closest(".u-over") : null);
  const timeAt = (area: Element, clientX: number) => {
    const { left, width } = area.getBoundingClientRect();
    return view.span.from + ((clientX - left) / width) * (view.span.to - view.span.from);
  };
  node.addEventListener(
    "wheel",
    (event) => {
      const area = over(event);
      const { from, to } = view.span;
      if (area === null || event.ctrlKey) return;
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) view.pan(event.deltaX / area.clientWidth);
      else if (event.deltaY > 0 && to - from >= view.whole * 0.999) return;
      else view.zoom(1.0016 ** Math.max(-250, Math.min(250, event.deltaY)), timeAt(area, event.clientX));
      event.preventDefault();
    },
    { passive: false },
  );
  node.addEventListener("dblclick", (event) => {
    if (over(event) !== null) view.all();
  });
  node.addEventListener("pointerdown", (event) => {
    if (over(event) === null || event.button !== 0) return;
    held.set(event.pointerId, event.clientX);
    moved = 0;
  });
  node.addEventListener("pointermove", (event) => {
    const before = held.get(event.pointerId);
    const area = over(event) ?? node.querySelector(".u-over");
    if (before === undefined || area === null) return;
    const [other] = [...held].filter(([id]) => id !== event.pointerId).map(([, x]) => x);
    held.set(event.pointerId, event.clientX);
    moved += Math.abs(event.clientX - before);
    if (moved > draggedPx) node.setPointerCapture(event.pointerId);
    if (other === undefined) view.pan((before - event.clientX) / area.clientWidth);
    else
      view.zoom(
        Math.max(20, Math.abs(before - other)) / Math.max(20, Math.abs(event.clientX - other)),
        timeAt(area, (event.clientX + other) / 2),
      );
  });
  for (const ending of ["pointerup", "pointercancel"] as const) {
    node.addEventListener(ending, (event) => held.delete(event.pointerId));
  }
  // A press that moved the charts is no click on what it ends on.
  node.addEventListener(
    "click",
    (event) => {
      if (moved > draggedPx) event.stopPropagation();
    },
    { capture: true },
  );
};

const keys: Readonly<Record<string, (view: View, shift: boolean) => void>> = {
  ArrowLeft: (view, shift) => view.pan(shift ? -0.5 : -0.1),
  ArrowRight: (view, shift) => view.pan(shift ? 0.5 : 0.1),
  "+": (view) => view.zoom(0.7),
  "=": (view) => view.zoom(0.7),
  "-": (view) => view.zoom(1 / 0.7),
  _: (view) => view.zoom(1 / 0.7),
  0: (view) => view.all(),
  Home: (view) => view.pan(-1e9),
  End: (view) => view.pan(1e9),
};

/** True where the key was one of the view's. */
export const takeKey = ({ key, shiftKey, ctrlKey, metaKey, altKey }: KeyboardEvent, view: View) => {
  const act = ctrlKey || metaKey || altKey ? undefined : keys[key];
  act?.(view, shiftKey);
  return act !== undefined;
};
