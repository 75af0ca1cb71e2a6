/** A config to sweep in tests: a ladder that trades, and a strategy that fails in the ways it is asked to. */
import { EMPTY } from "rxjs";
import { defineConfig, defineStrategy } from "sluice";
import { backtest, constant } from "sluice/backtest";
import ladder from "../../../strategies/ladder.ts";

const fickle = defineStrategy({
  name: "fickle",
  options: {
    type: "object",
    additionalProperties: false,
    properties: { mood: { type: "string", enum: ["calm", "loud", "throws", "exits", "spins"], default: "calm" } },
  },
  wanted: ({ options: { mood } }) => {
    if (mood === "throws") throw new Error("out of temper");
    if (mood === "exits") process.exit(3);
    if (mood === "loud") process.stdout.write("look at me\n");
    while (mood === "spins") {
      // until somebody ends the thread
    }
    return EMPTY;
  },
});

export const sweep = { "ladder.notional": "100,200" };

export default defineConfig({
  service: backtest({ latency: constant(20) }),
  strategies: [ladder({ levels: 2, step: "0.00003" }), fickle({})],
  journal: { dir: "/dev/null/no-folder" },
});
