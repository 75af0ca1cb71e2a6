/**
 * The quota: its windows, the actions that wait for it, and its use.
 *
 * Invariants: waiting actions are listed by class in the order of its priority, and by strategy.
 */

import { Table } from "../../ui-kit/client/table.tsx";
import { counts, type TableColumn, words } from "../../ui-kit/client/table-columns.ts";
import { figure } from "../../ui-kit/client/texts.ts";
import type { StrategyRow } from "../control-rows.ts";
import { QuotaGauges } from "./quota-gauges.tsx";
import type { WatchedEngine } from "./watched-engine.ts";

type Waiting = { key: string; kind: string; owner: string; queued: number; inFlight: number };

/** The most urgent first. */
const classes: Readonly<Record<string, string>> = {
  emergency: "emergency",
  cancel: "cancel",
  close: "close a position",
  resolve: "find out the outcome of an order",
  place: "place",
  read: "read for a strategy",
  backfill: "read ahead",
};
const order = Object.keys(classes);

const rankOf = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);

const waitingColumns: readonly TableColumn<Waiting>[] = [
  words("action", ({ kind }) => classes[kind] ?? kind, {
    value: ({ kind }) => rankOf(kind),
    width: 150,
    narrow: 110,
    grow: true,
  }),
  words("owner", ({ owner }) => owner, { width: 150, narrow: 84 }),
  counts("waiting", ({ queued }) => queued, {
    tone: ({ queued }) => (queued > 0 ? "amber" : ""),
    width: 80,
    narrow: 70,
  }),
  counts("in flight", ({ inFlight }) => inFlight, { width: 80 }),
];

const weightOfFill = ({ weight, fills }: StrategyRow) => (fills === 0 ? 0 : weight / fills);

const spentColumns: readonly TableColumn<StrategyRow>[] = [
  words("strategy", ({ name }) => name, { width: 150, grow: true }),
  counts("weight", ({ weight }) => weight, { width: 100 }),
  counts("a fill", weightOfFill, {
    label: "weight for each fill",
    text: (row) => (row.fills === 0 ? "–" : figure(weightOfFill(row), 1)),
    width: 80,
  }),
];

const waitingIn = ({ state }: WatchedEngine) =>
  [...state.rows("queue")].flatMap(([key, { queued, inFlight }]): Waiting[] => {
    const [kind = "", owner = ""] = key.split("|");
    return key === "all" || queued + inFlight === 0 ? [] : [{ key, kind, owner, queued, inFlight }];
  });

export const QuotaView = ({ watched }: { watched: WatchedEngine }) => (
  <div>
    <section>
      <h2>Windows of the quota</h2>
      <QuotaGauges watched={watched} />
    </section>
    <div class="split even">
      <section>
        <h2>Waiting and in flight</h2>
        <Table
          label="Actions that wait or are in flight"
          columns={waitingColumns}
          rows={waitingIn(watched)}
          keyOf={({ key }) => key}
          empty="No action waits or is in flight."
          sort={{ column: 0, down: false }}
          most={14}
        />
      </section>
      <section>
        <h2>Weight spent since the start</h2>
        <Table
          label="Weight spent by strategy since the start"
          columns={spentColumns}
          rows={watched.state.list("strategies")}
          keyOf={({ name }) => name}
          empty="No weight spent yet."
          sort={{ column: 1, down: true }}
          most={14}
        />
      </section>
    </div>
  </div>
);
