/**
 * Watchdog extension: sends the engine's heartbeat.
 *
 * Invariants: only an engine that trades over a network on the machine's clock sends heartbeats; a backtest, a simulation and a recorded
 * session send none, and a recording notes that.
 * Not here: the heartbeat itself (engine/watchdog/heartbeat.ts).
 */
import { randomBytes } from "node:crypto";
import { SluiceError } from "../errors.ts";
import { type WatchdogConfig, watchdogDefaults } from "../host/config.ts";
import type { EngineExtension, ExtensionContext } from "../host/engine-extension.ts";
import type { EngineHealth } from "../host/operator-view.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { Heartbeat } from "./watchdog/heartbeat.ts";
import type { Dial } from "./watchdog/ipc.ts";
import type { IpcAddress } from "./watchdog/ipc-address.ts";

type Context = ExtensionContext<WatchdogConfig>;

export interface WatchdogParts {
  /** How the watchdog is reached; a local socket when left out. */
  readonly dial?: ((meeting: IpcAddress) => Dial) | undefined;
  /** The start is refused when no watchdog is connected within so many milliseconds; left out, it goes on without one and reports that. */
  readonly startWithinMs?: number | undefined;
}

export const watchdogExtension = (context: Context, parts: WatchdogParts): EngineExtension | undefined => {
  const { events, service } = context;
  if (service.watchful !== true) return undefined;
  const health = healthFrom(events);
  if (service.realTime === true) return beating(context, parts, health);
  return {
    health,
    join: () => {
      events.append({ type: "watchdog.lost", reason: "a session that is recorded or replayed has none" });
      return undefined;
    },
  };
};

const beating = (context: Context, parts: WatchdogParts, health: () => object): EngineExtension => {
  const { events } = context;
  let heartbeat: Heartbeat | undefined;
  let isStopped = false;
  const met = async (ms: number): Promise<void> => {
    if (heartbeat === undefined || heartbeat.isArmed) return;
    events.append({
      type: "start.waiting",
      reason: "waiting for the watchdog: nothing is traded before it is connected",
    });
    if ((await heartbeat.armedWithin(ms)) || isStopped) return;
    throw new SluiceError(
      "ENGINE_STATE",
      `No watchdog has connected within ${ms / 1_000} s, so the engine does not start: nothing was traded. See what its process wrote, or start without a watchdog.`,
    );
  };
  return {
    health,
    load: async () => {
      heartbeat ??= await openHeartbeat(context, parts);
    },
    join: () => {
      heartbeat?.start();
      return undefined;
    },
    synced: () => (parts.startWithinMs === undefined ? undefined : met(parts.startWithinMs)),
    started: () => heartbeat?.ready(),
    refuses: (isExit) => (isExit ? undefined : heartbeat?.refused()),
    stopping: async ({ cancel, open }) => {
      isStopped = true;
      // It ends without a word where orders that should be gone are not: then the watchdog cancels them.
      if (cancel && open > 0) {
        heartbeat?.stop();
        return;
      }
      if (heartbeat === undefined || (await heartbeat.leave())) return;
      events.append({
        type: "watchdog.lost",
        reason: "it did not confirm that this engine stops, and may cancel its open orders",
      });
    },
    closed: () => {
      heartbeat?.stop();
      return undefined;
    },
  };
};

const openHeartbeat = async (
  { accounts, config, events, halt, options, service }: Context,
  { dial }: WatchdogParts,
): Promise<Heartbeat> => {
  const [beats, addresses, sockets] = await Promise.all([
    import("./watchdog/heartbeat.ts"),
    import("./watchdog/ipc-address.ts"),
    import("./watchdog/ipc-socket.ts"),
  ]);
  return new beats.Heartbeat({
    clock: service.clock,
    journal: events,
    dial: (dial ?? sockets.socketDial)(addresses.ipcAddressOf({ ...config, watchdog: options }, service.users)),
    beatMs: options.beatMs ?? watchdogDefaults.beatMs,
    session: randomBytes(8).toString("hex"),
    open: () => accounts().reduce((count, { openOrders }) => count + openOrders(), 0),
    halt,
    cleared: () => {
      for (const { reconsider } of accounts()) reconsider();
    },
  });
};

/** The state that events report. */
const healthFrom = (events: Pick<EventLog, "on">): (() => EngineHealth["watchdog"]) => {
  let state: EngineHealth["watchdog"] = { state: "waiting", reason: "" };
  events.on(["watchdog.armed", "watchdog.lost", "watchdog.tripped"], (event) => {
    if (event.type === "watchdog.armed") state = { state: "armed", reason: "" };
    else if (event.type === "watchdog.tripped") state = { state: "tripped", reason: event.reason };
    // One that tripped stays so: no order leaves any more.
    else if (state.state !== "tripped") state = { state: "lost", reason: event.reason };
  });
  return () => state;
};
