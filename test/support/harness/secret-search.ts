/**
 * Looks for secrets in what was written, in every spelling in which they could be there.
 *
 * Invariants: a secret is found wherever it begins in an encoded text (base64 has three alignments), in upper and lower case of
 * hexadecimal digits, and when only its characters that need it are escaped.
 */

export interface Leak {
  readonly secret: string;
  readonly as: string;
  readonly where: string;
}

/** A key with every kind of character that some encoding treats in its own way. */
export const odd = {
  apiKey: "cnry-key+0/1=2 3&4",
  secretKey: 'cnry"secret\\é%+/=?&\t{ü}',
  passphrase: "cnry'pass<phrase>~;:#",
};

/** Of so many bytes all spellings are told apart from chance. */
const least = 8;

const hex = (text: string): string => Buffer.from(text, "utf8").toString("hex");

/** The middle of its base64, whatever stands before and after it: the digits that its own bytes alone decide. */
const base64Of = (text: string): readonly string[] =>
  [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text, "utf8")]);
    const first = Math.ceil((before * 8) / 6);
    return bytes.toString("base64").slice(first, Math.floor((bytes.length * 8) / 6));
  });
const urlSafe = (text: string): string => text.replaceAll("+", "-").replaceAll("/", "_");
const percent = (text: string): string => hex(text).replace(/../g, (byte) => `%${byte}`);
const unicode = (text: string): string =>
  Array.from(text, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");

const spellings = (secret: string): ReadonlyMap<string, string> =>
  new Map([
    [secret, "plain text"],
    [JSON.stringify(secret).slice(1, -1), "JSON"],
    [JSON.stringify(JSON.stringify(secret).slice(1, -1)).slice(1, -1), "JSON in JSON"],
    [unicode(secret), "JSON escapes"],
    [encodeURIComponent(secret), "URL encoding"],
    [new URLSearchParams({ "": secret }).toString().slice(1), "form encoding"],
    [percent(secret), "percent encoding"],
    [hex(secret), "hexadecimal"],
    ...base64Of(secret).flatMap((text) => [[text, "base64"] as const, [urlSafe(text), "base64url"] as const]),
  ]);

/** Spellings in which the case of letters says nothing are looked for in lower case. */
const caseless: ReadonlySet<string> = new Set([
  "hexadecimal",
  "percent encoding",
  "URL encoding",
  "form encoding",
  "JSON escapes",
]);

export const leaksIn = (secrets: readonly string[], written: ReadonlyMap<string, string>): readonly Leak[] => {
  const leaks: Leak[] = [];
  for (const [where, text] of written) {
    const lower = text.toLowerCase();
    for (const secret of secrets) {
      if (Buffer.byteLength(secret) < least) throw new Error("too short to be told from chance");
      for (const [spelling, as] of spellings(secret)) {
        if (text.includes(spelling) || (caseless.has(as) && lower.includes(spelling.toLowerCase())))
          leaks.push({ secret: `${secret.slice(0, 4)}…`, as, where });
      }
    }
  }
  return leaks;
};
