/**
 * Redaction of secrets in what the other side sends: a service or a proxy may repeat headers of a request in its error
 * texts.
 *
 * Invariants: a secret of eight characters or more does not pass in any text, in the plain or in an encoded form; a
 * shorter one does not pass in error texts, and leaves other fields alone, as it may be part of their values; a value
 * without a secret is returned unchanged.
 * Not here: which texts are shown (client/parse-response.ts, socket-message.ts).
 */

const mark = "[redacted]";
/** A shorter text occurs in values by chance. */
const longMin = 8;
/** Names of the fields that hold error texts. */
const errorField = /msg|message|error|reason|detail/i;

/** Redacts a text or all texts in a parsed JSON value. `sent` contains further texts of the request to redact. */
export type Redact = <T>(value: T, sent?: readonly string[]) => T;

/** `secrets` is called for each value, so that no object has to keep their texts. */
export const createRedact =
  (secrets: () => readonly string[]): Redact =>
  (value, sent = []) => {
    // Every form of a secret is at least as long as the secret, so a longer one cannot be in a value of shorter texts.
    const longest = longestIn(value);
    if (longest === 0) return value;
    const texts = [...secrets(), ...sent].filter(({ length }) => length > 0 && length <= longest);
    const long = texts.filter(({ length }) => length >= longMin).flatMap(longForms);
    const short = texts.filter(({ length }) => length < longMin).flatMap(shortForms);
    return cleaned(value, { long, short: [...long, ...short] }, typeof value === "string") as typeof value;
  };

/**
 * The text of a message with its JSON values redacted, however their characters are escaped; the text itself where
 * nothing is found.
 */
export const redactedJson = (text: string, redact: Redact, sent: readonly string[]): string => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return redact(text, sent);
  }
  const clean = redact(value, sent);
  return clean === value ? text : JSON.stringify(clean);
};

/** Length of the longest text of a value, names of fields included. */
const longestIn = (value: unknown): number => {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  let longest = 0;
  for (const [name, item] of Object.entries(value)) longest = Math.max(longest, name.length, longestIn(item));
  return longest;
};

interface Forms {
  readonly long: readonly string[];
  /** Forms of all secrets. */
  readonly short: readonly string[];
}

const cleaned = (value: unknown, forms: Forms, isError: boolean): unknown => {
  if (typeof value === "string") return textWithout(value, isError ? forms.short : forms.long);
  if (Array.isArray(value)) {
    const items = value.map((item) => cleaned(item, forms, isError));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (typeof value !== "object" || value === null) return value;
  let isChanged = false;
  const entries = Object.entries(value).map(([name, item]): [string, unknown] => {
    const entry: [string, unknown] = [
      textWithout(name, forms.long),
      cleaned(item, forms, isError || errorField.test(name)),
    ];
    if (entry[0] !== name || entry[1] !== item) isChanged = true;
    return entry;
  });
  return isChanged ? Object.fromEntries(entries) : value;
};

/** Replaces each form, ignoring case. `forms` are in lower case. */
const textWithout = (text: string, forms: readonly string[]): string => {
  let clean = text;
  for (const form of forms) {
    if (form.length > clean.length) continue;
    for (let at = clean.toLowerCase().indexOf(form); at !== -1; ) {
      clean = clean.slice(0, at) + mark + clean.slice(at + form.length);
      at = clean.toLowerCase().indexOf(form, at + mark.length);
    }
  }
  return clean;
};

const jsonOf = (text: string): string => JSON.stringify(text).slice(1, -1);

/** A lone half of a character pair cannot be encoded. */
const encoded = (text: string): string => encodeURIComponent(text.replaceAll(/\p{Cs}/gu, "\uFFFD"));

const formOf = (text: string): string => new URLSearchParams({ "": text }).toString().slice(1);

const shortForms = (text: string): readonly string[] => distinct([text, jsonOf(text), encoded(text), formOf(text)]);

const longForms = (text: string): readonly string[] => {
  const bytes = Buffer.from(text, "utf8");
  const hex = bytes.toString("hex");
  const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index).toString(16).padStart(4, "0"));
  return distinct([
    ...shortForms(text),
    jsonOf(jsonOf(text)),
    encoded(encoded(text)),
    hex,
    hex.replace(/../g, "%$&"),
    units.map((digits) => `\\u${digits}`).join(""),
    bytes.toString("base64"),
    bytes.toString("base64url"),
    ...[0, 1, 2].flatMap((before) => inBase64(bytes, before)),
  ]);
};

/** Base64 characters that depend on this text alone when it follows `before` other bytes in a longer text. */
const inBase64 = (bytes: Buffer, before: number): readonly string[] => {
  const all = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
  const part = all.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  return [part, part.replaceAll("+", "-").replaceAll("/", "_")];
};

/** Longest first, so that no form is cut by a shorter one. */
const distinct = (forms: readonly string[]): readonly string[] =>
  [...new Set(forms.map((form) => form.toLowerCase()))].sort((one, other) => other.length - one.length);
