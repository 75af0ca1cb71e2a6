/**
 * Format of a fault plan: kinds of faults, their times, and their frequency.
 *
 * Invariants: a plan is plain JSON; every mistake in it is named with its place; a field that a kind does not read is a
 * mistake, so that a plan contains no setting without effect. Times are milliseconds after the service started.
 * Not here: drawing (faults.ts), doing (http-faults.ts for HTTP, the sockets for theirs).
 */

import { SluiceError } from "sluice";
import { createContract, type EndpointName, wire } from "sluice/dialect";
import { parseHuman } from "sluice/extension";

/** Effect of each kind of fault in HTTP, and the fields of its rule that it reads. */
export const httpFaults = {
  delay: { what: "holds the request (leg in) or its answer (leg out) for ms", reads: ["ms", "leg"] },
  drop_request: { what: "closes the connection before the service sees the request", reads: [] },
  drop_response: { what: "closes the connection after the service acted", reads: [] },
  silence: { what: "acts and never answers", reads: [] },
  duplicate: { what: "acts twice, as behind a proxy that repeats, and gives the second answer", reads: [] },
  html: { what: "answers with a page instead of JSON", reads: ["status", "leg"] },
  truncated: { what: "promises more bytes than it sends and closes", reads: ["leg"] },
  json: {
    what: "answers with the JSON given in body, as a proxy or a service that has lost count may",
    reads: ["status", "body", "leg"],
  },
  not_json: { what: "answers with text that is no JSON", reads: ["status", "leg"] },
  slow_body: { what: "drips the answer over ms", reads: ["ms"] },
  redirect: { what: "sends the client to another address", reads: ["status", "to", "leg"] },
  gzip_bomb: { what: "answers with few compressed bytes that become many", reads: ["bytes", "leg"] },
  huge_body: { what: "answers with many bytes", reads: ["bytes", "leg"] },
  empty_body: { what: "answers without a body", reads: ["status", "leg"] },
  wrong_types: { what: "changes the type of one field in every record", reads: [] },
  missing_fields: { what: "leaves one field out of every record", reads: [] },
  extra_fields: { what: "adds fields that no description names", reads: [] },
} as const satisfies Record<string, { what: string; reads: readonly FaultField[] }>;
export type HttpFaultKind = keyof typeof httpFaults;

/** Effect of each kind of fault on a message of a socket. */
export const socketFaults = {
  delay: { what: "the message, and those behind it, come ms later", reads: ["ms"] },
  gap: { what: "the sequence advances, the message is not sent", reads: [] },
  half_open: { what: "nothing is sent any more, the connection stays", reads: [] },
  close: { what: "the connection is closed", reads: [] },
  reorder: { what: "the message comes after the next one", reads: [] },
  duplicate: { what: "the message comes twice", reads: [] },
  garbage: { what: "text that is no message comes instead", reads: [] },
} as const satisfies Record<string, { what: string; reads: readonly FaultField[] }>;
export type SocketFaultKind = keyof typeof socketFaults;

type FaultField = "ms" | "leg" | "status" | "to" | "bytes" | "body";

/**
 * Occasion of a rule: applies to this share of matching requests, at most `count` times, from `fromMs` until before
 * `toMs`.
 */
interface Occasion {
  readonly share?: number;
  readonly count?: number;
  readonly fromMs?: number;
  readonly toMs?: number;
  /** A duration, or bounds between which one is drawn each time. */
  readonly ms?: number | readonly [from: number, to: number];
}

export interface HttpFaultRule extends Occasion {
  readonly kind: HttpFaultKind;
  /** Only requests to this endpoint; all requests when left out. */
  readonly endpoint?: EndpointName;
  /**
   * `in`: the service never sees the request (delay: sees it later). `out`: it acted, and the answer suffers. Default
   * out; redirect: in.
   */
  readonly leg?: "in" | "out";
  readonly status?: number;
  /** Target of a redirect; a loopback address. */
  readonly to?: string;
  readonly bytes?: number;
  /** Body of the answer of `json`; an empty object when left out. */
  readonly body?: unknown;
}

export interface SocketFaultRule extends Occasion {
  readonly kind: SocketFaultKind;
  /** Only messages of this channel; all messages when left out. */
  readonly channel?: string;
}

/**
 * Faults that the embedded service shows on request: at requests and sockets, in its clock, its lists, and by other
 * clients' use of the quota.
 */
export interface FaultPlan {
  readonly seed?: string | number;
  readonly http?: readonly HttpFaultRule[];
  readonly socket?: readonly SocketFaultRule[];
  /** The service's calendar: how far it is from ours, and by how much it steps at which moments. */
  readonly clock?: {
    readonly offsetMs?: number;
    readonly steps?: readonly { readonly atMs: number; readonly byMs: number }[];
  };
  /** Other programs of the same user, or of the first when none is named, spend this much on average. */
  readonly foreign?: readonly { readonly uid?: string; readonly weightPerMinute: number }[];
  /** Order listings show the state of so long ago. */
  readonly listings?: { readonly lagMs: number };
}

const span = { type: "number", minimum: 0, maximum: 86_400_000 } as const;
const text = { type: "string", minLength: 1 } as const;
const closed = (properties: Readonly<Record<string, object>>, required: readonly string[] = []) => ({
  type: "object",
  additionalProperties: false,
  required,
  properties,
});
const occasion = {
  share: { type: "number", minimum: 0, maximum: 1 },
  count: { type: "integer", minimum: 1 },
  fromMs: span,
  toMs: span,
  ms: { type: ["number", "array"], minimum: 0, maximum: 86_400_000, items: span, minItems: 2, maxItems: 2 },
} as const;

const planSchema = closed({
  seed: { type: ["string", "number"] },
  http: {
    type: "array",
    items: closed(
      {
        kind: { enum: Object.keys(httpFaults) },
        endpoint: { enum: wire.endpointNames(createContract()) },
        leg: { enum: ["in", "out"] },
        status: { type: "integer", minimum: 200, maximum: 599 },
        to: { type: "string", pattern: "^http://(127\\.0\\.0\\.1|localhost)(:\\d{1,5})?/" },
        bytes: { type: "integer", minimum: 1, maximum: 1_073_741_824 },
        body: {},
        ...occasion,
      },
      ["kind"],
    ),
  },
  socket: {
    type: "array",
    items: closed({ kind: { enum: Object.keys(socketFaults) }, channel: text, ...occasion }, ["kind"]),
  },
  clock: closed({
    offsetMs: { type: "number" },
    steps: { type: "array", items: closed({ atMs: span, byMs: { type: "number" } }, ["atMs", "byMs"]) },
  }),
  foreign: {
    type: "array",
    items: closed({ uid: text, weightPerMinute: { type: "number", exclusiveMinimum: 0, maximum: 60_000 } }, [
      "weightPerMinute",
    ]),
  },
  listings: closed({ lagMs: { ...span, exclusiveMinimum: 0 } }, ["lagMs"]),
});

const optional: readonly FaultField[] = ["ms", "leg", "status", "to", "bytes", "body"];

const ruleProblems = (
  rule: HttpFaultRule | SocketFaultRule,
  reads: readonly FaultField[],
  place: string,
): readonly string[] => {
  const idle = optional.filter((field) => field in rule && !reads.includes(field));
  const problems = idle.map((field) => `${place}.${field}: ${rule.kind} does not read it; leave it out.`);
  const { ms, fromMs = 0, toMs = Number.POSITIVE_INFINITY } = rule;
  if (Array.isArray(ms) && ms[0] > ms[1])
    problems.push(`${place}.ms: ${JSON.stringify(ms)} runs backwards; write [from, to].`);
  if (fromMs >= toMs) problems.push(`${place}.toMs: ${toMs} is not after fromMs, so the rule never applies.`);
  return problems;
};

/** Parses the plan in `value`; throws an error that names every mistake in it. `place` names the plan in messages. */
export const parseFaultPlan = (value: unknown, place = "faults"): FaultPlan => {
  const plan = parseHuman<FaultPlan>(planSchema, value, place);
  const problems = [
    ...(plan.http ?? []).flatMap((rule, index) =>
      ruleProblems(rule, httpFaults[rule.kind].reads, `${place}.http.${index}`),
    ),
    ...(plan.socket ?? []).flatMap((rule, index) =>
      ruleProblems(rule, socketFaults[rule.kind].reads, `${place}.socket.${index}`),
    ),
  ];
  if (problems.length > 0) throw new SluiceError("CONFIG_INVALID", `${place} is not valid:`, problems);
  return plan;
};
