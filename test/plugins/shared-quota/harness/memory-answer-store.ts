/** An answer store in memory, with a clock of its own that may be wrong and ways that take time. */

import type { AnswerReply, AnswerStore } from "../../../../plugins/shared-quota/shared-reads.ts";
import type { Clock } from "../../../../src/clock/clock.ts";

const askingMs = 5_000;

export class MemoryAnswerStore {
  /** What its clock is ahead of the true one. */
  aheadMs = 0;
  /** Nothing is answered, or everything fails at once. */
  state: "there" | "silent" | "away" = "there";
  /** How often it was asked, whether or not it answered. */
  looks = 0;
  readonly #clock: Clock;
  readonly #answers = new Map<string, { readonly at: number; readonly text: string }>();
  readonly #asking = new Map<string, { readonly mark: string; readonly until: number }>();
  #marks = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** As one engine reaches it; `delayMs` is drawn for each way. */
  reached(delayMs: () => number = () => 0): AnswerStore {
    const over = <T>(act: () => T): Promise<T> =>
      this.state === "away"
        ? Promise.reject(new Error("away"))
        : new Promise((resolve, reject) => {
            const { now, setTimer } = {
              now: () => this.#clock.now(),
              setTimer: this.#clock.setTimer.bind(this.#clock),
            };
            const timeout = setTimer(now() + 1_000, () => {
              reject(new Error("no answer"));
            });
            setTimer(now() + delayMs(), () => {
              if (this.state !== "there") return;
              const result = act();
              setTimer(now() + delayMs(), () => {
                timeout.cancel();
                resolve(result);
              });
            });
          });
    return {
      look: (name, maxAgeMs) => {
        this.looks++;
        return over(() => this.#look(name, maxAgeMs));
      },
      leave: (name, mark, text) => over(() => this.#leave(name, mark, text)),
      close: () => undefined,
    };
  }

  #now(): number {
    return Math.floor(this.#clock.now() + this.aheadMs) + 1_000_000;
  }

  #look(name: string, maxAgeMs: number): AnswerReply {
    const storeMs = this.#now();
    const known = this.#answers.get(name);
    const ageMs = storeMs - (known?.at ?? 0);
    if (known !== undefined && ageMs >= 0 && ageMs <= maxAgeMs)
      return { kind: "answer", text: known.text, ageMs, storeMs };
    if (ageMs < 0) this.#answers.delete(name);
    const asking = this.#asking.get(name);
    if (asking !== undefined && asking.until > storeMs) return { kind: "wait", storeMs };
    const mark = `${storeMs}:${++this.#marks}`;
    this.#asking.set(name, { mark, until: storeMs + askingMs });
    return { kind: "ask", mark, storeMs };
  }

  #leave(name: string, mark: string, text: string | undefined): void {
    if (this.#asking.get(name)?.mark === mark) this.#asking.delete(name);
    const at = Number.parseInt(mark, 10);
    if (text !== undefined && at <= this.#now() && (this.#answers.get(name)?.at ?? 0) <= at)
      this.#answers.set(name, { at, text });
  }
}
