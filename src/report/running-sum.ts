/**
 * A running sum of decimal text: text is read when it is added, and made when it is asked for.
 *
 * Invariants: the sum has the text that adding one by one would give it, of any length.
 */
import { add, type Decimal, read, spell, sub, zero } from "../decimal-value.ts";

export class RunningSum {
  #sum: Decimal = zero;

  get text(): string {
    return spell(this.#sum);
  }

  /** Adds the text, or with the sign -1 takes it away. */
  add(text: string, sign: 1 | -1 = 1): void {
    this.#sum = (sign === 1 ? add : sub)(this.#sum, read(text));
  }
}
