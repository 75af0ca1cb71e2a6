/**
 * Checks of the built site: every link leads to a page and an anchor that exist, and nothing is taken from another host.
 *
 * Not here: links in the sources, which VitePress checks itself.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";

const attributes = (html: string, name: string): readonly string[] =>
  [...html.matchAll(new RegExp(`\\s${name}="([^"]*)"`, "g"))].map(([, value]) => value as string);

/** Addresses that a page makes a browser load; links that a reader follows are not included. */
const loadedBy = (html: string): readonly string[] =>
  [...html.matchAll(/<(?:script|link|img|iframe|source|video|audio)\b[^>]*>/g)].flatMap(([tag]) => [
    ...attributes(tag, "src"),
    ...attributes(tag, "href"),
  ]);

const loadedByStyle = (css: string): readonly string[] =>
  [...css.matchAll(/(?:url\(|@import\s+)["']?([^"')]+)/g)].map(([, address]) => address as string);

const isElsewhere = (address: string): boolean => /^(https?:)?\/\//.test(address);

/** One sentence for each problem of the site in `folder`; none where it is whole. `base` is the path it will be served under. */
export const problemsOfSite = (folder: string, base = process.env["DOCS_BASE"] ?? "/"): readonly string[] => {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => name.replaceAll("\\", "/"));
  const text = (name: string): string => readFileSync(join(folder, name), "utf8");
  const pages = new Map(names.filter((name) => name.endsWith(".html")).map((name) => [name, text(name)]));
  const anchors = new Map([...pages].map(([name, html]) => [name, new Set(attributes(html, "id"))]));
  const fileOf = (page: string, path: string): string | undefined => {
    const target =
      path === "" ? page : path.startsWith(base) ? path.slice(base.length) : posix.join(dirname(page), path);
    return [target, `${target}.html`, posix.join(target, "index.html")].find((candidate) => names.includes(candidate));
  };
  const problems: string[] = [];
  for (const [page, html] of pages) {
    problems.push(
      ...loadedBy(html)
        .filter(isElsewhere)
        .map((address) => `${page} loads ${address}`),
    );
    for (const [, href = ""] of html.matchAll(/<a\b[^>]*\shref="([^"]*)"/g)) {
      if (isElsewhere(href) || /^[a-z]+:/.test(href)) continue;
      const [path = "", anchor = ""] = href.split("#");
      const file = fileOf(page, path);
      if (file === undefined) problems.push(`${page}: ${href} leads nowhere`);
      else if (anchor !== "" && anchors.get(file)?.has(decodeURIComponent(anchor)) === false)
        problems.push(`${page}: ${href}: the page has no such anchor`);
    }
  }
  for (const name of names.filter((file) => file.endsWith(".css")))
    problems.push(
      ...loadedByStyle(text(name))
        .filter(isElsewhere)
        .map((address) => `${name} loads ${address}`),
    );
  return [...new Set(problems)];
};
