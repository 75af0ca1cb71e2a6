/**
 * The check of the built documentation finds what would be broken for a reader.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { problemsOfSite } from "../../../docs/check-site.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const site = (files: Readonly<Record<string, string>>): string => {
  const folder = temporaryFolder("site");
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
};

const guide = '<h2 id="exits">Exits</h2>';

describe("The check of the built site", () => {
  it.each([
    ["a page that is there", '<a href="/guide.html">', []],
    ["a page without its ending, and an index", '<a href="/guide"><a href="/cook/">', []],
    ["an anchor that is there", '<a href="/guide.html#exits"><a href="./guide.html#exits">', []],
    ["a page that is missing", '<a href="/gone.html">', ["index.html: /gone.html leads nowhere"]],
    [
      "an anchor that is missing",
      '<a href="/guide.html#entries">',
      ["index.html: /guide.html#entries: the page has no such anchor"],
    ],
    ["an anchor of the page itself", '<a href="#top">', ["index.html: #top: the page has no such anchor"]],
    ["a reader's way to another host", '<a href="https://example.com">', []],
    [
      "a script of another host",
      '<script src="https://example.com/a.js">',
      ["index.html loads https://example.com/a.js"],
    ],
    [
      "a font of another host",
      '<link rel="preload" href="//example.com/a.woff2">',
      ["index.html loads //example.com/a.woff2"],
    ],
  ])("judges %s", (_, html, problems) => {
    expect(problemsOfSite(site({ "index.html": html, "guide.html": guide, "cook/index.html": "" }), "/")).toEqual(
      problems,
    );
  });

  it("judges styles, and links below another base", () => {
    const folder = site({
      "index.html": '<a href="/docs/guide.html"><a href="/docs/gone.html">',
      "guide.html": guide,
      "a.css": 'a { background: url("https://example.com/a.png") } b { background: url(/b.png) }',
    });
    expect(problemsOfSite(folder, "/docs/")).toEqual([
      "index.html: /docs/gone.html leads nowhere",
      "a.css loads https://example.com/a.png",
    ]);
  });
});
