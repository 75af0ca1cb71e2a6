/** Runs as they would be told by a journal: one line per order, written out as events. */

import { RunReader } from "../../../../plugins/compare/run-reader.ts";
import type { RunRecord } from "../../../../plugins/compare/run-record.ts";
import type { Event, OrderRecord } from "../../../../src/index.ts";

export interface OrderStory {
  readonly strategy?: string;
  readonly slot?: string;
  /** When the strategy wanted it, milliseconds after the start. */
  readonly at: number;
  readonly waits?: number;
  /** The layer that holds it while it waits. */
  readonly layer?: string;
  readonly side?: "buy" | "sell";
  readonly px?: string;
  readonly sz?: string;
  readonly ackAfter?: number;
  readonly filledAt?: number;
  readonly avgPx?: string;
  readonly fee?: string;
  readonly cancelAt?: number;
  readonly rejected?: string;
  /** Refused by the engine, never sent. */
  readonly refused?: string;
}

const epoch = 1_704_067_200_000;

/** The events of all stories in the order of their time; the run begins at 0 and ends at `endMs`. */
export const eventsOf = (stories: readonly OrderStory[], endMs = 100_000, startAt = epoch): readonly Event[] => {
  const told: (readonly [ms: number, body: object])[] = [
    [0, { type: "engine.started", strategies: ["s"], plugins: [] }],
    ...stories.flatMap(lifeOf),
    [endMs, { type: "engine.stopped", reason: "orders kept" }],
  ];
  return told
    .map(([ms, body], index) => ({ ms, body, index }))
    .sort((a, b) => a.ms - b.ms || a.index - b.index)
    .map(({ ms, body }, index) => ({ seq: index + 1, at: startAt + ms, ...body }) as Event);
};

const lifeOf = (story: OrderStory, index: number): readonly (readonly [number, object])[] => {
  const {
    strategy = "s",
    slot = "bid",
    at,
    waits = 0,
    layer = "uid",
    ackAfter = 20,
    side = "buy",
    px = "100",
    sz = "10",
  } = story;
  if (story.refused !== undefined) return [[at, { type: "order.refused", strategy, slot, reason: story.refused }]];
  const sentAt = at + waits;
  const clOrdId = `${strategy}-${slot}-${index}`;
  const record = (state: string, accFillSz = "0"): OrderRecord =>
    ({
      instId: "BTC-USDT-SWAP",
      ordId: clOrdId,
      clOrdId,
      px,
      sz,
      ordType: "limit",
      side,
      state,
      avgPx: accFillSz === "0" ? "" : (story.avgPx ?? px),
      accFillSz,
      fee: accFillSz === "0" ? "0" : (story.fee ?? "-0.01"),
      createdAt: "0",
      updatedAt: "0",
    }) as OrderRecord;
  const changed = (phase: string, reason: string, known?: OrderRecord): object => ({
    type: "order.changed",
    strategy,
    slot,
    clOrdId,
    phase,
    record: known,
    reason,
  });
  const sent = {
    type: "action.sent",
    action: index,
    endpoint: "placeOrder",
    class: "place",
    owner: strategy,
    weight: 10,
    key: "k",
    waitedMs: waits,
  };
  return [
    ...(waits > 0
      ? [
          [
            at,
            {
              type: "action.held",
              action: index,
              endpoint: "placeOrder",
              class: "place",
              layer,
              until: epoch + sentAt,
            },
          ] as const,
        ]
      : []),
    [sentAt, changed("sent", "placed")],
    [sentAt, sent],
    ...(story.rejected === undefined
      ? [[sentAt + ackAfter, changed("live", "accepted", record("live"))] as const]
      : [[sentAt + ackAfter, changed("rejected", story.rejected)] as const]),
    ...(story.filledAt === undefined ? [] : [[story.filledAt, changed("filled", "", record("filled", sz))] as const]),
    ...(story.cancelAt === undefined
      ? []
      : [
          [story.cancelAt, changed("canceling", "replaced", record("live"))] as const,
          [story.cancelAt + 20, changed("canceled", "replaced", record("canceled"))] as const,
        ]),
  ];
};

export const runOf = (events: readonly Event[], parts: Partial<Parameters<RunReader["finish"]>[0]> = {}): RunRecord => {
  const chronicle = new RunReader();
  for (const [index, event] of events.entries()) chronicle.event(event, index + 1);
  return chronicle.finish({ name: "run", kind: "journal", ...parts });
};
