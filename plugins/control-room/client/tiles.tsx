/**
 * The figures at the top of the overview: profits, orders, positions, and what is left of the quota.
 *
 * Invariants: money is in front; profits of different currencies are never added.
 */
import { countOf, figure } from "../../ui-kit/client/texts.ts";
import type { MoneyRow, QuotaRow } from "../control-rows.ts";
import type { SourceState } from "./source-state.ts";
import type { WatchedEngine } from "./watched-engine.ts";
import { gainText, leftText, moneyText, toneOf } from "./wording.ts";

type Tile = { name: string; value: string; more: string; tone?: string; title?: string };

const onTheWay = ["planned", "sent", "unknown"];

/** Open orders: those at the service, and those on their way to it. */
export const openOrders = (state: SourceState) => {
  let [resting, waiting] = [0, 0];
  for (const { isFinal, phase } of state.rows("orders").values()) {
    if (isFinal) continue;
    if (onTheWay.includes(phase)) waiting++;
    else resting++;
  }
  return { resting, waiting };
};

const moneyTile = (row: MoneyRow | undefined): Tile => {
  if (row === undefined) return { name: "Profit", value: "–", more: "no trades yet" };
  const { currency, profit, realised, unrealised, fees } = row;
  return {
    name: `Profit in ${currency}`,
    value: gainText(profit),
    more: `realised ${gainText(realised)} · unrealised ${gainText(unrealised)} · fees ${moneyText(fees)}`,
    tone: toneOf(profit),
    title: `${profit} = ${realised} + ${unrealised} - ${fees}`,
  };
};

const ordersTile = (state: SourceState): Tile => {
  const { resting, waiting } = openOrders(state);
  return {
    name: "Open orders",
    value: figure(resting),
    more: waiting === 0 ? "none being placed" : `${figure(waiting)} being placed`,
  };
};

const positionsTile = (state: SourceState): Tile => {
  const held = state.list("positions").filter(({ qty }) => Number(qty) !== 0);
  const instruments = new Set(held.map(({ instId }) => instId)).size;
  return {
    name: "Positions held",
    value: figure(held.length),
    more: held.length === 0 ? "flat" : `in ${countOf(instruments, "instrument")}`,
  };
};

/** Of several users the one that has least left: it is the one that waits. */
const weightTile = ({ state, now }: WatchedEngine): Tile | undefined => {
  const minutes = state.list("quota").filter(({ layer }) => layer === "uid");
  const leftOf = ({ capacity, used, windowEndsAt }: QuotaRow) => capacity - (windowEndsAt <= now ? 0 : used);
  const [minute] = minutes.sort((a, b) => leftOf(a) - leftOf(b));
  if (minute === undefined) return undefined;
  const { capacity, reserved, scope, windowEndsAt } = minute;
  const until = windowEndsAt <= now ? "" : `, resets in ${leftText(windowEndsAt - now)}`;
  return {
    name: "Weight left",
    value: figure(leftOf(minute)),
    more: `of ${figure(capacity)} a window${minutes.length > 1 ? ` by ${scope}` : ""}${until}`,
    tone: leftOf(minute) <= reserved ? "amber" : "",
  };
};

const queueTile = (state: SourceState): Tile => {
  const { queued = 0, inFlight = 0 } = state.row("queue", "all") ?? {};
  const name = "Waiting for quota";
  const flying = `${figure(inFlight)} in flight`;
  if (state.lacks("queue"))
    return { name, value: "–", more: state.lacks("limits") ? "not recorded" : `not recorded · ${flying}` };
  return {
    name,
    value: queued === 0 ? "none" : countOf(queued, "action"),
    more: flying,
    tone: queued > 0 ? "amber" : "",
  };
};

/** A component of its own, so that a tile is drawn again only with the rows that it reads. */
const TileOf = ({ read }: { read: () => Tile | undefined }) => {
  const tile = read();
  if (tile === undefined) return null;
  const { name, value, more, tone = "", title = "" } = tile;
  return (
    <div class="tile">
      <dt>{name}</dt>
      <dd>
        <span class={tone} title={title}>
          {value}
        </span>
        <small>{more}</small>
      </dd>
    </div>
  );
};

export const Tiles = ({ watched }: { watched: WatchedEngine }) => {
  const { state } = watched;
  const currencies = [...state.rows("money").keys()];
  return (
    <dl class="tiles">
      {currencies.map((currency) => (
        <TileOf key={currency} read={() => moneyTile(state.row("money", currency))} />
      ))}
      {currencies.length === 0 && <TileOf read={() => moneyTile(undefined)} />}
      <TileOf read={() => ordersTile(state)} />
      <TileOf read={() => positionsTile(state)} />
      <TileOf read={() => weightTile(watched)} />
      <TileOf read={() => queueTile(state)} />
    </dl>
  );
};
