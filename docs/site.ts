/**
 * `npm run docs` builds the documentation site, `npm run docs:dev` serves it and follows changes.
 *
 * Invariants: the tools of the site are installed here only, by the lock file in this folder, without install scripts; pages in
 * `reference` are generated each time; a dead link, a missing anchor or anything loaded from another host fails the build.
 */
import { execFileSync, spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { problemsOfSite } from "./check-site.ts";

const here = fileURLToPath(new URL(".", import.meta.url));
const root = fileURLToPath(new URL("..", import.meta.url));

interface Manifest {
  readonly version: string;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(`${folder}/package.json`, "utf8")) as Manifest;

const isThere = ([name, version]: readonly [string, string]): boolean => {
  try {
    return manifestOf(`${here}node_modules/${name}`).version === version;
  } catch {
    return false;
  }
};

const install = (): void => {
  if (Object.entries(manifestOf(here).devDependencies).every(isThere)) return;
  process.stderr.write("Installing what builds the documentation, once.\n");
  execFileSync("npm", ["ci", "--prefix", here, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], {
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
};

/** Runs a script of Node; resolves when it has ended well. */
const node = (...argv: readonly string[]): Promise<void> =>
  new Promise((resolve, reject) => {
    const env = { ...process.env, TSX_TSCONFIG_PATH: `${root}tsconfig.json` };
    spawn(process.execPath, argv, { cwd: root, stdio: "inherit", env }).on("exit", (code) => {
      if (code === 0) resolve();
      else reject(new Error(`${argv.join(" ")} ended with ${code}`));
    });
  });

const generate = async (): Promise<void> => {
  rmSync(`${here}reference`, { recursive: true, force: true });
  await Promise.all([
    node("--import", "tsx", "docs/generate/main.ts"),
    node("docs/node_modules/typedoc/bin/typedoc", "--options", "docs/typedoc.json"),
  ]);
};

const [command = "build"] = process.argv.slice(2);
try {
  install();
  await generate();
  await node("docs/node_modules/vitepress/bin/vitepress.js", command, "docs");
  const problems = command === "build" ? problemsOfSite(`${here}.vitepress/dist`) : [];
  if (problems.length > 0) throw new Error(problems.join("\n"));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exit(1);
}
