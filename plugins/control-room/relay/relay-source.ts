/**
 * An engine of another process as a control source of this one: the updates of its port, and actions passed on to it.
 *
 * Invariants: the shown state is the last one of the engine's own port, within the same bounds; an engine whose port is
 * silent is `gone` from that moment, and is looked for until the source is ended; an action goes to this engine's port
 * alone, once.
 * Not here: HTTP (upstream-port.ts), the list of engines (engine-relay.ts).
 */
import { firstValueFrom, type Observable, Subject } from "rxjs";
import type { Event } from "sluice";
import { after, type Clock, messageOf } from "sluice/extension";
import { ControlDocument, type ControlUpdate, rowsMax } from "../control-document.ts";
import type { ControlChange, SectionName } from "../control-rows.ts";
import type { ControlAction, ControlResult, ControlSource } from "../control-source.ts";
import { actAt, followEngine, type PortLink, storyAt } from "./upstream-port.ts";

interface RelayedEngine {
  readonly link: PortLink;
  /** Id of the engine at its own port. */
  readonly id: string;
  readonly access: "read" | "act";
}

const pauses = [250, 500, 1_000, 2_000];
/** Silence above which an engine's thread counts as hung. */
const silentMsMax = 1_500;

export class RelaySource implements ControlSource {
  readonly id: string;
  readonly engine: RelayedEngine;
  readonly updates$: Observable<ControlUpdate>;
  /** Called while the engine's thread runs. */
  onBeat: () => void = () => undefined;
  readonly #clock: Clock;
  readonly #document: ControlDocument;
  readonly #told = new Subject<ControlUpdate>();
  readonly #stopping = new AbortController();
  #isHeard = false;

  constructor(id: string, engine: RelayedEngine, clock: Clock) {
    this.id = id;
    this.engine = engine;
    this.updates$ = this.#told;
    this.#clock = clock;
    this.#document = new ControlDocument(id);
  }

  /** True while its port is silent. */
  get isLost(): boolean {
    return !this.#isHeard;
  }

  snapshot(): ControlUpdate {
    return this.#document.snapshot();
  }

  story(clOrdId: string): Promise<readonly Event[]> {
    return storyAt(this.engine.link, this.engine.id, clOrdId).catch(() => []);
  }

  async act(action: ControlAction): Promise<ControlResult> {
    const { link, id, access } = this.engine;
    if (access !== "act" && action.type !== "play") {
      return { ok: false, code: "TOKEN_READS", text: `The token that was given for ${this.id} may read and not act.` };
    }
    try {
      return await actAt(link, id, action);
    } catch (error) {
      return {
        ok: false,
        code: "ENGINE_GONE",
        text: `${this.id}: ${messageOf(error)} Whether it was done is not known.`,
      };
    }
  }

  /** Follows the engine until `end`; resolves then. */
  async follow(): Promise<void> {
    const { signal } = this.#stopping;
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        await followEngine(this.engine.link, this.engine.id, this, { clock: this.#clock, stopping: signal });
      } catch {
        // The state `gone` of the engine is the report.
        if (!signal.aborted) this.#lose();
      }
      if (this.#isHeard) failures = 0;
      this.#isHeard = false;
      if (signal.aborted) break;
      await firstValueFrom(after(this.#clock, pauses[Math.min(failures, pauses.length - 1)] as number), {
        defaultValue: undefined,
      });
    }
  }

  end(): void {
    this.#stopping.abort();
    this.#told.complete();
  }

  /** Takes an update from the port. */
  update(update: ControlUpdate, isWhole: boolean): void {
    this.#isHeard = true;
    if (isWhole) this.#replace(update.rows);
    else for (const change of update.rows) this.#put(change);
    this.#tell(update.at);
    this.onBeat();
  }

  /** Takes a beat: the port is alive, and its engine's thread was active `silentMs` ago. */
  beat(silentMs: number): void {
    if (silentMs <= silentMsMax) this.onBeat();
  }

  #lose(): void {
    const engine = this.#document.row("engine", "");
    if (engine === undefined || engine.state === "stopped" || engine.state === "gone") return;
    this.#document.put("engine", "", { ...engine, state: "gone" });
    this.#tell(this.#document.at);
  }

  #replace(rows: readonly ControlChange[]): void {
    const bySection = new Map<SectionName, ControlChange[]>(
      (Object.keys(rowsMax) as SectionName[]).map((section) => [section, []]),
    );
    for (const change of rows) bySection.get(change[0])?.push(change);
    for (const [section, changes] of bySection) {
      const kept = new Set(changes.map(([, key]) => key));
      for (const key of this.#document.keys(section)) if (!kept.has(key)) this.#document.drop(section, key);
      for (const change of changes) this.#put(change);
    }
  }

  #put([section, key, row]: ControlChange): void {
    if (row === null) this.#document.drop(section, key);
    else if (section === "engine") {
      const { link, access } = this.engine;
      const named = { ...row, name: this.id, via: link.origin, ...(access === "read" && { access }) };
      this.#document.putChanged("engine", key, named);
    } else this.#document.putChanged(section, key, row);
  }

  #tell(at: number): void {
    const update = this.#document.take(at);
    if (update !== undefined) this.#told.next(update);
  }
}
