/** A watchdog and engines on one virtual clock, with a line in memory between them. */

import { Heartbeat } from "../../../../plugins/watchdog/heartbeat.ts";
import { HeartbeatMonitor, type WatchNews } from "../../../../plugins/watchdog/heartbeat-monitor.ts";
import type { Connection, Dial, Receiver } from "../../../../plugins/watchdog/ipc.ts";
import type { Report, Word } from "../../../../plugins/watchdog/messages.ts";
import type { Clock } from "../../../../src/clock/clock.ts";
import { createVirtualClock } from "../../../../src/clock/virtual-clock.ts";
import type { EventBody } from "../../../../src/journal/events.ts";

/** A process: frozen, its timers wait and what is said to it waits; killed, its connections end. */
export interface Process {
  readonly clock: Clock;
  freeze(): void;
  thaw(): void;
  kill(): void;
  /** Runs now, or when it is thawed; never when it is dead. */
  later(work: () => void): void;
  readonly ends: (() => void)[];
}

export const world = () => {
  const clock = createVirtualClock(1_700_000_000_000);
  const makeProcess = (): Process => {
    let state: "runs" | "frozen" | "dead" = "runs";
    const timers: (() => void)[] = [];
    const words: (() => void)[] = [];
    const ends: (() => void)[] = [];
    const due = (queue: (() => void)[]) => (work: () => void) => {
      if (state === "runs") work();
      else if (state === "frozen") queue.push(work);
    };
    return {
      ends,
      clock: {
        now: () => clock.now(),
        wallNow: () => clock.wallNow(),
        setTimer: (at, run) => {
          let isCancelled = false;
          const timer = clock.setTimer(at, () => {
            due(timers)(() => {
              if (!isCancelled) run();
            });
          });
          return {
            cancel: () => {
              isCancelled = true;
              timer.cancel();
            },
          };
        },
      },
      freeze: () => {
        state = "frozen";
      },
      thaw: () => {
        state = "runs";
        // As on a machine: timers first, then what arrived.
        for (const work of [...timers.splice(0), ...words.splice(0)]) work();
      },
      kill: () => {
        state = "dead";
        for (const end of ends.splice(0)) end();
      },
      later: due(words),
    };
  };
  return { clock, makeProcess, run: (ms: number) => clock.advanceTo(clock.now() + ms) };
};

export type World = ReturnType<typeof world>;

/** A watchdog's process, and the way to reach it. */
export const watchdogOn = ({ makeProcess }: World, silenceMs = 15_000) => {
  const process = makeProcess();
  const news: WatchNews[] = [];
  const acts: string[] = [];
  let desisted = 0;
  let before: string | undefined;
  let listens = true;
  let cancels = false;
  const watch = new HeartbeatMonitor({
    clock: process.clock,
    silenceMs,
    report: (one) => news.push(one),
    act: (reason) => {
      acts.push(reason);
      cancels = true;
    },
    isCanceling: () => cancels,
    desist: () => {
      desisted++;
    },
    before: () => before,
  });
  process.ends.push(() => {
    listens = false;
  });
  /** As a socket does it: nothing is heard before the caller has gone on. */
  const dialFrom =
    (caller: Process): Dial =>
    (ears) => {
      let isOpen = listens;
      let mine: Receiver<Report> | undefined;
      const end = (): void => {
        if (!isOpen) return;
        isOpen = false;
        process.later(() => mine?.closed("the connection ended"));
        caller.later(() => {
          ears.closed("the connection ended");
        });
      };
      if (!listens) {
        caller.clock.setTimer(caller.clock.now(), () => {
          ears.closed("no watchdog listens");
        });
        return { send: () => undefined, close: () => undefined };
      }
      caller.ends.push(end);
      process.ends.push(end);
      const back: Connection<Word> = {
        send: (word) => {
          if (isOpen) caller.clock.setTimer(caller.clock.now(), () => caller.later(() => ears.received(word)));
        },
        close: end,
      };
      process.later(() => {
        mine = watch.accept(back);
      });
      return {
        send: (report) => {
          if (isOpen) process.later(() => mine?.received(report));
        },
        close: end,
      };
    };
  return {
    process,
    watch,
    news,
    acts,
    dialFrom,
    kinds: () => news.map(({ kind }) => kind),
    desisted: () => desisted,
    /** Two listings in a row have shown no order. */
    isFlat: () => {
      cancels = false;
    },
    did: (what: string) => {
      before = what;
    },
  };
};

/** An engine's process with nothing in it but its heart. */
export const engineOn = (
  { makeProcess }: World,
  dialFrom: (caller: Process) => Dial,
  session = "one",
  beatMs = 1_000,
) => {
  const process = makeProcess();
  const events: EventBody[] = [];
  const halts: string[] = [];
  let cleared = 0;
  const heart: Heartbeat = new Heartbeat({
    clock: process.clock,
    journal: { append: (event) => events.push(event) },
    dial: dialFrom(process),
    beatMs,
    session,
    open: () => 2,
    halt: (reason) => halts.push(reason),
    cleared: () => {
      cleared++;
    },
  });
  return { process, heart, events, halts, types: () => events.map(({ type }) => type), cleared: () => cleared };
};
