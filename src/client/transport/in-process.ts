/**
 * In-process transport: calls a handler after the latency to the service and delivers its answer after the latency
 * back, on the clock.
 *
 * Invariants: the handler runs at the instant the request would arrive; an answer is delivered once; a handler that
 * returns undefined has dropped the request, which then fails like a lost connection after `timeoutMs`.
 */
import type { Clock } from "../../clock/clock.ts";
import type { Transport, WireRequest, WireResponse } from "../../contract/transport.ts";
import { SluiceError } from "../../errors.ts";

/** Milliseconds of the way to the service and back, drawn once per request or message. */
export interface Latency {
  readonly name: string;
  entryMs(): number;
  responseMs(): number;
  /** From the market's event to the strategy's eyes. */
  feedMs(): number;
  /** Both ways of one call, where they are drawn together; otherwise `entryMs` and `responseMs` are. */
  readonly trip?: () => { readonly entryMs: number; readonly responseMs: number };
}

interface InProcessOptions {
  readonly clock: Clock;
  readonly latency: Latency;
  readonly timeoutMs: number;
  readonly handle: (request: WireRequest, at: number, sentAt: number) => WireResponse | undefined;
}

export const inProcess =
  ({ clock, latency, timeoutMs, handle }: InProcessOptions): Transport =>
  (request, sink) => {
    const sentAt = clock.now();
    const trip = latency.trip?.();
    clock.setTimer(sentAt + (trip?.entryMs ?? latency.entryMs()), () => {
      const arrivedAt = clock.now();
      const response = handle(request, arrivedAt, sentAt);
      const answerAt =
        response === undefined ? sentAt + timeoutMs : arrivedAt + (trip?.responseMs ?? latency.responseMs());
      clock.setTimer(answerAt, () => {
        if (response !== undefined && answerAt - sentAt <= timeoutMs) sink.response(response);
        else sink.failed(new SluiceError("OUTCOME_UNKNOWN", `${request.endpoint}: no answer within ${timeoutMs} ms.`));
      });
    });
  };
