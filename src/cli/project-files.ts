/**
 * The files of a new project, by path.
 *
 * Invariants: the same name, instrument and source give the same texts; everything that is code lies in `template/`,
 * where it is compiled and tested with the rest.
 * Not here: the recording (init.ts generates it), writing.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { mul } from "../decimal.ts";
import { instrumentFor } from "../market/tape/generate.ts";
import type { PackageSource } from "./package-source.ts";

interface NewProject {
  readonly name: string;
  readonly instId: string;
  readonly source: PackageSource;
}

interface OwnManifest {
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** `root`: the folder of this package. */
export const projectFiles = (root: string, project: NewProject): ReadonlyMap<string, string> => {
  const template = join(root, "template");
  const names = readdirSync(template, { recursive: true, encoding: "utf8" }).filter((name) => /\.(ts|md)$/.test(name));
  const qty = mul(instrumentFor(project.instId).lotSize, "10");
  const filled = names
    .sort()
    .map((name): [string, string] => [
      name.replaceAll("\\", "/"),
      readFileSync(join(template, name), "utf8")
        .replaceAll("BTC-USDT-SWAP", project.instId)
        .replaceAll('qty: "0.01"', `qty: "${qty}"`)
        .replaceAll("PROJECT_NAME", project.name),
    ]);
  return new Map([
    ["package.json", json(manifestOf(root, project))],
    ["tsconfig.json", json(tsconfig)],
    [".gitignore", "node_modules\nout\n.sluice\n"],
    // npm links a folder otherwise, and two copies of rxjs do not fit each other's types.
    ...(project.source.kind === "folder" ? [[".npmrc", "install-links=true\n"] as const] : []),
    ...filled,
  ]);
};

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

const manifestOf = (root: string, { name, source }: NewProject): object => {
  const own = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as OwnManifest;
  const tools = ["@types/node", "typescript", "vitest"].map((tool) => [tool, `^${own.devDependencies[tool]}`]);
  return {
    name,
    version: "0.0.0",
    private: true,
    type: "module",
    scripts: {
      test: "vitest run",
      start: "sluice backtest config/backtest.ts",
      paper: "sluice run config/paper.ts",
      typecheck: "tsc",
    },
    dependencies: { rxjs: own.peerDependencies["rxjs"], sluice: source.spec },
    devDependencies: Object.fromEntries(tools),
  };
};

const tsconfig = {
  compilerOptions: {
    target: "es2023",
    lib: ["es2023"],
    types: ["node"],
    module: "nodenext",
    strict: true,
    noUncheckedIndexedAccess: true,
    verbatimModuleSyntax: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
  },
  include: ["config", "strategies", "test"],
};
