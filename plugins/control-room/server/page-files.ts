/**
 * Files of the page, read once at the start of the port: the files that a browser may load without a token.
 *
 * Invariants: an address is looked up in a table and never joined to a path, so that none leads out of the folders
 * below; no file holds a secret.
 */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { clientFolder } from "sluice/plugins/ui-kit";
import { pageStyle } from "../page/page-style.ts";

interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
}

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

const uplot = (): string => join(dirname(createRequire(import.meta.url).resolve("uplot/package.json")), "dist");

/** Folders under `/assets/`. Modules keep their places to each other, so that they run as they are written. */
const folders = (): readonly (readonly [address: string, folder: string])[] => [
  ["control-room/client", fileURLToPath(new URL("../client", import.meta.url))],
  ["ui-kit/client", clientFolder()],
  ["uplot", uplot()],
];

/** By address, `/` included. */
export const pageFiles = (): ReadonlyMap<string, PageFile> => {
  const files = new Map<string, PageFile>();
  files.set("/assets/page.css", { type: types[".css"] as string, bytes: Buffer.from(pageStyle()) });
  for (const [address, folder] of folders()) {
    for (const name of readdirSync(folder)) {
      const type = types[extname(name)];
      if (type === undefined) continue;
      const file = { type, bytes: readFileSync(join(folder, name)) };
      files.set(`/assets/${address}/${name}`, file);
      if (name === "index.html") files.set("/", file);
    }
  }
  return files;
};
