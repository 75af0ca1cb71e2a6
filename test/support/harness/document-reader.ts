/**
 * Ways around in an API document, for tests.
 */
export type Node = { readonly [key: string]: Node };

/** Replaces references by what they name, so that a schema stands alone; formats stay, descriptions go. */
export const resolved = (document: Node, value: unknown): unknown => {
  if (Array.isArray(value)) return value.map((item) => resolved(document, item));
  if (value === null || typeof value !== "object") return value;
  const { $ref } = value as { $ref?: string };
  if ($ref === undefined)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolved(document, item)]));
  const target = $ref
    .slice(2)
    .split("/")
    .reduce<Node | undefined>((node, key) => node?.[key], document);
  if (target === undefined) throw new Error(`nothing at ${$ref}`);
  return resolved(document, target);
};

export const operations = (document: Node): readonly (readonly [string, string, Node])[] =>
  Object.entries(document["paths"] as Node).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => [method, path, operation] as const),
  );
