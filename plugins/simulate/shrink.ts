/**
 * The shortest list of faults that still fails the same way: leaves out ever smaller parts and keeps what still fails.
 *
 * Invariants: the result fails; no single fault can be left out of it, unless the tries were used up; the order stays.
 */
export const shrink = async <T>(
  list: readonly T[],
  fails: (part: readonly T[]) => Promise<boolean>,
  triesMax = 300,
): Promise<readonly T[]> => {
  let left = list;
  let tries = 0;
  for (let size = Math.ceil(left.length / 2); size >= 1 && tries < triesMax; ) {
    let found = false;
    for (let from = 0; from < left.length && tries < triesMax; ) {
      const part = [...left.slice(0, from), ...left.slice(from + size)];
      tries++;
      if (await fails(part)) {
        left = part;
        found = true;
      } else from += size;
    }
    if (size === 1 && !found) break;
    size = size === 1 ? 1 : Math.ceil(size / 2);
  }
  return left;
};
