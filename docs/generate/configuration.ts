/**
 * The reference of configuration: every key of a config and of `backtest`, `paper` and `live`, with what it may hold, its default and its
 * meaning.
 *
 * Invariants: keys, bounds and choices are those of the schemas that check a config; meanings are the docstrings of the types; defaults
 * are the values in force, or stated in the docstring.
 */

import { sharedQuotaSchema } from "../../plugins/shared-quota/options.ts";
import { standbySchema } from "../../plugins/standby/options.ts";
import { watchdogSchema } from "../../plugins/watchdog/options.ts";
import { backtestSchema, feesSchema, paperSchema } from "../../src/backtest/backtest-service.ts";
import { liveSchema } from "../../src/client/live/live-service.ts";
import { configSchema } from "../../src/host/config-schema.ts";
import { isolationDefaults } from "../../src/host/define.ts";
import { rulesOf } from "../../src/orders/risk/pre-trade-checks.ts";
import { defaultFreshness } from "../../src/orders/state/resources.ts";
import { defaultReserve } from "../../src/scheduler/quota/reserve.ts";
import { docOf, type Field, interfaceOf } from "./docstrings.ts";
import { code, prose, table } from "./markdown.ts";

type Schema = Readonly<Record<string, unknown>>;

/** One table: the keys at a place of a config. */
export interface KeyTable {
  /** Spelling of the place, such as `orders` or `backtest`. */
  readonly place: string;
  readonly doc: string;
  readonly keys: readonly Key[];
}

interface Key {
  readonly name: string;
  readonly values: string;
  readonly fallback: string;
  readonly doc: string;
  readonly required: boolean;
}

const propertiesOf = (schema: Schema | undefined): Schema => (schema?.["properties"] ?? {}) as Schema;

const boundsOf = (schema: Schema): string => {
  const { minimum, maximum, exclusiveMinimum } = schema as {
    readonly minimum?: number;
    readonly maximum?: number;
    readonly exclusiveMinimum?: number;
  };
  const inclusive = minimum === undefined ? "" : ` from ${minimum}`;
  const least = exclusiveMinimum === undefined ? inclusive : ` above ${exclusiveMinimum}`;
  return maximum === undefined ? least : `${least} to ${maximum}`;
};

/** Values that a schema allows, in words; the type of the sources where the schema leaves it to code. */
const valuesOf = (schema: Schema | undefined, { type }: Field): string => {
  const {
    type: kind,
    enum: choices,
    format,
    pattern,
  } = (schema ?? {}) as {
    readonly type?: unknown;
    readonly enum?: readonly string[];
    readonly format?: string;
    readonly pattern?: string;
  };
  if (choices !== undefined) return choices.map((choice) => code(`"${choice}"`)).join(" or ");
  if (kind === "integer") return `whole number${boundsOf(schema as Schema)}`;
  if (kind === "number") return `number${boundsOf(schema as Schema)}`;
  if (kind === "boolean") return `${code("true")} or ${code("false")}`;
  if (kind === "string" && (format === "decimal" || pattern?.startsWith("^\\d+(") === true)) return "decimal text";
  if (kind === "string") return "text";
  return code(type);
};

interface Parts {
  readonly place: string;
  readonly doc: string;
  readonly fields: readonly Field[];
  readonly schema: Schema | undefined;
  readonly defaults?: Readonly<Record<string, unknown>>;
}

const tableOf = ({ place, doc, fields, schema, defaults = {} }: Parts): KeyTable => ({
  place,
  doc,
  keys: fields.map((field) => {
    const own = propertiesOf(schema)[field.name] as Schema | undefined;
    const fallback = defaults[field.name] ?? own?.["default"];
    const isPlain = fallback !== undefined && typeof fallback !== "object";
    return {
      name: field.name,
      values: valuesOf(own, field),
      fallback: isPlain ? JSON.stringify(fallback) : "",
      doc: field.doc,
      required: !field.optional && fallback === undefined,
    };
  }),
});

/** A table of the fields of one type. */
const tableOfType = (place: string, file: string, type: string, schema: unknown): KeyTable =>
  tableOf({ place, doc: docOf(file, type), fields: fieldsOf(file, type), schema: schema as Schema });

const config = configSchema as unknown as Schema;
const inConfig = (...path: readonly string[]): Schema =>
  path.reduce((schema, name) => propertiesOf(schema)[name] as Schema, config);
const fieldsOf = (path: string, ...names: readonly string[]): readonly Field[] =>
  names.flatMap((name) => interfaceOf(path, name).fields);
const places = "src/host/config.ts";
const optional = (fields: readonly Field[]): readonly Field[] => fields.map((field) => ({ ...field, optional: true }));
const without = (fields: readonly Field[], ...names: readonly string[]): readonly Field[] =>
  fields.filter(({ name }) => !names.includes(name));

/** The shape of an option that has no single type. */
const shapeOf = ({ type, anyOf = [] }: Schema): string =>
  typeof type === "string"
    ? type
    : (anyOf as readonly Schema[])
        .map((one) =>
          one["type"] === "object" ? `{ ${Object.keys(propertiesOf(one)).join(", ")} }` : String(one["type"]),
        )
        .join(" | ");

/** Options of a plugin as fields, with the texts of their schema. */
const describedFields = (schema: object): readonly Field[] =>
  Object.entries(propertiesOf(schema as Schema)).map(([name, own]) => {
    const { description = "" } = own as { readonly description?: string };
    return { name, type: shapeOf(own as Schema), doc: description, optional: true };
  });

const layerSchema = (): Schema => inConfig("quota", "layers")["items"] as Schema;

/** Every place of a config with its keys. */
export const keyTables = (): readonly KeyTable[] => [
  tableOf({ place: "defineConfig", doc: docOf(places, "Config"), fields: fieldsOf(places, "Config"), schema: config }),
  tableOf({
    place: "orders",
    doc: "What may be sent. A limit on money is off unless it is set. See [risk limits](/guides/risk).",
    fields: optional([
      ...fieldsOf("src/orders/risk/pre-trade-checks.ts", "RuleSet"),
      ...fieldsOf("src/orders/risk/risk-limits.ts", "RiskRules"),
      ...fieldsOf("src/orders/post-only.ts", "PostOnlyRules"),
    ]),
    schema: inConfig("orders"),
    defaults: { ...rulesOf() },
  }),
  tableOf({
    place: "quota",
    doc: "The rate limiter. The defaults fit the service; see [quota](/concepts/quota).",
    fields: optional([
      ...fieldsOf(places, "QuotaConfig"),
      ...without(fieldsOf("src/scheduler/quota/reserve.ts", "ReservePolicy"), "elementWeight"),
    ]),
    schema: inConfig("quota"),
    defaults: { ...defaultReserve },
  }),
  tableOfType("quota.layers[]", "src/contract/layer-spec.ts", "LayerSpec", layerSchema()),
  tableOf({
    place: "freshness",
    doc: docOf("src/orders/state/resources.ts", "Freshness"),
    fields: optional(fieldsOf("src/orders/state/resources.ts", "Freshness")),
    schema: inConfig("freshness"),
    defaults: { ...defaultFreshness },
  }),
  tableOfType("journal", places, "JournalConfig", inConfig("journal")),
  tableOf({
    place: "supervision",
    doc: "When a strategy that fails is started again. Without it, a failed strategy stays stopped.",
    fields: fieldsOf("src/host/restart-policy.ts", "RestartPolicy"),
    schema: inConfig("supervision"),
  }),
  tableOf({
    place: "plugin watchdog",
    doc: "Options of `watchdog` from `sluice/plugins/watchdog`. Times are milliseconds.",
    fields: describedFields(watchdogSchema),
    schema: watchdogSchema as unknown as Schema,
  }),
  tableOf({
    place: "plugin standby",
    doc: "Options of `standby` from `sluice/plugins/standby`; see [hot standby](/guides/standby).",
    fields: describedFields(standbySchema),
    schema: standbySchema as unknown as Schema,
  }),
  tableOf({
    place: "plugin shared-quota",
    doc: "Options of `sharedQuota` from `sluice/plugins/shared-quota`; see [one quota for several engines](/guides/shared-quota).",
    fields: describedFields(sharedQuotaSchema),
    schema: sharedQuotaSchema as unknown as Schema,
  }),
  tableOfType("backtest and paper", "src/backtest/backtest-service.ts", "EmbeddedOptions", backtestSchema),
  tableOfType("backtest", "src/backtest/backtest-service.ts", "BacktestOptions", backtestSchema),
  tableOfType("paper", "src/backtest/backtest-service.ts", "PaperOptions", paperSchema),
  tableOfType("fees", "src/venue/fee-tiers.ts", "Fees", feesSchema),
  tableOfType("live", "src/client/live/live-service.ts", "LiveOptions", liveSchema),
  tableOf({
    place: "Naming a strategy",
    doc: "The second argument of a strategy in a config. A plugin takes `as` alone.",
    fields: fieldsOf("src/host/define.ts", "Naming", "StrategyNaming"),
    schema: undefined,
  }),
  tableOf({
    place: "isolate",
    doc: docOf("src/host/strategy.ts", "Isolation"),
    fields: optional(fieldsOf("src/host/strategy.ts", "Isolation")),
    schema: undefined,
    defaults: { ...isolationDefaults },
  }),
];

/** The keys that the schemas name and no table has, by place. */
export const keysWithoutRow = (): readonly string[] => {
  const schemas: readonly (readonly [place: string, schema: Schema])[] = [
    ["defineConfig", config],
    ...["orders", "quota", "freshness", "journal", "supervision"].map((name) => [name, inConfig(name)] as const),
    ["quota.layers[]", layerSchema()],
    ["plugin watchdog", watchdogSchema as unknown as Schema],
    ["plugin standby", standbySchema as unknown as Schema],
    ["plugin shared-quota", sharedQuotaSchema as unknown as Schema],
    ["live", liveSchema as unknown as Schema],
    ["fees", feesSchema as unknown as Schema],
  ];
  const tables = keyTables();
  return schemas.flatMap(([place, schema]) => {
    const rows = tables.find((one) => one.place === place)?.keys.map(({ name }) => name) ?? [];
    return Object.keys(propertiesOf(schema))
      .filter((name) => !rows.includes(name))
      .map((name) => `${place}: ${name}`);
  });
};

const section = ({ place, doc, keys }: KeyTable, known: readonly string[]): string => {
  const rows = keys.map(({ name, values, fallback, doc: text, required }) => [
    code(name),
    // A key that is explained on this page leads there.
    place !== name && known.includes(name) ? `[its keys](#${name})` : values,
    // On a narrow screen the cell is shown without the head of its column.
    fallback === "" ? (required ? "required" : "") : `<span class="narrow">default </span>${code(fallback)}`,
    prose(text),
  ]);
  return [`## ${place}`, linked(doc), table(["Key", "Values", "Default", "Meaning"], rows)].join("\n\n");
};

/** Texts of this file hold links, which those of the sources do not. */
const linked = (text: string): string => (text.includes("](") ? text : prose(text));

export const configurationPage = (): string =>
  [
    "# Configuration",
    "A config file has one default export: `defineConfig({ … })`, or a function that returns a config and receives the name of the command. A config is checked whole before anything is opened; every mistake is listed with its place and what to write. A key that does not exist is an error that names the likely one.",
    'Money, prices and rates are decimal text (`"0.001"`); counts and durations are numbers, and a name that ends in `Ms` is in milliseconds.',
    ...keyTables().map((one, _, all) =>
      section(
        one,
        all.map(({ place }) => place),
      ),
    ),
  ].join("\n\n");
