/**
 * Report at the end of `sluice run`: the same text as for a backtest, and the requested files.
 *
 * Invariants: a file that cannot be written is reported before the run; a run that never traded has no report; an error
 * while making the report is printed at the end and does not affect trading.
 * Not here: the recording (report/run-recorder.ts), the text (report/report-text.ts).
 */
import { type PaperAccount, paperAccountOf } from "../backtest/paper-account.ts";
import type { OpenService } from "../client/service-port.ts";
import { type Clock, every } from "../clock/clock.ts";
import { createContract } from "../contract/contract.ts";
import type { Engine } from "../engine/engine.ts";
import { messageOf } from "../errors.ts";
import { profileIn } from "../host/config.ts";
import { noDetails, type RunDetails } from "../report/details.ts";
import type { RunReport } from "../report/report.ts";
import { reportText } from "../report/report-text.ts";
import { RunRecorder } from "../report/run-recorder.ts";
import { tradeCsv } from "../report/trade-csv.ts";
import { type CliIo, colourOf, printable } from "./io.ts";
import { type ReportFile, writeReportFiles } from "./plugin-options.ts";
import { checkPlace, writeContents } from "./written-files.ts";

/** The part of an engine that a report is made from; a service that is not given is not embedded. */
export interface ReportedEngine extends Pick<Engine, "events$" | "strategies" | "openOrders"> {
  readonly service?: OpenService;
}

/** Requested files. */
export interface ReportFiles {
  /** File of the trades. */
  readonly trades?: string;
  /** Files of plugins. */
  readonly exported?: readonly ReportFile[];
}

interface EndOfRun {
  /** Undefined where it could not be made. */
  readonly report?: RunReport;
  readonly text: string;
  readonly written: readonly string[];
}

export interface RunReporter {
  /** Once the engine trades. */
  begin(): void;
  /**
   * Once the engine has stopped: the report, its text, and the names of the files written; undefined where it never
   * traded.
   */
  end(io: CliIo): Promise<EndOfRun | undefined>;
  /** Ends all listening. */
  close(): void;
}

const lookMs = 1_000;

/** Records from now on. `place` is the display name of the service; undefined for the embedded one. */
export const reportOf = (
  engine: ReportedEngine,
  config: object,
  place: string | undefined,
  files: ReportFiles,
  clock: Clock,
): RunReporter => {
  if (files.trades !== undefined) checkPlace(files.trades);
  const { strategies = [], seed = "" } = config as {
    readonly strategies?: readonly { readonly name: string }[];
    readonly seed?: unknown;
  };
  const uids = new Map(engine.service?.users.flatMap(({ uid, keys }) => keys.map(({ name }) => [name, uid] as const)));
  const recorder = new RunRecorder({
    run: {
      kind: place === undefined ? "paper" : "live",
      place: place ?? "the embedded service",
      equity: place === undefined ? "account" : "fills",
    },
    strategies: strategies.map(({ name }) => name),
    seed: String(seed),
    profile: createContract(profileIn(config)).profile,
    uidOf: (key) => uids.get(key),
    now: () => clock.now(),
  });
  let begun = false;
  let broken: string | undefined;
  /** A report is for people: what fails in it must not reach what trades. */
  const safely = (work: () => void): void => {
    if (broken !== undefined) return;
    try {
      work();
    } catch (error) {
      broken = messageOf(error);
    }
  };
  const listening = engine.events$.subscribe((event) => safely(() => recorder.onEvent(event)));
  return {
    begin: () => {
      begun = true;
      const account = engine.service === undefined ? undefined : paperAccountOf(engine.service);
      if (account !== undefined) follow(recorder, account, safely);
      safely(() => recorder.begin(engine.strategies(), account?.money));
      listening.add(every(clock, lookMs).subscribe(() => safely(() => recorder.look(engine.strategies()))));
    },
    end: async (io) => {
      if (!begun) return undefined;
      let ended: EndOfRun | undefined;
      if (broken === undefined) {
        try {
          const report = recorder.report(engine.strategies(), engine.openOrders());
          const text = reportText(report, { columns: io.columns, colour: colourOf(io) });
          ended = { report, text, written: [] };
          ended = { report, text, written: await write(report, recorder, engine, files) };
        } catch (error) {
          broken = messageOf(error);
        }
      }
      if (broken === undefined) return ended;
      return { ...ended, text: `${ended?.text ?? ""}The report is not complete: ${printable(broken)}\n`, written: [] };
    },
    close: () => listening.unsubscribe(),
  };
};

const follow = (recorder: RunRecorder, { venue }: PaperAccount, safely: (work: () => void) => void): void => {
  venue.onFill((fill) => safely(() => recorder.onFill(fill)));
  venue.onFunding((funding) => safely(() => recorder.onFunding(funding)));
  venue.onLiquidation((liquidation) => safely(() => recorder.onLiquidation(liquidation)));
};

const write = async (
  report: RunReport,
  recorder: RunRecorder,
  engine: ReportedEngine,
  { trades, exported = [] }: ReportFiles,
): Promise<readonly string[]> => {
  if (trades !== undefined) writeContents(trades, tradeCsv(recorder.trades(engine.strategies())));
  const own = trades === undefined ? [] : [trades];
  if (exported.length === 0) return own;
  const details: RunDetails = { ...noDetails(report.equity), ...recorder.details(engine.strategies()) };
  return [...(await writeReportFiles(exported, report, details)), ...own];
};
