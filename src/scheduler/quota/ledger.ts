/**
 * Use of every window of every layer, and the check whether one more call may leave.
 *
 * Invariants: a call is granted on all its layers or on none; at any latency, no window's granted calls exceed
 * its capacity; a refusal by the service shuts its layer at once and lets one call probe the next window; after a start
 * or a disturbed clock nothing but one light call leaves until the service has reported the use of the current window.
 * Not here: waiting (scheduler/), the service's own opinion (headers.ts), the numbers (contract/limits.ts).
 */
import { Allowances } from "./allowance.ts";
import type { Division } from "./division.ts";
import { FixedWindow } from "./fixed-window.ts";
import type { OnMode } from "./floor.ts";
import { type Answer, dateOf, holdMsOf, isSilent, usedOf, withArrivingName } from "./headers.ts";
import { type Charge, type LayerSpec, unitsOf } from "./layers.ts";
import type { LimitWindow, WindowTicket } from "./limit-window.ts";
import { type LimiterParts, limiterParts } from "./parts.ts";
import type { ProbeState } from "./probe-state.ts";
import { type LayerState, layerStates, type OthersUse, othersUseOf } from "./quota-state.ts";
import { defaultReserve, type Rank, type ReservePolicy } from "./reserve.ts";
import { passingBelow, type RetryAt, retryAtOf } from "./retry-at.ts";
import {
  loseCall,
  type Measure,
  type Route,
  Routes,
  strike,
  type Ticket,
  ticketOf,
  UnplacedCalls,
  undoCall,
} from "./routes.ts";
import {
  createServerClock,
  driftPpmMost,
  type RoundTripTime,
  type ServerClock,
  type ServerClockOptions,
} from "./server-clock.ts";

export type { Answer, LayerState, Rank, RetryAt as Refusal };

type Verdict = { readonly granted: true; readonly elements: number } | RetryAt;

interface LedgerOptions {
  readonly layers: readonly LayerSpec[];
  readonly reserve?: Partial<ReservePolicy>;
  readonly clock?: ServerClockOptions;
  /** Time after a start in which nothing leaves, because calls of a previous run may still be landing. */
  readonly quietMs?: number;
  readonly startedAt: number;
  /** Called when an assumption turned out wrong: with a name and a text. */
  readonly onAnomaly?: (what: string, detail: string) => void;
  /** Called when a layer falls to the floor, where it is spent evenly without evidence, and when it leaves it. */
  readonly onMode?: OnMode;
  /** Parts of the limiter; the default parts when left out. */
  readonly parts?: LimiterParts;
}

const single: Verdict = { granted: true, elements: 1 };
const limited = 429;
export type Ledger = Pick<LayeredLedger, keyof LayeredLedger>;

/** A pause that the service asks for holds exits back for at most this time. After that they leave one at a time. */
const exitHoldMsMax = 30_000;

/**
 * The rate limiter of one process: counts what was spent in every window and grants calls.
 *
 * @param options - layers, clock and policies
 * @returns a limiter with nothing spent
 */
export const createLedger = (options: LedgerOptions): Ledger => new LayeredLedger(options);

class LayeredLedger {
  readonly clock: ServerClock;
  /** Changes whenever a user may have begun or ended to probe. */
  turns = 0;
  readonly #quietMs: number;
  #division: Division | undefined;
  readonly #windows = new Map<string, LimitWindow>();
  readonly #trips: RoundTripTime;
  readonly #allowances: Allowances;
  readonly #routes: Routes;
  /** Changes with every event of the ledger except calls that leave. */
  #epoch = 0;
  readonly #unplaced = new UnplacedCalls();
  #disturbedAt: number;

  constructor({
    layers,
    reserve,
    clock = {},
    quietMs = 1_050,
    startedAt,
    onAnomaly,
    onMode,
    parts = limiterParts,
  }: LedgerOptions) {
    this.#trips = parts.trips();
    this.#quietMs = quietMs;
    this.#disturbedAt = startedAt;
    this.clock = createServerClock(clock);
    const weightOf = (uid: string): LimitWindow | undefined => this.#windows.get(`uid:${uid}`);
    this.#allowances = new Allowances({
      policy: Object.assign({}, defaultReserve, reserve),
      trips: this.#trips,
      startedAt,
      weightOf,
      parts,
    });
    this.#routes = new Routes({
      layers: layers.map(withArrivingName),
      windows: this.#windows,
      clock: this.clock,
      driftPpm: clock.driftPpm ?? driftPpmMost,
      allowances: this.#allowances,
      quietUntil: startedAt + quietMs,
      windowOptions: {
        onMisread: (layer, what) => onAnomaly?.("quota.misread", `${layer}: ${what}`),
        onMode,
        parts,
        trips: this.#trips,
      },
    });
  }

  /** Divides the quota among several engines from now on. Called before any charge is asked for. */
  divide(division: Division): void {
    const allowances = this.#allowances;
    this.#division = division;
    allowances.division = division;
    this.#routes.division = division;
    division.attach({
      policy: allowances.policy,
      openOrders: (uid) => allowances.openOrders(uid),
      exitRate: (at) => allowances.exitRate(at),
      forgetOthers: () => allowances.forgetOthers(),
      relearn: (at) => this.disturb(at),
      changed: () => this.#epoch++,
    });
  }

  /**
   * Calls `ask` for each charge until one is granted, and spends that. If none is granted, returns the refusal that
   * ends first.
   */
  reserve(charges: readonly Charge[], rank: Rank, now: number, offered: number): Ticket | RetryAt {
    let first: RetryAt | undefined;
    let ofKey = true;
    for (let index = 0; index < charges.length; index++) {
      const charge = charges[index] as Charge;
      const route = this.#routes.of(charge);
      const verdict = this.ask(charge, rank, now, offered, route);
      if (verdict.granted) return this.spend(charge, now, verdict.elements, route);
      ofKey &&= verdict.ofKey === true;
      first = first === undefined || verdict.until < first.until ? verdict : first;
    }
    const refusal = first as RetryAt;
    return refusal.ofKey === ofKey ? refusal : { ...refusal, ofKey };
  }

  /**
   * `offered` is the number of elements that a batch could carry. It is granted with as many of them as there is room
   * for.
   */
  ask(charge: Charge, rank: Rank, now: number, offered = charge.elements, route = this.#routes.of(charge)): Verdict {
    const { standing, units: least } = route;
    if (!standing.warm && this.#unplaced.count > 0) this.#unplaced.place(now, this.clock.known);
    const early = standing.warm ? undefined : standing.blockedUntil(now, rank !== "ordinary");
    if (early !== undefined)
      return { granted: false, layer: "start", until: early, why: "start", lighterThan: 0, ofKey: false };
    const measures = route.measures[rank];
    let elements = offered;
    for (let index = 0; index < measures.length; index++) {
      const measure = measures[index] as Measure;
      const { gauge, ceiling, isFlat } = measure;
      const units = least[index] as number;
      // The survey shows what certainly fits. A call beyond it is checked window by window.
      if (measure.at !== now || measure.epoch !== this.#epoch) {
        measure.at = now;
        measure.epoch = this.#epoch;
        gauge.restate(now);
        measure.most = gauge.begun + gauge.room(now, measure.floor, isFlat);
      }
      const blocked = gauge.begun + units <= measure.most ? undefined : gauge.blockedUntil(units, now, ceiling);
      if (blocked === undefined) {
        // There is room for one element. As many of the others as fit are added.
        while (
          elements > charge.elements &&
          gauge.blockedUntil(unitsOf(gauge.spec, charge, elements), now, ceiling) !== undefined
        )
          elements--;
        continue;
      }
      const until = Math.min(blocked, Math.max(now + 1, gauge.changesAt));
      this.#division?.lacks(gauge, units, rank, now);
      if (gauge instanceof FixedWindow) gauge.floor.noteWaiting(now, until);
      if (rank === "ordinary") return retryAtOf(gauge, charge, units, ceiling, this.#allowances, now, until);
      return {
        granted: false,
        layer: gauge.spec.name,
        until,
        why: "used",
        lighterThan: passingBelow(gauge.spec, charge.weight),
        ofKey: gauge.spec.scope === "key",
      };
    }
    return elements === 1 ? single : { granted: true, elements };
  }

  spend(charge: Charge, now: number, elements = charge.elements, route = this.#routes.of(charge)): Ticket {
    const { uid, elementWeight = 0 } = charge;
    if (uid !== undefined) this.#allowances.noteWeight(charge.weight + elementWeight * elements);
    this.#division?.spent(now);
    return this.#begin(route, charge, now, !route.standing.warm && route.standing.leave(), elements);
  }

  /**
   * Called when an answer was read. Returns the instant until which a layer is shut if the service refused the call or
   * asked for a pause.
   */
  settle(ticket: Ticket, answer: Answer, receivedAt: number): number | undefined {
    this.#epoch++;
    const { status, headers } = answer;
    // The call left before the clock was disturbed. Its instants cannot be compared, so it is no evidence and does not
    // end probing.
    if (ticket.sentAt < this.#disturbedAt) {
      this.lose(ticket, receivedAt);
      return undefined;
    }
    const { standing } = ticket.route;
    const holdMs = status < 400 ? undefined : holdMsOf(status, headers);
    if (isOfAnotherMachine(answer, ticket.route)) {
      this.lose(ticket, receivedAt);
      return holdMs === undefined ? undefined : this.#hold(standing, receivedAt, receivedAt, holdMs);
    }
    const dated = this.#dated(ticket, answer, receivedAt);
    if (this.#unplaced.count > 0) this.#unplaced.place(receivedAt, this.clock.known);
    this.#trips.observe(receivedAt - dated.sentAt);
    const isReported = this.#place(dated, answer, receivedAt);
    if (--dated.calls === 0) dated.route.spare.push(dated.parts);
    if (dated.probe) standing.back();
    if (status === limited)
      return this.#hold(standing, receivedAt, strike(dated, standing, this.#allowances, receivedAt), holdMs);
    if (holdMs !== undefined) return this.#hold(standing, receivedAt, receivedAt, holdMs);
    this.#accept(dated, isReported, receivedAt);
    return undefined;
  }

  /**
   * Reads the service's time. If the first answer states none, windows are assumed to begin anywhere, and the call is
   * charged to such windows. Returns its new ticket.
   */
  #dated(ticket: Ticket, { headers }: Answer, receivedAt: number): Ticket {
    const { charge, sentAt, probe, elements } = ticket;
    const dateMs = dateOf(headers);
    if (dateMs !== undefined) this.clock.observeDate(sentAt, receivedAt, dateMs);
    if (dateMs !== undefined || this.clock.known || this.#routes.dateless) return ticket;
    this.#routes.withoutDates();
    return this.#begin(this.#routes.of(charge), charge, sentAt, probe, elements);
  }

  /**
   * Called when a call was accepted. `isReported` is true if the answer reported the use of a user's window: probing
   * may end.
   */
  #accept({ probe, route: { standing, windows } }: Ticket, isReported: boolean, at: number): void {
    // The call left before the refusal that is being waited out, and may have been counted before it.
    if (!standing.warm && !probe) return;
    standing.strikes = 0;
    // An answer that may belong to either of two minutes does not report the use of the current one.
    const isSplit = (gauge: LimitWindow): boolean =>
      gauge.ambiguous && gauge.spec.header !== undefined && gauge.spec.scope !== "key";
    if (standing.warm || (isReported && windows.some(isSplit))) return;
    standing.warmUp(at);
    this.turns++;
  }

  /** Called when no answer was read. */
  lose(ticket: Ticket, now: number): void {
    this.#epoch++;
    // The ledger never sees an answer to an address's own requests, such as opening a socket.
    if (ticket.charge.uid === undefined && !this.clock.known && !this.#routes.dateless)
      this.#unplaced.keep(ticket, now);
    else loseCall(ticket, now);
    if (!ticket.probe) return;
    ticket.route.standing.back();
    if (!this.clock.known && ticket.charge.uid !== undefined) ticket.route.standing.pause(now);
  }

  /** Called when the call never left. The effect is as if it had not been granted. */
  release(ticket: Ticket): void {
    this.#epoch++;
    undoCall(ticket);
    if (ticket.probe) ticket.route.standing.back();
  }

  /** Called when an exit was submitted. Maintains the forecast of urgent demand. */
  noteExit(now: number): void {
    this.#epoch++;
    this.#allowances.noteExit(now);
  }

  /** Called with the number of orders that rest at the service, so that the reserve can cancel them all. */
  noteOpen(uid: string, orders: number): void {
    this.#epoch++;
    this.#allowances.noteOpen(uid, orders);
  }

  /** Called when our clock stepped or stopped: what was learned of the service's windows is no longer valid. */
  disturb(now: number): void {
    this.turns++;
    this.clock.forget();
    this.#disturbedAt = now;
    this.#routes.disturb(now, now + this.#quietMs);
    this.#allowances.forget();
    this.#division?.disturb();
  }

  /** Returns true while only one light call may leave to learn the use of the quota. */
  probing(charge: Charge): boolean {
    return !this.#routes.of(charge).standing.warm;
  }

  /** Windows with use by others. */
  othersUse(now: number): readonly OthersUse[] {
    return othersUseOf(this.#routes.gauges, now);
  }

  state(now: number): readonly LayerState[] {
    return layerStates(this.#routes.gauges, this.#allowances, now);
  }

  #begin(route: Route, charge: Charge, now: number, probe: boolean, elements: number): Ticket {
    const { windows, units } = route;
    const last = route.lastEpoch === this.#epoch ? route.last : undefined;
    if (last?.sentAt === now && last.elements === elements && last.probe === probe) {
      for (let index = 0; index < windows.length; index++)
        (windows[index] as LimitWindow).again(last.parts[index] as WindowTicket, now);
      last.calls++;
      return last;
    }
    const ticket = ticketOf(route, charge, now, elements, probe);
    for (let index = 0; index < windows.length; index++) {
      const gauge = windows[index] as LimitWindow;
      const weighed = elements === charge.elements ? (units[index] as number) : unitsOf(gauge.spec, charge, elements);
      ticket.parts[index] = gauge.begin(weighed, now, ticket.parts[index]);
    }
    route.last = ticket;
    route.lastEpoch = this.#epoch;
    return ticket;
  }

  /**
   * Charges an answered call to the windows in which it landed. Returns true if the service reported the use of a
   * user's window.
   */
  #place(ticket: Ticket, { status, headers }: Answer, receivedAt: number): boolean {
    const { parts, probe, route, sentAt } = ticket;
    let told = false;
    for (let index = 0; index < parts.length; index++) {
      const gauge = route.windows[index] as LimitWindow;
      const limit = gauge.limitBetween(sentAt, receivedAt);
      const used = limit === undefined ? undefined : usedOf(gauge.spec, headers, status < 400, limit);
      const fresh = gauge.end(parts[index] as WindowTicket, sentAt, receivedAt, used, status < 400);
      if (used === undefined || gauge.spec.scope === "key") continue;
      if (gauge instanceof FixedWindow && gauge.divided) {
        told ||= gauge.spec.scope === "uid";
        continue;
      }
      this.#allowances.noteUse(route.names[index] as string, receivedAt, probe ? 0 : fresh, used / gauge.capacity);
      told ||= gauge.spec.scope !== "ip";
    }
    return told;
  }

  /**
   * Shuts a layer until `shutUntil`; the service asks for a pause of `holdMs`. Afterwards one call leaves first, not
   * all that wait. Exits do not wait for the end of a long pause, because the service may be available much earlier.
   */
  #hold(standing: ProbeState, now: number, shutUntil: number, holdMs = 0): number {
    const until = Math.max(shutUntil, now + holdMs);
    standing.restart(until, Math.max(shutUntil, now + Math.min(holdMs, exitHoldMsMax)));
    this.turns++;
    return until;
  }
}

/**
 * Returns true for a page of a machine in front of the service. It neither states a quota nor shows that the service
 * counted the call.
 */
const isOfAnotherMachine = (answer: Answer, { windows }: Route): boolean =>
  answer.status >= 400 && isSilent(answer) && windows.every(({ spec }) => usedOf(spec, answer.headers) === undefined);
