/**
 * Trial of a store partition: the leader of two processes loses its store while it holds a position with a stop, and the price of the stop
 * is reached at a chosen moment.
 *
 * The service counts: in each round the stop must execute exactly what was held, whoever sends it.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startVenueServer, type VenueServer } from "../../../../plugins/venue-server/server/server.ts";
import { createSystemClock } from "../../../../src/clock/system-clock.ts";
import { createContract } from "../../../../src/contract/contract.ts";
import { instTypeOf } from "../../../../src/contract/inst-id.ts";
import { createRandom, type Random } from "../../../../src/random.ts";
import { createVenue, type Venue } from "../../../../src/venue/venue.ts";
import { type Cut, CutLink } from "../../../support/harness/cut-link.ts";
import { type OwnRedis, startRedis } from "../../../support/harness/redis.ts";
import { StandbyPlace } from "./standby-place.ts";

const permissions = ["read", "trade_futures", "trade_spot"];
const [swap, spot] = ["BTC-USDT-SWAP", "BTC-USDT"] as const;
const [enteringPx, holdingPx, stoppedPx] = [100_500, 100_000, 98_900] as const;
const leaseMs = 2_000;
const toleranceMs = 1_000;

const held = { name: "first", instId: swap, side: "buy", qty: "0.03", stop: "99000" } as const;
const kept = { name: "second", instId: swap, side: "sell", qty: "0.01", stop: "150000" } as const;
/** What is held: the stop of `first` is reached, that of `second` never. */
export const shapes = {
  alone: [held],
  "partly covered": [held, kept],
  "not covered": [
    { ...held, qty: "0.01" },
    { ...kept, qty: "0.03" },
  ],
  spot: [{ ...held, instId: spot }],
  "spot of two": [
    { ...held, instId: spot },
    { ...kept, instId: spot, side: "buy", stop: "50000" },
  ],
} as const;
export type Shape = keyof typeof shapes;

export const moments = ["early", "late", "end", "taken", "started", "healed"] as const;
/**
 * When the price of the stop is reached: at 0.5, 0.85 and 0.97 of the lease from the cut on, when the other process has taken the lead, when
 * its strategies run, or when the link is healed.
 */
export type Moment = (typeof moments)[number];
const partOfLease: Readonly<Partial<Record<Moment, number>>> = { early: 0.5, late: 0.85, end: 0.97 };

export interface Round {
  readonly shape: Shape;
  readonly cut: Cut;
  readonly moment: Moment;
  /** From the price of the stop until all was closed; undefined where it never was. */
  readonly closedMs: number | undefined;
  readonly isTakenOver: boolean;
  /** Keys that sent what was executed. */
  readonly by: readonly string[];
}

const clock = createSystemClock();
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export class PartitionTrial {
  readonly problems: string[] = [];
  readonly rounds: Round[] = [];
  readonly #shape: Shape;
  readonly #random: Random;
  readonly #redis: OwnRedis;
  readonly #server: VenueServer;
  readonly #venue: Venue;
  readonly #links: readonly [CutLink, CutLink];
  readonly #places: readonly [StandbyPlace, StandbyPlace];
  readonly #keys: ReadonlyMap<string, string>;
  readonly #dir = mkdtempSync(join(tmpdir(), "sluice-partition-"));
  readonly #ticking: NodeJS.Timeout;
  #px: number = enteringPx;

  private constructor(
    shape: Shape,
    seed: string,
    redis: OwnRedis,
    links: readonly [CutLink, CutLink],
    { server, venue, keys }: { server: VenueServer; venue: Venue; keys: ReadonlyMap<string, string> },
  ) {
    this.#shape = shape;
    this.#random = createRandom(seed);
    this.#redis = redis;
    this.#server = server;
    this.#venue = venue;
    this.#links = links;
    this.#keys = keys;
    const env = {
      TRIAL_URL: server.url,
      TRIAL_LEASE_MS: String(leaseMs),
      TRIAL_TOLERANCE_MS: String(toleranceMs),
      TRIAL_HOLDINGS: JSON.stringify(shapes[shape]),
    };
    const placeOf = (name: string, { port }: CutLink): StandbyPlace =>
      new StandbyPlace(name, "standby-partition.ts", { ...env, TRIAL_STORE: `redis://127.0.0.1:${port}` }, this.#dir);
    this.#places = [placeOf("a", links[0]), placeOf("b", links[1])];
    this.#ticking = setInterval(() => this.#quote(), 50);
  }

  static async open(shape: Shape, seed: string): Promise<PartitionTrial> {
    const redis = await startRedis();
    const port = Number(new URL(redis.url).port);
    const links = [await CutLink.open(port), await CutLink.open(port)] as const;
    return new PartitionTrial(shape, seed, redis, links, await serve(seed));
  }

  async begin(): Promise<void> {
    for (const place of this.#places) place.start();
    await this.#until("somebody leads and the other waits", () => {
      const place = this.#places.find((one) => one.last("engine.started") !== undefined);
      return place !== undefined && this.#other(place).last("standby.waiting") !== undefined ? place : undefined;
    });
  }

  /** One partition: everything held, the link of the leader cut, the stop reached, the link healed, and what was executed counted. */
  async play(cut: Cut, moment: Moment): Promise<void> {
    const name = `${this.#shape}, ${cut}, stop ${moment}`;
    // A stop is compared with the price before the one that the entry was decided by.
    this.#px = holdingPx;
    await pause(300);
    this.#px = enteringPx;
    const isHeld = await this.#until(`${name}: everything is held`, () => this.#isHeld() || undefined);
    if (isHeld === undefined) return;
    this.#px = holdingPx;
    await pause(1_000 + this.#random.next() * 500);

    const from = this.#leader();
    const to = this.#other(from);
    const before = this.#closed().length;
    const cutAt = clock.now();
    this.#link(from).cut(cut);
    const healing = await this.#reach(to, moment, cutAt, from);
    const reachedAt = clock.now();
    this.#px = stoppedPx;
    const closed = await this.#until(undefined, () => this.#sumSince(before) >= this.#qty - 1e-9 || undefined, 25_000);
    const closedMs = closed === undefined ? undefined : Math.round(clock.now() - reachedAt);
    if (closed === undefined) this.problems.push(`${name}: closed ${this.#sumSince(before)} of ${this.#qty} in 25 s`);
    if (!healing) {
      await pause(this.#random.next() * 3_000);
      this.#link(from).heal();
    }

    // Whoever has something left to send does it now.
    await pause(4_000);
    const isTakenOver = to.last("engine.started", cutAt) !== undefined;
    const done = this.#closed().slice(before);
    const sum = this.#sumSince(before);
    if (sum > this.#qty + 1e-9) this.problems.push(`${name}: closed ${sum} of ${this.#qty}: ${JSON.stringify(done)}`);
    const by = done.map(({ clOrdId }) => this.#keys.get(clOrdId) ?? "nobody");
    this.rounds.push({ shape: this.#shape, cut, moment, closedMs, isTakenOver, by });
    if (isTakenOver) await this.#until(`${name}: ${from.key} stands by`, () => from.last("standby.waiting", cutAt));
  }

  async end(): Promise<void> {
    clearInterval(this.#ticking);
    for (const { child } of this.#places) child?.kill("SIGKILL");
    await Promise.all(this.#places.map(({ exit }) => exit));
    await this.#server.close();
    for (const link of this.#links) await link.close();
    await this.#redis.stop();
    rmSync(this.#dir, { recursive: true, force: true });
  }

  /** Waits for the moment; true where the link was healed for it. */
  async #reach(to: StandbyPlace, moment: Moment, cutAt: number, from: StandbyPlace): Promise<boolean> {
    const part = partOfLease[moment];
    if (part !== undefined) {
      await pause(part * leaseMs);
      return false;
    }
    const type = moment === "taken" ? "standby.leading" : "engine.started";
    await this.#until(`${this.#shape}, ${moment}: ${to.key} takes over`, () => to.last(type, cutAt), 15_000);
    if (moment !== "healed") return false;
    await pause(this.#random.next() * 1_000);
    this.#link(from).heal();
    return true;
  }

  get #qty(): number {
    return Number(shapes[this.#shape][0].qty);
  }

  /** Executed sales that are no entry of `second`. */
  #closed(): readonly { readonly clOrdId: string; readonly qty: number }[] {
    const entries = shapes[this.#shape].filter(({ side }) => side === "sell").length;
    return this.#venue
      .truth("ann")
      .orders.filter(({ side, accFillSz }) => side === "sell" && Number(accFillSz) > 0)
      .toSorted((a, b) => Number(a.createdAt) - Number(b.createdAt) || Number(a.ordId) - Number(b.ordId))
      .slice(entries)
      .map(({ clOrdId, accFillSz, avgPx }) => ({ clOrdId, qty: Number(accFillSz) / Number(avgPx) }));
  }

  #sumSince(before: number): number {
    return this.#closed()
      .slice(before)
      .reduce((sum, { qty }) => sum + qty, 0);
  }

  #isHeld(): boolean {
    const { positions, balances } = this.#venue.truth("ann");
    const [{ instId }] = shapes[this.#shape];
    const wanted = shapes[this.#shape].reduce((sum, { side, qty }) => sum + (side === "buy" ? 1 : -1) * Number(qty), 0);
    const isSpot = instTypeOf(instId) === "SPOT";
    const own = isSpot
      ? balances.find(({ currency }) => currency === "BTC")?.balance
      : positions.find((one) => one.instId === instId)?.pos;
    return Math.abs(Number(own ?? 0) - wanted) < 1e-9;
  }

  #quote(): void {
    const at = clock.now();
    for (const instId of [swap, spot]) {
      this.#venue.quote(instId, this.#px * 10 - 10, 1_000, this.#px * 10 + 10, 1_000, at);
      const [bidPx, askPx] = [String(this.#px - 1), String(this.#px + 1)];
      this.#server.board.ticker({ instId, last: String(this.#px), bidPx, bidSz: "1", askPx, askSz: "1", at });
    }
  }

  #leader(): StandbyPlace {
    const [first, second] = this.#places;
    const ledAt = (place: StandbyPlace): number => place.last("standby.leading")?.at ?? 0;
    return ledAt(first) > ledAt(second) ? first : second;
  }

  #other(place: StandbyPlace): StandbyPlace {
    return place === this.#places[0] ? this.#places[1] : this.#places[0];
  }

  #link(place: StandbyPlace): CutLink {
    return place === this.#places[0] ? this.#links[0] : this.#links[1];
  }

  async #until<T>(what: string | undefined, look: () => T | undefined, ms = 60_000): Promise<T | undefined> {
    for (const until = clock.now() + ms; clock.now() < until; await pause(20)) {
      const found = look();
      if (found !== undefined) return found;
    }
    if (what !== undefined)
      this.problems.push(
        `not in time: ${what}; ${this.#places.map(({ key, said, events }) => `${key}: ${said.slice(-600)} ${JSON.stringify(events.slice(-6))}`).join("; ")}`,
      );
    return undefined;
  }
}

/** The service, and which key sent which order. */
const serve = async (
  seed: string,
): Promise<{ server: VenueServer; venue: Venue; keys: ReadonlyMap<string, string> }> => {
  const contract = createContract({ auth: { toleranceMs } });
  const keys = ["key-a", "key-b"].map((name) => ({ name, permissions }));
  const senders = new Map<string, string>();
  const venue = createVenue({
    contract,
    instruments: [swap, spot].map((instId) => ({ instId, tickSize: "0.1", lotSize: "0.001" })),
    users: [{ uid: "ann", keys, balances: { USDT: "1000000" } }],
    fees: { SPOT: { makerBps: "0", takerBps: "0" }, SWAP: { makerBps: "2", takerBps: "5" } },
    enforceLimits: false,
  });
  const handle = venue.handle.bind(venue);
  const counted: Venue = Object.assign(Object.create(venue) as Venue, {
    handle: (request: Parameters<Venue["handle"]>[0], now: number) => {
      const { method, key = "", body } = request;
      const { clOrdId } = (body ?? {}) as { readonly clOrdId?: string };
      if (method === "POST" && clOrdId !== undefined) senders.set(clOrdId, key);
      return handle(request, now);
    },
  });
  const server = await startVenueServer({
    venue: counted,
    contract,
    clock,
    random: createRandom(seed),
    keys: keys.map(({ name }) => ({
      apiKey: name,
      secretKey: `${name} secret`,
      passphrase: `${name} phrase`,
      uid: "ann",
      permissions,
    })),
    ipOf: () => "home",
    faults: { http: [{ kind: "delay", endpoint: "placeOrder", share: 0.5, ms: [20, 300] }] },
  });
  return { server, venue, keys: senders };
};
