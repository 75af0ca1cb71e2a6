/**
 * Port file: where a control port is and what opens it, left for other programs of the same user on this machine.
 *
 * Invariants: readable by its user alone, in a folder that is theirs alone; new at each start and gone after an orderly
 * stop; a file whose process has ended is taken away by who finds it.
 * Not here: who may ask what with a token (server/request-guard.ts).
 */
import { randomBytes } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { SluiceError } from "sluice";
import { defaultFolder, ownFolder } from "sluice/extension";

export interface PortTokens {
  readonly read: string;
  /** Token that permits actions; absent if no client may act. */
  readonly act?: string;
}

/** Content of the file. */
interface PortRecord extends PortTokens {
  readonly url: string;
  readonly pid: number;
  /** Engines at the port. */
  readonly engines: readonly string[];
  /** Config that the process was started with, else its program; absent in files of earlier versions. */
  readonly startedWith?: string;
}

/** Absolute path of the config in a command line such as `sluice run config/paper.ts`, else of the program. */
export const startedWith = ([, program = "", ...words]: readonly string[] = process.argv): string =>
  resolve(words.find((word) => !word.startsWith("-") && /\.[cm]?[jt]s$/.test(word)) ?? program);

/** A port as it is listed where several are open. */
export const portText = ({ url, engines, startedWith: file }: PortRecord): string =>
  `${url} (${engines.join(", ")}${file === undefined ? "" : `, started with ${file}`})`;

const remedy = "Make it your own, or name a folder of your own with TMPDIR.";
const tokenBytes = 32;
const tokenLengthMin = 32;

/** 256 bits of chance. */
const newToken = (): string => randomBytes(tokenBytes).toString("base64url");

export const newTokens = (readOnly: boolean): PortTokens =>
  readOnly ? { read: newToken() } : { read: newToken(), act: newToken() };

/**
 * Tokens of the user's own: the first line of the file acts, the second reads; with one line there is no reading token
 * but a made one.
 */
export const tokensIn = (file: string, readOnly: boolean): PortTokens => {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  const refuse = (why: string): never => {
    throw new SluiceError("CONFIG_INVALID", `tokenFile ${file}: ${why}`);
  };
  if (stat === undefined) return refuse("there is no such file.");
  if (process.platform !== "win32" && (stat.mode & 0o077) !== 0)
    refuse(`it is open to others. Run: chmod 600 '${file}'`);
  const lines = readFileSync(file, "utf8")
    .split(/\s+/)
    .filter((line) => line !== "");
  const [first = "", second = newToken()] = lines;
  if (lines.length > 2) refuse("more than two tokens are in it: write the acting one, and below it the reading one.");
  for (const token of [first, second]) {
    if (token.length < tokenLengthMin || !/^[\w-]{1,200}$/.test(token)) {
      refuse(`a token has at least ${tokenLengthMin} letters, digits, - and _. Make one: openssl rand -hex 32`);
    }
  }
  if (first === second) refuse("both tokens are the same.");
  return readOnly ? { read: second } : { read: second, act: first };
};

const nameOf = (pid: number, port: number): string => `control-${pid}-${port}.json`;

/** Writes the file again. */
export const writePortFile = (record: PortRecord, dir = defaultFolder()): string => {
  const path = join(ownFolder(dir, remedy), nameOf(record.pid, Number(new URL(record.url).port || 0)));
  rmSync(path, { force: true });
  writeFileSync(path, `${JSON.stringify(record)}\n`, { mode: 0o600, flag: "wx" });
  return path;
};

export const removePortFile = (path: string): void => {
  rmSync(path, { force: true });
};

const pattern = /^control-(\d+)-\d+\.json$/;

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
};

/** Ports of this user on this machine whose process runs. */
export const runningPorts = (dir = defaultFolder()): readonly PortRecord[] =>
  readdirSync(ownFolder(dir, remedy)).flatMap((name) => {
    const pid = Number(pattern.exec(name)?.[1] ?? Number.NaN);
    if (Number.isNaN(pid)) return [];
    const path = join(dir, name);
    if (!isAlive(pid)) {
      rmSync(path, { force: true });
      return [];
    }
    try {
      return [JSON.parse(readFileSync(path, "utf8")) as PortRecord];
    } catch {
      // It is being written.
      return [];
    }
  });
