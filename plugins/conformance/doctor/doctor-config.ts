/**
 * The examination of a config's service, used by programs and by `sluice doctor`.
 *
 * Invariants: only reads, except with `testnetOrders`, which is refused on mainnet; placed orders are canceled also
 * when the signal ends it early, and orders that may be left are named.
 * Not here: the tests (doctor.ts), tables and exit codes (cli/).
 */

import { SluiceError } from "sluice";
import { createContract, type Profile } from "sluice/dialect";
import {
  type CheckedConfig,
  type Clock,
  checkConfig,
  checkOptions,
  createRandom,
  createSystemClock,
  loadConfigFile,
  type OptionRules,
  placeOf,
  writeConfirmation,
} from "sluice/extension";
import type { Examination, ExamineOptions } from "./doctor.ts";
import { profileLines } from "./override-lines.ts";

/** Options of `doctor`: those of the command. */
export interface DoctorOptions {
  /** Leave out what waits for the edge of a minute, 65 s at most. */
  readonly quick?: boolean;
  /**
   * Also place, look at and cancel an order far from the market; refused on mainnet. The unit of `sz` found by it is
   * written to the file that trading on mainnet requires.
   */
  readonly testnetOrders?: boolean;
  /** Swap of `testnetOrders`; the first listed when left out. */
  readonly instrument?: string;
  /** Called with the progress of the examination, one sentence per call. */
  readonly onProgress?: (line: string) => void;
  /** Ends the examination early: orders are canceled first, and the report contains the findings so far. */
  readonly signal?: AbortSignal;
}

/** Result of the examination of a service: its behavior compared with the assumptions of the profile. */
export interface DoctorReport extends Examination {
  /** Something was concluded, nothing differs, and nothing that the profile assumes could not be asked. */
  readonly ok: boolean;
  /** The `profile` as text to put into the config; empty where nothing is to be changed. */
  readonly lines: string;
}

/** Dependencies of an examination; a command line passes its own. */
interface Surroundings {
  readonly clock?: Clock;
  readonly examine?: (options: ExamineOptions) => Promise<Examination>;
}

const flag = { type: "boolean" };
const rules: OptionRules = {
  others: { quick: flag, testnetOrders: flag, instrument: { type: "string" }, onProgress: {}, signal: {} },
};

/**
 * Tests the assumptions of the profile at the service of the config in this file. The report is what `sluice doctor
 * --json` prints; a difference is a finding, and no error. Throws `USAGE`, or the error of an invalid config, before
 * anything is sent.
 */
export const doctor = async (
  path: string,
  options: DoctorOptions = {},
  surroundings: Surroundings = {},
): Promise<DoctorReport> => {
  checkOptions("doctor", rules, options);
  const { clock = createSystemClock() } = surroundings;
  const config = checkConfig(await loadConfigFile(path, { command: "doctor", clock }));
  const { testnetOrders = false, onProgress = () => undefined } = options;
  checkOrders(config, options);
  // Loaded when it is needed: mistakes should not wait for the probes.
  const examine = surroundings.examine ?? (await import("./doctor.ts")).examine;
  const examination = await examine(examineOptions(config, options));
  if (testnetOrders) confirm(config, examination, clock, onProgress);
  return reportOf(examination);
};

const checkOrders = ({ service }: CheckedConfig, { testnetOrders, instrument }: DoctorOptions): void => {
  if (instrument !== undefined && testnetOrders !== true) {
    throw new SluiceError(
      "USAGE",
      "--instrument names the swap of --testnet-orders, which is not given. Add it, or leave both out.",
    );
  }
  if (testnetOrders === true && placeOf(service)?.environment === "mainnet") {
    throw new SluiceError(
      "USAGE",
      "--testnet-orders places orders, and config.service is mainnet. Point the config at the testnet.",
    );
  }
};

const examineOptions = ({ service, profile, seed }: CheckedConfig, options: DoctorOptions): ExamineOptions => ({
  profile,
  stop: options.signal ?? new AbortController().signal,
  dialect: placeOf(service)?.dialect,
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
  quick: options.quick === true,
  ...(options.onProgress !== undefined && { progress: options.onProgress }),
  ...(options.testnetOrders === true && {
    orders: options.instrument === undefined ? {} : { instId: options.instrument },
  }),
});

/** Writes down what sz counts, where an order showed it: mainnet sends no order before that. */
const confirm = (
  { service, profile }: CheckedConfig,
  { findings, left }: Examination,
  clock: Clock,
  onProgress: (line: string) => void,
): void => {
  const place = placeOf(service);
  const finding = findings.find(
    ({ row, verdict }) => row === "order.szUnit" && (verdict === "holds" || verdict === "differs"),
  );
  if (place === undefined || finding === undefined || left.length > 0) return;
  const szUnit = (finding.override?.value ??
    createContract(profile).profile.order.szUnit) as Profile["order"]["szUnit"];
  const { confirmation: path } = place;
  writeConfirmation(path, { baseUrl: place.baseUrl, szUnit, at: new Date(clock.wallNow()).toISOString() });
  onProgress(
    `Written to ${path}: sz counts ${szUnit.SWAP.replace("_", " ")} for swaps. For spot it stays an assumption: ${szUnit.SPOT.replace("_", " ")}.`,
  );
};

const reportOf = (examination: Examination): DoctorReport => {
  const { findings, overrides, profile, weight, requests, left, stopped, inconclusive } = examination;
  const fine = findings.every(({ verdict }) => verdict === "holds" || verdict === "not seen");
  return {
    ok: inconclusive === undefined && fine,
    ...(inconclusive !== undefined && { inconclusive }),
    weight,
    requests,
    stopped,
    left,
    findings,
    overrides,
    profile,
    lines: overrides.length === 0 ? "" : profileLines(profile),
  };
};
