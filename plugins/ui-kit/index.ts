/**
 * Parts of pages for a browser that plugins share: markup, style, the chart library, and modules of the page's client.
 *
 * Not here: pages (`sluice/plugins/report-html`, `sluice/plugins/control-room`, `sluice/plugins/sweep`). Modules of the
 * client are addressed by path: `../../ui-kit/client/pane.js`.
 *
 * @module sluice/plugins/ui-kit
 */
export { chartStyle, clientFolder, pageScript } from "./client-script.ts";
export { figures, html, type Markup, nothing, raw, signedCell, tableOf } from "./markup.ts";
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
