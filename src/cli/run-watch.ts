/**
 * Display of a run: events as they happen, and a status line once a second.
 *
 * Invariants: it has no effect on the engine; only known state is shown, and no request is made.
 * Not here: the texts of lines (run-progress.ts, status-line.ts), where they are written (run-screen.ts).
 */
import { Subscription } from "rxjs";
import { type Clock, every } from "../clock/clock.ts";
import type { Engine } from "../engine/engine.ts";
import type { QuotaState } from "../host/context.ts";
import { printable } from "./io.ts";
import type { Reachability } from "./reachability.ts";
import type { RunOrders } from "./run-orders.ts";
import { count, type Tally } from "./run-progress.ts";
import type { ReportedEngine } from "./run-report.ts";
import type { Screen } from "./run-screen.ts";
import type { Status } from "./status-line.ts";

/** The part of an engine that is shown. */
export interface ShownEngine
  extends Pick<Engine, "quota$">,
    Partial<Pick<Engine, "eventText" | "health">>,
    ReportedEngine {}

const statusMs = 1_000;

/** Feeds what happens into the tally and onto the screen; nothing flows back. */
export const watchEvents = (
  engine: ShownEngine,
  tally: Tally,
  orders: RunOrders,
  reach: Reachability,
  screen: Screen,
  adviceOn: (tally: Tally) => string | undefined,
): Subscription => {
  let shown = "";
  return engine.events$.subscribe((event) => {
    count(tally, event);
    orders.take(event);
    screen.event(event, engine.eventText?.(event));
    // Before the start the engine itself reports what it waits for.
    const news = reach.take(event);
    if (news !== undefined && tally.started) screen.note(news);
    // A start arms protections after it has halted: the advice counts them, and comes once, when the engine has
    // started.
    if (!tally.started) return;
    const halt = tally.halted.size === 0 ? "" : (adviceOn({ ...tally, armed: 0 }) ?? "");
    if (halt !== shown && halt !== "") screen.note(adviceOn(tally) ?? "");
    shown = halt;
  });
};

/** Once the engine runs. A display asks the service for nothing: what is shown is what the engine knows. */
export const watchState = (
  engine: ShownEngine,
  tally: Tally,
  reach: Reachability,
  screen: Screen,
  clock: Clock,
): Subscription => {
  const watching = new Subscription();
  let quota: QuotaState | undefined;
  watching.add(engine.quota$.subscribe((latest) => (quota = latest)));
  const status = (): Status => {
    const now = clock.now();
    const words = standbyOf(engine);
    const standby = words === undefined ? undefined : { words, waits: false };
    return {
      tally,
      quota,
      strategies: engine.strategies(),
      open: engine.openOrders().length,
      outage: reach.words(now),
      standby,
      now,
    };
  };
  watching.add(every(clock, statusMs).subscribe((tick) => screen.status(status, tick)));
  return watching;
};

const standbyStates: readonly string[] = ["waiting", "settling"];

/** It waits while another process leads. */
export const standsBy = (engine: ShownEngine): boolean => standbyStates.includes(engine.health?.().standby.state ?? "");

/** Time within which a standby must have sent a heartbeat: twenty of them. */
const heardMsMax = 10_000;

/** Another process is there to go on. */
export const hasStandby = (engine: ShownEngine): boolean =>
  engine.health?.().standby.standbys.some(({ heardMs }) => heardMs < heardMsMax) === true;

/** A line of status for a process that waits while another one leads. */
export const watchStandby = (engine: ShownEngine, tally: Tally, screen: Screen, clock: Clock): Subscription =>
  every(clock, statusMs).subscribe((tick) => {
    const words = tally.started ? undefined : standbyOf(engine);
    if (words === undefined || !standsBy(engine)) return;
    screen.status(
      () => ({ tally, quota: undefined, strategies: [], open: 0, standby: { words, waits: true }, now: clock.now() }),
      tick,
    );
  });

const standbyOf = (engine: ShownEngine): string | undefined => {
  const text = engine.health?.().standby.text;
  return text === undefined ? undefined : printable(text);
};
