/**
 * One strategy: its state, its options, and its actions.
 *
 * Invariants: with a token that may only read it has no buttons; options are shown even where they cannot be changed, with the reason.
 */
import { button, element } from "../../ui-kit/client/elements.ts";
import { countOf, figure } from "../../ui-kit/client/texts.ts";
import type { Actions } from "./actions.ts";
import { openDialog } from "./dialog.ts";
import type { WatchedEngine } from "./watched-engine.ts";
import { gainText, modeText, shortFigure } from "./wording.ts";

export const openStrategy = ({ state }: WatchedEngine, name: string, actions: Actions, mayAct: boolean) => {
  const row = state.row("strategies", name);
  if (row === undefined) return;
  const positions = state.list("positions").filter(({ strategy, qty }) => strategy === name && Number(qty) !== 0);
  const facts = [
    ["state", row.state === "running" ? modeText(row) : row.state],
    ...(row.reason === "" ? [] : [["why", row.reason]]),
    ...(row.error === undefined ? [] : [["error", row.error]]),
    [
      "profit",
      Object.entries(row.profit)
        .map(([currency, amount]) => `${gainText(amount)} ${currency}`)
        .join(", ") || "nothing traded yet",
    ],
    ["holds", positions.map(({ qty, instId }) => `${shortFigure(qty)} ${instId}`).join(", ") || "nothing"],
    [
      "orders",
      `${countOf(row.openOrders, "open order")}, ${countOf(row.fills, "fill")}, ${figure(row.weight)} weight spent`,
    ],
    ["user", row.user],
  ];
  const acts = mayAct
    ? [
        row.mode === "halted"
          ? button("Resume …", "Resume …", () => actions.resume(name))
          : button("Halt …", "Halt …", () => actions.halt(name)),
        button("Cancel its orders …", "Cancel its orders …", () =>
          actions.cancel({ strategy: name }, `open orders of ${name}`),
        ),
        ...(positions.length === 0
          ? []
          : [button("Close its positions …", "Close its positions …", () => actions.closeHoldings(name))]),
        ...(row.schema === undefined
          ? []
          : [button("Change options …", "Change options …", () => actions.options(row))]),
      ]
    : [];
  openDialog({
    title: name,
    content: [
      element(
        "dl",
        { class: "facts" },
        ...facts.flatMap(([label = "", text = ""]) => [element("dt", {}, label), element("dd", {}, text)]),
      ),
      element("h3", {}, "Options"),
      element("pre", { class: "options", tabindex: "0" }, JSON.stringify(row.options ?? {}, null, 2)),
      ...(mayAct && row.schema === undefined
        ? [element("p", { class: "soft" }, "It declares no schema, so its options cannot be changed here.")]
        : []),
      element("div", { class: "bar" }, ...acts),
    ],
  });
};
