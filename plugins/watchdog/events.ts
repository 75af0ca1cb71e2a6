/** Events of the watchdog's engine side, and their texts. */
import type { EventTexts } from "sluice/extension";

declare module "sluice" {
  interface PluginEvents {
    /** A watchdog is connected: it cancels everything after `silenceMs` without a heartbeat. */
    "watchdog.armed": {
      /** Silence after which it cancels, in milliseconds. */
      readonly silenceMs: number;
      /** Why it last tripped; undefined where it did not. */
      readonly before: string | undefined;
    };
    /** No watchdog receives the heartbeat: if this process dies now, its orders stay. */
    "watchdog.lost": { readonly reason: string };
    /** The watchdog's timeout elapsed without a heartbeat, and it cancels. */
    "watchdog.tripped": { readonly reason: string };
  }
}

const because = (reason: string): string => (reason === "" ? "" : `: ${reason}`);

export const watchdogEvents: EventTexts = {
  "watchdog.armed": ({ silenceMs, before }) => {
    const last = before === undefined ? "" : `; it last did so${because(before)}`;
    return ["info", `watchdog connected: it cancels orders after ${silenceMs / 1_000} s without a heartbeat${last}`];
  },
  "watchdog.lost": ({ reason }) => ["bad", `no watchdog is connected${because(reason)}`],
  "watchdog.tripped": ({ reason }) => ["bad", `the watchdog tripped and cancels all orders${because(reason)}`],
};
