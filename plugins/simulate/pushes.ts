/**
 * Order records as the service pushes them to one user, over a connection that may be cut, silent or disorderly.
 *
 * Invariants: in order unless a fault changes it; pushes in transit when the connection ends are lost; a new process is
 * first informed whether pushes are available.
 */
import { BehaviorSubject, type Observable, Subject } from "rxjs";
import type { OrderRecord } from "sluice";
import type { Venue } from "sluice/backtest";
import type { VirtualClock } from "sluice/extension";
import type { Fault, FaultKind } from "./fault.ts";
import type { ProcessClock } from "./process-clock.ts";

export const pushKinds: readonly FaultKind[] = ["push-lost", "push-double", "push-late", "push-cut", "push-silent"];

interface PushesOptions {
  readonly time: VirtualClock;
  readonly venue: Venue;
  readonly uid: string;
  /** Returns the transit time of the next push, in milliseconds. */
  readonly wayMs: () => number;
  readonly mark: (name: string) => void;
}

interface Connection {
  readonly clock: ProcessClock;
  readonly pushes$: Subject<OrderRecord>;
  readonly pushing$: BehaviorSubject<boolean>;
}

export class Pushes {
  readonly #options: PushesOptions;
  #connection: Connection | undefined;
  #armed: Fault[] = [];
  #cutUntil = Number.NEGATIVE_INFINITY;
  #silentUntil = Number.NEGATIVE_INFINITY;
  /** Number of connections: pushes of an earlier one are lost. */
  #line = 0;
  #lastAt = Number.NEGATIVE_INFINITY;

  constructor(options: PushesOptions) {
    this.#options = options;
    options.venue.onOrder((uid, record) => {
      if (uid === options.uid) this.#push(record);
    });
  }

  /** The streams of a new process; the one before it gets nothing more. */
  join(clock: ProcessClock): { readonly pushes$: Observable<OrderRecord>; readonly pushing$: Observable<boolean> } {
    this.#line++;
    this.#connection = { clock, pushes$: new Subject(), pushing$: new BehaviorSubject(!this.#isCut()) };
    const { pushes$, pushing$ } = this.#connection;
    return { pushes$, pushing$ };
  }

  arm(fault: Fault): void {
    const { time } = this.#options;
    if (fault.kind === "push-silent") this.#silentUntil = Math.max(this.#silentUntil, time.now() + fault.forMs);
    else if (fault.kind !== "push-cut") this.#armed.push(fault);
    else {
      this.#cutUntil = Math.max(this.#cutUntil, time.now() + fault.forMs);
      this.#line++;
      this.#announce(false);
      time.setTimer(this.#cutUntil, () => {
        if (!this.#isCut()) this.#announce(true);
      });
    }
  }

  calm(): void {
    this.#armed = [];
    this.#silentUntil = this.#options.time.now();
    if (!this.#isCut()) return;
    this.#cutUntil = this.#options.time.now();
    this.#announce(true);
  }

  #isCut(): boolean {
    return this.#options.time.now() < this.#cutUntil;
  }

  #push(record: OrderRecord): void {
    const { time, mark, wayMs } = this.#options;
    if (this.#isCut() || time.now() < this.#silentUntil) {
      mark(this.#isCut() ? "a change while pushes were cut" : "a change while pushes were silent");
      return;
    }
    const fault = this.#armed.shift();
    const at = time.now() + wayMs();
    if (fault !== undefined) mark(`${fault.kind} met a push`);
    if (fault?.kind === "push-lost") return;
    if (fault?.kind === "push-late") {
      this.#deliverAt(at + fault.size, record);
      return;
    }
    this.#lastAt = Math.max(this.#lastAt, at);
    this.#deliverAt(this.#lastAt, record);
    if (fault?.kind === "push-double") this.#deliverAt(this.#lastAt, record);
  }

  #deliverAt(at: number, record: OrderRecord): void {
    const line = this.#line;
    this.#options.time.setTimer(at, () => {
      if (line !== this.#line) return;
      const to = this.#connection;
      to?.clock.deliver(() => to.pushes$.next(record));
    });
  }

  #announce(pushing: boolean): void {
    const to = this.#connection;
    to?.clock.deliver(() => to.pushing$.next(pushing));
  }
}
