/**
 * List of events, the latest first: filtered by words and by severity.
 *
 * Invariants: an event is one line; its severity is shown by a word and a mark as well as by a colour.
 */
import { signal, untracked } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { bound, Choice, Search } from "../../ui-kit/client/controls.tsx";
import { useKept } from "../../ui-kit/client/kept.ts";
import { Table } from "../../ui-kit/client/table.tsx";
import type { TableColumn } from "../../ui-kit/client/table-columns.ts";
import { countOf } from "../../ui-kit/client/texts.ts";
import type { EventRow } from "../control-rows.ts";
import type { WatchedEngine } from "./watched-engine.ts";
import { clockText, exactInstant } from "./wording.ts";

const marks: Readonly<Record<string, string>> = { info: "", warn: "▲ ", bad: "■ " };
const tones: Readonly<Record<string, string>> = { info: "", warn: "amber", bad: "loss" };

const severities = [
  ["", "all events"],
  ["warn", "warnings and problems"],
  ["bad", "problems"],
] as const;

const markedText = ({ severity, text }: EventRow) => `${marks[severity] ?? ""}${text}`;

/** A short line for a list. */
export const EventLine = ({ row, now }: { row: EventRow; now: number }) => (
  <li class={tones[row.severity]} title={`${exactInstant(row.at)}  ${row.text}`}>
    <time>{clockText(row.at, now)}</time>
    <span>{markedText(row)}</span>
  </li>
);

const columnsOf = (now: () => number): readonly TableColumn<EventRow>[] => [
  {
    name: "time",
    text: ({ at }) => clockText(at, now()),
    title: ({ at }) => exactInstant(at),
    isText: true,
    width: 142,
    narrow: 128,
  },
  {
    name: "text",
    text: markedText,
    tone: ({ severity }) => tones[severity] ?? "",
    isText: true,
    width: 300,
    narrow: 220,
    grow: true,
  },
  { name: "type", text: ({ type }) => type, isText: true, width: 150, wide: true },
];

export const EventsView = ({ watched }: { watched: WatchedEngine }) => {
  const { words, severity } = useKept("events", () => ({ words: signal(""), severity: signal("") }));
  const columns = useMemo(() => columnsOf(() => untracked(() => watched.now)), [watched]);
  const all = watched.state.list("events");
  const [word, least] = [words.value.toLowerCase(), severity.value];
  const fits = ({ text, type, severity: own }: EventRow) =>
    (least === "" || own === "bad" || own === least) && (word === "" || `${type} ${text}`.toLowerCase().includes(word));
  const rows = all.filter(fits).reverse();
  const of = rows.length < all.length ? ` of ${all.length}` : "";
  return (
    <div class="fill">
      <div class="bar">
        <Search label="filter events by words" of={words} />
        <Choice label="severity of events" {...bound(severity)} choices={severities} />
        <span class="soft" role="status">
          {`${countOf(rows.length, "event")}${of}${all.length >= 500 ? ", the last 500" : ""}`}
        </span>
      </div>
      <Table
        label="Events, the latest first"
        columns={columns}
        rows={rows}
        keyOf={({ seq }) => String(seq)}
        empty={word + least === "" ? "No events yet." : "No event matches the filter."}
        rowTone={(row) => (row.severity === "bad" ? "tone-bad" : "")}
      />
    </div>
  );
};
