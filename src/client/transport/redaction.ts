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
    const shown = textsIn(value);
    const longest = shown.reduce((length, text) => Math.max(length, text.length), 0);
    const texts = [...new Set([...secrets(), ...sent])].filter(({ length }) => length > 0 && length <= longest);
    const long = texts.filter(({ length }) => length >= longMin).flatMap((text) => longForms(text, longest));
    const short = texts.filter(({ length }) => length < longMin).flatMap(shortForms);
    // Almost every value holds none of the forms, found by one search of all its texts together.
    const together = lowered(shown.join("\n"));
    if (![...long, ...short].some((form) => together.includes(form))) return value;
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

/** The text in lower case and of the same length, which one letter alone would change. */
const lowered = (text: string): string => text.replaceAll("\u0130", "I").toLowerCase();

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

/** Texts of these characters are their own form in JSON, in a URL and in a form. */
const unreserved = /^[\w.*-]+$/;

const shortForms = (text: string): readonly string[] =>
  unreserved.test(text) ? [lowered(text)] : distinct([text, jsonOf(text), encoded(text), formOf(text)]);

const escapesOf = (text: string): string =>
  Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`).join("");

interface Encoding {
  /** The form of a text of `longMin` characters or more has at least so many characters for each of the text's. */
  readonly growth: number;
  readonly formsOf: (text: string, bytes: Buffer) => readonly string[];
}

const encodings: readonly Encoding[] = [
  { growth: 1, formsOf: shortForms },
  { growth: 1, formsOf: (text) => (unreserved.test(text) ? [] : [jsonOf(jsonOf(text)), encoded(encoded(text))]) },
  { growth: 1.2, formsOf: (_, bytes) => [bytes.toString("base64"), bytes.toString("base64url")] },
  { growth: 1.2, formsOf: (_, bytes) => [0, 1, 2].flatMap((before) => inBase64(bytes, before)) },
  { growth: 2, formsOf: (_, bytes) => [bytes.toString("hex")] },
  { growth: 3, formsOf: (_, bytes) => [bytes.toString("hex").replace(/../g, "%$&")] },
  { growth: 6, formsOf: (text) => [escapesOf(text)] },
];

/** The forms of a secret that fit into `longest` characters. */
const longForms = (text: string, longest: number): readonly string[] => {
  const bytes = Buffer.from(text, "utf8");
  const fitting = encodings.filter(({ growth }) => text.length * growth <= longest);
  return distinct(fitting.flatMap(({ formsOf }) => formsOf(text, bytes)));
};

/** Base64 characters that depend on this text alone when it follows `before` other bytes in a longer text. */
const inBase64 = (bytes: Buffer, before: number): readonly string[] => {
  const all = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
  const part = all.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  return [part, part.replaceAll("+", "-").replaceAll("/", "_")];
};

/** Longest first, so that no form is cut by a shorter one. */
const distinct = (forms: readonly string[]): readonly string[] =>
  [...new Set(forms.map(lowered))].sort((one, other) => other.length - one.length);
