/**
 * The page as a whole: engines, views, the visible view, and drawing.
 *
 * Invariants: the page is drawn at most once a frame, for any number of updates, and only the visible view; it is also drawn four times a
 * second, so that ages and windows advance; a hidden page draws nothing.
 * Not here: the start (main.ts), the content of views.
 */
import { button, element } from "../../ui-kit/client/elements.ts";
import { Actions } from "./actions.ts";
import { eachMs, oncePerFrame } from "./browser-clock.ts";
import { EnginesView } from "./engines-view.ts";
import { EventsView } from "./events-view.ts";
import { HealthView } from "./health-view.ts";
import { MarketView } from "./market-view.ts";
import { OrdersView } from "./orders-view.ts";
import { OverviewView } from "./overview-view.ts";
import { PageHeader } from "./page-header.ts";
import { PlaybackBar } from "./playback-bar.ts";
import { QuotaView } from "./quota-view.ts";
import { SeenPrices } from "./seen-prices.ts";
import type { Shortcut } from "./shortcuts.ts";
import { followKeys, showKeys } from "./shortcuts.ts";
import { put } from "./table-cells.ts";
import { themeButton } from "./theme-button.ts";
import { WatchedEngine } from "./watched-engine.ts";

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

const tickMs = 250;
const noteMs = 8_000;
/** Largest number of streams: a browser opens six connections to one address, and some are left for requests. */
const streamsMax = 4;

export class ControlRoom {
  #main;
  #header;
  #playback;
  #seen = new SeenPrices();
  #engines;
  #views: readonly View[];
  #viewButtons: HTMLButtonElement[];
  #tabs = element("nav", { class: "tabs", "aria-label": "engines", hidden: true });
  #note = element("p", { class: "note", role: "status", hidden: true });
  #noteTicks = 0;
  #watched: Map<string, WatchedEngine> = new Map();
  /** Id of the engine that is shown; empty for all of them. */
  #shown = "";
  #isAll = false;
  #view = 0;
  #mayAct = false;
  #fallback = "connecting …";
  #draw = oncePerFrame(() => this.#drawNow());
  #shortcuts: readonly Shortcut[];

  constructor(node: HTMLElement) {
    const actions = new Actions(
      () => this.#inSight.map(({ state }) => state),
      (text, tone) => this.#say(text, tone),
    );
    this.#engines = new EnginesView((id) => this.#choose(id));
    this.#views = [
      new OverviewView(actions, () => this.#canAct, this.#seen),
      new MarketView(this.#seen),
      new OrdersView(actions),
      new QuotaView(),
      new EventsView(),
      new HealthView(),
    ];
    this.#header = new PageHeader(
      actions,
      () => showKeys(this.#shortcuts),
      themeButton(() => this.#restyle()),
    );
    this.#playback = new PlaybackBar(actions);
    this.#viewButtons = this.#views.map(({ name }, index) => button(name, name, () => this.#open(index)));
    this.#main = element("main", { class: "room" }, ...this.#views.map((view) => view.node), this.#engines.node);
    const nav = element("nav", { class: "views", "aria-label": "views" }, ...this.#viewButtons);
    node.replaceChildren(this.#header.node, this.#tabs, this.#playback.node, nav, this.#main, this.#note);
    this.#shortcuts = this.#keys(actions);
    followKeys(this.#shortcuts, () => this.#views[this.#view]?.escape?.() ?? false);
    this.#open(0);
    eachMs(tickMs, () => this.#tick());
    document.addEventListener("visibilitychange", () => this.#draw());
    addEventListener("resize", () => this.#views[this.#view]?.shown());
  }

  /** The engines there are, and whether the token may act. */
  offer(ids: readonly string[], mayAct: boolean) {
    this.#mayAct = mayAct;
    document.body.classList.toggle("readonly", !mayAct);
    for (const id of ids) if (!this.#watched.has(id)) this.#watched.set(id, new WatchedEngine(id, () => this.#draw()));
    for (const [id, watched] of this.#watched) {
      if (ids.includes(id)) continue;
      watched.feed.end();
      this.#watched.delete(id);
    }
    if (!this.#watched.has(this.#shown)) {
      this.#shown = ids[0] ?? "";
      this.#isAll = ids.length > 1;
      this.#drawTabs();
      this.#open(this.#view);
    }
    this.#assign();
    this.#drawTabs();
    this.#draw();
  }

  /** Shows a problem before any engine is known. */
  tell(text: string) {
    this.#fallback = text;
    this.#draw();
  }

  get #current() {
    return this.#watched.get(this.#shown);
  }

  /** Engines that an action is for: the one that is shown, or all that run. */
  get #inSight() {
    const all = [...this.#watched.values()];
    return this.#isAll
      ? all.filter(
          ({ engine }) => engine?.playback === undefined && engine?.state === "running" && engine.access !== "read",
        )
      : all.filter((one) => one === this.#current);
  }

  get #canAct() {
    return (
      this.#mayAct &&
      this.#inSight.some(
        ({ engine, isFresh }) => engine?.playback === undefined && engine?.access !== "read" && isFresh,
      )
    );
  }

  #ifAllowed(act: () => void) {
    if (this.#canAct) act();
  }

  #keys(actions: Actions): readonly Shortcut[] {
    return [
      ...this.#views.map(({ name }, index) => ({
        key: String(index + 1),
        what: name.toLowerCase(),
        act: () => this.#open(index),
      })),
      { key: "0", what: "all engines", act: () => this.#all() },
      { key: "h", what: "halt, or resume", act: () => this.#ifAllowed(() => this.#header.halt()) },
      {
        key: "c",
        what: "cancel all open orders",
        act: () => this.#ifAllowed(() => actions.cancel({}, "all open orders")),
      },
      { key: "/", shown: "/", what: "filter the list in sight", act: () => this.#views[this.#view]?.filter?.focus() },
      { key: " ", shown: "Space", what: "play or pause a played run", act: () => this.#playback.toggle() },
      { key: "f", what: "the next fill of a played run", act: () => this.#playback.nextFill() },
      { key: "?", shown: "?", what: "this list", act: () => showKeys(this.#shortcuts) },
    ];
  }

  /** The engine that is shown is streamed, and as many others as there are connections for. */
  #assign() {
    let left = streamsMax - 1;
    for (const [id, { feed }] of this.#watched) feed.stream(id === this.#shown || left-- > 0);
  }

  #drawTabs() {
    const ids = [...this.#watched.keys()];
    this.#tabs.hidden = ids.length < 2;
    if (ids.length < 2) return;
    const all = button("All engines", "All engines", () => this.#all());
    const tabs = ids.map((id) => button(this.#watched.get(id)?.name ?? id, id, () => this.#choose(id), { title: id }));
    for (const [index, tab] of [all, ...tabs].entries()) {
      const isShown = index === 0 ? this.#isAll : !this.#isAll && ids[index - 1] === this.#shown;
      if (isShown) tab.setAttribute("aria-current", "true");
    }
    const texts = [all, ...tabs].map((tab) => `${tab.textContent} ${tab.hasAttribute("aria-current")}`).join("\n");
    if (this.#tabs.dataset["texts"] === texts) return;
    this.#tabs.dataset["texts"] = texts;
    this.#tabs.replaceChildren(all, ...tabs);
  }

  #all() {
    if (this.#watched.size < 2) return;
    this.#isAll = true;
    this.#open(this.#view);
  }

  #choose(id: string) {
    this.#shown = id;
    this.#isAll = false;
    this.#assign();
    for (const view of this.#views) view.forget();
    this.#open(this.#view);
  }

  #open(index: number) {
    if (this.#isAll && this.#watched.size < 2) this.#isAll = false;
    if (index !== this.#view) this.#isAll = false;
    this.#view = index;
    for (const [place, view] of this.#views.entries()) {
      view.node.hidden = this.#isAll || place !== index;
      const tab = this.#viewButtons[place];
      if (!this.#isAll && place === index) tab?.setAttribute("aria-current", "page");
      else tab?.removeAttribute("aria-current");
    }
    this.#engines.node.hidden = !this.#isAll;
    this.#drawTabs();
    if (!this.#isAll) this.#views[index]?.shown();
    this.#draw();
  }

  #tick() {
    for (const watched of this.#watched.values()) watched.feed.watch();
    if (!this.#note.hidden && ++this.#noteTicks * tickMs > noteMs) this.#note.hidden = true;
    this.#draw();
  }

  #drawNow() {
    if (document.hidden) return;
    const watched = this.#current;
    this.#drawTabs();
    if (this.#isAll) this.#header.drawAll([...this.#watched.values()], this.#mayAct, this.#canAct);
    else this.#header.draw(watched, this.#mayAct && watched?.engine?.access !== "read", this.#fallback);
    this.#playback.draw(this.#isAll ? undefined : watched);
    document.body.classList.toggle("cannotact", !this.#canAct);
    this.#main.classList.toggle("old", watched !== undefined && !this.#isAll && watched.isOld);
    if (this.#isAll) this.#engines.draw([...this.#watched.values()]);
    if (watched === undefined || !watched.state.hasRows) return;
    document.title = `${watched.isOld ? "⚠ " : ""}${watched.name}: ${watched.engine?.mode ?? ""}`;
    this.#seen.note(watched.state);
    if (!this.#isAll) this.#views[this.#view]?.draw(watched);
    document.documentElement.dataset["ready"] = "";
  }

  #restyle() {
    for (const view of this.#views) view.restyle?.();
  }

  #say(text: string, tone: "" | "bad") {
    put(this.#note, text);
    this.#note.className = `note ${tone}`;
    this.#note.hidden = false;
    this.#noteTicks = 0;
  }
}
