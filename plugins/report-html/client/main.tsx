/**
 * The page's start: unpacks its data, draws the charts and the table of trades, and follows theme, width and printing.
 *
 * Invariants: until the data is unpacked the page is readable without charts; a failure is shown on it.
 */
import { render } from "preact";
import { ThemeButton } from "../../ui-kit/client/controls.tsx";
import { Kept } from "../../ui-kit/client/kept.ts";
import { followPaper } from "../../ui-kit/client/paper.ts";
import { Exploration } from "./exploration.ts";
import { Explorer } from "./explorer.tsx";
import { TradeTable } from "./trade-table.tsx";
import { unpack } from "./unpack.ts";

const byId = (id: string) => document.getElementById(id) as HTMLElement;

/** On paper, A4 between its margins. */
const paperWidth = 690;

/** Draws the charts as wide as the paper, and bright, while the page is printed. */
const fitPaper = (exploration: Exploration) => {
  const root = document.documentElement;
  let theme: string | undefined;
  followPaper((onPaper) => {
    if (onPaper) {
      theme = root.dataset["theme"];
      root.dataset["theme"] = "light";
    } else if (theme === undefined) delete root.dataset["theme"];
    else root.dataset["theme"] = theme;
    exploration.recolour();
    byId("charts").style.width = onPaper ? `${paperWidth}px` : "";
    exploration.fit();
  });
};

const start = async () => {
  const data = await unpack(byId("data").textContent ?? "");
  const exploration = new Exploration(data);
  const show = (trade: number) => {
    exploration.showTrade(trade);
    byId("charts").focus({ preventScroll: true });
    byId("charts").scrollIntoView({ block: "start", behavior: "instant" });
  };
  byId("explore").replaceChildren();
  render(<Explorer of={exploration} />, byId("explore"));
  render(<ThemeButton changed={() => exploration.recolour()} />, byId("tools"));
  if (data.trades.net.length > 0)
    render(
      <Kept.Provider value={new Map()}>
        <TradeTable data={data} chosen={show} />
      </Kept.Provider>,
      byId("trades"),
    );
  fitPaper(exploration);
  document.documentElement.dataset["ready"] = "";
};

start().catch((error) => {
  const text = `The charts could not be drawn: ${error}. A browser of 2023 or later is needed.`;
  render(<p class="warn">{text}</p>, byId("explore"));
});
