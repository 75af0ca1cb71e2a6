/**
 * `sluice check <url>`: conformance test of a service against its description, rule by rule.
 *
 * Invariants: with --json stdout holds one document; test orders are canceled also on Ctrl-C. Exit code 0: no rule
 * failed, 1: a rule failed or an order was left, 2: wrong usage.
 * Not here: the tests (rules/check.ts), the profile's assumptions beyond the rules (doctor/).
 */
import type { Command } from "commander";
import { SluiceError } from "sluice";
import {
  type CliIo,
  type Clock,
  decimal,
  defineCommand,
  inkOf,
  jsonText,
  printable,
  readOverrides,
  transientLine,
} from "sluice/extension";
import { dialectHelp, dialectOf } from "./dialect-option.ts";
import { type CheckOptions, check } from "./rules/check.ts";
import { findingsText, summaryOf } from "./rules/findings.ts";

export interface CheckParts {
  readonly clock?: Clock;
}

interface CheckFlags extends Omit<CheckOptions, "profile" | "dialect" | "onProgress" | "signal"> {
  readonly dialect?: string;
  readonly accept?: true;
  readonly profile?: string;
  readonly json?: true;
}

const addCheckCommand = (program: Command, io: CliIo, parts: CheckParts = {}): void => {
  program
    .command("check")
    .description(
      "Ask a service, rule by rule of its description, whether it keeps them. Places and cancels small orders; for test accounts.",
    )
    .argument("<url>", "address of the service, such as http://127.0.0.1:8080")
    .option(
      "--keys <file>",
      "line of sluice venue --json, or its file of keys (default: SLUICE_API_KEY, SLUICE_SECRET_KEY, SLUICE_PASSPHRASE)",
    )
    .option("--dialect <name|file>", dialectHelp())
    .option(
      "--accept",
      "also lose, spoil and double orders on the way there: what a new dialect has to pass; some minutes",
    )
    .option("--ws <url>", "address of the WebSocket, to check its limits too")
    .option("--profile <file>", "JSON with rows of the service profile to override")
    .option("--quick", "skip tests that use up a minute's quota or wait for the next minute")
    .option("--only <rules...>", "only rules whose id begins with one of these, such as 4.4 or 8.1-key")
    .option("--instrument <instId>", "swap to place orders on; the first listed when left out")
    .option("--px <price>", "price of those orders, far below the market", (text) => decimal(text, "--px"))
    .option("--sz <size>", "size of those orders", (text) => decimal(text, "--sz"))
    .option("--places-orders", "needed where the service is not on this machine: orders are placed and canceled there")
    .option("--json", "print one JSON document")
    .action((url: string, flags: CheckFlags) => checkUrl(url, flags, io, parts));
};

/** Runs the tests and prints the results; throws when a rule is broken; nothing is left open afterwards. */
const checkUrl = async (
  url: string,
  { profile, dialect: named, accept, json, ...flags }: CheckFlags,
  io: CliIo,
  { clock }: CheckParts,
): Promise<void> => {
  const progress = transientLine(io);
  const dialect = named === undefined ? undefined : await dialectOf(named);
  if (accept === true && dialect === undefined) {
    throw new SluiceError(
      "USAGE",
      "--accept tries a dialect. Name it: sluice check … --accept --dialect ./dialects/acme.ts",
    );
  }
  const options: CheckOptions = {
    ...flags,
    ...(profile !== undefined && { profile: readOverrides(profile) }),
    ...(dialect !== undefined && { dialect }),
    onProgress: ({ id, title }) => {
      progress.show(() => `${id} ${title}`);
    },
    signal: stopOf(io),
  };
  const surroundings = { env: (name: string) => io.env(name), ...(clock !== undefined && { clock }) };
  const ask = async () => {
    if (accept !== true || dialect === undefined) return check(url, options, surroundings);
    const { accept: run } = await import("./acceptance/accept.ts");
    return run(url, { ...options, dialect }, surroundings);
  };
  const report = await ask().finally(progress.clear);
  io.out(json ? `${jsonText(report)}\n` : findingsText(report, { ...inkOf(io), plain: printable }));
  if (!report.passed)
    throw new SluiceError("DESCRIPTION_BROKEN", `${url} does not keep to the description. ${summaryOf(report)}`);
};

const stopOf = (io: CliIo): AbortSignal => {
  const stop = new AbortController();
  io.onStop(() => stop.abort());
  return stop.signal;
};

export default defineCommand("check", addCheckCommand);
