/** `--html <file>` of `sluice backtest`, `run` and `report`: the report as a page for a browser. */
import { defineReportExporter } from "sluice/extension";
import { tearsheet } from "./tearsheet.ts";

export default defineReportExporter({ contents: tearsheet });
