/**
 * One strategy: its state, its options, and its actions.
 *
 * Invariants: with a token that may only read it has no buttons; options are shown even where they cannot be changed,
 * with the reason.
 */
import { Button, Facts } from "../../ui-kit/client/controls.tsx";
import { countOf, figure } from "../../ui-kit/client/texts.ts";
import type { StrategyRow } from "../control-rows.ts";
import type { Actions } from "./actions.tsx";
import type { Room } from "./room.ts";
import type { SourceState } from "./source-state.ts";
import { gainText, modeText, shortFigure } from "./wording.ts";

const heldBy = (state: SourceState, name: string) =>
  state.list("positions").filter(({ strategy, qty }) => strategy === name && Number(qty) !== 0);

const factsOf = (row: StrategyRow, state: SourceState): readonly (readonly [name: string, text: string])[] => {
  const profits = Object.entries(row.profit).map(([currency, amount]) => `${gainText(amount)} ${currency}`);
  const held = heldBy(state, row.name).map(({ qty, instId }) => `${shortFigure(qty)} ${instId}`);
  return [
    ["state", row.state === "running" ? modeText(row) : row.state],
    ...(row.reason === "" ? [] : [["reason", row.reason] as const]),
    ...(row.error === undefined ? [] : [["error", row.error] as const]),
    ["profit", profits.join(", ") || "no trades yet"],
    ["positions", held.join(", ") || "none"],
    [
      "orders",
      `${countOf(row.openOrders, "open order")}, ${countOf(row.fills, "fill")}, ${figure(row.weight)} weight spent`,
    ],
    ["user", row.user],
  ];
};

const Buttons = ({ row, isFlat, actions }: { row: StrategyRow; isFlat: boolean; actions: Actions }) => {
  const { name } = row;
  return (
    <>
      {row.mode === "halted" ? (
        <Button text="Resume …" act={() => actions.resume(name)} />
      ) : (
        <Button text="Halt …" act={() => actions.halt(name)} />
      )}
      <Button text="Cancel its orders …" act={() => actions.cancel({ strategy: name }, `open orders of ${name}`)} />
      {!isFlat && <Button text="Close its positions …" act={() => actions.closeHoldings(name)} />}
      {row.schema !== undefined && <Button text="Change options …" act={() => actions.options(row)} />}
    </>
  );
};

export const openStrategy = (room: Room, state: SourceState, name: string, actions: Actions) => {
  const row = state.row("strategies", name);
  const mayAct = room.canAct.value;
  if (row === undefined) return;
  room.ask({
    title: name,
    content: (
      <>
        <Facts facts={factsOf(row, state)} />
        <h3>Options</h3>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long options are scrolled by keys. */}
        <pre class="options" tabIndex={0}>
          {JSON.stringify(row.options ?? {}, null, 2)}
        </pre>
        {mayAct && row.schema === undefined && (
          <p class="soft">The strategy declares no schema, so its options cannot be changed here.</p>
        )}
        <div class="bar">
          {mayAct && <Buttons row={row} isFlat={heldBy(state, name).length === 0} actions={actions} />}
        </div>
      </>
    ),
  });
};
