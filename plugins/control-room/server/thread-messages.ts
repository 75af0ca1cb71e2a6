/**
 * Messages between an engine's thread and the thread of its control port.
 *
 * Invariants: what crosses is text or plain data; updates are written once, for all who read them; each is
 * acknowledged, so that neither side queues without a bound.
 */
import type { ControlAction } from "../control-source.ts";

/** Start parameters of the port's thread. */
export interface PortFacts {
  readonly host: string;
  readonly port: number;
  /** Certificate and key, PEM. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Names under which a proxy is reached; empty without one. */
  readonly names: readonly string[];
  /** A proxy in front ends TLS. */
  readonly behindProxy: boolean;
  /** Peers other than this machine are let in. */
  readonly isOpen: boolean;
  /**
   * SHA-256 of the tokens, hexadecimal: the tokens themselves stay on the engine's side. `act` is absent if no client
   * may act.
   */
  readonly tokens: { readonly read: string; readonly act?: string };
  readonly version: string;
}

export type ToPort =
  | { readonly kind: "snapshot" | "update"; readonly source: string; readonly text: string }
  /** The engine's thread runs. */
  | { readonly kind: "beat"; readonly source: string }
  /** The source has ended. */
  | { readonly kind: "gone"; readonly source: string }
  /** Answer to a request of a reader; `status` of HTTP. */
  | { readonly kind: "answer"; readonly request: number; readonly status: number; readonly text: string }
  | { readonly kind: "close" };

export type FromPort =
  | { readonly kind: "listening"; readonly port: number }
  | { readonly kind: "failed"; readonly code: string; readonly text: string }
  | { readonly kind: "took"; readonly source: string }
  | { readonly kind: "story"; readonly request: number; readonly source: string; readonly clOrdId: string }
  | {
      readonly kind: "act";
      readonly request: number;
      readonly source: string;
      readonly action: ControlAction;
      readonly by: string;
    };
