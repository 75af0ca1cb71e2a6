/**
 * Trial of takeovers: two processes of one config trade against an embedded service that loses answers, and the one that leads is killed,
 * stopped for a while, or ended in order, again and again.
 *
 * The service counts: every request that it acts on is noted with its key, and each process has a key of its own. After each takeover the
 * market calms down and what the engine knows is compared with what the service knows: open orders, position, profit and fees.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startVenueServer, type VenueServer } from "../../../../plugins/venue-server/server/server.ts";
import { createSystemClock } from "../../../../src/clock/system-clock.ts";
import { createContract } from "../../../../src/contract/contract.ts";
import { add, compare, sub } from "../../../../src/decimal.ts";
import { createRandom, type Random } from "../../../../src/random.ts";
import { createVenue, type Venue } from "../../../../src/venue/venue.ts";
import { type OwnRedis, startRedis } from "../../../support/harness/redis.ts";
import { type Report, StandbyPlace } from "./standby-place.ts";

const instId = "BTC-USDT-SWAP";
const config = "standby.ts";
const permissions = ["read", "trade_futures", "trade_spot"];
const money = "1000000";
const names = ["a", "b"] as const;
/** Three minutes: on a machine with other work a process may load for half of one before it looks at the lease. */
const tries = 1_800;

export const endings = ["kill", "stop", "end", "cut"] as const;
/** How a leader is made to go: SIGKILL; SIGSTOP, and SIGCONT once another leads; SIGTERM; SIGKILL after a while in which the store did not answer. */
export type LeaderEnding = (typeof endings)[number];

export interface TrialOptions {
  readonly seed: string;
  readonly leaseMs: number;
  readonly toleranceMs: number;
  readonly stepMs: number;
  /** The processes share their quota as well, of one user with the described limits. */
  readonly shared?: boolean;
}

export interface Takeover {
  readonly ending: LeaderEnding;
  /** From the end of the one before until the next leads, and until its strategies run. */
  readonly leadMs: number;
  readonly tradeMs: number;
}

interface Write {
  readonly key: string;
  readonly path: string;
  readonly clOrdId: string;
  readonly at: number;
}

const clock = createSystemClock();
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export class StandbyTrial {
  readonly problems: string[] = [];
  readonly takeovers: Takeover[] = [];
  readonly #options: TrialOptions;
  readonly #random: Random;
  readonly #redis: OwnRedis;
  readonly #server: VenueServer;
  readonly #venue: Venue;
  readonly #writes: Write[];
  readonly #dir = mkdtempSync(join(tmpdir(), "sluice-standby-"));
  readonly #places: readonly [StandbyPlace, StandbyPlace];
  readonly #ticking: NodeJS.Timeout;
  #px = 100_000;

  private constructor(options: TrialOptions, redis: OwnRedis, server: VenueServer, venue: Venue, writes: Write[]) {
    this.#options = options;
    this.#random = createRandom(options.seed);
    this.#redis = redis;
    this.#server = server;
    this.#venue = venue;
    this.#writes = writes;
    const env = {
      TRIAL_URL: server.url,
      TRIAL_STORE: redis.url,
      TRIAL_LEASE_MS: String(options.leaseMs),
      TRIAL_TOLERANCE_MS: String(options.toleranceMs),
      TRIAL_STEP_MS: String(options.stepMs),
      TRIAL_SHARED: options.shared === true ? "yes" : "",
    };
    this.#places = [new StandbyPlace("a", config, env, this.#dir), new StandbyPlace("b", config, env, this.#dir)];
    this.#ticking = setInterval(() => this.#quote(), 100);
  }

  static async open(options: TrialOptions): Promise<StandbyTrial> {
    const writes: Write[] = [];
    const contract = createContract({ auth: { toleranceMs: options.toleranceMs } });
    const keys = names.map((name) => ({ name: `key-${name}`, permissions }));
    const venue = createVenue({
      contract,
      instruments: [{ instId, tickSize: "0.1", lotSize: "0.001" }],
      users: [{ uid: "ann", keys, balances: { USDT: money } }],
      fees: { SPOT: { makerBps: "2", takerBps: "5" }, SWAP: { makerBps: "2", takerBps: "5" } },
      enforceLimits: options.shared === true,
    });
    const handle = venue.handle.bind(venue);
    const counted: Venue = Object.assign(Object.create(venue) as Venue, {
      handle: (request: Parameters<Venue["handle"]>[0], now: number) => {
        const { method, path, key = "", body } = request;
        const { clOrdId = "" } = (body ?? {}) as { readonly clOrdId?: string };
        if (method === "POST") writes.push({ key, path, clOrdId, at: clock.now() });
        return handle(request, now);
      },
    });
    const server = await startVenueServer({
      venue: counted,
      contract,
      clock,
      random: createRandom(options.seed),
      keys: keys.map(({ name }) => ({
        apiKey: name,
        secretKey: `${name} secret`,
        passphrase: `${name} phrase`,
        uid: "ann",
        permissions,
      })),
      ipOf: () => "home",
      faults: {
        http: [
          { kind: "drop_response", endpoint: "placeOrder", share: 0.1 },
          { kind: "drop_response", endpoint: "cancelBatch", share: 0.05 },
          { kind: "delay", endpoint: "placeOrder", share: 0.2, ms: [20, Math.floor(options.toleranceMs / 2)] },
          { kind: "drop_request", share: 0.02 },
        ],
      },
    });
    return new StandbyTrial(options, await startRedis(), server, venue, writes);
  }

  /** Starts both; resolves when one leads and trades, and the other waits. */
  async begin(): Promise<void> {
    for (const place of this.#places) place.start();
    const leads = await this.#until("somebody leads and the other waits", () => {
      const place = this.#places.find((one) => one.last("engine.started") !== undefined);
      return place !== undefined && this.#other(place).last("standby.waiting") !== undefined ? place : undefined;
    });
    if (leads !== undefined) await this.#trades(leads);
  }

  /** One takeover from its beginning to the comparison. */
  async takeOver(ending: LeaderEnding): Promise<void> {
    const from = this.#leader();
    const to = this.#other(from);
    await pause(this.#random.next() * 3 * this.#options.stepMs);
    // Whatever leaves now is not in the copy of the journal.
    if (ending === "cut") {
      this.#redis.process.kill("SIGSTOP");
      await pause(0.4 * this.#options.leaseMs);
    }
    const at = clock.now();
    from.child?.kill(ending === "kill" || ending === "cut" ? "SIGKILL" : ending === "stop" ? "SIGSTOP" : "SIGTERM");
    this.#redis.process.kill("SIGCONT");
    const started = await this.#until(`${to.key} trades after ${ending}`, () => to.last("engine.started", at));
    const led = to.last("standby.leading", at);
    if (started === undefined || led === undefined) return;
    this.takeovers.push({ ending, leadMs: led.at - at, tradeMs: started.at - at });
    if (ending === "stop") {
      // It wakes up among the new leader's orders, with requests of its own prepared.
      await pause(this.#random.next() * 500);
      from.child?.kill("SIGCONT");
      await this.#until("the one that was stopped notices", () => from.last("standby.lost", at));
    } else {
      await from.exit;
      from.start();
    }
    await this.#trades(to);
    this.#checkMute(from.key, led.at, ending);
    await this.#compare(to, ending);
    await this.#until(`${from.key} stands by`, () => from.last("standby.waiting", led.at));
    // Who waits has looked once more, and has a copy.
    await pause(this.#options.leaseMs / 5);
  }

  /** Ends everything; what was counted from the beginning to the end is checked once more. */
  async end(): Promise<void> {
    this.#checkIds();
    clearInterval(this.#ticking);
    for (const { child } of this.#places) {
      child?.kill("SIGCONT");
      child?.kill("SIGKILL");
    }
    await Promise.all(this.#places.map(({ exit }) => exit));
    await this.#server.close();
    await this.#redis.stop();
    rmSync(this.#dir, { recursive: true, force: true });
  }

  /** Address of the store. */
  get store(): string {
    return this.#redis.url;
  }

  /** At the service, and of them those that were executed. */
  get orders(): number {
    return this.#venue.truth("ann").orders.length;
  }

  get fills(): number {
    return this.#venue.truth("ann").orders.filter(({ accFillSz }) => Number(accFillSz) > 0).length;
  }

  #quote(): void {
    const at = clock.now();
    this.#venue.quote(instId, this.#px * 10 - 10, 1_000, this.#px * 10 + 10, 1_000, at);
    const [bidPx, askPx] = [String(this.#px - 1), String(this.#px + 1)];
    this.#server.board.ticker({ instId, last: String(this.#px), bidPx, bidSz: "1", askPx, askSz: "1", at });
  }

  #leader(): StandbyPlace {
    const [first, second] = this.#places;
    const ledAt = (place: StandbyPlace): number => place.last("standby.leading")?.at ?? 0;
    return ledAt(first) > ledAt(second) ? first : second;
  }

  #other(place: StandbyPlace): StandbyPlace {
    return place === this.#places[0] ? this.#places[1] : this.#places[0];
  }

  /** A new leader has placed something of its own. */
  async #trades(place: StandbyPlace): Promise<void> {
    const since = clock.now();
    await this.#until(`${place.key} places orders`, () =>
      this.#writes.find(({ key, path, at }) => key === place.key && path.endsWith("/order") && at > since),
    );
  }

  /** From the moment on at which another one led nothing of it may reach the service. */
  #checkMute(key: string, since: number, ending: LeaderEnding): void {
    for (const { path, clOrdId, at } of this.#writes.filter((one) => one.key === key && one.at > since))
      this.problems.push(
        `${key} sent ${path} ${clOrdId} ${Math.round(at - since)} ms after another one led (${ending})`,
      );
  }

  #checkIds(): void {
    const counts = new Map<string, number>();
    for (const { path, clOrdId } of this.#writes)
      if (path.endsWith("/trade/order")) counts.set(clOrdId, (counts.get(clOrdId) ?? 0) + 1);
    for (const [clOrdId, count] of counts) if (count > 1) this.problems.push(`${clOrdId} was placed ${count} times`);
  }

  async #compare(place: StandbyPlace, ending: LeaderEnding): Promise<void> {
    this.#px = 80_000;
    let difference = "nothing was reported";
    let calm = 0;
    const isSame = await this.#until("", () => {
      difference = this.#difference(place.report);
      calm = difference === "" ? calm + 1 : 0;
      return calm === 5 ? true : undefined;
    });
    if (isSame === undefined) this.problems.push(`after ${ending}: ${difference}`);
    this.#px = 100_000;
  }

  /** In what the engine's picture differs from the service's. */
  #difference(report: Report | undefined): string {
    if (report === undefined) return "nothing was reported";
    const { orders, positions, balances } = this.#venue.truth("ann");
    const open = orders
      .filter(({ state }) => state === "live" || state === "partially_filled")
      .map(({ clOrdId }) => clOrdId);
    // One whose placement was lost on the way stays in question for half a minute and more, and counts as neither.
    const isLost = ({ clOrdId, phase }: Report["open"][number]): boolean =>
      phase === "unknown" && !orders.some((one) => one.clOrdId === clOrdId);
    const known = report.open.filter((order) => !isLost(order)).map(({ clOrdId }) => clOrdId);
    if (open.toSorted().join() !== known.toSorted().join())
      return `open at the service ${open.join()}, known ${JSON.stringify(report.open)}`;
    const pos = positions.find((one) => one.instId === instId)?.pos ?? "0";
    if (compare(pos, report.qty) !== 0) return `position ${pos}, known ${report.qty}`;
    const { balance = "0" } = balances.find(({ currency }) => currency === "USDT") ?? {};
    const known$ = sub(report.realised, report.fees);
    const made = sub(balance, money);
    return compare(made, known$) === 0
      ? ""
      : `made ${made}, known ${known$} (difference ${sub(made, add(known$, "0"))})`;
  }

  async #until<T>(what: string, look: () => T | undefined): Promise<T | undefined> {
    for (let count = 0; count < tries; count++) {
      const found = look();
      if (found !== undefined) return found;
      await pause(100);
    }
    if (what !== "")
      this.problems.push(
        `not within a minute: ${what}; ${this.#places.map(({ key, said, events }) => `${key}: ${said.slice(-600)} ${JSON.stringify(events.slice(-6))}`).join("; ")}`,
      );
    return undefined;
  }
}
