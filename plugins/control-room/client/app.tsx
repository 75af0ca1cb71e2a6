/**
 * The page as a whole: header, tabs, the open view, dialogs, and the note below.
 *
 * Invariants: only the open view is drawn; a hidden page draws nothing; what reads a signal is drawn again when it
 * changes, and nothing else is.
 * Not here: what is shown (room.ts), the content of views.
 */
import { useSignalEffect } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { Button } from "../../ui-kit/client/controls.tsx";
import { Kept } from "../../ui-kit/client/kept.ts";
import { Actions } from "./actions.tsx";
import { Dialog } from "./dialog.tsx";
import { EnginesView } from "./engines-view.tsx";
import { EventsView } from "./events-view.tsx";
import { HealthView } from "./health-view.tsx";
import { MarketView } from "./market-view.tsx";
import { OrdersView } from "./orders-view.tsx";
import { OverviewView } from "./overview-view.tsx";
import { haltOf, PageHeader } from "./page-header.tsx";
import { PlaybackBar } from "./playback-bar.tsx";
import { QuotaView } from "./quota-view.tsx";
import type { Room } from "./room.ts";
import { keyHandler, keyList, type Shortcut } from "./shortcuts.tsx";
import type { WatchedEngine } from "./watched-engine.ts";

type ViewParts = { watched: WatchedEngine; room: Room; actions: Actions };

const views: Readonly<Record<string, (parts: ViewParts) => JSX.Element>> = {
  Overview: OverviewView,
  Market: MarketView,
  Orders: OrdersView,
  Quota: QuotaView,
  Events: EventsView,
  Health: HealthView,
};

const shortcutsOf = (room: Room, actions: Actions): readonly Shortcut[] => {
  const ifAllowed = (act: () => void) => () => {
    if (room.canAct.value) act();
  };
  const turn = () => {
    const { isShown, can, isHalted } = haltOf(room);
    if (!isShown || !can) return;
    if (isHalted) actions.resume();
    else actions.halt();
  };
  const shortcuts: readonly Shortcut[] = [
    ...Object.keys(views).map((name, index) => ({
      key: String(index + 1),
      what: name.toLowerCase(),
      act: () => room.open(name),
    })),
    { key: "0", what: "all engines", act: () => room.showAll() },
    { key: "h", what: "halt, or resume", act: ifAllowed(turn) },
    { key: "c", what: "cancel all open orders", act: ifAllowed(() => actions.cancel({}, "all open orders")) },
    { key: "/", shown: "/", what: "filter the visible list", act: focusFilter },
    {
      key: " ",
      shown: "Space",
      what: "play or pause a replayed run",
      act: () => actions.play({ paused: room.playback.value?.paused === false }),
    },
    { key: "f", what: "the next fill of a replayed run", act: () => actions.play({ toNextFill: true }) },
    { key: "?", shown: "?", what: "this list", act: () => room.ask(keyList(shortcuts)) },
    { key: "escape", shown: "Esc", what: "close the open panel", act: () => room.closeStory() },
  ];
  return shortcuts;
};

const focusFilter = () => document.querySelector<HTMLElement>("main input[type=search]")?.focus();

const Tabs = ({ room }: { room: Room }) => {
  const engines = room.engines.value;
  if (engines.length < 2) return null;
  const isAll = room.isAll.value;
  return (
    <nav class="tabs" aria-label="engines">
      <Button text="All engines" act={() => room.showAll()} aria-current={isAll ? "true" : undefined} />
      {engines.map((engine) => (
        <Button
          key={engine.id}
          text={engine.name}
          act={() => room.show(engine.id)}
          title={engine.id}
          aria-current={!isAll && engine === room.current.value ? "true" : undefined}
        />
      ))}
    </nav>
  );
};

const ViewTabs = ({ room }: { room: Room }) => (
  <nav class="views" aria-label="views">
    {Object.keys(views).map((name) => (
      <Button
        key={name}
        text={name}
        act={() => room.open(name)}
        aria-current={!room.isAll.value && name === room.view.value ? "page" : undefined}
      />
    ))}
  </nav>
);

const Body = ({ room, actions }: { room: Room; actions: Actions }) => {
  const watched = room.current.value;
  const View = views[room.view.value];
  const isOld = !room.isAll.value && watched?.isOld === true;
  return (
    <main class={`room${isOld ? " old" : ""}`}>
      {room.isAll.value ? (
        <EnginesView room={room} />
      ) : (
        View !== undefined &&
        watched?.engine !== undefined && <View key={watched.id} watched={watched} room={room} actions={actions} />
      )}
    </main>
  );
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

const Note = ({ room: { note } }: { room: Room }) => (
  <p class={`note ${note.value?.tone ?? ""}`} role="status" hidden={note.value === undefined}>
    {note.value?.text}
  </p>
);

const OpenDialog = ({ room }: { room: Room }) => {
  const question = room.dialog.value;
  if (question === undefined) return null;
  return <Dialog key={question} question={question} closed={() => room.answered(question)} />;
};

export const App = ({ room }: { room: Room }) => {
  const actions = useMemo(() => new Actions(room), [room]);
  const shortcuts = useMemo(() => shortcutsOf(room, actions), [room, actions]);
  const kept = useMemo(() => new Map<string, unknown>(), []);
  useSignalEffect(() => follow(room));
  useEffect(() => {
    const handler = keyHandler(shortcuts);
    document.addEventListener("keydown", handler);
    return () => document.removeEventListener("keydown", handler);
  }, [shortcuts]);
  return (
    <Kept.Provider value={kept}>
      <PageHeader room={room} actions={actions} help={() => room.ask(keyList(shortcuts))} />
      <Tabs room={room} />
      <PlaybackBar room={room} actions={actions} />
      <ViewTabs room={room} />
      <Body room={room} actions={actions} />
      <Note room={room} />
      <OpenDialog room={room} />
    </Kept.Provider>
  );
};
