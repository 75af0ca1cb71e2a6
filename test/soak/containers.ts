/**
 * Everything in this process that can hold many things, by kind and size: maps, sets and lists, whoever made them.
 *
 * Invariants: what nothing reaches any more is not counted, as it is collected before; equal stories give equal counts.
 * Through the debugger's own protocol, since no other way leads to what closures hold.
 */
import { Session } from "node:inspector";
import { inspect } from "node:util";

export interface Container {
  readonly kind: "Map" | "Set" | "Array";
  readonly size: number;
  readonly first: string;
}

const prototypes = { Map: Map.prototype, Set: Set.prototype, Array: Array.prototype };
const kinds = ["Map", "Set", "Array"] as const;

const post = (
  session: Session,
  method: string,
  params: object,
): { readonly [name: string]: { readonly objectId: string } } => {
  let answer: unknown;
  // Within one thread it answers before it returns.
  session.post(method, params, (error, result) => {
    if (error !== null) throw new Error(`${method}: ${error.message}`);
    answer = result;
  });
  return answer as ReturnType<typeof post>;
};

/** All living objects with this prototype somewhere in their chain. */
const heirsOf = (session: Session, prototype: object): readonly object[] => {
  const door: { prototype?: object; found?: readonly object[] } = { prototype };
  Object.assign(globalThis, { containersDoor: door });
  try {
    const { result } = post(session, "Runtime.evaluate", { expression: "globalThis.containersDoor.prototype" });
    const { objects } = post(session, "Runtime.queryObjects", { prototypeObjectId: result?.objectId });
    const take = "function () { globalThis.containersDoor.found = this; }";
    post(session, "Runtime.callFunctionOn", { objectId: objects?.objectId, functionDeclaration: take });
    post(session, "Runtime.releaseObject", { objectId: objects?.objectId });
    return door.found ?? [];
  } finally {
    Reflect.deleteProperty(globalThis, "containersDoor");
  }
};

const sizeOf = (kind: Container["kind"], held: object): number => {
  if (kind === "Array") return (held as readonly unknown[]).length;
  try {
    return Reflect.get(prototypes[kind], "size", held) as number;
  } catch {
    // An heir of it that holds nothing, as a prototype is.
    return 0;
  }
};

const firstOf = (held: object): string => {
  const entry: unknown = Array.isArray(held) ? held[0] : [...(held as Iterable<unknown>)][0];
  return inspect(entry, { depth: 1, breakLength: Number.POSITIVE_INFINITY }).slice(0, 200);
};

/** Lists keep room for the most that ever stood there at once, and tables have a row for each call there is: only larger ones tell. */
const least = { Map: 16, Set: 16, Array: 64 };

/** Nothing of what is told of is held on to. */
export const containers = (): readonly Container[] => {
  const session = new Session();
  session.connect();
  try {
    return kinds.flatMap((kind) =>
      heirsOf(session, prototypes[kind])
        .map((held) => ({ held, size: sizeOf(kind, held) }))
        .filter(({ size }) => size >= least[kind])
        .map(({ held, size }): Container => ({ kind, size, first: firstOf(held) })),
    );
  } finally {
    session.disconnect();
  }
};
