/**
 * `sluice init [dir]`: writes a project that can be tested and run at once.
 *
 * Invariants: no file that exists is replaced: everything is checked before the first file is written; nothing is asked
 * with --yes or without a terminal; the recording is the same for everyone who names the same instrument.
 * Not here: what the files hold (project-files.ts, `template/`), what package.json depends on (package-source.ts).
 */
import { existsSync, mkdirSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { parseInstId } from "../contract/inst-id.ts";
import { SluiceError } from "../errors.ts";
import { writeFixture } from "../market/tape/fixture.ts";
import { generateTape, instrumentFor } from "../market/tape/generate.ts";
import { type CliIo, printable } from "./io.ts";
import { packageSource } from "./package-source.ts";
import { projectFiles } from "./project-files.ts";

/** The answer to a question; empty where the default is taken. */
type Ask = (question: string) => Promise<string>;

export interface InitParts {
  readonly ask?: Ask;
  /** Folder of this package. */
  readonly root?: string;
}

interface Given {
  readonly name?: string;
  readonly instrument?: string;
  readonly yes?: true;
}

const instIdDefault = "BTC-USDT-SWAP";
const minutes = 60;
const seed = "1";

export const addInitCommand = (program: Command, io: CliIo, parts: InitParts = {}): void => {
  program
    .command("init")
    .description(
      "Write a new project: a strategy with a stop, its test, configs for backtest, paper and testnet, and a generated market.",
    )
    .argument("[dir]", "folder of the project; it is made where it does not exist", ".")
    .option("--name <name>", "name in package.json, instead of the folder's")
    .option("--instrument <instId>", `perpetual swap that it trades (default: ${instIdDefault})`)
    .option("-y, --yes", "ask nothing")
    .addHelpText("after", "\nExample:\n  npx sluice init demo --yes && cd demo && npm install && npm test && npm start")
    .action((dir: string, given: Given) => init(dir, given, io, parts));
};

const init = async (dir: string, given: Given, io: CliIo, parts: InitParts): Promise<void> => {
  const { root = realpathSync(fileURLToPath(new URL("../..", import.meta.url))) } = parts;
  const person = parts.ask ?? (process.stdin.isTTY ? askPerson : undefined);
  const asked = given.yes === true || !io.isTty ? undefined : person;
  const folder = resolve(dir);
  const name = nameOf(given.name ?? (await answer(asked, "Name", packageName(basename(folder)))));
  const instId = swapOf(given.instrument ?? (await answer(asked, "Instrument", instIdDefault)));
  const source = packageSource(root, realFolder(folder));
  const files = projectFiles(root, { name, instId, source });
  checkFree(folder, dir, [...files.keys(), "fixture"]);
  const tape = generateTape({ seed, minutes, instruments: [instrumentFor(instId)] });
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text, { flag: "wx" });
  }
  writeFixture(join(folder, "fixture"), tape, {
    source: `A synthetic market, made by: sluice generate --out fixture --seed ${seed} --minutes ${minutes} --instrument ${instId}`,
  });
  for (const path of [...files.keys(), "fixture/"]) io.out(`${printable(join(dir, path))}\n`);
  if (source.kind === "guess") {
    io.err(
      `Where sluice ${source.spec} was installed from is not known: if npm does not find it, put its file or address into dependencies.sluice of package.json.\n`,
    );
  }
  io.err(`\nNow: ${dir === "." ? "" : `cd ${printable(dir)} && `}npm install && npm test && npm start\n`);
};

const answer = async (ask: Ask | undefined, what: string, byDefault: string): Promise<string> => {
  const said = (await ask?.(`${what} (${byDefault}): `)) ?? "";
  return said.trim() === "" ? byDefault : said.trim();
};

const askPerson: Ask = async (question) => {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return await lines.question(question);
  } finally {
    lines.close();
  }
};

/** Name that npm accepts. */
const packageName = (folder: string): string => {
  const name = folder
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replace(/^[._-]+/, "");
  return name === "" || name === "sluice" ? "my-strategies" : name;
};

const nameOf = (text: string): string => {
  if (text.length <= 100 && packageName(text) === text) return text;
  throw new SluiceError(
    "USAGE",
    `"${text}" cannot be the name of a package. Write small letters, digits and dashes, such as --name my-strategies.`,
  );
};

const swapOf = (text: string): string => {
  if (parseInstId(text, "--instrument").instType === "SWAP") return text;
  throw new SluiceError(
    "USAGE",
    `--instrument: ${text} is spot, where a stop cannot be an order that only reduces. Write ${text}-SWAP.`,
  );
};

/** Path without symbolic links, as far as the folder exists. */
const realFolder = (folder: string): string => {
  if (existsSync(folder)) return realpathSync(folder);
  const parent = dirname(folder);
  return parent === folder ? folder : join(realFolder(parent), basename(folder));
};

const checkFree = (folder: string, dir: string, names: readonly string[]): void => {
  if (statSync(folder, { throwIfNoEntry: false })?.isFile() === true)
    throw new SluiceError("USAGE", `${dir} is a file. Name a folder.`);
  const taken = names.filter((name) => existsSync(join(folder, name)));
  if (taken.length === 0) return;
  throw new SluiceError(
    "USAGE",
    `${dir} already holds ${taken.join(", ")}; nothing was written. Name another folder, or move what is there.`,
  );
};
