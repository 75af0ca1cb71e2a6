/**
 * Source tree: the parsed files below a folder, what each imports and exports, and how long its functions are.
 *
 * Invariants: imports count whether they bring values or types, and whether they are written `import`, `export … from` or `import("…")`.
 * Not here: what is allowed (test/tidy.test.ts).
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, extname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type ParseResult, parseSync } from "rolldown/utils";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** A name taken from another file; `*` stands for all of them. */
interface ImportedName {
  readonly from: string;
  readonly name: string;
}

export interface SourceFunction {
  readonly name: string;
  readonly lines: number;
  readonly parameters: number;
  /** Decisions plus one: branches, loops, cases, `&&`, `||`, `??` and `catch`; functions inside count for themselves. */
  readonly complexity: number;
}

export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly lines: number;
  /** Specifiers as they are written. */
  readonly specifiers: readonly string[];
  /** Names that other files below the root give, by their paths. */
  readonly imported: readonly ImportedName[];
  readonly exported: readonly string[];
  readonly functions: readonly SourceFunction[];
  /** Names at module level that can change: `let`, and collections that are created empty. */
  readonly state: readonly string[];
}

type Node = { readonly type: string; readonly start: number; readonly end: number } & Readonly<Record<string, unknown>>;

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string";

const childrenOf = (node: Node): Node[] =>
  Object.values(node).flatMap((value) => (Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : []));

const nameOf = (node: unknown): string | undefined => {
  if (!isNode(node)) return undefined;
  if (typeof node["name"] === "string") return node.type === "PrivateIdentifier" ? `#${node["name"]}` : node["name"];
  return typeof node["value"] === "string" ? node["value"] : undefined;
};

const isFunction = ({ type }: Node): boolean =>
  /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(type);
const isDecision = (node: Node): boolean =>
  /^(If|For|ForIn|ForOf|While|DoWhile)Statement$|^(Conditional|Logical)Expression$|^CatchClause$/.test(node.type) ||
  (node.type === "SwitchCase" && isNode(node["test"])) ||
  (node.type === "AssignmentExpression" && /^(\|\||&&|\?\?)=$/.test(String(node["operator"])));

const decisionsIn = (node: Node): number =>
  childrenOf(node)
    .filter((child) => !isFunction(child))
    .reduce((sum, child) => sum + decisionsIn(child) + (isDecision(child) ? 1 : 0), 0);

const parametersOf = (node: Node): number => {
  const params = node["params"];
  const list = Array.isArray(params) ? params : isNode(params) ? params["items"] : [];
  return Array.isArray(list) ? list.length : 0;
};

/** Every function and method; one without a name of its own has that of what it is given to. */
const functionsOf = (program: Node, text: string): SourceFunction[] => {
  const found: SourceFunction[] = [];
  const linesOf = ({ start, end }: Node): number => text.slice(start, end).split("\n").length;
  const walk = (node: Node, given: string): void => {
    const own = nameOf(node["id"]) ?? nameOf(node["key"]) ?? given;
    if (isFunction(node)) {
      const body = node["body"];
      const itself = isNode(body) && isDecision(body) ? 1 : 0;
      found.push({
        name: own,
        lines: linesOf(node),
        parameters: parametersOf(node),
        complexity: 1 + itself + decisionsIn(node),
      });
    }
    for (const child of childrenOf(node)) walk(child, own);
  };
  walk(program, "(module)");
  return found;
};

const isEmptyCollection = (node: unknown): boolean => {
  if (!isNode(node)) return false;
  if (node.type === "ArrayExpression") return (node["elements"] as unknown[]).length === 0;
  if (node.type === "ObjectExpression") return (node["properties"] as unknown[]).length === 0;
  const made = node.type === "NewExpression" ? nameOf(node["callee"]) : undefined;
  return made !== undefined && /^(Weak)?(Map|Set)$/.test(made) && (node["arguments"] as unknown[]).length === 0;
};

/** Names declared at module level that can change. */
const stateOf = (program: Node): string[] =>
  (program["body"] as Node[]).flatMap((statement) => {
    const exported = statement["declaration"];
    const declaration = isNode(exported) ? exported : statement;
    if (declaration.type !== "VariableDeclaration") return [];
    const declarators = declaration["declarations"] as Node[];
    return declarators
      .filter(({ init }) => declaration["kind"] !== "const" || isEmptyCollection(init))
      .map((declarator) => nameOf(declarator["id"]) ?? "(pattern)");
  });

/** The names asked of a namespace (`schemas.order`), or all of them where it is handed on as a whole. */
const membersOf = (namespace: string, text: string): string[] => {
  const uses = [...text.matchAll(new RegExp(`(?<![\\w.])${namespace}\\b(?:\\.(\\w+))?`, "g"))].slice(1);
  return uses.some(([, member]) => member === undefined) ? ["*"] : uses.map(([, member]) => member as string);
};

const importsOf = ({ staticImports, staticExports }: ParseResult["module"], text: string): ImportedName[] => [
  ...staticImports.flatMap(({ moduleRequest, entries }) =>
    entries.flatMap(({ importName, localName }) => {
      const names =
        importName.kind === "NamespaceObject" ? membersOf(localName.value, text) : [importName.name ?? "default"];
      return names.map((name) => ({ from: moduleRequest.value, name }));
    }),
  ),
  ...staticExports.flatMap(({ entries }) =>
    entries.flatMap(({ moduleRequest, importName }) =>
      moduleRequest ? [{ from: moduleRequest.value, name: importName.name ?? "*" }] : [],
    ),
  ),
  ...[...text.matchAll(/\bimport\("([^"]+)"\)(?:\)?\.(\w+))?/g)].map(([, from = "", name = "*"]) => ({ from, name })),
];

const langs: Readonly<Record<string, "ts" | "tsx">> = { ".ts": "ts", ".tsx": "tsx" };

const parse = (path: string): SourceFile => {
  const text = readFileSync(join(root, path), "utf8");
  const { program, module } = parseSync(path, text, { lang: langs[extname(path)] ?? "js" });
  const code = text.replace(/^\s*(\/\/|\*|\/\*).*$/gm, "");
  const imported = importsOf(module, code);
  const bare = module.staticImports.map(({ moduleRequest }) => moduleRequest.value);
  return {
    path,
    text,
    lines: text.split("\n").length,
    specifiers: [...new Set([...bare, ...imported.map(({ from }) => from)])],
    imported: imported
      .filter(({ from }) => from.startsWith("."))
      .map(({ from, name }) => ({ from: relative(root, resolve(root, dirname(path), from)), name })),
    exported: module.staticExports.flatMap(({ entries }) =>
      entries.map(({ exportName }) => exportName.name ?? exportName.kind),
    ),
    functions: functionsOf(program as unknown as Node, text),
    state: stateOf(program as unknown as Node),
  };
};

export const pathsUnder = (folder: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) =>
    entry.name === "node_modules" || entry.name === "bundle"
      ? []
      : entry.isDirectory()
        ? pathsUnder(join(folder, entry.name))
        : /\.(tsx?|mjs|js)$/.test(entry.name)
          ? [join(folder, entry.name)]
          : [],
  );

/** The parsed files below each folder. */
export const sourceTree = (...folders: readonly string[]): readonly SourceFile[] =>
  folders.flatMap(pathsUnder).sort().map(parse);

/** Groups of files that reach each other by their imports: Tarjan's strongly connected components of more than one file. */
export const importCycles = (files: readonly SourceFile[]): string[][] => {
  const next = new Map(files.map(({ path, imported }) => [path, [...new Set(imported.map(({ from }) => from))]]));
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];
  const visit = (path: string): void => {
    index.set(path, index.size);
    low.set(path, index.get(path) as number);
    stack.push(path);
    for (const target of next.get(path) ?? []) {
      if (!next.has(target)) continue;
      if (!index.has(target)) visit(target);
      if (stack.includes(target)) low.set(path, Math.min(low.get(path) as number, low.get(target) as number));
    }
    if (low.get(path) !== index.get(path)) return;
    const group = stack.splice(stack.indexOf(path));
    if (group.length > 1) cycles.push(group.sort());
  };
  for (const path of next.keys()) if (!index.has(path)) visit(path);
  return cycles;
};

/** Exports that no file of the tree imports, as `path name`. */
export const exportsWithoutImport = (files: readonly SourceFile[], entries: readonly string[]): string[] => {
  const used = new Set(files.flatMap(({ imported }) => imported.map(({ from, name }) => `${from} ${name}`)));
  return files
    .filter(({ path }) => !entries.includes(path) && !used.has(`${path} *`))
    .flatMap(({ path, exported }) => exported.map((name) => `${path} ${name}`))
    .filter((entry) => !used.has(entry));
};
