/**
 * The parts of an action's cost, each by itself: what nobody can go below who has a queue, charges three layers and hears one
 * answer.
 *
 * Invariants: the same clock, transport and charges as the whole (alone.ts), so that the parts can be held against it; each part
 * keeps its memory as the whole does, all submitted before the first ends.
 */
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createContract } from "../../../src/contract/contract.ts";
import type { ResponseSink } from "../../../src/contract/transport.ts";
import { PriorityQueue, type Queued } from "../../../src/scheduler/priority-queue.ts";
import { type Charge, layersOf } from "../../../src/scheduler/quota/layers.ts";
import { createLedger, type Rank } from "../../../src/scheduler/quota/ledger.ts";
import type { Ticket } from "../../../src/scheduler/quota/routes.ts";
import { day, request, transportOn } from "./alone.ts";
import { type Spent, stopwatch } from "./stopwatch.ts";

/** The same calls through the same transport with nobody to schedule them: a sink and an answer. */
export const bare = (calls: number, collect: () => void): Spent => {
  const clock = createVirtualClock(day);
  const transport = transportOn(clock);
  let ended = 0;
  const sink: ResponseSink = {
    response: ({ status }) => {
      if (status === 200) ended++;
    },
    failed: () => undefined,
    closed: false,
  };
  collect();
  const spent = stopwatch(calls);
  for (let i = 0; i < calls; i++) transport(request, sink);
  clock.advanceTo(day + 1_000);
  const result = spent();
  if (ended < calls) throw new Error(`${calls - ended} of ${calls} calls did not end`);
  return result;
};

const kinds: readonly { readonly endpoint: Charge["endpoint"]; readonly weight: number; readonly rank: Rank }[] = [
  { endpoint: "placeOrder", weight: 10, rank: "ordinary" },
  { endpoint: "cancelBatch", weight: 15, rank: "exit" },
  { endpoint: "getOrder", weight: 5, rank: "ordinary" },
];

/** Asking, charging and settling on three layers, without a scheduler. */
export const charging = (calls: number, collect: () => void): Spent => {
  const layers = layersOf(createContract()).map((layer) => ({ ...layer, capacity: 1e9 }));
  const ledger = createLedger({ layers, startedAt: day, quietMs: 0 });
  const caller = { elements: 1, elementWeight: 0, ip: "home", uid: "user", key: "key" };
  const asked = kinds.map(({ endpoint, weight, rank }) => ({
    charge: { endpoint, weight, ...caller } satisfies Charge,
    rank,
  }));
  const answerAt = (at: number) => ({
    status: 200,
    headers: { date: new Date(at).toUTCString(), "x-ratelimit-uid-weight-used": "0" },
  });
  const [{ charge: first }] = asked as [(typeof asked)[0]];
  ledger.settle(ledger.spend(first, day + 2_000), answerAt(day + 2_010), day + 2_020);
  const tickets: Ticket[] = [];
  collect();
  const spent = stopwatch(calls);
  for (let i = 0; i < calls; i++) {
    const { charge, rank } = asked[i % asked.length] as (typeof asked)[0];
    if (ledger.ask(charge, rank, day + 3_000).granted) tickets.push(ledger.spend(charge, day + 3_000));
  }
  const answer = answerAt(day + 3_010);
  for (const ticket of tickets) ledger.settle(ticket, answer, day + 3_020);
  const result = spent();
  if (tickets.length < calls) throw new Error(`${calls - tickets.length} of ${calls} calls were refused`);
  return result;
};

/** Into the queue and out of it again; `shuffled` keys need the heap, those of one owner after the other do not. */
export const queueing = (calls: number, shuffled: boolean, collect: () => void): Spent => {
  const entries = Array.from({ length: calls }, (): Queued => ({ removed: false }));
  const queue = new PriorityQueue<Queued>();
  collect();
  const spent = stopwatch(calls);
  for (let i = 0; i < calls; i++) queue.push(entries[i] as Queued, shuffled ? (i * 7_919) % calls : i, i);
  let left = 0;
  while (queue.pop() !== undefined) left++;
  const result = spent();
  if (left < calls) throw new Error(`${calls - left} of ${calls} entries stayed`);
  return result;
};
