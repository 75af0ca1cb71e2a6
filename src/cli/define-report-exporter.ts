/**
 * Definition of an option that writes a report to a file, which a plugin adds to `sluice backtest`, `run` and `report`.
 *
 * Invariants: the manifest of its package names it (plugin-manifest.ts); its code is loaded when the option is given.
 * Not here: who writes the file (plugin-options.ts).
 */
import type { RunDetails } from "../report/details.ts";
import type { RunReport } from "../report/report.ts";

/** Contents of a file, whole or in pieces. */
export type Contents = string | Uint8Array | Iterable<string>;

/**
 * An option that writes a report to a file: the default export of the module that a manifest names. Made by
 * `defineReportExporter`.
 */
export interface ReportExporter {
  readonly kind: "report-exporter";
  /**
   * Returns what the file holds. The command writes it.
   *
   * @param report - the report as the command prints it
   * @param details - its fills, orders and series; after `sluice run` those that a run keeps
   */
  readonly contents: (report: RunReport, details: RunDetails) => Contents | Promise<Contents>;
}

/**
 * Makes an option of `sluice backtest`, `run` and `report` that writes a report to a file.
 *
 * @param exporter - makes the contents of the file
 * @returns the default export of its module
 * @example
 * export default defineReportExporter({ contents: (report) => `${report.pnl} ${report.currency}\n` });
 *
 */
export const defineReportExporter = (exporter: Omit<ReportExporter, "kind">): ReportExporter => ({
  kind: "report-exporter",
  ...exporter,
});
