/**
 * Report of a halted run: the advice printed, and the error with which the command ends.
 *
 * Invariants: a run that ended halted never looks like one that is done; the halt of an orderly stop does not count.
 * Not here: which events halt what, and the status line (run-progress.ts).
 */
import { SluiceError } from "../errors.ts";
import { pluginsIn } from "../host/config.ts";
import { counted } from "../report/number-format.ts";
import { printable } from "./io.ts";
import { haltWords, isGroupHalt, type Tally } from "./run-progress.ts";

/** Command that ends a halt; without a journal a halt ends with its process. */
export const remedyOf = (config: unknown): string =>
  (config as { readonly journal?: unknown }).journal === undefined ? "restart to resume" : "resume with --resume";

/** True if a run can be resumed from outside: it has a control port that is not read-only. */
export const isSteered = (config: unknown): boolean =>
  pluginsIn(config).some(
    ({ name, options }) =>
      name === "dashboard" && (options as { readonly readOnly?: unknown } | undefined)?.readOnly !== true,
  );

/** Meaning of a halt and the way to end it; undefined where nothing is halted. */
export const haltAdvice = (tally: Tally, path: string, steered = false, groupResume?: string): string | undefined => {
  const { halted, remedy } = tally;
  if (halted.size === 0) return undefined;
  if (isGroupHalt(tally) && groupResume !== undefined)
    return `Every engine of the group is halted. To resume all of them: look, and from any machine\n  ${printable(groupResume)}`;
  const isAll = halted.has("");
  const whom = isAll ? "No entry" : `No entry of ${[...halted.keys()].map(printable).join(", ")}`;
  const flag = remedy.includes("--resume") ? " --resume" : "";
  const armed = tally.armed === 0 ? "" : ` (${counted(tally.armed, "protection")} armed)`;
  const exits = tally.isFull
    ? "exits, stops and targets are suspended"
    : `stops, targets and exits stay in force${armed}`;
  const advice = `${whom} is placed while halted; ${exits}. To resume: stop, look, and start with\n  sluice run ${path}${flag}`;
  if (!steered) return advice;
  const words = isAll ? [""] : [...halted.keys()].map((name) => ` --strategy ${quoted(printable(name))}`);
  return `${advice}\nor look, and let this run go on from another terminal:${words.map((word) => `\n  sluice ctl resume${word}`).join("")}`;
};

/** A word as a shell takes it. */
const quoted = (word: string): string => (/^[\w.:/,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** The end of a run in which something failed, which ended halted, or in which no order was accepted. */
export const failWith = (tally: Tally, failed: string): void => {
  const halt = haltWords(tally);
  if (halt !== undefined) throw new SluiceError("TRADING_HALTED", halt, tally.failures);
  if (tally.failures.length > 0) throw new SluiceError("STRATEGY_FAILED", failed, tally.failures);
  const { placed, rejected, refused, turnedDown } = tally;
  if (turnedDown === undefined || rejected < placed) return;
  throw new SluiceError(
    "ORDER_REFUSED",
    `No order was accepted: ${refused} refused before sending, ${rejected} rejected by the service, first:`,
    [turnedDown],
  );
};
