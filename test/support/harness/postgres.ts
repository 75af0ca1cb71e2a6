/**
 * A PostgreSQL of a test's own on a free port of loopback, in a folder that is removed with it.
 *
 * Not here: whether one is installed is asked with `postgresServer`, so that a test can be skipped with a word.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { temporaryFolder } from "../temporary-folder.ts";
import { freePort } from "./free-port.ts";

/** Debian keeps the programs of each version in a folder of its own, which is not in PATH. */
const root = "/usr/lib/postgresql";
const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
const programs = versions.map((version) => join(root, version, "bin")).find((bin) => existsSync(join(bin, "initdb")));

/** It refuses to run as root: the user that its package has made. */
const idOf = (flag: string): number =>
  Number(spawnSync("id", [flag, "postgres"]).stdout.toString().trim() || Number.NaN);
const isRoot = process.getuid?.() === 0;
const owner = isRoot ? { uid: idOf("-u"), gid: idOf("-g") } : {};
const canRun = !isRoot || Number.isInteger(owner.uid);

/** Where the server's programs are, or undefined. */
export const postgresServer = canRun ? programs : undefined;

/** What must appear in no message. */
export const postgresPassword = "s3cret/@word";

export interface OwnPostgres {
  readonly url: string;
  readonly process: ChildProcess;
  /** Folder of its data. */
  readonly data: string;
  /** Ends the server, and with `keep` leaves its data for the next one. */
  stop(keep?: boolean): Promise<void>;
}

export const startPostgres = async (onPort?: number, data: string = newData()): Promise<OwnPostgres> => {
  const port = onPort ?? (await freePort());
  const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off", "max_connections=40"];
  const flags = ["-D", data, "-p", String(port), ...settings.flatMap((one) => ["-c", one])];
  const child = spawn(join(programs as string, "postgres"), flags, {
    stdio: ["ignore", "ignore", "pipe"],
    cwd: data,
    ...owner,
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  await new Promise<void>((resolve, reject) => {
    let text = "";
    child.stderr?.on("data", (part: Buffer) => {
      text = (text + part.toString()).slice(-10_000);
      if (/ready to accept connections/.test(text)) resolve();
    });
    child.once("exit", () => reject(new Error(`the server ended: ${text}`)));
  });
  return {
    url: `postgres://sluice:${encodeURIComponent(postgresPassword)}@127.0.0.1:${port}/postgres`,
    process: child,
    data,
    stop: async (keep = false) => {
      child.kill("SIGCONT");
      // At once, and with the processes it has started.
      child.kill("SIGQUIT");
      await ended;
      if (!keep) rmSync(dirname(data), { recursive: true, force: true });
    },
  };
};

/** The first one made here: to copy it takes a tenth of the time. */
let pristine = "";

const newData = (): string => {
  if (!existsSync(pristine)) pristine = madeData(temporaryFolder("postgres-pristine"));
  const data = join(ownFolder(mkdtempSync(join(tmpdir(), "sluice-postgres-"))), "cluster");
  const { status, stderr } = spawnSync("cp", ["-a", pristine, data]);
  if (status !== 0) throw new Error(`cp: ${stderr.toString()}`);
  return data;
};

const ownFolder = (folder: string): string => {
  if (isRoot) chownSync(folder, owner.uid as number, owner.gid as number);
  return folder;
};

const madeData = (data: string): string => {
  const secret = join(data, "password");
  writeFileSync(secret, postgresPassword);
  for (const path of [data, secret]) ownFolder(path);
  const folder = join(data, "cluster");
  const flags = [
    "-D",
    folder,
    "-U",
    "sluice",
    "-A",
    "scram-sha-256",
    `--pwfile=${secret}`,
    "-E",
    "UTF8",
    "--locale=C",
    "--no-sync",
  ];
  const { status, stderr } = spawnSync(join(programs as string, "initdb"), flags, { cwd: data, ...owner });
  if (status !== 0) throw new Error(`initdb: ${stderr.toString()}`);
  return folder;
};
