/**
 * Docstrings of the sources: the text of an interface or a union of records and of each of its fields.
 *
 * Invariants: texts are those of the sources; a name or field without a docstring has an empty one.
 * Not here: pages (the other files of this folder), the API as a whole, which TypeDoc reads.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type ParseResult, parseSync } from "rolldown/utils";

const root = fileURLToPath(new URL("../..", import.meta.url));

export interface Field {
  readonly name: string;
  readonly optional: boolean;
  readonly type: string;
  readonly doc: string;
}

/** An interface, or one member of a union. */
export interface DocumentedType {
  readonly doc: string;
  readonly fields: readonly Field[];
}

type Node = { readonly type: string; readonly start: number; readonly end: number } & Readonly<Record<string, unknown>>;

interface Parsed {
  readonly text: string;
  readonly program: { readonly body: readonly Node[] };
  readonly comments: ParseResult["comments"];
}

const files = new Map<string, Parsed>();

const parsed = (path: string): Parsed => {
  const known = files.get(path);
  if (known !== undefined) return known;
  const text = readFileSync(`${root}${path}`, "utf8");
  const { program, comments } = parseSync(path, text);
  const made: Parsed = { text, program: program as unknown as Parsed["program"], comments };
  files.set(path, made);
  return made;
};

/** The text of a docstring in one line, its paragraphs and lists kept as lines. */
const plain = (comment: string): string =>
  comment
    .replace(/^\*/, "")
    .split("\n")
    .map((line) => line.replace(/^\s*\* */, "").trimEnd())
    .join("\n")
    .trim()
    .replaceAll(/\n(?!\n|- )(?<!\n\n)/g, " ");

/** The docstring that ends where a node begins, with nothing but space and the bars of a union between. */
const docBefore = ({ text, comments }: Parsed, start: number): string => {
  const comment = comments.findLast(
    ({ end, type, value }) => end <= start && type === "Block" && value.startsWith("*"),
  );
  if (comment === undefined) return "";
  const between = text.slice(comment.end, start).replaceAll(/\/\/.*$/gm, "");
  return /^[\s|(&]*$/.test(between) ? plain(comment.value) : "";
};

const fieldsOf = (file: Parsed, members: readonly Node[]): readonly Field[] =>
  members.flatMap((member) => {
    const key = member["key"] as { readonly name?: string; readonly value?: string } | undefined;
    const name = key?.name ?? key?.value;
    if (name === undefined) return [];
    const annotation = (member["typeAnnotation"] as { readonly typeAnnotation: Node } | null)?.typeAnnotation;
    const written =
      annotation === undefined
        ? file.text.slice(member.start, member.end)
        : file.text.slice(annotation.start, annotation.end);
    const type = written
      .replaceAll(/\breadonly /g, "")
      .replaceAll(/\/\*[\s\S]*?\*\//g, "")
      .replaceAll(/\s+/g, " ");
    return [{ name, optional: member["optional"] === true, type, doc: docBefore(file, member.start) }];
  });

const declarationsOf = ({ program }: Parsed): readonly { readonly statement: Node; readonly declaration: Node }[] =>
  program.body.map((statement) => ({
    statement,
    declaration: (statement["declaration"] as Node | null | undefined) ?? statement,
  }));

const namesOf = (declaration: Node): readonly string[] => {
  const own = (declaration["id"] as { readonly name?: string } | null | undefined)?.name;
  const declared =
    (declaration["declarations"] as readonly { readonly id: { readonly name?: string } }[] | undefined) ?? [];
  return [own, ...declared.map(({ id }) => id.name)].filter((name) => name !== undefined);
};

const namesOfFile = (file: Parsed): readonly string[] =>
  declarationsOf(file).flatMap(({ declaration }) => namesOf(declaration));

const declarationNamed = (
  path: string,
  name: string,
): { readonly file: Parsed; readonly statement: Node; readonly declaration: Node } => {
  const file = parsed(path);
  // The first docstring of an overloaded or merged name describes it.
  const found = declarationsOf(file).find(({ declaration }) => namesOf(declaration).includes(name));
  if (found === undefined) throw new Error(`${path} declares no ${name}`);
  return { file, ...found };
};

/** Text of the docstring of a declared name. */
export const docOf = (path: string, name: string): string => {
  const { file, statement } = declarationNamed(path, name);
  return docBefore(file, statement.start);
};

/** An interface with its own fields; what it extends is another one. */
export const interfaceOf = (path: string, name: string): DocumentedType => {
  const { file, statement, declaration } = declarationNamed(path, name);
  const body = declaration["body"] as { readonly body: readonly Node[] } | undefined;
  if (declaration.type !== "TSInterfaceDeclaration" || body === undefined)
    throw new Error(`${path}: ${name} is no interface`);
  return { doc: docBefore(file, statement.start), fields: fieldsOf(file, body.body) };
};

const fieldsOfLiteral = (file: Parsed, path: string, node: Node): readonly Field[] => {
  if (node.type === "TSTypeLiteral") return fieldsOf(file, node["members"] as readonly Node[]);
  if (node.type === "TSParenthesizedType") return fieldsOfLiteral(file, path, node["typeAnnotation"] as Node);
  if (node.type === "TSIntersectionType")
    return (node["types"] as readonly Node[]).flatMap((part) => fieldsOfLiteral(file, path, part));
  if (node.type !== "TSTypeReference") return [];
  const { name } = node["typeName"] as { readonly name: string };
  if (name !== "Pick") return namesOfFile(file).includes(name) ? interfaceOf(path, name).fields : [];
  // Pick<OrderRecord, "a" | "b">: the record's fields are documented where it is declared.
  return [...file.text.slice(node.start, node.end).matchAll(/"(\w+)"/g)].map(([, key = ""]) => ({
    name: key,
    optional: false,
    type: "string",
    doc: "",
  }));
};

/** Members that a file adds to an interface of the package, by `declare module "sluice"`, with the fields of each. */
export const addedTo = (path: string, name: string): readonly (DocumentedType & { readonly name: string })[] => {
  const file = parsed(path);
  const blocks = file.program.body
    .filter(({ type }) => type === "TSModuleDeclaration")
    .flatMap(({ body }) => (body as { readonly body: readonly Node[] }).body);
  return blocks
    .filter((one) => namesOf(one).includes(name))
    .flatMap(({ body }) => (body as { readonly body: readonly Node[] }).body)
    .map((member) => {
      const { value = "" } = member["key"] as { readonly value?: string };
      const { typeAnnotation } = member["typeAnnotation"] as { readonly typeAnnotation: Node };
      return { name: value, doc: docBefore(file, member.start), fields: fieldsOfLiteral(file, path, typeAnnotation) };
    });
};

/** The members of a union: of records, or of texts, which have no fields. `A & B` has the fields of both. */
export const unionOf = (path: string, name: string): readonly (DocumentedType & { readonly text: string })[] => {
  const { file, declaration } = declarationNamed(path, name);
  const union = declaration["typeAnnotation"] as Node;
  if (union.type !== "TSUnionType") throw new Error(`${path}: ${name} is no union`);
  return (union["types"] as readonly Node[]).map((node) => ({
    doc: docBefore(file, node.start),
    fields: fieldsOfLiteral(file, path, node),
    text: file.text.slice(node.start, node.end),
  }));
};

/** The properties of a record's JSON Schema, documented where they are written. */
export const schemaFields = (path: string, name: string): readonly Field[] => {
  const { file, declaration } = declarationNamed(path, name);
  const text = (node: Node): string => file.text.slice(node.start, node.end);
  const found: Field[] = [];
  const walk = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    const { type, key, value } = node as Node & {
      readonly key?: Node & { readonly name?: string };
      readonly value?: Node;
    };
    if (type === "Property" && key?.name === "properties") {
      for (const property of (value as unknown as { readonly properties: readonly (Node & { readonly key: Node })[] })
        .properties)
        found.push({ name: text(property.key), optional: false, type: "string", doc: docBefore(file, property.start) });
      return;
    }
    for (const child of Object.values(node)) walk(child);
  };
  walk(declaration);
  const required = /required: \[([^\]]*)\]/.exec(text(declaration))?.[1] ?? "";
  return found.map((field) => ({ ...field, optional: !required.includes(`"${field.name}"`) }));
};

export interface PublicName {
  /** As it is imported, and as its file calls it. */
  readonly name: string;
  readonly path: string;
  readonly declared: string;
}

/** Exports of an entry, with the file that declares each; re-exports are followed. */
export const publicNames = (entry: string): readonly PublicName[] =>
  parsed(entry).program.body.flatMap((statement): readonly PublicName[] => {
    if (statement.type !== "ExportNamedDeclaration") return [];
    const source = (statement["source"] as { readonly value: string } | null)?.value;
    const declaration = statement["declaration"] as Node | null;
    if (declaration !== null) return namesOf(declaration).map((name) => ({ name, path: entry, declared: name }));
    const specifiers = statement["specifiers"] as readonly {
      readonly local: { readonly name: string };
      readonly exported: { readonly name: string };
    }[];
    return specifiers.flatMap(({ local, exported }) => {
      const from = source ?? importedFrom(entry, local.name);
      if (from === undefined) return [{ name: exported.name, path: entry, declared: local.name }];
      const path = new URL(from, `file:///${entry}`).pathname.slice(1);
      const passedOn = publicNames(path).find(({ name }) => name === local.name);
      return [{ name: exported.name, path: passedOn?.path ?? path, declared: passedOn?.declared ?? local.name }];
    });
  });

/** The file that a name was taken from, as it is written; undefined for a name of the file's own. */
const importedFrom = (path: string, name: string): string | undefined => {
  const statement = parsed(path).program.body.find(
    ({ type, specifiers }) =>
      type === "ImportDeclaration" &&
      (specifiers as readonly { readonly local: { readonly name: string } }[]).some(({ local }) => local.name === name),
  );
  return (statement?.["source"] as { readonly value: string } | undefined)?.value;
};
