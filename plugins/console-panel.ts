/**
 * Prints the quota and the queue every `everyMs`: how full each layer is, what is kept for exits, what waits, who spent what.
 */
import { definePlugin, type QuotaState } from "sluice";

const gauge = (used: number, capacity: number): string => {
  const filled = Math.min(10, Math.round((used / capacity) * 10));
  return `${"#".repeat(filled)}${".".repeat(10 - filled)} ${used}/${capacity}`;
};

const line = ({ at, layers, queued, inFlight, spent }: QuotaState): string => {
  const gauges = layers.map(({ layer, used, capacity }) => `${layer} ${gauge(used, capacity)}`);
  const reserved = layers.find(({ layer }) => layer === "uid")?.reserved ?? 0;
  const owners = Object.entries(spent).map(([owner, weight]) => `${owner} ${weight}`);
  return `${new Date(at).toISOString().slice(11, 19)}  ${gauges.join("  ")}  kept ${reserved}  waiting ${queued}+${inFlight}  spent: ${owners.join(", ") || "nothing"}`;
};

export default definePlugin({
  name: "console-panel",
  options: {
    type: "object",
    additionalProperties: false,
    properties: { everyMs: { type: "integer", minimum: 250, default: 10000 } },
  },
  setup: ({ quotaNow, every, print, options: { everyMs } }) => {
    every(everyMs, () => print(line(quotaNow())));
  },
});
