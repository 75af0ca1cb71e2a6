/**
 * Whether an engine beats for a watchdog, and what stands still when it was taken for dead.
 *
 * Invariants: only an engine that trades over a network on the machine's own time beats, and only if its config says so; in a
 * backtest, a simulation or a recorded session there is nobody to beat for, and a recording says so.
 * Not here: the beat itself (engine/watchdog/heartbeat.ts).
 */
import { randomBytes } from "node:crypto";
import type { OpenService } from "../client/service-port.ts";
import { type CheckedConfig, watchdogDefaults } from "../host/config.ts";
import type { Journal } from "../journal/event-log.ts";
import { isOver } from "../orders/tracked-order.ts";
import type { Branch } from "./user-account.ts";
import { createHeart, type Heart } from "./watchdog/heartbeat.ts";
import type { Dial } from "./watchdog/ipc.ts";
import type { Meeting } from "./watchdog/ipc-address.ts";
import { meetingOf } from "./watchdog/watchdog.ts";

export interface BeatingParts {
  readonly config: CheckedConfig;
  readonly service: OpenService;
  readonly journal: Journal;
  readonly branches: () => readonly Branch[];
  readonly halt: (reason: string) => void;
  readonly dial: (meeting: Meeting) => Dial;
}

export interface Beating extends Pick<Heart, "start" | "ready" | "refused" | "stop"> {
  /** Takes leave in order, or without a word where orders that should be gone are not. */
  end(cancelled: boolean): Promise<void>;
}

const silent: Beating = {
  start: () => undefined,
  ready: () => undefined,
  refused: () => undefined,
  stop: () => undefined,
  end: () => Promise.resolve(),
};

export const beatingOf = ({ config, service, journal, branches, halt, dial }: BeatingParts): Beating => {
  if (config.watchdog === undefined || service.watchful !== true) return silent;
  if (service.realTime !== true) {
    const start = (): void => journal.append({ type: "watchdog.lost", reason: "a session that is recorded or replayed has none" });
    return { ...silent, start };
  }
  const open = (): number => branches().reduce((count, { desk }) => count + desk.orders().filter((order) => !isOver(order)).length, 0);
  const heart = createHeart({
    clock: service.clock,
    journal,
    dial: dial(meetingOf(config, service.users)),
    beatMs: config.watchdog.beatMs ?? watchdogDefaults.beatMs,
    session: randomBytes(8).toString("hex"),
    open,
    halt,
    cleared: () => {
      for (const { desk } of branches()) desk.reconsider();
    },
  });
  return {
    ...heart,
    end: async (cancelled) => {
      if (cancelled && open() > 0) {
        heart.stop();
        return;
      }
      if (await heart.leave()) return;
      journal.append({ type: "watchdog.lost", reason: "it did not hear that this engine stops, and may cancel what rests" });
    },
  };
};
