import type { SharedQuota } from "../../../plugins/shared-quota/shared-quota.ts";
import { createContract } from "../../../src/contract/contract.ts";
import type { EndpointName } from "../../../src/contract/endpoints.ts";
import { EventLog } from "../../../src/journal/event-log.ts";
import type { ActionClass } from "../../../src/journal/events.ts";
import type { Account, Ending } from "../../../src/scheduler/action.ts";
import { layersOf } from "../../../src/scheduler/quota/layers.ts";
import { createLedger, type Ledger } from "../../../src/scheduler/quota/ledger.ts";
import type { LimiterParts } from "../../../src/scheduler/quota/parts.ts";
import type { ReservePolicy } from "../../../src/scheduler/quota/reserve.ts";
import { createScheduler } from "../../../src/scheduler/scheduler.ts";
import type { Answer, Bench, CallKind, CreateLimiter, Task } from "./limiter.ts";
import { sharedQuotaOf } from "./shared-engines.ts";

const endpoints: Readonly<Record<CallKind, EndpointName>> = {
  place: "placeOrder",
  cancel: "cancelBatch",
  query: "getOrder",
  positions: "positions",
  instruments: "instruments",
};
const accounts = new Map<string, Account>();
const accountOf = (user: string, key = ""): Account => {
  const name = `${user} ${key}`;
  const account = accounts.get(name) ?? { uid: user, ip: "home", keys: [`key ${key} of ${user}`] };
  accounts.set(name, account);
  return account;
};

const classOf = ({ urgent, kind }: Task): ActionClass =>
  urgent ? "emergency" : kind === "place" || kind === "cancel" ? "place" : "read";

/** `sharing` makes an engine's part of a quota that several divide; `made` is given each engine's ledger, which is made of `parts`. */
export const createSluice =
  (
    reserve: Partial<ReservePolicy>,
    sharing?: (bench: Bench) => SharedQuota,
    made?: (ledger: Ledger) => void,
    parts?: LimiterParts,
  ): CreateLimiter =>
  (bench: Bench) => {
    const { clock, sliding, announced, openOrders, group } = bench;
    const shared = sharing?.(bench);
    const journal = new EventLog(() => clock.now());
    const contract = createContract({ limits: { changes: announced, ...(sliding ? { anchor: "sliding" } : {}) } });
    const ledger = createLedger({
      layers: layersOf(contract),
      reserve,
      startedAt: clock.now(),
      ...(parts === undefined ? {} : { parts }),
    });
    made?.(ledger);
    if (shared !== undefined) ledger.divide(shared);
    const tasks = new WeakMap<object, Task>();
    const scheduler = createScheduler({
      clock,
      ledger,
      journal,
      transport: (request, sink) => {
        void (tasks.get(request) as Task).send().then(
          ({ status, headers }: Answer) => {
            sink.response({ status, headers, body: undefined });
          },
          (error: unknown) => {
            sink.failed(error);
          },
        );
      },
    });
    if (openOrders > 0) ledger.noteOpen("user", openOrders);
    shared?.start([`uid:${group.member}`, "uid:user", "ip:home"], () => scheduler.wake());
    const submit = (task: Task): Promise<void> =>
      new Promise((resolve, reject) => {
        const account = accountOf(task.user, task.key);
        const [key = ""] = account.keys;
        const request = {
          endpoint: endpoints[task.kind],
          method: "GET",
          path: "",
          query: {},
          body: undefined,
          key,
        } as const;
        tasks.set(request, task);
        const { endpoint } = request;
        const done = (ending: Ending): void => {
          if (ending.kind === "answered" && ending.response.status === 429) submit(task).then(resolve, reject);
          else resolve();
        };
        scheduler.submit({
          endpoint,
          class: classOf(task),
          owner: "bench",
          weight: task.weight,
          account,
          build: () => request,
          done,
        });
      });
    return { submit };
  };

export const configurations: Readonly<Record<string, CreateLimiter>> = {
  default: createSluice({}),
  paced: createSluice({ spending: "paced" }),
  shared: createSluice({}, sharedQuotaOf()),
};
