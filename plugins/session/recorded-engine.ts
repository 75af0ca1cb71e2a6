/**
 * An engine whose session is written down: its service through a recorder, what is asked of it from outside in turn.
 *
 * Invariants: everything asked from outside that makes the engine act (start, stop, halt, resume, closing, listening to
 * a stream of state) is an entry; events and questions that change nothing are not.
 * Not here: what passes between engine and service (recorder.ts), the file (session-file.ts).
 */
import { Observable, ReplaySubject, type Subscription } from "rxjs";
import { type Account, createEngine, type Engine, type EngineOptions, type Event } from "sluice";
import { type CheckedConfig, checkConfig, fileDisk, historySourceOf, isSecret } from "sluice/extension";
import { shownAddress } from "sluice/plugins/redis";
import {
  type GroupStores,
  inStores,
  isSharedQuota,
  redisStores,
  type SharedQuotaSettings,
} from "sluice/plugins/shared-quota";
import { recordedDisk } from "./disk-port.ts";
import { recordedGroup } from "./group-port.ts";
import { historyFacts, recordedHistory } from "./history-port.ts";
import type { InputSequencer } from "./input-sequencer.ts";
import { copier, type RecorderOptions, recorded, type SessionSink } from "./session-recorder.ts";
import type { Call, ConfigFacts, StateStream } from "./session-records.ts";

/** An engine whose inputs and outputs are written down. */
export interface RecordedEngine extends Engine {
  /** Resolves when everything that has come in so far has had its turn. */
  readonly settled: () => Promise<void>;
}

export interface RecordOptions extends EngineOptions, Pick<RecorderOptions, "redact"> {
  /** The config's file, for a replay. */
  readonly configPath?: string;
  /** Stores of a shared quota. Default: stores in Redis. */
  readonly groupStores?: GroupStores;
}

/** Makes the engine of `input`, writing to the sink that `sinkOf` makes for the header's facts of the config. */
export const recordEngine = (
  input: unknown,
  sinkOf: (facts: ConfigFacts) => SessionSink,
  options: RecordOptions = {},
): RecordedEngine => {
  const config = checkConfig(input);
  const { configPath = "", redact, openDisk = fileDisk, groupStores = redisStores, ...engineOptions } = options;
  const sink = sinkOf(configFacts(config, configPath, options.limits ?? true));
  const service = recorded(config.service, sink, redact === undefined ? {} : { redact });
  const source = historySourceOf(config.history);
  const history = source && recordedHistory(source, service.turns, copier(redact));
  const plugins = inStores(config.plugins, recordedGroup(groupStores, service.turns, copier(redact)));
  const engine = createEngine(
    { ...config, service, plugins, ...(history !== undefined && { history }) },
    { ...engineOptions, openDisk: recordedDisk(openDisk, service.turns) },
  );
  const turns = service.turns() as InputSequencer;
  engine.events$.subscribe((event) => {
    turns.note({ out: "event", event: eventFacts(event) });
  });
  return { ...asked(engine, turns), settled: () => turns.settled() };
};

/** An event without its number and instant: both follow from its place in the session. */
export const eventFacts = ({ seq: _seq, at: _at, ...facts }: Event): Readonly<Record<string, unknown>> => facts;

export const configFacts = (config: CheckedConfig, path: string, limits: boolean): ConfigFacts => ({
  config: path,
  limits,
  seed: config.seed,
  instance: config.instance,
  profile: config.profile,
  orders: config.orders,
  quota: { ...config.quota, ...sharedIn(config) },
  freshness: config.freshness,
  strategies: config.strategies.map(({ name, user, options }) => ({
    name,
    ...(user !== undefined && { user }),
    options: withoutSecrets(options),
  })),
  // Their options may hold addresses and tokens of other services.
  plugins: config.plugins.map(({ name }) => name),
  ...historyIn(config),
  ...(config.plugins.some(isSharedQuota) && { group: true }),
});

/** The address of a group's store may hold a password. */
const sharedIn = ({ plugins }: CheckedConfig): Pick<ConfigFacts["quota"], "shared"> => {
  const options = plugins.find(isSharedQuota)?.options as SharedQuotaSettings | undefined;
  if (options === undefined) return {};
  const { store } = options;
  return { shared: { ...options, store: typeof store === "string" ? shownAddress(store) : store } };
};

const historyIn = ({ history }: CheckedConfig): Pick<ConfigFacts, "history"> => {
  const source = historySourceOf(history);
  return source === undefined ? {} : { history: historyFacts(source) };
};

const withoutSecrets = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, isSecret(name, item) ? "(not recorded)" : withoutSecrets(item)]),
  );
};

/** The engine with every request from outside as an entry. */
const asked = (engine: Engine, turns: InputSequencer): Engine => {
  const call = <T>(what: Call, run: () => T): Promise<Awaited<T>> =>
    new Promise((resolve, reject) => {
      turns.enter(
        () => ({ in: "call", ...what }),
        () => {
          try {
            resolve(run() as Awaited<T>);
          } catch (error) {
            reject(error as Error);
          }
        },
      );
    });
  /** Runs a call whether or not its results are subscribed to. */
  const watched = <T>(what: Call, run: () => Observable<T>): Observable<T> => {
    const results = new ReplaySubject<T>();
    call(what, () => {
      run().subscribe(results);
    }).catch((error: unknown) => {
      results.error(error);
    });
    return results;
  };
  let listeners = 0;
  const listened = <T>(what: StateStream, source: Observable<T>, uid: string | undefined): Observable<T> =>
    new Observable((subscriber) => {
      const listener = listeners++;
      let open: Subscription | undefined;
      turns.enter(
        () =>
          subscriber.closed
            ? undefined
            : { in: "call", call: "listen", what, ...(uid !== undefined && { uid }), listener },
        () => {
          // Not the subscriber itself: it would let go of the engine outside its turn.
          open = source.subscribe({
            next: (value) => subscriber.next(value),
            error: (error: unknown) => subscriber.error(error),
            complete: () => subscriber.complete(),
          });
        },
      );
      return () => {
        turns.enter(
          () => (open === undefined ? undefined : { in: "call", call: "unlisten", listener }),
          () => open?.unsubscribe(),
        );
      };
    });
  return {
    ...engine,
    instruments$: listened("instruments$", engine.instruments$, undefined),
    quota$: listened("quota$", engine.quota$, undefined),
    account: accountBy(listened, engine.account, undefined),
    accountOf: (uid) => accountBy(listened, engine.accountOf(uid), uid),
    start: async () => {
      // Loading is no input, and nothing that follows it may be outside of a turn.
      await engine.load();
      return call({ call: "start" }, () => engine.start());
    },
    stop: ({ cancel = false, settleMs = 0 } = {}) =>
      call({ call: "stop", cancel, settleMs }, () => engine.stop({ cancel, settleMs })),
    halt: (reason, whom = {}) => watched({ call: "halt", reason, ...whom }, () => engine.halt(reason, whom)),
    closePositions: (reason, which = {}) =>
      watched({ call: "closePositions", reason, ...which }, () => engine.closePositions(reason, which)),
    resume: (reason, whom = {}) => {
      void call({ call: "resume", reason, ...whom }, () => {
        engine.resume(reason, whom);
      });
    },
  };
};

type Listened = <T>(what: StateStream, source: Observable<T>, uid: string | undefined) => Observable<T>;

const accountBy = (listened: Listened, source: Account, uid: string | undefined): Account => ({
  pending$: listened("pending$", source.pending$, uid),
  history$: listened("history$", source.history$, uid),
  balances$: listened("balances$", source.balances$, uid),
  positions$: listened("positions$", source.positions$, uid),
  equity$: listened("equity$", source.equity$, uid),
});
