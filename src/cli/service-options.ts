/**
 * Options of the embedded service that a command line may give in place of the config's: the fill model and the
 * warm-up.
 *
 * Invariants: every command that takes them spells and refuses them the same way.
 * Not here: what they mean (backtest/backtest-service.ts), how they take the place (backtest/given-options.ts).
 */
import { InvalidArgumentError, Option } from "commander";
import type { FillSource } from "../backtest/fill-models.ts";
import type { GivenOptions } from "../backtest/given-options.ts";

/** Values of `--fills` and `--warm-up`. */
export interface GivenFlags {
  readonly fills?: FillSource;
  /** Milliseconds. */
  readonly warmUp?: number;
}

const sources: readonly FillSource[] = ["book", "quotes", "trades", "candles"];
const minuteMs = 60_000;

/**
 * The option `--fills`, for commands that run backtests.
 *
 * @returns an option for commander
 */
export const fillsOption = (): Option =>
  new Option("--fills <from>", "how orders are filled, instead of the config's model").choices(sources);

/**
 * The option `--warm-up`, for commands that run backtests.
 *
 * @returns an option for commander
 */
export const warmUpOption = (): Option =>
  new Option(
    "--warm-up <minutes>",
    "time at the beginning in which strategies see the market and nothing is placed",
  ).argParser(minutesOf);

const minutesOf = (text: string): number => {
  const ms = Math.round(Number(text) * minuteMs);
  if (/^\d{1,9}(\.\d{1,6})?$/.test(text)) return ms;
  throw new InvalidArgumentError("Write minutes from 0 up, such as 60 or 0.5.");
};

/**
 * Options of the backtest that these flags set.
 *
 * @param flags - as commander read them
 * @returns options for `withOptions`
 */
export const givenBy = ({ fills, warmUp }: GivenFlags): GivenOptions => ({
  ...(fills !== undefined && { fills }),
  ...(warmUp !== undefined && { warmUpMs: warmUp }),
});
