/**
 * Run of one engine from start to orderly stop, for every command that runs one.
 *
 * Invariants: it stops on the first of a request, the end of its time, its own end; after a request during the start,
 * the start may finish for some seconds while the service answers, so that the orders to cancel are known; a run that
 * never started is never reported as done; a second request abandons each of these steps.
 * Not here: requests to stop (shutdown-signals.ts), the output (run.ts, run-engine.ts).
 */
import {
  defaultIfEmpty,
  firstValueFrom,
  from,
  ignoreElements,
  map,
  merge,
  NEVER,
  type Observable,
  type Subscription,
} from "rxjs";
import { after, type Clock } from "../clock/clock.ts";
import type { Engine } from "../engine/engine.ts";
import { SluiceError } from "../errors.ts";
import type { StopReason } from "./io.ts";
import type { Stopping } from "./shutdown-signals.ts";

type Ending = StopReason | "over" | "ended";

export const endings: Readonly<Record<Ending, string>> = {
  SIGINT: "Ctrl-C",
  SIGTERM: "SIGTERM",
  SIGHUP: "the terminal was closed",
  SIGQUIT: "SIGQUIT",
  unread: "the reader of its output left",
  over: "--seconds is over",
  ended: "the engine ended",
};

interface EngineRun {
  readonly engine: Pick<Engine, "events$" | "start">;
  readonly stopping: Stopping;
  readonly clock: Clock;
  readonly seconds: number | undefined;
  /** It waits while another process leads: a stop ends no start that should have been. */
  readonly standsBy?: () => boolean;
  /** The engine trades from now on. */
  readonly started?: () => void;
  /** Called once, before the engine is stopped. */
  readonly ending: (reason: Ending) => void;
  readonly stop: () => Promise<void>;
}

/** Maximum time for the start to finish after a request to stop, unless its requests fail. */
const startMsMax = 5_000;

/** Resolves when the engine has stopped in order; rejects when it did not start, or when stopping was abandoned. */
export const runToEnd = async (run: EngineRun): Promise<void> => {
  const { engine, stopping, clock, ending, stop } = run;
  const answers = watchAnswers(engine);
  let isStarted = false;
  const ended$ = endOf(run);
  const started = engine.start().then(() => {
    isStarted = true;
    run.started?.();
  });
  const started$ = from(started);
  // A start that was stopped on request is not an error of its own.
  started.catch(() => undefined);
  try {
    const reason = await firstValueFrom(merge(started$.pipe(ignoreElements()), ended$, stopping.abandoned$));
    // A failed start ends the engine and throws its error.
    if (reason === "ended" && !isStarted) await started;
    ending(reason);
    const stoodBy = !isStarted && run.standsBy?.() === true;
    if (!isStarted && !stoodBy && !answers.fail()) {
      const enough$ = after(clock, startMsMax).pipe(map(() => undefined));
      await firstValueFrom(merge(started$, enough$, stopping.abandoned$));
    }
    await firstValueFrom(merge(from(stop()), stopping.abandoned$));
    if (!isStarted && !stoodBy) throw unstarted(reason, answers.problem());
  } finally {
    answers.end();
  }
};

const unstarted = (reason: Ending, problem: string): SluiceError =>
  new SluiceError(
    "ENGINE_STATE",
    `Stopped (${endings[reason]}) before the engine had started${problem === "" ? "" : ` (${problem})`}: nothing was traded or canceled.`,
  );

/** First reason to stop. */
const endOf = ({ engine, stopping, seconds, clock }: EngineRun): Observable<Ending> => {
  const over$ = seconds === undefined ? NEVER : after(clock, seconds * 1_000).pipe(map(() => "over" as const));
  const ended$ = engine.events$.pipe(ignoreElements(), defaultIfEmpty("ended" as const));
  return merge(stopping.first$, over$, ended$);
};

/** Watches whether the last request was answered, and what the start last waited for. */
const watchAnswers = ({ events$ }: Pick<Engine, "events$">) => {
  let fails = false;
  let problem = "";
  const watching: Subscription = events$.subscribe((event) => {
    if (event.type === "action.answered") fails = event.status === 0;
    if (event.type === "start.waiting") problem = event.reason;
  });
  return {
    fail: () => fails,
    problem: () => problem,
    end: () => {
      watching.unsubscribe();
    },
  };
};
