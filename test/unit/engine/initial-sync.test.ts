/**
 * What is read before anybody trades, and when an engine gives up reading it.
 */
import { NEVER, type Observable, of, Subject } from "rxjs";
import { expect, it } from "vitest";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import type { OrderRecord } from "../../../src/contract/schemas.ts";
import { initialSync, type ReadAtStart } from "../../../src/engine/initial-sync.ts";
import type { OrderManager } from "../../../src/orders/order-manager.ts";
import type { Snapshot } from "../../../src/orders/state/snapshot.ts";
import { ready, reply } from "../../support/harness/orders.ts";

const rig = () => ready({ push: false });
const orderManager = { reconsider: () => undefined } as unknown as OrderManager;

/** Everything can be read but the pending orders, of which `pending$` tells. */
const start = (pending$: Subject<Snapshot<readonly OrderRecord[]>>) => {
  const read = of({ value: new Map(), at: 0, stale: false });
  const state = { instruments$: read, pending$, history$: of({ value: [], at: 0, stale: false }) };
  return initialSync(rig().clock, orderManager, state, {
    guard: (source$) => source$,
    limitedAt: () => Number.NEGATIVE_INFINITY,
  });
};
const denial: Snapshot<readonly OrderRecord[]> = {
  value: [],
  at: -1,
  stale: true,
  problem: "50110 unknown key",
  denied: true,
};
/** Values are awaited in turn. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

it("Keys that may not read are asked about three times, not for as long as anything may still come", async () => {
  const pending$ = new Subject<Snapshot<readonly OrderRecord[]>>();
  let end = "";
  const started = start(pending$).then(
    () => undefined,
    (error: unknown) => {
      end = String(error);
    },
  );
  await settled();
  pending$.next(denial);
  pending$.next({ value: [], at: -1, stale: true, problem: "the service has not answered in time" });
  pending$.next(denial);
  await settled();
  expect(end).toBe("");
  pending$.next(denial);
  await started;
  expect(end).toContain(
    "The engine cannot start: pending orders may not be read with these keys (50110 unknown key). Check the keys and their permissions.",
  );
});

it("Two denials while the clocks find together do not end a start", async () => {
  const pending$ = new Subject<Snapshot<readonly OrderRecord[]>>();
  const started = start(pending$);
  await settled();
  pending$.next(denial);
  pending$.next(denial);
  pending$.next({ value: [], at: 1, stale: false });
  await expect(started).resolves.toBeUndefined();
});

it.each([
  ["ends after a minute and a half", () => Number.NEGATIVE_INFINITY, 90_000],
  ["does not count time in which a rate limit forbids to read", (at: number) => Math.min(at, 100_000), 190_000],
  ["ends after a quarter of an hour of that", (at: number) => at, 900_000],
] as const)("A start that cannot read %s", async (_, limited, endsAt) => {
  const clock = createVirtualClock(0);
  let end = "";
  const watch = { guard: <T>(source$: Observable<T>) => source$, limitedAt: () => limited(clock.now()) };
  const state = { instruments$: NEVER, pending$: NEVER, history$: NEVER } as unknown as ReadAtStart;
  const started = initialSync(clock, orderManager, state, watch).catch((error: unknown) => {
    end = String(error);
  });
  clock.advanceTo(endsAt - 1);
  await settled();
  expect(end).toBe("");
  clock.advanceTo(endsAt);
  await started;
  expect(end).toContain("the list of instruments could not be read");
});

it.each([
  [401, true],
  [403, true],
  [404, undefined],
  [400, undefined],
])("A read answered by %d is denied: %s", (status, denied) => {
  const { next, resources, run } = rig();
  const seen: (boolean | undefined)[] = [];
  next("pendingOrders", reply(status, { code: "50001", msg: "no", data: [] }));
  resources.pending.value$.subscribe((snapshot) => seen.push(snapshot.denied));
  run(1_000);
  expect(seen).toEqual([denied]);
  next("pendingOrders", reply(200, "<html>"));
  run(9_000);
  expect(seen.at(-1)).toBe(undefined);
});
