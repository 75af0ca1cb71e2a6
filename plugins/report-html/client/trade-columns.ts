/**
 * Columns of the table of trades.
 *
 * Invariants: a trade is known by its place in the columns of the page's data; a side is shown by an arrow and a word.
 */
import { valueAt } from "../../ui-kit/client/columns.ts";
import { type TableColumn, words } from "../../ui-kit/client/table-columns.ts";
import { figure, gain, instant, lasting } from "../../ui-kit/client/texts.ts";
import type { PageData } from "../../ui-kit/page-data.ts";

type Trade = number;
type Rest = Partial<TableColumn<Trade>> & { width: number };

/** Column of numbers, sorted by them. */
const numbers = (
  name: string,
  value: (trade: Trade) => number,
  text: (value: number, trade: Trade) => string,
  rest: Rest,
): TableColumn<Trade> => ({ name, value, text: (trade) => text(value(trade), trade), ...rest });

/** The same for money, in the colour of its sign. */
const toneOf = (value: number) => (value > 0 ? "gain" : value < 0 ? "loss" : "");

export const tradeColumns = ({
  trades,
  instruments,
  strategies,
  endings,
  startAt,
  spanMs,
  places,
}: PageData): readonly TableColumn<Trade>[] => {
  const of = (name: keyof typeof trades) => (trade: Trade) => valueAt(trades[name], trade);
  const [opened, closed, net] = [of("openedAt"), of("closedAt"), of("net")];
  const isOpen = (trade: Trade) => closed(trade) < 0;
  const held = (trade: Trade) => Math.max(0, (isOpen(trade) ? spanMs : closed(trade)) - opened(trade));
  const instrument = (trade: Trade) => instruments[of("instrument")(trade)];
  const px = (value: number, trade: Trade) => figure(value, (instrument(trade)?.places ?? 2) + 1, 2);
  const money = (value: number) => gain(value, places);
  return [
    words("opened", (trade) => instant(opened(trade) + startAt, 3_600_000), { value: opened, width: 168 }),
    numbers("held", held, (ms, trade) => `${lasting(ms)}${isOpen(trade) ? ", open" : ""}`, { width: 108 }),
    words("strategy", (trade) => strategies[of("strategy")(trade)] ?? "", { width: 100, grow: true }),
    words("instrument", (trade) => instrument(trade)?.instId ?? "", { width: 130 }),
    words("side", (trade) => (of("long")(trade) === 1 ? "▲ long" : "▼ short"), { value: of("long"), width: 74 }),
    numbers("quantity", of("qty"), (qty) => figure(qty), { width: 82 }),
    numbers("entry", of("entryPx"), px, { width: 98 }),
    numbers("exit", of("exitPx"), px, { width: 98 }),
    numbers(
      "costs",
      (trade) => of("fees")(trade) + of("funding")(trade),
      (costs) => figure(costs, places, places),
      { label: "costs (fees and funding)", width: 66 },
    ),
    numbers("net", net, money, { tone: (trade) => toneOf(net(trade)), width: 76 }),
    words("ended by", (trade) => endings[of("ending")(trade)] ?? "", { width: 106 }),
    numbers("best move", of("best"), money, { width: 92 }),
    numbers("worst move", of("worst"), money, { width: 102 }),
  ];
};
