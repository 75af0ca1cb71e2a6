/** What axe-core finds wrong with a page: rules of WCAG and good practice, of any weight. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const found = `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ": " + nodes.map(({ target }) => target.join(" ")).join(", ")))`;

/** Returns a line for each rule that is broken, with the elements that break it. */
export const faultsOf = async (page: Page): Promise<readonly string[]> => {
  await page.evaluate(readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8"));
  return (await page.evaluate(found)) as string[];
};
