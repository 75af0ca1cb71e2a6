/**
 * `sluice ui` with links, or with nothing: running engines, also those of several processes and machines, in one page
 * on this machine.
 *
 * Invariants: only addresses of the command line, of its file of links and of the port files of this user are asked;
 * tokens of engines stay in this process, and the browser has one of the page's own; stopping the page stops no engine.
 * Not here: recorded runs (command.ts), what passes between the ports (`sluice/plugins/control-room`).
 */

import { readFileSync, statSync } from "node:fs";
import { Subject } from "rxjs";
import { SluiceError } from "sluice";
import { type CliIo, createSystemClock, every, jsonText, messageOf, printable } from "sluice/extension";
import { EngineRelay, type PortLink, readLink, runningPorts, takePlace } from "sluice/plugins/control-room";

interface Flags {
  readonly port: number;
  readonly json?: true;
  readonly links?: string;
}

const findMs = 2_000;

export const isLink = (word: string): boolean => /^https?:/i.test(word);

export const showEngines = async (words: readonly string[], flags: Flags, io: CliIo): Promise<void> => {
  const given = [...words, ...(flags.links === undefined ? [] : linksIn(flags.links))].map(readLink);
  const isFinding = given.length === 0;
  const clock = createSystemClock();
  const ending = new Subject<never>();
  let leave = (): void => undefined;
  const asked = new Promise<void>((done, fail) => {
    leave = io.onStop(() => done());
    ending.subscribe({ error: fail });
  });
  asked.catch(() => undefined);
  const failed = (why: string): void =>
    ending.error(new SluiceError("ENGINE_STATE", `The control port has failed: ${why}`));
  const options = {
    port: flags.port,
    host: "127.0.0.1",
    names: [],
    behindProxy: false,
    readOnly: false,
    account: false,
  };
  let link = "";
  const relay = new EngineRelay({
    clock,
    show: async (source) => {
      const place = await takePlace(source, options, failed, true);
      ({ link } = place);
      return place;
    },
    print: (line) => io.err(`${printable(line)}\n`),
  });
  relay.replace(isFinding ? found() : given);
  const finding = every(clock, findMs).subscribe(() => {
    if (isFinding) relay.replace(found());
  });
  try {
    await relay.look();
    if (relay.names.length === 0) throw noEngine(isFinding);
    if (flags.json === true) io.out(`${jsonText({ link, engines: relay.names })}\n`);
    else
      io.out(
        `Open ${link}\nIt shows ${printable(relay.names.join(", "))}. Press Ctrl-C to close it; the engines go on.\n`,
      );
    await asked;
  } finally {
    finding.unsubscribe();
    leave();
    await relay.end();
  }
};

/** Ports that engines of this user on this machine have left. */
const found = (): readonly PortLink[] =>
  runningPorts().flatMap(({ url, act, read, pid }) =>
    pid === process.pid ? [] : [{ origin: new URL(url).origin, token: act ?? read }],
  );

const noEngine = (isFinding: boolean): SluiceError =>
  isFinding
    ? new SluiceError(
        "ENGINE_STATE",
        "No engine with a control port runs on this machine. Start one: sluice run config/paper.ts --ui. For a recorded run name its config, session or file of events.",
      )
    : new SluiceError("ENGINE_STATE", "None of these control ports shows an engine.");

/** One link a line; empty lines and those that begin with # are left out. */
const linksIn = (file: string): readonly string[] => {
  let text: string;
  try {
    if (process.platform !== "win32" && (statSync(file).mode & 0o077) !== 0)
      throw new SluiceError("USAGE", `it holds tokens and is open to others. Run: chmod 600 '${file}'`);
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new SluiceError("USAGE", `--links ${file}: ${messageOf(error)}`);
  }
  const lines = text.split("\n").map((line) => line.trim());
  const links = lines.filter((line) => line !== "" && !line.startsWith("#"));
  if (links.length === 0)
    throw new SluiceError(
      "USAGE",
      `--links ${file}: no link is in it. Write one a line, as sluice run --ui prints it.`,
    );
  return links;
};
