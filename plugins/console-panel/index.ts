/**
 * Prints the quota and the queue every `everyMs`: how full each layer is, what is reserved for exits, what is queued
 * and in flight, who spent what. Within `columns` the line is as short as it must be: gauges become figures, then the
 * last parts are left out.
 */
import { definePlugin, type QuotaState } from "sluice";

const gauge = (used: number, capacity: number): string => {
  const filled = Math.min(10, Math.round((used / capacity) * 10));
  return `${"#".repeat(filled)}${".".repeat(10 - filled)} ${used}/${capacity}`;
};

const partsOf = ({ at, layers, queued, inFlight, spent }: QuotaState) => {
  const reserved = layers.find(({ layer }) => layer === "uid")?.reserved ?? 0;
  const owners = Object.entries(spent).map(([owner, weight]) => `${owner} ${weight}`);
  return {
    time: new Date(at).toISOString().slice(11, 19),
    gauges: layers.map(({ layer, used, capacity }) => `${layer} ${gauge(used, capacity)}`),
    figures: layers.map(({ layer, used, capacity }) =>
      layer === "uid" ? `uid ${gauge(used, capacity)}` : `${layer} ${used}/${capacity}`,
    ),
    reserve: `reserve ${reserved}`,
    queue: `queued ${queued}, in flight ${inFlight}`,
    spent: `spent: ${owners.join(", ") || "nothing"}`,
  };
};

const line = (state: QuotaState, columns: number): string => {
  const { time, gauges, figures, reserve, queue, spent } = partsOf(state);
  const whole = [time, ...gauges, reserve, queue, spent].join("  ");
  if (whole.length <= columns) return whole;
  const short = [time, ...figures, queue, reserve, spent];
  while (short.length > 2 && short.join("  ").length > columns) short.pop();
  return short.join("  ");
};

export default definePlugin({
  name: "console-panel",
  options: {
    type: "object",
    additionalProperties: false,
    properties: {
      everyMs: { description: "Milliseconds between two lines.", type: "integer", minimum: 250, default: 10000 },
      columns: {
        description: "The longest line; two hundred leave nothing out for a few strategies.",
        type: "integer",
        minimum: 40,
        default: 200,
      },
    },
  },
  setup: ({ quotaNow, every, print, options: { everyMs, columns } }) => {
    every(everyMs, () => print(line(quotaNow(), columns)));
  },
});
