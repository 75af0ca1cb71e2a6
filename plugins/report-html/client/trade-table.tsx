/**
 * The table of trades: sorted by any column, filtered, a page at a time; choosing one shows its place in the charts.
 *
 * Invariants: sorting is stable over the order in which trades closed; the count shows how many trades the filters leave
 * out.
 */
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { valueAt } from "../../ui-kit/client/columns.ts";
import { Button, bound, Choice, type Choices } from "../../ui-kit/client/controls.tsx";
import { countOf, figure, gain, instant, lasting } from "../../ui-kit/client/texts.ts";
import type { PageData } from "../../ui-kit/page-data.ts";
import { numbered } from "./toolbar.tsx";

/** A column; one with `tone` has the colour of its sign. */
type TradeColumn = {
  name: string;
  value: (trade: number) => number | string;
  text: (trade: number) => string;
  isText?: boolean;
  tone?: boolean;
};

const perPage = 20;

const results = [
  ["", "won and lost"],
  ["won", "won"],
  ["lost", "lost"],
  ["even", "neither"],
  ["open", "still open"],
] as const;

const words = (name: string, text: (trade: number) => string): TradeColumn => ({
  name,
  value: text,
  text,
  isText: true,
});

const figures = (
  name: string,
  value: (trade: number) => number,
  text: (value: number, trade: number) => string,
): TradeColumn => ({ name, value, text: (trade) => text(value(trade), trade) });

const columnsOf = ({
  trades,
  instruments,
  strategies,
  endings,
  startAt,
  spanMs,
  places,
}: PageData): readonly TradeColumn[] => {
  const of = (name: keyof typeof trades) => (trade: number) => valueAt(trades[name], trade);
  const [opened, closed] = [of("openedAt"), of("closedAt")];
  const isOpen = (trade: number) => closed(trade) < 0;
  const held = (trade: number) => Math.max(0, (isOpen(trade) ? spanMs : closed(trade)) - opened(trade));
  const instrument = (trade: number) => instruments[of("instrument")(trade)];
  const px = (value: number, trade: number) => figure(value, (instrument(trade)?.places ?? 2) + 1, 2);
  const money = (value: number) => gain(value, places);
  return [
    figures("opened", opened, (at) => instant(at + startAt, 3_600_000)),
    figures("held", held, (ms, trade) => `${lasting(ms)}${isOpen(trade) ? ", open" : ""}`),
    words("strategy", (trade) => strategies[of("strategy")(trade)] ?? ""),
    words("instrument", (trade) => instrument(trade)?.instId ?? ""),
    { ...figures("side", of("long"), (long) => (long === 1 ? "▲ long" : "▼ short")), isText: true },
    figures("quantity", of("qty"), (qty) => figure(qty)),
    figures("entry", of("entryPx"), px),
    figures("exit", of("exitPx"), px),
    figures(
      "costs",
      (trade) => of("fees")(trade) + of("funding")(trade),
      (costs) => figure(costs, places, places),
    ),
    { ...figures("net", of("net"), money), tone: true },
    words("ended by", (trade) => endings[of("ending")(trade)] ?? ""),
    figures("best move", of("best"), money),
    figures("worst move", of("worst"), money),
  ];
};

type Filter = { strategy: string; instrument: string; result: string };

const filtered = ({ trades }: PageData, { strategy, instrument, result }: Filter) => {
  const resultOf = (trade: number) => {
    const net = valueAt(trades.net, trade);
    return valueAt(trades.closedAt, trade) < 0 ? "open" : net > 0 ? "won" : net < 0 ? "lost" : "even";
  };
  return Array.from(trades.net, (_, trade) => trade).filter(
    (trade) =>
      (strategy === "" || String(trades.strategy[trade]) === strategy) &&
      (instrument === "" || String(trades.instrument[trade]) === instrument) &&
      (result === "" || result === resultOf(trade)),
  );
};

const sorted = (rows: readonly number[], value: (trade: number) => number | string, isDown: boolean) =>
  rows
    .map((trade) => ({ trade, key: value(trade) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0) * (isDown ? -1 : 1) || a.trade - b.trade)
    .map(({ trade }) => trade);

const toneOf = (text: string) => (text.startsWith("+") ? " gain" : text.startsWith("−") ? " loss" : "");

type HeadsParts = {
  columns: readonly TradeColumn[];
  by: number;
  isDown: boolean;
  sort: (place: number, downFirst: boolean) => void;
};

const Heads = ({ columns, by, isDown, sort }: HeadsParts) => (
  <tr>
    {columns.map(({ name, isText = false }, place) => (
      <th
        key={name}
        scope="col"
        class={isText ? "" : "n"}
        aria-sort={by !== place ? "none" : isDown ? "descending" : "ascending"}
      >
        <Button text={name} label={`sort by ${name}`} act={() => sort(place, name !== "opened" && !isText)} />
      </th>
    ))}
  </tr>
);

/** @param chosen - is called with the trade that the user chooses */
export const TradeTable = ({ data, chosen }: { data: PageData; chosen: (trade: number) => void }) => {
  const columns = useMemo(() => columnsOf(data), [data]);
  const [strategy, instrument, result] = [useSignal(""), useSignal(""), useSignal("")];
  const [by, isDown, page, current] = [useSignal(0), useSignal(false), useSignal(0), useSignal(-1)];
  const filter = { strategy: strategy.value, instrument: instrument.value, result: result.value };
  const all = filtered(data, filter);
  const rows = sorted(all, (columns[by.value] as TradeColumn).value, isDown.value);
  const pages = Math.max(1, Math.ceil(rows.length / perPage));
  const shownPage = Math.min(pages - 1, page.value);
  const turn = (by: number) => {
    page.value = Math.max(0, Math.min(pages - 1, shownPage + by));
  };
  const filterOf = (name: string, of: typeof strategy, choices: Choices) => {
    const { value, act } = bound(of);
    const choose = (next: string) => {
      act(next);
      page.value = 0;
    };
    return <Choice label={`${name} of trades`} value={value} act={choose} choices={choices} />;
  };
  const sort = (place: number, downFirst: boolean) => {
    isDown.value = by.value === place ? !isDown.value : downFirst;
    by.value = place;
    page.value = 0;
  };
  const choose = (trade: number) => {
    current.value = trade;
    chosen(trade);
  };
  const takeKey = (event: KeyboardEvent) => {
    const row = event.target;
    if (!(row instanceof HTMLTableRowElement)) return;
    const body = row.parentElement as HTMLElement;
    const to = {
      ArrowDown: row.nextElementSibling,
      ArrowUp: row.previousElementSibling,
      Home: body.firstElementChild,
      End: body.lastElementChild,
      PageDown: body.firstElementChild,
      PageUp: body.firstElementChild,
    }[event.key];
    if (event.key === "PageDown" || event.key === "PageUp") turn(event.key === "PageDown" ? 1 : -1);
    if (event.key === "Enter" || event.key === " ") choose(Number(row.dataset["trade"]));
    else if (to instanceof HTMLElement) to.focus();
    else return;
    event.preventDefault();
  };
  const takeClick = ({ target }: MouseEvent) => {
    const row = target instanceof Element ? target.closest("tr") : null;
    if (row !== null) choose(Number(row.dataset["trade"]));
  };
  const of = rows.length < data.trades.net.length ? ` of ${figure(data.trades.net.length)}` : "";
  return (
    <div>
      <div class="bar">
        {data.strategies.length > 1 &&
          filterOf("strategy", strategy, [["", "all strategies"], ...numbered(data.strategies)])}
        {data.instruments.length > 1 &&
          filterOf("instrument", instrument, [
            ["", "all instruments"],
            ...numbered(data.instruments.map(({ instId }) => instId)),
          ])}
        {filterOf("result", result, results)}
        <Button text="‹" label="previous page of trades" act={() => turn(-1)} />
        <Button text="›" label="next page of trades" act={() => turn(1)} />
        <span class="soft" role="status">
          {`${countOf(rows.length, "trade")}${of}, page ${figure(shownPage + 1)} of ${figure(pages)}`}
        </span>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled by keys. */}
      <section class="scroll" aria-label="Trades" tabIndex={0}>
        <table class="trades">
          <caption>
            Trades from flat to flat. Choose one to see it in the charts: click, or arrow keys and Enter.
          </caption>
          <thead>
            <Heads columns={columns} by={by.value} isDown={isDown.value} sort={sort} />
          </thead>
          <tbody onKeyDown={takeKey} onClick={takeClick}>
            {rows.slice(shownPage * perPage, (shownPage + 1) * perPage).map((trade, place) => (
              <tr
                key={place}
                // The first row is the one that Tab comes to.
                tabIndex={place === 0 ? 0 : -1}
                data-trade={trade}
                aria-current={trade === current.value ? "true" : undefined}
              >
                {columns.map(({ name, text, isText = false, tone = false }) => (
                  <td key={name} class={isText ? "" : `n${tone ? toneOf(text(trade)) : ""}`}>
                    {text(trade)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </div>
  );
};
