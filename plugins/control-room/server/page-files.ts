/**
 * Files of the page, read once at the start of the port: the files that a browser may load without a token.
 *
 * Invariants: an address is looked up in a table and never joined to a path, so that none leads elsewhere; no file holds
 * a secret.
 */
import { pageScript } from "sluice/plugins/ui-kit";
import { icon, indexPage } from "../page/index-page.ts";
import { pageStyle } from "../page/page-style.ts";

interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
}

/** By address, `/` included. */
export const pageFiles = (): ReadonlyMap<string, PageFile> => {
  const file = (type: string, text: string): PageFile => ({ type, bytes: Buffer.from(text) });
  return new Map([
    ["/", file("text/html; charset=utf-8", indexPage)],
    ["/assets/page.js", file("text/javascript; charset=utf-8", pageScript(new URL("../", import.meta.url)))],
    ["/assets/page.css", file("text/css; charset=utf-8", pageStyle())],
    ["/assets/icon.svg", file("image/svg+xml", icon)],
  ]);
};
