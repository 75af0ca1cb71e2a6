/**
 * Destinations of lines: a file, or standard output.
 *
 * Invariants: lines keep their order; what waits never exceeds `bytesMax`, and a line that does not fit is counted as
 * lost; writing never blocks, also where the path is a pipe or a terminal that nothing reads; `end` resolves when
 * everything was written or could not be.
 */
import { close, constants, mkdirSync, openSync, write } from "node:fs";
import { dirname } from "node:path";

export interface Sink {
  write(line: string): void;
  /** Opens a new file for later lines. */
  reopen(): void;
  /** Tries again to write what waits, where the reader took nothing before. */
  retry(): void;
  end(): Promise<void>;
  /** Lines that were not written. */
  readonly lost: number;
}

/** Called for each problem: the code of an error, or `too slow`. */
type OnProblem = (what: string) => void;

/**
 * A pipe or terminal that nothing reads answers EAGAIN instead of holding up the process; files do not know the flag.
 */
const append = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NONBLOCK ?? 0);

const newline = 0x0a;

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
    this.#descriptor = openSync(path, append, 0o600);
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

  retry(): void {
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
      this.#writing = true;
      this.#write(Buffer.concat(this.#waiting.splice(0)));
    } else if (this.#ended !== undefined) close(this.#descriptor, this.#ended);
  }

  #write(bytes: Buffer): void {
    write(this.#descriptor, bytes, 0, bytes.length, null, (error, written) => {
      const rest = bytes.subarray(error === null ? written : 0);
      this.#bytes -= bytes.length - rest.length;
      // A write may take only part of what it is given.
      if (error === null && rest.length > 0) return this.#write(rest);
      this.#writing = false;
      if (error?.code === "EAGAIN" && this.#ended === undefined) {
        this.#waiting.unshift(rest);
        return undefined;
      }
      if (error !== null) this.#lose(rest, codeOf(error));
      return this.#next();
    });
  }

  #lose(bytes: Buffer, why: string): void {
    this.#bytes -= bytes.length;
    this.#lost += bytes.reduce((lines, byte) => (byte === newline ? lines + 1 : lines), 0);
    this.#onProblem(why);
  }

  #openAnew(): void {
    this.#reopens = false;
    try {
      const descriptor = openSync(this.#path, append, 0o600);
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

  retry(): void {}

  /** The process itself waits for its standard output when it ends. */
  end(): Promise<void> {
    return Promise.resolve();
  }
}
