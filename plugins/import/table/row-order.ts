/**
 * The order of the rows of a file by time: oldest first, newest first, or slightly out of order.
 *
 * Invariants: a row that is out of order by more than the tolerance is refused by line; rows of one instant keep their
 * order, and of a file that is newest first the reverse of it.
 */
import { append, type Growing, growing } from "../import-columns.ts";
import { importInvalid } from "../import-decimals.ts";

export class RowOrder {
  /** Milliseconds since the epoch, in the order of the file. */
  readonly at: Growing<Float64Array> = growing(Float64Array);
  readonly #file: string;
  readonly #toleranceMs: number;
  readonly #isReversed: boolean;
  #latest = Number.NEGATIVE_INFINITY;
  #late = 0;

  /** `sample` are the times of the first rows, which show the direction. */
  constructor(file: string, toleranceMs: number, sample: readonly number[]) {
    this.#file = file;
    this.#toleranceMs = toleranceMs;
    const steps = sample.slice(1).map((at, index) => Math.sign(at - (sample[index] as number)));
    this.#isReversed = steps.reduce((total, step) => total + step, 0) < 0;
  }

  get isReversed(): boolean {
    return this.#isReversed;
  }

  /** Number of rows that came after a later one. */
  get late(): number {
    return this.#late;
  }

  /** The instant of the row before, in the order of the file; undefined at the first row. */
  get last(): number | undefined {
    return this.at.length === 0 ? undefined : this.at.values[this.at.length - 1];
  }

  push(at: number, line: number): void {
    const forward = this.#isReversed ? -at : at;
    const behindMs = this.#latest - forward;
    if (behindMs > this.#toleranceMs) {
      const [place, remedy] = this.#isReversed ? ["after", "newest"] : ["before", "oldest"];
      const how =
        this.#toleranceMs > 0 ? ` by ${behindMs} ms; at most ${this.#toleranceMs} ms are sorted (--disorder-ms)` : "";
      const text = new Date(at).toISOString().replace("T", " ").replace(".000Z", "").replace("Z", "");
      throw importInvalid(
        this.#file,
        line,
        `${text} comes ${place} the row above it${how}. Sort the rows ${remedy} first.`,
      );
    }
    if (behindMs > 0) this.#late++;
    else this.#latest = forward;
    append(this.at, at);
  }

  /** Places of the rows by time; undefined where they are in order. */
  order(): Uint32Array | undefined {
    const { values, length } = this.at;
    if (!this.#isReversed && this.#late === 0) return undefined;
    const order = new Uint32Array(length).map((_, index) => (this.#isReversed ? length - 1 - index : index));
    return this.#late === 0
      ? order
      : order.sort((a, b) => (values[a] as number) - (values[b] as number) || (this.#isReversed ? b - a : a - b));
  }
}
