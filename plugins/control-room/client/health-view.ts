/**
 * The engine's health: connections, clock, staleness, latencies, event loop, journal and watchdog.
 *
 * Invariants: problems are listed first and described in words; the connection of this page is one of the rows.
 */
import { element } from "../../ui-kit/client/elements.ts";
import { figure, lasting } from "../../ui-kit/client/texts.ts";
import type { HealthRow } from "../control-rows.ts";
import { VirtualTable } from "./virtual-table.ts";
import type { WatchedEngine } from "./watched-engine.ts";
import { exactInstant } from "./wording.ts";

type NamedHealth = HealthRow & { name: string };

const words: Readonly<Record<string, string>> = { ok: "ok", warn: "▲ look at it", bad: "■ bad" };
const ranks = ["bad", "warn", "ok"];

const valueText = ({ value, unit }: NamedHealth) => {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "number") return value;
  return unit === "ms"
    ? Math.abs(value) < 1_000
      ? `${figure(value, 1)} ms`
      : lasting(Math.abs(value))
    : `${figure(value, 3)}${unit === "" ? "" : ` ${unit}`}`;
};

export class HealthView {
  name = "Health";
  node;
  #facts = element("dl", { class: "facts" });
  #table;
  #version = "";
  #isUnrecorded = false;

  constructor() {
    this.#table = new VirtualTable({
      label: "Health of the engine",
      columns: [
        {
          name: "what",
          text: ({ name }) => name,
          value: ({ name }) => name,
          isText: true,
          width: 200,
          narrow: 138,
          grow: true,
        },
        { name: "value", text: valueText, title: ({ value }) => String(value), width: 250, narrow: 106 },
        {
          name: "state",
          text: ({ state }) => words[state] ?? state,
          value: ({ state }) => ranks.indexOf(state),
          tone: ({ state }) => (state === "bad" ? "loss" : state === "warn" ? "amber" : "gain"),
          isText: true,
          width: 120,
          narrow: 102,
        },
      ],
      keyOf: ({ name }) => name,
      empty: () => (this.#isUnrecorded ? "Health is not recorded." : "The engine has not reported its health yet."),
      rowTone: ({ state }) => (state === "bad" ? "tone-bad" : ""),
      sort: { column: 2, down: false },
      most: 30,
    });
    this.node = element(
      "div",
      { class: "split even" },
      element("section", {}, element("h2", {}, "Health"), this.#table.node),
      element("section", {}, element("h2", {}, "This run"), this.#facts),
    );
  }

  draw(watched: WatchedEngine) {
    const { state, engine } = watched;
    const version = `${watched.id} ${state.version(["health", "engine"])}`;
    if (version === this.#version) return;
    this.#version = version;
    this.#isUnrecorded = state.lacks("health");
    this.#table.set([...state.rows("health")].map(([name, row]) => ({ ...row, name })));
    const facts = [
      ["engine", engine?.name ?? watched.id],
      ["kind", engine?.kind ?? ""],
      ["environment", engine?.environment || "none"],
      ["started", engine === undefined ? "" : exactInstant(engine.startedAt)],
      ["run of its journal", engine?.run === undefined ? "no journal" : `number ${figure(engine.run)}`],
      ["version of Sluice", engine?.version ?? ""],
    ];
    this.#facts.replaceChildren(
      ...facts.flatMap(([label = "", text = ""]) => [element("dt", {}, label), element("dd", {}, text)]),
    );
  }

  shown() {
    this.#table.draw();
  }

  forget() {
    this.#version = "";
  }
}
