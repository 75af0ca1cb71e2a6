/**
 * `sluice replay <dir> [config]`: replays a recorded session and reports the first divergence.
 *
 * Invariants: nothing reaches a service; with --json stdout holds one JSON document and nothing else; a divergence is
 * an exit code of 1.
 * Not here: the replay (replayer.ts), the texts (divergence.ts).
 */
import type { Command } from "commander";
import { SluiceError } from "sluice";
import { type CliIo, defineCommand, jsonText, loadConfigFile, printable } from "sluice/extension";
import { divergenceText, type FieldDifference } from "./divergence.ts";
import type { ReplayReport } from "./replayer.ts";

interface Flags {
  readonly json?: true;
}

const addReplayCommand = (program: Command, io: CliIo): void => {
  program
    .command("replay")
    .description(
      "Give a recorded session to the same strategies and report whether they do the same, or where they first differ.",
    )
    .argument("<dir>", "folder of the session, as written by `sluice record`")
    .argument("[config]", "config file, instead of the one that was recorded")
    .option("--json", "print the result as one JSON document")
    .action((dir: string, path: string | undefined, flags: Flags) => replay(dir, path, flags, io));
};

const replay = async (dir: string, path: string | undefined, flags: Flags, io: CliIo): Promise<void> => {
  const [{ replaySession }, { readSession }, { ensureMarket }] = await Promise.all([
    import("./replayer.ts"),
    import("./session-file.ts"),
    import("./market-fixture.ts"),
  ]);
  const session = readSession(dir);
  const file = path ?? session.header.config;
  if (file === "")
    throw new SluiceError(
      "USAGE",
      `${dir} was recorded without a config file. Name one: sluice replay ${dir} config/paper.ts`,
    );
  const config = await loadConfigFile(file, { command: "replay" });
  ensureMarket(session);
  const report = await replaySession(session, config);
  if (flags.json) io.out(`${jsonText({ diverged: report.divergence !== undefined, ...report })}\n`);
  else io.out(reportText(report));
  if (report.divergence === undefined) return;
  const { index, line } = report.divergence;
  throw new SluiceError(
    "REPLAY_DIVERGED",
    `The replay of ${dir} diverges from the recording at record ${index} (line ${line}).`,
  );
};

const reportText = ({ divergence, commands, events, facts, lastedMs, changed, notes }: ReplayReport): string => {
  const done = `${commands} commands, ${events} events`;
  const lines = [
    ...notes,
    ...(changed.length === 0 ? [] : ["The config is not the recorded one:", ...changed.map(changeWords)]),
    ...(divergence === undefined
      ? [`no divergence: ${done} (${facts} journal entries, ${(lastedMs / 1_000).toFixed(3)} s)`]
      : [divergenceText(divergence).trimEnd(), `until then: ${done}`]),
  ];
  return `${lines
    .flatMap((line) => line.split("\n"))
    .map(printable)
    .join("\n")}\n`;
};

const changeWords = ({ path, recorded, replayed }: FieldDifference): string =>
  `  ${path}: ${JSON.stringify(recorded) ?? "nothing"} -> ${JSON.stringify(replayed) ?? "nothing"}`;

export default defineCommand("replay", addReplayCommand);
