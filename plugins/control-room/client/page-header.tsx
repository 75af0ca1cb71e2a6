/**
 * Header of the page, always visible: the engine, its mode, its service, the connection of the page, and the halt.
 *
 * Invariants: the halt button is there whenever the token may act and the engine can receive it; a lost connection and
 * a halt are announced in a live region, once each time they begin and end.
 */
import { useRef } from "preact/hooks";
import { Button, ThemeButton } from "../../ui-kit/client/controls.tsx";
import type { EngineRow } from "../control-rows.ts";
import type { Actions } from "./actions.tsx";
import type { Room } from "./room.ts";
import type { WatchedEngine } from "./watched-engine.ts";
import { ageText, modeText, placeOfTrading } from "./wording.ts";

type Chip = { text: string; tone: string };
/** What the header says. `trouble` and `mode` are announced when they change. */
type Look = { name: string; place?: Chip; state?: Chip; link: Chip; banner: Chip; trouble: string; mode: string };

/** Whether trading can be halted or resumed here, and which of the two. */
export const haltOf = (room: Room) => {
  const { current, mayAct, canAct, isAll, engines } = room;
  const modes = engines.value.filter(isTrading).map(({ engine }) => engine?.mode);
  if (isAll.value)
    return {
      isShown: mayAct.value,
      can: canAct.value,
      isHalted: modes.length > 0 && modes.every((mode) => mode === "halted"),
    };
  const { engine, isFresh = false } = current.value ?? {};
  return {
    isShown: mayAct.value && engine?.access !== "read" && engine?.playback === undefined,
    can: isFresh && engine?.state !== "stopped",
    isHalted: engine?.mode === "halted",
  };
};

const isTrading = ({ engine }: WatchedEngine) => engine?.state === "running" && engine.playback === undefined;

const lookOfOne = (watched: WatchedEngine | undefined, problem: string): Look => {
  const engine = watched?.engine;
  const trouble = watched?.trouble ?? "";
  const mode =
    engine === undefined || engine.mode === "active"
      ? ""
      : `${engine.name} is ${modeText({ mode: engine.mode, full: engine.full })}: ${engine.reason}`;
  const stopped =
    engine?.state === "stopped" && engine.playback === undefined
      ? `${engine.name} has stopped. The page shows its last state.`
      : "";
  const isCurrent = watched?.isOld !== true || engine?.state === "stopped";
  return {
    name: watched?.name ?? "Sluice",
    ...(engine !== undefined && { place: placeOfTrading(engine), state: modeChip(engine, isCurrent) }),
    link: {
      text: linkText(watched, problem),
      tone: watched?.feed.state.state === "open" && watched.isFresh ? "good" : "bad",
    },
    banner: {
      text: trouble === "" ? stopped || mode : `${trouble} The data is old. Reconnecting …`,
      tone: trouble !== "" || engine?.mode === "halted" ? "bad" : "amber",
    },
    trouble,
    mode,
  };
};

/** Draws the mode; an engine that is not connected has its last known one. */
const modeChip = (engine: EngineRow, isCurrent: boolean): Chip => {
  if (!isCurrent) return { text: `last seen: ${modeText(engine)}`, tone: "" };
  const isBad = engine.mode === "halted" || engine.state === "gone";
  const isAmber = engine.mode === "reducing" || engine.state !== "running";
  return { text: modeText(engine), tone: isBad ? "bad" : isAmber ? "amber" : "good" };
};

const linkText = (watched: WatchedEngine | undefined, problem: string) => {
  if (watched === undefined) return problem;
  switch (watched.feed.state.state) {
    case "open":
      return `connected · ${ageText(watched.ageMs)}`;
    case "connecting":
      return "connecting …";
    case "refused":
      return "not allowed";
    case "lost":
      return `not connected · last update ${ageText(watched.ageMs)}`;
  }
};

/** All engines at once: the halt is for each of them. */
const lookOfAll = (engines: readonly WatchedEngine[]): Look => {
  const gone = engines.filter(
    ({ feed, engine }) => ["lost", "refused"].includes(feed.state.state) || engine?.state === "gone",
  );
  const readOnly = engines.filter(({ engine }) => engine?.access === "read" && engine.state === "running");
  const running = engines.filter(isTrading);
  const halted = running.filter(({ engine }) => engine?.mode === "halted").length;
  const namesOf = (some: readonly WatchedEngine[]) => some.map(({ name }) => name).join(", ");
  const trouble = gone.length === 0 ? "" : `Not connected: ${namesOf(gone)}. Their data is old. Reconnecting …`;
  const reading = readOnly.length === 0 ? "" : `Read-only, cannot be halted here: ${namesOf(readOnly)}.`;
  return {
    name: `${engines.length} engines`,
    state: {
      text: halted === 0 ? `${running.length} trading` : `${halted} of ${running.length} halted`,
      tone: halted > 0 ? "bad" : "good",
    },
    link: {
      text: gone.length === 0 ? "connected" : `${gone.length} not connected`,
      tone: gone.length === 0 ? "good" : "bad",
    },
    banner: {
      text: [trouble, reading].filter((text) => text !== "").join(" "),
      tone: trouble === "" ? "amber" : "bad",
    },
    trouble,
    mode: "",
  };
};

/** Returns what is announced: the trouble or the mode that has begun or ended last. */
const useAnnounced = ({ trouble, mode }: Look) => {
  const told = useRef({ trouble: "", mode: "", text: "" });
  const { current: before } = told;
  const text =
    trouble !== before.trouble
      ? trouble || "Connected again."
      : mode !== before.mode
        ? mode || "Trading is active again."
        : before.text;
  told.current = { trouble, mode, text };
  return text;
};

export const PageHeader = ({ room, actions, help }: { room: Room; actions: Actions; help: () => void }) => {
  const isAll = room.isAll.value;
  const look = isAll ? lookOfAll(room.engines.value) : lookOfOne(room.current.value, room.problem.value);
  const announced = useAnnounced(look);
  const { name, place, state, link, banner } = look;
  const halt = haltOf(room);
  return (
    <header class="top">
      <div class="topline">
        <h1 title={name}>{name}</h1>
        <div class="chips">
          {place && <span class={`chip ${place.tone}`}>{place.text}</span>}
          {state && <span class={`chip ${state.tone}`}>{state.text}</span>}
          <span class={`link ${link.tone}`}>
            <i aria-hidden="true" />
            <span>{link.text}</span>
          </span>
        </div>
        <div class="tools">
          {halt.isShown && !isAll && (
            <Button
              text="Close positions …"
              label="halt, and close all positions of the account"
              act={() => actions.close()}
              class="acts quiet"
              disabled={!halt.can}
            />
          )}
          <ThemeButton keptAs="sluice-theme" changed={() => room.recolour()} />
          <Button text="?" label="keys and help" act={help} />
          {halt.isShown && (
            <Button
              text={halt.isHalted ? "Resume" : "Halt"}
              label={halt.isHalted ? "resume trading" : "halt all strategies"}
              act={() => (halt.isHalted ? actions.resume() : actions.halt())}
              class={`halt acts${halt.isHalted ? " resume" : ""}`}
              disabled={!halt.can}
            />
          )}
        </div>
      </div>
      {banner.text !== "" && <p class={`banner ${banner.tone}`}>{banner.text}</p>}
      <div class="unseen" role="alert" aria-live="assertive">
        {announced}
      </div>
    </header>
  );
};
