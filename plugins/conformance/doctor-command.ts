/**
 * `sluice doctor <config>`: tests the profile's assumptions against the config's service and prints the differences.
 *
 * Invariants: with --json stdout holds one document; placed orders are canceled also on Ctrl-C. Exit code 0: nothing
 * differs, 1: something differs or could not be tested, 2: wrong usage or config.
 * Not here: the tests (doctor/doctor-config.ts), the table (doctor-table.ts).
 */
import type { Command } from "commander";
import { firstValueFrom, from, map, merge, Observable, skip, tap } from "rxjs";
import { SluiceError } from "sluice";
import { type CliIo, type Clock, defineCommand, inkOf, jsonText, printable } from "sluice/extension";
import { doctorGroup } from "sluice/plugins/shared-quota";
import type { Examination, ExamineOptions } from "./doctor/doctor.ts";
import { type DoctorOptions, type DoctorReport, doctor } from "./doctor/doctor-config.ts";
import { examinationText, groupText } from "./doctor-table.ts";

export interface DoctorParts {
  readonly clock?: Clock;
  readonly examine?: (options: ExamineOptions) => Promise<Examination>;
}

interface Flags extends Omit<DoctorOptions, "onProgress" | "signal"> {
  readonly json?: true;
  readonly shared?: true;
}

const addDoctorCommand = (program: Command, io: CliIo, parts: DoctorParts = {}): void => {
  program
    .command("doctor")
    .description("Test the profile's assumptions against the config's service, and print what to change in the config.")
    .argument("<config>", "config file, such as config/testnet.ts")
    .option("--quick", "skip tests that wait for the next minute, 65 s at most")
    .option("--testnet-orders", "also place, read and cancel an order far from the market; never on mainnet")
    .option("--instrument <instId>", "the swap of --testnet-orders; the first listed when left out")
    .option(
      "--shared",
      "test the store of a shared quota and the engines of its group instead; sends nothing to the service",
    )
    .option("--json", "print one JSON document")
    .action((path: string, flags: Flags) =>
      flags.shared === true ? groupFile(path, flags, io, parts) : doctorFile(path, flags, io, parts),
    );
};

const groupFile = async (path: string, { json }: Flags, io: CliIo, { clock }: DoctorParts): Promise<void> => {
  const report = await doctorGroup(path, clock);
  io.out(json ? `${jsonText(report)}\n` : groupText(report, inkOf(io)));
  const differing = report.findings.filter(({ verdict }) => verdict === "differs").length;
  if (differing > 0)
    throw new SluiceError(
      "PROFILE_DIFFERS",
      `${differing} of ${report.findings.length} findings about the shared quota differ.`,
    );
};

const doctorFile = async (
  path: string,
  { json, shared: _shared, ...flags }: Flags,
  io: CliIo,
  parts: DoctorParts,
): Promise<void> => {
  const stop = new AbortController();
  const onProgress = (line: string): void => {
    io.err(`${line}\n`);
  };
  const work = doctor(path, { ...flags, onProgress, signal: stop.signal }, parts);
  const report = await firstValueFrom(merge(from(work), stopsOf(io, stop)));
  io.out(json ? `${jsonText(report)}\n` : examinationText(report, io.columns, inkOf(io)));
  fail(report);
};

/** The first request to stop lets the examination clean up; the second leaves it behind. */
const stopsOf = (io: CliIo, stop: AbortController): Observable<never> =>
  new Observable<void>((subscriber) =>
    io.onStop(() => {
      subscriber.next();
    }),
  ).pipe(
    tap(() => {
      if (!stop.signal.aborted) io.err("Stopping: what was placed is canceled first.\n");
      stop.abort();
    }),
    skip(1),
    map(() => {
      throw new SluiceError(
        "ENGINE_STATE",
        "Abandoned while stopping: an order of the examination may still be open. Look before you continue.",
      );
    }),
  );

const fail = ({ findings, left, stopped, inconclusive }: DoctorReport): void => {
  const count = (verdict: string): number => findings.filter((finding) => finding.verdict === verdict).length;
  const [differing, unasked] = [count("differs"), count("not asked")];
  const issues = [
    ...(left.length === 0
      ? []
      : [`orders that may still be open, by clOrdId: ${left.map(printable).join(", ")}. Look, and cancel them.`]),
    ...(stopped ? ["it was stopped before everything was asked."] : []),
  ];
  if (inconclusive !== undefined) {
    throw new SluiceError("PROFILE_DIFFERS", `Nothing can be concluded: ${printable(inconclusive)}.`, issues);
  }
  if (differing + unasked + issues.length === 0) return;
  const rows = (many: number): string => `${many} ${many === 1 ? "row" : "rows"}`;
  const said = differing > 0 ? `The service differs from the profile in ${rows(differing)}` : "No difference was found";
  const rest = unasked > 0 ? `${said}; ${rows(unasked)} could not be tested.` : `${said}.`;
  throw new SluiceError("PROFILE_DIFFERS", rest, issues);
};

export default defineCommand("doctor", addDoctorCommand);
