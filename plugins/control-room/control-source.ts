/**
 * Control source: one engine, or one played run, for those who monitor and control it, with its actions.
 *
 * Invariants: an action is checked against its schema before anything acts on it; it is answered once, when it is done
 * or after a stated time; reading changes nothing.
 * Not here: HTTP access (server/), the actions of an engine (engine-source.ts).
 */
import type { FromSchema } from "json-schema-to-ts";
import type { Observable } from "rxjs";
import type { Event } from "sluice";
import { requestProblems } from "sluice/extension";
import type { ControlUpdate } from "./control-document.ts";

/** Names and ids: long enough for any, short enough to be no burden; control characters are in none. */
const name = { type: "string", minLength: 1, maxLength: 100, pattern: "^[^\\u0000-\\u001f\\u007f]*$" } as const;
const reason = { type: "string", maxLength: 200, pattern: "^[^\\u0000-\\u001f\\u007f]*$" } as const;
const closed = { type: "object", additionalProperties: false } as const;

/** JSON Schemas of the actions by type. */
export const actionSchemas = {
  halt: {
    ...closed,
    description:
      "Ends entries, and cancels every resting one first: of one strategy, or of all. Stops, targets and exits stay in force; with full they are canceled and suspended as well.",
    required: ["type"],
    properties: { type: { type: "string", const: "halt" }, strategy: name, full: { type: "boolean" }, reason },
  },
  resume: {
    ...closed,
    description: "Ends a halt of one strategy, or of all.",
    required: ["type"],
    properties: { type: { type: "string", const: "resume" }, strategy: name, reason },
  },
  cancel: {
    ...closed,
    description: "Cancels orders that match every field given; all of them where none is given.",
    required: ["type", "where"],
    properties: {
      type: { type: "string", const: "cancel" },
      where: {
        ...closed,
        properties: {
          strategy: name,
          instId: name,
          side: { type: "string", enum: ["buy", "sell"] },
          slot: name,
          clOrdId: name,
        },
      },
    },
  },
  close: {
    ...closed,
    description:
      "Closes positions at the market. With neither field: halts all strategies and closes every position of the account, also those of other clients, and what strategies hold of spot. With strategy: halts it and closes what it holds by its own fills, in one instrument where instId is given. With instId alone: halts the strategies that trade it and closes the account's position of it.",
    required: ["type"],
    properties: { type: { type: "string", const: "close" }, instId: name, strategy: name, reason },
  },
  options: {
    ...closed,
    description: "Ends a strategy and starts it with some options replaced.",
    required: ["type", "strategy", "changes"],
    properties: {
      type: { type: "string", const: "options" },
      strategy: name,
      changes: { type: "object", minProperties: 1, maxProperties: 100 },
    },
  },
  play: {
    ...closed,
    description: "Moves the playback of a recorded run: its speed, a pause, another instant, the next fill.",
    required: ["type"],
    properties: {
      type: { type: "string", const: "play" },
      speed: { type: "number", exclusiveMinimum: 0, maximum: 100000 },
      paused: { type: "boolean" },
      seekTo: { type: "number", minimum: 0 },
      toNextFill: { type: "boolean" },
    },
  },
} as const;

type Schemas = typeof actionSchemas;

/** Actions that a source can be asked for. */
export type ControlAction = { readonly [K in keyof Schemas]: FromSchema<Schemas[K]> }[keyof Schemas];

/** A halt, or the cancel of everything. What resumes or changes anything can wait. */
export const isUrgent = (action: ControlAction): boolean =>
  action.type === "halt" || (action.type === "cancel" && Object.keys(action.where).length === 0);

/**
 * Result of an action: a text with the number of orders or positions concerned, or the reason for which it was not
 * done.
 */
export type ControlResult =
  | { readonly ok: true; readonly text: string; readonly count?: number }
  | { readonly ok: false; readonly code: string; readonly text: string };

/** One engine, or one played run, as those see it who watch and steer it. */
export interface ControlSource {
  readonly id: string;
  /** Everything now as one update. */
  snapshot(): ControlUpdate;
  /** Updates from here on. */
  readonly updates$: Observable<ControlUpdate>;
  /** Events of one order from wanted order to record; none where the order is not known. */
  story(clOrdId: string): readonly Event[] | Promise<readonly Event[]>;
  /** `by`: who asks, for the journal. */
  act(action: ControlAction, by: string): Promise<ControlResult>;
}

/** Names that reach into the machinery of the language: no option, field or id is called so. */
const forbidden = ["__proto__", "constructor", "prototype"];
const depthMax = 16;

/** Checks that no schema makes: names that cannot be fields, and excessive nesting. */
const oddities = (value: unknown, depth = 0): string | undefined => {
  if (typeof value !== "object" || value === null) return undefined;
  if (depth >= depthMax) return `request: nested deeper than ${depthMax}.`;
  for (const [key, item] of Object.entries(value)) {
    if (forbidden.includes(key)) return `request: "${key}" is no name of a field.`;
    const inside = oddities(item, depth + 1);
    if (inside !== undefined) return inside;
  }
  return undefined;
};

/** Parses an action from outside; otherwise returns its problems, each with its place. */
export const readAction = (
  value: unknown,
): { readonly action: ControlAction } | { readonly problems: readonly string[] } => {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { problems: ["request: an action is an object with a type."] };
  const odd = oddities(value);
  if (odd !== undefined) return { problems: [odd] };
  const { type } = value as { readonly type?: unknown };
  const known = Object.keys(actionSchemas);
  if (typeof type !== "string" || !known.includes(type))
    return { problems: [`request.type: one of ${known.join(", ")} is wanted.`] };
  const problems = requestProblems(actionSchemas[type as keyof Schemas], value);
  return problems.length > 0 ? { problems } : { action: value as ControlAction };
};
