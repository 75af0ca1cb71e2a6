/**
 * Halt of all engines of a group, from the view of one of them.
 *
 * Invariants: a message that did not reach the store is sent again after the store's next answer; a store that does not
 * know of a halt ends none.
 * Not here: what an engine does then (quota-group.ts).
 */
import { type ClaimStore, noReason } from "./claim.ts";

export class GroupHalt {
  /** Reason of the group's halt; undefined while it is not halted. */
  reason: string | undefined;
  readonly #store: Pick<ClaimStore, "halt">;
  readonly #onHalt: (reason: string | undefined) => void;
  /** Message that has not reached the store yet: a halt, or that the group may continue. */
  #untold: { readonly reason: string | undefined } | undefined;

  constructor(store: Pick<ClaimStore, "halt">, onHalt: (reason: string | undefined) => void) {
    this.#store = store;
    this.#onHalt = onHalt;
  }

  /**
   * Halts every engine of the group, this one at once, or resumes all. Rejects when the store has not confirmed it yet.
   */
  async all(reason: string | undefined): Promise<void> {
    this.#untold = { reason: reason === "" ? noReason : reason };
    this.#note(this.#untold.reason);
    await this.#tell();
  }

  /**
   * The store has answered: with a reason, with an empty text after a resume, or with undefined where it does not know.
   */
  hear(told: string | undefined): void {
    if (told === undefined && this.reason !== undefined) this.#untold ??= { reason: this.reason };
    if (this.#untold !== undefined) this.#tell().catch(() => undefined);
    else if (told !== undefined) this.#note(told === "" ? undefined : told);
  }

  async #tell(): Promise<void> {
    const untold = this.#untold;
    if (untold === undefined) return;
    await this.#store.halt(untold.reason);
    if (this.#untold === untold) this.#untold = undefined;
  }

  #note(reason: string | undefined): void {
    if (reason === this.reason) return;
    this.reason = reason;
    this.#onHalt(reason);
  }
}
