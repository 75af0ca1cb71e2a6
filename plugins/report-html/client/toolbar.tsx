/**
 * The bar above the charts: whose and which data they show, and buttons for what pointer and keys do.
 *
 * Invariants: a choice with one answer is not offered; spans are those that a part of the run fills.
 */
import { day } from "../../ui-kit/client/columns.ts";
import { Button, bound, Choice, type Choices, Toggle } from "../../ui-kit/client/controls.tsx";
import { instant, lasting, spanText } from "../../ui-kit/client/texts.ts";
import type { Exploration } from "./exploration.ts";

const spanLengths = [1_000, 60_000, 3_600_000, day, 7 * day, 30 * day];

const kinds = [
  ["line", "line"],
  ["bars", "candles"],
] as const;

/** Choices whose values are the places of the names. */
export const numbered = (names: readonly string[]): Choices => names.map((name, place) => [String(place), name]);

const Clock = ({ of: { data, span, cursor, at } }: { of: Exploration }) => {
  const { from, to } = span.value;
  return (
    <output class="clock">
      {cursor.value === undefined
        ? spanText(data.startAt, Math.max(0, from), at.value)
        : `${instant(cursor.value + data.startAt, to - from)} UTC`}
    </output>
  );
};

const ZoomButtons = ({ of: { data, view } }: { of: Exploration }) => {
  const spans = spanLengths.filter((ms) => ms < data.spanMs * 0.8 && ms > data.spanMs / 20_000).slice(-3);
  const show = (ms: number) => {
    const { from, to } = view.span;
    view.set((from + to - ms) / 2, (from + to + ms) / 2);
  };
  return (
    <span class="group">
      <Button text="−" label="zoom out" act={() => view.zoom(1 / 0.6)} />
      <Button text="+" label="zoom in" act={() => view.zoom(0.6)} />
      {spans.map((ms) => (
        <Button key={ms} text={lasting(ms)} label={`show ${lasting(ms)}`} act={() => show(ms)} />
      ))}
      <Button text="all" label="show all" act={() => view.all()} />
    </span>
  );
};

export const Toolbar = ({ of }: { of: Exploration }) => {
  const { data } = of;
  const strategies: Choices = [["-1", "all strategies"], ...numbered(data.strategies)];
  return (
    <div class="bar" role="toolbar" aria-label="What the charts show">
      {data.instruments.length > 1 && (
        <Choice
          label="instrument"
          {...bound(of.instrument)}
          choices={numbered(data.instruments.map(({ instId }) => instId))}
        />
      )}
      {data.strategies.length > 1 && <Choice label="strategy" {...bound(of.strategy)} choices={strategies} />}
      <Choice label="kind of chart" {...bound(of.kind)} choices={kinds} />
      <Toggle name="fills" of={of.withFills} />
      <Toggle name="resting orders" of={of.withOrders} />
      {data.benchmark !== undefined && <Toggle name="buy and hold" of={of.withBenchmark} />}
      <ZoomButtons of={of} />
      <span class="group">
        <Button text="‹ fill" label="previous fill" act={() => of.step(-1)} />
        <Button text="fill ›" label="next fill" act={() => of.step(1)} />
      </span>
      <Clock of={of} />
    </div>
  );
};
