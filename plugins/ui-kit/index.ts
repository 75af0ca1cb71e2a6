/**
 * Parts of pages for a browser that plugins share: markup, style, and the bundled script of a page.
 *
 * Not here: pages (`sluice/plugins/report-html`, `sluice/plugins/control-room`, `sluice/plugins/sweep`). Clients of pages
 * import the shared modules by path: `../../ui-kit/client/pane.ts`.
 *
 * @module sluice/plugins/ui-kit
 */

export { figures, html, type Markup, nothing, raw, signedCell, tableOf } from "./markup.ts";
export { chartStyle, pageScript } from "./page-bundle.ts";
export type {
  FillData,
  InstrumentData,
  LineData,
  OrderData,
  PageData,
  QuotaData,
  TradeData,
} from "./page-data.ts";
export { explorerStyle, style } from "./style.ts";
