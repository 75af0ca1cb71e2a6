/**
 * The page's start: unpacks its data, builds the charts and the table of trades, and follows theme, width and printing.
 *
 * Invariants: until the data is unpacked the page is readable without charts; a failure is shown on it.
 */
import { button, element } from "../../ui-kit/client/elements.ts";
import { Explorer } from "./explorer.ts";
import { TradeTable } from "./trade-table.ts";
import { unpack } from "./unpack.ts";

const byId = (id: string) => document.getElementById(id) as HTMLElement;

const root = document.documentElement;
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const print = matchMedia("print");
/** On paper, A4 between its margins. */
const paperWidth = 690;

const isDark = () => (root.dataset["theme"] ?? (prefersDark.matches ? "dark" : "light")) === "dark";

const followTheme = (explorer: Explorer) => {
  const toggle = button("", "", () => {
    root.dataset["theme"] = isDark() ? "light" : "dark";
    update();
  });
  const update = () => {
    toggle.textContent = isDark() ? "☀ light" : "☾ dark";
    toggle.setAttribute("aria-label", `use ${isDark() ? "light" : "dark"} colours`);
    explorer.restyle();
  };
  prefersDark.addEventListener("change", update);
  byId("tools").append(toggle);
  update();
};

const followPaper = (explorer: Explorer) => {
  let theme: string | undefined;
  let onPaper = false;
  const turn = (to: boolean) => {
    if (to === onPaper) return;
    onPaper = to;
    if (to) {
      theme = root.dataset["theme"];
      root.dataset["theme"] = "light";
    } else if (theme === undefined) delete root.dataset["theme"];
    else root.dataset["theme"] = theme;
    explorer.restyle();
    explorer.resize(to ? paperWidth : undefined);
  };
  print.addEventListener("change", ({ matches }) => turn(matches));
  addEventListener("beforeprint", () => turn(true));
  addEventListener("afterprint", () => turn(false));
};

const start = async () => {
  const place = byId("explore");
  const data = await unpack(byId("data").textContent ?? "");
  const explorer = new Explorer(data, place);
  followTheme(explorer);
  followPaper(explorer);
  let width = place.clientWidth;
  new ResizeObserver(() => {
    if (place.clientWidth === width || print.matches) return;
    width = place.clientWidth;
    explorer.resize();
  }).observe(place);
  if (data.trades.net.length > 0)
    byId("trades").replaceChildren(new TradeTable(data, (trade) => explorer.showTrade(trade)).node);
  root.dataset["ready"] = "";
};

start().catch((error) => {
  byId("explore").replaceChildren(
    element("p", { class: "warn" }, `The charts could not be drawn: ${error}. A browser of 2023 or later is needed.`),
  );
});
