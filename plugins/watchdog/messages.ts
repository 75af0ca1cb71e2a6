/**
 * Messages between an engine and its watchdog: one line of JSON each.
 *
 * Invariants: a line that is too long or no known message closes the connection; no message holds a key or an order.
 * Not here: the transport (ipc.ts), the reactions (heartbeat.ts, heartbeat-monitor.ts).
 */
import { requestProblems } from "sluice/extension";

/** Sent by an engine. */
export type Report =
  /**
   * First on every connection. `session` is new with each engine, so that a tripped one is recognized when it
   * reconnects.
   */
  | { readonly kind: "hello"; readonly version: 1; readonly session: string; readonly beatMs: number }
  /** `ready`: it has read the service's state and trades. */
  | { readonly kind: "beat"; readonly ready: boolean; readonly open: number }
  /** It stops in order; open orders stay. */
  | { readonly kind: "goodbye" };

/** Sent by a watchdog. */
export type Word =
  /** `before`: what the last trip did. */
  | { readonly kind: "armed"; readonly silenceMs: number; readonly before?: string }
  | { readonly kind: "heard" }
  | { readonly kind: "farewell" }
  /** `canceling`: it still cancels; left out when it has finished. */
  | { readonly kind: "tripped"; readonly reason: string; readonly canceling?: true };

const text = { type: "string", maxLength: 500 } as const;
const count = { type: "number", minimum: 0 } as const;
const one = (kind: string, properties: object = {}, optional: readonly string[] = []) => ({
  type: "object",
  additionalProperties: false,
  required: ["kind", ...Object.keys(properties).filter((name) => !optional.includes(name))],
  properties: { kind: { const: kind }, ...properties },
});

const reportSchema = {
  oneOf: [
    one("hello", { version: { const: 1 }, session: text, beatMs: count }),
    one("beat", { ready: { type: "boolean" }, open: count }),
    one("goodbye"),
  ],
};
const wordSchema = {
  oneOf: [
    one("armed", { silenceMs: count, before: text }, ["before"]),
    one("heard"),
    one("farewell"),
    one("tripped", { reason: text, canceling: { const: true } }, ["canceling"]),
  ],
};

const reader =
  <T>(schema: object) =>
  (line: string): T | undefined => {
    try {
      const value: unknown = JSON.parse(line);
      return requestProblems(schema, value).length === 0 ? (value as T) : undefined;
    } catch {
      return undefined;
    }
  };

/** Undefined for a line that is no message. */
export const readReport = reader<Report>(reportSchema);
export const readWord = reader<Word>(wordSchema);

const lineMax = 4_096;

/** Cuts what arrives into lines; calls `take` with each and `broken` once when a line grows beyond the bound. */
export const lineSplitter = (take: (line: string) => void, broken: () => void): ((chunk: string) => void) => {
  let rest = "";
  return (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > lineMax || lines.some((line) => line.length > lineMax)) broken();
    else for (const line of lines) take(line);
  };
};
