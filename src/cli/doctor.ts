/**
 * `sluice doctor <config>`: asks the service of a config what the profile assumes of it, and says what differs.
 *
 * Invariants: only reads, except with --testnet-orders, which is refused on mainnet; with --json stdout holds one document; what
 * was placed is canceled also on Ctrl-C, and what may be left is named. 0 nothing differs, 1 something differs or could not be
 * asked, 2 wrong usage or config.
 * Not here: what is asked (doctor/), how it is laid out (doctor-table.ts).
 */
import type { Command } from "commander";
import { firstValueFrom, from, map, merge, Observable, skip, tap } from "rxjs";
import { confirmationPath, writeConfirmation } from "../client/live/size-unit-confirmation.ts";
import type { Clock } from "../clock/clock.ts";
import { createSystemClock } from "../clock/system-clock.ts";
import { type Contract, createContract } from "../contract/contract.ts";
import { SluiceError } from "../errors.ts";
import { type CheckedConfig, checkConfig } from "../host/config.ts";
import { loadConfigFile } from "../host/load.ts";
import { createRandom } from "../random.ts";
import { type Examination, type ExamineOptions, examine } from "../verify/doctor/doctor.ts";
import { profileLines } from "../verify/doctor/override-lines.ts";
import { examinationText } from "./doctor-table.ts";
import { type CliIo, inkOf, printable } from "./io.ts";
import { checkEnvironment, placeOf } from "./live-place.ts";

export interface DoctorParts {
  readonly clock?: Clock;
  readonly examine?: (options: ExamineOptions) => Promise<Examination>;
}

interface Flags {
  readonly quick?: true;
  readonly testnetOrders?: true;
  readonly instrument?: string;
  readonly json?: true;
}

export const addDoctorCommand = (program: Command, io: CliIo, parts: DoctorParts = {}): void => {
  program
    .command("doctor")
    .description("Ask the service of a config what its profile assumes, and print what to change in the config.")
    .argument("<config>", "config file, such as config/testnet.ts")
    .option("--quick", "leave out what waits for the edge of a minute, 65 s at most")
    .option("--testnet-orders", "also place, look at and cancel an order far from the market; never on mainnet")
    .option("--instrument <instId>", "the swap of --testnet-orders; the first listed when left out")
    .option("--json", "print one JSON document")
    .action((path: string, flags: Flags) => doctor(path, flags, io, parts));
};

const doctor = async (path: string, flags: Flags, io: CliIo, parts: DoctorParts): Promise<void> => {
  const { clock = createSystemClock() } = parts;
  const config = checkConfig(await loadConfigFile(path, { command: "doctor", clock }));
  if (flags.instrument !== undefined && !flags.testnetOrders) {
    throw new SluiceError("USAGE", "--instrument names the swap of --testnet-orders, which is not given. Add it, or leave both out.");
  }
  if (flags.testnetOrders) {
    checkEnvironment(
      config.service,
      "testnet",
      "--testnet-orders places orders, and config.service is mainnet. Point the config at the testnet.",
    );
  }
  const stop = new AbortController();
  const work = (parts.examine ?? examine)(optionsOf(config, flags, stop.signal, io));
  const examination = await firstValueFrom(merge(from(work), stopsOf(io, stop)));
  io.out(flags.json ? `${JSON.stringify(documentOf(examination))}\n` : examinationText(examination, io.columns, inkOf(io)));
  if (flags.testnetOrders) confirm(config, examination, clock, io);
  fail(examination);
};

const optionsOf = ({ service, profile, seed }: CheckedConfig, flags: Flags, stop: AbortSignal, io: CliIo): ExamineOptions => ({
  profile,
  stop,
  signs: placeOf(service) !== undefined,
  open: (contract) =>
    service.open({
      contract,
      random: createRandom(seed).fork("doctor"),
      onError: () => undefined,
      onAnomaly: () => undefined,
      leave: () => undefined,
      faultyKeys: true,
    }),
  quick: flags.quick === true,
  progress: (line) => {
    io.err(`${line}\n`);
  },
  ...(flags.testnetOrders && { orders: flags.instrument === undefined ? {} : { instId: flags.instrument } }),
});

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
        "Abandoned while stopping: an order of the examination may still be open. Look before going on.",
      );
    }),
  );

const documentOf = (examination: Examination): object => {
  const { findings, overrides, profile, weight, requests, left, stopped, inconclusive } = examination;
  const lines = overrides.length === 0 ? "" : profileLines(profile);
  return {
    ok: isFine(examination),
    ...(inconclusive !== undefined && { inconclusive }),
    weight,
    requests,
    stopped,
    left,
    findings,
    overrides,
    profile,
    lines,
  };
};

const isFine = ({ findings, inconclusive }: Examination): boolean =>
  inconclusive === undefined && findings.every(({ verdict }) => verdict === "holds" || verdict === "not seen");

/** Writes down what sz counts, where an order showed it: mainnet sends no order before that. */
const confirm = ({ service, profile }: CheckedConfig, { findings, left }: Examination, clock: Clock, io: CliIo): void => {
  const place = placeOf(service);
  const finding = findings.find(({ row, verdict }) => row === "order.szUnit" && (verdict === "holds" || verdict === "differs"));
  if (place === undefined || finding === undefined || left.length > 0) return;
  const contract: Contract = createContract(profile);
  const szUnit = (finding.override?.value ?? contract.profile.order.szUnit) as Contract["profile"]["order"]["szUnit"];
  const path = place.confirmation ?? confirmationPath;
  writeConfirmation(path, { baseUrl: place.baseUrl, szUnit, at: new Date(clock.wallNow()).toISOString() });
  io.err(
    `Written to ${path}: sz counts ${szUnit.SWAP.replace("_", " ")} for swaps. For spot it stays an assumption: ${szUnit.SPOT.replace("_", " ")}.\n`,
  );
};

const fail = ({ findings, left, stopped, inconclusive }: Examination): void => {
  const count = (verdict: string): number => findings.filter((finding) => finding.verdict === verdict).length;
  const [differing, unasked] = [count("differs"), count("not asked")];
  const issues = [
    ...(left.length === 0 ? [] : [`orders that may still be open, by clOrdId: ${left.map(printable).join(", ")}. Look, and cancel them.`]),
    ...(stopped ? ["it was stopped before everything was asked."] : []),
  ];
  if (inconclusive !== undefined) {
    throw new SluiceError("PROFILE_DIFFERS", `Nothing can be concluded: ${printable(inconclusive)}.`, issues);
  }
  if (differing + unasked + issues.length === 0) return;
  const rows = (many: number): string => `${many} ${many === 1 ? "row" : "rows"}`;
  const said = differing > 0 ? `The service differs from the profile in ${rows(differing)}` : "Nothing differs as far as could be asked";
  const rest = unasked > 0 ? `${said}; ${rows(unasked)} could not be asked about.` : `${said}.`;
  throw new SluiceError("PROFILE_DIFFERS", rest, issues);
};
