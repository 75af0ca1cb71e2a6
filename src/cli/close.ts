/**
 * `sluice close <config>`, emergency flatten: cancels the config's orders, closes every position of the account, sells
 * the spot that the config's strategies hold by its journal, and verifies it.
 *
 * Invariants: no strategy and no plugin runs; real money needs --mainnet; exit code 0 means that a reading afterwards
 * showed no position and that fills sold what strategies held of spot, 1 that something is left or may be. Coins that
 * no strategy is known to hold are not sold, and named. With --json stdout holds one line for each position and nothing
 * else.
 * Not here: how positions are closed (engine/close-positions.ts).
 */
import type { Command } from "commander";
import {
  combineLatest,
  EMPTY,
  filter,
  firstValueFrom,
  from,
  ignoreElements,
  lastValueFrom,
  map,
  merge,
  takeUntil,
  tap,
} from "rxjs";
import { checkEnvironment, placeOf } from "../client/live/live-place.ts";
import { after, type Clock } from "../clock/clock.ts";
import { createSystemClock } from "../clock/system-clock.ts";
import { instTypeOf, readInstId } from "../contract/inst-id.ts";
import type { Engine } from "../engine/engine.ts";
import { SluiceError } from "../errors.ts";
import type { PositionEnding } from "../host/context.ts";
import { defineStrategy } from "../host/define.ts";
import { loadConfigFile } from "../host/load.ts";
import { isLockHeld } from "../journal/process-lock.ts";
import { isDust } from "../orders/closing-slots.ts";
import { type CliIo, inkOf, jsonText, printable } from "./io.ts";
import { eventLine } from "./run-progress.ts";
import { listenForStop } from "./shutdown-signals.ts";

export interface CloseParts {
  readonly clock?: Clock;
  /** Makes the engine, for tests. */
  readonly createClosing?: (
    config: object,
    options: { readonly purpose: "close" },
  ) => Pick<Engine, "start" | "stop" | "closePositions"> &
    Partial<Pick<Engine, "events$" | "account" | "instruments$">>;
}

interface Flags {
  readonly mainnet?: true;
  readonly json?: true;
}

export const addCloseCommand = (program: Command, io: CliIo, parts: CloseParts = {}): void => {
  program
    .command("close")
    .description(
      "Emergency flatten: cancel the orders of a config, close every position of its account at the market, also those of other clients, and sell what its strategies hold of spot by its journal.",
    )
    .argument(
      "<config>",
      "config file, such as config/testnet.ts; an engine that runs with it closes by sluice ctl close",
    )
    .option("--mainnet", "close positions of real money: required where the config's service is mainnet")
    .option("--json", "print the result for each position as a line of JSON")
    .addHelpText(
      "after",
      "\nExit codes: 0 no position is open and no strategy holds spot, 1 something is left or may be, 2 wrong usage or config.",
    )
    .action((path: string, flags: Flags) => close(path, flags, io, parts));
};

const mainnetMessage =
  "config.service is mainnet: positions would be closed for real money. Add --mainnet when you mean it.";
const embeddedMessage =
  "the config's service is embedded: nothing is held there before a run begins, nor after it ends.";

const goesOnMessage = "Closing continues until it is done. Press Ctrl-C again to leave it half done.\n";

const unstarted = (): never => {
  throw new SluiceError(
    "ENGINE_STATE",
    "Stopped before the service was read: no order was canceled and no position closed.",
  );
};

/** Error where an engine runs: it closes by itself, so that it need not be stopped in an emergency. */
const besideEngine = (error: unknown): never => {
  if (!isLockHeld(error)) throw error;
  throw new SluiceError(
    "ENGINE_STATE",
    "An engine runs with this config on this machine. Let it close: `sluice ctl close --yes` (it needs --ui or the plugin dashboard). Or stop it, then run `sluice close` again.",
  );
};

const close = async (path: string, flags: Flags, io: CliIo, parts: CloseParts): Promise<void> => {
  const { clock = createSystemClock() } = parts;
  const config = (await loadConfigFile(path, { command: "run", clock })) as {
    readonly service?: unknown;
    readonly journal?: object;
  };
  if (placeOf(config.service) === undefined) throw new SluiceError("USAGE", `${path}: ${embeddedMessage}`);
  if (flags.mainnet === undefined) checkEnvironment(config.service, "testnet", mainnetMessage);
  const stopping = listenForStop(io);
  const { createClosing = (await import("../engine/engine.ts")).createEngine } = parts;
  const engine = createClosing(closingOnly(config), { purpose: "close" });
  const waiting = engine.events$?.subscribe((event) => {
    if (event.type === "start.waiting") io.err(`${eventLine(event, inkOf(io))}\n`);
  });
  const endings: PositionEnding[] = [];
  let unsold: readonly Coins[] = [];
  try {
    await firstValueFrom(merge(from(engine.start().catch(besideEngine)), stopping.first$.pipe(map(unstarted))));
    const closing = engine.closePositions("positions closed by sluice close").pipe(
      tap((ending) => {
        endings.push(ending);
        io.out(flags.json === true ? `${jsonText(ending)}\n` : `${printable(lineOf(ending))}\n`);
      }),
    );
    const asked$ = stopping.first$.pipe(
      tap(() => {
        io.err(goesOnMessage);
      }),
      ignoreElements(),
    );
    await firstValueFrom(merge(from(lastValueFrom(closing, { defaultValue: undefined })), asked$, stopping.abandoned$));
    unsold = await firstValueFrom(merge(from(coinsOf(engine, clock)), stopping.abandoned$.pipe(map(() => []))));
  } finally {
    // When abandoned, the stop is requested and not awaited.
    await firstValueFrom(merge(from(engine.stop({ cancel: true })), stopping.abandoned$)).finally(() => {
      waiting?.unsubscribe();
      stopping.end();
    });
  }
  if (config.journal !== undefined) io.err("Trading stays halted until you start with `sluice run --resume`.\n");
  const isKept = config.journal !== undefined;
  const coins = unsold.filter(({ currency }) => !endings.some((one) => isLeftOf(one, currency)));
  if (coins.length > 0) io.err(`${coinsText(coins, isKept)}\n`);
  if (endings.some(({ kind }) => kind !== "closed"))
    throw new SluiceError("OUTCOME_UNKNOWN", "Not everything could be closed: look at the service.");
  if (flags.json !== true)
    io.out(isKept ? "No position is open, and no strategy holds spot.\n" : "No position is open.\n");
};

interface Coins {
  readonly currency: string;
  readonly balance: string;
}

/** Named already as left of what a strategy holds. */
const isLeftOf = ({ kind, instId }: PositionEnding, currency: string): boolean =>
  kind === "left" && instTypeOf(instId) === "SPOT" && readInstId(instId)?.base === currency;

/** A balance that is not read in this time is not named. */
const coinsMsMax = 10_000;

/** Amounts of coins that the account has, as far as they can be sold for another currency. */
const coinsOf = async (
  { account, instruments$ = EMPTY }: Partial<Pick<Engine, "account" | "instruments$">>,
  clock: Clock,
): Promise<readonly Coins[]> => {
  const both$ = combineLatest([account?.balances$ ?? EMPTY, instruments$]).pipe(
    filter(([balances, instruments]) => !balances.stale && !instruments.stale),
    map(([balances, instruments]) => {
      const spot = [...instruments.value.values()].filter(({ instId }) => instTypeOf(instId) === "SPOT");
      return balances.value.flatMap(({ currency, balance }) => {
        const products = spot.filter(({ instId }) => readInstId(instId)?.base === currency);
        return products.some((product) => !isDust(balance, product)) ? [{ currency, balance }] : [];
      });
    }),
    takeUntil(after(clock, coinsMsMax)),
  );
  return firstValueFrom(both$, { defaultValue: [] });
};

const coinsText = (coins: readonly Coins[], isKept: boolean): string => {
  const amounts = coins.map(({ currency, balance }) => `${balance} ${currency}`).join(", ");
  return isKept
    ? `Not sold, as no strategy holds it by the journal: ${amounts}.`
    : `Not sold, because without config.journal there is no record that a strategy bought it: ${amounts}.`;
};

/** Runs nothing, so that nothing the config names is started; leverage and shares are matters of trading. */
const closingOnly = (config: object): object => {
  const idle = defineStrategy({
    name: "close",
    options: { type: "object", additionalProperties: false, properties: {} },
    run: () => EMPTY,
  });
  const { leverage: _leverage, quota, ...rest } = config as Readonly<Record<string, unknown>>;
  const { shares: _shares, budgets: _budgets, ...limits } = (quota ?? {}) as Readonly<Record<string, unknown>>;
  return { ...rest, quota: limits, strategies: [idle({})] };
};

const lineOf = ({ kind, uid, instId, pos, left, reason }: PositionEnding): string => {
  switch (kind) {
    case "closed":
      return `${uid}: ${pos} in ${instId} closed`;
    case "left":
      return `${uid}: ${left} of ${pos} in ${instId} still open: ${reason}`;
    case "unknown":
      return `${uid}: ${reason}`;
  }
};
