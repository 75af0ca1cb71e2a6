/**
 * The contract in force: the description's facts with one profile laid into its gaps.
 *
 * Invariants: client and embedded service are built from the same value, so an override changes both sides alike.
 */
import { type EndpointName, type EndpointTable, endpointTable } from "./endpoints.ts";
import type { LayerSpec } from "./layer-spec.ts";
import { layers as described, type Layer, type LayerName } from "./limits.ts";
import { resolveProfile } from "./overrides.ts";
import type { ExtraLayer, Profile, ProfileOverrides } from "./profile.ts";

/**
 * The service as data: endpoints with their weights and schemas, limit layers, and the service profile with the
 * overrides in force.
 */
export interface Contract {
  readonly profile: Profile;
  readonly endpoints: EndpointTable;
  readonly layers: Readonly<Record<LayerName, Layer>>;
  /** True if a row such as `order.szUnit` was stated by the user rather than assumed. */
  readonly stated: (row: string) => boolean;
}

/**
 * The described service as data.
 *
 * @param overrides - rows of the service profile that differ from their defaults
 * @param layers - rate-limit layers in place of the three described ones
 * @returns endpoints, layers and the profile in force
 * @throws PROFILE_INVALID with every mistake in the overrides
 */
export const createContract = (overrides?: ProfileOverrides, layers: Contract["layers"] = described): Contract => {
  const profile = resolveProfile(overrides);
  const given = overrides as Readonly<Record<string, object | undefined>> | undefined;
  const stated = (row: string): boolean => {
    const [group = "", key = ""] = row.split(".");
    return Object.hasOwn(given?.[group] ?? {}, key);
  };
  return { profile, endpoints: endpointTable(profile), layers, stated };
};

/** Terms of another exchange: rows of the profile, and its rate-limit layers in place of the three described. */
interface ExchangeTerms {
  readonly profile?: ProfileOverrides;
  readonly layers?: readonly (LayerSpec | ExtraLayer)[] | undefined;
}

/**
 * Another exchange as data; described layers that it does not have hold anything.
 *
 * @param terms - the exchange's profile and rate-limit layers
 * @param overrides - rows of its profile that differ from that
 * @returns endpoints, layers and the profile in force
 * @throws PROFILE_INVALID with every mistake in the overrides
 */
export const exchangeContract = (
  { profile = {}, layers: own }: ExchangeTerms,
  overrides: ProfileOverrides = {},
): Contract => {
  if (own === undefined) return createContract(laidOver(profile, overrides));
  const { ip, key, uid } = described;
  const unbounded = { capacity: Number.POSITIVE_INFINITY };
  const without = { ip: { ...ip, ...unbounded }, key: { ...key, ...unbounded }, uid: { ...uid, ...unbounded } };
  const extraLayers = own.map(withoutHeader);
  return createContract(laidOver({ ...profile, limits: { extraLayers, ...profile.limits } }, overrides), without);
};

const withoutHeader = (
  spec: LayerSpec | (ExtraLayer & { readonly header?: never; readonly changes?: never }),
): ExtraLayer => {
  const { header: _, changes: __, ...layer } = spec;
  return layer;
};

const laidOver = (below: ProfileOverrides, above: ProfileOverrides): ProfileOverrides => {
  const groups = below as Readonly<Record<string, object>>;
  return {
    ...below,
    ...Object.fromEntries(Object.entries(above).map(([name, rows]) => [name, { ...groups[name], ...rows }])),
  };
};

/** The endpoints that the service has. */
export const endpointNames = ({ endpoints, profile }: Contract): readonly EndpointName[] =>
  (Object.keys(endpoints) as EndpointName[]).filter((name) => name !== "amendOrder" || profile.capabilities.amend);
