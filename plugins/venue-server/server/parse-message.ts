/**
 * Parses a client's message strictly: returns a request, or the reason for which it is invalid.
 *
 * Invariants: no message makes it throw; mistakes in a login are reported without repeating its content; the arguments
 * of a subscription are left to be judged one by one.
 * Not here: handling of the request (connection.ts).
 */

import { wire } from "sluice/dialect";
import { strictJson } from "sluice/extension";

export type ReadRequest =
  | { readonly op: "subscribe" | "unsubscribe"; readonly args: readonly unknown[] }
  | { readonly op: "login"; readonly arg: Readonly<Record<string, string>> }
  | { readonly op: "pong" | "ping" }
  | { readonly op: "nonsense"; readonly msg: string };

/** `login` is the schema of a login, whose one argument has texts only. */
export const readRequest = (text: string, login: LoginSchema): ReadRequest => {
  if (text === "ping") return { op: "ping" };
  const request = parse(text);
  return typeof request === "string" ? nonsense(request) : sort(request, login);
};

interface LoginSchema {
  readonly properties: { readonly args: { readonly items: { readonly required: readonly string[] } } };
}

export const nonsense = (msg: string): { readonly op: "nonsense"; readonly msg: string } => ({ op: "nonsense", msg });

const sort = (request: object, login: LoginSchema): ReadRequest => {
  const { op, args } = request as { op?: unknown; args?: unknown };
  switch (op) {
    case "subscribe":
    case "unsubscribe":
      return Array.isArray(args) && args.length > 0
        ? { op, args }
        : nonsense("args is a list of at least one channel.");
    case "login":
      return wire.requestProblems(login, request).length === 0
        ? { op, arg: (args as [Readonly<Record<string, string>>])[0] }
        : nonsense(`A login has one arg with ${listed(login.properties.args.items.required)}.`);
    case "pong":
      return wire.requestProblems(wire.channels.pongRequest, request).length === 0
        ? { op }
        : nonsense("A pong has no args.");
    default:
      return nonsense("op is one of subscribe, unsubscribe, login, pong.");
  }
};

const parse = (text: string): object | string => {
  const read = strictJson(text);
  if ("problem" in read) return `The message ${read.problem}`;
  const { value } = read;
  return value !== null && typeof value === "object" && !Array.isArray(value)
    ? value
    : "The message is not a JSON object.";
};

const listed = (names: readonly string[]): string => `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;

/**
 * Returns the text of a frame, as passed by `ws`. The type is spelled out, because a project need not have the types of
 * `ws`.
 */
export const textOf = (data: Buffer | ArrayBuffer | readonly Buffer[]): string => {
  if (data instanceof ArrayBuffer) return Buffer.from(data).toString();
  return Buffer.isBuffer(data) ? data.toString() : Buffer.concat(data).toString();
};
