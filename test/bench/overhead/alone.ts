/**
 * The scheduler and the ledger by themselves: what one action costs from submission to settled answer with all others queued.
 *
 * Invariants: no promise, no closure and no request of an action's own, so that only our own work and memory is seen; the clock
 * is told, the answers are at hand; all wait first, as after a start, and then leave one by one.
 */
import { createVirtualClock, type VirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createContract } from "../../../src/contract/contract.ts";
import type { EndpointName } from "../../../src/contract/endpoints.ts";
import type { ResponseSink, Transport, WireRequest } from "../../../src/contract/transport.ts";
import { EventLog } from "../../../src/journal/event-log.ts";
import type { ActionClass } from "../../../src/journal/events.ts";
import type { Action } from "../../../src/scheduler/action.ts";
import { layersOf } from "../../../src/scheduler/quota/layers.ts";
import { createLedger } from "../../../src/scheduler/quota/ledger.ts";
import { createScheduler } from "../../../src/scheduler/scheduler.ts";
import { type Spent, stopwatch, sum } from "./stopwatch.ts";

export interface Costs {
  readonly submit: Spent;
  /** Waiting in the queue, leaving it and being answered. */
  readonly run: Spent;
  readonly total: Spent;
  readonly bytesPerEntry: number;
}

export const day = 1_767_600_000_000;
const secondsMax = 3_600;
const latencyMs = 20;
const account = { uid: "user", ip: "home", keys: ["key"] };
export const request: WireRequest = {
  endpoint: "getOrder",
  method: "GET",
  path: "",
  query: {},
  body: undefined,
  key: "key",
};
const build = (): WireRequest => request;
let ended = 0;
const action = (owner: string, endpoint: EndpointName, kind: ActionClass, weight: number): Action => ({
  endpoint,
  class: kind,
  owner,
  weight,
  account,
  build,
  done: (ending) => {
    if (ending.kind === "answered") ended++;
  },
});
const actions = ["one", "two", "three"].flatMap((owner) => [
  action(owner, "placeOrder", "place", 10),
  action(owner, "cancelBatch", "cancel", 15),
  action(owner, "getOrder", "read", 5),
]);

/** Every call that arrived at one instant is answered at one instant. */
export const transportOn = (clock: VirtualClock): Transport => {
  let arriving: ResponseSink[] = [];
  const answerAll = (): void => {
    const answered = arriving;
    arriving = [];
    const headers = { date: new Date(clock.now()).toUTCString(), "x-ratelimit-uid-weight-used": "0" };
    for (const sink of answered) sink.response({ status: 200, headers, body: undefined });
  };
  return (_, sink) => {
    if (arriving.length === 0) clock.setTimer(clock.now() + latencyMs, answerAll);
    arriving.push(sink);
  };
};

/**
 * One scheduler through several waves: `calls` actions queue up behind a closed account, leave `perSecond` at a time once it has
 * opened, and are answered. The first waves are slower, as the engine is still compiling; a new scheduler for each would show
 * little else, because what was compiled for one is thrown away with it. `collect` frees memory before it is looked at.
 */
export const costsOf = (calls: number, perSecond: number, waves: number, collect: () => void): readonly Costs[] => {
  const clock = createVirtualClock(day);
  const layers = layersOf(createContract()).map((layer) => ({
    ...layer,
    capacity: layer.scope === "key" ? perSecond : 1e9,
  }));
  const ledger = createLedger({ layers, startedAt: clock.now() });
  const journal = new EventLog(() => clock.now());
  const scheduler = createScheduler({ clock, ledger, transport: transportOn(clock), journal, queueMax: calls });
  const wave = (): Costs => {
    const startAt = clock.now();
    ended = 0;
    ledger.disturb(startAt);
    collect();
    const heapBefore = process.memoryUsage().heapUsed;
    const submitted = stopwatch(calls);
    for (let i = 0; i < calls; i++) scheduler.submit(actions[i % actions.length] as Action);
    const submit = submitted();
    // After a step of the clock one exit leaves at once.
    if (scheduler.queued < calls - 1) throw new Error(`${calls - scheduler.queued} of ${calls} calls did not wait`);
    collect();
    const bytesPerEntry = (process.memoryUsage().heapUsed - heapBefore) / calls;
    const ran = stopwatch(calls);
    for (let second = 1; second < secondsMax && ended < calls; second++) clock.advanceTo(startAt + second * 1_000);
    const run = ran();
    if (ended < calls) throw new Error(`${calls - ended} of ${calls} calls did not end within ${secondsMax} s`);
    return { submit, run, total: sum(submit, run), bytesPerEntry };
  };
  return Array.from({ length: waves }, wave);
};
