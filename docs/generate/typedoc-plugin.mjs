/**
 * Pages of the API as they are read: a signature with its types contains what its tables of parameters and results would repeat, and
 * what other pages of the reference explain is linked.
 *
 * Invariants: a section with more text than the signature stays.
 */
import { MarkdownPageEvent } from "../node_modules/typedoc-plugin-markdown/dist/index.js";

const repeated =
  /^(#{4,6}) (Parameters|Returns|Type Parameters|Type Declaration|Extends|Extended by|Overrides|Inherited from|Default Value)\n/;

/** A table with words has a column for them. */
const saysMore = (section) => /^\| .*Description/m.test(section);

/** The parts of a part, such as `quota.limits`, that have no words of their own, and parts of those, however deep. */
const isInnerPart = (line) => /^\| `\w+\.[\w.]+` \|.*\| - \|$/.test(line) || /^\| `\w+(\.\w+){3,}`/.test(line);

/** Records whose fields another page explains. */
const elsewhere = {
  "### EventMap": "[Events](/reference/events) has every name with its fields.",
  "### EventType": "[Events](/reference/events) has every type.",
  "### ErrorCode": "[Error codes](/reference/errors) has every code with its meaning.",
  "### errorCodes": "[Error codes](/reference/errors) has every code with its meaning.",
  "### defaultProfile": "[Service profile](/reference/profile) has every row.",
  "### Event": "[Events](/reference/events) has every type with its fields.",
  "### OrderPhase": "[Fields and units](/reference/fields#orderphase) explains each phase.",
  "### OrderRecord": "[Fields and units](/reference/fields#orderrecord) has every field.",
  "### PositionRecord": "[Fields and units](/reference/fields#positionrecord) has every field.",
  "### BalanceRecord": "[Fields and units](/reference/fields#balancerecord) has every field.",
  "### InstrumentRecord": "[Fields and units](/reference/fields#instrumentrecord) has every field.",
  "### Config": "[Configuration](/reference/configuration) has every key with its bounds and default.",
};

const linked = (entry) => {
  const [heading = ""] = entry.split("\n");
  const link = elsewhere[heading];
  if (link === undefined) return entry;
  const words = entry.split(/^#{4,6} /m)[0].replace(/^```ts\n(?:.*\n)*?```\n/m, "");
  return `${words.trimEnd()}\n\n${link}\n\n`;
};

/** A type that is too long to read as a whole. */
const longMax = 1_000;
const withoutLongTypes = (line) =>
  line.startsWith("| ") && line.length > longMax ? line.replace(/ \| \\\{ .*\\\} \| /, " | `object` | ") : line;

const shortened = (text) =>
  text
    .split(/(?=^#{1,6} )/m)
    .map((section) => (repeated.test(section) && !saysMore(section) ? "\n" : section))
    .join("")
    .split(/(?=^#{1,3} )/m)
    .map(linked)
    .join("")
    .split("\n")
    .filter((line) => !isInnerPart(line))
    .map(withoutLongTypes)
    .join("\n")
    .replaceAll(/ \| - \|$/gm, " | |")
    .replaceAll(/(\s*\|? "[A-Z_]{3,}"){8,}/g, " ErrorCode")
    .replaceAll("__namedParameters", "options")
    .replaceAll(/^\*\*\*$/gm, "")
    .replaceAll(/\n{3,}/g, "\n\n");

export const load = (app) => {
  app.renderer.on(MarkdownPageEvent.END, (page) => {
    page.contents = shortened(page.contents);
  });
};
