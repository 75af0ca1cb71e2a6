/**
 * Code blocks of the documentation: what README.md and the pages of `docs/` show, and how each becomes a file that can be compiled.
 *
 * A `ts` block that begins with a comment such as `// strategies/fade.ts` is that file of its page, so that blocks of one page may
 * import each other. Any other `ts` block is a module of its own. What a fragment takes for granted stands before it in an HTML
 * comment, which readers do not see:
 *
 * ```
 * <!-- ts
 * import { live } from "sluice";
 * export default { /* block *\/ };
 * -->
 * ```
 *
 * The block takes the place of the line that holds the word, or follows the text where no line does.
 * Not here: what is asked of the blocks (test/acceptance/docs).
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

export interface DocBlock {
  /** Path of the page below the repository. */
  readonly page: string;
  /** Line of the opening fence, from 1. */
  readonly line: number;
  /** First word after the fence; empty where there is none. */
  readonly language: string;
  readonly text: string;
  /** The HTML comment directly before the block, without its markers; empty where there is none. */
  readonly note: string;
}

/** A `ts` block as a file of its page. */
export interface DocFile {
  readonly page: string;
  readonly line: number;
  /** Path below the folder of all pages, such as `cookbook/grid/strategies/grid.ts`. */
  readonly path: string;
  readonly text: string;
}

const isPage = (path: string): boolean =>
  path.endsWith(".md") && !/(^|\/)(node_modules|reference|\.vitepress)\//.test(path);

/** README.md and every page that is written by hand. */
export const docPages = (): readonly string[] => [
  "README.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .map((path) => `docs/${path.replaceAll("\\", "/")}`)
    .filter(isPage)
    .sort(),
];

const noteBefore = (lines: readonly string[], fence: number): string => {
  let end = fence - 1;
  while (end >= 0 && lines[end]?.trim() === "") end -= 1;
  if (!lines[end]?.trim().endsWith("-->")) return "";
  let start = end;
  while (start >= 0 && !lines[start]?.includes("<!--")) start -= 1;
  return lines
    .slice(start, end + 1)
    .join("\n")
    .replace(/^\s*<!--/, "")
    .replace(/-->\s*$/, "");
};

export const blocksOf = (page: string, markdown: string): readonly DocBlock[] => {
  const lines = markdown.split("\n");
  const blocks: DocBlock[] = [];
  let hidden = false;
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] as string;
    if (line.includes("<!--")) hidden = true;
    if (line.includes("-->")) hidden = false;
    const open = hidden ? null : /^(\s*)(`{3,})\s*([^\s{[]*)/.exec(line);
    if (open === null) continue;
    const [, indent = "", fence = "", language = ""] = open;
    const end = lines.findIndex((other, at) => at > index && other.trim() === fence);
    if (end === -1) throw new Error(`${page}:${index + 1}: the code block has no end`);
    const text = lines
      .slice(index + 1, end)
      .map((inner) => (inner.startsWith(indent) ? inner.slice(indent.length) : inner));
    blocks.push({ page, line: index + 1, language, text: `${text.join("\n")}\n`, note: noteBefore(lines, index) });
    index = end;
  }
  return blocks;
};

export const docBlocks = (): readonly DocBlock[] =>
  docPages().flatMap((page) => blocksOf(page, readFileSync(join(root, page), "utf8")));

const placeholder = /^.*\/\* block \*\/.*$/m;

/** The block with what its page takes for granted. */
const completed = ({ text, note }: DocBlock): string => {
  const given = /^\s*ts\n([\s\S]*)$/.exec(note)?.[1];
  if (given === undefined) return text;
  return placeholder.test(given) ? given.replace(placeholder, () => text) : `${given}\n${text}`;
};

export const folderOf = (page: string): string =>
  page
    .replace(/^docs\//, "")
    .replace(/\.md$/, "")
    .toLowerCase();

/** A block of TypeScript as a file; one that imports and exports nothing is made a module. */
export const fileOfBlock = (block: DocBlock): DocFile => {
  const { page, line } = block;
  const name = /^\/\/ ([\w./-]+\.ts)\n/.exec(block.text)?.[1];
  const text = completed(block);
  const isModule = /^\s*(import|export) /m.test(text);
  return {
    page,
    line,
    path: `${folderOf(page)}/${name ?? `block-${line}.ts`}`,
    text: isModule ? text : `${text}\nexport {};\n`,
  };
};

/** Every TypeScript block of the documentation. */
export const docFiles = (): readonly DocFile[] =>
  docBlocks()
    .filter(({ language }) => language === "ts")
    .map(fileOfBlock);

/** Writes the blocks of TypeScript below a folder of the repository's `out`, where packages are found, and returns it. */
export const writeDocFiles = (name: string): string => {
  const folder = join(root, "out", name);
  rmSync(folder, { recursive: true, force: true });
  for (const { path, text } of docFiles()) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
};
