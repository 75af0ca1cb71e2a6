/**
 * Client of the conformance suite: asks as one of the given keys and keeps the results of scenarios that several rules
 * judge.
 *
 * Invariants: every request of the suite goes through `ask`; a paced request that was limited nevertheless is repeated
 * once, after the windows have passed, as other clients may use the quota; a scenario that was played to its end is not
 * played again.
 * Not here: verdicts (the files of rules), pacing and reading (probe/).
 */

import { isSluiceError } from "sluice";
import { type Dialect, type EndpointName, type OpenTransport, wire } from "sluice/dialect";

import { minuteMs, ProbeClient, type ProbeClientOptions, type Sending } from "../probe/probe-client.ts";
import { type Reply, unreadReply } from "../probe/reply.ts";
import { type CheckKey, type How, type Roles, rolesOf } from "./test-keys.ts";
import { type OrderHints, TestOrders } from "./test-orders.ts";
import { Unable } from "./unable.ts";

export interface TestClientOptions extends ProbeClientOptions {
  /** The service's calendar, milliseconds since the Unix epoch. */
  readonly serviceNow: () => number;
  readonly keys: readonly CheckKey[];
  readonly quick: boolean;
  readonly order?: OrderHints;
  readonly socket?: { readonly url: string; readonly open: OpenTransport["openSocket"] };
  /** Dialect of the service, if it is not the described one. */
  readonly dialect?: Pick<Dialect, "name" | "split" | "layers">;
}

/** Largest difference between the service's minute and our estimate of it. */
export const edgeMs = 1_500;

export class TestClient extends ProbeClient {
  readonly serviceNow: () => number;
  readonly quick: boolean;
  readonly socket: TestClientOptions["socket"];
  readonly dialect: TestClientOptions["dialect"];
  readonly roles: Roles;
  readonly orders: TestOrders;
  readonly #played = new Map<string, Promise<unknown>>();

  constructor(options: TestClientOptions) {
    super({ ...options, split: options.dialect?.split });
    this.dialect = options.dialect;
    this.serviceNow = options.serviceNow;
    this.quick = options.quick;
    this.socket = options.socket;
    this.roles = rolesOf(options.keys, this.contract.profile);
    this.orders = new TestOrders(this, options.order);
  }

  override async wait(ms: number): Promise<void> {
    await super.wait(ms);
    if (ms > 0 && this.stopped) throw new Unable("stopped");
  }

  async ask(endpoint: EndpointName, input: unknown = {}, how: How = {}): Promise<Reply> {
    const sending = this.#sending(how);
    const reply = await this.send(endpoint, input, sending).catch((error: unknown) => {
      if (how.mayBeUnread !== true || this.dialect === undefined || !isSluiceError(error)) throw error;
      return unreadReply(endpoint, error.message, this.clock.now());
    });
    if (!reply.limited || how.within !== undefined) return reply;
    await this.wait(minuteMs + edgeMs);
    return this.send(endpoint, input, sending);
  }

  /** The list of instruments, without a key where none is needed. */
  askInstruments(how: How = {}): Promise<Reply> {
    return this.ask(
      "instruments",
      {},
      { ...(this.contract.endpoints.instruments.permission === "none" && { as: "no key" }), ...how },
    );
  }

  /** Waits until so much of the main user's weight may be used at once. */
  async room(weight: number): Promise<void> {
    const charge = this.charge(undefined, { uid: this.roles.main?.uid }, weight);
    await this.wait(this.pacing.fitsAt(charge, ["uid"], this.clock.now()) - this.clock.now());
  }

  /** Throws `Unable` if a layer of the profile does not permit this number of calls within `ms`. */
  open(endpoint: EndpointName, calls: number, ms: number, how: Pick<How, "as"> = {}): void {
    const charge = this.charge(endpoint, this.#sending(how), this.contract.endpoints[endpoint].weight);
    const layer = this.pacing.tooNarrow(charge, calls, ms);
    if (layer !== undefined)
      throw new Unable(`the profile's layer "${layer}" does not let ${calls} calls through so quickly`);
  }

  /** Waits for a minute of the service in which none of our calls counts. */
  async freshMinute(): Promise<void> {
    if (this.contract.profile.limits.anchor !== "wall_clock")
      await this.wait(this.pacing.lastAt + minuteMs + edgeMs - this.clock.now());
    await this.wait(minuteMs - (this.serviceNow() % minuteMs) + edgeMs);
  }

  /** Returns the result of the scenario `play`, which is played once. */
  once<T>(name: string, play: () => Promise<T>): Promise<T> {
    const known = this.#played.get(name);
    if (known !== undefined) return known as Promise<T>;
    const played = play();
    this.#played.set(name, played);
    // A lost answer is judged by one rule: the next rule plays the scenario again.
    played.catch((error: unknown) => {
      if (!(error instanceof Unable)) this.#played.delete(name);
    });
    return played;
  }

  #sending({ as = this.roles.main, within, path, fault }: How): Sending {
    const key = as === "no key" ? undefined : as;
    const name = key === undefined || fault === undefined ? key?.name : wire.faultyName(key.name, fault);
    return { key: name, uid: key?.uid, within, path };
  }
}

/** The key, which the runner has made sure of. */
export const need = <T>(key: T | undefined): T => {
  if (key === undefined) throw new Unable("a key is missing");
  return key;
};
