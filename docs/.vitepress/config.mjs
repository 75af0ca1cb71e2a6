/** The documentation site: its pages in reading order, local search, and nothing from another host. */
import { defineConfig } from "vitepress";

const sidebar = [
  { text: "Start", items: [{ text: "Getting started", link: "/getting-started" }] },
  {
    text: "Reference",
    items: [
      { text: "Commands", link: "/reference/commands" },
      { text: "API", link: "/reference/api/" },
    ],
  },
];

export default defineConfig({
  title: "Sluice",
  description: "Automated trading in TypeScript in which the API quota is a safety resource",
  lang: "en",
  base: process.env.DOCS_BASE ?? "/",
  srcExclude: ["node_modules/**"],
  appearance: true,
  cleanUrls: false,
  markdown: { theme: { light: "github-light", dark: "github-dark" } },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    sidebar,
    nav: [
      { text: "Start", link: "/getting-started" },
      { text: "API", link: "/reference/api/" },
    ],
  },
});
