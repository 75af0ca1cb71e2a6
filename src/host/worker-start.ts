/**
 * Start of a worker thread on a file of this package.
 *
 * Invariants: strategies and configs written in TypeScript load in it as they do here, and `import "sluice"` inside
 * them is the module that runs them; flags of this process, such as those of a test runner or a debugger, are not
 * handed on.
 * Not here: the messages exchanged with it (isolation.ts).
 */
import { fileURLToPath } from "node:url";
import { Worker, type WorkerOptions } from "node:worker_threads";

/** True where the sources run as they are, false in a build. */
const fromSource = import.meta.url.endsWith(".ts");
/**
 * True if even the package's own files need the TypeScript loader: in a clone, on a platform that does not strip types.
 */
export const needsLoader: boolean =
  fromSource && (process.features as { readonly typescript?: unknown }).typescript !== "strip";
const ending = fromSource ? ".ts" : ".js";

/**
 * The loader and the compile cache (since Node 22.8) are set up in the thread itself, because threads do not inherit
 * them. Compiled modules are loaded before the loader, which looks at every module that comes after it.
 */
const bootstrap = `const { workerData: { resolvers, compiled, loaders, entry } } = require("node:worker_threads");
require("node:module").enableCompileCache?.();
(async () => {
  for (const resolver of resolvers) await import(resolver);
  for (const module of compiled) await import(module);
  for (const loader of loaders) (await import(loader)).register();
  await import(entry);
})();`;

interface ThreadOptions extends Pick<WorkerOptions, "stdout" | "stderr" | "resourceLimits"> {
  /** Environment of the thread; that of the process when left out. */
  readonly env?: NodeJS.Dict<string>;
  /**
   * Public entries, besides the main one, that the thread and the files it loads import: `backtest` for
   * `sluice/backtest`. They are loaded before the loader for TypeScript, under which a file takes several times as long.
   */
  readonly entries?: readonly string[];
  /** False for a thread that loads no file of the user's. In a build it needs no loader. */
  readonly loadsFiles?: boolean;
}

/**
 * Starts a thread of the package.
 *
 * @param entry - address of its file without the ending
 * @param facts - what it finds in `workerData`
 * @param options - environment, bounds of its memory, and its streams
 * @returns the thread
 */
export const startThread = (
  entry: URL,
  facts: object,
  { env = process.env, entries = [], loadsFiles = true, ...options }: ThreadOptions = {},
): Worker =>
  new Worker(bootstrap, {
    ...options,
    eval: true,
    execArgv: [],
    env: withLoader(env),
    workerData: {
      ...facts,
      resolvers: fromSource && !needsLoader ? [new URL("../cli/checkout-imports.mjs", import.meta.url).href] : [],
      compiled:
        needsLoader || !loadsFiles
          ? []
          : ["index", ...entries].map((name) => new URL(`../${name}${ending}`, import.meta.url).href),
      loaders: needsLoader || loadsFiles ? ["tsx/cjs/api", "tsx/esm/api"].map((name) => import.meta.resolve(name)) : [],
      entry: `${entry.href}${ending}`,
    },
  });

const withLoader = (env: NodeJS.Dict<string>): NodeJS.ProcessEnv => {
  if (!fromSource) return { ...env };
  return { TSX_TSCONFIG_PATH: fileURLToPath(new URL("../../tsconfig.json", import.meta.url)), ...env };
};
