/** The documentation site: its pages in reading order, local search, and nothing from another host. */
import { defineConfig } from "vitepress";

const section = (text, base, pages, collapsed = false) => ({
  text,
  collapsed,
  items: pages.map(([title, name]) => ({ text: title, link: `${base}${name}` })),
});

const sidebar = [
  section("Start", "/", [
    ["Getting started", "getting-started"],
    ["Which exchange?", "guides/which-exchange"],
    ["Your own CSV", "guides/own-csv"],
    ["The shipped strategies", "guides/shipped-strategies"],
    ["From freqtrade, backtesting.py, ccxt", "guides/coming-from"],
  ]),
  section("Concepts", "/concepts/", [
    ["The engine", "engine"],
    ["Wanted orders and slots", "wanted-orders"],
    ["Positions and fills", "positions"],
    ["Quota", "quota"],
    ["Exits and the reserve", "exits"],
    ["Streams and state", "streams"],
    ["Time", "time"],
    ["Journal and recovery", "recovery"],
    ["The backtest model", "backtest-model"],
    ["The reference exchange", "reference-exchange"],
  ]),
  section("Guides", "/guides/", [
    ["Stops and take-profits", "stops"],
    ["Sizing by risk", "sizing"],
    ["Several time frames", "time-frames"],
    ["Why was my order cut or refused?", "why-not-sent"],
    ["Risk limits", "risk"],
    ["Testing a strategy", "testing"],
    ["Write a plugin", "plugins"],
    ["Recorded markets", "markets"],
    ["The report", "report"],
    ["Reading the results", "results"],
    ["Portfolios", "portfolios"],
    ["Data and prices of exchanges", "exchanges"],
    ["Research", "research"],
    ["Optimising", "optimising"],
    ["Running live", "live"],
    ["The service profile", "service-profile"],
    ["Other exchanges", "other-exchanges"],
  ]),
  section("Operation", "/guides/", [
    ["Dashboard", "dashboard"],
    ["Watching and steering", "control"],
    ["Alerts", "alerts"],
    ["Metrics", "metrics"],
    ["Logs", "logs"],
    ["Database of runs", "database"],
    ["As a service", "service"],
  ]),
  section("Many machines", "/guides/", [
    ["From one process to many machines", "scale"],
    ["One quota for several engines", "shared-quota"],
    ["Hot standby", "standby"],
    ["Sweeps on many machines", "many-machines"],
    ["Traces", "traces"],
    ["Write a dialect", "dialects"],
  ]),
  section("Cookbook", "/cookbook/", [
    ["Overview", ""],
    ["RSI with a stop", "rsi-with-a-stop"],
    ["Pairs", "pairs"],
    ["Market maker", "market-maker"],
    ["Grid", "grid"],
    ["Webhook on fills", "webhook"],
    ["HTTP server", "http-server"],
    ["History at the start", "history"],
    ["Tests", "tests"],
  ]),
  section("Reference", "/reference/", [
    ["Configuration", "configuration"],
    ["Commands", "commands"],
    ["Events", "events"],
    ["Fields and units", "fields"],
    ["Service profile", "profile"],
    ["Files that are imported", "layouts"],
    ["Error codes", "errors"],
  ]),
  section(
    "API",
    "/reference/api/",
    [
      ["sluice", "sluice"],
      ["sluice/backtest", "sluice/backtest"],
      ["sluice/testing", "sluice/testing"],
      ["sluice/dialect", "sluice/dialect/"],
      ["sluice/extension", "sluice/extension/"],
    ],
    true,
  ),
  section("More", "/", [
    ["Glossary", "glossary"],
    ["How it compares", "comparison"],
    ["What it does not do", "limits"],
  ]),
];

const base = process.env.DOCS_BASE ?? "/";

export default defineConfig({
  title: "Sluice",
  description: "Automated trading in TypeScript in which the API quota is a safety resource",
  lang: "en",
  base,
  head: [["link", { rel: "icon", type: "image/svg+xml", href: `${base}favicon.svg` }]],
  srcExclude: ["node_modules/**"],
  appearance: true,
  cleanUrls: false,
  // The index of the search is one file.
  vite: { build: { chunkSizeWarningLimit: 2_000 } },
  markdown: { theme: { light: "github-light", dark: "github-dark" } },
  themeConfig: {
    logo: "/favicon.svg",
    search: { provider: "local" },
    outline: [2, 3],
    sidebar,
    nav: [
      { text: "Start", link: "/getting-started" },
      { text: "Concepts", link: "/concepts/engine" },
      { text: "Cookbook", link: "/cookbook/" },
      { text: "Reference", link: "/reference/configuration" },
    ],
  },
});
