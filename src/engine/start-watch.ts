/**
 * Start watch: reports what a start is waiting for: a service that does not answer, quota, a rate limit.
 *
 * If the answer to a read is lost, the read is given up sooner than otherwise, so that a standby need not wait for it.
 * Each time it is given up later, because the connection may be slow.
 *
 * Invariants: each reason is reported as soon as it is known and repeated at intervals, only while the engine starts; a
 * wrong address fails the start, at once or with the third such answer in a row; a rate limit never does, as the next
 * window brings new quota.
 * Not here: reading (initial-sync.ts), how long a start may take without a rate limit (there too).
 */
import { type Observable, ReplaySubject, takeUntil } from "rxjs";
import type { Clock, Timer } from "../clock/clock.ts";
import { limitedStatus } from "../contract/limits.ts";
import {
  type Interceptor,
  observing,
  type ResponseSink,
  type WireRequest,
  type WireResponse,
} from "../contract/transport.ts";
import { SluiceError } from "../errors.ts";
import type { EventLog } from "../journal/event-log.ts";

export interface StartWatch {
  readonly interceptor: Interceptor;
  begin(): void;
  end(): void;
  /** Returns the source, with an error if the service cannot be at its address. */
  readonly guard: <T>(source$: Observable<T>) => Observable<T>;
  /** Instant at which a rate limit last refused, or at which the engine last waited for quota. */
  readonly limitedAt: () => number;
}

interface StartWatchOptions {
  readonly clock: Clock;
  readonly journal: EventLog;
  /** Address of the service; undefined where it has none. */
  readonly baseUrl: string | undefined;
}

/** Time after which a reason is reported again. */
const againMs = 15_000;
/** Time without an answer after which a request is reported. */
const silentMs = 3_000;
/** Time after which a read is given up; then twice as long, then the transport decides. */
const patienceMsLeast = 3_000;
const patienceMsMost = 6_000;
/** Shorter waits for quota are not reported. */
const waitMsLeast = 2_000;

/**
 * Errors that waiting does not cure: no such host, or a host that is another one by its certificate or protocol.
 */
const wrongHost = /^(ENOTFOUND|EPROTO|ERR_TLS_.*|CERT_.*|DEPTH_ZERO_.*|SELF_SIGNED_.*|UNABLE_TO_.*|HPE_.*)$/;
const wrongPath: readonly number[] = [301, 302, 307, 308, 404, 410];
/** A proxy that is being restarted may give such answers too, but not repeatedly. */
const wrongPathsMax = 3;

/** Code and text of an answer that is no success; empty for a success and for an answer that is not the service's. */
const refusalIn = (body: unknown): string => {
  if (body === null || typeof body !== "object") return "";
  const { code, msg } = body as { readonly code?: unknown; readonly msg?: unknown };
  if ((typeof code !== "string" && typeof code !== "number") || String(code) === "0") return "";
  return `${String(code).slice(0, 40)} ${typeof msg === "string" ? msg.slice(0, 200) : ""}`.trim();
};

export const createStartWatch = (options: StartWatchOptions): StartWatch => new RequestsOfStart(options);

/** Watches the requests that leave while the engine starts. */
class RequestsOfStart implements StartWatch {
  readonly #clock: Clock;
  readonly #journal: EventLog;
  readonly #baseUrl: string | undefined;
  /** Display name of the service. */
  readonly #place: string;
  readonly #failed$ = new ReplaySubject<never>(1);
  /** Instant at which a reason of each kind was last reported. */
  readonly #reportedAt = new Map<string, number>();
  #isOn = false;
  #patienceMs = patienceMsLeast;
  #wrongPaths = 0;
  #limitedAt = Number.NEGATIVE_INFINITY;
  #timer: Timer | undefined;

  constructor({ clock, journal, baseUrl }: StartWatchOptions) {
    this.#clock = clock;
    this.#journal = journal;
    this.#baseUrl = baseUrl;
    this.#place = baseUrl ?? "the service";
    journal.on(["action.held"], ({ until }) => {
      this.#held(until);
    });
  }

  readonly limitedAt = (): number => this.#limitedAt;

  // Ends with its source: an engine that is stopped while it starts reads nothing any more.
  readonly guard = <T>(source$: Observable<T>): Observable<T> => source$.pipe(takeUntil(this.#failed$));

  readonly interceptor: Interceptor = (next) => (request, sink) => {
    next(request, this.#isOn ? this.#observed(request, sink) : sink);
  };

  begin(): void {
    this.#isOn = true;
    if (this.#baseUrl === undefined) return;
    this.#timer = this.#clock.setTimer(this.#clock.now() + silentMs, () => {
      this.#report("silent", `${this.#place} has not answered for ${silentMs / 1_000} s`);
    });
  }

  end(): void {
    this.#isOn = false;
    this.#timer?.cancel();
  }

  #observed(request: WireRequest, sink: ResponseSink): ResponseSink {
    const onResponse = (response: WireResponse): void => {
      if (this.#isOn && !sink.closed) this.#answered(request, response);
    };
    const onFailed = (error: unknown): void => {
      if (this.#isOn && !sink.closed) this.#lost(error);
    };
    const isImpatient = request.method === "GET" && this.#patienceMs <= patienceMsMost;
    return observing(isImpatient ? this.#impatient(request, sink) : sink, onResponse, onFailed);
  }

  #impatient({ endpoint }: WireRequest, sink: ResponseSink): ResponseSink {
    const ms = this.#patienceMs;
    let isOver = false;
    const timer = this.#clock.setTimer(this.#clock.now() + ms, () => {
      if (!this.#isOn || isOver) return;
      isOver = true;
      // Reads that wait side by side count once.
      if (this.#patienceMs === ms) this.#patienceMs = 2 * ms;
      sink.failed(
        new SluiceError("OUTCOME_UNKNOWN", `${endpoint}: no answer within ${ms} ms, while the engine starts.`),
      );
    });
    const once = (tell: () => void): void => {
      if (isOver) return;
      isOver = true;
      timer.cancel();
      tell();
    };
    return {
      response: (response) => once(() => sink.response(response)),
      failed: (error) => once(() => sink.failed(error)),
      get closed() {
        return isOver || sink.closed;
      },
    };
  }

  #report(kind: string, reason: string): void {
    const now = this.#clock.now();
    if (!this.#isOn || now - (this.#reportedAt.get(kind) ?? Number.NEGATIVE_INFINITY) < againMs) return;
    this.#reportedAt.set(kind, now);
    this.#journal.append({ type: "start.waiting", reason });
  }

  #fail(why: string): void {
    this.#failed$.error(
      new SluiceError("ENGINE_STATE", `The engine cannot start: ${why} Check the service's baseUrl in the config.`),
    );
  }

  #held(until: number): void {
    if (!this.#isOn) return;
    const ms = until - this.#clock.now();
    if (ms < waitMsLeast) return;
    this.#limitedAt = this.#clock.now();
    this.#report("held", Number.isFinite(ms) ? `waiting for quota: ${Math.ceil(ms / 1_000)} s` : "waiting for quota");
  }

  #answered({ method, path }: WireRequest, { status, body }: WireResponse): void {
    this.#timer?.cancel();
    this.#wrongPaths = wrongPath.includes(status) ? this.#wrongPaths + 1 : 0;
    const place = this.#place;
    if (status === limitedStatus) {
      this.#limitedAt = this.#clock.now();
      this.#report("limited", "a rate limit refuses (429): other clients use this quota; waiting for the next window");
    } else if (this.#baseUrl !== undefined && this.#wrongPaths > 0) {
      if (this.#wrongPaths >= wrongPathsMax) this.#fail(`${place} has no such path (${status} for ${method} ${path}).`);
      else
        this.#report(
          "path",
          `${place} has no such path (${status} for ${method} ${path}): is the service's baseUrl right?`,
        );
    } else if (refusalIn(body) !== "")
      this.#report("refused", `the service refuses ${method} ${path}: ${refusalIn(body)}`);
  }

  #lost(error: unknown): void {
    this.#timer?.cancel();
    const [, code = "no answer"] = /\(([A-Z][A-Z0-9_]+)\)/.exec(error instanceof Error ? error.message : "") ?? [];
    if (this.#baseUrl !== undefined && wrongHost.test(code)) this.#fail(`${this.#place} cannot be reached (${code}).`);
    else this.#report("lost", `${this.#place} does not answer (${code})`);
  }
}
