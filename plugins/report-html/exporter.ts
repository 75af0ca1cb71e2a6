/** `--html <file>` of `sluice backtest`, `run` and `report`: the report as a page for a browser. */
import { tearsheet } from "sluice/backtest";
import { defineReportExporter } from "sluice/extension";

export default defineReportExporter({ contents: tearsheet });
