/**
 * All engines of this address: one card each, with a link to it.
 *
 * Invariants: an engine that is halted, failed or not connected is marked as such on its card, in words.
 */
import { countOf, figure } from "../../ui-kit/client/texts.ts";
import { unitOf } from "./quota-gauges.tsx";
import type { Room } from "./room.ts";
import { openOrders } from "./tiles.tsx";
import type { WatchedEngine } from "./watched-engine.ts";
import { gainText, modeText, placeOfTrading, toneOf } from "./wording.ts";

const aboutOf = ({ state, engine }: WatchedEngine) => {
  const { resting, waiting } = openOrders(state);
  const failed = state.list("strategies").filter((row) => row.state === "failed").length;
  const minute = state.list("quota").find(({ layer }) => layer === "uid");
  return [
    engine === undefined ? "" : placeOfTrading(engine).text,
    countOf(resting + waiting, "open order"),
    countOf(state.rows("strategies").size, "strategy", "strategies") + (failed > 0 ? `, ${figure(failed)} failed` : ""),
    minute === undefined ? "" : `${figure(minute.used)} of ${figure(minute.capacity)} ${unitOf(minute)} used`,
  ]
    .filter((text) => text !== "")
    .join(" · ");
};

const Card = ({ watched, open }: { watched: WatchedEngine; open: () => void }) => {
  const { state, engine, isFresh, name, feed } = watched;
  const isTrading = engine?.mode === "active" && engine.state === "running";
  const tone = !isFresh || engine?.mode === "halted" ? "bad" : isTrading ? "good" : "amber";
  const words = feed.state.state !== "open" ? "not connected" : engine === undefined ? "" : modeText(engine);
  const money = state.list("money");
  return (
    <li class={isFresh ? "" : "old"}>
      <button type="button" class="card" onClick={open}>
        <span class="cardhead">
          <strong>{name}</strong>
          <span class={`chip ${tone}`}>{words}</span>
        </span>
        <p class={`big ${money.length === 1 ? toneOf(money[0]?.profit) : ""}`}>
          {money.map(({ profit, currency }) => `${gainText(profit)} ${currency}`).join(", ") || "no trades yet"}
        </p>
        <p class="soft">{aboutOf(watched)}</p>
      </button>
    </li>
  );
};

export const EnginesView = ({ room }: { room: Room }) => (
  <ul class="cards">
    {room.engines.value.map((watched) => (
      <Card key={watched.id} watched={watched} open={() => room.show(watched.id)} />
    ))}
  </ul>
);
