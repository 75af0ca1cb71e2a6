/**
 * Hot standby: one of several processes of the same engine leads, and another takes over when it is gone.
 *
 * Invariants: a process that does not lead sends only reads. A leader sends only cancels and exits once its lease has
 * run out or its journal's copy lacks bytes while the store does not answer; once the lease has run out, no exit
 * without the service's reduce-only flag, and none that the next leader may be sending. Before a process leads, its
 * folder holds the journal of the previous leader. A process that lost the lead to another never leads again, and its
 * engine ends.
 * Not here: the decision about the leader (lease.ts), the copy of the journal (journal-copy.ts), recovery, which is
 * that of any start (engine/recovery.ts).
 */
import { firstValueFrom } from "rxjs";
import { SluiceError } from "sluice";
import type { PlaceBody, WireRequest } from "sluice/dialect";
import { after, type Clock, type Disk, type EventLog, messageOf, type StandbyHealth } from "sluice/extension";
import { CopiedDisk } from "./journal-copy.ts";
import { JournalFollower } from "./journal-follower.ts";
import { Lease, type Standing } from "./lease.ts";
import type { Candidate, JournalCopyStore, LeaseStore } from "./lease-store.ts";

export interface StandbyOptions {
  readonly clock: Clock;
  readonly journal: Pick<EventLog, "append">;
  readonly store: LeaseStore;
  /** The same store over a connection of its own, with a time limit of its own, for files in pieces. */
  readonly bulk: JournalCopyStore & Pick<LeaseStore, "close">;
  readonly candidate: Candidate;
  readonly leaseMs: number;
  readonly toleranceMs: number;
  /** The journal's folder. */
  readonly disk: Disk;
  /** True if an order of this engine is an exit, with or without the service's flag. */
  readonly isExit: (clOrdId: string) => boolean;
  /** True for an exit without the flag. */
  readonly isUnflagged?: (clOrdId: string) => boolean;
  /** Everything may leave again after something was kept back. */
  readonly onBack: () => void;
  /** Another process leads: the engine must end. */
  readonly onDeposed: (leader: string) => void;
}

export class Standby {
  readonly #options: StandbyOptions;
  readonly #lease: Lease;
  readonly #follower: JournalFollower;
  #copied: CopiedDisk | undefined;
  #unlock: (() => Promise<void>) | undefined;
  #told: Standing = "waiting";
  #leader: string | undefined;
  /** Turns in a row in which the store did not answer. */
  #silentTurns = 0;
  #isSilent = false;
  /** Something was kept back since everything might leave. */
  #hasKeptBack = false;
  #following: Promise<void> | undefined;
  #resolveTurn: () => void = () => undefined;
  #isOver = false;
  #giveUp: (error: unknown) => void = () => undefined;
  /** Rejects when this process has ended or another one leads, so that this one no longer leads or never will. */
  readonly #over: Promise<never>;

  constructor(options: StandbyOptions) {
    const { clock, store, bulk, candidate, leaseMs, toleranceMs, disk } = options;
    this.#options = options;
    this.#follower = new JournalFollower({ disk, store: bulk });
    this.#over = new Promise<never>((_, reject) => {
      this.#giveUp = (error) => {
        this.#isOver = true;
        reject(error);
      };
    });
    this.#over.catch(() => undefined);
    this.#lease = new Lease({
      clock,
      store,
      candidate,
      leaseMs,
      toleranceMs,
      onTurn: () => this.#onTurn(),
      onDeposed: (by) => this.#onDeposed(by),
      onForeign: (error) => this.#giveUp(error),
    });
  }

  /**
   * Resolves when this process leads and its folder holds the journal of the previous leader; with true where that
   * leader was seen alive. Rejects when it is ended before.
   */
  async lead(): Promise<boolean> {
    const { disk, store, bulk, candidate, journal, clock, leaseMs } = this.#options;
    this.#unlock = await disk.lock(`${candidate.owner} / ${disk.name}`);
    const turn = new Promise<void>((resolve) => {
      this.#resolveTurn = resolve;
      if (this.#lease.standing !== "over") this.#lease.start();
    });
    await Promise.race([turn, this.#over]);
    await Promise.race([this.#following, this.#over]);
    const toEnd = this.#followToEnd();
    this.#following = toEnd.catch(() => undefined);
    await Promise.race([toEnd, this.#over]);
    this.#copied = new CopiedDisk({ disk, store, bulk, epoch: () => this.#lease.epoch, read: this.#follower.read });
    // What takes longer is made up for while it leads, with cancels and exits only.
    await Promise.race([this.#copied.catchUp(), firstValueFrom(after(clock, leaseMs / turnsPerLease)), this.#over]);
    const { name = "", released = true } = this.#lease.leader ?? {};
    journal.append({ type: "standby.leading", before: name, released });
    return this.#lease.hasSeenLeader;
  }

  /** The folder of the journal, for a leader. */
  get disk(): Disk {
    if (this.#copied !== undefined) return this.#copied;
    throw new SluiceError(
      "ENGINE_STATE",
      "The journal is opened by the process that leads, and this one does not lead yet.",
    );
  }

  /** Reason why a request must not be sent; checked when its bytes are about to leave. */
  blocks(request: WireRequest): string | undefined {
    if (request.method === "GET") return undefined;
    const refused = this.refusal(this.#isExit(request));
    return refused ?? (this.#isUnflagged(request) ? this.flagOnly() : undefined);
  }

  /**
   * Reason why exits may be sent only with the service's reduce-only flag: the next leader may send the same exit, and
   * without the flag the second one opens a position.
   */
  flagOnly(): string | undefined {
    if (this.#lease.standing !== "alone") return undefined;
    this.#hasKeptBack = true;
    return unflagged;
  }

  /**
   * Milliseconds that an exit waits which the next leader may send as well, so that the leader's goes first; 0 while no
   * other process can lead. Otherwise the two would leave at the same price in the same instant, and the flag of one
   * does not keep both within the strategy's position.
   */
  yieldMs(): number {
    const { leaseMs, toleranceMs } = this.#options;
    const since = this.#lease.unconfirmedMs;
    if (this.#lease.standing !== "alone" || since < leaseMs) return 0;
    return Math.max(0, leaseMs + toleranceMs + startMsMax - since) + firstMs;
  }

  /** Reason why no order may be sent, or none except exits. */
  refusal(isExit: boolean): string | undefined {
    const { standing } = this.#lease;
    const isBehind = standing === "leading" && this.#copied?.isBehind === true;
    if ((standing === "leading" && !isBehind) || (isExit && (isBehind || standing === "alone"))) return undefined;
    this.#hasKeptBack = true;
    return standing === "leading" ? behind : refusals[standing];
  }

  /** The leader before has given up the lead in order. */
  get isHandedOver(): boolean {
    return this.#lease.leader?.released === true;
  }

  health(): StandbyHealth {
    const { standing, standbys, leader, error } = this.#lease;
    return {
      state: standing,
      leader:
        standing === "waiting" && leader !== undefined && !leader.released
          ? { name: leader.name, heardMs: leader.ms }
          : undefined,
      standbys: standing === "leading" ? standbys.map(({ name, ms }) => ({ name, heardMs: ms })) : [],
      copyBehind: this.#copied?.isBehind === true,
      ...(error !== undefined && { storeError: error }),
    };
  }

  /** Releases the lease when nothing is under way and the copy of the journal is complete. */
  async end(): Promise<void> {
    await this.#lease.end(await this.#isCopied());
    this.#giveUp(ended());
    this.#options.bulk.close();
    await this.#following;
    this.#options.store.close();
    await this.#unlock?.();
    this.#unlock = undefined;
  }

  /**
   * Checks that the next process finds the whole journal; while it does not, the rest is sent for part of a lease at
   * most.
   */
  async #isCopied(): Promise<boolean> {
    const copied = this.#copied;
    const { clock, leaseMs } = this.#options;
    const until = clock.now() + leaseMs * endPart;
    while (copied?.isBehind === true && this.#lease.standing === "leading" && clock.now() < until) {
      const turn = firstValueFrom(after(clock, leaseMs / turnsPerLease));
      await Promise.race([copied.catchUp().catch(() => undefined), turn]);
      if (copied.isBehind) await turn;
    }
    if (copied?.isBehind !== true) return true;
    if (this.#lease.standing !== "over") this.#note("standby.behind", endedBehind);
    return false;
  }

  /** Cancels, and requests that close something. */
  #isExit({ endpoint, body }: WireRequest): boolean {
    if (endpoint !== "placeOrder" && endpoint !== "amendOrder")
      return endpoint === "cancelBatch" || endpoint === "closePosition";
    return this.#options.isExit((body as Pick<PlaceBody, "clOrdId">).clOrdId ?? "");
  }

  #isUnflagged({ endpoint, body }: WireRequest): boolean {
    if (endpoint !== "placeOrder" && endpoint !== "amendOrder") return false;
    return this.#options.isUnflagged?.((body as Pick<PlaceBody, "clOrdId">).clOrdId ?? "") === true;
  }

  #onTurn(): void {
    const { standing } = this.#lease;
    const before = this.#told;
    this.#told = standing;
    if (standing === "waiting") this.#watch();
    else if (standing === "leading") {
      this.#resolveTurn();
      if (before === "alone")
        this.#note("standby.back", "the store of the standby answers again, and no other process has led meanwhile");
      if (this.#copied?.isBehind === true) this.#copied.catchUp().catch(() => undefined);
      else if (this.#hasKeptBack) {
        this.#hasKeptBack = false;
        this.#options.onBack();
      }
    } else if (standing === "alone" && before !== "alone") this.#note("standby.alone", refusals.alone);
  }

  #note(what: string, detail: string): void {
    this.#options.journal.append({ type: "anomaly", what, detail });
  }

  /** Another process leads, or may. */
  #watch(): void {
    const { leader, error } = this.#lease;
    const name = leader === undefined || leader.released ? "" : leader.name;
    this.#silentTurns = error === undefined ? 0 : this.#silentTurns + 1;
    const isSilent = this.#silentTurns > firstNoted;
    if (name !== this.#leader || isSilent !== this.#isSilent)
      this.#options.journal.append({
        type: "standby.waiting",
        leader: name,
        ...(isSilent && error !== undefined && { error }),
      });
    this.#leader = name;
    this.#isSilent = isSilent;
    this.#following ??= this.#follower
      .follow()
      .catch(() => undefined)
      .then(() => {
        this.#following = undefined;
      });
  }

  /**
   * Reads the last records of the previous leader. Without them holdings, protections and halts would be lost, so the
   * read is repeated until it succeeds.
   */
  async #followToEnd(): Promise<void> {
    const { clock, leaseMs } = this.#options;
    for (let attempt = 0; !this.#isOver; attempt++) {
      try {
        await this.#follower.follow();
        return;
      } catch (error) {
        const detail = `the copy of the journal cannot be read: ${messageOf(error)}. This process has the lease and does not trade before it is.`;
        if (attempt % attemptsPerNote === firstNoted && !this.#isOver) this.#note("standby.journal", detail);
      }
      await Promise.race([firstValueFrom(after(clock, leaseMs / turnsPerLease)), this.#over]);
    }
  }

  #onDeposed(by: string): void {
    const leader = by === "" ? "another process" : by;
    this.#giveUp(new SluiceError("ENGINE_STATE", `${leader} has taken the lead while this process started.`));
    this.#options.onDeposed(leader);
  }
}

const turnsPerLease = 20;
/** From the moment a process leads until it has sent the exits that are due. */
const startMsMax = 5_000;
/** From a price until the leader's exit is executed and known here. */
const firstMs = 3_000;
/** One answer that is late is no anomaly; then about every minute with the lease that is usual. */
const firstNoted = 2;
const attemptsPerNote = 120;

/** Part of a lease for which an orderly end waits for the copy. */
const endPart = 1 / 2;
const endedBehind =
  "the store does not have the whole journal, so the lease is not given back: the next process waits until it has run out, and finds what is missing in the service's lists";

const behind =
  "the store of the standby does not answer, and what was ordered now would be missing in its copy of the journal: cancels and exits only";
const unflagged = "another process may lead: exits leave with the reduce-only flag only";
const refusals: Readonly<Record<Exclude<Standing, "leading">, string>> = {
  waiting: "another process leads",
  settling: "orders of the process that led before may still be executed",
  alone:
    "the store of the standby does not answer or may have lost who leads, and another process may lead: cancels and exits only",
  mute: "the lease has run out, and another process may lead",
  over: "another process leads, and this one ends",
};

const ended = (): SluiceError => new SluiceError("ENGINE_STATE", "The engine was stopped while it was on standby.");
