/**
 * Run of one engine for commands that only need it to trade: a line of progress, its events on stdout, and the failure
 * at the end.
 *
 * Invariants: with `json` stdout holds one event a line and nothing else; the engine is stopped in order
 * (engine-run.ts).
 * Not here: `sluice run` itself, with its status, reports and decisions (run.ts).
 */
import { type Clock, every } from "../clock/clock.ts";
import { createContract } from "../contract/contract.ts";
import type { Engine } from "../engine/engine.ts";
import { profileIn } from "../host/config.ts";
import type { TextOfEvent } from "../host/plugin-events.ts";
import type { Event } from "../journal/events.ts";
import { runToEnd } from "./engine-run.ts";
import { failWith, remedyOf } from "./halts.ts";
import { type CliIo, inkOf, jsonText, transientLine } from "./io.ts";
import { withUnits } from "./run-orders.ts";
import { count, createTally, eventLine, type Tally } from "./run-progress.ts";
import { listenForStop } from "./shutdown-signals.ts";

/** Numbers of orders since the run began, at `startedAt` on the run's clock. */
export type RunCounts = Readonly<Pick<Tally, "startedAt" | "placed" | "filled" | "canceled">>;

/** Options of `runEngine`. */
interface EngineRunOptions {
  readonly io: CliIo;
  readonly clock: Clock;
  /** Stops the engine after so many seconds. Default: it runs until it is stopped. */
  readonly seconds?: number | undefined;
  /** Text of the line of progress, once a second. */
  readonly progress: (counts: RunCounts) => string;
  /**
   * Prints events, and throws at the end where trading is halted or a strategy failed. Default: no event is printed.
   */
  readonly events?: {
    /** The engine's config, for units and the remedy of a halt. */
    readonly config: unknown;
    readonly json: boolean;
    /** First line of the failure: "Failed while recording:". */
    readonly failed: string;
  };
  /** The engine trades from now on. */
  readonly started?: () => void;
  /** Stops the engine. Default: `engine.stop()`. */
  readonly stop?: () => Promise<void>;
}

/**
 * Runs an engine until a request to stop, the end of its time or its own end, and stops it in order.
 *
 * @param engine - not started
 * @param options - requests to stop, the time, and what is printed
 * @returns when it has stopped
 * @throws what the start throws, ENGINE_STATE where it was stopped before it had started, and with `events`
 * TRADING_HALTED, STRATEGY_FAILED or ORDER_REFUSED by how the run ended
 */
export const runEngine = async (
  engine: Pick<Engine, "events$" | "start" | "stop"> & Partial<Pick<Engine, "eventText">>,
  { io, clock, seconds, progress, events, started, stop = () => engine.stop() }: EngineRunOptions,
): Promise<void> => {
  const tally = createTally(clock.now(), remedyOf(events?.config ?? {}));
  const line = transientLine(io);
  const print = events && eventPrinter(events.config, events.json, io, engine.eventText);
  const watching = engine.events$.subscribe((event) => {
    count(tally, event);
    if (print === undefined) return;
    line.clear();
    print(event);
  });
  // Of the counts alone: streams of the engine's state would poll.
  watching.add(every(clock, 1_000).subscribe(() => line.show(() => progress(tally))));
  const stopping = listenForStop(io);
  const ending = (): void => {
    tally.stopping = true;
  };
  try {
    await runToEnd({ engine, stopping, clock, seconds, ending, stop, ...(started && { started }) });
  } finally {
    stopping.end();
    watching.unsubscribe();
    line.clear();
  }
  if (events !== undefined) failWith(tally, events.failed);
};

const eventPrinter = (
  config: unknown,
  json: boolean,
  io: CliIo,
  textOf: TextOfEvent = () => undefined,
): ((event: Event) => void) => {
  const { profile } = createContract(profileIn(config as Parameters<typeof profileIn>[0]));
  return (event) => {
    const { seq, at, type, ...rest } = event;
    const line = json
      ? jsonText({ seq, at, type, ...rest })
      : eventLine(withUnits(event, profile), inkOf(io), textOf(event));
    if (line !== undefined) io.out(`${line}\n`);
  };
};
