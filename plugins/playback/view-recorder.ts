/**
 * Recorder of a run on virtual time: the fold of an engine, taken as often as the length of the run allows.
 *
 * Invariants: events are the same with it and without it: it requests only prices, which are visible only in a report's
 * list of requested data; the events of a second process of the run continue those of the first one, and a run that
 * begins again is recorded again.
 * Not here: the start of the run (the command line).
 */

import { definePlugin, type Plugin } from "sluice";
import { type ControlUpdate, type EngineRow, EngineView } from "sluice/plugins/control-room";
import { PriceRows } from "./price-rows.ts";
import { Timeline, updatesMax } from "./timeline.ts";

const sampleMs = 100;

/** Adds bars, made of the prices in the updates, for instruments without bars. */
const withBars = (): ((update: ControlUpdate) => ControlUpdate) => {
  const prices = new PriceRows();
  const barred = new Set<string>();
  return (update) => {
    for (const [section, , row] of update.rows) {
      if (section === "candles" && row !== null) barred.add(row.instId);
      if (section === "markets" && row !== null && row.bid !== "" && row.ask !== "") prices.take(row);
    }
    const made = prices
      .changes()
      .filter(([section, , row]) => section === "candles" && row !== null && !barred.has(row.instId));
    return made.length === 0 ? update : { ...update, rows: [...update.rows, ...made] };
  };
};

export interface RunRecorder {
  /** To be added to the plugins of the config. */
  readonly plugin: Plugin;
  readonly timeline: () => Timeline;
}

/**
 * `spanMs`: how long the run is on its clock, as far as is known; samples are so far apart that all of them are kept.
 */
export const createRunRecorder = (facts: Pick<EngineRow, "name" | "kind" | "version">, spanMs: number): RunRecorder => {
  let timeline = new Timeline(facts.name);
  const stride = Math.max(1, Math.ceil(spanMs / sampleMs / updatesMax));
  const record = definePlugin({
    name: "playback recorder",
    options: { type: "object", additionalProperties: false, properties: {} },
    setup: (context) => {
      const { events$, eventText, updates$, strategies, openOrders, quotaNow, health, market, now } = context;
      if (now() < timeline.to) timeline = new Timeline(facts.name);
      const engine: EngineRow = {
        ...{ ...facts, environment: "", startedAt: now(), mode: "active", reason: "", state: "running" },
        unrecorded: ["account"],
      };
      const every = (ms: number, run: () => void): void => context.every(ms * stride, run);
      const noting = events$.subscribe((event) => timeline.note(event));
      const view = new EngineView(facts.name, engine, {
        events$,
        eventText,
        updates$,
        strategies,
        openOrders,
        quotaNow,
        health,
        market,
        now,
        every,
      });
      timeline.restart(view.snapshot());
      const barred = withBars();
      const taking = view.updates$.subscribe((update) => timeline.add(barred(update)));
      return () => {
        view.end();
        taking.unsubscribe();
        noting.unsubscribe();
      };
    },
  });
  return { plugin: record({}), timeline: () => timeline };
};
