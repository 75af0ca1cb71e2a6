/**
 * Options of the watchdog, as the engine and the watchdog's own process read them from one config.
 */
import type { FromSchema } from "json-schema-to-ts";
import { SluiceError } from "sluice";

/**
 * Fifteen beats: a garbage collection, a slow disk or a supervisor's restart must not trip the watchdog, and quotes
 * left alone for longer cost more than placing them again. `instance`: orders of other clients are not canceled.
 */
const defaults = { beatMs: 1_000, silenceMs: 15_000, scope: "instance" } as const;

export const watchdogSchema = {
  type: "object",
  additionalProperties: false,
  properties: {
    beatMs: {
      description: "Interval of the heartbeat, in milliseconds.",
      type: "number",
      minimum: 50,
      maximum: 60_000,
      default: defaults.beatMs,
    },
    silenceMs: {
      description: "Silence after which the watchdog cancels, in milliseconds; at least three beats.",
      type: "number",
      minimum: 500,
      maximum: 3_600_000,
      default: defaults.silenceMs,
    },
    scope: {
      description: "Orders that it cancels: those of this instance, or every order of the users.",
      type: "string",
      enum: ["instance", "user"],
      default: defaults.scope,
    },
    dir: {
      description:
        "Folder in which the two processes meet, closed to other users of the machine; below the temporary folder when left out.",
      type: "string",
      minLength: 1,
    },
    startWithinMs: {
      description:
        "The start is refused when no watchdog is connected within so many milliseconds. Left out, the engine starts without one and reports that.",
      type: "number",
      minimum: 1,
      maximum: 3_600_000,
    },
  },
} as const;

/** Options of the watchdog; times are milliseconds. */
export type WatchdogOptions = Readonly<FromSchema<typeof watchdogSchema>>;

/** A single beat may be late or lost. */
export const checkBeats = ({ beatMs, silenceMs }: WatchdogOptions): void => {
  if (silenceMs >= 3 * beatMs) return;
  throw new SluiceError(
    "CONFIG_INVALID",
    `watchdog: silenceMs ${silenceMs} is less than three times beatMs ${beatMs}. Write silenceMs: ${3 * beatMs} or more, or a shorter beatMs.`,
  );
};

/** Of a config without the plugin, for a watchdog that a run started. */
export const watchdogDefaults: WatchdogOptions = defaults;
