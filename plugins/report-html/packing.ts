/**
 * Packed page data: columns of numbers as differences in few bytes, behind a head of JSON, deflated, as base64.
 *
 * Invariants: what is unpacked equals what was packed, numbers of more than nine fraction digits aside, which are
 * rounded there; equal data give equal text on one version of Node. Layout: length of the head in 4 bytes,
 * little-endian; the head, in which a column is `{"$":[count, factor, place]}`; then the columns, each the zigzag
 * differences of value × factor, 7 bits a byte, low ones first.
 * Not here: unpacking (client/unpack.ts), what there is to pack (page-data.ts).
 */
import { deflateRawSync } from "node:zlib";
import type { PageData } from "sluice/plugins/ui-kit";

export const packed = (data: PageData): string => {
  const bytes = new GrowingBytes();
  const head = JSON.stringify(data, (_, value: unknown) => {
    if (!(value instanceof Float64Array)) return value;
    const factor = factorOf(value);
    const place = bytes.length;
    writeColumn(bytes, value, factor);
    return { $: [value.length, factor, place] };
  });
  const text = Buffer.from(head);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  return deflateRawSync(Buffer.concat([length, text, bytes.written()]), { level: 9 }).toString("base64");
};

const digitsMax = 9;

/** The smallest power of ten that makes all values whole, as far as whole numbers are exact. */
const factorOf = (values: Float64Array): number => {
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  let factor = 1;
  for (const value of values) {
    while (factor < 10 ** digitsMax && largest * factor * 10 < 2 ** 51 && !isWhole(value * factor)) factor *= 10;
  }
  return factor;
};

/** Products of decimals differ a little from the whole number. */
const isWhole = (value: number): boolean => Math.abs(value - Math.round(value)) <= Math.abs(value) * 1e-15;

const writeColumn = (bytes: GrowingBytes, values: Float64Array, factor: number): void => {
  let before = 0;
  for (const value of values) {
    const whole = Math.round(value * factor);
    const change = whole - before;
    bytes.push(change < 0 ? -2 * change - 1 : 2 * change);
    before = whole;
  }
};

class GrowingBytes {
  #bytes = new Uint8Array(1 << 16);
  length = 0;

  push(value: number): void {
    if (this.length + 10 > this.#bytes.length) {
      const larger = new Uint8Array(2 * this.#bytes.length);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    let left = value;
    while (left >= 0x80) {
      this.#bytes[this.length++] = (left % 0x80) | 0x80;
      left = Math.floor(left / 0x80);
    }
    this.#bytes[this.length++] = left;
  }

  written(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }
}
