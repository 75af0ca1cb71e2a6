/**
 * Extensions of an engine: calls what plugins add, step by step.
 *
 * Invariants: a step that no extension has costs no turn of the event loop; every extension is closed, even if another
 * one throws or never ends; if an extension throws when asked for a reason to refuse, the order is refused, which is
 * reported once.
 * Not here: what an extension may be (host/engine-extension.ts), the steps of the engine itself (engine-lifecycle.ts).
 */
import { type Clock, within } from "../clock/clock.ts";
import { createSystemClock } from "../clock/system-clock.ts";
import type { Interceptor, WireRequest } from "../contract/transport.ts";
import { messageOf, SluiceError } from "../errors.ts";
import type { Acquired, EngineExtension, EngineGroup, ExtensionContext, StopHow } from "../host/engine-extension.ts";
import type { Plugin } from "../host/strategy.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { ShareRead } from "../orders/state/read-sharing.ts";

/** An extension and the plugin that adds it. */
interface Named {
  readonly name: string;
  readonly definition: string;
  readonly extension: EngineExtension;
}

const endMsMax = 5_000;

type Extending = Pick<Plugin, "name" | "definition" | "options" | "extend">;

export class Extensions {
  /** Undefined if no extension may refuse, because it is called for every placement. */
  readonly refuses: ((isExit: boolean) => string | undefined) | undefined;
  /** Undefined if no extension may require the flag. */
  readonly flagOnly: (() => string | undefined) | undefined;
  /** Undefined if no extension lets another process go first. */
  readonly yieldMs: (() => number) | undefined;
  readonly #all: readonly Named[];
  readonly #events: Pick<EventLog, "append">;
  /** A stop uses the machine's time, because the engine's time may not advance. */
  readonly #machine: Clock;
  /** Plugins that threw when asked for a reason, which was reported. */
  readonly #reported = new Set<string>();

  /** Throws CONFIG_INVALID if two extensions keep the journal. */
  constructor(
    plugins: readonly Extending[],
    context: Omit<ExtensionContext<never>, "name" | "options">,
    machine: Clock = createSystemClock(),
  ) {
    this.#events = context.events;
    this.#machine = machine;
    this.#all = plugins.flatMap(({ name, definition = name, options, extend }) => {
      const extension = extend?.({ ...context, name, options: options as never });
      return extension === undefined ? [] : [{ name, definition, extension }];
    });
    const disks = this.#having("openDisk").map(({ name }) => name);
    if (disks.length > 1) {
      const text = `config.plugins: ${disks.join(" and ")} both keep the journal. Leave one of them out.`;
      throw new SluiceError("CONFIG_INVALID", text);
    }
    const refusing = this.#having("refuses");
    if (refusing.length > 0)
      this.refuses = (isExit) => this.#firstReason(refusing, (extension) => extension.refuses?.(isExit));
    const flagging = this.#having("flagOnly");
    if (flagging.length > 0) this.flagOnly = () => this.#firstReason(flagging, (extension) => extension.flagOnly?.());
    const yielding = this.#all.flatMap(({ extension }) => extension.yieldMs ?? []);
    if (yielding.length > 0) this.yieldMs = () => Math.max(...yielding.map((ask) => ask()));
  }

  #having(part: keyof EngineExtension): readonly Named[] {
    return this.#all.filter(({ extension }) => extension[part] !== undefined);
  }

  get loads(): readonly (() => Promise<void>)[] {
    return this.#all.flatMap(({ extension: { load } }) => load ?? []);
  }

  /** The findings of all extensions that wait, taken together; undefined where none waits. */
  acquire(): Promise<Acquired> | undefined {
    const steps = this.#all.flatMap(({ extension: { acquire } }) => acquire ?? []);
    if (steps.length === 0) return undefined;
    return acquireInTurn(steps);
  }

  join(): Promise<void> | undefined {
    return inTurn(this.#all.flatMap(({ extension: { join } }) => join ?? []));
  }

  synced(): Promise<void> | undefined {
    return inTurn(this.#all.flatMap(({ extension: { synced } }) => synced ?? []));
  }

  /** Reports extensions that throw. Strategies already trade then, and continue. */
  started(): void {
    for (const { name, extension } of this.#all) {
      try {
        extension.started?.();
      } catch (error) {
        this.#events.append({ type: "plugin.failed", plugin: name, message: messageOf(error) });
      }
    }
  }

  stopping(how: () => StopHow): Promise<void> | undefined {
    const steps = this.#having("stopping").toReversed();
    return inTurn(
      steps.map(
        ({ name, extension }) =>
          () =>
            this.#inTime(name, extension.stopping?.(how())),
      ),
    );
  }

  /** Rejects with the first failure after every extension was closed. */
  async closed(): Promise<void> {
    const failures: unknown[] = [];
    for (const { name, extension } of this.#all.toReversed()) {
      try {
        await this.#inTime(name, extension.closed?.());
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  /** A step of the stop that takes longer than five seconds of the machine's time is reported and not waited for. */
  #inTime(name: string, going: Promise<void> | undefined): Promise<void> {
    if (going === undefined) return Promise.resolve();
    return within(this.#machine, endMsMax, going, () => {
      const detail = `plugin ${name} did not end within ${endMsMax / 1_000} s and is not waited for`;
      this.#events.append({ type: "anomaly", what: "plugin.end", detail });
    });
  }

  readonly interceptor: Interceptor = (transport) =>
    this.#all.reduceRight((inner, { extension: { interceptor } }) => interceptor?.(inner) ?? inner, transport);

  blocks(request: WireRequest): string | undefined {
    return this.#firstReason(this.#all, (extension) => extension.blocks?.(request));
  }

  get openDisk(): EngineExtension["openDisk"] {
    return this.#having("openDisk")[0]?.extension.openDisk;
  }

  readsOf(uid: string): ShareRead | undefined {
    for (const { extension } of this.#all) {
      const reads = extension.readsOf?.(uid);
      if (reads !== undefined) return reads;
    }
    return undefined;
  }

  get group(): EngineGroup | undefined {
    return this.#all.map(({ extension }) => extension.group?.()).find((group) => group !== undefined);
  }

  /** Health of every extension that reports one, by the plugin's name in the config. */
  get health(): Readonly<Record<string, object>> {
    return Object.fromEntries(
      this.#all.flatMap(({ name, extension: { health } }) => (health === undefined ? [] : [[name, health()]])),
    );
  }

  healthOf<T extends object>(definition: string): T | undefined {
    return this.#all.find((one) => one.definition === definition)?.extension.health?.() as T | undefined;
  }

  #firstReason(all: readonly Named[], ask: (extension: EngineExtension) => string | undefined): string | undefined {
    for (const { name, extension } of all) {
      try {
        const reason = ask(extension);
        if (reason !== undefined) return reason;
      } catch (error) {
        return this.#unanswered(name, error);
      }
    }
    return undefined;
  }

  #unanswered(name: string, error: unknown): string {
    const detail = `plugin ${name} failed to decide whether this may be sent, so it is not sent: ${messageOf(error)}`;
    if (!this.#reported.has(name)) this.#events.append({ type: "anomaly", what: "plugin.refusal", detail });
    this.#reported.add(name);
    return detail;
  }
}

const acquireInTurn = async (steps: readonly (() => Promise<Acquired>)[]): Promise<Acquired> => {
  let all: Acquired = { continues: false, inOrder: false };
  for (const step of steps) {
    const found = await step();
    all = { continues: all.continues || found.continues, inOrder: all.inOrder || found.inOrder };
  }
  return all;
};

/** Runs one step after the other. Undefined if none takes time. */
const inTurn = (steps: readonly (() => Promise<void> | undefined)[]): Promise<void> | undefined => {
  const [step, ...rest] = steps;
  if (step === undefined) return undefined;
  const going = step();
  return going === undefined ? inTurn(rest) : going.then(() => inTurn(rest));
};
