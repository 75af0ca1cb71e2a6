/**
 * Faults of a test between the engine and the embedded service: rejected placements, requests and answers that
 * are lost.
 *
 * Invariants: a rejected placement still counts at the service's rate limits; a lost one fails as a lost connection
 * does, after the timeout; calls without a fault pass unchanged.
 */
import type { Clock } from "../../clock/clock.ts";
import type { EndpointName } from "../../contract/endpoints.ts";
import { limitedStatus } from "../../contract/limits.ts";
import type { Profile } from "../../contract/profile.ts";
import type { ResponseSink, Transport, WireRequest } from "../../contract/transport.ts";
import { SluiceError } from "../../errors.ts";

interface Rejection {
  readonly slot: string;
  readonly code: string;
  readonly msg: string;
}

type LossKind = "request" | "answer";

interface Loss {
  readonly kind: LossKind;
  readonly endpoint: EndpointName;
}

export class AnswerFaults {
  readonly #profile: Profile;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  /** The slot that an order was placed for, by client order id. */
  readonly #slotOf: (clOrdId: string) => string | undefined;
  readonly #rejections: Rejection[] = [];
  readonly #losses: Loss[] = [];

  constructor(profile: Profile, clock: Clock, timeoutMs: number, slotOf: (clOrdId: string) => string | undefined) {
    this.#profile = profile;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#slotOf = slotOf;
  }

  reject(slot: string, code: string = this.#profile.answers.fundsCode, msg = "Rejected by the test."): void {
    this.#rejections.push({ slot, code, msg });
  }

  lose(kind: LossKind, endpoint: EndpointName): void {
    this.#losses.push({ kind, endpoint });
  }

  readonly interceptor =
    (next: Transport): Transport =>
    (request, sink) => {
      const loss = this.#take(this.#losses, ({ endpoint }) => endpoint === request.endpoint);
      if (loss !== undefined) {
        this.#lost(loss.kind, request, sink, next);
        return;
      }
      const slot =
        request.endpoint === "placeOrder"
          ? this.#slotOf((request.body as { readonly clOrdId: string }).clOrdId)
          : undefined;
      const rejection = slot === undefined ? undefined : this.#take(this.#rejections, (one) => one.slot === slot);
      if (rejection === undefined) next(request, sink);
      else this.#rejected(rejection, request, sink, next);
    };

  /** Removes and returns the first that fits. */
  #take<T>(from: T[], fits: (one: T) => boolean): T | undefined {
    const index = from.findIndex(fits);
    return index < 0 ? undefined : from.splice(index, 1)[0];
  }

  #lost(kind: LossKind, request: WireRequest, sink: ResponseSink, next: Transport): void {
    if (kind === "answer") next(request, { response: () => undefined, failed: () => undefined, closed: false });
    this.#clock.setTimer(this.#clock.now() + this.#timeoutMs, () => {
      sink.failed(new SluiceError("OUTCOME_UNKNOWN", `${request.endpoint}: no answer within ${this.#timeoutMs} ms.`));
    });
  }

  #rejected({ code, msg }: Rejection, request: WireRequest, sink: ResponseSink, next: Transport): void {
    // An order of no size is refused by the service itself, which counts the call; only the words are replaced.
    const refused: WireRequest = { ...request, body: { ...(request.body as object), sz: "0" } };
    const { orderErrorStatus } = this.#profile.answers;
    next(refused, {
      response: ({ status, headers, body }) => {
        const words =
          status === limitedStatus ? { status, body } : { status: orderErrorStatus, body: { code, msg, data: [] } };
        sink.response({ ...words, headers });
      },
      failed: (error) => {
        sink.failed(error);
      },
      get closed() {
        return sink.closed;
      },
    });
  }
}
