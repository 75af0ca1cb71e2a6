/**
 * The engine's health: connections, clock, staleness, latencies, event loop, journal and watchdog.
 *
 * Invariants: problems are listed first and described in words.
 */
import { Facts } from "../../ui-kit/client/controls.tsx";
import { Table } from "../../ui-kit/client/table.tsx";
import { type TableColumn, words } from "../../ui-kit/client/table-columns.ts";
import { figure, lasting } from "../../ui-kit/client/texts.ts";
import type { HealthRow } from "../control-rows.ts";
import type { WatchedEngine } from "./watched-engine.ts";
import { exactInstant } from "./wording.ts";

type NamedHealth = HealthRow & { name: string };

const states: Readonly<Record<string, string>> = { ok: "ok", warn: "▲ warning", bad: "■ problem" };
const ranks = ["bad", "warn", "ok"];

const valueText = ({ value, unit }: NamedHealth) => {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "number") return value;
  if (unit === "ms") return Math.abs(value) < 1_000 ? `${figure(value, 1)} ms` : lasting(Math.abs(value));
  return `${figure(value, 3)}${unit === "" ? "" : ` ${unit}`}`;
};

const columns: readonly TableColumn<NamedHealth>[] = [
  words("item", ({ name }) => name, { width: 200, narrow: 138, grow: true }),
  { name: "value", text: valueText, title: ({ value }) => String(value), width: 250, narrow: 106 },
  words("state", ({ state }) => states[state] ?? state, {
    value: ({ state }) => ranks.indexOf(state),
    tone: ({ state }) => (state === "bad" ? "loss" : state === "warn" ? "amber" : "gain"),
    width: 120,
    narrow: 102,
  }),
];

export const HealthView = ({ watched: { id, state, engine } }: { watched: WatchedEngine }) => (
  <div class="split even">
    <section>
      <h2>Health</h2>
      <Table
        label="Health of the engine"
        columns={columns}
        rows={[...state.rows("health")].map(([name, row]) => ({ ...row, name }))}
        keyOf={({ name }) => name}
        empty={state.lacks("health") ? "Health is not recorded." : "The engine has not reported its health yet."}
        rowTone={(row) => (row.state === "bad" ? "tone-bad" : "")}
        sort={{ column: 2, down: false }}
        most={30}
      />
    </section>
    <section>
      <h2>This run</h2>
      <Facts
        facts={[
          ["engine", engine?.name ?? id],
          ["kind", engine?.kind ?? ""],
          ["environment", engine?.environment || "none"],
          ["started", engine === undefined ? "" : exactInstant(engine.startedAt)],
          ["run of its journal", engine?.run === undefined ? "no journal" : `number ${figure(engine.run)}`],
          ["version of Sluice", engine?.version ?? ""],
        ]}
      />
    </section>
  </div>
);
