/**
 * Units that members without a statement may have used of a window: a floor, or the calls they had under way.
 *
 * Invariants: processes of one name have one floor together, because only the youngest may send further calls: an
 * engine that dies repeatedly does not use more of the group's quota than its share. Calls that each of them had under
 * way count.
 */
export class SilentUnits {
  readonly #byName = new Map<string, { readonly floor: number; readonly underWay: number }>();

  /** `id` is a name and an epoch. */
  add(id: string, floor: number, underWay: number): void {
    const name = id.slice(0, id.lastIndexOf("#"));
    const one = this.#byName.get(name) ?? { floor: 0, underWay: 0 };
    this.#byName.set(name, { floor: Math.max(one.floor, floor), underWay: one.underWay + underWay });
  }

  get sum(): number {
    let sum = 0;
    for (const { floor, underWay } of this.#byName.values()) sum += Math.max(floor, underWay);
    return sum;
  }
}
