/**
 * The first view: profits, positions, the remaining quota, and waiting actions.
 *
 * Invariants: where there are several users each has a row of money of its own; strategies and positions are all there,
 * in tables that scroll.
 */
import { useMemo } from "preact/hooks";
import type { PositionRow } from "../control-rows.ts";
import { accountRows, usersOf } from "./account-rows.ts";
import type { Actions } from "./actions.ts";
import { Drawn } from "./drawn.tsx";
import { EquityChart } from "./equity-chart.ts";
import { EventLine } from "./events-view.tsx";
import { accountColumns, balanceColumns, positionColumns, strategyColumns } from "./overview-columns.ts";
import { OverviewPrice } from "./overview-price.ts";
import { QuotaGauges } from "./quota-gauges.tsx";
import type { Room } from "./room.ts";
import { openStrategy } from "./strategy-dialog.ts";
import { Tiles } from "./tiles.tsx";
import { VirtualTable } from "./virtual-table.tsx";
import type { WatchedEngine } from "./watched-engine.ts";

const eventsShown = 12;
const chartPx = 210;

type Parts = { watched: WatchedEngine; open: (strategy: string) => void; close: (row: PositionRow) => void };

const Strategies = ({ watched: { state }, open }: Parts) => (
  <section>
    <h2>Strategies</h2>
    <VirtualTable
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

const Positions = ({ watched: { state }, open, close }: Parts) => {
  const columns = useMemo(() => positionColumns(close), [close]);
  return (
    <section>
      <h2>Positions</h2>
      <VirtualTable
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
      <VirtualTable
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
      <VirtualTable
        label="Balances of the account"
        columns={balanceColumns}
        rows={state.list("balances")}
        keyOf={({ currency }) => currency}
        empty={state.lacks("account") ? "Balances are not recorded." : "Balances have not been read yet."}
        most={6}
      />
    </section>
  );

const LastEvents = ({ watched: { state, now } }: { watched: WatchedEngine }) => {
  const events = state.list("events").slice(-eventsShown).reverse();
  return (
    <section>
      <h2>Last events</h2>
      <ol class="lines">
        {events.map((row) => (
          <EventLine key={row.seq} row={row} now={now} />
        ))}
        {events.length === 0 && <li class="empty">Nothing has happened yet.</li>}
      </ol>
    </section>
  );
};

export const OverviewView = ({ watched, room, actions }: { watched: WatchedEngine; room: Room; actions: Actions }) => {
  const { price, equity } = useMemo(
    () => ({ price: new OverviewPrice(room.seen, chartPx), equity: new EquityChart() }),
    [room, watched],
  );
  const close = useMemo(() => (row: PositionRow) => actions.closeHoldings(row.strategy, row.instId), [actions]);
  const open = (strategy: string) => openStrategy(watched, strategy, actions, room.canAct.value);
  const drawPrice = () => {
    void [room.tick.value, room.theme.value];
    price.update(watched.state);
  };
  const drawEquity = () => {
    void [room.tick.value, room.theme.value];
    equity.update(watched.state, chartPx);
  };
  const parts = { watched, open, close };
  return (
    <div>
      <Tiles watched={watched} />
      <div class="split">
        <div>
          <div class="twocharts">
            <Drawn node={price.node} draw={drawPrice} />
            <section>
              <h2>Profit</h2>
              <Drawn node={equity.node} draw={drawEquity} />
            </section>
          </div>
          <Accounts watched={watched} />
          <Strategies {...parts} />
          <Positions {...parts} />
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
