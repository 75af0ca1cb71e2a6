/**
 * The script of a page in one file: the chart library, the shared modules and those of the page, joined to one text.
 *
 * Invariants: modules are placed after those they import and share one scope, in which each top-level name is one thing
 * (a test joins and runs them); the library's licence is in front of it; nothing is fetched.
 * Not here: the modules (client/).
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const modules = [
  "columns",
  "elements",
  "texts",
  "orders",
  "pane",
  "price-drawing",
  "price-pane",
  "story",
  "view",
] as const;

const library = (path: string): string => readFileSync(createRequire(import.meta.url).resolve(`uplot/${path}`), "utf8");

/** Returns the text of a module without its imports, exports and comments. */
const partOf = (file: URL): string =>
  readFileSync(file, "utf8")
    .replace(/^import [\s\S]*?;$/gm, "")
    .replace(/^export /gm, "")
    .replace(/^ *\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n/gm, "")
    .replace(/^ *\/\/.*\n/gm, "");

const clientAddress = new URL("./client/", import.meta.url);

/** Folder of the shared modules. */
export const clientFolder = (): string => fileURLToPath(clientAddress);

/**
 * Returns the script of a page.
 *
 * @param own - the page's own modules, each after those it imports
 */
export const pageScript = (own: readonly URL[]): string => {
  const shared = modules.map((name) => new URL(`${name}.js`, clientAddress));
  const parts = [...shared, ...own].map(partOf).join("\n");
  return `/*! uPlot\n${library("LICENSE")}*/\n${library("dist/uPlot.iife.min.js")}\n(() => {\n"use strict";\n${parts}})();\n`;
};

/** Style of the chart library. */
export const chartStyle = (): string => library("dist/uPlot.min.css");
