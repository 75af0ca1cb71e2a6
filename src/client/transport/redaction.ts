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

/**
 * `secrets` is called for each value, so that no object has to keep their texts; it may leave out those that are longer
 * than `longest`.
 */
export const createRedact =
  (secrets: (longest: number) => readonly string[]): Redact =>
  (value, sent = []) => {
    const shown = textsIn(value);
    const longest = shown.reduce((length, text) => Math.max(length, text.length), 0);
    const texts = [...new Set([...secrets(longest), ...sent])].filter(({ length }) => length > 0 && length <= longest);
    const long = texts.filter(({ length }) => length >= longMin).flatMap((text) => longForms(text, longest));
    const short = texts.filter(({ length }) => length < longMin).flatMap(shortForms);
    // Almost every value holds none of the forms, found by one search of all its texts together.
    const together = lowered(shown.join("\n"));
    if (![...long, ...short].some((form) => together.includes(lowered(form)))) return value;
    const forms = { long: distinct(long), short: distinct([...long, ...short]) };
    return cleaned(value, forms, typeof value === "string") as typeof value;
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

/** All texts of a value, names of fields included. */
const textsIn = (value: unknown): readonly string[] => {
  const texts: string[] = [];
  const add = (part: unknown): void => {
    if (typeof part === "string") texts.push(part);
    else if (Array.isArray(part)) part.forEach(add);
    else if (typeof part === "object" && part !== null) {
      for (const [name, item] of Object.entries(part)) {
        texts.push(name);
        add(item);
      }
    }
  };
  add(value);
  return texts;
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

/**
 * The text in lower case and of the same length, each character by itself: a capital dotted I would become two, and a
 * capital sigma another letter at the end of a word.
 */
const lowered = (text: string): string => text.replaceAll("\u0130", "I").toLowerCase().replaceAll("\u03C2", "\u03C3");

/** Replaces each form, ignoring case. `forms` are in lower case. */
const textWithout = (text: string, forms: readonly string[]): string => {
  let clean = text;
  for (const form of forms) {
    if (form.length > clean.length) continue;
    for (let at = lowered(clean).indexOf(form); at !== -1; ) {
      clean = clean.slice(0, at) + mark + clean.slice(at + form.length);
      at = lowered(clean).indexOf(form, at + mark.length);
    }
  }
  return clean;
};

const jsonOf = (text: string): string => JSON.stringify(text).slice(1, -1);

/** A lone half of a character pair cannot be encoded. */
const encoded = (text: string): string => encodeURIComponent(text.replaceAll(/\p{Cs}/gu, "\uFFFD"));

const formOf = (text: string): string => new URLSearchParams({ "": text }).toString().slice(1);

/** A text of these characters alone is its own form in JSON, in a URL and in a form. */
const unreserved = /^[\w.*-]+$/;

const shortForms = (text: string): readonly string[] =>
  unreserved.test(text) ? [text] : [text, jsonOf(text), encoded(text), formOf(text)];

const nestedForms = (text: string): readonly string[] =>
  unreserved.test(text) ? [] : [jsonOf(jsonOf(text)), encoded(encoded(text))];

const hexOf = (text: string): string => Buffer.from(text, "utf8").toString("hex");

const escapesOf = (text: string): string =>
  Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`).join("");

const base64Forms = (text: string): readonly string[] => {
  const bytes = Buffer.from(text, "utf8");
  const parts = [0, 1, 2].map((before) => inBase64(text, bytes.length, before));
  return [bytes.toString("base64"), bytes.toString("base64url"), ...parts, ...parts.map(urlSafe)];
};

/** Base64 characters that depend on a text of so many bytes alone when it follows `before` other bytes. */
const inBase64 = (text: string, bytes: number, before: number): string =>
  Buffer.from(`${" ".repeat(before)}${text}`, "utf8")
    .toString("base64")
    .slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes) * 8) / 6));

const urlSafe = (base64: string): string => base64.replaceAll("+", "-").replaceAll("/", "_");

interface Encoding {
  /** Least length of a form of a text of so many characters, `longMin` or more. */
  readonly lengthMin: (length: number) => number;
  readonly formsOf: (text: string) => readonly string[];
}

const encodings: readonly Encoding[] = [
  { lengthMin: (length) => length, formsOf: shortForms },
  { lengthMin: (length) => length, formsOf: nestedForms },
  // After one other byte the fewest characters depend on the text alone.
  { lengthMin: (length) => Math.floor(((length + 1) * 8) / 6) - 2, formsOf: base64Forms },
  { lengthMin: (length) => 2 * length, formsOf: (text) => [hexOf(text)] },
  { lengthMin: (length) => 3 * length, formsOf: (text) => [hexOf(text).replace(/../g, "%$&")] },
  { lengthMin: (length) => 6 * length, formsOf: (text) => [escapesOf(text)] },
];

/** The forms of a secret that fit into `longest` characters. */
const longForms = (text: string, longest: number): readonly string[] =>
  encodings.flatMap(({ lengthMin, formsOf }) => (lengthMin(text.length) <= longest ? formsOf(text) : []));

/** Forms in lower case, the longest first, so that none is cut by a shorter one. */
const distinct = (forms: readonly string[]): readonly string[] =>
  [...new Set(forms.map(lowered))].sort((one, other) => other.length - one.length);
