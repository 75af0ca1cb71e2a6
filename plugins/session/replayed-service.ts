/**
 * The service as it was recorded: gives an engine what it got then and shows the script what the engine does now.
 *
 * Invariants: nothing happens by itself: time, answers and market data come with `deliver` alone; what a call got back
 * at once then it gets back at once now.
 * Not here: the order of things (replay-script.ts), the loop over entries (replayer.ts).
 */
import type { Observable } from "rxjs";
import { SluiceError } from "sluice";
import {
  type Clock,
  type OpenService,
  outside,
  type ResponseSink,
  type ServiceEnv,
  type ServiceUser,
  type Transport,
} from "sluice/extension";
import { checkRow, codecOf, keepsLatest, type MarketValue, marketOver, type StreamName } from "./market-rows.ts";
import { Multicast } from "./multicast.ts";
import type { ReplayScript } from "./replay-script.ts";
import { type Entry, errorOf, type Reply, type SessionHeader } from "./session-records.ts";

export interface ReplayedService extends OpenService {
  /** Hands over what came from the service or the clock; other entries are not for it. */
  deliver(entry: Entry): void;
}

export const replayedService = (header: SessionHeader, script: ReplayScript, env: ServiceEnv): ReplayedService => {
  const { clock, fire } = scriptedClock(script);
  const { transport, answer } = scriptedTransport(script);
  const { market, users, tell } = scriptedStreams(header, script, env);
  const deliver = (entry: Entry): void => {
    switch (entry.in) {
      case "timer":
        fire(entry.timer, entry.due);
        return;
      case "answer":
        answer(entry.request, (sink) => {
          sink.response({ status: entry.status, headers: entry.headers, body: entry.body });
        });
        return;
      case "failure":
        answer(entry.request, (sink) => {
          sink.failed(errorOf(entry.error ?? "the transport ended without an answer", entry.code));
        });
        return;
      case "stream":
        tell(entry.stream, entry);
        return;
      case "end":
        tell(entry.stream, "end");
        return;
      case "trouble":
        env.onError(new Error(entry.message));
        return;
      case "anomaly":
        env.onAnomaly(entry.what, entry.detail);
        return;
      case "open":
      case "call":
      case "leave":
      case "disk":
      case "history":
      case "group":
      case "stray":
        return;
      default:
        never(entry);
    }
  };
  return {
    clock,
    transport,
    market,
    users,
    assumptions: header.assumptions,
    watchful: header.watchful,
    ...(header.listFixed && { listFixed: true }),
    ...(header.refusesOrders && {
      ordersRefused: () => (valueIn(script.act({ out: "ordersRefused" })) as string | null) ?? undefined,
    }),
    start: () => {
      script.act({ out: "start" });
    },
    stop: () => {
      script.act({ out: "stop" });
    },
    deliver: (entry) => {
      outside(() => {
        deliver(entry);
      });
    },
  };
};

const valueIn = (reply: Reply | undefined): unknown => (reply?.re === "value" ? reply.value : undefined);

/** Throws what the service threw then. */
const orThrow = (reply: Reply | undefined): unknown => {
  if (reply?.re !== "thrown") return valueIn(reply);
  throw errorOf(reply.message, reply.code);
};

const scriptedClock = (
  script: ReplayScript,
): { readonly clock: Clock; readonly fire: (timer: number, due: number) => void } => {
  const timers = new Map<number, { readonly due: number; readonly run: () => void }>();
  let count = 0;
  return {
    clock: {
      now: () => script.now,
      wallNow: () => script.wallNow,
      setTimer: (due, run) => {
        const timer = count++;
        timers.set(timer, { due, run });
        return {
          cancel: () => {
            timers.delete(timer);
          },
        };
      },
    },
    fire: (timer, due) => {
      const waiting = timers.get(timer);
      if (waiting === undefined)
        script.fail("undeliverable", timer < count ? `timer ${timer} was cancelled` : `only ${count} timers were set`);
      else if (waiting.due !== due)
        script.fail("differs", `timer ${timer} (due ${waiting.due})`, [
          { path: "due", recorded: due, replayed: waiting.due },
        ]);
      else {
        timers.delete(timer);
        waiting.run();
      }
    },
  };
};

const scriptedTransport = (script: ReplayScript) => {
  const waiting = new Map<number, ResponseSink>();
  let count = 0;
  const transport: Transport = (wire, sink) => {
    const request = count++;
    waiting.set(request, sink);
    const { trace: _trace, ...asked } = wire;
    script.act({ out: "request", request, ...asked });
  };
  const answer = (request: number, give: (sink: ResponseSink) => void): void => {
    const sink = waiting.get(request);
    waiting.delete(request);
    if (sink === undefined || sink.closed)
      script.fail("undeliverable", `nothing waits for the answer to request ${request}`);
    else give(sink);
  };
  return { transport, answer };
};

const scriptedStreams = (header: SessionHeader, script: ReplayScript, { onError }: ServiceEnv) => {
  const streams = new Map<
    string,
    { readonly multicast: Multicast<unknown>; readonly decode: (row: unknown) => unknown }
  >();
  const follow = <T>(stream: string, keeps: boolean, decode: (row: unknown) => T): Observable<T> => {
    const multicast = new Multicast<T>({
      keeps,
      onError,
      watch: () => {
        const reply = script.act({ out: "watch", stream });
        return reply?.re === "value" ? decode(reply.value) : undefined;
      },
      unwatch: () => {
        script.act({ out: "unwatch", stream });
      },
    });
    streams.set(stream, { multicast: multicast as Multicast<unknown>, decode });
    return multicast.stream;
  };
  /** Hands on a row of the stream, or its end. */
  const tell = (stream: string, row: { readonly value: unknown } | "end"): void => {
    const one = streams.get(stream);
    if (one?.multicast.observed !== true) script.fail("undeliverable", `nothing listens to ${stream}`);
    else if (row === "end") one.multicast.complete();
    else one.multicast.next(one.decode(row.value));
  };
  const users = header.users.map(
    (user): ServiceUser => ({
      ...user,
      pushes$: follow(`pushes ${user.uid}`, false, (row) => row as never),
      pushing$: follow(`pushing ${user.uid}`, true, (row) => row as boolean),
    }),
  );
  const open = (name: StreamName, stream: string): Observable<MarketValue> => {
    orThrow(script.act({ out: "open", stream }));
    const codec = codecOf(name);
    return follow(stream, keepsLatest(name.kind), (row) => {
      checkRow(name, row, stream);
      return codec.decode(row);
    });
  };
  const lastPx = (instId: string): string | undefined =>
    (orThrow(script.act({ out: "lastPx", instId })) as string | null) ?? undefined;
  return { users, tell, market: marketOver(open, lastPx) };
};

/** Every kind of entry has its case. */
const never = (entry: never): never => {
  throw new SluiceError("BUG", `Unhandled case: ${JSON.stringify(entry)}.`);
};
