/**
 * Outbox of one channel: alerts are gathered into messages, sent one at a time, and sent again for a while when they
 * fail.
 *
 * Invariants: at most `queueMax` alerts wait, and the oldest of the lowest level makes room; one request is under way
 * at most; at most `perMinute` messages leave within a minute; a message that fails is sent again with its id after 1,
 * 2, 4 … 60 s, or when the channel asks for it, until `retryForMs` have passed; lost alerts are counted and reported
 * with the next message; a line is printed when a channel begins to fail and when it works again, and none between.
 * Not here: protocols of channels (channels.ts), the choice of alerts (rules.ts).
 */
import { type Alert, type Message, messageOf, rankOf } from "./alert.ts";

/** Result of one attempt. `later`: worth another one; `refused`: the same message would be refused again. */
export type Delivery =
  | { readonly kind: "taken" }
  | { readonly kind: "later"; readonly why: string; readonly afterMs?: number }
  | { readonly kind: "refused"; readonly why: string };

/** Channel for messages. `send` never rejects, and ends at the signal. */
export interface Channel {
  readonly textMax: number;
  send(message: Message, signal: AbortSignal): Promise<Delivery>;
  close?(): void;
}

export interface OutboxLimits {
  readonly gatherMs: number;
  readonly perMinute: number;
  readonly queueMax: number;
  readonly retryForMs: number;
  readonly answerMs: number;
}

const backoffMsMax = 60_000;
const minuteMs = 60_000;

interface OutboxParts {
  /** Name of the channel. */
  readonly name: string;
  /** Title of the engine. */
  readonly title: string;
  readonly channel: Channel;
  readonly limits: OutboxLimits;
  readonly print: (line: string) => void;
  /** Milliseconds on the engine's clock. */
  readonly now: () => number;
}

interface Attempted {
  readonly message: Message;
  readonly since: number;
  readonly tries: number;
}

export class Outbox {
  readonly #name: string;
  readonly #title: string;
  readonly #channel: Channel;
  readonly #limits: OutboxLimits;
  readonly #print: (line: string) => void;
  readonly #now: () => number;
  readonly #waiting: Alert[] = [];
  readonly #sentAt: number[] = [];
  #oldestAt = 0;
  #attempted: Attempted | undefined;
  #notBefore = 0;
  #sending: Promise<void> | undefined;
  #leftOut = 0;
  #failing = false;
  #closed = false;
  #count = 0;

  constructor({ name, title, channel, limits, print, now }: OutboxParts) {
    this.#name = name;
    this.#title = title;
    this.#channel = channel;
    this.#limits = limits;
    this.#print = print;
    this.#now = now;
  }

  put(alert: Alert): void {
    if (this.#waiting.length === 0) this.#oldestAt = this.#now();
    this.#waiting.push(alert);
    if (this.#waiting.length <= this.#limits.queueMax) return;
    let least = 0;
    for (const [index, one] of this.#waiting.entries()) {
      if (rankOf(one.level) < rankOf((this.#waiting[least] as Alert).level)) least = index;
    }
    this.#waiting.splice(least, 1);
    this.#leftOut++;
  }

  /** Sends due messages; called often. */
  tick(): void {
    const now = this.#now();
    if (this.#sending !== undefined || this.#closed || now < this.#notBefore) return;
    if (this.#attempted === undefined && !this.#isGathered(now)) return;
    while (this.#sentAt.length > 0 && (this.#sentAt[0] as number) <= now - minuteMs) this.#sentAt.shift();
    if (this.#sentAt.length >= this.#limits.perMinute) return;
    this.#attempted ??= { message: this.#next(), since: now, tries: 0 };
    this.#sentAt.push(now);
    const attempted = this.#attempted;
    this.#sending = this.#channel
      .send(attempted.message, AbortSignal.timeout(this.#limits.answerMs))
      .then((delivery) => {
        this.#sending = undefined;
        this.#settle({ ...attempted, tries: attempted.tries + 1 }, delivery);
      });
  }

  /**
   * Sends waiting alerts at once: first a message that failed before, then the newest alerts that fit into one message.
   * Stops at the signal.
   */
  async flush(signal: AbortSignal): Promise<void> {
    this.#closed = true;
    if (this.#sending !== undefined) await Promise.race([this.#sending, ended(signal)]);
    let left = this.#waiting.length;
    const failed = this.#attempted?.message;
    if (failed !== undefined && !(await this.#isTaken(failed, signal))) left += failed.alerts.length;
    if (this.#waiting.length > 0) {
      const newest = this.#newest();
      if (await this.#isTaken(newest, signal)) left -= newest.alerts.length;
    }
    if (left > 0)
      this.#print(`${this.#name}: ${left === 1 ? "1 alert was" : `${left} alerts were`} not delivered before the stop`);
    this.#channel.close?.();
  }

  async #isTaken(message: Message, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    return (await this.#channel.send(message, signal)).kind === "taken";
  }

  #newest(): Message {
    const { textMax } = this.#channel;
    for (let from = 0; ; from++) {
      const rest = this.#waiting.slice(from);
      const message = messageOf(this.#nextId(), this.#title, rest, this.#leftOut + from, textMax);
      if (message.alerts.length === rest.length) return message;
    }
  }

  #isGathered(now: number): boolean {
    if (this.#waiting.length === 0) return false;
    return now - this.#oldestAt >= this.#limits.gatherMs || this.#waiting.some(({ level }) => level === "critical");
  }

  #next(): Message {
    const message = messageOf(this.#nextId(), this.#title, this.#waiting, this.#leftOut, this.#channel.textMax);
    this.#waiting.splice(0, message.alerts.length);
    this.#leftOut = 0;
    this.#oldestAt = this.#now();
    return message;
  }

  #nextId(): string {
    return `${this.#now().toString(36)}-${this.#count++}`;
  }

  #settle(attempted: Attempted, delivery: Delivery): void {
    const now = this.#now();
    const { message, since, tries } = attempted;
    if (delivery.kind === "taken") {
      this.#attempted = undefined;
      this.#notBefore = 0;
      if (this.#failing) this.#print(`${this.#name} takes messages again`);
      this.#failing = false;
      return;
    }
    const isOver = delivery.kind === "refused" || now - since >= this.#limits.retryForMs;
    const backoffMs = Math.min(backoffMsMax, 1_000 * 2 ** Math.min(tries - 1, 6));
    const asked = delivery.kind === "later" ? (delivery.afterMs ?? 0) : backoffMsMax;
    this.#notBefore = now + Math.max(backoffMs, Math.min(asked, this.#limits.retryForMs));
    this.#attempted = isOver ? undefined : attempted;
    if (isOver) this.#leftOut += message.alerts.length + message.leftOut;
    if (this.#failing) return;
    this.#failing = true;
    const next = isOver
      ? "the message is given up"
      : `it is tried again for ${Math.round(this.#limits.retryForMs / 1_000)} s`;
    this.#print(`${this.#name} does not take messages (${delivery.why}); ${next}`);
  }
}

const ended = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
