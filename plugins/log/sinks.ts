/**
 * Where lines go: a file, or standard output.
 *
 * Invariants: lines keep their order; what waits never exceeds `bytesMax`, and a line that does not fit is counted as lost; writing never
 * blocks; `end` resolves when everything was written or could not be.
 */
import { close, mkdirSync, openSync, write } from "node:fs";
import { dirname } from "node:path";

export interface Sink {
  write(line: string): void;
  /** Opens the file anew, for lines that come from here on. */
  reopen(): void;
  end(): Promise<void>;
  /** Lines that were not written. */
  readonly lost: number;
}

/** Told of each problem: the code of an error, or `too slow`. */
type OnProblem = (what: string) => void;

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException | null)?.code ?? "no reason given";

export class FileSink implements Sink {
  readonly #path: string;
  readonly #bytesMax: number;
  readonly #onProblem: OnProblem;
  #descriptor: number;
  #waiting: Buffer[] = [];
  #bytes = 0;
  #writing = false;
  #reopens = false;
  #ended: (() => void) | undefined;
  #lost = 0;

  /** Throws what opening the file throws. */
  constructor(path: string, bytesMax: number, onProblem: OnProblem) {
    this.#path = path;
    this.#bytesMax = bytesMax;
    this.#onProblem = onProblem;
    mkdirSync(dirname(path), { recursive: true });
    this.#descriptor = openSync(path, "a", 0o600);
  }

  get lost(): number {
    return this.#lost;
  }

  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#bytes + bytes.length > this.#bytesMax) {
      this.#lost++;
      this.#onProblem("too slow");
      return;
    }
    this.#waiting.push(bytes);
    this.#bytes += bytes.length;
    this.#next();
  }

  reopen(): void {
    this.#reopens = true;
    this.#next();
  }

  end(): Promise<void> {
    return new Promise((resolve) => {
      this.#ended = resolve;
      this.#next();
    });
  }

  #next(): void {
    if (this.#writing) return;
    if (this.#reopens) this.#openAnew();
    if (this.#waiting.length > 0) {
      const lines = this.#waiting.length;
      this.#writing = true;
      this.#write(Buffer.concat(this.#waiting.splice(0)), 0, lines);
    } else if (this.#ended !== undefined) close(this.#descriptor, this.#ended);
  }

  #write(bytes: Buffer, from: number, lines: number): void {
    write(this.#descriptor, bytes, from, bytes.length - from, null, (error, written) => {
      // A write may take only part of what it is given.
      if (error === null && from + written < bytes.length) return this.#write(bytes, from + written, lines);
      this.#writing = false;
      this.#bytes -= bytes.length;
      if (error !== null) {
        this.#lost += lines;
        this.#onProblem(codeOf(error));
      }
      return this.#next();
    });
  }

  #openAnew(): void {
    this.#reopens = false;
    try {
      const descriptor = openSync(this.#path, "a", 0o600);
      close(this.#descriptor, () => undefined);
      this.#descriptor = descriptor;
    } catch (error) {
      this.#onProblem(codeOf(error));
    }
  }
}

export class OutputSink implements Sink {
  readonly #bytesMax: number;
  readonly #onProblem: OnProblem;
  #lost = 0;

  constructor(bytesMax: number, onProblem: OnProblem) {
    this.#bytesMax = bytesMax;
    this.#onProblem = onProblem;
  }

  get lost(): number {
    return this.#lost;
  }

  write(line: string): void {
    if (process.stdout.writableLength + line.length <= this.#bytesMax) {
      process.stdout.write(line);
      return;
    }
    this.#lost++;
    this.#onProblem("too slow");
  }

  reopen(): void {}

  end(): Promise<void> {
    return new Promise((resolve) => {
      process.stdout.write("", () => resolve());
    });
  }
}
