/**
 * Hands out an earlier answer's body again where a new one says the same, so that whoever has read the one need not read the other.
 *
 * Invariants: what is handed out says exactly what the service said; a body is only ever compared with the one before it.
 */

type Json = Readonly<Record<string, unknown>>;

/** Of two JSON values. */
const says = (one: unknown, other: unknown): boolean => {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  let more = 0;
  for (const name in one) {
    if (!says((one as Json)[name], (other as Json)[name])) return false;
    more++;
  }
  for (const _ in other) more--;
  return more === 0;
};

export const createSameAnswer = (): ((body: unknown) => unknown) => {
  let last: unknown;
  return (body) => {
    if (!says(last, body)) last = body;
    return last;
  };
};
