/**
 * List of events, the latest first: filtered by words and by severity.
 *
 * Invariants: an event is one line; its severity is shown by a word and a mark as well as by a colour.
 */
import { choice, element } from "../../ui-kit/client/elements.ts";
import { countOf } from "../../ui-kit/client/texts.ts";
import type { EventRow } from "../control-rows.ts";
import { put } from "./table-cells.ts";
import { type TableColumn, VirtualTable } from "./virtual-table.ts";
import type { WatchedEngine } from "./watched-engine.ts";
import { clockText, exactInstant } from "./wording.ts";

const marks: Readonly<Record<string, string>> = { info: "", warn: "▲ ", bad: "■ " };
const tones: Readonly<Record<string, string>> = { info: "", warn: "amber", bad: "loss" };

/** A short line for a list. */
export const eventLine = ({ at, text, severity }: EventRow, now: number) =>
  element(
    "li",
    { class: tones[severity] ?? "", title: `${exactInstant(at)}  ${text}` },
    element("time", {}, clockText(at, now)),
    element("span", {}, `${marks[severity] ?? ""}${text}`),
  );

export class EventsView {
  name = "Events";
  node;
  #now = 0;
  #version = "";
  #words = element("input", { type: "search", placeholder: "filter by words", "aria-label": "filter events by words" });
  #severity = choice(
    "severity of events",
    [
      ["", "all events"],
      ["warn", "notes and troubles"],
      ["bad", "troubles"],
    ],
    () => this.#refresh(),
  );
  #count = element("span", { class: "soft", role: "status" });
  #watched: WatchedEngine | undefined;
  #table;

  constructor() {
    const columns: readonly TableColumn<EventRow>[] = [
      {
        name: "time",
        text: ({ at }) => clockText(at, this.#now),
        title: ({ at }) => exactInstant(at),
        isText: true,
        width: 142,
        narrow: 128,
      },
      {
        name: "what",
        text: ({ severity, text }) => `${marks[severity] ?? ""}${text}`,
        tone: ({ severity }) => tones[severity] ?? "",
        isText: true,
        width: 300,
        narrow: 220,
        grow: true,
      },
      { name: "event", text: ({ type }) => type, isText: true, width: 150, wide: true },
    ];
    this.#table = new VirtualTable({
      label: "Events, the latest first",
      columns,
      keyOf: ({ seq }) => String(seq),
      empty: () => (this.#isFiltered ? "No event fits the filter." : "Nothing has happened yet."),
      rowTone: ({ severity }) => (severity === "bad" ? "tone-bad" : ""),
    });
    this.#words.addEventListener("input", () => this.#refresh());
    this.node = element(
      "div",
      { class: "fill" },
      element("div", { class: "bar" }, this.#words, this.#severity, this.#count),
      this.#table.node,
    );
  }

  get filter() {
    return this.#words;
  }

  draw(watched: WatchedEngine) {
    this.#watched = watched;
    this.#now = watched.now;
    const version = `${watched.id} ${watched.state.version(["events"])}`;
    if (version === this.#version) return;
    this.#version = version;
    this.#refresh();
  }

  shown() {
    this.#table.draw();
  }

  forget() {
    this.#version = "";
  }

  get #isFiltered() {
    return this.#words.value !== "" || this.#severity.value !== "";
  }

  #refresh() {
    const all = this.#watched?.state.list("events") ?? [];
    const words = this.#words.value.toLowerCase();
    const least = this.#severity.value;
    const rows = all.filter(
      ({ text, type, severity }) =>
        (least === "" || severity === "bad" || severity === least) &&
        (words === "" || `${type} ${text}`.toLowerCase().includes(words)),
    );
    this.#table.set(rows.reverse());
    put(
      this.#count,
      `${countOf(rows.length, "event")}${rows.length < all.length ? ` of ${all.length}` : ""}${all.length >= 500 ? ", the last 500" : ""}`,
    );
  }
}
