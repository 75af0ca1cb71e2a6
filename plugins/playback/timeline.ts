/**
 * Timeline of a recorded run: the updates of its control document in order, and the document at any instant.
 *
 * Invariants: at most `updatesMax` updates are kept: past that neighbours are joined, so that instants become coarser
 * and no row is lost; the document at an instant is made of the updates up to it and of no other; stories contain no
 * later event.
 * Not here: the speed of playing (playback-source.ts), the origin of updates (event-timeline.ts, view-recorder.ts).
 */

import type { Event } from "sluice";
import { type ControlChange, type ControlUpdate, mergeUpdates, type SectionName } from "sluice/plugins/control-room";

export const updatesMax = 20_000;
const keyframeEvery = 250;
/** Orders whose events are kept. */
const storiesMax = 50_000;

/** Rows by section and key; a row is the same object until it changes. */
type Picture = Map<string, ControlChange>;

const placeOf = ([section, key]: ControlChange): string => `${section}\n${key}`;

const applyTo = (picture: Picture, rows: readonly ControlChange[]): void => {
  for (const change of rows) {
    if (change[2] === null) picture.delete(placeOf(change));
    else picture.set(placeOf(change), change);
  }
};

export class Timeline {
  readonly source: string;
  #updates: ControlUpdate[] = [];
  /** Pictures before every `keyframeEvery`th update; made when they are first asked for. */
  #keyframes: Picture[] = [];
  readonly #fills: number[] = [];
  readonly #stories = new Map<string, Event[]>();
  #firstOrderAt: number | undefined;
  #whole: Picture = new Map();

  constructor(source: string) {
    this.source = source;
  }

  get from(): number {
    return this.#updates[0]?.at ?? 0;
  }

  get to(): number {
    return this.#updates.at(-1)?.at ?? 0;
  }

  /** Instant of the first event of an order, from which on there is something to see; `from` without one. */
  get beginsAt(): number {
    return Math.max(this.from, Math.min(this.to, this.#firstOrderAt ?? this.from));
  }

  get isEmpty(): boolean {
    return this.#updates.length === 0;
  }

  /** Instants never go back. */
  add(update: ControlUpdate): void {
    this.#updates.push(update);
    this.#keyframes = [];
    applyTo(this.#whole, update.rows);
    if (this.#updates.length <= updatesMax) return;
    const joined: ControlUpdate[] = [];
    for (let place = 0; place < this.#updates.length; place += 2) {
      const [one, other] = [this.#updates[place], this.#updates[place + 1]];
      if (one !== undefined) joined.push(other === undefined ? one : mergeUpdates(one, other));
    }
    this.#updates = joined;
  }

  /** Starts another process of the same run: rows that it does not know are removed. */
  restart(whole: ControlUpdate): void {
    const kept = new Set(whole.rows.map(placeOf));
    const gone = [...this.#whole.values()]
      .filter((change) => !kept.has(placeOf(change)))
      .map(([section, key]) => [section, key, null] as ControlChange);
    this.add({ ...whole, rows: [...gone, ...whole.rows] });
  }

  note(event: Event): void {
    if (event.type === "fill") this.#fills.push(event.at);
    if (!("clOrdId" in event) || event.clOrdId === "") return;
    this.#firstOrderAt ??= event.at;
    const story = this.#stories.get(event.clOrdId);
    if (story !== undefined) story.push(event);
    else if (this.#stories.size < storiesMax) this.#stories.set(event.clOrdId, [event]);
  }

  story(clOrdId: string, until: number): readonly Event[] {
    return (this.#stories.get(clOrdId) ?? []).filter(({ at }) => at <= until);
  }

  /** Instant of the first fill after one; undefined where none comes. */
  nextFill(after: number): number | undefined {
    return this.#fills.find((at) => at > after);
  }

  /** Returns the number of updates at or before an instant. */
  countUntil(at: number): number {
    let [low, high] = [0, this.#updates.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#updates[middle]?.at ?? 0) <= at) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Returns the rows of the document after `count` updates. */
  rowsAfter(count: number): readonly ControlChange[] {
    return [...this.#pictureAfter(count).values()];
  }

  /** Returns the changes from one place to another, in either direction. */
  between(before: number, after: number): readonly ControlChange[] {
    if (after - before === 1) return this.#updates[before]?.rows ?? [];
    const [old, now] = [this.#pictureAfter(before), this.#pictureAfter(after)];
    const rows: ControlChange[] = [];
    for (const [place, change] of now) if (old.get(place)?.[2] !== change[2]) rows.push(change);
    for (const [place, [section, key]] of old)
      if (!now.has(place)) rows.push([section as SectionName, key, null] as ControlChange);
    return rows;
  }

  #pictureAfter(count: number): Picture {
    const frame = Math.floor(count / keyframeEvery);
    for (let made = this.#keyframes.length; made <= frame; made++) {
      const picture: Picture = new Map(made === 0 ? [] : this.#keyframes[made - 1]);
      const first = (made - 1) * keyframeEvery;
      if (made > 0) for (const { rows } of this.#updates.slice(first, first + keyframeEvery)) applyTo(picture, rows);
      this.#keyframes.push(picture);
    }
    const picture: Picture = new Map(this.#keyframes[frame]);
    for (const { rows } of this.#updates.slice(frame * keyframeEvery, count)) applyTo(picture, rows);
    return picture;
  }
}
