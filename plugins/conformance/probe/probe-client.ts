/**
 * Client of the conformance suite and the doctor: sends one request at a time, within the limits, and reads each
 * response as it came.
 *
 * Invariants: every request is counted and kept within the layers named; a wait ends at once when the stop signal is
 * given, except during the clean-up.
 * Not here: the questions and the meaning of replies (conformance/, doctor/), the transport (given by the caller).
 */

import { firstValueFrom, fromEvent, merge, take } from "rxjs";
import type { Contract, Dialect, EndpointName, WireRequest, WireResponse, wire } from "sluice/dialect";
import { after, type Clock } from "sluice/extension";
import { joinedReply } from "./joined-reply.ts";
import { type Charge, Pacing } from "./pacing.ts";
import { type Reply, replyOf } from "./reply.ts";

export interface ProbeClientOptions {
  readonly contract: Contract;
  readonly clock: Clock;
  readonly transport: wire.Transport;
  readonly stop: AbortSignal;
  /** Every read is one request when left out. */
  readonly split?: NonNullable<Dialect["split"]> | undefined;
}

/** Whose quota a request uses, and how it differs from its endpoint's own form. */
export interface Sending {
  /** The key's name as the transport knows it; none leaves the request unsigned. */
  readonly key?: string | undefined;
  readonly uid?: string | undefined;
  /** Layers to keep within; all of them when left out. */
  readonly within?: readonly wire.LayerName[] | undefined;
  readonly path?: string | undefined;
}

export const minuteMs = 60_000;
const everyLayer: readonly wire.LayerName[] = ["ip", "key", "uid"];
/** All requests of one run come from one address. */
const address = "here";

export class ProbeClient {
  readonly contract: Contract;
  readonly clock: Clock;
  readonly stop: AbortSignal;
  readonly pacing: Pacing;
  readonly #split: NonNullable<Dialect["split"]> | undefined;
  #transport: wire.Transport;
  #insisting = false;

  constructor({ contract, clock, transport, stop, split }: ProbeClientOptions) {
    this.#split = split;
    this.contract = contract;
    this.clock = clock;
    this.stop = stop;
    this.#transport = transport;
    this.pacing = new Pacing(contract.layers, contract.profile.limits.extraLayers);
  }

  /** The stop signal was given, and cleaning up has not begun. */
  get stopped(): boolean {
    return this.stop.aborted && !this.#insisting;
  }

  get insisting(): boolean {
    return this.#insisting;
  }

  /** Makes later waits uninterruptible, for the clean-up. */
  insist(): void {
    this.#insisting = true;
  }

  /** Another way to the same service. */
  through(transport: wire.Transport): void {
    this.#transport = transport;
  }

  /** Ends early when the stop signal is given. */
  async wait(ms: number): Promise<void> {
    if (ms <= 0 || this.stopped) return;
    const over$ = after(this.clock, ms);
    await firstValueFrom(this.#insisting ? over$ : merge(over$, fromEvent(this.stop, "abort")).pipe(take(1)));
  }

  charge(endpoint: EndpointName | undefined, { key, uid }: Sending, weight: number, elements = 1): Charge {
    return { ip: address, key, uid, weight, elements, ...(endpoint !== undefined && { endpoint }) };
  }

  /**
   * Rejects when no response was read. A read in parts is one reply: that of the whole, or of the first part that
   * failed.
   */
  async send(name: EndpointName, input: unknown, sending: Sending): Promise<Reply> {
    const reads = this.contract.endpoints[name].method === "GET";
    const parts = reads ? (this.#split?.(name, input as Readonly<Record<string, unknown>>) ?? [input]) : [input];
    const replies: Reply[] = [];
    for (const part of parts) replies.push(await this.#sendOne(name, part, sending));
    const [first] = replies as [Reply];
    return replies.length === 1
      ? first
      : joinedReply(first.endpoint, input as Readonly<Record<string, unknown>>, replies);
  }

  async #sendOne(name: EndpointName, input: unknown, { key, uid, within = everyLayer, path }: Sending): Promise<Reply> {
    const endpoint: wire.Endpoint = this.contract.endpoints[name];
    const reads = endpoint.method === "GET";
    const query = reads ? (input as Readonly<Record<string, string>>) : {};
    const request: WireRequest = {
      endpoint: name,
      method: endpoint.method,
      path: path ?? endpoint.path,
      query,
      body: reads ? undefined : input,
      key,
    };
    const elements = Array.isArray(input) ? input.length : 0;
    const weight =
      endpoint.weight + (name === "cancelBatch" ? elements * this.contract.profile.weights.perCancelElement : 0);
    const charge = this.charge(name, { key, uid }, weight, Math.max(1, elements));
    await this.#pace(charge, within);
    const sentAt = this.clock.now();
    const answered = this.pacing.count(charge, sentAt);
    try {
      const response = await new Promise<WireResponse>((resolve, reject) => {
        this.#transport(request, { response: resolve, failed: reject, closed: false });
      });
      return replyOf(request, response, sentAt, this.clock.now());
    } finally {
      answered(this.clock.now());
    }
  }

  async #pace(charge: Charge, within: readonly wire.LayerName[]): Promise<void> {
    for (
      let at = this.#fitsAt(charge, within);
      at > this.clock.now() && !this.stopped;
      at = this.#fitsAt(charge, within)
    ) {
      await this.wait(at - this.clock.now());
    }
  }

  #fitsAt(charge: Charge, within: readonly wire.LayerName[]): number {
    return this.pacing.fitsAt(charge, within, this.clock.now());
  }
}
