/**
 * Quota of a recorded run: its requests and answers are charged once more to the same rate limiter, so that its windows
 * are those that the engine knew.
 *
 * Invariants: steps in order of time; nothing is sent and nothing refused: requests sent then are charged; an engine
 * without limits has no windows. Unknown are the actions that waited, and parts of a quota that several engines
 * divided.
 * Not here: the rate limiter (scheduler/quota), the origin of the steps (run-reader.ts).
 */
import type { Config, Event, QuotaState } from "sluice";
import { createContract, type EndpointName, type ProfileOverrides } from "sluice/dialect";
import { type ActionClass, createLedger, type EventOf, type LayerState, layersOf } from "sluice/extension";

/** Event of one request, or of a request of an address alone. */
export type QuotaStep = { readonly at: number } & (
  | { readonly step: "opened" }
  | {
      readonly step: "sent";
      readonly request: number;
      readonly action: Pick<EventOf<"action.sent">, "endpoint" | "class" | "weight" | "key">;
    }
  | {
      readonly step: "answered";
      readonly request: number;
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
    }
  | { readonly step: "lost"; readonly request: number }
  | { readonly step: "left"; readonly ip: string }
);

/** Facts of a run about the quota that it may use. */
export interface QuotaFacts {
  readonly users: readonly {
    readonly uid: string;
    readonly ip: string;
    readonly keys: readonly { readonly name: string }[];
  }[];
  readonly strategies: readonly { readonly name: string; readonly user?: string }[];
  readonly profile: ProfileOverrides;
  readonly quota?: Config["quota"] & { readonly shared?: unknown };
  /** False for an engine that kept no limits. */
  readonly limits: boolean;
}

type Ledger = ReturnType<typeof createLedger>;
type Ticket = Parameters<Ledger["settle"]>[0];

const urgent: readonly ActionClass[] = ["emergency", "cancel", "close"];
const over: readonly string[] = ["filled", "canceled", "rejected", "absent"];

export class RecordedQuota {
  readonly #facts: QuotaFacts;
  readonly #steps: readonly QuotaStep[];
  readonly #tickets = new Map<number, Ticket>();
  /** Orders that are not over, by user. */
  readonly #open = new Map<string, Set<string>>();
  #ledger: Ledger | undefined;
  #next = 0;

  constructor(facts: QuotaFacts, steps: readonly QuotaStep[]) {
    this.#facts = facts;
    this.#steps = steps;
  }

  /** Takes an event of the same run, before the steps of its instant. */
  take(event: Event): void {
    this.#advance(event.at, false);
    if (event.type === "order.changed") this.#takeOrder(event);
    if (event.type === "anomaly" && event.what === "clock.step") this.#ledger?.disturb(event.at);
  }

  stateAt(at: number): Pick<QuotaState, "inFlight"> & { readonly layers: readonly LayerState[] } {
    this.#advance(at, true);
    return { layers: this.#ledger?.state(at) ?? [], inFlight: this.#tickets.size };
  }

  #advance(until: number, withInstant: boolean): void {
    for (let step = this.#steps[this.#next]; step !== undefined; step = this.#steps[++this.#next]) {
      if (withInstant ? step.at > until : step.at >= until) return;
      this.#do(step);
    }
  }

  #do(step: QuotaStep): void {
    if (step.step === "opened") this.#begin(step.at);
    const ledger = this.#ledger;
    if (ledger === undefined) return;
    if (step.step === "sent") {
      if (urgent.includes(step.action.class)) ledger.noteExit(step.at);
      this.#tickets.set(step.request, ledger.spend(this.#chargeOf(step.action), step.at));
    } else if (step.step === "left") {
      const endpoint: EndpointName = "instruments";
      const charge = { endpoint, weight: 0, elements: 1, ip: step.ip, uid: undefined, key: undefined };
      ledger.lose(ledger.spend(charge, step.at), step.at);
    } else if (step.step !== "opened") {
      const ticket = this.#tickets.get(step.request);
      if (ticket === undefined) return;
      this.#tickets.delete(step.request);
      if (step.step === "answered") ledger.settle(ticket, step, step.at);
      else ledger.lose(ticket, step.at);
    }
  }

  /** Each process of a run begins with an empty one. */
  #begin(startedAt: number): void {
    const { limits, profile, quota } = this.#facts;
    const contract = createContract(profile);
    const { layers = layersOf(contract), shares: _, budgets: __, shared: ___, ...reserve } = quota ?? {};
    const elementWeight = contract.profile.weights.perCancelElement;
    this.#ledger = createLedger({ layers: limits ? layers : [], reserve: { elementWeight, ...reserve }, startedAt });
    this.#tickets.clear();
  }

  #chargeOf({ endpoint, weight, key }: Pick<EventOf<"action.sent">, "endpoint" | "weight" | "key">) {
    const { users } = this.#facts;
    const user = users.find(({ keys }) => keys.some(({ name }) => name === key));
    return { endpoint, weight, elements: 1, ip: (user ?? users[0])?.ip ?? "", uid: user?.uid, key };
  }

  #takeOrder({ strategy, clOrdId, phase }: EventOf<"order.changed">): void {
    const { strategies, users } = this.#facts;
    const uid = strategies.find(({ name }) => name === strategy)?.user ?? users[0]?.uid ?? "";
    const open = this.#open.get(uid) ?? new Set();
    this.#open.set(uid, open);
    if (over.includes(phase)) open.delete(clOrdId);
    else open.add(clOrdId);
    this.#ledger?.noteOpen(uid, open.size);
  }
}
