/**
 * Rate-limit layer as data: whom it counts, what it counts, how its windows begin, and its header.
 *
 * Not here: the three layers of the description (limits.ts), counting (scheduler/quota/).
 */
import type { EndpointName } from "./endpoints.ts";
import type { Anchor } from "./profile.ts";

type ScopeKind = "ip" | "uid" | "key" | "instrument";

/** One rate-limit layer: whom it counts, what it counts, and how its windows begin. */
export interface LayerSpec {
  /** Name of the layer, of your choice. */
  readonly name: string;
  /**
   * Whom it counts: an address, a user, a key, or each product of a user by itself (`instrument`). Calls that name no
   * product, such as batches of several, count as one product more.
   */
  readonly scope: ScopeKind;
  /** Unit that it counts: calls, their weight, or the elements of batches. */
  readonly unit: "requests" | "weight" | "elements";
  /** Units that a window holds. */
  readonly capacity: number;
  /** Changes of `capacity` at stated instants, milliseconds of the service's calendar; none when left out. */
  readonly changes?: readonly { readonly at: number; readonly capacity: number }[];
  /** Length of a window in milliseconds. */
  readonly windowMs: number;
  /** Beginning of windows: on the service's clock, with the first request, or sliding. */
  readonly anchor: Anchor;
  /** Endpoints it counts; all when left out. */
  readonly endpoints?: readonly EndpointName[];
  /** Milliseconds that the service stays shut after an overflow, beyond the window's end; 0 for none. */
  readonly banMs: number;
  /** Header of the service's answers with its count, and whether that is the used or the remaining part. */
  readonly header?: { readonly name: string; readonly kind: "used" | "remaining" };
}
