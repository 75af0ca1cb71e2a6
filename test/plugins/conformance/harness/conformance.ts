import { checkService, type SuiteOptions, type SuiteResult } from "../../../../plugins/conformance/rules/suite.ts";
import { createVirtualClock, type VirtualClock } from "../../../../src/clock/virtual-clock.ts";
import { type Contract, createContract } from "../../../../src/contract/contract.ts";
import type { ProfileOverrides } from "../../../../src/contract/profile.ts";
import type { Transport } from "../../../../src/contract/transport.ts";
import {
  createVenue,
  type Venue,
  type VenueOptions,
  type VenueRequest,
  type VenueResponse,
} from "../../../../src/venue/venue.ts";
import { everything, instruments } from "../../../support/harness/venue.ts";

export type Handle = (request: VenueRequest, now: number) => VenueResponse;

export interface Defect {
  /** Wraps the service; `venue` is the whole one behind it. */
  readonly wrap?: (handle: Handle, venue: Venue) => Handle;
  /** Changes what the service is built from; the suite keeps asking by the description. */
  readonly venue?: (options: VenueOptions) => Partial<VenueOptions>;
  /** Milliseconds an answer takes. */
  readonly delay?: (response: VenueResponse) => number;
}

export const keys = [
  { name: "ann-1", uid: "ann", permissions: everything },
  { name: "ann-2", uid: "ann", permissions: everything },
  { name: "ann-read", uid: "ann", permissions: ["read"] },
  { name: "ann-trade", uid: "ann", permissions: ["trade_futures"] },
  { name: "bob-1", uid: "bob", permissions: everything },
] as const;

const venueOptions = (contract: Contract): VenueOptions => ({
  contract,
  instruments,
  users: ["ann", "bob"].map((uid) => ({
    uid,
    keys: keys.filter((key) => key.uid === uid).map(({ name, permissions }) => ({ name, permissions })),
    balances: { USDT: "100000", BTC: "10" },
  })),
  fees: { SPOT: { makerBps: "2", takerBps: "5" }, SWAP: { makerBps: "2", takerBps: "5" } },
  enforceLimits: true,
});

/** Some way into a minute, and into a second. */
const startAt = 1_700_000_017_300;
const tripMs = 3;

export interface Patient {
  readonly venue: Venue;
  readonly clock: VirtualClock;
  readonly contract: Contract;
  readonly transport: Transport;
  readonly seen: VenueRequest[];
}

export const patient = (profile: ProfileOverrides = {}, defect: Defect = {}): Patient => {
  const contract = createContract(profile);
  const clock = createVirtualClock(startAt);
  const whole = venueOptions(contract);
  const venue = createVenue({ ...whole, ...defect.venue?.(whole) });
  const unharmed: Handle = (request, now) => venue.handle(request, now);
  const handle = defect.wrap?.(unharmed, venue) ?? unharmed;
  const seen: VenueRequest[] = [];
  const transport: Transport = ({ method, path, query, body, key }, sink) => {
    const request = { method, path, query, body, key, ip: "1.1.1.1" };
    seen.push(request);
    clock.advanceTo(clock.now() + tripMs);
    const response = handle(request, clock.now());
    const delayMs = defect.delay?.(response) ?? 0;
    const answer = (): void => {
      sink.response(response);
    };
    if (delayMs === 0) answer();
    else clock.setTimer(clock.now() + delayMs, answer);
  };
  return { venue, clock, contract, transport, seen };
};

/** Turns the clock whenever the suite has nothing left to do but wait. */
const turned = async <T>(clock: VirtualClock, work: Promise<T>): Promise<T> => {
  const state = { done: false };
  const end = (): void => {
    state.done = true;
  };
  work.then(end, end);
  while (!state.done) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    if (!state.done) clock.step();
  }
  return work;
};

export const examine = (subject: Patient, options: Partial<SuiteOptions> = {}): Promise<SuiteResult> => {
  const { clock, contract, transport } = subject;
  return turned(
    clock,
    checkService({
      contract,
      transport,
      clock,
      serviceNow: () => clock.now(),
      stop: new AbortController().signal,
      keys,
      quick: false,
      ...options,
    }),
  );
};

export const ofKind = (result: SuiteResult, kind: string): readonly string[] =>
  result.findings.filter(({ verdict }) => verdict.kind === kind).map(({ rule }) => rule.id);
