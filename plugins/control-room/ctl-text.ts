/**
 * Text output of `sluice ctl`, for a given width.
 *
 * Invariants: pure; no line is wider than asked; foreign words are made printable; the latest rows come last.
 */

import { abs, compare, type Event, isPositive } from "sluice";
import { instTypeOf } from "sluice/dialect";
import { cut, padEnd, padStart, printable, widthOf } from "sluice/extension";
import type { ControlUpdate } from "./control-document.ts";
import type { ByCurrency, EngineRow } from "./control-rows.ts";
import { rowsOf } from "./ctl-client.ts";

type Cells = readonly string[];

/** Time of day in UTC. */
/** Hours, minutes and seconds. */
const spanOf = (ms: number): string => {
  const seconds = Math.floor(ms / 1_000);
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${Math.floor(seconds / 3_600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
};

const timeOf = (at: number): string => new Date(at).toISOString().slice(11, 19);
const ms = (at: number): string => new Date(at).toISOString().slice(11, 23);

/** Columns as wide as their widest cell; the last one is cut. Columns whose heading begins with a space are figures. */
const table = (headings: Cells, rows: readonly Cells[], width: number): readonly string[] => {
  const all = [headings.map((heading) => heading.trim()), ...rows.map((row) => row.map(printable))];
  const widths = headings.map((_, column) => Math.max(...all.map((row) => widthOf(row[column] ?? ""))));
  return all.map((row) => {
    const cells = row.map((cell, column) => {
      if (column === row.length - 1) return cell;
      return headings[column]?.startsWith(" ") === true
        ? padStart(cell, widths[column] ?? 0)
        : padEnd(cell, widths[column] ?? 0);
    });
    return cut(cells.join("  ").trimEnd(), width);
  });
};

const profitText = (profit: ByCurrency): string =>
  Object.entries(profit)
    .map(([currency, amount]) => `${amount} ${currency}`)
    .join(", ");

/** Identifies the engine, because several may run on a machine. */
const identityOf = ({ pid, instance, service }: EngineRow, url: string): string =>
  [
    `${pid === undefined ? "answered" : `process ${pid}`} at ${url}`,
    ...(instance === undefined ? [] : [`instance ${instance}${service === undefined ? "" : ` of ${service}`}`]),
  ].join(", ");

/** A full stop is a halt that ends exits too. */
const modeText = ({ mode, full }: Pick<EngineRow, "mode" | "full">): string =>
  full === true ? "stopped (full)" : mode;

/** `url`: address of the control port. */
export const statusText = (snapshot: ControlUpdate, width: number, url: string): string => {
  const [engine] = rowsOf(snapshot, "engine");
  if (engine === undefined) return "Nothing is known of the engine yet.\n";
  const { name, kind, environment, state, reason, run, unansweredSince: since } = engine;
  const money = rowsOf(snapshot, "money").map(
    ({ currency, profit, realised, unrealised, fees }) =>
      `profit ${profit} ${currency} (realised ${realised}, unrealised ${unrealised}, fees ${fees})`,
  );
  const layers = rowsOf(snapshot, "quota").map(({ layer, used, capacity }) => `${layer} ${used}/${capacity}`);
  const positions = rowsOf(snapshot, "positions").filter(({ qty }) => qty !== "0");
  // Durations are left out: a late timer is no state that lasts.
  const bad = snapshot.rows.flatMap(([section, key, row]) =>
    section === "health" && row?.state === "bad" && row.unit === "" ? [`${key}: ${row.value}`] : [],
  );
  const troubles = rowsOf(snapshot, "events").filter(({ severity }) => severity === "bad");
  const lines = [
    [
      name,
      kind === environment ? kind : `${kind} ${environment}`.trim(),
      state,
      ...(run === undefined ? [] : [`run ${run}`]),
    ].join("  "),
    `trading ${modeText(engine)}${reason === "" ? "" : `: ${reason}`}`,
    identityOf(engine, url),
    ...(since === undefined
      ? []
      : [
          `UNREACHABLE: the service has not answered since ${timeOf(since)} UTC, ${spanOf(snapshot.at - since)}; figures are older`,
        ]),
    ...bad.map((words) => `PROBLEM ${printable(words)}`),
    ...money,
    `quota ${[...new Set(layers)].join(", ") || "not used yet"}`,
    "",
    ...table(
      ["strategy", "state", "mode", " open", " fills", " weight", "profit"],
      rowsOf(snapshot, "strategies").map((row) => [
        row.name,
        row.state,
        modeText(row),
        `${row.openOrders}`,
        `${row.fills}`,
        `${row.weight}`,
        profitText(row.profit),
      ]),
      width,
    ),
    ...(positions.length === 0
      ? []
      : [
          "",
          ...table(
            ["holds", "instrument", " quantity", " at", "profit"],
            positions.map((row) => [row.strategy, row.instId, row.qty, row.avgPx, `${row.profit} ${row.currency}`]),
            width,
          ),
        ]),
    ...(troubles.length === 0
      ? []
      : ["", ...troubles.slice(-5).map(({ at, text }) => `${timeOf(at)}  ${printable(text)}`)]),
  ];
  return textOf(lines, width);
};

/** Selects the positions to close. */
export interface ToClose {
  readonly strategy?: string;
  readonly instId?: string;
  readonly reason?: string;
}

/** Describes the effect of closing, by the current positions. */
export const closingText = (snapshot: ControlUpdate, { strategy, instId }: ToClose): string => {
  const order = (qty: string, of: string): string => `${isPositive(qty) ? "sells" : "buys"} ${abs(qty)} ${of}`;
  const isMeant = (row: { readonly instId: string }): boolean => instId === undefined || row.instId === instId;
  const own = rowsOf(snapshot, "positions");
  const ofAccount = rowsOf(snapshot, "accountPositions").map(({ pos, ...row }) => ({ ...row, qty: pos }));
  const spot = instId === undefined ? own.filter((row) => instTypeOf(row.instId) === "SPOT") : [];
  const held = strategy === undefined ? [...ofAccount, ...spot] : own.filter((row) => row.strategy === strategy);
  const orders = held
    .filter((row) => isMeant(row) && compare(row.qty, "0") !== 0)
    .map((row) => order(row.qty, row.instId));
  const what = orders.length === 0 ? "nothing that is known now" : orders.join(", ");
  if (strategy !== undefined) return `ctl close halts ${strategy} and closes what it holds, at the market: ${what}.`;
  if (instId !== undefined)
    return `ctl close halts every strategy that trades ${instId} and closes the account's position at the market, what other clients hold of it as well: ${what}.`;
  return `ctl close halts all strategies and closes every position of the account at the market, also those of other clients, and what strategies hold of spot: ${what}.`;
};

export const ordersText = (snapshot: ControlUpdate, all: boolean, width: number): string => {
  const orders = rowsOf(snapshot, "orders").filter(({ isFinal }) => all || !isFinal);
  if (orders.length === 0) return all ? "No order was placed.\n" : "No order is open.\n";
  const rows = orders.map((row) => [
    row.clOrdId,
    row.instId,
    row.side,
    row.px || row.ordType,
    row.qty || `sz ${row.sz}`,
    row.filledQty,
    row.phase,
    `${row.strategy}/${row.slot}`,
  ]);
  return textOf(
    table(["order", "instrument", "side", " px", " quantity", " filled", "phase", "strategy/slot"], rows, width),
    width,
  );
};

export const fillsText = (snapshot: ControlUpdate, width: number): string => {
  const fills = rowsOf(snapshot, "fills");
  if (fills.length === 0) return "Nothing was executed.\n";
  const rows = fills.map((row) => [
    timeOf(row.at),
    row.instId,
    row.side,
    row.qty,
    row.px,
    `${row.cost} ${row.currency}`,
    `${row.strategy}/${row.slot}`,
  ]);
  return textOf(table(["time", "instrument", "side", " quantity", " px", " fee", "strategy/slot"], rows, width), width);
};

export const storyText = (events: readonly Event[], width: number): string =>
  textOf(
    table(
      ["time", "what", "details"],
      events.map((event) => {
        if (event.type === "order.changed") return [ms(event.at), event.phase, event.reason];
        if (event.type === "fill")
          return [
            ms(event.at),
            "fill",
            `${event.side} ${event.qty} at ${event.px}, fee ${event.cost} ${event.currency}`,
          ];
        return [ms(event.at), event.type, "reason" in event ? String(event.reason) : ""];
      }),
      width,
    ),
    width,
  );

const textOf = (lines: readonly string[], width: number): string =>
  `${lines.map((line) => cut(line, width)).join("\n")}\n`;
