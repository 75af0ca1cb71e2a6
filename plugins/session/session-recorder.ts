/**
 * Recorder between an engine and its service: writes everything that passes, in one order.
 *
 * Invariants: the engine gets what was written and nothing else: an answer's other headers, and values that JSON cannot
 * represent, do not reach it; everything that comes from outside waits its turn (input-sequencer.ts), except what a
 * call of the engine gets back at once.
 * Not here: calls of the engine from outside (recorded-engine.ts), files (session-file.ts).
 */
import type { Observable } from "rxjs";
import type { ServiceSpec } from "sluice";
import type { WireResponse } from "sluice/dialect";
import {
  limitHeaders,
  type OpenService,
  type ResponseSink,
  type ServiceEnv,
  type ServiceUser,
  type Transport,
} from "sluice/extension";
import { InputSequencer, type RecordWriter } from "./input-sequencer.ts";
import { recordedMarket } from "./recorded-market.ts";
import { recordedStream } from "./recorded-stream.ts";
import { recordingClock } from "./recording-clock.ts";
import { codeIn, errorOf, type ServiceFacts } from "./session-records.ts";

export interface SessionSink extends RecordWriter {
  /** Called once, before anything is written. */
  begin(facts: ServiceFacts): void;
}

export interface RecorderOptions {
  /**
   * Takes out what must not be kept, such as a key that an answer repeats; the engine gets the text without it, too.
   */
  readonly redact?: (text: string) => string;
}

interface RecordedSpec extends ServiceSpec {
  /** Undefined before the service was opened. */
  readonly turns: () => InputSequencer | undefined;
}

/** The same service, writing to `sink`. One spec opens once. */
export const recorded = (spec: ServiceSpec, sink: SessionSink, options: RecorderOptions = {}): RecordedSpec => {
  let turns: InputSequencer | undefined;
  const open = (env: ServiceEnv): OpenService => {
    const inner = spec.open(watchedEnv(env, () => turns));
    const { users, assumptions, ordersRefused, watchful = false, listFixed = false } = inner;
    sink.begin({
      service: spec.kind,
      ...(spec.baseUrl !== undefined && { baseUrl: spec.baseUrl }),
      users: users.map(({ uid, ip, keys }) => ({
        uid,
        ip,
        keys: keys.map(({ name, permissions }) => ({ name, permissions })),
      })),
      refusesOrders: ordersRefused !== undefined,
      watchful,
      ...(listFixed && { listFixed }),
      assumptions,
    });
    const own = new InputSequencer(inner.clock, sink, (why) => env.onError(new Error(`Recording ended: ${why}.`)));
    turns = own;
    own.enter(
      () => ({ in: "open" }),
      () => undefined,
    );
    return recordedService(inner, own, env, options);
  };
  return { kind: spec.kind, ...(spec.baseUrl !== undefined && { baseUrl: spec.baseUrl }), open, turns: () => turns };
};

/**
 * Requests and messages of the service to the engine are entries like any other; before there are turns nothing can be
 * requested.
 */
const watchedEnv = (env: ServiceEnv, turnsOf: () => InputSequencer | undefined): ServiceEnv => ({
  ...env,
  onError: (error) => {
    const message = error instanceof Error ? error.message : String(error);
    const tell = (): void => env.onError(new Error(message));
    const turns = turnsOf();
    if (turns === undefined) tell();
    else turns.enter(() => ({ in: "trouble", message }), tell);
  },
  onAnomaly: (what, detail) => {
    const tell = (): void => env.onAnomaly(what, detail);
    const turns = turnsOf();
    if (turns === undefined) tell();
    else turns.enter(() => ({ in: "anomaly", what, detail }), tell);
  },
  leave: (ip) => {
    const turns = turnsOf();
    if (turns === undefined) return env.leave(ip);
    let until: number | undefined;
    const ask = (): void => {
      until = env.leave(ip);
      turns.note({ out: "leave", ...(until !== undefined && { until }) });
    };
    // It needs its answer now, and belongs to the call of the engine that made the service ask, if one did.
    if (turns.asked) {
      turns.reply({ re: "leave", ip });
      ask();
    } else turns.interject({ in: "leave", ip }, ask);
    return until;
  },
});

const recordedService = (
  inner: OpenService,
  turns: InputSequencer,
  env: ServiceEnv,
  options: RecorderOptions,
): OpenService => {
  const { ordersRefused } = inner;
  return {
    ...inner,
    // Parts that exist only with a running service are left out, as a replay has none of them.
    realTime: false,
    clock: recordingClock(inner.clock, turns),
    transport: recordedTransport(inner.transport, turns, env, options),
    market: recordedMarket(inner.market, turns, env.onError),
    users: inner.users.map((user) => recordedUser(user, turns, env.onError, copier(options.redact))),
    ...(ordersRefused !== undefined && {
      ordersRefused: () => {
        turns.note({ out: "ordersRefused" });
        const why = turns.asking(ordersRefused);
        turns.reply({ re: "value", value: why ?? null });
        return why;
      },
    }),
    start: () => {
      turns.note({ out: "start" });
      turns.asking(() => {
        inner.start();
      });
    },
    stop: () => {
      turns.note({ out: "stop" });
      turns.close("stopped");
      return inner.stop();
    },
  };
};

/** A value as it will be read back. */
export const copier =
  (redact: RecorderOptions["redact"] = (text) => text) =>
  (value: unknown): unknown =>
    value === undefined ? undefined : (JSON.parse(redact(JSON.stringify(value))) as unknown);

const recordedTransport = (
  inner: Transport,
  turns: InputSequencer,
  { headers: read = [] }: ServiceEnv,
  options: RecorderOptions,
): Transport => {
  const copy = copier(options.redact);
  const kept = new Set(["date", ...Object.values(limitHeaders), ...read]);
  const cleaned = ({ status, headers, body }: WireResponse): WireResponse => ({
    status,
    headers: copy(
      Object.fromEntries(Object.entries(headers).filter(([name]) => kept.has(name))),
    ) as WireResponse["headers"],
    body: copy(body),
  });
  let count = 0;
  return (wire, sink) => {
    const request = count++;
    // A trace belongs to one run: the replay of it has its own, or none.
    const { trace: _trace, ...asked } = wire;
    turns.note({ out: "request", request, ...asked });
    const recording: ResponseSink = {
      response: (response) => {
        const answer = cleaned(response);
        turns.enter(
          () => (sink.closed ? undefined : { in: "answer", request, ...answer }),
          () => {
            sink.response(answer);
          },
        );
      },
      failed: (thrown) => {
        const code = codeIn(thrown);
        const error = String(copy(thrown instanceof Error ? thrown.message : String(thrown)));
        turns.enter(
          () => (sink.closed ? undefined : { in: "failure", request, error, ...code }),
          () => {
            sink.failed(errorOf(error, code.code));
          },
        );
      },
      get closed() {
        return sink.closed;
      },
    };
    turns.asking(() => {
      inner(wire, recording);
    });
  };
};

const recordedUser = (
  user: ServiceUser,
  turns: InputSequencer,
  onError: (error: unknown) => void,
  copy: (value: unknown) => unknown,
): ServiceUser => {
  const follow = <T>(what: "pushes" | "pushing", source: Observable<T>): Observable<T> => {
    const stream = `${what} ${user.uid}`;
    const keeps = what === "pushing";
    return recordedStream<T>({ stream, keeps, source, turns, onError, encode: copy, decode: (value) => value as T });
  };
  return { ...user, pushes$: follow("pushes", user.pushes$), pushing$: follow("pushing", user.pushing$) };
};
