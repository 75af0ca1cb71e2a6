/**
 * Rules for plugins: what they import, what they consist of, and that the core does without them.
 *
 * Each failure says what to do. Exceptions stand with their reasons, and one that is no longer needed fails as well.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { type SourceFile, sourceTree } from "../support/source-tree.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const names = readdirSync(join(root, "plugins"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const files = sourceTree("plugins");
const textOf = new Map([...files, ...sourceTree("src")].map(({ path, text }) => [path, text]));
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Record<string, Record<string, string>>;
const packages = [...Object.keys(manifest["dependencies"] ?? {}), ...Object.keys(manifest["peerDependencies"] ?? {})];
const entries = ["sluice", "sluice/extension", "sluice/dialect", "sluice/backtest", "sluice/testing"];

/** Packages that are bundled into pages, or bundle them. */
const bundledPackages = Object.keys(manifest["devDependencies"] ?? {});
const isClient = (path: string): boolean => /\/client\/[^/]+\.tsx?$/.test(path);

const pluginOf = (path: string): string => path.split("/")[1] as string;
const neighbourIn = (specifier: string): string | undefined => /^sluice\/plugins\/([\w-]+)$/.exec(specifier)?.[1];
const packageIn = (specifier: string): string =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");

const problemOf = ({ path }: SourceFile, specifier: string): string | undefined => {
  if (isBuiltin(specifier) || entries.includes(specifier)) return undefined;
  if (specifier.startsWith(".")) {
    const target = normalize(join(dirname(path), specifier));
    // Clients of pages import the kit's modules by path: the bundler joins them.
    const isShared =
      isClient(path) && (target.startsWith("plugins/ui-kit/client/") || target === "plugins/ui-kit/page-data.ts");
    const isOwn = target.startsWith(`plugins/${pluginOf(path)}/`);
    return isOwn || isShared ? undefined : "import a public entry of Sluice instead";
  }
  const neighbour = neighbourIn(specifier);
  if (neighbour !== undefined) return names.includes(neighbour) ? undefined : "there is no such plugin";
  if (specifier.startsWith("sluice/")) return `no such entry for plugins: ${entries.join(", ")}`;
  const declared =
    isClient(path) || path === "plugins/ui-kit/bundle.mjs" ? [...packages, ...bundledPackages] : packages;
  return declared.includes(packageIn(specifier)) ? undefined : "declare the package in package.json";
};

/** Specifiers of imports and exports that bring values. */
const valueImports = (path: string): string[] => {
  const code = (textOf.get(path) ?? "").replace(/\/\*[\s\S]*?\*\//g, "");
  return [...code.matchAll(/^(?:import|export)\s+(?!type\b)([^;]*?)\s+from\s+"([^"]+)";/gm)]
    .filter(([, what = ""]) => !/^\{(?:\s*type\s[^,}]*,?)+\s*\}$/.test(what))
    .map(([, , specifier]) => specifier as string);
};

/** What the static imports of a file reach, as paths; `sluice/extension` stands for itself. */
const reached = (path: string, seen = new Set<string>()): Set<string> => {
  if (seen.has(path)) return seen;
  seen.add(path);
  for (const specifier of valueImports(path)) {
    const neighbour = neighbourIn(specifier);
    if (specifier.startsWith(".")) reached(normalize(join(dirname(path), specifier)), seen);
    else if (neighbour !== undefined) reached(`plugins/${neighbour}/index.ts`, seen);
    else if (specifier === "sluice/extension") seen.add(specifier);
  }
  return seen;
};

/** Tests that need a plugin although they are not among the tests of plugins, and why. */
const needPlugins: Readonly<Record<string, string>> = {
  "test/acceptance/golden/markets.ts": "slices of real recordings are read by the import plugin",
};

const importsPlugin = ({ path, specifiers }: SourceFile): boolean =>
  specifiers.some(
    (specifier) =>
      neighbourIn(specifier) !== undefined ||
      (specifier.startsWith(".") && normalize(join(dirname(path), specifier)).startsWith("plugins/")),
  );

describe("Plugins", () => {
  it("import public entries, their own files, each other's entries and declared packages", () => {
    const wrong = files.flatMap((file) =>
      file.specifiers.flatMap((specifier) => {
        const problem = problemOf(file, specifier);
        return problem === undefined ? [] : [`${file.path} imports ${specifier}: ${problem}`];
      }),
    );
    expect(wrong).toEqual([]);
  });

  it("need each other in no circle", () => {
    const neighboursOf = (name: string): string[] =>
      files
        .filter(({ path }) => pluginOf(path) === name)
        .flatMap(({ specifiers }) => specifiers.flatMap((specifier) => neighbourIn(specifier) ?? []))
        .filter((other) => other !== name);
    const needs = new Map(names.map((name) => [name, neighboursOf(name)]));
    const isCircular = (name: string): boolean => {
      const open = [...(needs.get(name) ?? [])];
      const seen = new Set<string>();
      for (let next = open.pop(); next !== undefined; next = open.pop()) {
        if (next === name) return true;
        if (!seen.has(next)) open.push(...(needs.get(next) ?? []));
        seen.add(next);
      }
      return false;
    };
    expect(names.filter(isCircular)).toEqual([]);
  });

  it("have an entry that lists its exports by name, and one page about them", () => {
    const wrong = names.flatMap((name) => {
      const entry = `plugins/${name}/index.ts`;
      const text = textOf.get(entry);
      return [
        ...(text === undefined ? [`plugins/${name}: give it an index.ts`] : []),
        ...(/^export \* /m.test(text ?? "") ? [`${entry}: list the exports by name`] : []),
        ...(existsSync(join(root, `plugins/${name}/README.md`)) ? [] : [`plugins/${name}: give it a README.md`]),
      ];
    });
    expect(wrong).toEqual([]);
  });

  it("have manifests whose modules exist", () => {
    const wrong = names.flatMap((name) => {
      const path = join(root, `plugins/${name}/manifest.json`);
      if (!existsSync(path)) return [];
      const modules = [...readFileSync(path, "utf8").matchAll(/"module": "([^"]+)"/g)];
      return modules
        .filter(([, module = ""]) => !existsSync(join(root, "plugins", name, module)))
        .map(([, module]) => `plugins/${name}/manifest.json: ${module} does not exist`);
    });
    expect(wrong).toEqual([]);
  });

  it("load their code when it is used: the entry of a plugin takes no value from sluice/extension", () => {
    const isPlugin = (name: string, all: Set<string>): boolean =>
      [...all].some((path) => pluginOf(path) === name && /\bdefinePlugin\(/.test(textOf.get(path) ?? ""));
    const heavy = names.filter((name) => {
      const all = reached(`plugins/${name}/index.ts`);
      return isPlugin(name, all) && all.has("sluice/extension");
    });
    expect(heavy.map((name) => `plugins/${name}/index.ts: load what takes sluice/extension by import()`)).toEqual([]);
  });

  it("are needed neither by the core nor by its tests", () => {
    const sources = sourceTree("src").filter(importsPlugin);
    expect(sources.map(({ path }) => `${path}: the core knows no plugin; let the plugin contribute`)).toEqual([]);
    const needing = sourceTree("test/unit", "test/property", "test/support", "test/acceptance")
      .filter((file) => !/\.(processes|soak)\.test\.ts$/.test(file.path) && importsPlugin(file))
      .map(({ path }) => path);
    expect(
      Object.keys(needPlugins).filter((path) => existsSync(join(root, path)) && !needing.includes(path)),
      "take these from needPlugins",
    ).toEqual([]);
    const wrong = needing.filter((path) => !(path in needPlugins));
    expect(wrong.map((path) => `${path}: move it to test/plugins/<name>`)).toEqual([]);
  });
});
