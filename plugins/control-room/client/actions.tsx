/**
 * Actions on an engine, and the confirmation before each: its effect, and the quantities that it concerns.
 *
 * Invariants: nothing is sent before it was confirmed; counts are those of the moment at which the question is asked;
 * the result is shown in a note on the page.
 */
import { useSignal } from "@preact/signals";
import { countOf } from "../../ui-kit/client/texts.ts";
import type { OrderRow, StrategyRow } from "../control-rows.ts";
import { act } from "./api.ts";
import { changesIn, fieldsOf, OptionsForm } from "./options-form.tsx";
import type { Room } from "./room.ts";
import type { SourceState } from "./source-state.ts";
import { namesText, shortFigure, shortName } from "./wording.ts";

export type OrderFilter = {
  strategy?: string;
  instId?: string;
  side?: "buy" | "sell";
  slot?: string;
  clOrdId?: string;
};

/** A question whose answer is one action. With `reason` a field asks for one; the text is sent where it stays empty. */
type Confirmation = {
  title: string;
  points: readonly string[];
  confirm: string;
  danger?: boolean;
  reason?: string;
  action: object;
};

export class Actions {
  #room;

  constructor(room: Room) {
    this.#room = room;
  }

  /** @param strategy - all of them where none is named */
  halt(strategy?: string) {
    const engines = this.#shown;
    const whose = strategy === undefined ? {} : { strategy };
    const orders = openIn(engines, whose);
    const all = engines.length > 1 ? `Halt all ${engines.length} engines` : "Halt all strategies";
    this.#confirm({
      title: strategy === undefined ? all : `Halt ${strategy}`,
      points: [
        strategy === undefined
          ? "No strategy opens or adds to a position until you resume."
          : `${strategy} opens or adds to no position until you resume it.`,
        orders === 0 ? "No order is open." : `Of ${countOf(orders, "open order")} all entries will be canceled.`,
        heldText(engines, strategy),
      ],
      confirm: strategy === undefined ? "Halt" : `Halt ${shortName(strategy)}`,
      danger: true,
      reason: "halted from the dashboard",
      action: { type: "halt", ...whose },
    });
  }

  resume(strategy?: string) {
    this.#confirm({
      title: strategy === undefined ? "Resume trading" : `Resume ${strategy}`,
      points: [
        strategy === undefined
          ? "All strategies may place orders again, at once. Those that were halted one by one stay halted."
          : `${strategy} may place orders again, at once.`,
      ],
      confirm: "Resume",
      reason: "resumed from the dashboard",
      action: { type: "resume", ...(strategy !== undefined && { strategy }) },
    });
  }

  /** @param words - what they are, such as "open orders of ladder" */
  cancel(where: OrderFilter, words: string) {
    const orders = countOf(openIn(this.#shown, where), "order");
    const isOne = where.clOrdId !== undefined;
    this.#confirm({
      title: isOne ? "Cancel one order" : `Cancel ${words}`,
      points: [
        isOne ? `The order ${where.clOrdId} will be canceled.` : `${orders} will be canceled.`,
        "Strategies continue: one that still wants such an order may place it again. To prevent that, halt first.",
      ],
      confirm: isOne ? "Cancel the order" : `Cancel ${orders}`,
      danger: true,
      action: { type: "cancel", where },
    });
  }

  close() {
    const engines = this.#shown;
    const positions = accountPositions(engines);
    const reason = "closed from the dashboard";
    this.#room.ask({
      title: "Close positions",
      content: (
        <>
          <ClosingPoints positions={positions} spot={spotHoldings(engines)} isOne={engines.length < 2} />
          <Reason otherwise={reason} />
        </>
      ),
      confirm: "Halt and close positions",
      danger: true,
      act: (fields) => {
        const one = positions[Number(fields.get("position") ?? -1)];
        const action = { type: "close", ...(one !== undefined && { instId: one.instId }), reason };
        return this.#send(one === undefined ? engines : [one.engine], withReason(action, fields));
      },
    });
  }

  /**
   * Closes the holdings of a strategy, and nothing else of the account.
   *
   * @param instId - all that it holds without
   */
  closeHoldings(strategy: string, instId?: string) {
    const rows = this.#shown.flatMap((engine) => engine.list("positions")).filter(({ qty }) => Number(qty) !== 0);
    const own = rows.filter((row) => row.strategy === strategy && (instId === undefined || row.instId === instId));
    const others = rows.filter((row) => row.strategy !== strategy && own.some((one) => one.instId === row.instId));
    const orders = openIn(this.#shown, { strategy });
    this.#confirm({
      title: instId === undefined ? `Close the positions of ${strategy}` : `Close ${instId} of ${strategy}`,
      points: [
        `${strategy} is halted: it places nothing until you resume it. ${orders === 0 ? "It has no open order." : `Its ${countOf(orders, "open order")} will be canceled, exits as well.`}`,
        own.length === 0
          ? "It has no position now."
          : `Then its positions are closed at the market: ${own.map((row) => closingOrder(row.qty, row.instId)).join(", ")}.`,
        others.length === 0
          ? "No other position of the account is closed."
          : `Other strategies keep theirs: ${others.map((row) => `${row.strategy} ${heldWords(row.qty, row.instId)}`).join(", ")}.`,
        "The cost depends on the market.",
      ],
      confirm: `Halt ${shortName(strategy)} and close`,
      danger: true,
      reason: "closed from the dashboard",
      action: { type: "close", strategy, ...(instId !== undefined && { instId }) },
    });
  }

  options({ name, schema, options, openOrders }: StrategyRow) {
    if (schema === undefined) return;
    const engines = this.#shown;
    const form = fieldsOf(schema, options);
    const orders =
      openOrders === 0
        ? "It has no open order."
        : `Its ${countOf(openOrders, "open order")} stay until it emits wanted orders.`;
    this.#room.ask({
      title: `Options of ${name}`,
      content: (
        <>
          <Points
            texts={[
              `${name} restarts with the changed options. ${orders}`,
              "The next run of the engine uses the options of the config again.",
            ]}
          />
          <OptionsForm fields={form} />
        </>
      ),
      confirm: "Change options",
      act: async (given) => {
        const changes = changesIn(form, given);
        if (Object.keys(changes).length === 0) return "Nothing was changed.";
        return this.#send(engines, { type: "options", strategy: name, changes });
      },
    });
  }

  /** Changes the playback. No confirmation is needed: only the display changes. */
  play(how: { speed?: number; paused?: boolean; seekTo?: number; toNextFill?: boolean }) {
    if (this.#room.playback.value === undefined) return;
    void this.#send(this.#shown, { type: "play", ...how }, "").then(
      (problem) => problem !== undefined && this.#room.say(problem, "bad"),
    );
  }

  get #shown() {
    return this.#room.inSight.value.map(({ state }) => state);
  }

  #confirm({ points, reason, action, ...question }: Confirmation) {
    const engines = this.#shown;
    this.#room.ask({
      ...question,
      content: (
        <>
          <Points texts={points} />
          {reason !== undefined && <Reason otherwise={reason} />}
        </>
      ),
      act: (fields) => this.#send(engines, reason === undefined ? action : withReason({ ...action, reason }, fields)),
    });
  }

  /**
   * Sends an action to all engines at once: an engine that cannot be reached does not delay the others.
   *
   * @param summary - text that is shown instead of their answers
   * @returns what failed, in words
   */
  async #send(engines: readonly SourceState[], action: object, summary?: string): Promise<string | undefined> {
    const results = await Promise.all(engines.map((engine) => act(engine.id, action).catch(failed)));
    const named = results.map(({ text }, index) => (engines.length > 1 ? `${engines[index]?.id}: ${text}` : text));
    const problems = named.filter((_, index) => results[index]?.ok === false);
    if (problems.length > 0) return problems.join(" ");
    const text = summary ?? named.join(" ");
    if (text !== "") this.#room.say(text, "");
    return undefined;
  }
}

const failed = (error: unknown) => ({ ok: false, text: error instanceof Error ? error.message : String(error) });

/** Text of a field of a form; empty where there is none. */
const textIn = (fields: FormData, name: string) => {
  const value = fields.get(name);
  return typeof value === "string" ? value : "";
};

/** The action with the reason that was written, or its own. */
const withReason = (action: { reason: string }, fields: FormData) => ({
  ...action,
  reason: textIn(fields, "reason").trim() || action.reason,
});

const openIn = (engines: readonly SourceState[], where: OrderFilter) => {
  const named = Object.entries(where) as [keyof OrderFilter, string][];
  const isMeant = (order: OrderRow) => !order.isFinal && named.every(([name, value]) => order[name] === value);
  return engines.reduce((sum, engine) => sum + engine.list("orders").filter(isMeant).length, 0);
};

const isLong = (qty: string) => !qty.startsWith("-");

/** To the last digit: it is what will be traded. */
const closingOrder = (qty: string, instId: string) =>
  `${isLong(qty) ? "sells" : "buys"} ${qty.replace("-", "")} ${instId}`;

const heldWords = (qty: string, instId: string) =>
  `${isLong(qty) ? "long" : "short"} ${qty.replace("-", "")} ${instId}`;

/** An instrument of all accounts of an engine. */
type AccountPosition = { engine: SourceState; instId: string; held: string; orders: string };

const accountPositions = (engines: readonly SourceState[]): readonly AccountPosition[] =>
  engines.flatMap((engine) => {
    const rows = engine.list("accountPositions").filter(({ pos }) => Number(pos) !== 0);
    const hasSeveral = new Set(rows.map(({ user }) => user)).size > 1;
    return [...new Set(rows.map(({ instId }) => instId))].map((instId) => {
      const own = rows.filter((row) => row.instId === instId);
      const say = (words: (pos: string, instId: string) => string) =>
        own.map(({ user, pos }) => `${words(pos, instId)}${hasSeveral ? ` of ${user}` : ""}`).join(", ");
      return { engine, instId, held: say(heldWords), orders: say(closingOrder) };
    });
  });

const foreign = "Positions of other programs in it on this account are closed as well. The cost depends on the market.";

/** Orders that sell what strategies hold of spot. */
const spotHoldings = (engines: readonly SourceState[]) =>
  engines
    .flatMap((engine) => engine.list("positions"))
    .filter(({ instId, qty }) => !instId.endsWith("-SWAP") && Number(qty) !== 0)
    .map(({ strategy, instId, qty }) => `${closingOrder(qty, instId)} of ${strategy}`);

const closingAll = (positions: readonly AccountPosition[], spot: readonly string[]) => [
  "All strategies are halted, and every open order of this engine is canceled.",
  positions.length === 0
    ? "Then every position of the account is closed at the market. None is known now."
    : `Then every position of the account is closed at the market: ${positions.map(({ orders }) => orders).join(", ")}.`,
  ...(spot.length === 0 ? [] : [`Spot holdings of strategies are sold: ${spot.join(", ")}.`]),
  "Positions that other programs opened on this account are closed as well. The cost depends on the market.",
];

const closingOne = ({ engine, instId, orders }: AccountPosition) => {
  const holders = engine.list("positions").filter((row) => row.instId === instId);
  const names = holders.map(({ strategy, qty }) =>
    Number(qty) === 0 ? `${strategy} (flat)` : `${strategy} (${heldWords(qty, instId)})`,
  );
  return [
    `Every strategy that trades ${instId} is halted, its orders canceled${names.length === 0 ? "" : `: ${names.join(", ")}`}. Others continue.`,
    `Then the account's position is closed at the market: ${orders}. The positions of strategies in it count as closed.`,
    foreign,
  ];
};

const heldText = (engines: readonly SourceState[], strategy: string | undefined) => {
  const held = engines
    .flatMap((engine) => engine.list("positions"))
    .filter((row) => Number(row.qty) !== 0 && (strategy === undefined || row.strategy === strategy));
  if (held.length === 0) return "There is no open position.";
  const names = held.map(
    ({ qty, instId }) => `${Number(qty) > 0 ? "long" : "short"} ${shortFigure(qty.replace("-", ""))} ${instId}`,
  );
  return `Positions stay as they are, with their exits, stops and targets: ${namesText(names)}.`;
};

const Points = ({ texts }: { texts: readonly string[] }) => (
  <ul>
    {texts.map((text) => (
      <li key={text}>{text}</li>
    ))}
  </ul>
);

const Reason = ({ otherwise }: { otherwise: string }) => (
  <label class="field">
    <span>Reason (for the journal)</span>
    <input type="text" name="reason" maxLength={200} placeholder={otherwise} autocomplete="off" />
  </label>
);

type Closing = { positions: readonly AccountPosition[]; spot: readonly string[]; isOne: boolean };

/** What is closed: all positions of the account, or the one that is chosen. */
const ClosingPoints = ({ positions, spot, isOne }: Closing) => {
  const chosen = useSignal(-1);
  const one = positions[chosen.value];
  return (
    <>
      {positions.length > 0 && (
        <label class="field">
          <span>Positions to close</span>
          <select
            name="position"
            onChange={({ currentTarget }) => {
              chosen.value = Number(currentTarget.value);
            }}
          >
            <option value="-1">all positions of the account</option>
            {positions.map(({ engine, instId, held }, place) => (
              <option key={`${engine.id} ${instId}`} value={place}>
                {`${isOne ? "" : `${engine.id}: `}${held}`}
              </option>
            ))}
          </select>
        </label>
      )}
      <Points texts={one === undefined ? closingAll(positions, spot) : closingOne(one)} />
    </>
  );
};
