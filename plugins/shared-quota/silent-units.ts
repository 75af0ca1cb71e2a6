/**
 * Units that members without a statement may have used of a window: a floor, or what they had under way.
 *
 * Invariants: processes of one name have one floor together, as each but the youngest may send nothing more: an engine
 * that dies again and again takes no more of the group's quota than its share. What each of them had under way counts.
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
