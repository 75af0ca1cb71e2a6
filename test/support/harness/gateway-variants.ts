/**
 * Stand-ins for the gateway in which a rule of the queue does not hold.
 */
import { defer, forkJoin, map, type Observable, of, ReplaySubject, switchMap } from "rxjs";
import type { CallOptions, Gateway, LateInput } from "../../../src/client/gateway.ts";
import type { Outcome } from "../../../src/client/outcome.ts";
import type { CancelBody, ElementResult } from "../../../src/contract/schemas.ts";

type CancelOutcome = Outcome<ElementResult>;

/** One outcome for all, as if they had been one call. */
const joined = (outcomes: readonly CancelOutcome[]): CancelOutcome => {
  const records: ElementResult[] = [];
  for (const outcome of outcomes) {
    if (outcome.kind !== "done") return outcome;
    records.push(...outcome.records);
  }
  return { kind: "done", records, problems: [], at: 0 };
};

const cancelSingly = (gateway: Gateway, late: () => CancelBody | undefined, options: CallOptions): Observable<CancelOutcome> =>
  defer(() => {
    const others: Observable<CancelOutcome>[] = [];
    const first = gateway.call(
      "cancelBatch",
      () => {
        const [head, ...rest] = late() ?? [];
        for (const element of rest) {
          const outcome$ = new ReplaySubject<CancelOutcome>(1);
          gateway.call("cancelBatch", [element], options).subscribe(outcome$);
          others.push(outcome$);
        }
        return head === undefined ? undefined : [head];
      },
      options,
    );
    return first.pipe(switchMap((outcome) => forkJoin([of(outcome), ...others]).pipe(map(joined))));
  });

/** Every cancel is a call of its own. */
export const singly = (gateway: Gateway): Gateway => {
  const call = (endpoint: string, input: unknown, options: CallOptions): unknown =>
    endpoint === "cancelBatch" && typeof input === "function"
      ? cancelSingly(gateway, input as () => CancelBody | undefined, options)
      : gateway.call(endpoint as "cancelBatch", input as LateInput<"cancelBatch">, options);
  return { ...gateway, call: call as Gateway["call"] };
};

/** Reads that share nothing: what they cost does not depend on how long they waited. */
export const unshared = (gateway: Gateway): Gateway => ({
  ...gateway,
  read: (endpoint, input, options) => gateway.call(endpoint, input, options),
});

/** Reads are sent whether anybody still needs them or not. */
export const unconditional = (gateway: Gateway): Gateway => ({
  ...gateway,
  read: (endpoint, input, options) => gateway.read(endpoint, input, { ...options, needed: () => true }),
});
