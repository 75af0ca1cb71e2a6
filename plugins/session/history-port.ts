/**
 * The history source of a config as part of a session: what the engine asks of it leaves, what it answers enters.
 *
 * Invariants: the engine gets what was written and nothing else; an answer at once is a reply to the question, one that
 * was waited for is an entry of its own; a replay asks no source, so that a folder that has changed or an address that
 * is gone does not matter.
 * Not here: what a source is (market/history.ts), what it lacks (host/history-reader.ts).
 */

import type { HistorySource } from "sluice";
import { messageOf, outside } from "sluice/extension";
import type { InputSequencer } from "./input-sequencer.ts";
import type { ReplayScript } from "./replay-script.ts";
import { codeIn, type Entry, errorOf, type HistoryFacts, type Reply } from "./session-records.ts";

type Kind = "candles" | "trades" | "quotes";
type Ask = (ask: Kind, args: readonly unknown[]) => unknown;

/** Facts about a source in the header. */
export const historyFacts = ({ name, trades, quotes, isComplete }: HistorySource): HistoryFacts => ({
  name,
  kinds: ["candles", ...(trades === undefined ? [] : ["trades"]), ...(quotes === undefined ? [] : ["quotes"])],
  isComplete: isComplete === true,
});

/** A source of this name and these kinds, whose answers come from `ask`. */
const sourceOver = ({ name, kinds, isComplete }: HistoryFacts, ask: Ask): HistorySource => {
  const asking = (kind: Kind) =>
    kinds.includes(kind) ? { [kind]: (...args: readonly unknown[]) => ask(kind, args) } : {};
  // The reader of an answer checks it, as with any source.
  return {
    name,
    ...asking("candles"),
    ...asking("trades"),
    ...asking("quotes"),
    ...(isComplete && { isComplete }),
  } as HistorySource;
};

/** The same source, each question and each answer written down. `copy` gives a value as it will be read back. */
export const recordedHistory = (
  source: HistorySource,
  turnsOf: () => InputSequencer | undefined,
  copy: (value: unknown) => unknown,
): HistorySource => {
  let count = 0;
  const later = (turns: InputSequencer, history: number, answer: PromiseLike<unknown>): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const enter = (given: Given): void => {
        turns.enter(
          () => ({ in: "history", history, ...given }),
          () => ("error" in given ? reject(errorOf(given.error, given.code)) : resolve(given.value)),
        );
      };
      answer.then(
        (value) => enter(givenBy(() => value, copy)),
        (thrown: unknown) => enter(failureOf(thrown, copy)),
      );
    });
  const ask: Ask = (kind, args) => {
    const asked = (): unknown => (source[kind] as Asked).apply(source, [...args]);
    const turns = turnsOf();
    if (turns === undefined) return asked();
    const history = count++;
    turns.note({ out: "history", history, ask: kind, args });
    let promised: PromiseLike<unknown> | undefined;
    const given = givenBy(() => {
      const answer = turns.asking(asked);
      if (isPromise(answer)) promised = answer;
      return promised === undefined ? answer : undefined;
    }, copy);
    if (promised !== undefined) {
      turns.reply({ re: "later" });
      return later(turns, history, promised);
    }
    if ("error" in given) {
      const { error: message, ...code } = given;
      turns.reply({ re: "thrown", message, ...code });
      throw errorOf(message, given.code);
    }
    turns.reply({ re: "value", value: given.value });
    return given.value;
  };
  const { load } = source;
  return { ...sourceOver(historyFacts(source), ask), ...(load !== undefined && { load }) };
};

type Given = { readonly value: unknown } | { readonly error: string; readonly code?: string };

/** An answer as it will be read back; one without a JSON form is a failure. */
const givenBy = (answer: () => unknown, copy: (value: unknown) => unknown): Given => {
  try {
    return { value: copy(answer()) ?? null };
  } catch (thrown) {
    return failureOf(thrown, copy);
  }
};

const failureOf = (thrown: unknown, copy: (value: unknown) => unknown): Given => ({
  error: String(copy(messageOf(thrown))),
  ...codeIn(thrown),
});

type Asked = (...args: readonly unknown[]) => unknown;

const isPromise = (answer: unknown): answer is PromiseLike<unknown> =>
  typeof (answer as Partial<PromiseLike<unknown>> | undefined | null)?.then === "function";

interface ReplayedHistory {
  /** The source as it answered then; undefined where the session had none. */
  readonly source: HistorySource | undefined;
  readonly answer: (entry: Extract<Entry, { readonly in: "history" }>) => void;
}

export const replayedHistory = (facts: HistoryFacts | undefined, script: ReplayScript): ReplayedHistory => {
  const waiting = new Map<
    number,
    { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void }
  >();
  let count = 0;
  const ask: Ask = (kind, args) => {
    const history = count++;
    const reply: Reply | undefined = script.act({ out: "history", history, ask: kind, args });
    if (reply?.re === "value") return reply.value;
    if (reply?.re === "thrown") throw errorOf(reply.message, reply.code);
    if (reply?.re !== "later") return [];
    return new Promise((resolve, reject) => {
      waiting.set(history, { resolve, reject });
    });
  };
  return {
    source: facts === undefined ? undefined : sourceOver(facts, ask),
    answer: ({ history, value, error, code }) => {
      const one = waiting.get(history);
      waiting.delete(history);
      if (one === undefined)
        script.fail("undeliverable", `nothing waits for the answer of history to question ${history}`);
      else if (error === undefined) outside(() => one.resolve(value));
      else outside(() => one.reject(errorOf(error, code)));
    },
  };
};
