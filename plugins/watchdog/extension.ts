/**
 * Watchdog extension: sends the engine's heartbeat.
 *
 * Invariants: only an engine that trades over a network on the machine's clock sends heartbeats; a backtest, a
 * simulation and a recorded session send none, and a recording notes that.
 * Not here: the heartbeat itself (heartbeat.ts).
 */
import { randomBytes } from "node:crypto";
import { type EngineHealth, SluiceError } from "sluice";
import type { EngineExtension, EventLog, ExtensionContext } from "sluice/extension";
import type { Heartbeat } from "./heartbeat.ts";
import type { Dial } from "./ipc.ts";
import type { IpcAddress } from "./ipc-address.ts";
import type { WatchdogOptions } from "./options.ts";

type Context = ExtensionContext<WatchdogOptions>;

export interface WatchdogParts {
  /** Opens the connection to the watchdog. Default: a local socket. */
  readonly dial?: ((meeting: IpcAddress) => Dial) | undefined;
}

export const watchdogExtension = (context: Context, parts: WatchdogParts): EngineExtension | undefined => {
  const { decide, events, purpose, service } = context;
  if (service.watchful !== true || purpose === "close") return undefined;
  // A trip outlives the process: the next run starts halted.
  events.on(["watchdog.tripped"], ({ reason }) => decide("halted", `the watchdog tripped: ${reason}`));
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
  const { events, options } = context;
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
    synced: () => (options.startWithinMs === undefined ? undefined : met(options.startWithinMs)),
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
    import("./heartbeat.ts"),
    import("./ipc-address.ts"),
    import("./ipc-socket.ts"),
  ]);
  const heartbeat = new beats.Heartbeat({
    clock: service.clock,
    journal: events,
    dial: (dial ?? sockets.socketDial)(addresses.ipcAddressOf(config, options, service.users)),
    beatMs: options.beatMs,
    session: randomBytes(8).toString("hex"),
    open: () => accounts().reduce((count, { openOrders }) => count + openOrders(), 0),
    halt,
    cleared: () => {
      for (const { reconsider } of accounts()) reconsider();
    },
  });
  for (const { watchedBy } of accounts()) watchedBy(() => heartbeat.standing);
  return heartbeat;
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
