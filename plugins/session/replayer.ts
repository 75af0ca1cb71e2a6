/**
 * Passes a recorded session to an engine again and reports whether it does the same.
 *
 * Invariants: between two entries every promise that can settle has settled, as when it was recorded; seed, name and
 * profile are those of the session, because they belong to what entered the engine; nothing reaches a service; the
 * engine is always stopped.
 * Not here: comparing (replay-script.ts, divergence.ts), the recorded service (replayed-service.ts).
 */
import type { Observable, Subscription } from "rxjs";
import { createEngine, type Engine, type HistorySource, type ServiceSpec, SluiceError } from "sluice";
import {
  checkConfig,
  letPromisesSettle,
  outside,
  type PositionFilter,
  type ServiceEnv,
  type Whom,
} from "sluice/extension";
import { type GroupStores, inStores } from "sluice/plugins/shared-quota";
import { type ReplayedDisk, replayedDisk } from "./disk-port.ts";
import { type Divergence, differences, type FieldDifference } from "./divergence.ts";
import { replayedGroup } from "./group-port.ts";
import { replayedHistory } from "./history-port.ts";
import { configFacts, eventFacts } from "./recorded-engine.ts";
import { ReplayScript } from "./replay-script.ts";
import { type ReplayedService, replayedService } from "./replayed-service.ts";
import type { Session } from "./session-file.ts";
import { type Call, comparableFacts, type Entry, type StateStream } from "./session-records.ts";

/** Result of a replay: how much was compared, and the first difference if there is one. */
export interface ReplayReport {
  readonly divergence: Divergence | undefined;
  /** Requests of the engine that were compared. */
  readonly commands: number;
  /** Inputs that were handed to it. */
  readonly events: number;
  /** Facts of its journal that were compared. */
  readonly facts: number;
  readonly lastedMs: number;
  /** Fields in which the config is not the recorded one; a hint, not a verdict. */
  readonly changed: readonly FieldDifference[];
  /** Notes about the session itself: cut off, changed. */
  readonly notes: readonly string[];
}

export interface Replay extends ServiceSpec {
  /** Plays the whole session to the engine that was made with this service. Never rejects for what the engine does. */
  play(engine: Engine): Promise<Divergence | undefined>;
  readonly script: ReplayScript;
  /** The journal's folder of the session, for the engine's options. */
  readonly openDisk: ReplayedDisk["open"];
  /** The history source of the session, for the engine's config; undefined where it had none. */
  readonly history: HistorySource | undefined;
  /** The stores of the group of the session, for the engine's shared quota. */
  readonly groupStores: GroupStores;
}

/** The service of a recorded session. Opens once; it is idle until it is played. */
export const replay = (session: Session): Replay => {
  let service: ReplayedService | undefined;
  let leave: ServiceEnv["leave"] = () => undefined;
  const askLeave = (ip: string): void => {
    const until = leave(ip);
    script.act({ out: "leave", ...(until !== undefined && { until }) });
  };
  const script: ReplayScript = new ReplayScript(session, askLeave);
  const disk = replayedDisk(script);
  const history = replayedHistory(session.header.history, script);
  const group = replayedGroup(session.header.group === true, script);
  const open = (env: ServiceEnv): ReplayedService => {
    if (service !== undefined)
      throw new SluiceError("ENGINE_STATE", "A replay opens once. Call replay(session) again for another engine.");
    leave = env.leave;
    service = replayedService(session.header, script, env);
    const first = script.take();
    if (first === undefined || first.in !== "open") {
      throw new SluiceError(
        "FIXTURE_INVALID",
        `${session.name}: the session does not begin with its engine. Record it again.`,
      );
    }
    return service;
  };
  const play = async (engine: Engine): Promise<Divergence | undefined> => {
    const callers = createCallers(engine);
    const facts = engine.events$.subscribe((event) => script.act({ out: "event", event: eventFacts(event) }));
    try {
      await letPromisesSettle();
      for (let entry = script.take(); entry !== undefined; entry = script.take()) {
        if (entry.in === "disk") await isAsked(disk, entry.disk);
        hand(entry, service as ReplayedService, callers);
        await letPromisesSettle();
      }
    } finally {
      facts.unsubscribe();
      disk.release();
    }
    return script.divergence;
  };
  const hand = (entry: Entry, to: ReplayedService, callers: (call: Call) => void): void => {
    if (entry.in === "call") outside(() => callers(entry));
    else if (entry.in === "leave") outside(() => askLeave(entry.ip));
    else if (entry.in === "disk") {
      if (disk.waits(entry.disk)) outside(() => disk.answer(entry));
      else script.fail("undeliverable", "nothing asked the journal's folder for it");
    } else if (entry.in === "history") history.answer(entry);
    else if (entry.in === "group") group.answer(entry);
    else if (entry.in === "stray") script.fail("stray", "nothing");
    else to.deliver(entry);
  };
  const { service: recordedKind, baseUrl = recordedKind } = session.header;
  return {
    kind: "replay",
    baseUrl,
    open,
    play,
    script,
    openDisk: disk.open,
    history: history.source,
    groupStores: group.stores,
  };
};

/** Taking the lock of a journal waits for the machine: so many turns are enough for a lock that is free. */
const lockTurnsMax = 100_000;

const isAsked = async (disk: ReplayedDisk, question: number): Promise<void> => {
  for (let turn = 0; turn < lockTurnsMax && !disk.waits(question); turn++) await letPromisesSettle();
};

/** Calls of the engine from outside, repeated. */
const createCallers = (engine: Engine): ((call: Call) => void) => {
  const listeners = new Map<number, Subscription>();
  const quiet = (promise: Promise<void>): void => {
    // It failed then as well, or its absence shows in what follows.
    promise.catch(() => undefined);
  };
  return (call) => {
    switch (call.call) {
      case "start":
        quiet(engine.start());
        return;
      case "stop":
        quiet(engine.stop({ cancel: call.cancel, settleMs: call.settleMs ?? 0 }));
        return;
      case "halt":
        engine.halt(call.reason, whomOf(call)).subscribe();
        return;
      case "resume":
        engine.resume(call.reason, whomOf(call));
        return;
      case "closePositions":
        engine.closePositions(call.reason, whichOf(call)).subscribe();
        return;
      case "listen":
        listeners.set(call.listener, streamOf(engine, call.what, call.uid).subscribe());
        return;
      case "unlisten":
        listeners.get(call.listener)?.unsubscribe();
    }
  };
};

const whomOf = ({ strategy, everywhere }: Whom): Whom => ({
  ...(strategy !== undefined && { strategy }),
  ...(everywhere !== undefined && { everywhere }),
});

const whichOf = ({ instId, strategy }: PositionFilter): PositionFilter => ({
  ...(instId !== undefined && { instId }),
  ...(strategy !== undefined && { strategy }),
});

const streamOf = (engine: Engine, what: StateStream, uid: string | undefined): Observable<unknown> =>
  what === "instruments$" || what === "quota$"
    ? engine[what]
    : (uid === undefined ? engine.account : engine.accountOf(uid))[what];

/** Notes about facts that are missing in a session of an older version. */
const notesOf = ({ header }: Session): readonly string[] =>
  header.watchful && header.quota?.shared !== undefined && header.group !== true
    ? [
        "The engine shared its quota, and the answers of the group's store were not recorded: it is replayed as if the store could not be reached, and will diverge. Record it again.",
      ]
    : [];

/** Replays `session` to the strategies, plugins and rules of `input`; its service is not opened. */
export const replaySession = async (session: Session, input: unknown): Promise<ReplayReport> => {
  const config = checkConfig(input);
  const { header } = session;
  const { seed, instance, profile, limits } = header;
  const service = replay(session);
  const { history = config.history } = service;
  const plugins = inStores(config.plugins, service.groupStores);
  const own = { service, plugins, seed, instance, profile };
  const recordedConfig = { ...config, ...own, ...(history !== undefined && { history }) };
  const engine = createEngine(recordedConfig, { limits, openDisk: service.openDisk });
  let divergence: Divergence | undefined;
  try {
    await engine.load();
    divergence = await service.play(engine);
  } finally {
    // What an engine complains of at its end was recorded, or follows from a divergence.
    await engine.stop().catch(() => undefined);
  }
  const { counts, now, startedAt } = service.script;
  return {
    divergence,
    commands: counts.commands,
    events: counts.entries,
    facts: counts.facts,
    lastedMs: now - startedAt,
    changed: differences(
      comparableFacts(header, "plugins"),
      comparableFacts(configFacts(config, header.config, limits), "plugins"),
    ),
    notes: [...session.notes, ...notesOf(session)],
  };
};
