/**
 * Client of the doctor: asks slowly, within a budget, and records what each call cost by the service's own count.
 *
 * Invariants: never more weight than the budget; well below every limit that the answers report; a read without an
 * answer, or refused by a limit, is repeated once at most; nothing here throws.
 * Not here: what to ask (probes), what answers mean (findings).
 */
import { type EndpointName, type InputOf, wire } from "sluice/dialect";
import { messageOf } from "sluice/extension";
import { minuteMs, ProbeClient, type ProbeClientOptions } from "../probe/probe-client.ts";
import type { Reply } from "../probe/reply.ts";
import { type Answer, answerOf, unanswered } from "./answer.ts";
import type { Call, Sample } from "./spending.ts";
import type { Mark } from "./windows.ts";

interface AskOptions {
  /** False sends the request without a key. */
  readonly signed?: boolean;
  /** Sends it with one part of the credentials wrong. */
  readonly fault?: wire.KeyFault;
}

interface DoctorClientOptions extends ProbeClientOptions {
  /** The key for a call, by name; undefined where no key may make it. */
  readonly keyFor: (endpoint: EndpointName) => string | undefined;
  readonly weightMax: number;
}

const paceMs = 150;
const retryMs = 1_000;
/** Questions in a row without an answer, after which a service is left alone. */
const silenceMax = 3;

const endingOf = (answer: Answer): Call["ending"] =>
  answer.kind === "unanswered" ? "unanswered" : answer.ok ? "done" : "failed";

export class DoctorClient extends ProbeClient {
  readonly #keyFor: DoctorClientOptions["keyFor"];
  readonly #weightMax: number;
  readonly samples: Sample[] = [];
  readonly calls: Call[] = [];
  readonly marks: Mark[] = [];
  /** The service's calendar as reported by the latest answer. */
  stamp: { readonly at: number; readonly dateAt: number } | undefined;
  /** Product named with an order that is requested. */
  product: string | undefined;
  #spent = 0;
  #silence = 0;
  #sentAt = Number.NEGATIVE_INFINITY;
  #counters: Reply["counters"] | undefined;
  /** Calls since the count of used weight was last reported. */
  #since: Call[] = [];

  constructor({ keyFor, weightMax, ...options }: DoctorClientOptions) {
    super(options);
    this.#keyFor = keyFor;
    this.#weightMax = weightMax;
  }

  get spent(): number {
    return this.#spent;
  }

  async ask<E extends EndpointName>(endpoint: E, input: InputOf<E>, options: AskOptions = {}): Promise<Answer> {
    const sent = this.calls.length;
    const first = await this.#attempt(endpoint, input, options);
    const isSent = this.calls.length > sent;
    // A request that was never sent is not repeated, nor one that could be executed twice.
    const again =
      isSent && first.kind === "unanswered" && (first.limited || this.contract.endpoints[endpoint].repeat === "safe");
    if (again) await this.wait(first.limited ? minuteMs + retryMs : retryMs);
    const answer = again ? await this.#attempt(endpoint, input, options) : first;
    if (isSent) this.#silence = answer.kind === "unanswered" ? this.#silence + 1 : 0;
    return answer;
  }

  async #attempt(endpoint: EndpointName, input: unknown, { signed = true, fault }: AskOptions): Promise<Answer> {
    const weight = signed ? this.contract.endpoints[endpoint].weight : 0;
    const name = signed ? this.#keyFor(endpoint) : undefined;
    const key = name === undefined || fault === undefined ? name : wire.faultyName(name, fault);
    const why =
      signed && key === undefined ? `${endpoint}: no key of this user may make this call` : this.#bar(endpoint, weight);
    if (why !== undefined) return unanswered(why);
    const ms = this.#pauseFor(weight);
    await this.wait(ms);
    // A new minute is counted afresh; the old numbers would only make every further call wait.
    if (ms >= minuteMs) this.#counters = undefined;
    const answer = await this.#exchange(endpoint, input, key);
    // A request with refused credentials is charged to no user.
    const refused = answer.kind === "answered" && answer.status === 401;
    this.#spent += refused ? 0 : Math.max(weight, this.#measured());
    return answer;
  }

  /** Returns the reason for which the call is not made; undefined if it may be made. */
  #bar(endpoint: EndpointName, weight: number): string | undefined {
    if (this.insisting) return undefined;
    if (this.stop.aborted) return `${endpoint}: stopped before it was asked`;
    if (this.#silence >= silenceMax)
      return `${endpoint}: not asked, as the ${silenceMax} questions before got no answer`;
    if (this.#spent + weight <= this.#weightMax) return undefined;
    return `${endpoint}: not asked, as the ${this.#weightMax} weight an examination may use would be exceeded`;
  }

  /**
   * Pause until the layers have room for another call, with room left for other clients of the user and the address.
   */
  #pauseFor(weight: number): number {
    const { ip, key, uid } = this.contract.layers;
    const { ipRemaining = ip.capacity, keyRemaining = key.capacity, uidUsed = 0 } = this.#counters ?? {};
    if (uidUsed + weight > uid.capacity * 0.8 || ipRemaining < ip.capacity * 0.05) return minuteMs + retryMs;
    return this.#sentAt + (keyRemaining < 3 ? retryMs : paceMs) - this.clock.now();
  }

  async #exchange(endpoint: EndpointName, input: unknown, key: string | undefined): Promise<Answer> {
    this.#sentAt = this.clock.now();
    const hinted =
      endpoint === "getOrder" && this.product !== undefined ? { instId: this.product, ...(input as object) } : input;
    const answer = await this.send(endpoint, hinted, { key, uid: key === undefined ? undefined : "user" }).then(
      (reply) => answerOf(reply),
      // Reasons are parts of sentences.
      (error: unknown) => unanswered(messageOf(error).replace(/\.$/, "")),
    );
    const call: Call = { endpoint, signed: key !== undefined, ending: endingOf(answer), at: this.clock.now() };
    this.calls.push(call);
    this.#since.push(call);
    if (answer.kind === "answered")
      this.#noteMark(answer, key === undefined ? 0 : this.contract.endpoints[endpoint].weight);
    return answer;
  }

  #noteMark({ counters, dateAt, receivedAt }: Reply, weight: number): void {
    this.#counters = counters;
    if (dateAt !== undefined) this.stamp = { at: receivedAt, dateAt };
    if (counters.uidUsed === undefined) return;
    const minute = dateAt === undefined ? undefined : Math.floor(dateAt / minuteMs);
    const last = this.marks.at(-1);
    if (last !== undefined) {
      const delta = counters.uidUsed - last.used;
      this.samples.push({ calls: this.#since, delta, turned: delta < 0 || minute !== last.minute });
    }
    this.marks.push({ at: receivedAt, minute, used: counters.uidUsed, weight });
    this.#since = [];
  }

  /** Returns the weight of the last call if the service's count covers that call alone; otherwise 0. */
  #measured(): number {
    const sample = this.samples.at(-1);
    return this.#since.length > 0 || sample === undefined || sample.turned || sample.calls.length !== 1
      ? 0
      : sample.delta;
  }
}
