/**
 * The script of a page: the chart library and the client's modules, joined to one text.
 *
 * Invariants: modules stand after those they import and share one scope, in which each top-level name is one thing (a test joins and runs
 * them); the library's licence stands in front of it; nothing is fetched.
 * Not here: what the modules do (client/).
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

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
  "trade-table",
  "toolbar",
  "line-panes",
  "explorer",
  "unpack",
  "main",
] as const;

const library = (path: string): string => readFileSync(createRequire(import.meta.url).resolve(`uplot/${path}`), "utf8");

/** Without its imports, exports and comments. */
const partOf = (name: string): string =>
  readFileSync(new URL(`./client/${name}.js`, import.meta.url), "utf8")
    .replace(/^import [\s\S]*?;$/gm, "")
    .replace(/^export /gm, "")
    .replace(/^ *\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n/gm, "")
    .replace(/^ *\/\/.*\n/gm, "");

export const clientScript = (): string =>
  `/*! uPlot\n${library("LICENSE")}*/\n${library("dist/uPlot.iife.min.js")}\n(() => {\n"use strict";\n${modules.map(partOf).join("\n")}})();\n`;

export const chartStyle = (): string => library("dist/uPlot.min.css");
