/**
 * Plugin host: starts and stops plugins, and disposes of what they added.
 *
 * Invariants: plugins start in the order of the config and stop in reverse order; a plugin that throws, at the start or
 * later, is reported by name, stopped and not called again, while the engine and the others run on; its disposables run
 * once, last first; work that they start is awaited for two seconds at most.
 */
import { createRequire } from "node:module";
import type { Subscription } from "rxjs";
import { type Clock, every, within } from "../clock/clock.ts";
import { createSystemClock } from "../clock/system-clock.ts";
import type { RequestTracer, TraceHeaders } from "../contract/transport.ts";
import { messageOf, SluiceError } from "../errors.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { PluginContext } from "./context.ts";
import { createDisposables, type Disposables } from "./disposables.ts";
import { guarded, inside, type Owner, outside } from "./execution-context.ts";
import { FailureLog, handling, itsStart } from "./failure.ts";
import { OwnerLife, owned, ownedAccount, ownedMarket, ownedResult, ownedState } from "./owned-streams.ts";
import { isPromise } from "./promises.ts";
import type { Plugin } from "./strategy.ts";

type PluginParts = Omit<PluginContext<never>, "options" | "name" | "every" | "requirePackage">;

interface Running {
  readonly name: string;
  readonly owner: Owner & { ending: boolean };
  readonly scope: Disposables;
  /** Work that its undo started. Each promise resolves, even if the work fails. */
  readonly ending: Promise<void>[];
}

const endMsMax = 2_000;
const readyMsMax = 30_000;

const notReady = (name: string, why: string): SluiceError =>
  new SluiceError(
    "PLUGIN_FAILED",
    `plugin ${name}: ${why}. Strategies wait for it, so the engine does not start: nothing was traded.`,
  );

export class PluginHost {
  readonly #clock: Clock;
  readonly #journal: Pick<EventLog, "append">;
  readonly #machine: Clock;
  readonly #failures: FailureLog;
  readonly #running: Running[] = [];
  readonly #undone: Running[] = [];

  /** Work that an undo starts uses the machine's time, even when the engine has another clock. */
  constructor(
    clock: Clock,
    journal: Pick<EventLog, "append">,
    machine: Clock = createSystemClock(),
    failures = new FailureLog(),
  ) {
    this.#clock = clock;
    this.#journal = journal;
    this.#machine = machine;
    this.#failures = failures;
  }

  /**
   * Returns a promise if strategies wait for the set-up. It rejects with PLUGIN_FAILED if the set-up fails or takes too
   * long.
   */
  start(plugin: Plugin, parts: PluginParts): Promise<void> | undefined {
    const isAwaited = plugin.ready === "before trading";
    const self = this.#begin(plugin.name);
    this.#running.push(self);
    const { owner } = self;
    handling.value = itsStart;
    let settingUp: PromiseLike<void> | undefined;
    try {
      inside(owner, () => {
        const added: unknown = plugin.start(contextOf(self, parts) as unknown as PluginContext<never>);
        if (isPromise(added)) settingUp = added.then((later) => this.#addLater(self, later));
        else this.#addUndo(self, added);
      });
    } catch (error) {
      owner.fail(error);
      if (isAwaited) return Promise.reject(notReady(plugin.name, messageOf(error)));
    } finally {
      handling.value = undefined;
    }
    return isAwaited && settingUp !== undefined ? this.#ready(self, settingUp) : undefined;
  }

  /** Uses the machine's time, as for the work of an undo. */
  async #ready({ name, owner }: Running, settingUp: PromiseLike<void>): Promise<void> {
    try {
      await within(this.#machine, readyMsMax, settingUp, () => {
        throw new Error(`its set-up did not end within ${readyMsMax / 1_000} s`);
      });
    } catch (error) {
      owner.fail(error);
      throw notReady(name, messageOf(error));
    }
  }

  /** Adds what a set-up returned late. If the plugin has ended meanwhile, its undo runs at once. */
  #addLater(self: Running, added: unknown): void {
    try {
      this.#addUndo(self, added);
    } catch (error) {
      this.#note(self.name, error);
    }
  }

  #addUndo({ name, scope, ending }: Running, added: unknown): void {
    const undo = undoOf(added);
    if (undo === undefined) return;
    scope.add(() => {
      const going = undo();
      if (!isPromise(going)) return;
      const settled = Promise.resolve(going).then(
        () => undefined,
        (error: unknown) => {
          this.#note(name, error);
        },
      );
      ending.push(settled);
    });
  }

  stop(): void {
    for (const one of this.#running.splice(0).reverse()) {
      if (!one.owner.life.closed) this.#undo(one);
      if (one.ending.length > 0) this.#undone.push(one);
    }
  }

  /** Resolves when the work that undos started has ended, or its time is over. */
  async ended(): Promise<void> {
    await Promise.all(this.#undone.splice(0).map((one) => this.#ended(one)));
  }

  #note(plugin: string, error: unknown): void {
    this.#failures.note("plugin", plugin, error, this.#clock.now());
    outside(() => {
      this.#journal.append({ type: "plugin.failed", plugin, message: messageOf(error) });
    });
  }

  #undo({ name, owner, scope }: Running): void {
    owner.ending = true;
    const thrown = inside(owner, () => [...scope.close(), ...closed(owner.life)]);
    for (const error of thrown) this.#note(name, error);
  }

  #begin(name: string): Running {
    const life = new OwnerLife();
    let failed = false;
    const owner: Running["owner"] = {
      ending: false,
      clock: this.#clock,
      life,
      fail: (error) => {
        // Errors of an undo are recorded there, and nothing after them.
        if (failed || life.closed) return;
        failed = true;
        this.#undo(self);
        this.#note(name, error);
      },
    };
    const self: Running = { name, owner, scope: createDisposables(), ending: [] };
    return self;
  }

  async #ended({ name, ending }: Running): Promise<void> {
    await within<unknown>(this.#machine, endMsMax, Promise.all(ending), () =>
      this.#note(name, `its undoing did not end within ${endMsMax / 1_000} s and is not waited for`),
    );
  }
}

const undoOf = (added: unknown): (() => unknown) | undefined => {
  if (typeof added === "function") return added as () => unknown;
  const { unsubscribe } = (added ?? {}) as { readonly unsubscribe?: unknown };
  return typeof unsubscribe === "function" ? () => unsubscribe.call(added) as unknown : undefined;
};

/** Error that ending its subscriptions threw. */
const closed = (life: Subscription): readonly unknown[] => {
  try {
    life.unsubscribe();
    return [];
  } catch (error) {
    return [error];
  }
};

const contextOf = ({ name, owner, scope }: Running, parts: PluginParts): Omit<PluginContext<never>, "options"> => ({
  ...parts,
  ...ownedState(owner, parts),
  name,
  account: ownedAccount(owner, parts.account),
  accountOf: (uid) => ownedAccount(owner, parts.accountOf(uid)),
  market: ownedMarket(owner, parts.market),
  events$: owned(owner, parts.events$),
  updates$: owned(owner, parts.updates$),
  halt: (reason, whom) =>
    ownedResult(
      owner,
      outside(() => parts.halt(reason, whom)),
    ),
  closePositions: (reason, which) =>
    ownedResult(
      owner,
      outside(() => parts.closePositions(reason, which)),
    ),
  resume: (reason, whom) => {
    outside(() => {
      parts.resume(reason, whom);
    });
  },
  strategies: () => outside(() => parts.strategies()),
  openOrders: () => outside(() => parts.openOrders()),
  cancel: (where) =>
    ownedResult(
      owner,
      outside(() => parts.cancel(where)),
    ),
  changeOptions: (strategy, changes) => {
    outside(() => {
      parts.changeOptions(strategy, changes);
    });
  },
  operatorActed: (act) => {
    outside(() => {
      parts.operatorActed(act);
    });
  },
  health: () => outside(() => parts.health()),
  on: (name, listener) => {
    const off = parts.on(name, (event) => {
      guarded(owner, listener, event);
    });
    scope.add(off);
    return off;
  },
  traceRequests: (tracer) => {
    const off = parts.traceRequests(ownedTracer(owner, tracer));
    scope.add(off);
    return off;
  },
  requirePackage: (packageName, range, from) => requirePackage(name, packageName, range, from),
  every: (ms, run) => {
    const ticks = outside(() => every(owner.clock, ms).subscribe(() => guarded(owner, run, undefined)));
    scope.add(() => {
      ticks.unsubscribe();
    });
  },
});

/** A tracer that throws ends its plugin and no request. */
const ownedTracer = (owner: Owner, tracer: RequestTracer): RequestTracer => ({
  submitted: (action) => {
    guarded(owner, (id) => tracer.submitted(id), action);
  },
  leaves: (action) => {
    let headers: TraceHeaders | undefined;
    const take = (id: number): void => {
      headers = tracer.leaves(id);
    };
    guarded(owner, take, action);
    return headers;
  },
  ends: (action) => {
    guarded(owner, (id) => tracer.ends(id), action);
  },
});

/** `PluginContext.requirePackage` for the plugin of that name. */
const requirePackage = <T>(plugin: string, name: string, range: string, from: string): T => {
  try {
    return createRequire(from)(name) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") throw error;
    throw new SluiceError(
      "PLATFORM_UNSUPPORTED",
      `plugin ${plugin}: it needs the package ${name}, which is not installed. Install it: npm install ${name}@${range}`,
    );
  }
};
