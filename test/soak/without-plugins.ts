/**
 * Takes each plugin away, and checks that types and the main job do without it; then all plugins at once, and the tests of the core.
 *
 * With a plugin go the plugins that need it, the tests of these, and benches, soak programs and pages of the reference that use them;
 * configs are without it.
 * `npm run soak:plugins [-- name...]`, `all` for all at once; about a quarter of a minute for each plugin.
 */
import { execFileSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sourceTree } from "../support/source-tree.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const parts = [
  ".githooks",
  "config",
  "docs",
  "plugins",
  "src",
  "strategies",
  "template",
  "test",
  "package.json",
  "package-lock.json",
  "README.md",
  "CONTRIBUTING.md",
  "tsconfig.json",
  "vitest.config.ts",
];

/** Paths that each file imports; a plugin stands for its entry. */
const imports = new Map(
  sourceTree("plugins", "test", "docs/generate").map(({ path, imported, specifiers }) => [
    path,
    [
      ...imported.map(({ from }) => from),
      ...specifiers.flatMap((specifier) => {
        const plugin = /^sluice\/plugins\/([\w-]+)$/.exec(specifier)?.[1];
        return plugin === undefined ? [] : [`plugins/${plugin}/index.ts`];
      }),
    ],
  ]),
);
const pluginOf = (path: string): string | undefined => /^plugins\/([\w-]+)\//.exec(path)?.[1];
/** The plugin to whose tests a file belongs. */
const testedBy = (path: string): string | undefined => /^test\/plugins\/([\w-]+)\//.exec(path)?.[1];

/** Takes plugins out of a config, as a user does who has none of them. */
const withoutPlugins = (config: string, names: ReadonlySet<string>): string => {
  let text = config;
  for (const [line, local = "", name = ""] of config.matchAll(
    /^import (\w+) from "[^"]*plugins\/([\w-]+)(?:\/index\.ts)?";\n/gm,
  )) {
    if (names.has(name)) text = text.replace(line, "").replace(new RegExp(`${local}\\(\\{[^}]*\\}\\)(, )?`), "");
  }
  return text;
};

/** Folders and files that go when these plugins go. */
const needing = (names: readonly string[]): { readonly plugins: Set<string>; readonly files: Set<string> } => {
  const plugins = new Set(names);
  const files = new Set<string>();
  const isGone = (path: string): boolean => files.has(path) || plugins.has(pluginOf(path) ?? testedBy(path) ?? "");
  for (let before = -1; before !== plugins.size + files.size; ) {
    before = plugins.size + files.size;
    for (const [path, targets] of imports) {
      if (isGone(path) || !targets.some(isGone)) continue;
      const plugin = pluginOf(path);
      if (plugin === undefined) files.add(path);
      else plugins.add(plugin);
    }
  }
  return { plugins, files };
};

const run = (dir: string, what: string, command: string, ...argv: readonly string[]): boolean => {
  try {
    execFileSync(command, argv, { cwd: dir, stdio: "pipe", env: { ...process.env, NO_COLOR: "1" } });
    return true;
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: Buffer; readonly stderr: Buffer };
    console.log(`  ${what} failed:\n${stdout.toString().slice(-3_000)}${stderr.toString().slice(-1_000)}`);
    return false;
  }
};

const check = (names: readonly string[], withTests: boolean): boolean => {
  const dir = temporaryFolder("without-plugins");
  for (const part of parts)
    cpSync(join(root, part), join(dir, part), { recursive: true, filter: (path) => !path.endsWith("node_modules") });
  symlinkSync(join(root, "node_modules"), join(dir, "node_modules"));
  const { plugins, files } = needing(names);
  for (const name of plugins) {
    rmSync(join(dir, "plugins", name), { recursive: true, force: true });
    rmSync(join(dir, "test/plugins", name), { recursive: true, force: true });
  }
  for (const path of files) rmSync(join(dir, path), { force: true });
  for (const folder of ["config", "template/config"]) {
    for (const name of readdirSync(join(dir, folder)).filter((file) => file.endsWith(".ts"))) {
      const path = join(dir, folder, name);
      writeFileSync(path, withoutPlugins(readFileSync(path, "utf8"), plugins));
    }
  }
  const others = [...plugins].filter((name) => !names.includes(name));
  console.log(`without ${names.join(", ")}${others.length > 0 ? `, and ${others.join(", ")} with it` : ""}`);
  const node = process.execPath;
  const isWell =
    run(dir, "the check of types", node, "node_modules/typescript/bin/tsc", "-p", "tsconfig.json") &&
    run(dir, "the main job", node, "src/cli/sluice.mjs", "backtest", "config/backtest.ts") &&
    (!withTests ||
      run(dir, "the tests of the core", node, "node_modules/vitest/vitest.mjs", "run", "--project", "core"));
  rmSync(dir, { recursive: true, force: true });
  return isWell;
};

const all = readdirSync(join(root, "plugins"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const asked = process.argv.slice(2);
const failed = (asked.length > 0 ? asked.filter((name) => name !== "all") : all).filter(
  (name) => !check([name], false),
);
if ((asked.length === 0 || asked.includes("all")) && !check(all, true)) failed.push("all of them");
console.log(failed.length === 0 ? "every one can be taken away" : `not without: ${failed.join(", ")}`);
process.exitCode = failed.length === 0 ? 0 : 1;
