/**
 * The controls of a played run: pause, speed, the place in its time, and the next fill.
 *
 * Invariants: shown only for a run that is played; while a user drags the slider, its position is theirs; parts that the
 * recording lacks are listed there.
 */
import { useSignal } from "@preact/signals";
import { Button, Choice } from "../../ui-kit/client/controls.tsx";
import type { Actions } from "./actions.tsx";
import type { Room } from "./room.ts";
import { exactInstant, unrecordedText } from "./wording.ts";

const speeds = [1, 2, 5, 10, 60, 100, 300, 1_000, 10_000].map((speed) => [String(speed), `${speed}×`] as const);
const steps = 10_000;

export const PlaybackBar = ({ room, actions }: { room: Room; actions: Actions }) => {
  /** Place that the user drags the slider to. */
  const held = useSignal<number | undefined>(undefined);
  const playback = room.playback.value;
  if (playback === undefined) return null;
  const { from, to, at, speed, paused } = playback;
  const instantAt = (place: number) => Math.round(from + ((to - from) * place) / steps);
  const shown = held.value === undefined ? at : instantAt(held.value);
  const missing = unrecordedText(room.current.value?.engine?.unrecorded);
  return (
    <section class="played" aria-label="played run">
      <div class="bar playback" role="toolbar" aria-label="playback">
        <Button text="|◂" label="to the start" act={() => actions.play({ seekTo: from })} class="acts" />
        <Button
          text={paused ? "▶" : "❚❚"}
          label={paused ? "play" : "pause"}
          act={() => actions.play({ paused: !paused })}
          class="acts"
        />
        <Button text="fill ▸|" label="to the next fill" act={() => actions.play({ toNextFill: true })} class="acts" />
        <Choice
          label="speed"
          value={String(speed)}
          choices={speeds}
          act={(value) => actions.play({ speed: Number(value) })}
          class="acts"
        />
        <input
          type="range"
          class="acts"
          min="0"
          max={steps}
          step="1"
          aria-label="place in the run"
          aria-valuetext={exactInstant(shown)}
          value={held.value ?? Math.round((steps * (at - from)) / Math.max(1, to - from))}
          onInput={({ currentTarget }) => {
            held.value = Number(currentTarget.value);
          }}
          onChange={({ currentTarget }) => {
            held.value = undefined;
            actions.play({ seekTo: instantAt(Number(currentTarget.value)) });
          }}
        />
        <output class="clock">{exactInstant(shown).slice(0, held.value === undefined ? 21 : 23)}</output>
      </div>
      {missing !== "" && <p class="missing soft">{missing}</p>}
    </section>
  );
};
