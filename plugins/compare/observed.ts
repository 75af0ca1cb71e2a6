/**
 * Runs a config on a recorded market and records every decision when it is made: wanted orders, sent orders, refused
 * orders.
 *
 * Invariants: watching changes nothing of the run; what a strategy wants is noted before the engine acts on it; equal
 * sets in a row are one decision; with a cut the run ends there and the service has only the data played until then.
 * Not here: making the cut market (cut-run.ts), comparing two runs (look-ahead.ts).
 */
import { Observable, tap } from "rxjs";
import { definePlugin, type Event, type Plugin, SluiceError, type Strategy } from "sluice";
import { type BacktestSpec, type RunOptions, runBacktest } from "sluice/backtest";
import { type CheckedConfig, checkConfig, type OpenService } from "sluice/extension";

export interface Decision {
  readonly at: number;
  readonly strategy: string;
  /** `wants` a set, `asks` for one order by hand; what comes of it is sent or refused. */
  readonly kind: "wants" | "asks" | "sends" | "refused";
  /** Empty where a decision is about several. */
  readonly slot: string;
  /** JSON text of the decision. */
  readonly what: string;
}

export interface Observed {
  readonly startAt: number;
  readonly endAt: number;
  readonly decisions: readonly Decision[];
  readonly failed: Readonly<Record<string, string>>;
}

interface ObserveOptions extends Pick<RunOptions, "fixture" | "market"> {
  /** Instant at which the run ends; `market` holds the data until then. */
  readonly cutAt?: number;
}

export const observe = async (input: unknown, { cutAt, ...place }: ObserveOptions = {}): Promise<Observed> => {
  const config = checkConfig(input);
  const spec = backtestOf(config);
  const decisions: Decision[] = [];
  const note = (decision: Decision): void => {
    decisions.push(decision);
  };
  const orderManager = createRequestWatch(note);
  let bounds = { startAt: 0, endAt: 0 };
  const service: BacktestSpec = {
    ...spec,
    openWith: (env, overrides) => {
      const opened = spec.openWith(env, overrides);
      const { tape, clock } = opened;
      bounds = { startAt: tape.startAt, endAt: cutAt ?? tape.endAt };
      return {
        ...opened,
        cut: cutAt !== undefined,
        tape: { ...tape, endAt: bounds.endAt },
        transport: orderManager.watched(opened.transport, () => clock.now()),
      };
    },
  };
  const report = await runBacktest(
    {
      ...config,
      service,
      strategies: config.strategies.map((one) => watched(one, note)),
      plugins: [...quiet(config), orderManager.plugin],
    },
    place,
  );
  const failed = Object.entries(report.perStrategy).flatMap(([name, { error }]) =>
    error === undefined ? [] : [[name, error]],
  );
  return { ...bounds, decisions, failed: Object.fromEntries(failed) as Record<string, string> };
};

/** A journal file may be one under examination; a run that only asks a question does not write it. */
const quiet = ({ plugins }: CheckedConfig): readonly Plugin[] => plugins.filter(({ name }) => name !== "journal-file");

/** The service of a config that a backtest can drive. */
export const backtestOf = ({ service }: Pick<CheckedConfig, "service">): BacktestSpec => {
  const spec = service as BacktestSpec;
  if (spec.kind === "backtest" && typeof spec.openWith === "function") return spec;
  throw new SluiceError(
    "CONFIG_INVALID",
    `config.service is ${spec.kind}(…); a recorded market needs service: backtest({ fixture: "…" }).`,
  );
};

/** Wraps a strategy to record its sets and its manual actions. */
const watched = (strategy: Strategy, note: (decision: Decision) => void): Strategy => ({
  ...strategy,
  start: (context) => {
    const { now, orders } = context;
    const asks = (call: string, what: unknown): void => {
      note({ at: now(), strategy: strategy.name, kind: "asks", slot: "", what: JSON.stringify({ [call]: what }) });
    };
    const noting: typeof orders = {
      ...orders,
      place: (order) => {
        asks("place", order);
        return orders.place(order);
      },
      cancel: (filter) => {
        asks("cancel", filter);
        return orders.cancel(filter);
      },
    };
    const streams = strategy.start({ ...context, orders: noting });
    // A value that is no stream is refused on subscription.
    if (!(streams.wanted instanceof Observable)) return streams;
    let last: string | undefined;
    const noted: NonNullable<typeof streams.wanted> = streams.wanted.pipe(
      tap((wanted) => {
        const what = JSON.stringify(wanted) ?? "nothing";
        if (what === last) return;
        last = what;
        note({ at: now(), strategy: strategy.name, kind: "wants", slot: "", what });
      }),
    );
    return { ...streams, wanted: noted };
  },
});

/** Requests that trade, by the strategy and slot whose order they carry. */
const createRequestWatch = (note: (decision: Decision) => void) => {
  const homes = new Map<string, Pick<Decision, "strategy" | "slot">>();
  const onEvent = (event: Event): void => {
    if (event.type === "order.changed") {
      const { strategy, slot, clOrdId, record } = event;
      homes.set(clOrdId, { strategy, slot });
      if (record !== undefined) homes.set(record.ordId, { strategy, slot });
    } else if (event.type === "order.refused") {
      const { at, strategy, slot, reason } = event;
      note({ at, strategy, kind: "refused", slot, what: JSON.stringify({ reason }) });
    }
  };
  const homeOf = (body: unknown): Pick<Decision, "strategy" | "slot"> => {
    const { clOrdId = "" } = (body ?? {}) as { readonly clOrdId?: string };
    const named = homes.get(clOrdId);
    if (named !== undefined) return named;
    const ids = JSON.stringify(body ?? null).match(/"[^"]+"/g) ?? [];
    const strategies = new Set(ids.flatMap((id) => homes.get(id.slice(1, -1))?.strategy ?? []));
    return { strategy: [...strategies].join(", "), slot: "" };
  };
  const plugin: Plugin = definePlugin({
    name: "decisions of the run",
    options: { type: "object", additionalProperties: false, properties: {} },
    setup: ({ events$ }) => {
      const listening = (events$ as Observable<Event>).subscribe(onEvent);
      return () => listening.unsubscribe();
    },
  })({});
  const watchedTransport =
    (transport: OpenService["transport"], now: () => number): OpenService["transport"] =>
    (request, sink) => {
      const { endpoint, method, body } = request;
      if (method === "POST")
        note({ at: now(), ...homeOf(body), kind: "sends", what: JSON.stringify({ endpoint, body }) });
      transport(request, sink);
    };
  return { plugin, watched: watchedTransport };
};
