/**
 * The bytes of a file from its beginning, in the portions that its format asks for.
 *
 * Invariants: at most a portion and a piece of the file are held; a portion that is incomplete at the end of the file
 * is refused.
 */
import { importDamaged, type TextPart } from "../byte-source.ts";

export class ByteQueue {
  readonly #name: string;
  readonly #what: string;
  readonly #pieces: AsyncGenerator<Buffer>;
  #waiting: Buffer[] = [];
  #length = 0;

  /** `what` is in it, for messages: "NumPy data". */
  constructor(part: TextPart, what: string, onRead?: (bytes: number) => void) {
    this.#name = part.name;
    this.#what = what;
    this.#pieces = part.unpacked(onRead);
  }

  /** The next bytes, which stay; fewer at the end. */
  async peek(count: number): Promise<Buffer> {
    while (this.#length < count) {
      const { value, done } = await this.#pieces.next();
      if (done === true) break;
      this.#waiting.push(value);
      this.#length += value.length;
    }
    if (this.#waiting.length > 1) this.#waiting = [Buffer.concat(this.#waiting)];
    return this.#waiting[0]?.subarray(0, count) ?? Buffer.alloc(0);
  }

  /** The next bytes in a buffer of their own, so that numbers in them are aligned. */
  async take(count: number): Promise<Uint8Array> {
    const bytes = Uint8Array.from(await this.peek(count));
    if (bytes.length < count) throw this.damaged(`it ends ${count - bytes.length} bytes early`);
    this.#waiting = [(this.#waiting[0] as Buffer).subarray(count)];
    this.#length -= count;
    return bytes;
  }

  damaged(why: string): Error {
    return importDamaged(this.#name, this.#what, new Error(why));
  }

  /** Leaves the rest unread. */
  async end(): Promise<void> {
    await this.#pieces.return(undefined);
  }
}
