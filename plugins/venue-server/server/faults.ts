/**
 * Chance and time applied to a fault plan: selects the fault of a request, a message or a moment.
 *
 * Invariants: the same plan, seed and sequence of requests give the same faults; each rule draws from a chance of its
 * own, so adding one does not move the others; the first rule that applies wins and only its count is used up.
 * Not here: the format (fault-plan.ts), the effects of faults (http-faults.ts, the sockets).
 */

import type { Random } from "sluice";
import type { EndpointName } from "sluice/dialect";
import { type Clock, createRandom, createServiceClock } from "sluice/extension";
import {
  type FaultPlan,
  type HttpFaultKind,
  type HttpFaultRule,
  parseFaultPlan,
  type SocketFaultKind,
  type SocketFaultRule,
} from "./fault-plan.ts";

export type { FaultPlan } from "./fault-plan.ts";

/** A fault as drawn: every field has the value to use. */
export interface HttpFault {
  readonly kind: HttpFaultKind;
  readonly ms: number;
  readonly leg: "in" | "out";
  /** Undefined: the usual one of the kind. */
  readonly status: number | undefined;
  readonly to: string | undefined;
  readonly bytes: number;
  readonly body: unknown;
  /** Source of choices inside the fault, such as the field that is removed. */
  readonly random: Random;
}

export interface SocketFault {
  readonly kind: SocketFaultKind;
  readonly ms: number;
}

export interface Faults {
  readonly plan: FaultPlan;
  /**
   * The service's time with offset and steps: `wallNow` is its calendar, `now` never falls and is what its venue runs
   * on.
   */
  readonly clock: Clock;
  /** The fault that meets a request; `endpoint` is undefined for a path the service does not know. */
  readonly http: (endpoint: EndpointName | undefined) => HttpFault | undefined;
  readonly socket: (channel: string) => SocketFault | undefined;
}

const msDefault: Partial<Record<HttpFaultKind | SocketFaultKind, number>> = { delay: 500, slow_body: 5_000 };
const bytesDefault = 64 * 1_048_576;

/** Checks `plan`, which may come from a person. Its times count from this call. */
export const createFaults = (plan: FaultPlan | undefined, clock: Clock, random: Random): Faults => {
  const checked = parseFaultPlan(plan ?? {});
  const chance = checked.seed === undefined ? random.fork("faults") : createRandom(checked.seed);
  const startAt = clock.now();
  const elapsed = (): number => clock.now() - startAt;
  const http = (checked.http ?? []).map((rule, index) => armed(rule, chance.fork(`http ${index}`)));
  const socket = (checked.socket ?? []).map((rule, index) => armed(rule, chance.fork(`socket ${index}`)));
  return {
    plan: checked,
    clock: createServiceClock(clock, checked.clock),
    http: (endpoint) => {
      const hit = first(http, elapsed, ({ endpoint: only }) => only === undefined || only === endpoint);
      if (hit === undefined) return undefined;
      const { kind, leg, status, to, bytes = bytesDefault, body = {} } = hit.rule;
      return {
        kind,
        leg: leg ?? (kind === "redirect" ? "in" : "out"),
        status,
        to,
        bytes,
        body,
        ms: msOf(hit),
        random: hit.random,
      };
    },
    socket: (channel) => {
      const hit = first(socket, elapsed, ({ channel: only }) => only === undefined || only === channel);
      return hit && { kind: hit.rule.kind, ms: msOf(hit) };
    },
  };
};

interface Armed<R> {
  readonly rule: R;
  readonly random: Random;
  left: number;
}

const armed = <R extends HttpFaultRule | SocketFaultRule>(rule: R, random: Random): Armed<R> => ({
  rule,
  random,
  left: rule.count ?? Number.POSITIVE_INFINITY,
});

const first = <R extends HttpFaultRule | SocketFaultRule>(
  rules: readonly Armed<R>[],
  elapsed: () => number,
  fits: (rule: R) => boolean,
): Armed<R> | undefined => {
  if (rules.length === 0) return undefined;
  const at = elapsed();
  const hit = rules.find(({ rule, random, left }) => {
    const { share = 1, fromMs = 0, toMs = Number.POSITIVE_INFINITY } = rule;
    return left > 0 && at >= fromMs && at < toMs && fits(rule) && (share >= 1 || random.next() < share);
  });
  if (hit !== undefined) hit.left--;
  return hit;
};

const msOf = ({ rule, random }: Armed<HttpFaultRule | SocketFaultRule>): number => {
  const { ms = msDefault[rule.kind] ?? 0 } = rule;
  return typeof ms === "number" ? ms : ms[0] + random.next() * (ms[1] - ms[0]);
};
