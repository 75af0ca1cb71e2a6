/**
 * Beginnings of one scope's windows for each member of a group, on the store's clock, and the wrong ones where they
 * disagree.
 *
 * Invariants: the beginning of more members wins; between two equal groups the one wins that contains the member that
 * was believed before, while its beginning stays the same. A member that only numbers windows differently is not
 * counted: it takes over the others' numbers.
 * Not here: the consequence for a member (held-units.ts).
 */
import { type ClaimItem, keptWindows, phaseSlackMs } from "./claim.ts";

/** Beginning of window 0, at the earliest and at the latest. */
interface Beginning {
  readonly from: number;
  readonly to: number;
  readonly heardAt: number;
  /** Kept for the member while it is not believed. */
  readonly floor: number;
}

interface Judgement {
  /** Milliseconds by which its windows begin later than those of the others. */
  readonly astrayMs: number;
  /** It is not believed, and is no member until it agrees. */
  readonly isLost: boolean;
}

const agreed: Judgement = { astrayMs: 0, isLost: false };

export class WindowBeginnings {
  readonly #said = new Map<string, Beginning>();

  judge(
    id: string,
    { window, windowMs, remainingMs, spreadMs, floor }: ClaimItem,
    isMember: boolean,
    at: number,
  ): Judgement {
    if (spreadMs > windowMs / 2) return agreed;
    const to = at + remainingMs - (window + 1) * windowMs;
    const own = { from: to - spreadMs - phaseSlackMs, to, heardAt: at, floor };
    const agrees = (one: Beginning): boolean => one.to >= own.from && one.from <= own.to;
    let agreeing = 1;
    const apart: number[] = [];
    for (const [name, one] of this.#said) {
      if (name === id || at - one.heardAt > keptWindows * windowMs) continue;
      if (agrees(one)) agreeing++;
      else apart.push(to - one.to);
    }
    const before = this.#said.get(id);
    const isKnown = isMember && before !== undefined && agrees(before);
    if (apart.length < agreeing || (apart.length === agreeing && isKnown)) {
      this.#said.set(id, own);
      return agreed;
    }
    const astrayMs = apart.toSorted((a, b) => a - b)[Math.floor(apart.length / 2)] as number;
    const isLost = Math.abs(astrayMs - Math.floor(astrayMs / windowMs + 0.5) * windowMs) > spreadMs + phaseSlackMs;
    if (isLost) this.#said.set(id, own);
    return { astrayMs, isLost };
  }

  /** Floors of the members with a statement within the windows that are kept. */
  *floors(windowMs: number, at: number): Iterable<readonly [id: string, floor: number]> {
    for (const [id, { floor, heardAt }] of this.#said) if (at - heardAt <= keptWindows * windowMs) yield [id, floor];
  }

  forget(id: string): void {
    this.#said.delete(id);
  }
}
