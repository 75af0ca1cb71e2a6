/**
 * A running engine as a control source: its document, the stories of its orders, and its actions.
 *
 * Invariants: each action is journalled before it is done (`operator.acted`); it is answered when it is done, or after
 * `actMsMax` with how far it has come; a refusal of the engine is an answer, never an error; at most `actingMax`
 * actions run at a time, but urgent ones at any time.
 * Not here: the fold (engine-view.ts), access (server/).
 */
import type { Observable, ObservedValueOf } from "rxjs";
import { compare, type Event, isSluiceError, type OrderUpdate, type PluginContext } from "sluice";
import { hasHidden, messageOf, type StrategyView } from "sluice/extension";
import type { ControlUpdate } from "./control-document.ts";
import type { EngineRow } from "./control-rows.ts";
import { type ControlAction, type ControlResult, type ControlSource, isUrgent } from "./control-source.ts";
import { EngineView, type WatchedRun } from "./engine-view.ts";

/** Part of a plugin's context that the actions use. */
export type SteeredRun = WatchedRun &
  Pick<
    PluginContext<unknown>,
    "halt" | "resume" | "closePositions" | "cancel" | "openOrders" | "strategies" | "changeOptions" | "operatorActed"
  >;

type OrderConditions = Extract<ControlAction, { readonly type: "cancel" }>["where"];

const actMsMax = 10_000;
const actingMax = 8;
const lookMs = 250;

interface Waiting {
  readonly until: number;
  readonly give: () => void;
}

/** A running engine, to be watched and steered. `end` it when the engine stops. */
export class EngineSource implements ControlSource {
  readonly id: string;
  readonly #run: SteeredRun;
  readonly #view: EngineView;
  readonly #waiting = new Set<Waiting>();
  #acting = 0;

  constructor(id: string, engine: EngineRow, run: SteeredRun) {
    this.id = id;
    this.#run = run;
    this.#view = new EngineView(id, engine, run);
    run.every(lookMs, () => {
      for (const one of this.#waiting) if (run.now() >= one.until) one.give();
    });
  }

  get updates$(): Observable<ControlUpdate> {
    return this.#view.updates$;
  }

  snapshot(): ControlUpdate {
    return this.#view.snapshot();
  }

  story(clOrdId: string): readonly Event[] {
    return this.#view.story(clOrdId);
  }

  async act(action: ControlAction, by: string): Promise<ControlResult> {
    if (action.type === "play")
      return { ok: false, code: "UNSUPPORTED", text: "This engine runs in real time and is not played." };
    if (this.#acting >= actingMax && !isUrgent(action))
      return { ok: false, code: "ENGINE_BUSY", text: "Earlier actions are still being done." };
    this.#acting++;
    try {
      const reason = "reason" in action ? (action.reason ?? "") : "";
      this.#run.operatorActed({ action: action.type, target: targetOf(action), by, reason, ...strategyOf(action) });
      return await this.#do(action, reason === "" ? `asked for by ${by}` : reason);
    } catch (error) {
      return { ok: false, code: isSluiceError(error) ? error.code : "FAILED", text: messageOf(error) };
    } finally {
      this.#acting--;
    }
  }

  /** Publishes the remaining changes and completes the updates. */
  end(): void {
    for (const one of this.#waiting) one.give();
    this.#view.end();
  }

  async #do(action: Exclude<ControlAction, { readonly type: "play" }>, reason: string): Promise<ControlResult> {
    switch (action.type) {
      case "halt": {
        const { strategy, full = false } = action;
        const whom = strategy === undefined ? {} : { strategy };
        const { values, isDone } = await this.#all(this.#run.halt(reason, { ...whom, full }));
        const left = this.#openOrders(whom).filter(({ spec }) => full || spec?.reduceOnly !== true).length;
        return canceling(`${this.#halted(strategy, full)}, and`, values, isDone, left);
      }
      case "resume":
        this.#run.resume(reason, action.strategy === undefined ? {} : { strategy: action.strategy });
        return this.#resumed(action.strategy);
      case "cancel": {
        const meant = this.#openOrders(action.where);
        const { values, isDone } = await this.#all(this.#run.cancel(action.where));
        if (meant.length === 0) {
          return action.where.clOrdId === undefined
            ? { ok: true, text: "No order matches.", count: 0 }
            : { ok: false, code: "ORDER_UNKNOWN", text: `No open order matches ${targetOf(action)}.` };
        }
        const open = new Set(this.#openOrders(action.where).map(({ clOrdId }) => clOrdId));
        const left = meant.filter(({ clOrdId }) => open.has(clOrdId)).length;
        return canceling("Canceling:", values, isDone, left);
      }
      case "close":
        return this.#close(action, reason);
      case "options":
        if (hasHidden(action.changes)) {
          return {
            ok: false,
            code: "OPTION_HIDDEN",
            text: "(hidden) replaces a secret and is no value. Leave that option out, or write its value.",
          };
        }
        this.#run.changeOptions(action.strategy, action.changes);
        return this.#startedAgain(action.strategy);
    }
  }

  async #close(
    { instId, strategy }: Extract<ControlAction, { readonly type: "close" }>,
    reason: string,
  ): Promise<ControlResult> {
    const which = { ...(instId !== undefined && { instId }), ...(strategy !== undefined && { strategy }) };
    const { values, isDone } = await this.#all(this.#run.closePositions(reason, which));
    const halted = strategy ?? (instId === undefined ? "Trading" : `Every strategy that trades ${instId}`);
    const left = values.filter(({ kind }) => kind !== "closed");
    if (left.length === 0)
      return ended(`${halted} is halted, and ${counted(values.length, "position")} closed`, values.length, isDone);
    const lines = left.map(({ instId: of, left: qty, reason: why }) => `${qty} ${of}: ${why}`);
    const text = `${halted} is halted, and ${counted(left.length, "position")} still open. ${lines.join("; ")}`;
    return { ok: false, code: "POSITIONS_LEFT", text };
  }

  /** Describes the state after a halt: a halt that is not full leaves a full stop in force. */
  #halted(strategy: string | undefined, full: boolean): string {
    const whom = strategy ?? "Trading";
    const meant = this.#run.strategies().filter(({ name }) => strategy === undefined || name === strategy);
    const stopped = full ? meant : meant.filter((view) => view.full === true);
    const without = unprotectedIn(stopped);
    if (full || (stopped.length > 0 && stopped.length === meant.length))
      return `${whom} ${full ? "is" : "stays"} stopped, exits included${without === "" ? "" : ` (${without})`}`;
    if (stopped.length === 0) return `${whom} is halted`;
    const names = stopped.map(({ name }) => name).join(", ");
    const stays = `${names} ${stopped.length === 1 ? "stays" : "stay"} stopped, exits included`;
    return `${whom} is halted (${stays}${without === "" ? "" : `; ${without}`})`;
  }

  /** One strategy stays halted while everything is. */
  #resumed(strategy: string | undefined): ControlResult {
    const view = this.#run.strategies().find(({ name }) => name === strategy);
    if (view === undefined || view.mode === "active") return { ok: true, text: `${strategy ?? "Trading"} is resumed.` };
    const why = view.reason === "" ? "" : ` (${view.reason})`;
    return {
      ok: false,
      code: "STILL_HALTED",
      text: `${strategy} itself is resumed and is still ${view.mode}, because all trading is${why}. Resume all trading.`,
    };
  }

  /** It may fail at once with options that its schema allows. */
  #startedAgain(strategy: string): ControlResult {
    const view = this.#run.strategies().find(({ name }) => name === strategy);
    if (view === undefined || view.state === "running")
      return { ok: true, text: `${strategy} was started again with changed options.` };
    const { state, error } = view;
    const why = error === undefined ? "" : `: ${error}`;
    return {
      ok: false,
      code: "STRATEGY_ENDED",
      text: `${strategy} was started again with changed options and is ${state} now${why}.`,
    };
  }

  /** Orders that are not over and meet every condition. */
  #openOrders(where: OrderConditions): readonly OrderUpdate[] {
    const { strategy, clOrdId, slot, instId, side } = where;
    return this.#run
      .openOrders()
      .filter(
        (order) =>
          !order.isFinal &&
          (strategy === undefined || order.strategy === strategy) &&
          (clOrdId === undefined || order.clOrdId === clOrdId) &&
          (slot === undefined || order.slot === slot) &&
          (instId === undefined || order.spec?.instId === instId) &&
          (side === undefined || order.spec?.side === side),
      );
  }

  /** Returns the values of a stream until it completes or its time is over. */
  #all<T>(stream$: Observable<T>): Promise<{ readonly values: readonly T[]; readonly isDone: boolean }> {
    const values: T[] = [];
    return new Promise((resolve, reject) => {
      const end = (isDone: boolean): void => {
        this.#waiting.delete(waiting);
        resolve({ values: [...values], isDone });
      };
      const waiting: Waiting = { until: this.#run.now() + actMsMax, give: () => end(false) };
      this.#waiting.add(waiting);
      // Not unsubscribed when time is over: the action continues.
      stream$.subscribe({
        next: (value) => values.push(value),
        error: (error: unknown) => {
          this.#waiting.delete(waiting);
          reject(error as Error);
        },
        complete: () => end(true),
      });
    });
  }
}

/** Text that lists the holdings that a full stop leaves without stops and targets; empty where there are none. */
const unprotectedIn = (views: readonly StrategyView[]): string => {
  const held = views.flatMap(({ name, positions }) =>
    [...positions].flatMap(([instId, { qty }]) => (compare(qty, "0") === 0 ? [] : [`${qty} ${instId} of ${name}`])),
  );
  return held.length === 0 ? "" : `without stops and targets now: ${held.join(", ")}`;
};

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? " is" : "s are"}`;

const canceled = (results: readonly { readonly phase: string }[]): string => {
  const gone = results.filter(({ phase }) => phase !== "filled").length;
  const filled = results.length - gone;
  return `${counted(gone, "order")} gone${filled === 0 ? "" : `, ${filled} were filled before`}`;
};

/** An order that was to be canceled, and whether it was. */
type CancelResult = ObservedValueOf<ReturnType<SteeredRun["halt"]>>;

/** An order that could not be canceled still rests, for any result of the others. */
const canceling = (begin: string, results: readonly CancelResult[], isDone: boolean, left: number): ControlResult => {
  const text = `${begin} ${canceled(results)}`;
  if (!isDone || left === 0) return ended(text, results.length, isDone);
  const why = "not canceled, because the service cannot, an order protects a position or was just being sent";
  return { ok: false, code: "ORDERS_LEFT", text: `${text}. ${counted(left, "order")} still open: ${why}.` };
};

const ended = (text: string, count: number, isDone: boolean): ControlResult =>
  isDone
    ? { ok: true, text: `${text}.`, count }
    : {
        ok: false,
        code: "UNFINISHED",
        text: `${text} so far. It is not finished after ${actMsMax / 1_000} s and continues.`,
      };

const conditionsText = (conditions: Readonly<Record<string, string | undefined>>): string =>
  Object.entries(conditions)
    .flatMap(([field, value]) => (value === undefined ? [] : [`${field} ${value}`]))
    .join(", ");

/** The one strategy that is meant, if it is one. */
const strategyOf = (action: ControlAction): { readonly strategy?: string } => {
  const { strategy } = action.type === "cancel" ? action.where : "strategy" in action ? action : {};
  return strategy === undefined ? {} : { strategy };
};

const targetOf = (action: ControlAction): string => {
  switch (action.type) {
    case "halt":
    case "resume":
      return action.strategy ?? "";
    case "options":
      return action.strategy;
    case "cancel":
      return conditionsText(action.where);
    case "close":
      return conditionsText({ strategy: action.strategy, instId: action.instId });
    case "play":
      return "";
  }
};
