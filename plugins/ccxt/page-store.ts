/**
 * Pages of market data on disk while they are fetched, so that an interrupted fetch can continue.
 *
 * A file for each product and span, in a folder next to the fixture: a line of JSON for each page, with the begin of
 * the next one.
 * Invariants: pages are read back whole and in the order in which they came; a line that was cut off is dropped and its
 * page requested again; each page advances the cursor, or the fetch ends with an error.
 * Not here: contents of a page (candle-pages.ts, trade-pages.ts), use of the rows (fetched-rows.ts).
 */
import {
  appendFileSync,
  closeSync,
  createReadStream,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmdirSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { SluiceError } from "sluice";
import { messageOf } from "sluice/extension";

/** Span from the first instant to before the last, in milliseconds. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface Page<R, C> {
  readonly rows: readonly R[];
  readonly next: C;
  /** Stretches in which the exchange may have had more than it showed. */
  readonly lost?: readonly (readonly [from: number, to: number])[];
  /** Rows that lacked a time, a price or a side. */
  readonly unusable?: number;
}

export interface Pager<R, C> {
  readonly begin: C;
  /** A cursor at or behind it has nothing left. */
  readonly end: number;
  readonly page: (cursor: C) => Promise<Page<R, C>>;
}

/** The last page is well within it. */
const tailBytes = 16_777_216;

export class PageStore<R, C extends { readonly at: number }> {
  readonly #folder: string;
  readonly #path: string;

  constructor(folder: string, name: string) {
    this.#folder = folder;
    this.#path = join(folder, `${name}.ndjson`);
  }

  /** Fetches missing pages and stores them; `onPage` receives the progress. */
  async fill({ begin, end, page }: Pager<R, C>, onPage: (at: number) => void): Promise<void> {
    let cursor = this.#last() ?? begin;
    // Same place twice in a row is a change of the way of asking, three times is none.
    let stood = 0;
    mkdirSync(this.#folder, { recursive: true });
    while (cursor.at < end) {
      onPage(cursor.at);
      const found = await page(cursor);
      stood = found.next.at > cursor.at || found.rows.length > 0 ? 0 : stood + 1;
      if (stood > 2)
        throw new SluiceError(
          "DATA_UNAVAILABLE",
          `The exchange shows the same page again at ${new Date(cursor.at).toISOString()}.`,
        );
      this.#keep(found);
      cursor = found.next;
    }
    onPage(end);
  }

  /** All pages, one at a time. */
  async *pages(): AsyncGenerator<Page<R, C>> {
    if (!existsSync(this.#path)) return;
    const lines = createInterface({ input: createReadStream(this.#path), crlfDelay: Number.POSITIVE_INFINITY });
    for await (const line of lines) yield JSON.parse(line) as Page<R, C>;
  }

  /** Removes the file, and the folder with the last one. */
  remove(): void {
    rmSync(this.#path, { force: true });
    if (existsSync(this.#folder) && readdirSync(this.#folder).length === 0) rmdirSync(this.#folder);
  }

  #keep(page: Page<R, C>): void {
    try {
      appendFileSync(this.#path, `${JSON.stringify(page)}\n`);
    } catch (error) {
      throw new SluiceError(
        "DATA_UNAVAILABLE",
        `What was fetched cannot be kept: ${messageOf(error)}. What is in ${this.#folder} is whole.`,
      );
    }
  }

  /** Returns the cursor after the last complete page. Removes a line that was cut off. */
  #last(): C | undefined {
    if (!existsSync(this.#path)) return undefined;
    const file = openSync(this.#path, "r+");
    try {
      const { size } = fstatSync(file);
      const bytes = Buffer.alloc(Math.min(size, tailBytes));
      readSync(file, bytes, 0, bytes.length, size - bytes.length);
      const whole = bytes.lastIndexOf(10) + 1;
      ftruncateSync(file, size - bytes.length + whole);
      if (whole === 0) return undefined;
      const begins = bytes.lastIndexOf(10, whole - 2) + 1;
      return (JSON.parse(bytes.toString("utf8", begins, whole)) as Page<R, C>).next;
    } finally {
      closeSync(file);
    }
  }
}
