/** Transports and their answers as streams, for tests that say more with operators than with callbacks. */
import { Observable } from "rxjs";
import type { Transport, WireRequest, WireResponse } from "../../src/contract/transport.ts";

/** A transport that answers with what a stream emits. */
export const streamed =
  (source: (request: WireRequest) => Observable<WireResponse>): Transport =>
  (request, sink) => {
    source(request).subscribe({
      next: (response) => {
        sink.response(response);
      },
      error: (error: unknown) => {
        sink.failed(error);
      },
    });
  };

/** One request with each subscription; it ends with the first word, and is deaf once it was unsubscribed. */
export const responsesOf = (transport: Transport, request: WireRequest): Observable<WireResponse> =>
  new Observable((subscriber) => {
    transport(request, {
      response: (response) => {
        subscriber.next(response);
        subscriber.complete();
      },
      failed: (error) => {
        subscriber.error(error);
      },
      get closed() {
        return subscriber.closed;
      },
    });
  });
