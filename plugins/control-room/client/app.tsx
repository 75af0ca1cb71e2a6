/**
 * The page as a whole: header, tabs, the open view, and the note below.
 *
 * Invariants: only the open view is drawn; a hidden page draws nothing; what reads a signal is drawn again when it
 * changes, and nothing else is.
 * Not here: what is shown (room.ts), the content of views.
 */
import { useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { Button } from "../../ui-kit/client/controls.tsx";
import { Kept } from "../../ui-kit/client/kept.ts";
import { Actions } from "./actions.ts";
import { EnginesView } from "./engines-view.ts";
import { EventsView } from "./events-view.ts";
import { HealthView } from "./health-view.ts";
import { MarketView } from "./market-view.ts";
import { OrdersView } from "./orders-view.ts";
import { OverviewView } from "./overview-view.ts";
import { haltOf, PageHeader } from "./page-header.tsx";
import { PlaybackBar } from "./playback-bar.ts";
import { QuotaView } from "./quota-view.ts";
import type { Room } from "./room.ts";
import { followKeys, type Shortcut, showKeys } from "./shortcuts.ts";
import type { WatchedEngine } from "./watched-engine.ts";

export type View = {
  name: string;
  node: HTMLElement;
  draw: (watched: WatchedEngine) => void;
  shown: () => void;
  forget: () => void;
  restyle?: () => void;
  escape?: () => boolean;
  filter?: HTMLElement;
};

/** A node that draws itself. */
const Drawn = ({ node, draw, isHidden = false }: { node: HTMLElement; draw: () => void; isHidden?: boolean }) => {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current?.replaceChildren(node), [node]);
  useSignalEffect(draw);
  return <div ref={place} hidden={isHidden} style={{ display: isHidden ? undefined : "contents" }} />;
};

const partsOf = (room: Room) => {
  const actions = new Actions(
    () => room.inSight.value.map(({ state }) => state),
    (text, tone) => room.say(text, tone),
  );
  const views: readonly View[] = [
    new OverviewView(actions, () => room.canAct.value, room.seen),
    new MarketView(room.seen),
    new OrdersView(actions),
    new QuotaView(),
    new EventsView(),
    new HealthView(),
  ];
  const playback = new PlaybackBar(actions);
  const open = () => views.find(({ name }) => name === room.view.value);
  const ifAllowed = (act: () => void) => {
    if (room.canAct.value) act();
  };
  const turn = () => {
    const { isShown, can, isHalted } = haltOf(room);
    if (isShown && can) isHalted ? actions.resume() : actions.halt();
  };
  const shortcuts: readonly Shortcut[] = [
    ...views.map(({ name }, index) => ({
      key: String(index + 1),
      what: name.toLowerCase(),
      act: () => room.open(name),
    })),
    { key: "0", what: "all engines", act: () => room.showAll() },
    { key: "h", what: "halt, or resume", act: () => ifAllowed(turn) },
    { key: "c", what: "cancel all open orders", act: () => ifAllowed(() => actions.cancel({}, "all open orders")) },
    { key: "/", shown: "/", what: "filter the list in sight", act: () => open()?.filter?.focus() },
    { key: " ", shown: "Space", what: "play or pause a played run", act: () => playback.toggle() },
    { key: "f", what: "the next fill of a played run", act: () => playback.nextFill() },
    { key: "?", shown: "?", what: "this list", act: () => showKeys(shortcuts) },
  ];
  followKeys(shortcuts, () => open()?.escape?.() ?? false);
  return { actions, views, playback, engines: new EnginesView((id) => room.show(id)), shortcuts };
};

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

const Body = ({ room, parts }: { room: Room; parts: ReturnType<typeof partsOf> }) => {
  const isAll = room.isAll.value;
  const watched = room.current.value;
  const shown = useRef("");
  useEffect(() => {
    const name = isAll ? "" : `${watched?.id} ${room.view.value}`;
    if (shown.current.split(" ")[0] !== watched?.id) for (const view of parts.views) view.forget();
    if (shown.current !== name) parts.views.find((view) => view.name === room.view.value)?.shown();
    shown.current = name;
  });
  useSignalEffect(() => {
    void room.theme.value;
    for (const view of parts.views) view.restyle?.();
  });
  return (
    <main class={`room${watched !== undefined && !isAll && watched.isOld ? " old" : ""}`}>
      {parts.views.map((view) => {
        const isOpen = !isAll && view.name === room.view.value;
        const draw = () => {
          void room.tick.value;
          const { current } = room;
          if (view.name === room.view.value && !room.isAll.value && current.value?.engine !== undefined)
            view.draw(current.value);
        };
        return <Drawn key={view.name} node={view.node} draw={draw} isHidden={!isOpen} />;
      })}
      <Drawn
        node={parts.engines.node}
        isHidden={!isAll}
        draw={() => {
          void room.tick.value;
          parts.engines.draw(room.engines.value);
        }}
      />
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
        {parts.views.map(({ name }) => (
          <Button
            key={name}
            text={name}
            act={() => room.open(name)}
            aria-current={!isAll.value && name === view.value ? "page" : undefined}
          />
        ))}
      </nav>
      <Body room={room} parts={parts} />
      <p class={`note ${note.value?.tone ?? ""}`} role="status" hidden={note.value === undefined}>
        {note.value?.text}
      </p>
    </Kept.Provider>
  );
};
