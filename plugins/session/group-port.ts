/**
 * Stores of a group as part of a session: what the engine states and asks leaves it, what they answer enters.
 *
 * Invariants: the engine gets what was written and nothing else; a replay asks no store, so that no engine that runs
 * meanwhile is fenced or loses units; an answer that was shared is kept where it is read, and told by size and hash
 * where it is left.
 * Not here: what the stores are, and what is stated (plugins/shared-quota).
 */
import { createHash } from "node:crypto";
import { messageOf, outside } from "sluice/extension";
import { NotSent } from "sluice/plugins/redis";
import type {
  AnswerReply,
  AnswerStore,
  ClaimReply,
  ClaimStore,
  Enrolled,
  GroupStores,
  ScopeHolding,
} from "sluice/plugins/shared-quota";
import type { InputSequencer } from "./input-sequencer.ts";
import type { ReplayScript } from "./replay-script.ts";
import { codeIn, type Entry, errorOf, type GroupQuestion } from "./session-records.ts";

interface Asks {
  /** `run` performs it; a replay does without. */
  readonly ask: (question: GroupQuestion, run: () => Promise<unknown>) => Promise<unknown>;
  readonly tell: (question: GroupQuestion, run: () => void) => void;
}

const claimsOver = ({ ask, tell }: Asks, inner: ClaimStore | undefined): ClaimStore => {
  const by =
    <T>(op: keyof ClaimStore) =>
    (...args: readonly unknown[]): Promise<T> =>
      ask({ store: "claims", op, args }, async () => inner && Reflect.apply(inner[op], inner, args)) as Promise<T>;
  return {
    register: by<number>("register"),
    claim: by<ClaimReply>("claim"),
    leave: by<void>("leave"),
    members: by<readonly Enrolled[]>("members"),
    ping: by<void>("ping"),
    halt: by<void>("halt"),
    halted: by<string | undefined>("halted"),
    holdings: by<readonly ScopeHolding[]>("holdings"),
    close: () => tell({ store: "claims", op: "close", args: [] }, () => inner?.close()),
  };
};

const answersOver = ({ ask, tell }: Asks, inner: AnswerStore | undefined): AnswerStore => ({
  look: (...args) =>
    ask({ store: "answers", op: "look", args }, async () => inner?.look(...args)) as Promise<AnswerReply>,
  leave: async (name, mark, text) => {
    await ask({ store: "answers", op: "leave", args: [name, mark, ...left(text)] }, async () =>
      inner?.leave(name, mark, text),
    );
  },
  close: () => tell({ store: "answers", op: "close", args: [] }, () => inner?.close()),
});

const left = (text: string | undefined): readonly unknown[] =>
  text === undefined ? [] : [{ size: text.length, sha256: createHash("sha256").update(text).digest("hex") }];

/** The same stores, each question and each answer written down. `copy` gives a value as it will be read back. */
export const recordedGroup = (
  inner: GroupStores,
  turnsOf: () => InputSequencer | undefined,
  copy: (value: unknown) => unknown,
): GroupStores => {
  let count = 0;
  const asking = (turns: InputSequencer): Asks => ({
    ask: (question, run) => {
      const group = count++;
      turns.note({ out: "group", group, ...question });
      return new Promise((resolve, reject) => {
        const enter = (given: Given): void => {
          turns.enter(
            () => ({ in: "group", group, ...given }),
            () => ("error" in given ? reject(thrownBy(given)) : resolve(given.value)),
          );
        };
        turns.asking(run).then(
          (value) => enter(value === undefined || value === null ? {} : { value: copy(value) }),
          (thrown: unknown) =>
            enter({ error: String(copy(messageOf(thrown))), ...codeIn(thrown), ...notSentIn(thrown) }),
        );
      });
    },
    tell: (question, run) => {
      turns.note({ out: "group", group: count++, ...question });
      turns.asking(run);
    },
  });
  /** Opens it in the engine's turn; the opened object stays here, because it has no JSON form. */
  const opened = async <T>(
    store: GroupQuestion["store"],
    open: (stores: GroupStores) => Promise<T>,
  ): Promise<readonly [Asks, T]> => {
    const asks = asking(turnsOf() as InputSequencer);
    let one: T | undefined;
    await asks.ask({ store, op: "open", args: [] }, async () => {
      one = await open(inner);
    });
    return [asks, one as T];
  };
  return {
    claims: async (settings) => claimsOver(...(await opened("claims", (stores) => stores.claims(settings)))),
    answers: async (settings, kind, member) =>
      answersOver(...(await opened("answers", (stores) => stores.answers(settings, kind, member)))),
  };
};

type Given = { readonly value?: unknown } | Failure;

interface Failure {
  readonly error: string;
  readonly code?: string;
  readonly notSent?: true;
}

const notSentIn = (thrown: unknown): { readonly notSent?: true } =>
  thrown instanceof NotSent ? { notSent: true } : {};

const thrownBy = ({ error, code, notSent }: Failure): Error =>
  notSent === true ? new NotSent(error) : errorOf(error, code);

interface ReplayedGroup {
  readonly stores: GroupStores;
  readonly answer: (entry: Extract<Entry, { readonly in: "group" }>) => void;
}

/**
 * The stores as they answered then; `isRecorded` false: a session of before they were recorded, for which they are not
 * reached.
 */
export const replayedGroup = (isRecorded: boolean, script: ReplayScript): ReplayedGroup => {
  const waiting = new Map<
    number,
    { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void }
  >();
  let count = 0;
  const asks: Asks = {
    ask: (question) => {
      const group = count++;
      script.act({ out: "group", group, ...question });
      if (script.over) return Promise.reject(new NotSent("the session is over"));
      return new Promise((resolve, reject) => {
        waiting.set(group, { resolve, reject });
      });
    },
    tell: (question) => void script.act({ out: "group", group: count++, ...question }),
  };
  const opened = async (store: GroupQuestion["store"]): Promise<readonly [Asks, undefined]> => {
    if (!isRecorded) return [unreached, undefined];
    await asks.ask({ store, op: "open", args: [] }, async () => undefined);
    return [asks, undefined];
  };
  return {
    stores: {
      claims: async () => claimsOver(...(await opened("claims"))),
      answers: async () => answersOver(...(await opened("answers"))),
    },
    answer: ({ group, value, error, code, notSent }) => {
      const one = waiting.get(group);
      waiting.delete(group);
      if (one === undefined)
        script.fail("undeliverable", `nothing waits for the answer of the group's store to question ${group}`);
      else if (error === undefined) outside(() => one.resolve(value));
      else
        outside(() =>
          one.reject(thrownBy({ error, ...(code !== undefined && { code }), ...(notSent && { notSent }) })),
        );
    },
  };
};

const unreached: Asks = {
  ask: () => Promise.reject(new NotSent("the session holds no answers of the group's store")),
  tell: () => undefined,
};
