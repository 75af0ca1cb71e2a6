/**
 * The controls of a played run: pause, speed, the place in its time, and the next fill.
 *
 * Invariants: shown only for a run that is played; while a user drags the slider, its position is theirs; parts that the recording lacks
 * are listed there.
 */
import { button, choice, element } from "../../ui-kit/client/elements.ts";
import type { PlaybackState } from "../control-rows.ts";
import type { Actions } from "./actions.ts";
import { put } from "./table-cells.ts";
import type { WatchedEngine } from "./watched-engine.ts";
import { exactInstant, unrecordedText } from "./wording.ts";

const speeds = [1, 2, 5, 10, 60, 100, 300, 1_000, 10_000];
const steps = 10_000;

export class PlaybackBar {
  node;
  #actions;
  #play;
  #speed;
  #place = element("input", {
    type: "range",
    min: "0",
    max: String(steps),
    step: "1",
    "aria-label": "place in the run",
  });
  #clock = element("output", { class: "clock" });
  #missing = element("p", { class: "missing soft", hidden: true });
  #isHeld = false;
  #state: PlaybackState | undefined;

  constructor(actions: Actions) {
    this.#actions = actions;
    this.#play = button("❚❚", "pause", () => this.toggle());
    this.#speed = choice(
      "speed",
      speeds.map((speed) => [String(speed), `${speed}×`]),
      (value) => actions.play({ speed: Number(value) }),
    );
    this.#place.addEventListener("input", () => {
      this.#isHeld = true;
      put(this.#clock, exactInstant(this.#chosen));
    });
    this.#place.addEventListener("change", () => {
      this.#isHeld = false;
      actions.play({ seekTo: this.#chosen });
    });
    for (const control of [this.#speed, this.#place]) control.classList.add("acts");
    this.#play.classList.add("acts");
    const bar = element(
      "div",
      { class: "bar playback", role: "toolbar", "aria-label": "playback" },
      button("|◂", "to the start", () => this.#state && actions.play({ seekTo: this.#state.from }), { class: "acts" }),
      this.#play,
      button("fill ▸|", "to the next fill", () => this.nextFill(), { class: "acts" }),
      this.#speed,
      this.#place,
      this.#clock,
    );
    this.node = element("div", { class: "played", hidden: true }, bar, this.#missing);
  }

  toggle() {
    if (this.#state !== undefined) this.#actions.play({ paused: !this.#state.paused });
  }

  /** Pauses at the instant of the next one. */
  nextFill() {
    if (this.#state !== undefined) this.#actions.play({ toNextFill: true });
  }

  draw(watched: WatchedEngine | undefined) {
    const playback = watched?.engine?.playback;
    this.#state = playback;
    this.node.hidden = playback === undefined;
    if (playback === undefined) return;
    const missing = unrecordedText(watched?.engine?.unrecorded);
    this.#missing.hidden = missing === "";
    put(this.#missing, missing);
    const { from, to, at, speed, paused } = playback;
    put(this.#play, paused ? "▶" : "❚❚");
    const label = paused ? "play" : "pause";
    this.#play.setAttribute("aria-label", label);
    this.#play.title = label;
    if (document.activeElement !== this.#speed) this.#speed.value = String(speed);
    if (this.#isHeld) return;
    this.#place.value = String(Math.round((steps * (at - from)) / Math.max(1, to - from)));
    this.#place.setAttribute("aria-valuetext", exactInstant(at));
    put(this.#clock, exactInstant(at).slice(0, 21));
  }

  get #chosen() {
    const { from = 0, to = 0 } = this.#state ?? {};
    return Math.round(from + ((to - from) * Number(this.#place.value)) / steps);
  }
}
