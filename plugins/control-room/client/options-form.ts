/**
 * A form made of a JSON Schema: one field for each option, and the changed ones.
 *
 * Invariants: only options that differ from their previous values are sent; an option without a field of its own is written as JSON; a
 * value that cannot be parsed is reported next to its name, and nothing is sent; a value that is hidden, in whole or in part, has no field
 * and is never sent.
 * Not here: whether options fit the schema, which the engine decides.
 */
import { element } from "../../ui-kit/client/elements.ts";
import { plainText } from "./wording.ts";

type OptionSchema = {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  description?: string;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
};
type Field = { name: string; node: HTMLElement; read: () => unknown; before: unknown };

export const optionsForm = (schema: object, options: unknown) => {
  const { properties = {}, required = [] } = schema as {
    properties?: Record<string, OptionSchema>;
    required?: string[];
  };
  const values = (typeof options === "object" && options !== null ? options : {}) as Record<string, unknown>;
  const fields = Object.entries(properties).map(([name, about]) =>
    fieldOf(name, about, values[name], required.includes(name)),
  );
  return {
    nodes: fields.map(({ node }) => node),
    changes: (): Record<string, unknown> => {
      const changed: Record<string, unknown> = {};
      for (const { name, read, before } of fields) {
        const value = read();
        if (value !== undefined && JSON.stringify(value) !== JSON.stringify(before)) changed[name] = value;
      }
      return changed;
    },
  };
};

const fieldOf = (name: string, about: OptionSchema, value: unknown, isRequired: boolean): Field => {
  if (JSON.stringify(value)?.includes(hidden)) return withoutField(name, value);
  const { node, read } = inputOf(name, about, value);
  const bounds = boundsText(about);
  const hint = [about.description, bounds].filter((text) => text !== undefined && text !== "").join(" ");
  const label = element("label", { class: "field" }, element("span", {}, name, ...(isRequired ? [" *"] : [])), node);
  if (hint !== "") label.append(element("small", { class: "soft" }, hint));
  return { name, node: label, read, before: value };
};

/** Text that the engine's side sends in place of a secret: host/hidden-values.ts. */
const hidden = "(hidden)";

const withoutField = (name: string, value: unknown): Field => {
  const said = element("small", { class: "soft" }, `${hidden} Not changeable here.`);
  return {
    name,
    node: element("div", { class: "field" }, element("span", {}, name), said),
    read: () => undefined,
    before: value,
  };
};

const boundsText = ({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: OptionSchema) => {
  const least = minimum ?? exclusiveMinimum;
  const most = maximum ?? exclusiveMaximum;
  if (least === undefined && most === undefined) return "";
  return least === undefined ? `At most ${most}.` : most === undefined ? `At least ${least}.` : `${least} to ${most}.`;
};

const inputOf = (
  name: string,
  { type, enum: choices }: OptionSchema,
  value: unknown,
): { node: HTMLElement; read: () => unknown } => {
  if (choices !== undefined) {
    const texts = choices.map((choice) => JSON.stringify(choice));
    const select = element(
      "select",
      {},
      ...choices.map((choice, index) => element("option", { value: texts[index] ?? "" }, plainText(choice))),
    );
    select.value = JSON.stringify(value ?? null);
    return { node: select, read: () => (select.value === "" ? undefined : JSON.parse(select.value)) };
  }
  if (type === "boolean") {
    const box = element("input", { type: "checkbox" });
    box.checked = value === true;
    return { node: box, read: () => (value === undefined && !box.checked ? undefined : box.checked) };
  }
  if (type === "string") {
    const input = element("input", { type: "text", autocomplete: "off", spellcheck: "false" });
    input.value = value === undefined ? "" : plainText(value);
    return { node: input, read: () => (value === undefined && input.value === "" ? undefined : input.value) };
  }
  if (type === "number" || type === "integer") {
    const input = element("input", { type: "text", inputmode: "decimal", autocomplete: "off" });
    input.value = value === undefined ? "" : plainText(value);
    return { node: input, read: () => numberOf(name, input.value) };
  }
  const area = element("textarea", { rows: "3", spellcheck: "false" });
  area.value = value === undefined ? "" : JSON.stringify(value, null, 1);
  return { node: area, read: () => jsonOf(name, area.value) };
};

const numberOf = (name: string, text: string) => {
  if (text.trim() === "") return undefined;
  const value = Number(text);
  if (!Number.isFinite(value)) throw new Error(`${name}: "${text}" is no number. Write it with a point, such as 0.5.`);
  return value;
};

const jsonOf = (name: string, text: string) => {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${name}: this is not JSON. Write texts in quotes, lists in brackets.`);
  }
};
