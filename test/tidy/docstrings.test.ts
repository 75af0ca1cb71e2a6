/**
 * Rule for the public API: every function that an entry exports describes each parameter and what it returns.
 *
 * Not here: that every exported name has a docstring at all, which the build of the documentation checks (docs/typedoc.json).
 */
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "rolldown/utils";
import { describe, expect, it } from "vitest";

const src = fileURLToPath(new URL("../../src/", import.meta.url));

/** Entries of the package whose functions are described in full. */
const entries = ["index.ts", "backtest.ts", "dialect.ts", "testing.ts", "extension.ts"];

/** The part of a syntax tree that is read here. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly name?: string;
  readonly value?: string;
  readonly id?: Node;
  readonly init?: Node;
  readonly left?: Node;
  readonly local?: Node;
  readonly imported?: Node;
  readonly exported?: Node;
  readonly source?: Node | null;
  readonly declaration?: Node | null;
  readonly declarations?: readonly Node[];
  readonly specifiers?: readonly Node[];
  readonly params?: readonly Node[];
  readonly typeAnnotation?: Node;
  readonly typeName?: Node;
  readonly typeArguments?: Node;
  readonly returnType?: Node;
}

interface Source {
  readonly body: readonly Node[];
  readonly docBefore: (start: number) => string;
}

const sources = new Map<string, Source>();

const read = (path: string): Source => {
  const known = sources.get(path);
  if (known !== undefined) return known;
  const text = readFileSync(path, "utf8");
  const { program, comments } = parseSync(path, text);
  const made: Source = {
    body: program.body as unknown as readonly Node[],
    docBefore: (start) => {
      const comment = comments.findLast(({ end, value }) => end <= start && value.startsWith("*"));
      return comment !== undefined && /^\s*$/.test(text.slice(comment.end, start)) ? comment.value : "";
    },
  };
  sources.set(path, made);
  return made;
};

interface Declared {
  readonly doc: string;
  readonly declaration: Node;
}

const declaredBy = (node: Node): Node => {
  const declared = node.declaration ?? node;
  return declared.declarations?.[0] ?? declared;
};

/** Where a name that a file exports or declares is declared; overloads of a function by the first one. */
const declarationOf = (path: string, name: string): Declared | undefined => {
  const { body, docBefore } = read(path);
  const own = body.find((node) => declaredBy(node).id?.name === name);
  if (own !== undefined) return { doc: docBefore(own.start), declaration: declaredBy(own) };
  for (const { source, specifiers = [] } of body) {
    const listed = specifiers.find(({ exported, local }) => (exported ?? local)?.name === name);
    if (listed === undefined) continue;
    const before = (listed.exported === undefined ? listed.imported : listed.local)?.name ?? name;
    if (source) return declarationOf(resolve(dirname(path), source.value ?? ""), before);
    if (before !== name) return declarationOf(path, before);
  }
  return undefined;
};

const exportsOf = (path: string): readonly string[] =>
  read(path)
    .body.filter(({ type }) => type === "ExportNamedDeclaration")
    .flatMap((node) => [
      ...(node.declaration ? [declaredBy(node).id?.name ?? ""] : []),
      ...(node.specifiers ?? []).map(({ exported }) => exported?.name ?? ""),
    ]);

/** The function of a declaration: a function, an arrow function, or a type of functions. */
const functionOf = (declaration: Node): Node | undefined =>
  [declaration, declaration.init, declaration.typeAnnotation].find(
    (node) => node?.params !== undefined && /Function/.test(node.type),
  );

const nameOfParam = (param: Node): string | undefined => param.name ?? param.left?.name;

const returnsNothing = ({ returnType }: Node): boolean => {
  const type = returnType?.typeAnnotation;
  const inner = type?.typeName?.name === "Promise" ? type.typeArguments?.params?.[0] : type;
  return inner?.type === "TSVoidKeyword";
};

/** What the docstring of a function lacks. */
const lacks = ({ doc, declaration }: Declared): readonly string[] => {
  const called = functionOf(declaration);
  if (called === undefined) return [];
  const described = [...doc.matchAll(/@param (\S+)( -)?/g)].map(([, name, hyphen]) => ({ name, hyphen }));
  const { params = [] } = called;
  return [
    ...params.flatMap((param, index) => {
      const name = nameOfParam(param);
      const tag = described[index];
      if (tag === undefined) return [`@param ${name ?? "options"}`];
      if (name !== undefined && tag.name !== name) return [`@param ${name} in place of @param ${tag.name}`];
      return tag.hyphen === undefined ? [`a hyphen after @param ${tag.name}`] : [];
    }),
    ...(described.length > params.length ? [`fewer @param: it takes ${params.length}`] : []),
    ...(returnsNothing(called) || /@returns \S/.test(doc) ? [] : ["@returns"]),
  ];
};

const examplesIn = (doc: string): readonly string[] =>
  [...doc.matchAll(/@example\n([\s\S]*?)(?=\n\s*\* @|$)/g)].map(([, code = ""]) => code.replaceAll(/^\s*\* ?/gm, ""));

const described = entries.flatMap((entry) =>
  exportsOf(join(src, entry)).map((name) => ({
    name: `${entry} ${name}`,
    declared: declarationOf(join(src, entry), name),
  })),
);

describe("Functions of the public API", () => {
  it("are found with their declarations", () => {
    const lost = described.filter(({ declared }) => declared === undefined).map(({ name }) => name);
    expect(lost.filter((name) => !name.endsWith(" wire"))).toEqual([]);
    expect(described.filter(({ declared }) => declared && functionOf(declared.declaration)).length).toBeGreaterThan(50);
  });

  it("describe every parameter and the result", () => {
    const problems = described.flatMap(({ name, declared }) =>
      declared === undefined ? [] : lacks(declared).map((what) => `${name} lacks ${what}`),
    );
    expect(problems).toEqual([]);
  });

  it("have examples that can be parsed", () => {
    const examples = described.flatMap(({ name, declared }) =>
      examplesIn(declared?.doc ?? "").map((code) => ({ name, code })),
    );
    expect(examples.length).toBeGreaterThan(10);
    const broken = examples.filter(({ code }) => parseSync("example.ts", code).errors.length > 0);
    expect(broken).toEqual([]);
  });
});
