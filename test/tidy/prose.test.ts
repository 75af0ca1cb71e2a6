/**
 * Rule for prose: comments, messages and documentation use the plain words of the field.
 *
 * Each room, plugin and folder of the documentation may have one odd phrase in a hundred lines, because some of these
 * words are right in places that a pattern cannot see.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const linesMin = 200;
const sharePercentMax = 1;

/** Odd words, and plain ones to write instead. */
const rules: readonly (readonly [RegExp, string])[] = [
  [/\b(?:tells?|told|telling)\b(?! apart)/i, "report, return, log, emit, state"],
  [/\b(?:says?|said|saying)\b/i, "state, specify, return, report"],
  [/\b(?:heard|hears?)\b/i, "received, observed"],
  [/\b(?:whoever|whatever|whichever|nobody|somebody|anybody)\b/i, "the name of the subject"],
  [/\b(?:mends?|mended|mending|reckons?|reckoned|reckoning)\b/i, "fix, compute"],
  [/\b(?:anew|likewise|thereof|therein|thereby|hence|thus|lest)\b/i, "again, also, so"],
  [/\b(?:all the same|for good|by rights|of late|in vain|no more\b(?! than)|at hand|can be had)\b/i, "a plain word"],
  [/\bbeside\b/i, "next to, in addition to"],
  [/\b(?:becomes?|became) of\b/i, "outcome, result"],
  [/\b(?:takes?|taken|taking) for\b/i, "treat as, assume"],
  [/\b(?:goes?|going|went) on\b/i, "continue"],
  [/\b(?:stands?|stood|speaks?|spoken?)\b/i, "is, remains, use, support"],
  [/\b(?:hurry|hasty|homeless|deposed|strangers?|fate|wish|wishes)\b/i, "the term of the field"],
  [/^\s*\/?\*\*?\s*(?:What|How|Which|Where|Who|Whether|When)\b/, "a noun phrase, or a verb first"],
];

const isSource = (path: string): boolean => /\.(?:ts|js|mjs)$/.test(path);

/** Lines that people read: comments and messages of a source, paragraphs of a page. */
const proseOf = (path: string): readonly (readonly [line: number, text: string])[] => {
  let isCode = false;
  return readFileSync(join(root, path), "utf8")
    .split("\n")
    .flatMap((text, index) => {
      if (!isSource(path)) {
        if (/^\s*(?:```|~~~)/.test(text)) isCode = !isCode;
        return isCode || text.trim() === "" ? [] : [[index + 1, text] as const];
      }
      if (/^\s*(?:\/\*\*?|\*(?!\/)|\/\/)/.test(text)) return [[index + 1, text] as const];
      const messages = [...text.matchAll(/(["'`])((?:\\.|(?!\1).)*)\1/g)]
        .map(([, , inside = ""]) => inside.replace(/\$\{[^}]*\}/g, "…"))
        .filter((inside) => /\S+ \S+ \S+ \S+/.test(inside) && !/^(?:import|export)\b/.test(text));
      return messages.length === 0 ? [] : [[index + 1, messages.join(" ")] as const];
    });
};

const filesBelow = (folder: string): readonly string[] =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory())
      return /^(?:node_modules|reference|dist|cache|bundle)$/.test(entry.name) ? [] : filesBelow(path);
    return isSource(path) || path.endsWith(".md") ? [path] : [];
  });

/** Room, plugin or folder of the documentation to which a file belongs. */
const roomOf = (path: string): string => path.split("/").slice(0, 2).join("/");

const files = [
  ...["src", "plugins", "strategies", "config", "docs"].flatMap(filesBelow),
  "README.md",
  "CONTRIBUTING.md",
];

describe("Prose", () => {
  it("has at most one odd phrase in a hundred lines, in every room, plugin and folder of the documentation", () => {
    const rooms = new Map<string, { lines: number; places: string[] }>();
    for (const path of files) {
      const key = /\.(?:ts|md)$/.test(roomOf(path)) ? "single files" : roomOf(path);
      const room = rooms.get(key) ?? { lines: 0, places: [] };
      rooms.set(key, room);
      for (const [line, text] of proseOf(path)) {
        room.lines += 1;
        const rule = rules.find(([pattern]) => pattern.test(text));
        if (rule !== undefined) room.places.push(`${path}:${line}: ${rule[1]} :: ${text.trim().slice(0, 100)}`);
      }
    }
    const wrong = [...rooms].flatMap(([name, { lines, places }]) => {
      const most = Math.floor((lines * sharePercentMax) / 100);
      return lines >= linesMin && places.length > most ? [`${name}: ${places.length} of ${most}`, ...places] : [];
    });
    expect(wrong).toEqual([]);
  });
});
