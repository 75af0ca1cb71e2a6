/**
 * Reads that engines of one group answer each other, so that several engines of a user cost one poller.
 *
 * Invariants: an answer is as old as the moment *before* it was asked for, by the store's clock alone, so that no engine takes it for
 * younger than it is; one engine asks while the others wait, and each asks for itself where nobody answers; only complete answers are
 * left to others; a store that cannot be asked costs no read.
 * Not here: which reads may be answered so, and how old an answer may be (orders/state/).
 */
import { Observable, Subscription } from "rxjs";
import type { Outcome } from "../client/outcome.ts";
import type { Clock, Timer } from "../clock/clock.ts";

/** What the store says to one who wants an answer. */
export type AnswerReply =
  /** It was asked for so long ago. */
  | { readonly kind: "answer"; readonly text: string; readonly ageMs: number; readonly storeMs: number }
  /** Nobody asks at present: ask the service, and leave the answer under this mark. */
  | { readonly kind: "ask"; readonly mark: string; readonly storeMs: number }
  /** Another engine asks at present. */
  | { readonly kind: "wait"; readonly storeMs: number };

/** Where engines leave answers for each other. `storeMs` is the store's clock. Every call may reject. */
export interface AnswerStore {
  /** An answer that is `maxAgeMs` old at most, or who is to ask. */
  look(name: string, maxAgeMs: number): Promise<AnswerReply>;
  /** The answer to a question that was begun under `mark`; without a text nothing came of it. */
  leave(name: string, mark: string, text: string | undefined): Promise<void>;
  close(): void;
}

/** Who waits for another engine's answer looks again after this. */
const lookAgainMs = 200;
/** And asks for itself after this. */
const waitMs = 3_000;
/** After the store could not be asked, reads do without it for so long. */
const awayMs = 10_000;
/** Larger answers stay with the engine that got them. */
const textMax = 1_000_000;
/** What two readings of the store's clock may differ from ours. */
const stepMs = 500;

interface Aged<R> {
  readonly outcome: Outcome<R>;
  readonly ageMs: number;
}

export class SharedReads {
  readonly #clock: Clock;
  readonly #store: AnswerStore;
  #awayUntil = Number.NEGATIVE_INFINITY;
  /** The store's clock and ours when it last answered. */
  #heard: { readonly storeMs: number; readonly at: number } | undefined;
  /** The store's clock was set back: what it says of ages is not believed before it has passed this. */
  #trustedFrom = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, store: AnswerStore) {
    this.#clock = clock;
    this.#store = store;
  }

  /** Emits one outcome and completes. `maxAgeMs` 0: the service is asked, whatever others know. */
  read<R>(name: string, maxAgeMs: number, read: () => Observable<Outcome<R>>): Observable<Aged<R>> {
    const isAway = this.#clock.now() < this.#awayUntil;
    return new Observable((subscriber) => {
      const asking = new Question(this.#clock, this.#store, name, maxAgeMs, read, {
        next: (aged) => {
          subscriber.next(aged);
          subscriber.complete();
        },
        error: (error) => {
          subscriber.error(error);
        },
        isTrusted: (reply, askedAt) => this.#isTrusted(reply, askedAt),
        away: () => {
          this.#awayUntil = this.#clock.now() + awayMs;
        },
      });
      if (maxAgeMs <= 0 || isAway) asking.askService(undefined);
      else asking.look();
      return () => {
        asking.end();
      };
    });
  }

  /** A clock that was set back makes old answers look young. */
  #isTrusted({ storeMs }: AnswerReply, askedAt: number): boolean {
    const heard = this.#heard;
    this.#heard = { storeMs, at: this.#clock.now() };
    // Nothing to compare it with yet.
    if (heard === undefined) return false;
    if (storeMs - heard.storeMs < askedAt - heard.at - stepMs) {
      this.#trustedFrom = Math.max(this.#trustedFrom, heard.storeMs + (askedAt - heard.at));
    }
    return storeMs >= this.#trustedFrom;
  }
}

interface Asker<R> {
  next(aged: Aged<R>): void;
  error(error: unknown): void;
  isTrusted(reply: AnswerReply, askedAt: number): boolean;
  away(): void;
}

/** One read on its way through the store. */
class Question<R> {
  readonly #clock: Clock;
  readonly #store: AnswerStore;
  readonly #name: string;
  readonly #maxAgeMs: number;
  readonly #read: () => Observable<Outcome<R>>;
  readonly #asker: Asker<R>;
  readonly #begunAt: number;
  readonly #under = new Subscription();
  #timer: Timer | undefined;
  /** Under which its answer is awaited by others. */
  #mark: string | undefined;
  #isOver = false;

  constructor(clock: Clock, store: AnswerStore, name: string, maxAgeMs: number, read: () => Observable<Outcome<R>>, asker: Asker<R>) {
    this.#clock = clock;
    this.#store = store;
    this.#name = name;
    this.#maxAgeMs = maxAgeMs;
    this.#read = read;
    this.#asker = asker;
    this.#begunAt = clock.now();
  }

  look(): void {
    const askedAt = this.#clock.now();
    this.#store.look(this.#name, this.#maxAgeMs).then(
      (reply) => {
        const isTrusted = this.#asker.isTrusted(reply, askedAt);
        if (this.#isOver) {
          if (reply.kind === "ask") this.#leave(reply.mark, undefined);
        } else if (reply.kind === "wait") this.#wait();
        else if (reply.kind === "ask") this.askService(reply.mark);
        else this.#take(reply.text, isTrusted ? reply.ageMs + this.#clock.now() - askedAt : Number.POSITIVE_INFINITY);
      },
      () => {
        this.#asker.away();
        if (!this.#isOver) this.askService(undefined);
      },
    );
  }

  askService(mark: string | undefined): void {
    this.#mark = mark;
    let last: Outcome<R> | undefined;
    this.#under.add(
      this.#read().subscribe({
        next: (outcome) => {
          last = outcome;
        },
        error: (error: unknown) => {
          this.#isOver = true;
          this.#giveUp();
          this.#asker.error(error);
        },
        complete: () => {
          this.#isOver = true;
          this.#share(last);
          if (last !== undefined) this.#asker.next({ outcome: last, ageMs: 0 });
        },
      }),
    );
  }

  /** Nobody wants to know any more. */
  end(): void {
    this.#isOver = true;
    this.#timer?.cancel();
    this.#under.unsubscribe();
    this.#giveUp();
  }

  #wait(): void {
    if (this.#clock.now() - this.#begunAt >= waitMs) {
      this.askService(undefined);
      return;
    }
    this.#timer = this.#clock.setTimer(this.#clock.now() + lookAgainMs, () => {
      this.look();
    });
  }

  #take(text: string, ageMs: number): void {
    const records = ageMs <= this.#maxAgeMs ? (parsed(text) as readonly R[] | undefined) : undefined;
    if (records === undefined) {
      this.askService(undefined);
      return;
    }
    this.#isOver = true;
    this.#asker.next({ outcome: { kind: "done", records, problems: [], at: this.#clock.now() - ageMs }, ageMs });
  }

  /** A record that could not be read is known to its reader only. */
  #share(outcome: Outcome<R> | undefined): void {
    const text = outcome?.kind === "done" && outcome.problems.length === 0 ? JSON.stringify(outcome.records) : undefined;
    if (this.#mark !== undefined) this.#leave(this.#mark, text !== undefined && text.length <= textMax ? text : undefined);
    this.#mark = undefined;
  }

  #giveUp(): void {
    this.#share(undefined);
  }

  #leave(mark: string, text: string | undefined): void {
    this.#store.leave(this.#name, mark, text).catch(() => {
      this.#asker.away();
    });
  }
}

const parsed = (text: string): readonly object[] | undefined => {
  try {
    const records: unknown = JSON.parse(text);
    return Array.isArray(records) && records.every((record) => typeof record === "object" && record !== null) ? records : undefined;
  } catch {
    return undefined;
  }
};
