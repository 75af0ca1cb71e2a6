/** What is installed with us: every package of the production tree was looked at, and none may come or change unseen. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const read = <T>(name: string): T => JSON.parse(readFileSync(join(root, name), "utf8")) as T;

interface Locked {
  readonly version: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}
interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional?: boolean }>>;
}
const manifest = read<Manifest>("package.json");
const { packages } = read<{ readonly packages: Readonly<Record<string, Locked>> }>("package-lock.json");

/** Reviewed by hand: exact version, licence, and why it is here. Changing a line means having looked again. */
const reviewed: Readonly<Record<string, readonly [version: string, licence: string, why: string]>> = {
  ajv: ["8.20.0", "MIT", "checks configs, options and what the service says"],
  "fast-deep-equal": ["3.1.3", "MIT", "of ajv: compares values of enum and const"],
  "fast-uri": ["3.1.9", "BSD-3-Clause", "of ajv: resolves references between schemas"],
  "json-schema-traverse": ["1.0.0", "MIT", "of ajv: walks schemas"],
  "require-from-string": ["2.0.2", "MIT", "of ajv: only for its stand-alone code, which is not used"],
  "big.js": ["7.0.1", "MIT", "exact decimals where integers do not reach"],
  commander: ["14.0.3", "MIT", "the command line"],
  eventemitter3: ["5.0.4", "MIT", "notices for bystanders"],
  "json-schema-to-ts": ["3.1.1", "MIT", "types from schemas; nothing of it runs"],
  "ts-algebra": ["2.0.0", "MIT", "of json-schema-to-ts: types alone"],
  "@babel/runtime": ["7.29.14", "MIT", "of json-schema-to-ts: named there, never loaded"],
  rxjs: ["7.8.2", "Apache-2.0", "streams"],
  tslib: ["2.9.1", "0BSD", "of rxjs: the compiler's functions"],
  semver: ["7.8.6", "ISC", "compares the version of Sluice with what a plugin supports"],
  tsx: ["4.23.15", "MIT", "loads configs and strategies written in TypeScript"],
  esbuild: ["0.28.2", "MIT", "of tsx: the compiler"],
  fsevents: ["2.3.3", "MIT", "of tsx, optional, macOS alone: watches files"],
  undici: ["7.30.2", "MIT", "HTTP connections, which the platform's own agent does not guard against late bytes"],
  "proxy-from-env": ["2.1.0", "MIT", "reads HTTPS_PROXY and NO_PROXY"],
  "https-proxy-agent": ["7.0.6", "MIT", "sockets through a proxy"],
  "agent-base": ["7.1.4", "MIT", "of https-proxy-agent: connections of an agent"],
  debug: ["4.4.3", "MIT", "of https-proxy-agent: its log, which is off"],
  ms: ["2.1.3", "MIT", "of debug: lengths of time as text"],
  yauzl: ["3.4.0", "MIT", "zip archives of market data"],
  pend: ["1.2.0", "MIT", "of yauzl: waits for several callbacks"],
  ws: ["8.23.0", "MIT", "WebSocket, which the platform has only from Node 22 on"],
};

/** Packages that run something when they are installed, in the whole tree, and why that is borne. */
const scripted: Readonly<Record<string, string>> = {
  esbuild: "checks its binary, which comes as a package of its own; everything works with --ignore-scripts",
  "msgpackr-extract":
    "of bullmq, optional, for development alone: looks for its binary, without which strings are decoded in JavaScript",
};

/** Where a package finds another, from the innermost folder outwards. */
const located = (name: string, from: string): string | undefined => {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("node_modules/") - 1))) {
    const place = `${folder === "" ? "" : `${folder}/`}node_modules/${name}`;
    if (packages[place] !== undefined) return place;
    if (folder === "") return undefined;
  }
};

/** What must be there: dependencies, and the peers that are not optional. */
const required = [
  ...Object.keys(manifest.dependencies),
  ...Object.keys(manifest.peerDependencies).filter((name) => manifest.peerDependenciesMeta[name]?.optional !== true),
];

/** Everything that `npm install sluice` brings, by its place in the lock. */
const productionTree = (): ReadonlySet<string> => {
  const found = new Set<string>();
  const walk = (names: readonly string[], from: string): void => {
    for (const name of names) {
      const place = located(name, from);
      if (place === undefined || found.has(place)) continue;
      found.add(place);
      const { dependencies = {}, optionalDependencies = {} } = packages[place] as Locked;
      walk([...Object.keys(dependencies), ...Object.keys(optionalDependencies)], place);
    }
  };
  walk(required, "");
  return found;
};

const nameOf = (place: string): string => place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length);
const isBinary = (name: string): boolean => name.startsWith("@esbuild/");

describe("The production dependency tree", () => {
  const tree = [...productionTree()];

  it("is what was reviewed, to the version and the licence", () => {
    const found = tree
      .filter((place) => !isBinary(nameOf(place)))
      .map((place) => `${nameOf(place)} ${packages[place]?.version}, ${packages[place]?.license}`);
    const expected = Object.entries(reviewed).map(([name, [version, licence]]) => `${name} ${version}, ${licence}`);
    expect(found.sort()).toEqual(expected.sort());
  });

  it("has the compiler's binaries, all of its own version and named by it", () => {
    const named = Object.keys(packages["node_modules/esbuild"]?.optionalDependencies ?? {});
    const binaries = tree.map(nameOf).filter(isBinary);
    expect(binaries.sort()).toEqual(named.sort());
    for (const place of tree.filter((one) => isBinary(nameOf(one))))
      expect(packages[place]?.version, place).toBe(reviewed["esbuild"]?.[0]);
  });

  it("is asked for by exact versions", () => {
    for (const [name, asked] of [
      ...Object.entries(manifest.dependencies),
      ...Object.entries(manifest.devDependencies),
    ]) {
      const version = asked.replace(/^npm:[\w-]+@/, "");
      expect(version, name).toMatch(/^\d+\.\d+\.\d+$/);
      expect(packages[`node_modules/${name}`]?.version, name).toBe(version);
    }
  });

  it("is all the sources import", () => {
    const files = (folder: string): string[] =>
      readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
        .filter((entry) => entry.isFile() && /\.(tsx?|mjs)$/.test(entry.name))
        .map((entry) => join(entry.parentPath, entry.name));
    const imported = (text: string): string[] =>
      [
        ...text.matchAll(/^(?:import|export)\b[^"=]*?\bfrom "([^".][^"]*)"/gm),
        ...text.matchAll(/^import "([^".][^"]*)"/gm),
        ...text.matchAll(/\bimport\("([^".][^"]*)"\)/g),
      ].map((match) => match[1] as string);
    const known = [...required, "sluice"];
    // Loaded by those who ask for them, who are told what to install where they are missing.
    const optional = {
      "/plugins/control-room/server/": ["hono", "@hono/node-server"],
      "/plugins/redis/": ["ioredis"],
      "/plugins/shared-quota/": ["ioredis"],
      "/plugins/sweep/workers/": ["ioredis", "bullmq", "pg"],
    };
    const bundled = Object.keys(manifest.devDependencies);
    // Clients of pages are bundled: what they import is part of the bundle, and nothing of it is installed. The build runs
    // where the dev dependencies are.
    const isBundled = (file: string): boolean =>
      /\/client\/[^/]+\.tsx?$|\/ui-kit\/bundle\.mjs$|\/src\/cli\/core-bundle\.mjs$/.test(file);
    const inThread = (file: string): readonly string[] =>
      Object.entries(optional).flatMap(([folder, names]) => (file.includes(folder) ? names : []));
    for (const [folder, more] of [
      ["src", []],
      ["plugins", []],
      ["config", []],
      ["strategies", Object.keys(manifest.peerDependencies)],
    ] as const) {
      for (const file of files(folder)) {
        for (const name of imported(readFileSync(file, "utf8"))) {
          const isKnown =
            name.startsWith("node:") ||
            [...known, ...more, ...inThread(file), ...(isBundled(file) ? bundled : [])].some(
              (one) => name === one || name.startsWith(`${one}/`),
            );
          expect(isKnown, `${file} imports ${name}`).toBe(true);
        }
      }
    }
  });
});

describe("Every installed package", () => {
  it("carries the hash of its bytes, and is linked from nowhere", () => {
    for (const [place, { integrity, link }] of Object.entries(packages)) {
      if (place === "") continue;
      expect(integrity, place).toMatch(/^sha512-/);
      expect(link, place).toBeUndefined();
    }
  });

  it("runs no script on the way but the reviewed", () => {
    const found = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript === true);
    expect(found.map(([place]) => nameOf(place)).sort()).toEqual(Object.keys(scripted).sort());
    for (const name of ["preinstall", "install", "postinstall"]) expect(manifest.scripts).not.toHaveProperty(name);
    // Of an install from git or from a folder alone, where there is no build yet: a compiler run, nothing else.
    expect(manifest.scripts["prepare"]).toBe("node src/cli/build.mjs --when-installed");
  });
});
