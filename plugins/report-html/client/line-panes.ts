/**
 * The panes below the prices: position, what strategies plotted, equity, profit of each strategy, drawdown, and the quota.
 *
 * Invariants: a pane without data is not there; values are spelled in their unit.
 * Not here: how a pane is drawn (pane.ts).
 */
import { valueAt } from "../../ui-kit/client/columns.ts";
import type { Line, LinePane } from "../../ui-kit/client/pane.ts";
import { lookOf } from "../../ui-kit/client/pane.ts";
import { figure, lasting } from "../../ui-kit/client/texts.ts";
import type { LineData, PageData } from "../../ui-kit/page-data.ts";

/** Falls below the highest value so far, in percent of it. */
const fallsOf = ({ at, value }: LineData) => {
  let high = valueAt(value, 0);
  return {
    at,
    value: Float64Array.from(value, (now) => {
      high = Math.max(high, now);
      return high > 0 ? (100 * (now - high)) / high : 0;
    }),
  };
};

const hasAny = (values: ArrayLike<number>) => Array.prototype.some.call(values, (value) => value !== 0);

export const linePanes = (data: PageData, instrument: number, withBenchmark: boolean): LinePane[] => {
  const { currency, places, equity, byStrategy, benchmark, quota, plots, instruments } = data;
  const money = (value: number) => figure(value, places, places);
  const percent = (value: number) => `${figure(value, Math.abs(value) < 1 ? 3 : 1)} %`;
  const traded = instruments[instrument];
  const own = plots.filter(({ pane, instrument: of }) => pane !== "price" && (of === -1 || of === instrument));
  const named = (lines: readonly LineData[]) => lines.map((line, index) => ({ ...line, ...lookOf(index) }));
  return [
    ...(traded !== undefined && traded.position.at.length > 0
      ? [
          {
            title: `Position in ${traded.base}`,
            height: 84,
            zero: true,
            lines: [
              {
                name: "position",
                at: traded.position.at,
                value: traded.position.qty,
                colour: "accent",
                step: true,
                area: true,
              },
            ],
          },
        ]
      : []),
    ...[...new Set(own.map(({ pane }) => pane))].map((pane) => ({
      title: pane,
      height: 90,
      lines: named(own.filter((line) => line.pane === pane)),
    })),
    {
      title: `Equity in ${currency}`,
      height: 130,
      lines: [
        { ...equity, colour: "accent", spell: money },
        ...(withBenchmark && benchmark !== undefined
          ? [{ ...benchmark, colour: "c2", dash: [7, 3], spell: money }]
          : []),
      ],
    },
    ...(byStrategy.length > 1
      ? [
          {
            title: `Profit by strategy in ${currency}`,
            height: 100,
            zero: true,
            lines: named(byStrategy).map((line) => ({ ...line, spell: money })),
          },
        ]
      : []),
    {
      title: "Drawdown",
      height: 74,
      zero: true,
      spell: percent,
      lines: [{ name: "drawdown", ...fallsOf(equity), colour: "loss", area: true }],
    },
    ...quotaPanes(quota, percent),
  ];
};

const quotaPanes = (
  { at, weight, weightMax, requests, requestsMax, waited, refused }: PageData["quota"],
  percent: (value: number) => string,
): LinePane[] => {
  const shareOf = (values: ArrayLike<number>, whole: number) =>
    Float64Array.from(values, (value) => (100 * value) / whole);
  const used: Line[] = [
    {
      name: `weight of ${figure(weightMax)} a minute`,
      at,
      value: shareOf(weight, weightMax),
      colour: "accent",
      step: true,
      area: true,
    },
    {
      name: `requests of ${figure(requestsMax)} a second`,
      at,
      value: shareOf(requests, requestsMax),
      colour: "c3",
      dash: [2, 2],
      step: true,
    },
  ];
  const seconds = (value: number) => lasting(value * 1_000);
  return [
    { title: "Quota used", height: 84, zero: true, spell: percent, lines: used, limit: { value: 100, name: "limit" } },
    ...(hasAny(waited)
      ? [
          {
            title: "Waited for quota, all actions of a minute",
            height: 74,
            zero: true,
            spell: seconds,
            lines: [{ name: "waited", at, value: waited, colour: "c4", step: true, area: true }],
          },
        ]
      : []),
    ...(hasAny(refused)
      ? [
          {
            title: "Requests refused (429) in a minute",
            height: 60,
            zero: true,
            lines: [{ name: "refused", at, value: refused, colour: "loss", step: true, area: true }],
          },
        ]
      : []),
  ];
};
