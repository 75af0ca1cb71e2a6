/**
 * A request without the parameters that its endpoint does not list, for a service that ignores them.
 *
 * Not here: whether the remaining fields are valid (contract/validate.ts).
 */

interface Listed {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly items?: Listed;
}

/** Returns a copy with the properties that the schema names, also of the elements of a list. */
export const knownFields = (schema: Listed, value: unknown): unknown => {
  const { properties, items } = schema;
  if (Array.isArray(value)) return items === undefined ? value : value.map((item: unknown) => knownFields(items, item));
  if (properties === undefined || typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => Object.hasOwn(properties, name)));
};
