/**
 * A form made of a JSON Schema: one field for each option, and the changed ones.
 *
 * Invariants: only options that differ from their previous values are sent; an option without a field of its own is
 * written as JSON; a value that cannot be parsed is reported next to its name, and nothing is sent; a value that is
 * hidden, in whole or in part, has no field and is never sent.
 * Not here: whether options fit the schema, which the engine decides.
 */
import { plainText } from "./wording.ts";

type OptionSchema = {
  type?: string | string[];
  enum?: unknown[];
  description?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
};

type Kind = "hidden" | "choice" | "boolean" | "text" | "number" | "json";

/** An option: the field that shows it, and the value before. */
export type OptionField = { name: string; kind: Kind; about: OptionSchema; before: unknown; isRequired: boolean };

/** Text that the engine's side sends in place of a secret: host/hidden-values.ts. */
const hidden = "(hidden)";

export const fieldsOf = (schema: object, options: unknown): readonly OptionField[] => {
  const { properties = {}, required = [] } = schema as {
    properties?: Record<string, OptionSchema>;
    required?: string[];
  };
  const values = (typeof options === "object" && options !== null ? options : {}) as Record<string, unknown>;
  return Object.entries(properties).map(([name, about]) => ({
    name,
    kind: kindOf(about, values[name]),
    about,
    before: values[name],
    isRequired: required.includes(name),
  }));
};

const kindOf = ({ type, enum: choices }: OptionSchema, value: unknown): Kind => {
  if (JSON.stringify(value)?.includes(hidden)) return "hidden";
  if (choices !== undefined) return "choice";
  if (type === "boolean") return "boolean";
  if (type === "string") return "text";
  return type === "number" || type === "integer" ? "number" : "json";
};

/**
 * Returns the options that were changed, with their values.
 *
 * @throws Error about a value that cannot be parsed
 */
export const changesIn = (fields: readonly OptionField[], given: FormData): Record<string, unknown> => {
  const changed = fields.flatMap((field) => {
    const value = valueIn(field, given.get(field.name));
    const isSame = value === undefined || JSON.stringify(value) === JSON.stringify(field.before);
    return isSame ? [] : [[field.name, value] as const];
  });
  return Object.fromEntries(changed);
};

/** The value of a field; undefined where nothing is written. A box that is not ticked is not in a form. */
const valueIn = ({ name, kind, before }: OptionField, given: FormDataEntryValue | null): unknown => {
  const text = typeof given === "string" ? given : "";
  switch (kind) {
    case "hidden":
      return undefined;
    case "boolean":
      return before === undefined && given === null ? undefined : given !== null;
    case "text":
      return before === undefined && text === "" ? undefined : text;
    case "number":
      return numberOf(name, text);
    case "choice":
    case "json":
      return jsonOf(name, text);
  }
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

const boundsText = ({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: OptionSchema) => {
  const least = minimum ?? exclusiveMinimum;
  const most = maximum ?? exclusiveMaximum;
  if (least === undefined && most === undefined) return "";
  return least === undefined ? `At most ${most}.` : most === undefined ? `At least ${least}.` : `${least} to ${most}.`;
};

export const OptionsForm = ({ fields }: { fields: readonly OptionField[] }) => (
  <div class="fields">
    {fields.map((field) =>
      field.kind === "hidden" ? (
        <div key={field.name} class="field">
          <span>{field.name}</span>
          <small class="soft">{`${hidden} Not changeable here.`}</small>
        </div>
      ) : (
        <Field key={field.name} field={field} />
      ),
    )}
  </div>
);

const Field = ({ field }: { field: OptionField }) => {
  const { name, about, isRequired } = field;
  const hint = [about.description ?? "", boundsText(about)].filter((text) => text !== "").join(" ");
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is inside.
    <label class="field">
      <span>{`${name}${isRequired ? " *" : ""}`}</span>
      <Control field={field} />
      {hint !== "" && <small class="soft">{hint}</small>}
    </label>
  );
};

const Control = ({ field: { name, kind, about, before } }: { field: OptionField }) => {
  const text = before === undefined ? "" : plainText(before);
  switch (kind) {
    case "choice":
      return (
        <select name={name}>
          {!about.enum?.some((choice) => JSON.stringify(choice) === JSON.stringify(before)) && <option value="" />}
          {about.enum?.map((choice) => (
            <option
              key={JSON.stringify(choice)}
              value={JSON.stringify(choice)}
              selected={JSON.stringify(choice) === JSON.stringify(before)}
            >
              {plainText(choice)}
            </option>
          ))}
        </select>
      );
    case "boolean":
      return <input type="checkbox" name={name} defaultChecked={before === true} />;
    case "json":
      return (
        <textarea
          name={name}
          rows={3}
          spellcheck={false}
          defaultValue={before === undefined ? "" : JSON.stringify(before, null, 1)}
        />
      );
    case "hidden":
      return null;
    case "text":
    case "number":
      return (
        <input
          type="text"
          name={name}
          inputMode={kind === "number" ? "decimal" : "text"}
          autocomplete="off"
          spellcheck={false}
          defaultValue={text}
        />
      );
  }
};
