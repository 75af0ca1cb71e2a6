/**
 * Processes that compete for one lease in virtual time, over a network that delays, loses and repeats what they say to a store.
 *
 * A process can be stopped, as by SIGSTOP: its clocks go on, and its timers and the answers it is owed wait until it continues.
 */

import { Lease, type Standing } from "../../../../plugins/standby/lease.ts";
import type { Holder, LeaseRecord, LeaseStore } from "../../../../plugins/standby/lease-store.ts";
import { MemoryLeaseStore } from "../../../../plugins/standby/memory-lease-store.ts";
import type { Clock } from "../../../../src/clock/clock.ts";
import { VirtualClock } from "../../../../src/clock/virtual-clock.ts";
import type { Random } from "../../../../src/random.ts";

export const leaseMs = 10_000;
export const toleranceMs = 5_000;

export interface Network {
  /** Shares of requests, and of answers, that are lost; and of requests that come once more, later. */
  lossShare: number;
  repeatShare: number;
  delayMsMax: number;
  /** Nobody reaches the store. */
  isDown: boolean;
}

export class LeaseProcess {
  readonly name: string;
  readonly clock: Clock;
  readonly lease: Lease;
  readonly deposedBy: string[] = [];
  /** This process alone does not reach the store. */
  isCutOff = false;
  /** No answer of the store reaches this process; what it asks does. */
  isDeaf = false;
  /** Why it must never take the lease. */
  refusal = "";
  isStopped = false;
  isDead = false;
  wallOffset = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(
    name: string,
    session: string,
    clock: VirtualClock,
    store: MemoryLeaseStore,
    network: Network,
    random: Random,
  ) {
    this.name = name;
    this.clock = {
      now: () => clock.now(),
      wallNow: () => clock.wallNow() + this.wallOffset,
      setTimer: (at, run) => clock.setTimer(at, () => this.#whenAwake(run)),
    };
    const travel = <T>(call: () => Promise<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        const way = (): number => random.next() * network.delayMsMax;
        const isLost = (): boolean => this.isCutOff || network.isDown || random.next() < network.lossShare;
        const arrive = (): void => {
          if (isLost()) return;
          void call().then((answer) => {
            clock.setTimer(clock.now() + way(), () => {
              if (!this.isDeaf && !isLost()) this.#whenAwake(() => resolve(answer));
            });
          }, reject);
        };
        clock.setTimer(clock.now() + way(), arrive);
        if (random.next() < network.repeatShare) clock.setTimer(clock.now() + 10 * way(), () => void call());
      });
    const near: LeaseStore = {
      look: (candidate) => travel(() => store.look(candidate)),
      take: (candidate, seen: LeaseRecord | undefined) => travel(() => store.take(candidate, seen)),
      renew: (holder: Holder) => travel(() => store.renew(holder)),
      release: (holder) => travel(() => store.release(holder)),
      files: () => store.files(),
      read: (...args) => store.read(...args),
      append: (...args) => store.append(...args),
      replace: (...args) => store.replace(...args),
      stage: (...args) => store.stage(...args),
      replaceStaged: (...args) => store.replaceStaged(...args),
      remove: (...args) => store.remove(...args),
      close: () => undefined,
    };
    this.lease = new Lease({
      clock: this.clock,
      store: near,
      candidate: { name, session, owner: "service / user / main" },
      leaseMs,
      toleranceMs,
      onTurn: () => undefined,
      onDeposed: (by) => this.deposedBy.push(by),
      onForeign: ({ message }) => {
        this.refusal = message;
      },
    });
    this.lease.start();
  }

  /** What it may do now; one that is stopped or dead does nothing. */
  get standing(): Standing | "still" {
    return this.isStopped || this.isDead ? "still" : this.lease.standing;
  }

  continue(): void {
    this.isStopped = false;
    for (const run of this.#waiting.splice(0)) run();
  }

  #whenAwake(run: () => void): void {
    if (this.isDead) return;
    if (this.isStopped) this.#waiting.push(run);
    else run();
  }
}

export interface LeaseWorld {
  readonly clock: VirtualClock;
  readonly store: MemoryLeaseStore;
  readonly network: Network;
  readonly join: (name: string) => LeaseProcess;
  /** Lets time pass; `look` is called at every instant at which something happened. */
  readonly pass: (ms: number, look?: () => void) => Promise<void>;
}

export const leaseWorld = (random: Random): LeaseWorld => {
  const clock = new VirtualClock(1_000_000);
  const store = new MemoryLeaseStore(() => clock.wallNow());
  const network: Network = { lossShare: 0, repeatShare: 0, delayMsMax: 2, isDown: false };
  let sessions = 0;
  return {
    clock,
    store,
    network,
    join: (name) => new LeaseProcess(name, `${name} ${++sessions}`, clock, store, network, random),
    pass: async (ms, look = () => undefined) => {
      const until = clock.now() + ms;
      for (let more = true; more; ) {
        // Promises run to their end between two timers.
        for (let turn = 0; turn < 12; turn++) await Promise.resolve();
        look();
        more = clock.step(until);
      }
      clock.advanceTo(until);
    },
  };
};
