/**
 * Single values of JSON read from its bytes.
 *
 * Invariants: what ends somewhere is answered by where that is, and by -1 for whatever is not plain: an escape, a letter beyond ASCII,
 * a sign, an exponent, a leading zero.
 * Not here: which values a message has (import-scan.ts).
 */
export const bytesOf = (text: string): Buffer => Buffer.from(text, "latin1");
export const codeOf = (text: string): number => text.charCodeAt(0);

export const mark = codeOf('"');
const yes = bytesOf("true");
const no = bytesOf("false");

export const matches = (bytes: Uint8Array, at: number, wanted: Uint8Array): boolean => {
  for (let index = 0; index < wanted.length; index++) if (bytes[at + index] !== wanted[index]) return false;
  return true;
};

/** Where a text of plain characters ends, which begins at `start`: at its closing mark. */
export const textEnd = (bytes: Uint8Array, start: number): number => {
  for (let at = start; at < bytes.length; at++) {
    const code = bytes[at] as number;
    if (code === mark) return at;
    if (code < 32 || code > 126 || code === 92) return -1;
  }
  return -1;
};

/** A value that nobody asks for: text, a whole number, true or false. */
export const skipped = (bytes: Uint8Array, at: number): number => {
  if (bytes[at] === mark) {
    const end = textEnd(bytes, at + 1);
    return end < 0 ? -1 : end + 1;
  }
  const code = bytes[at] as number;
  return code >= 48 && code <= 57 ? digitsEnd(bytes, at) : truthEnd(bytes, at);
};

export const truthEnd = (bytes: Uint8Array, at: number): number =>
  matches(bytes, at, yes) ? at + yes.length : matches(bytes, at, no) ? at + no.length : -1;

export const digitsEnd = (bytes: Uint8Array, start: number): number => {
  let at = start;
  while ((bytes[at] as number) >= 48 && (bytes[at] as number) <= 57) at++;
  // JSON knows no leading zeros.
  return at === start || (bytes[start] === 48 && at > start + 1) ? -1 : at;
};

export const wholeIn = (bytes: Uint8Array, start: number, end: number): number => {
  let value = 0;
  for (let at = start; at < end; at++) value = value * 10 + (bytes[at] as number) - 48;
  return value;
};

/** A decimal of plain digits in marks, into two numbers from `slot` on. Zeros at the end of a fraction do not count. */
export const decimal = (bytes: Uint8Array, start: number, into: Float64Array, slot: number): number => {
  if (bytes[start] !== mark) return -1;
  let at = start + 1;
  let value = 0;
  let fraction = 0;
  let zeros = 0;
  let point = -1;
  for (; ; at++) {
    const digit = (bytes[at] as number) - 48;
    if (digit === -2 && point < 0) point = at;
    else if (!(digit >= 0 && digit <= 9)) break;
    else if (point < 0) value = value * 10 + digit;
    else if (digit === 0) zeros++;
    else {
      for (; zeros > 0; zeros--, fraction++) value *= 10;
      value = value * 10 + digit;
      fraction++;
    }
  }
  if (bytes[at] !== mark || at === start + 1 || point === start + 1 || point === at - 1) return -1;
  into[slot] = value;
  into[slot + 1] = fraction;
  return at + 1;
};

export const textIn = (bytes: Uint8Array, from: number, to: number): string => Buffer.from(bytes.subarray(from, to)).toString("latin1");
