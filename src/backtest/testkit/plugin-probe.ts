/**
 * A plugin under observation: its set-up, its undo, and what it holds of the process.
 *
 * Invariants: the plugin runs as it is; what is counted is what its code did.
 */
import { firstValueFrom } from "rxjs";
import { after, type Clock } from "../../clock/clock.ts";
import type { PluginContext } from "../../host/context.ts";
import { isPromise } from "../../host/promises.ts";
import type { Plugin, PluginUndo } from "../../host/strategy.ts";

/** Time after which closed resources are gone from the process. */
const settleMs = 1_000;
const lookMs = 10;

export class PluginProbe {
  /** The plugin to put into the engine instead of the one observed. */
  readonly plugin: Plugin;
  /** Number of calls of its undo. */
  undone = 0;
  hasUndo = false;
  /** Its set-up returned a promise. */
  isAsynchronous = false;
  /** Resources of the process before its set-up, by kind. */
  #before: ReadonlyMap<string, number> = new Map();
  readonly #machine: Clock;
  #settingUp: Promise<unknown> = Promise.resolve();
  #held: Promise<void> | undefined;
  #fail: () => void = () => undefined;

  /** `machine`: the clock of the process. */
  constructor(plugin: Plugin, machine: Clock) {
    this.#machine = machine;
    this.plugin = { ...plugin, start: (context) => this.#start(plugin, context) };
  }

  /** Takes down what the process holds, once what was closed before is gone. */
  async measure(): Promise<void> {
    await firstValueFrom(after(this.#machine, lookMs));
    this.#before = resources();
  }

  /** Resolves when its set-up has ended, however it ended. */
  async settled(): Promise<void> {
    await this.#settingUp.then(
      () => undefined,
      () => undefined,
    );
  }

  /** Delays its asynchronous set-up until the returned function is called, like a set-up that takes long. */
  holdBack(): () => void {
    let goOn: () => void = () => undefined;
    this.#held = new Promise((resolve) => {
      goOn = resolve;
    });
    return goOn;
  }

  /** Makes a listener of the plugin throw at the next event. */
  fail(): void {
    this.#fail();
  }

  /** Describes what of the process is held in addition to before its start; undefined for nothing. */
  async leftBehind(): Promise<string | undefined> {
    let more: readonly string[] = [];
    let waited = 0;
    do {
      await firstValueFrom(after(this.#machine, lookMs));
      more = added(this.#before);
      waited += lookMs;
    } while (more.length > 0 && waited < settleMs);
    return more.length === 0 ? undefined : `it holds ${more.join(", ")} after the stop`;
  }

  #start(plugin: Plugin, context: PluginContext<never>): PluginUndo | Promise<PluginUndo> {
    let isToFail = false;
    this.#fail = () => {
      isToFail = true;
    };
    context.on("event", () => {
      if (!isToFail) return;
      isToFail = false;
      throw new Error("by the check");
    });
    const made = this.#held?.then(() => plugin.start(context)) ?? plugin.start(context);
    if (!isPromise(made)) return this.#counted(made);
    this.isAsynchronous = true;
    const settingUp = Promise.resolve(made).then((undo) => this.#counted(undo));
    this.#settingUp = settingUp;
    return settingUp;
  }

  #counted(undo: PluginUndo): PluginUndo {
    if (typeof undo !== "function") return undo;
    this.hasUndo = true;
    return () => {
      this.undone++;
      return undo();
    };
  }
}

/** Kinds that come and go with unrelated work: single reads, writes and look-ups. */
const passing = /^(Immediate|.*Req(Wrap|Callback)?|FSReqPromise|GETADDRINFO.*|.*CONNECTWRAP)$/i;

const resources = (): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo?.() ?? [])
    if (!passing.test(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
};

const added = (before: ReadonlyMap<string, number>): string[] =>
  [...resources()].flatMap(([kind, count]) => (count > (before.get(kind) ?? 0) ? [kind] : []));
