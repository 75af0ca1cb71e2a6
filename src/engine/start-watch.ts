/**
 * Start watch: reports what a start waits for: a service that does not answer, quota, a rate limit.
 *
 * Invariants: each reason is reported as soon as it is known and again now and then, only while the engine starts; an address at which
 * the service cannot be ends the start, at once or with the third such answer in a row; a rate limit never does, as the next window brings new quota.
 * Not here: reading (initial-sync.ts), how long a start may take without a rate limit (there too).
 */
import { type Observable, ReplaySubject, takeUntil } from "rxjs";
import type { Clock, Timer } from "../clock/clock.ts";
import { limitedStatus } from "../contract/limits.ts";
import { type Interceptor, observing, type WireRequest, type WireResponse } from "../contract/transport.ts";
import { SluiceError } from "../errors.ts";
import type { EventLog } from "../journal/event-log.ts";

export interface StartWatch {
  readonly interceptor: Interceptor;
  begin(): void;
  end(): void;
  /** The source, or an error where the service cannot be at its address. */
  readonly guard: <T>(source$: Observable<T>) => Observable<T>;
  /** When a rate limit last refused, or quota was waited for. */
  readonly limitedAt: () => number;
}

interface StartWatchOptions {
  readonly clock: Clock;
  readonly journal: EventLog;
  /** Where the service is; undefined where it is no address. */
  readonly baseUrl: string | undefined;
}

/** A reason is reported again after this. */
const againMs = 15_000;
/** A request that was not answered for so long is worth a word. */
const silentMs = 3_000;
/** A wait for quota that is shorter is none to tell of. */
const waitMsLeast = 2_000;

/** Nothing is there, and nothing will be by waiting: no such host, or one that is another by its certificate or protocol. */
const wrongHost = /^(ENOTFOUND|EPROTO|ERR_TLS_.*|CERT_.*|DEPTH_ZERO_.*|SELF_SIGNED_.*|UNABLE_TO_.*|HPE_.*)$/;
const wrongPath: readonly number[] = [301, 302, 307, 308, 404, 410];
/** A proxy that is being restarted answers so, too, but not again and again. */
const wrongPathsMax = 3;

/** Code and words of an answer that is no success; empty for a success and for what is no answer of the service. */
const refusalIn = (body: unknown): string => {
  if (body === null || typeof body !== "object") return "";
  const { code, msg } = body as { readonly code?: unknown; readonly msg?: unknown };
  if ((typeof code !== "string" && typeof code !== "number") || String(code) === "0") return "";
  return `${String(code).slice(0, 40)} ${typeof msg === "string" ? msg.slice(0, 200) : ""}`.trim();
};

export const createStartWatch = ({ clock, journal, baseUrl }: StartWatchOptions): StartWatch => {
  const failed$ = new ReplaySubject<never>(1);
  const place = baseUrl ?? "the service";
  const toldAt = new Map<string, number>();
  let isOn = false;
  let wrongPaths = 0;
  let limitedAt = Number.NEGATIVE_INFINITY;
  let timer: Timer | undefined;

  const tell = (kind: string, reason: string): void => {
    if (!isOn || clock.now() - (toldAt.get(kind) ?? Number.NEGATIVE_INFINITY) < againMs) return;
    toldAt.set(kind, clock.now());
    journal.append({ type: "start.waiting", reason });
  };
  const fail = (why: string): void => {
    failed$.error(new SluiceError("ENGINE_STATE", `The engine cannot start: ${why} Check the service's baseUrl in the config.`));
  };
  const answered = ({ method, path }: WireRequest, { status, body }: WireResponse): void => {
    timer?.cancel();
    wrongPaths = wrongPath.includes(status) ? wrongPaths + 1 : 0;
    if (status === limitedStatus) {
      limitedAt = clock.now();
      tell("limited", "a rate limit refuses (429): other clients use this quota; waiting for the next window");
    } else if (baseUrl !== undefined && wrongPaths > 0) {
      if (wrongPaths >= wrongPathsMax) fail(`${place} has no such path (${status} for ${method} ${path}).`);
      else tell("path", `${place} has no such path (${status} for ${method} ${path}): is the service's baseUrl right?`);
    } else if (refusalIn(body) !== "") tell("refused", `the service refuses ${method} ${path}: ${refusalIn(body)}`);
  };
  const lost = (error: unknown): void => {
    timer?.cancel();
    const [, code = "no answer"] = /\(([A-Z][A-Z0-9_]+)\)/.exec(error instanceof Error ? error.message : "") ?? [];
    if (baseUrl !== undefined && wrongHost.test(code)) fail(`${place} cannot be reached (${code}).`);
    else tell("lost", `${place} does not answer (${code})`);
  };
  journal.on(["action.held"], ({ until }) => {
    if (!isOn) return;
    const ms = until - clock.now();
    if (ms < waitMsLeast) return;
    limitedAt = clock.now();
    tell("held", Number.isFinite(ms) ? `waiting for quota: ${Math.ceil(ms / 1_000)} s` : "waiting for quota");
  });

  return {
    limitedAt: () => limitedAt,
    // Ends with its source: an engine that is stopped while it starts reads nothing any more.
    guard: (source$) => source$.pipe(takeUntil(failed$)),
    begin: () => {
      isOn = true;
      if (baseUrl === undefined) return;
      timer = clock.setTimer(clock.now() + silentMs, () => {
        tell("silent", `${place} has not answered for ${silentMs / 1_000} s`);
      });
    },
    end: () => {
      isOn = false;
      timer?.cancel();
    },
    interceptor: (next) => (request, sink) => {
      if (!isOn) {
        next(request, sink);
        return;
      }
      const onResponse = (response: WireResponse): void => {
        if (isOn && !sink.closed) answered(request, response);
      };
      const onFailed = (error: unknown): void => {
        if (isOn && !sink.closed) lost(error);
      };
      next(request, observing(sink, onResponse, onFailed));
    },
  };
};
