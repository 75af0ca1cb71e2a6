/**
 * The frame of a picture over time: a stretched drawing with labels beside it that keep their size on every screen.
 *
 * Invariants: a drawing lives on 1000 × 1000 units and is stretched to its place, so strokes do not scale and no text is inside
 * it; coordinates have at most one fraction digit; labels never overlap at 320 pixels, where minor ones are hidden.
 * Not here: what is drawn (equity-section.ts, market-section.ts, quota-section.ts).
 */

import { timeTicks } from "../ticks.ts";
import { html, jsonAttribute, type Markup, nothing, raw } from "./markup.ts";

export interface Frame {
  readonly startAt: number;
  readonly endAt: number;
  readonly low: number;
  readonly high: number;
}

interface ReadOut {
  readonly at: number;
  readonly texts: readonly string[];
}

interface Plot {
  /** For those who cannot see the picture: what it shows, and its outcome. */
  readonly label: string;
  readonly caption: Markup | string;
  readonly height: number;
  readonly frame: Frame;
  readonly ticks: readonly { readonly value: number; readonly text: string }[];
  readonly drawing: readonly Markup[];
  readonly names: readonly string[];
  readonly reads: readonly ReadOut[];
}

export const size = 1_000;

export const xOf = (at: number, { startAt, endAt }: Frame): number =>
  endAt > startAt ? ((Math.min(endAt, Math.max(startAt, at)) - startAt) / (endAt - startAt)) * size : 0;

export const yOf = (value: number, { low, high }: Frame): number => (high > low ? ((high - value) / (high - low)) * size : size / 2);

/** Shortest text with one fraction digit. */
export const unit = (value: number): string => String(Math.round(value * 10) / 10);

export const path = (name: string, d: string): Markup => (d === "" ? nothing : raw(`<path class="${name}" d="${d}"/>`));

/** A line through points; each after the first says only how it differs, which is shorter. */
export const lineThrough = (points: readonly (readonly [x: number, y: number])[]): string =>
  points.map(([x, y], index) => `${index === 0 ? "M" : "L"}${unit(x)} ${unit(y)}`).join("");

/** All texts of one series in one, which takes fewer bytes than a list; none of ours holds the mark between them. */
const columnOf = (reads: readonly ReadOut[], index: number): string => reads.map(({ texts }) => texts[index] ?? "").join("|");

export const plotOf = ({ label, caption, height, frame, ticks, drawing, names, reads }: Plot): Markup => {
  const levels = ticks.map(({ value }) => `M0 ${unit(yOf(value, frame))}H${size}`).join("");
  const times = timeTicks(frame.startAt, frame.endAt);
  const read = {
    x: reads.map(({ at }) => Math.round(xOf(at, frame) * 10) / 10),
    s: names.map((name, index) => [name, columnOf(reads, index)]),
  };
  return html`<figure><figcaption><span>${caption}</span><output></output></figcaption>
<div class="plot" style="--h:${height}px"${reads.length > 1 ? html` data-read=${jsonAttribute(read)}` : nothing}>
<svg viewBox="0 0 ${size} ${size}" preserveAspectRatio="none" role="img" aria-label="${label}"><title>${label}</title>${path("grid", levels)}${drawing}</svg>
${ticks.map(({ value, text }) => html`<span class="y" style="top:${unit(yOf(value, frame) / 10)}%">${text.replace(/^-/, "−")}</span>`)}
${times.map(({ at, text, minor, edge }) => html`<span class="x${minor ? " minor" : ""}${edge === undefined ? "" : ` ${edge}`}" style="left:${unit(xOf(at, frame) / 10)}%">${text}</span>`)}
<span class="cursor"></span></div></figure>`;
};
