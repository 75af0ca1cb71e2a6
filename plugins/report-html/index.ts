/**
 * A report as one page for a browser that needs no network: `--html <file>`.
 *
 * @module sluice/plugins/report-html
 */
export { tearsheet } from "./tearsheet.ts";
