/**
 * The reference of fields and their units: data of the market, orders, positions and the account for a strategy.
 */
import { docOf, type Field, interfaceOf, schemaFields, unionOf } from "./docstrings.ts";
import { code, prose, table } from "./markdown.ts";

const interfaces: readonly (readonly [title: string, path: string, names: readonly string[]])[] = [
  ["Market data", "src/market/market-data.ts", ["Quote", "Trade", "Candle", "BookView", "BookLevel"]],
  ["Orders", "src/orders/wanted-order.ts", ["WantedOrder", "OrderSpec"]],
  ["", "src/orders/order-update.ts", ["OrderUpdate"]],
  ["", "src/orders/manual-orders.ts", ["OrderFilter", "CancelResult"]],
  ["Positions", "src/orders/positions.ts", ["Position"]],
  ["State of the account", "src/orders/state/snapshot.ts", ["Snapshot"]],
  ["", "src/orders/state/account-positions.ts", ["AccountPosition"]],
];

const records = ["OrderRecord", "PositionRecord", "BalanceRecord", "InstrumentRecord"];
const quota: readonly (readonly [path: string, name: string])[] = [
  ["src/host/context.ts", "QuotaState"],
  ["src/scheduler/quota/quota-state.ts", "LayerState"],
];

const rows = (fields: readonly Field[], typed: boolean): string =>
  table(
    typed ? ["Field", "Type", "Meaning"] : ["Field", "Meaning"],
    fields.map(({ name, optional, type, doc }) => [
      code(`${name}${optional ? "?" : ""}`),
      ...(typed ? [code(type)] : []),
      prose(doc),
    ]),
  );

const section = (path: string, name: string): string => {
  const { doc, fields } = interfaceOf(path, name);
  return [`### ${name}`, prose(doc), rows(fields, true)].join("\n\n");
};

const phases = (): string =>
  [
    "### OrderPhase",
    prose(docOf("src/journal/order-events.ts", "OrderPhase")),
    table(
      ["Phase", "Meaning"],
      unionOf("src/journal/order-events.ts", "OrderPhase").map(({ text, doc }) => [
        code(text.replaceAll('"', "")),
        prose(doc),
      ]),
    ),
  ].join("\n\n");

const recordSection = (name: string): string =>
  [
    `### ${name}`,
    prose(docOf("src/contract/schemas.ts", name)),
    rows(schemaFields("src/contract/schemas.ts", `${name.charAt(0).toLowerCase()}${name.slice(1)}`), false),
  ].join("\n\n");

export const fieldsPage = (): string =>
  [
    "# Fields and units",
    "Prices are in the quote currency and quantities in the base currency. Both are decimal text, exact, as are money and rates. A field that ends in `Float` is a rounded copy for indicators. Instants are milliseconds since 1970 on the engine's clock, which is virtual in a backtest; durations end in their unit (`waitedMs`).",
    ...interfaces.flatMap(([title, path, names]) => [
      ...(title === "" ? [] : [`## ${title}`]),
      ...names.map((name) => section(path, name)),
      ...(names.includes("OrderUpdate") ? [phases()] : []),
    ]),
    ...records.map(recordSection),
    "## Quota",
    ...quota.map(([path, name]) => section(path, name)),
  ].join("\n\n");
