/**
 * Watchdog client: sends the engine's heartbeat if the config has a watchdog.
 *
 * Invariants: only an engine that trades over a network on the machine's clock sends heartbeats; a backtest, a simulation and a recorded
 * session send none, and a recording notes that.
 * Not here: the heartbeat itself (engine/watchdog/heartbeat.ts).
 */
import { randomBytes } from "node:crypto";
import type { OpenService } from "../client/service-port.ts";
import { SluiceError } from "../errors.ts";
import { type CheckedConfig, watchdogDefaults } from "../host/config.ts";
import type { EventLog } from "../journal/event-log.ts";
import { isOver } from "../orders/tracked-order.ts";
import type { UserAccount } from "./user-account.ts";
import type { Heartbeat } from "./watchdog/heartbeat.ts";
import type { Dial } from "./watchdog/ipc.ts";
import type { IpcAddress } from "./watchdog/ipc-address.ts";

interface WatchdogClientParts {
  readonly config: CheckedConfig;
  readonly service: OpenService;
  readonly journal: EventLog;
  readonly accounts: () => readonly UserAccount[];
  readonly halt: (reason: string) => void;
  /** A local socket when left out. */
  readonly dial: ((meeting: IpcAddress) => Dial) | undefined;
}

export interface WatchdogClient extends Pick<Heartbeat, "start" | "ready" | "refused" | "stop"> {
  /** Loads what beats, where something does. Awaited before the start. */
  readonly load?: () => Promise<void>;
  /** Resolves when a watchdog is connected, or the engine is stopped; rejects when none is within this time. */
  met(ms: number): Promise<void>;
  /** Takes leave in order, or without a word where orders that should be gone are not. */
  end(cancelled: boolean): Promise<void>;
}

const silent: WatchdogClient = {
  start: () => undefined,
  ready: () => undefined,
  refused: () => undefined,
  stop: () => undefined,
  met: () => Promise.resolve(),
  end: () => Promise.resolve(),
};

export const watchdogClientOf = ({
  config,
  service,
  journal,
  accounts,
  halt,
  dial,
}: WatchdogClientParts): WatchdogClient => {
  if (config.watchdog === undefined || service.watchful !== true) return silent;
  if (service.realTime !== true) {
    const start = (): void =>
      journal.append({ type: "watchdog.lost", reason: "a session that is recorded or replayed has none" });
    return { ...silent, start };
  }
  const open = (): number =>
    accounts().reduce(
      (count, { orderManager }) => count + orderManager.orders().filter((order) => !isOver(order)).length,
      0,
    );
  let heartbeat: Heartbeat | undefined;
  let isStopped = false;
  return {
    load: async () => {
      const [beats, addresses, sockets] = await Promise.all([
        import("./watchdog/heartbeat.ts"),
        import("./watchdog/ipc-address.ts"),
        import("./watchdog/ipc-socket.ts"),
      ]);
      heartbeat ??= new beats.Heartbeat({
        clock: service.clock,
        journal,
        dial: (dial ?? sockets.socketDial)(addresses.ipcAddressOf(config, service.users)),
        beatMs: config.watchdog?.beatMs ?? watchdogDefaults.beatMs,
        session: randomBytes(8).toString("hex"),
        open,
        halt,
        cleared: () => {
          for (const { orderManager } of accounts()) orderManager.reconsider();
        },
      });
    },
    start: () => {
      heartbeat?.start();
    },
    ready: () => {
      heartbeat?.ready();
    },
    refused: () => heartbeat?.refused(),
    stop: () => {
      heartbeat?.stop();
    },
    met: async (ms) => {
      if (heartbeat === undefined || heartbeat.isArmed) return;
      journal.append({
        type: "start.waiting",
        reason: "waiting for the watchdog: nothing is traded before it is connected",
      });
      if ((await heartbeat.armedWithin(ms)) || isStopped) return;
      throw new SluiceError(
        "ENGINE_STATE",
        `No watchdog has connected within ${ms / 1_000} s, so the engine does not start: nothing was traded. See what its process wrote, or start without a watchdog.`,
      );
    },
    end: async (cancelled) => {
      isStopped = true;
      if (cancelled && open() > 0) {
        heartbeat?.stop();
        return;
      }
      if (heartbeat === undefined || (await heartbeat.leave())) return;
      journal.append({
        type: "watchdog.lost",
        reason: "it did not confirm that this engine stops, and may cancel its open orders",
      });
    },
  };
};
