/** Events of a standby, and their texts. */
import type { EventTexts } from "sluice/extension";

declare module "sluice" {
  interface PluginEvents {
    /** This process is a standby: another process of the same engine trades, or may. */
    "standby.waiting": {
      /** Name of the process that leads; empty while none is known. */
      readonly leader: string;
      /** Why the store does not answer, as long as it does not. */
      readonly error?: string;
    };
    /** This process leads from now on, with the previous leader's journal. */
    "standby.leading": {
      /** Name of the previous leader; empty where none is known. */
      readonly before: string;
      /** True where the previous leader released the lease; false where it was silent for a whole lease. */
      readonly released: boolean;
    };
  }
}

const howLeft = (before: string, released: boolean): string => {
  if (before === "") return "";
  return released ? `: ${before} released the lease` : `: ${before} sent no heartbeat for a whole lease`;
};

export const standbyEvents: EventTexts = {
  "standby.waiting": ({ leader, error }) => {
    if (error !== undefined) return ["warn", `standby: ${error}`];
    return ["info", leader === "" ? "standby: no leader is known yet" : `standby: ${leader} leads`];
  },
  "standby.leading": ({ before, released }) => ["info", `this process leads now${howLeft(before, released)}`],
};
