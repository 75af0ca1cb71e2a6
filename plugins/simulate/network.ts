/**
 * Network between a simulated process and the service, with the faults of requests and answers.
 *
 * Invariants: a request that was sent arrives or is lost, independent of its sender; an answer reaches only the process
 * that asked; a fault meets one request and is used up, except an outage, which affects all matching requests until it
 * ends; after `timeoutMs` on the sender's clock an answer is too late.
 * Not here: pushes (pushes.ts), the faults (fault.ts).
 */

import { SluiceError } from "sluice";
import type { WireRequest, WireResponse } from "sluice/dialect";
import type { Latency, ResponseSink, Timer, Transport, VirtualClock } from "sluice/extension";
import {
  aimOf,
  type Fault,
  type FaultKind,
  type OtherForm,
  otherFormOf,
  outageAimOf,
  outageMannerOf,
} from "./fault.ts";
import type { ProcessClock } from "./process-clock.ts";

export interface Sender {
  readonly clock: ProcessClock;
  /** Called when a request is about to leave. Returns false if it does not leave, because its process has died. */
  sent(request: WireRequest): boolean;
  /** Called before an answer is delivered. */
  heard(request: WireRequest, response: WireResponse): void;
  unheard(request: WireRequest): void;
}

interface NetworkOptions {
  readonly time: VirtualClock;
  readonly latency: Latency;
  readonly timeoutMs: number;
  readonly unavailableCode: string;
  /** Returns the date headers of the service's answers. */
  readonly date: () => WireResponse["headers"];
  /** The service itself. `uncalled`: the client that counts its requests does not know of this one, or not any more. */
  readonly handle: (request: WireRequest, uncalled: boolean) => WireResponse;
  readonly mark: (name: string) => void;
  /** The sender's pushes are lost for a while. */
  readonly hush: (request: WireRequest) => void;
  /** The market fills a part of an order that a request is about. */
  readonly fillPart: (request: WireRequest) => void;
}

export const networkKinds: readonly FaultKind[] = [
  "drop-request",
  "drop-answer",
  "delay-request",
  "delay-answer",
  "double-answer",
  "double-request",
  "error-after",
  "error-before",
  "not-json",
  "other-answer",
  "timed-out",
  "busy",
  "broken-record",
  "no-data",
  "strange-order",
  "outage",
  "partial-fill",
];

interface Timed {
  readonly fault: Fault;
  readonly until: number;
}

/** Time after which a fault without a matching request ends; some calls are minutes apart. */
const armedMs = 300_000;
const listings: readonly string[] = ["pendingOrders", "orderHistory"];

const fits = (fault: Fault, { endpoint }: WireRequest): boolean => {
  if (fault.kind === "double-request") return endpoint !== "placeOrder";
  if (fault.kind === "partial-fill") return endpoint === (fault.pick % 2 === 0 ? "cancelBatch" : "placeOrder");
  if (fault.kind === "broken-record") return listings.includes(endpoint);
  const aim = aimOf(fault);
  return aim === "any" || aim === endpoint;
};

const isOut = (fault: Fault, { endpoint, method }: WireRequest): boolean => {
  const aim = outageAimOf(fault);
  if (aim === "every request") return true;
  return aim === "every read" ? method === "GET" : endpoint === "getOrder";
};

export class Network {
  readonly #options: NetworkOptions;
  #armed: Timed[] = [];
  #outages: Timed[] = [];
  #strange = false;
  #calmed = false;

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  /** Arms the fault: it affects the next request that matches. */
  arm(fault: Fault): void {
    const now = this.#options.time.now();
    if (this.#calmed) return;
    if (fault.kind === "strange-order") this.#strange = true;
    else if (fault.kind === "outage") this.#outages.push({ fault, until: now + fault.forMs });
    else this.#armed.push({ fault, until: now + armedMs });
  }

  /** No fault any more, nor one that is armed from now on. */
  calm(): void {
    this.#calmed = true;
    this.#armed = [];
    this.#outages = [];
  }

  /** Returns the connection of one process; after `close` it sends nothing and receives no answer. */
  join(sender: Sender): { readonly send: Transport; close(): void } {
    const deadlines = new Set<Timer>();
    let closed = false;
    return {
      send: (request, sink) => {
        if (!closed && sender.clock.alive) this.#carry(sender, request, sink, deadlines);
      },
      close: () => {
        closed = true;
        for (const deadline of deadlines) deadline.cancel();
        deadlines.clear();
      },
    };
  }

  #carry(sender: Sender, request: WireRequest, sink: ResponseSink, deadlines: Set<Timer>): void {
    const { time, latency, timeoutMs } = this.#options;
    const fault = this.#take(request);
    if (!sender.sent(request)) return;
    const deadline = sender.clock.setTimer(sender.clock.now() + timeoutMs, () => {
      deadlines.delete(deadline);
      sender.unheard(request);
      sink.failed(new SluiceError("OUTCOME_UNKNOWN", `${request.endpoint}: no answer within ${timeoutMs} ms.`));
    });
    deadlines.add(deadline);
    const deliver = (response: WireResponse): void => {
      sender.clock.deliver(() => {
        if (!deadlines.delete(deadline)) return;
        deadline.cancel();
        sender.heard(request, response);
        if (!sender.clock.alive) return;
        sink.response(response);
        if (fault?.kind === "double-answer") sink.response(response);
      });
    };
    const entryMs = latency.entryMs() + (fault?.kind === "delay-request" ? fault.size : 0);
    const backMs = latency.responseMs() + (fault?.kind === "delay-answer" ? fault.size : 0);
    time.setTimer(time.now() + entryMs, () => {
      const response = this.#arrive(sender, request, fault, entryMs > timeoutMs);
      if (response !== undefined) time.setTimer(time.now() + backMs, () => deliver(response));
    });
  }

  /** The request reaches the service; what comes back, or undefined when nothing does. */
  #arrive(sender: Sender, request: WireRequest, fault: Fault | undefined, late: boolean): WireResponse | undefined {
    const { mark } = this.#options;
    if (request.endpoint === "placeOrder") {
      if (late) mark("a placement was executed after its sender gave up");
      if (!sender.clock.alive) mark("a dead process's placement was executed");
      if (fault?.kind === "drop-answer") mark("an answer lost after a placement was executed");
    }
    const served = this.#serve(request, fault, late || !sender.clock.alive);
    const response = this.#strange && listings.includes(request.endpoint) ? withStrange(served) : served;
    if (response !== served) mark(`strange-order met ${request.endpoint}`);
    return fault?.kind === "drop-answer" ? undefined : response;
  }

  #take(request: WireRequest): Fault | undefined {
    const { time, mark } = this.#options;
    const now = time.now();
    this.#outages = this.#outages.filter(({ until }) => until > now);
    const outage = this.#outages.find(({ fault }) => isOut(fault, request))?.fault;
    if (outage !== undefined) {
      mark(`outage met ${request.endpoint}`);
      return { ...outage, kind: outageMannerOf(outage) };
    }
    if (this.#armed.length === 0) return undefined;
    this.#armed = this.#armed.filter(({ until }) => until > now);
    const index = this.#armed.findIndex(({ fault }) => fits(fault, request));
    const [hit] = index < 0 ? [] : this.#armed.splice(index, 1);
    if (hit !== undefined) mark(`${hit.fault.kind} met ${request.endpoint}`);
    return hit?.fault;
  }

  #serve(request: WireRequest, fault: Fault | undefined, late: boolean): WireResponse | undefined {
    const { handle, date, unavailableCode, fillPart, hush } = this.#options;
    const kind = fault?.kind;
    if (kind === "drop-request") return undefined;
    if (kind === "error-before") return { status: 503, headers: {}, body: undefined };
    if (kind === "busy")
      return { status: 200, headers: date(), body: { code: unavailableCode, msg: "Busy", data: [] } };
    if (kind === "double-request") handle(request, true);
    if (kind !== "partial-fill") return spoil(fault, handle(request, late), unavailableCode);
    if (request.endpoint === "cancelBatch") {
      fillPart(request);
      return handle(request, late);
    }
    // Pushed, it would be known at once.
    hush(request);
    handle(request, late);
    fillPart(request);
    return undefined;
  }
}

const resultOf = (sCode: string, sMsg: string): Pick<WireResponse, "status" | "body"> => ({
  status: 200,
  body: { code: "1", msg: "", data: [{ ordId: "", clOrdId: "", sCode, sMsg }] },
});

/** Bodies and statuses of answers that are not the service's own. */
const otherAnswers = (unavailableCode: string): Readonly<Record<OtherForm, Pick<WireResponse, "status" | "body">>> => ({
  "a page with status 400": { status: 400, body: undefined },
  "a page with status 403": { status: 403, body: undefined },
  "a page with status 404": { status: 404, body: undefined },
  "nothing with status 401": { status: 401, body: undefined },
  "nothing with status 499": { status: 499, body: undefined },
  "a proxy's JSON with status 403": { status: 403, body: { message: "Forbidden" } },
  "not found in JSON with status 404": { status: 404, body: { code: 404, msg: "Not Found" } },
  "too early in JSON with status 425": { status: 425, body: { code: "425", msg: "Too Early" } },
  "a time-out in an empty envelope": { status: 200, body: { code: "1", msg: "timeout", data: [] } },
  "unavailable as the result of an element": resultOf(unavailableCode, "Busy"),
  "a code on no list": { status: 200, body: { code: "59999", msg: "Try again.", data: [] } },
  "a code on no list as the result of an element": resultOf("59999", "Try again."),
});

/** Changes of an answer by kind of fault; `date` holds the date headers for the page of a proxy. */
const spoilers: Partial<
  Record<FaultKind, (response: WireResponse, date: WireResponse["headers"], pick: number) => WireResponse>
> = {
  "error-after": (_, headers) => ({ status: 502, headers, body: undefined }),
  "timed-out": (_, headers) => ({ status: 408, headers, body: undefined }),
  "not-json": (response) => ({ ...response, body: undefined }),
  "no-data": (response) => ({ ...response, body: { ...(response.body as object), data: null } }),
  "broken-record": (response, _, pick) => ({ ...response, body: withoutState(response.body, pick) }),
};

const spoil = (fault: Fault | undefined, response: WireResponse, unavailableCode: string): WireResponse => {
  if (fault === undefined) return response;
  if (fault.kind === "other-answer") {
    const other = otherAnswers(unavailableCode)[otherFormOf(fault)];
    return { ...other, headers: other.status === 200 ? response.headers : {} };
  }
  const date = response.headers["date"];
  const headers: WireResponse["headers"] = date === undefined || fault.pick % 2 === 0 ? {} : { date };
  return spoilers[fault.kind]?.(response, headers, fault.pick) ?? response;
};

/** The listing with an order of another program in front that no reader of four states can read. */
const withStrange = (response: WireResponse | undefined): WireResponse | undefined => {
  const { data, ...rest } = (response?.body ?? {}) as { readonly data?: unknown };
  if (response === undefined || !Array.isArray(data)) return response;
  return {
    ...response,
    body: { ...rest, data: [{ ordId: "1", clOrdId: "other1", state: "untriggered" }, ...(data as unknown[])] },
  };
};

const withoutState = (body: unknown, pick: number): unknown => {
  const { data } = body as { readonly data?: unknown };
  if (!Array.isArray(data) || data.length === 0) return body;
  const at = pick % data.length;
  return {
    ...(body as object),
    data: data.map((record: Readonly<Record<string, unknown>>, index) => {
      const { state: _, ...rest } = record;
      return index === at ? rest : record;
    }),
  };
};
