/**
 * Unpacks what a page carries: base64, deflated, a head of JSON and columns of differences.
 *
 * Not here: the layout in words, and packing (../packing.ts).
 */
import type { PageData } from "../../ui-kit/page-data.ts";
export const unpack = async (base64: string): Promise<PageData> => {
  const packed = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return parts(new Uint8Array(await new Response(stream).arrayBuffer()));
};

const parts = (bytes: Uint8Array): PageData => {
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const columns = bytes.subarray(4 + length);
  return JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)), (_, value) =>
    Array.isArray(value?.$) ? column(columns, value.$) : value,
  );
};

const column = (bytes: Uint8Array, [count, factor, place]: [count: number, factor: number, place: number]) => {
  const values = new Float64Array(count);
  let whole = 0;
  let next = place;
  for (let index = 0; index < count; index++) {
    let coded = 0;
    for (let unit = 1; ; unit *= 0x80) {
      const byte = bytes[next++] ?? 0;
      coded += (byte & 0x7f) * unit;
      if (byte < 0x80) break;
    }
    whole += coded % 2 === 1 ? -(coded + 1) / 2 : coded / 2;
    values[index] = whole / factor;
  }
  return values;
};
