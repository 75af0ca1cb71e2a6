/**
 * The page as a whole: header, tabs, the open view, and the note below.
 *
 * Invariants: only the open view is drawn; a hidden page draws nothing; what reads a signal is drawn again when it
 * changes, and nothing else is.
 * Not here: what is shown (room.ts), the content of views.
 */
import { useSignalEffect } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { Button } from "../../ui-kit/client/controls.tsx";
import { Kept } from "../../ui-kit/client/kept.ts";
import { Actions } from "./actions.ts";
import { Drawn } from "./drawn.tsx";
import { EnginesView } from "./engines-view.tsx";
import { EventsView } from "./events-view.tsx";
import { HealthView } from "./health-view.tsx";
import { MarketView } from "./market-view.ts";
import { OrdersView } from "./orders-view.ts";
import { OverviewView } from "./overview-view.tsx";
import { haltOf, PageHeader } from "./page-header.tsx";
import { PlaybackBar } from "./playback-bar.ts";
import { QuotaView } from "./quota-view.tsx";
import type { Room } from "./room.ts";
import { followKeys, type Shortcut, showKeys } from "./shortcuts.ts";

const views = ["Overview", "Market", "Orders", "Quota", "Events", "Health"];

/** Parts that draw themselves. */
const partsOf = (room: Room) => {
  const actions = new Actions(
    () => room.inSight.value.map(({ state }) => state),
    (text, tone) => room.say(text, tone),
  );
  const [market, orders, playback] = [new MarketView(room.seen), new OrdersView(actions), new PlaybackBar(actions)];
  const ifAllowed = (act: () => void) => {
    if (room.canAct.value) act();
  };
  const turn = () => {
    const { isShown, can, isHalted } = haltOf(room);
    if (isShown && can) isHalted ? actions.resume() : actions.halt();
  };
  const shortcuts: readonly Shortcut[] = [
    ...views.map((name, index) => ({ key: String(index + 1), what: name.toLowerCase(), act: () => room.open(name) })),
    { key: "0", what: "all engines", act: () => room.showAll() },
    { key: "h", what: "halt, or resume", act: () => ifAllowed(turn) },
    { key: "c", what: "cancel all open orders", act: () => ifAllowed(() => actions.cancel({}, "all open orders")) },
    { key: "/", shown: "/", what: "filter the list in sight", act: focusFilter },
    { key: " ", shown: "Space", what: "play or pause a played run", act: () => playback.toggle() },
    { key: "f", what: "the next fill of a played run", act: () => playback.nextFill() },
    { key: "?", shown: "?", what: "this list", act: () => showKeys(shortcuts) },
  ];
  followKeys(shortcuts, () => room.view.value === "Orders" && orders.escape());
  return { actions, market, orders, playback, shortcuts };
};

const focusFilter = () => document.querySelector<HTMLElement>("main input[type=search]")?.focus();

const Tabs = ({ room }: { room: Room }) => {
  const engines = room.engines.value;
  if (engines.length < 2) return null;
  const tab = (text: string, isShown: boolean, act: () => void, title: string) => (
    <Button key={title} text={text} label={title} act={act} aria-current={isShown ? "true" : undefined} />
  );
  const isAll = room.isAll.value;
  return (
    <nav class="tabs" aria-label="engines">
      {tab("All engines", isAll, () => room.showAll(), "All engines")}
      {engines.map((engine) =>
        tab(engine.name, !isAll && engine === room.current.value, () => room.show(engine.id), engine.id),
      )}
    </nav>
  );
};

const OpenView = ({ room, parts }: { room: Room; parts: ReturnType<typeof partsOf> }) => {
  const watched = room.current.value;
  if (room.isAll.value) return <EnginesView room={room} />;
  if (watched?.engine === undefined) return null;
  const draw = (view: MarketView | OrdersView) => () => {
    void [room.tick.value, room.theme.value];
    view.draw(watched);
  };
  switch (room.view.value) {
    case "Overview":
      return <OverviewView key={watched.id} watched={watched} room={room} actions={parts.actions} />;
    case "Market":
      return <Drawn key={watched.id} node={parts.market.node} draw={draw(parts.market)} />;
    case "Orders":
      return <Drawn key={watched.id} node={parts.orders.node} draw={draw(parts.orders)} />;
    case "Quota":
      return <QuotaView watched={watched} />;
    case "Events":
      return <EventsView watched={watched} />;
    default:
      return <HealthView watched={watched} />;
  }
};

/** What the page sets outside of its root: classes of the body, the title, and the mark that it is drawn. */
const follow = (room: Room) => {
  const watched = room.current.value;
  document.body.classList.toggle("readonly", !room.mayAct.value);
  document.body.classList.toggle("cannotact", !room.canAct.value);
  if (watched?.engine === undefined) return;
  document.title = `${watched.isOld ? "⚠ " : ""}${watched.name}: ${watched.engine.mode}`;
  room.seen.note(watched.state);
  document.documentElement.dataset["ready"] = "";
};

export const App = ({ room }: { room: Room }) => {
  const parts = useMemo(() => partsOf(room), [room]);
  const kept = useMemo(() => new Map<string, unknown>(), []);
  useSignalEffect(() => follow(room));
  const { note, view, isAll } = room;
  const drawPlayback = () => {
    void room.tick.value;
    parts.playback.draw(isAll.value ? undefined : room.current.value);
  };
  return (
    <Kept.Provider value={kept}>
      <PageHeader room={room} actions={parts.actions} help={() => showKeys(parts.shortcuts)} />
      <Tabs room={room} />
      <Drawn node={parts.playback.node} draw={drawPlayback} />
      <nav class="views" aria-label="views">
        {views.map((name) => (
          <Button
            key={name}
            text={name}
            act={() => room.open(name)}
            aria-current={!isAll.value && name === view.value ? "page" : undefined}
          />
        ))}
      </nav>
      <main class={`room${!isAll.value && room.current.value?.isOld ? " old" : ""}`}>
        <OpenView room={room} parts={parts} />
      </main>
      <p class={`note ${note.value?.tone ?? ""}`} role="status" hidden={note.value === undefined}>
        {note.value?.text}
      </p>
    </Kept.Provider>
  );
};
