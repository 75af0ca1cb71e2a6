/**
 * State of the page: its engines, the one in sight, the open view, and the texts and dialogs above them.
 *
 * Invariants: at most `streamsMax` engines are streamed, the shown one always; ages and windows advance several times a
 * second; a note disappears after a while.
 * Not here: drawing (app.tsx), the rows of an engine (source-state.ts).
 */
import { computed, signal } from "@preact/signals";
import { forgetColours } from "../../ui-kit/client/pane.ts";
import { eachMs, nowMs } from "./browser-clock.ts";
import type { Question } from "./dialog.tsx";
import { SeenPrices } from "./seen-prices.ts";
import { WatchedEngine } from "./watched-engine.ts";

const tickMs = 250;
const noteMs = 8_000;
/** Largest number of streams: a browser opens six connections to one address, and some are left for requests. */
const streamsMax = 4;

type Note = { text: string; tone: "" | "bad" };

export class Room {
  /** Changes several times a second. */
  readonly tick = signal(0);
  readonly engines = signal<readonly WatchedEngine[]>([]);
  readonly view = signal("Overview");
  /** True if the token may act. */
  readonly mayAct = signal(false);
  /** Shown before any engine is known. */
  readonly problem = signal("connecting …");
  readonly note = signal<Note | undefined>(undefined);
  readonly dialog = signal<Question | undefined>(undefined);
  /** Order whose story is shown; empty for none. */
  readonly story = signal("");
  /** Changes with the colours of the page. */
  readonly theme = signal(0);
  readonly seen = new SeenPrices();
  /** Id of the engine that is shown, or that was shown last; empty while none is known. */
  readonly #shown = signal("");
  readonly #isAll = signal(false);
  #notedAt = 0;

  readonly current = computed(() => this.engines.value.find(({ id }) => id === this.#shown.value));

  readonly isAll = computed(() => this.#isAll.value && this.engines.value.length > 1);

  /** Engines that an action is for: the one that is shown, or all that run. */
  readonly inSight = computed(() =>
    this.isAll.value
      ? this.engines.value.filter(
          ({ engine }) => engine?.playback === undefined && engine?.state === "running" && engine.access !== "read",
        )
      : this.engines.value.filter(({ id }) => id === this.#shown.value),
  );

  readonly canAct = computed(
    () =>
      this.mayAct.value &&
      this.inSight.value.some(
        ({ engine, isFresh }) => engine?.playback === undefined && engine?.access !== "read" && isFresh,
      ),
  );

  /** State of the played run in sight. */
  readonly playback = computed(() => (this.isAll.value ? undefined : this.current.value?.engine?.playback));

  constructor() {
    eachMs(tickMs, () => this.#next());
  }

  /** The engines there are, and whether the token may act. */
  offer(ids: readonly string[], mayAct: boolean) {
    this.mayAct.value = mayAct;
    const known = this.engines.value;
    for (const { id, feed } of known) if (!ids.includes(id)) feed.end();
    if (known.map(({ id }) => id).join("\n") !== ids.join("\n"))
      this.engines.value = ids.map((id) => known.find((one) => one.id === id) ?? new WatchedEngine(id, this.tick));
    if (!ids.includes(this.#shown.value)) {
      this.#shown.value = ids[0] ?? "";
      this.#isAll.value = ids.length > 1;
    }
    this.#assign();
  }

  showAll() {
    this.#isAll.value = true;
  }

  show(id: string) {
    this.#shown.value = id;
    this.#isAll.value = false;
    this.story.value = "";
    this.#assign();
  }

  /** Opens a view of the engine that is shown. From all engines, the open view leaves all of them in sight. */
  open(view: string) {
    if (view !== this.view.value) this.#isAll.value = false;
    this.view.value = view;
  }

  /** Opens a dialog in place of the one that is open. */
  ask(question: Question) {
    this.dialog.value = question;
  }

  /** Removes a dialog that was closed. */
  answered(question: Question) {
    if (this.dialog.value === question) this.dialog.value = undefined;
  }

  /** Returns true where one was open. */
  closeStory() {
    const wasOpen = this.story.value !== "";
    this.story.value = "";
    return wasOpen;
  }

  /** The colours of the page have changed. */
  recolour() {
    forgetColours();
    this.theme.value++;
  }

  say(text: string, tone: "" | "bad") {
    this.note.value = { text, tone };
    this.#notedAt = nowMs();
  }

  /** The engine that is shown is streamed, and as many others as there are connections for. */
  #assign() {
    let left = streamsMax - 1;
    for (const { id, feed } of this.engines.value) feed.stream(id === this.#shown.value || left-- > 0);
  }

  #next() {
    for (const watched of this.engines.value) watched.watch();
    if (nowMs() - this.#notedAt > noteMs) this.note.value = undefined;
    if (!document.hidden) this.tick.value++;
  }
}
