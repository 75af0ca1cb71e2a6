/**
 * Limit layers as the ledger understands them: whom a layer counts, what it counts, and how its windows begin.
 *
 * Invariants: the layers of a service are data: the three layers of this service are one list, and the layers of other
 * services (by endpoint, counted by element, windows from the first request, bans) are other lists for the same code.
 */
import type { Contract } from "../../contract/contract.ts";
import type { EndpointName } from "../../contract/endpoints.ts";
import type { LayerSpec } from "../../contract/layer-spec.ts";
import { limitHeaders } from "../../contract/limits.ts";

export type { LayerSpec };

/**
 * The rate-limit layers of a service's description.
 *
 * @param contract - the service
 * @returns windows of its limits
 */
export const layersOf = (contract: Contract): readonly LayerSpec[] => {
  const { anchor, extraLayers } = contract.profile.limits;
  const { ip, key, uid } = contract.layers;
  const withChanges = (layer: LayerSpec): LayerSpec => {
    const changes = changesOf(contract, layer.name);
    return changes.length === 0 ? layer : { ...layer, changes };
  };
  const described: readonly LayerSpec[] = [
    { scope: "ip", ...ip, anchor, banMs: 0, header: { name: limitHeaders.ipRemaining, kind: "remaining" } },
    { scope: "uid", ...uid, anchor, banMs: 0, header: { name: limitHeaders.uidUsed, kind: "used" } },
    { scope: "key", ...key, anchor, banMs: 0, header: { name: limitHeaders.keyRemaining, kind: "remaining" } },
  ];
  return [
    ...described.map(withChanges),
    // The names were checked when the profile was merged with the table.
    ...(extraLayers as readonly LayerSpec[]),
  ];
};

/** Declared changes of a described layer's limit. */
const changesOf = ({ profile }: Contract, name: string): NonNullable<LayerSpec["changes"]> =>
  profile.limits.changes
    .filter(({ layer }) => layer === name)
    .map(({ at, capacity }) => ({ at: Date.parse(at), capacity }));

/** Names of the headers with counts of layers, dates and requested pauses, in lower case. */
export const headersRead = (layers: readonly LayerSpec[]): readonly string[] => [
  ...new Set([
    "date",
    "retry-after",
    ...layers.flatMap(({ header }) => (header === undefined ? [] : [header.name.toLowerCase()])),
  ]),
];

/**
 * Charge of one call: its endpoint, weight and elements, and whom it counts for. Unsigned calls have neither user nor
 * key. A batch that is completed when it leaves has at least one element; the number of further ones is settled with
 * each grant.
 */
export interface Charge {
  readonly endpoint: EndpointName;
  readonly weight: number;
  readonly elements: number;
  /** Weight of each element, besides the call's own; none when left out. */
  readonly elementWeight?: number;
  readonly ip: string;
  readonly uid: string | undefined;
  readonly key: string | undefined;
  /** The product that the call is about, if some layer counts it by product. */
  readonly instId?: string | undefined;
}

const longMs = 10_000;

/** Returns true if a window of this length is long: used quota does not return soon, as it does in a second. */
export const isLong = (windowMs: number): boolean => windowMs >= longMs;

const scopeOf = ({ scope }: LayerSpec, { ip, uid, key, instId }: Charge): string | undefined => {
  switch (scope) {
    case "ip":
      return ip;
    case "uid":
      return uid;
    case "key":
      return key;
    case "instrument":
      return uid === undefined || instId === undefined ? uid : `${uid} ${instId}`;
  }
};

/** True if some layer counts calls of the endpoint product by product. */
export const countsByProduct = (layers: readonly LayerSpec[], endpoint: EndpointName): boolean =>
  layers.some(({ scope, endpoints }) => scope === "instrument" && (endpoints?.includes(endpoint) ?? true));

/** Weight of the elements of a batch, without the call itself. */
export const extraOf = ({ elementWeight = 0 }: Charge, elements: number): number => elementWeight * elements;

/** Units that a layer counts for a call with this many elements. */
export const unitsOf = ({ unit }: LayerSpec, charge: Charge, elements: number): number => {
  if (unit === "requests") return 1;
  return unit === "weight" ? charge.weight + extraOf(charge, elements) : elements;
};

/** Layers that count a call, each with the scope that it counts for. */
export const touchedBy = (
  layers: readonly LayerSpec[],
  charge: Charge,
): readonly { readonly spec: LayerSpec; readonly scope: string }[] =>
  layers.flatMap((spec) => {
    const scope = scopeOf(spec, charge);
    const counts = scope !== undefined && (spec.endpoints === undefined || spec.endpoints.includes(charge.endpoint));
    return counts ? [{ spec, scope }] : [];
  });
