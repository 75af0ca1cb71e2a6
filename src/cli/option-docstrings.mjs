/**
 * Docstrings of options in declaration files: an editor shows those, and it does not show the `description` of a schema.
 *
 * Invariants: the only text is that of the schema; declarations that name no option stay as they are.
 */
const opening = /^(?:export )?declare const (\w+): /;
const field = /^(\s*)(?:readonly )?(\w+)\??: (.*)$/;

/** Schema of an option and of what lies in it: an object's own properties, or those of the items of a list. */
const propertiesOf = (schema) => schema?.properties ?? schema?.items?.properties ?? {};

/**
 * Returns the declarations with a docstring before each option that has a description.
 *
 * @param declarations - text of a `.d.ts` file
 * @param schemas - JSON Schema of the options of each definition, by its name in the file: `_default` for the default export
 */
export const withOptionDocstrings = (declarations, schemas) => {
  /** Schemas of the objects around the line, the innermost last; empty outside of the options of a definition. */
  let around = [];
  return declarations
    .split("\n")
    .flatMap((line) => {
      const name = opening.exec(line)?.[1];
      if (name !== undefined) around = name in schemas && line.includes("(options: ") ? [schemas[name]] : [];
      if (around.length === 0) return [line];
      const found = field.exec(line);
      if (found === null) {
        // The end of an object inside the options, or of the options themselves.
        if (/^\s+\}/.test(line)) around.pop();
        else if (/^\}.*naming\?: /.test(line)) around = [];
        return [line];
      }
      const [, indent, option, type] = found;
      const schema = propertiesOf(around.at(-1))[option];
      if (type.endsWith("{")) around.push(schema);
      const text = schema?.description;
      return text === undefined ? [line] : [`${indent}/** ${text.replaceAll("*/", "* /")} */`, line];
    })
    .join("\n");
};
