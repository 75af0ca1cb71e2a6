/**
 * The reference of events, from the docstrings of the event types: every type with its fields.
 *
 * Invariants: a field without a docstring of its own means what the same name means where it has one.
 */
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { addedTo, type DocumentedType, type Field, schemaFields, unionOf } from "./docstrings.ts";
import { code, prose, table } from "./markdown.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

export interface DocumentedEvent {
  readonly types: readonly string[];
  readonly doc: string;
  readonly fields: readonly Field[];
}

const eventOf = ({ doc, fields }: DocumentedType): readonly DocumentedEvent[] => {
  const type = fields.find(({ name }) => name === "type");
  if (type === undefined) return [];
  const types = [...type.type.matchAll(/"([\w.]+)"/g)].map(([, name]) => name as string);
  return [{ types, doc, fields: fields.filter((field) => field !== type) }];
};

/** Events of the shipped plugins. */
const eventsOfPlugins = (): readonly DocumentedEvent[] =>
  readdirSync(`${root}plugins`)
    .filter((plugin) => existsSync(`${root}plugins/${plugin}/events.ts`))
    .flatMap((plugin) => addedTo(`plugins/${plugin}/events.ts`, "PluginEvents"))
    .map(({ name, doc, fields }) => ({ types: [name], doc, fields }));

/** Every event type of the core, in the order of the sources, and of the shipped plugins. */
export const documentedEvents = (): readonly DocumentedEvent[] => {
  const events = [
    ...unionOf("src/journal/order-events.ts", "OrderEventBody"),
    ...unionOf("src/journal/events.ts", "CoreEventBody"),
  ]
    .flatMap(eventOf)
    .concat(eventsOfPlugins());
  const known = new Map<string, string>();
  const note = ({ name, doc }: Field): void => {
    if (doc !== "" && !known.has(name)) known.set(name, doc);
  };
  for (const { fields } of events) fields.forEach(note);
  schemaFields("src/contract/schemas.ts", "orderRecord").forEach(note);
  return events.map((event) => ({
    ...event,
    fields: event.fields.map((field) => ({
      ...field,
      doc: field.doc === "" ? (known.get(field.name) ?? "") : field.doc,
    })),
  }));
};

const groups: readonly (readonly [title: string, prefixes: readonly string[]])[] = [
  ["Orders", ["order", "fill", "history"]],
  ["Positions and protections", ["position", "protection"]],
  ["Strategies and plugins", ["strategy", "plugin"]],
  ["Requests and quota", ["action", "quota"]],
  ["Engine", ["engine", "start", "journal", "mode", "standby", "watchdog", "anomaly"]],
];

const prefixOf = ({ types: [first = ""] }: DocumentedEvent): string => first.split(".")[0] as string;

const section = ({ types, doc, fields }: DocumentedEvent): string =>
  [
    `### ${types.join(", ")} {#${types[0]?.replaceAll(".", "-").toLowerCase()}}`,
    prose(doc),
    ...(fields.length === 0
      ? []
      : [
          table(
            ["Field", "Type", "Meaning"],
            fields.map(({ name, type, doc: text }) => [code(name), code(type), prose(text)]),
          ),
        ]),
  ].join("\n\n");

export const eventsPage = (): string => {
  const events = documentedEvents();
  const rest = events.filter((event) => !groups.some(([, prefixes]) => prefixes.includes(prefixOf(event))));
  return [
    "# Events",
    "Everything that happens in an engine is an event: a frozen object with a `type`, a number `seq` without holes, and `at`, milliseconds on the engine's clock. The journal of events is what reports, plugins and `--json` read. `engine.events$` and a plugin's `events$` emit all of them; `on` listens by name:",
    '- `on("fill", …)`, `on("order.refused", …)`: the events of this type;\n- `on("order.filled", …)`: the `order.changed` of this phase;\n- `on("event", …)`: all of them.',
    "A name that no event has does not compile, and throws `EVENT_UNKNOWN`. Events of a plugin, such as `watchdog.lost`, exist where the config has the plugin: what must work without it listens to `event`. Prices are in quote currency and quantities in base currency, both decimal text, unless stated otherwise.",
    ...groups.flatMap(([title, prefixes]) => [
      `## ${title}`,
      ...events.filter((event) => prefixes.includes(prefixOf(event))).map(section),
    ]),
    ...(rest.length === 0 ? [] : ["## Others", ...rest.map(section)]),
  ].join("\n\n");
};
