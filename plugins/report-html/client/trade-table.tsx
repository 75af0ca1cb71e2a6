/**
 * The list of trades: filtered, sorted by any column; choosing one shows its place in the charts.
 *
 * Invariants: the count shows how many trades the filters leave out.
 * Not here: the table (ui-kit/client/table.tsx), its columns (trade-columns.ts).
 */
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { valueAt } from "../../ui-kit/client/columns.ts";
import { bound, Choice, type Choices, Search } from "../../ui-kit/client/controls.tsx";
import { Table } from "../../ui-kit/client/table.tsx";
import { countOf, figure } from "../../ui-kit/client/texts.ts";
import type { PageData } from "../../ui-kit/page-data.ts";
import { numbered } from "./toolbar.tsx";
import { tradeColumns } from "./trade-columns.ts";

const results = [
  ["", "all results"],
  ["won", "won"],
  ["lost", "lost"],
  ["even", "break-even"],
  ["open", "still open"],
] as const;

const resultOf = ({ trades }: PageData, trade: number) => {
  const net = valueAt(trades.net, trade);
  return valueAt(trades.closedAt, trade) < 0 ? "open" : net > 0 ? "won" : net < 0 ? "lost" : "even";
};

/** A choice of what trades are filtered by; where there is one answer it is not offered. */
const useFilter = (name: string, choices: Choices) => {
  const of = useSignal("");
  const control = choices.length > 2 && <Choice label={`${name} of trades`} {...bound(of)} choices={choices} />;
  return [of.value, control] as const;
};

/** @param chosen - is called with the trade that the user chooses */
export const TradeTable = ({ data, chosen }: { data: PageData; chosen: (trade: number) => void }) => {
  const { trades, strategies, instruments } = data;
  const columns = useMemo(() => tradeColumns(data), [data]);
  const words = useSignal("");
  const [strategy, strategyChoice] = useFilter("strategy", [["", "all strategies"], ...numbered(strategies)]);
  const [instrument, instrumentChoice] = useFilter("instrument", [
    ["", "all instruments"],
    ...numbered(instruments.map(({ instId }) => instId)),
  ]);
  const [result, resultChoice] = useFilter("result", results);
  const word = words.value.toLowerCase();
  const rows = useMemo(() => {
    const fits = (trade: number) =>
      (strategy === "" || String(trades.strategy[trade]) === strategy) &&
      (instrument === "" || String(trades.instrument[trade]) === instrument) &&
      (result === "" || result === resultOf(data, trade)) &&
      (word === "" || columns.some(({ isText, text }) => isText && text(trade).toLowerCase().includes(word)));
    return Array.from(trades.net, (_, trade) => trade).filter(fits);
  }, [data, columns, strategy, instrument, result, word]);
  const of = rows.length < trades.net.length ? ` of ${figure(trades.net.length)}` : "";
  return (
    <div>
      <p class="soft">Trades from flat to flat. Choose one to see it in the charts: click, or arrow keys and Enter.</p>
      <div class="bar">
        {strategyChoice}
        {instrumentChoice}
        {resultChoice}
        <Search label="filter trades by words" of={words} />
        <span class="soft" role="status">{`${countOf(rows.length, "trade")}${of}`}</span>
      </div>
      <Table
        label="Trades. Enter shows one in the charts."
        columns={columns}
        rows={rows}
        keyOf={String}
        empty="No trade matches the filters."
        chosen={chosen}
        sort={{ column: 0, down: false }}
        most={20}
      />
    </div>
  );
};
