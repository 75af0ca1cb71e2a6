/**
 * All events of one order, from the strategy's request to the last record, in a panel next to the list.
 *
 * Invariants: every event that the engine sends about it is shown, in order, with the time since the one before; it is
 * requested again after the order has changed, at most once a second; the newest answer wins.
 */
import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Button, Facts } from "../../ui-kit/client/controls.tsx";
import { lasting } from "../../ui-kit/client/texts.ts";
import type { OrderRow } from "../control-rows.ts";
import type { Actions } from "./actions.tsx";
import { type StoryEvent, storyOfOrder } from "./api.ts";
import { afterMs, nowMs } from "./browser-clock.ts";
import type { Room } from "./room.ts";
import type { WatchedEngine } from "./watched-engine.ts";
import { averageText, exactInstant, phaseText, plainText, shortFigure, sideText } from "./wording.ts";

const againMs = 1_000;
/** Width below which the panel lies over the list and takes the focus. */
const narrowPx = 900;

/** Events of an order, and what is said in their place. They are asked for again when `changedAt` has changed. */
const useStory = (source: string, clOrdId: string, changedAt: number | undefined) => {
  const told = useSignal<{ events: readonly StoryEvent[]; said: string }>({
    events: [],
    said: "Loading …",
  });
  const askedAt = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    let isWanted = true;
    const ask = async () => {
      await afterMs(Math.max(0, askedAt.current + againMs - nowMs()));
      if (!isWanted) return;
      const at = nowMs();
      askedAt.current = at;
      const answer = await storyOfOrder(source, clOrdId).then(
        (events) => ({
          events,
          said: events.length === 0 ? "The engine no longer keeps the events of this order." : "",
        }),
        (error) => ({ events: told.peek().events, said: error instanceof Error ? error.message : String(error) }),
      );
      if (askedAt.current === at) told.value = answer;
    };
    void ask();
    return () => {
      isWanted = false;
    };
  }, [source, clOrdId, changedAt]);
  return told.value;
};

const factsOf = (order: OrderRow): readonly (readonly [name: string, text: string])[] => [
  ["state", phaseText(order.phase)],
  ["strategy", `${order.strategy}, slot ${order.slot}`],
  [
    "order",
    `${order.ordType}${order.px === "" ? "" : ` at ${shortFigure(order.px)}`}, size ${shortFigure(order.qty || order.sz)}`,
  ],
  [
    "filled",
    order.filledQty === "" || Number(order.filledQty) === 0
      ? "none"
      : `${shortFigure(order.filledQty)} at ${averageText(order.avgPx)}`,
  ],
  ...(order.reason === "" ? [] : [["reason", order.reason] as const]),
  ["id", order.clOrdId],
];

type Parts = { clOrdId: string; watched: WatchedEngine; room: Room; actions: Actions };

export const OrderStory = ({ clOrdId, watched, room, actions }: Parts) => {
  const order = watched.state.row("orders", clOrdId);
  const { events, said } = useStory(watched.id, clOrdId, order?.changedAt);
  const panel = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    if (innerWidth < narrowPx) panel.current?.focus();
  }, []);
  return (
    <aside ref={panel} class="story" aria-label="Story of an order" tabIndex={-1}>
      <div class="storyhead">
        <h2>{order === undefined ? "" : `${sideText(order.side)} ${order.instId}`}</h2>
        <Button text="×" label="close the story" act={() => room.closeStory()} />
      </div>
      {order !== undefined && <Facts facts={factsOf(order)} />}
      {order?.isFinal === false && (
        <Button text="Cancel this order …" act={() => actions.cancel({ clOrdId }, "one order")} class="acts" />
      )}
      <h3>Events</h3>
      <ol class="steps">
        {events.map((event, index) => (
          <Step key={event.seq} event={event} before={events[index - 1]} />
        ))}
      </ol>
      <p class="soft" role="status">
        {said}
      </p>
    </aside>
  );
};

const Step = ({ event, before }: { event: StoryEvent; before: StoryEvent | undefined }) => (
  <li>
    <span>{titleOf(event)}</span>
    <time title={exactInstant(event.at)}>
      {before === undefined ? exactInstant(event.at).slice(11) : `+${lasting(Math.max(0, event.at - before.at))}`}
    </time>
    <small>{detailOf(event)}</small>
  </li>
);

const titleOf = ({ type, phase }: StoryEvent) =>
  type === "order.changed" ? phaseText(plainText(phase)) : type === "fill" ? "fill" : type.replace(".", ": ");

const apart = ["seq", "at", "type", "phase", "strategy", "slot", "instId", "clOrdId", "side", "record"];

/** Returns the other fields of the event, with its own names. */
const detailOf = (event: StoryEvent) => {
  const record = (event["record"] ?? {}) as Record<string, unknown>;
  const told = Object.entries(event).filter(
    ([name, value]) => !apart.includes(name) && value !== "" && value !== undefined && value !== null,
  );
  const seen = ["state", "accFillSz", "avgPx", "fee"]
    .filter((name) => record[name] !== undefined && record[name] !== "")
    .map((name) => `${name} ${plainText(record[name])}`);
  return [
    ...told.map(([name, value]) => (name === "reason" ? plainText(value) : `${name} ${plainText(value)}`)),
    ...seen,
  ].join(" · ");
};
