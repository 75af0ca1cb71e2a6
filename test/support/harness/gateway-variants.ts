import type { Call, Gateway } from "../../../src/client/gateway.ts";
import type { Outcome } from "../../../src/client/outcome.ts";
import type { EndpointName } from "../../../src/contract/endpoints.ts";
import type { ElementResult } from "../../../src/contract/schemas.ts";

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

const cancelSingly = (gateway: Gateway, call: Call<"cancelBatch">): (() => void) => {
  const outcomes: (CancelOutcome | undefined)[] = [undefined];
  const note = (index: number) => (outcome: CancelOutcome) => {
    outcomes[index] = outcome;
    if (!outcomes.includes(undefined)) call.done(joined(outcomes as CancelOutcome[]));
  };
  return gateway.submit({
    endpoint: "cancelBatch",
    class: call.class,
    owner: call.owner,
    input: (_, now) => {
      const [head, ...rest] = call.input(Number.POSITIVE_INFINITY, now) ?? [];
      for (const element of rest) {
        const index = outcomes.push(undefined) - 1;
        gateway.submit({
          endpoint: "cancelBatch",
          class: call.class,
          owner: call.owner,
          input: () => [element],
          done: note(index),
        });
      }
      return head === undefined ? undefined : [head];
    },
    done: note(0),
  });
};

const withDoor = (gateway: Gateway, door: Partial<Gateway>): Gateway => ({
  submit: (call) => gateway.submit(call),
  call: (endpoint, input, options) => gateway.call(endpoint, input, options),
  read: (endpoint, input, options) => gateway.read(endpoint, input, options),
  keysFor: (endpoint) => gateway.keysFor(endpoint),
  byProduct: (endpoint) => gateway.byProduct(endpoint),
  ...door,
});

/** Every cancel is a call of its own. */
export const singly = (gateway: Gateway): Gateway => {
  const submit = (call: Call<EndpointName>): (() => void) =>
    call.endpoint === "cancelBatch"
      ? cancelSingly(gateway, call as unknown as Call<"cancelBatch">)
      : gateway.submit(call);
  return withDoor(gateway, { submit: submit as Gateway["submit"] });
};

/** Reads that share nothing: what they cost does not depend on how long they waited. */
export const unshared = (gateway: Gateway): Gateway =>
  withDoor(gateway, {
    read: (endpoint, input, { class: kind, owner }) => gateway.call(endpoint, input, { class: kind, owner }),
  });

/** Reads are sent whether anybody still needs them or not. */
export const unconditional = (gateway: Gateway): Gateway =>
  withDoor(gateway, {
    read: (endpoint, input, options) => gateway.read(endpoint, input, { ...options, needed: () => true }),
  });
