/**
 * The first view: profits, positions, the remaining quota, and waiting actions.
 *
 * Invariants: where there are several users each has a row of money of its own; strategies and positions are all there,
 * in tables that scroll.
 */
import { signal, untracked } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { bound, Choice, chosenOf, plainChoices } from "../../ui-kit/client/controls.tsx";
import { useKept } from "../../ui-kit/client/kept.ts";
import { Table } from "../../ui-kit/client/table.tsx";
import type { PositionRow } from "../control-rows.ts";
import { accountRows, usersOf } from "./account-rows.ts";
import type { Actions } from "./actions.tsx";
import { EquityChart } from "./equity-chart.tsx";
import { EventLine } from "./events-view.tsx";
import { MarketChart } from "./market-chart.tsx";
import { instrumentsOf } from "./market-view.tsx";
import { accountColumns, balanceColumns, positionColumns, strategyColumns } from "./overview-columns.ts";
import { QuotaGauges } from "./quota-gauges.tsx";
import type { Room } from "./room.ts";
import { openStrategy } from "./strategy-dialog.tsx";
import { Tiles } from "./tiles.tsx";
import type { WatchedEngine } from "./watched-engine.ts";

const eventsShown = 12;
const chartPx = 210;

type Parts = { watched: WatchedEngine; open: (strategy: string) => void };

const Strategies = ({ watched: { state }, open }: Parts) => (
  <section>
    <h2>Strategies</h2>
    <Table
      label="Strategies. Enter opens one."
      columns={strategyColumns}
      rows={state.list("strategies")}
      keyOf={({ name }) => name}
      empty="Strategies are listed when the engine has started."
      chosen={({ name }) => open(name)}
      rowTone={(row) => (row.state === "failed" || row.mode === "halted" ? "tone-bad" : "")}
      most={8}
    />
  </section>
);

const Positions = ({ watched: { state }, open, close }: Parts & { close: (row: PositionRow) => void }) => {
  const columns = useMemo(() => positionColumns(close), [close]);
  return (
    <section>
      <h2>Positions</h2>
      <Table
        label="Positions of strategies. Enter opens the strategy."
        columns={columns}
        rows={state.list("positions")}
        keyOf={({ strategy, instId }) => `${strategy}|${instId}`}
        empty="No position and no trades yet."
        chosen={({ strategy }) => open(strategy)}
        most={8}
      />
    </section>
  );
};

/** Accounts of several users, instead of the balances of one. */
const Accounts = ({ watched: { state } }: { watched: WatchedEngine }) =>
  usersOf(state).size > 1 && (
    <section>
      <h2>Accounts</h2>
      <Table
        label="Accounts of the users"
        columns={accountColumns}
        rows={accountRows(state)}
        keyOf={({ user, currency }) => `${user}|${currency}`}
        empty="Balances have not been read yet."
        most={8}
      />
    </section>
  );

const Balances = ({ watched: { state } }: { watched: WatchedEngine }) =>
  usersOf(state).size < 2 && (
    <section>
      <h2>Balances</h2>
      <Table
        label="Balances of the account"
        columns={balanceColumns}
        rows={state.list("balances")}
        keyOf={({ currency }) => currency}
        empty={state.lacks("account") ? "Balances are not recorded." : "Balances have not been read yet."}
        most={6}
      />
    </section>
  );

const LastEvents = ({ watched }: { watched: WatchedEngine }) => {
  const events = watched.state.list("events").slice(-eventsShown).reverse();
  const now = untracked(() => watched.now);
  return (
    <section>
      <h2>Last events</h2>
      <ol class="lines">
        {events.map((row, place) => (
          <EventLine key={place} row={row} now={now} />
        ))}
        {events.length === 0 && <li class="empty">No events yet.</li>}
      </ol>
    </section>
  );
};

/** The price of one instrument; until one is chosen, what is held comes first. */
const Price = ({ watched, room }: { watched: WatchedEngine; room: Room }) => {
  const { state } = watched;
  const chosen = useKept(`price of ${watched.id}`, () => signal(""));
  const held = state.list("positions").filter(({ qty }) => Number(qty) !== 0);
  const instIds = [...new Set([...held.map(({ instId }) => instId), ...instrumentsOf(state)])];
  const instId = chosenOf(chosen.value, plainChoices(instIds));
  if (instId === "") return null;
  return (
    <section>
      <h2>Price</h2>
      {state.lacks("prices") ? (
        <p class="empty">Prices are not recorded.</p>
      ) : (
        <MarketChart
          label="Price with own fills and resting orders"
          watched={watched}
          instId={instId}
          room={room}
          height={chartPx}
        >
          <Choice
            label="instrument of the price"
            {...bound(chosen)}
            value={instId}
            choices={plainChoices(instIds.toSorted())}
          />
        </MarketChart>
      )}
    </section>
  );
};

export const OverviewView = ({ watched, room, actions }: { watched: WatchedEngine; room: Room; actions: Actions }) => {
  const close = useMemo(() => (row: PositionRow) => actions.closeHoldings(row.strategy, row.instId), [actions]);
  const open = (strategy: string) => openStrategy(room, watched.state, strategy, actions);
  return (
    <div>
      <Tiles watched={watched} />
      <div class="split">
        <div>
          <div class="twocharts">
            <Price watched={watched} room={room} />
            <section>
              <h2>Profit</h2>
              <EquityChart watched={watched} room={room} height={chartPx} />
            </section>
          </div>
          <Accounts watched={watched} />
          <Strategies watched={watched} open={open} />
          <Positions watched={watched} open={open} close={close} />
        </div>
        <div>
          <section>
            <h2>Quota</h2>
            <QuotaGauges watched={watched} />
          </section>
          <LastEvents watched={watched} />
          <Balances watched={watched} />
        </div>
      </div>
    </div>
  );
};
