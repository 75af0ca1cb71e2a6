/**
 * Our own scheduler and ledger, wired as the engine wires them, with the bench's clock and wire plugged in.
 *
 * Invariants: nothing is tuned for a scenario; the configuration is the default one.
 */
import { from } from "rxjs";
import { createContract } from "../../../src/contract/contract.ts";
import type { EndpointName } from "../../../src/contract/endpoints.ts";
import type { WireResponse } from "../../../src/contract/transport.ts";
import { EventLog } from "../../../src/journal/event-log.ts";
import type { ActionClass } from "../../../src/journal/events.ts";
import { layersOf } from "../../../src/scheduler/quota/layers.ts";
import { createLedger } from "../../../src/scheduler/quota/ledger.ts";
import type { ReservePolicy } from "../../../src/scheduler/quota/reserve.ts";
import { createScheduler } from "../../../src/scheduler/scheduler.ts";
import type { Answer, Bench, CallKind, CreateLimiter, Task } from "./limiter.ts";

const endpoints: Readonly<Record<CallKind, EndpointName>> = {
  place: "placeOrder",
  cancel: "cancelBatch",
  query: "getOrder",
  positions: "positions",
  instruments: "instruments",
};
const account = { uid: "user", ip: "home", keys: ["key"] };

const classOf = ({ urgent, kind }: Task): ActionClass => (urgent ? "emergency" : kind === "place" || kind === "cancel" ? "place" : "read");

const create =
  (reserve: Partial<ReservePolicy>): CreateLimiter =>
  ({ clock }: Bench) => {
    const journal = new EventLog(() => clock.now());
    const ledger = createLedger({ layers: layersOf(createContract()), reserve, startedAt: clock.now() });
    const tasks = new WeakMap<object, Task>();
    const scheduler = createScheduler({
      clock,
      ledger,
      journal,
      transport: (request) =>
        from(
          (tasks.get(request) as Task).send().then(({ status, headers }: Answer): WireResponse => ({ status, headers, body: undefined })),
        ),
    });
    const submit = (task: Task): Promise<void> =>
      new Promise((resolve, reject) => {
        const request = { endpoint: endpoints[task.kind], method: "GET", path: "", query: {}, body: undefined, key: "key" } as const;
        tasks.set(request, task);
        const { endpoint } = request;
        scheduler
          .schedule({ endpoint, class: classOf(task), owner: "bench", weight: task.weight, account, build: () => request })
          .subscribe({
            next: (ending) => {
              if (ending.kind === "answered" && ending.response.status === 429) submit(task).then(resolve, reject);
              else resolve();
            },
            error: reject,
          });
      });
    return { submit };
  };

export const configurations: Readonly<Record<string, CreateLimiter>> = { default: create({}), paced: create({ spending: "paced" }) };
