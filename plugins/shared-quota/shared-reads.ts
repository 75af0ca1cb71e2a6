/**
 * Shared reads: one engine of a group reads from the service and the others use its answer, so that they cost one
 * poller.
 *
 * Invariants: an answer's age counts from *before* its request, on the store's clock alone, so that no engine takes it
 * for younger than it is; one engine requests while the others wait, and each requests for itself when no answer comes;
 * only complete answers are shared; when the store fails, each engine reads for itself.
 * Not here: which reads may be answered so, and how old an answer may be (orders/state/).
 */
import { Observable, Subscription } from "rxjs";
import type { Clock, Outcome, Timer } from "sluice/extension";

/** Reply of the store to a look-up. */
export type AnswerReply =
  /** An answer, requested `ageMs` ago. */
  | { readonly kind: "answer"; readonly text: string; readonly ageMs: number; readonly storeMs: number }
  /** No engine is requesting it: request it from the service, and store the answer under this mark. */
  | { readonly kind: "ask"; readonly mark: string; readonly storeMs: number }
  /** Another engine asks at present. */
  | { readonly kind: "wait"; readonly storeMs: number };

/** Store of shared answers. `storeMs` is the store's clock. Every call may reject. */
export interface AnswerStore {
  /** Resolves with an answer at most `maxAgeMs` old, or with the instruction to request it or to wait. */
  look(name: string, maxAgeMs: number): Promise<AnswerReply>;
  /** Stores the answer to the request begun under `mark`; without a text the request failed. */
  leave(name: string, mark: string, text: string | undefined): Promise<void>;
  close(): void;
}

/** Interval of look-ups while another engine requests. */
const lookAgainMs = 200;
/** After this the waiting engine requests for itself. */
const waitMs = 3_000;
/** After a failure of the store, reads bypass it for this long. */
const awayMs = 10_000;
/** Larger answers are not shared. */
const textMax = 1_000_000;
/** Tolerated difference between an interval on the store's clock and on ours. */
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
  #lastReply: { readonly storeMs: number; readonly at: number } | undefined;
  /** The store's clock was set back: its ages are not trusted before it has passed this. */
  #trustedFrom = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, store: AnswerStore) {
    this.#clock = clock;
    this.#store = store;
  }

  /** Emits one outcome and completes. With `maxAgeMs` 0 the service is always read. */
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
    const last = this.#lastReply;
    this.#lastReply = { storeMs, at: this.#clock.now() };
    // Nothing to compare it with yet.
    if (last === undefined) return false;
    if (storeMs - last.storeMs < askedAt - last.at - stepMs) {
      this.#trustedFrom = Math.max(this.#trustedFrom, last.storeMs + (askedAt - last.at));
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

  constructor(
    clock: Clock,
    store: AnswerStore,
    name: string,
    maxAgeMs: number,
    read: () => Observable<Outcome<R>>,
    asker: Asker<R>,
  ) {
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

  /** The subscriber has left. */
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
    const text =
      outcome?.kind === "done" && outcome.problems.length === 0 ? JSON.stringify(outcome.records) : undefined;
    if (this.#mark !== undefined)
      this.#leave(this.#mark, text !== undefined && text.length <= textMax ? text : undefined);
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
    return Array.isArray(records) && records.every((record) => typeof record === "object" && record !== null)
      ? records
      : undefined;
  } catch {
    return undefined;
  }
};
