/**
 * A table of any length that draws only the visible rows: sorted by any column, walked by keys, one row chosen.
 *
 * Invariants: rows have one height, so that what is above is known without being drawn, and each is laid out by itself;
 * a row that has not changed is not drawn again; sorting is stable; the row that is walked to is known by its key, and
 * stays while others come and go; a table that is opened again is as it was left; on paper all rows are drawn, up to
 * `printedMax`.
 * Not here: columns (table-columns.ts), filters (the view that has the rows).
 */
import { type Signal, signal, useSignal } from "@preact/signals";
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from "@tanstack/virtual-core";
import type { VNode } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { Button } from "./controls.tsx";
import { useKept } from "./kept.ts";
import { followPaper } from "./paper.ts";
import { type TableColumn, widthsOf } from "./table-columns.ts";
import { figure } from "./texts.ts";

type TableParts<R> = {
  label: string;
  columns: readonly TableColumn<R>[];
  rows: readonly R[];
  keyOf: (row: R) => string;
  /** Text of a table without rows. */
  empty: string;
  chosen?: (row: R) => void;
  sort?: { column: number; down: boolean };
  rowTone?: (row: R) => string;
  /** Largest number of visible rows; without it the style of the page bounds the height. */
  most?: number;
};

const rowPx = 30;
/** Rows that are drawn above and below the visible ones. */
const spare = 3;
const printedMax = 1_000;

/** Roles of a table whose rows are chosen. They are written out, because `display: grid` takes those of a table away. */
const roles = {
  group: { role: "rowgroup" },
  row: { role: "row" },
  head: { role: "columnheader" },
  cell: { role: "gridcell" },
} as const;

/** The table has the focus; the row that is walked to, if it is drawn, is its active one. */
const gridOf = (activeRow: string | undefined) => ({
  role: "grid" as const,
  tabIndex: 0,
  "aria-activedescendant": activeRow,
});

type Look = {
  by: Signal<number>;
  isDown: Signal<boolean>;
  current: Signal<string>;
  /** Changes when other rows are visible. */
  moved: Signal<number>;
  visible: Virtualizer<HTMLElement, HTMLElement>;
};

/** Finds out which rows are visible. Rows begin below the heads, which stay in sight. */
const visibleRows = (moved: Signal<number>) =>
  new Virtualizer<HTMLElement, HTMLElement>({
    count: 0,
    getScrollElement: () => null,
    estimateSize: () => rowPx,
    scrollMargin: rowPx,
    scrollPaddingStart: rowPx,
    overscan: spare,
    initialRect: { width: 0, height: 20 * rowPx },
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => {
      moved.value++;
    },
  });

/** State of the table with this label. */
export const useTable = (label: string, sort: { column: number; down: boolean } = { column: -1, down: false }) =>
  useKept<Look>(`table ${label}`, () => {
    const moved = signal(0);
    return {
      by: signal(sort.column),
      isDown: signal(sort.down),
      current: signal(""),
      moved,
      visible: visibleRows(moved),
    };
  });

const sorted = <R,>(rows: readonly R[], value: ((row: R) => number | string) | undefined, isDown: boolean) => {
  if (value === undefined) return rows;
  const sign = isDown ? -1 : 1;
  return rows
    .map((row, index) => ({ row, key: value(row), index }))
    .sort((a, b) => (a.key < b.key ? -sign : a.key > b.key ? sign : a.index - b.index))
    .map(({ row }) => row);
};

/** Places of the first drawn row and of the one after the last. */
const useDrawn = ({ moved, visible }: Look, box: { current: HTMLElement | null }, count: number) => {
  void moved.value;
  const onPaper = useSignal(false);
  visible.setOptions({ ...visible.options, count, getScrollElement: () => box.current });
  useLayoutEffect(() => visible._willUpdate());
  useLayoutEffect(() => visible._didMount(), [visible]);
  useLayoutEffect(
    () =>
      followPaper((turned) => {
        onPaper.value = turned;
      }),
    [],
  );
  const items = visible.getVirtualItems();
  if (onPaper.value) return { first: 0, end: Math.min(count, printedMax), onPaper: true };
  return { first: items[0]?.index ?? 0, end: (items.at(-1)?.index ?? -1) + 1, onPaper: false };
};

export const Table = <R,>(parts: TableParts<R>) => {
  const { label, columns, keyOf, empty, chosen, rowTone, most } = parts;
  const look = useTable(label, parts.sort);
  const box = useRef<HTMLDivElement>(null);
  const [by, isDown, current] = [look.by.value, look.isDown.value, look.current.value];
  const rows = useMemo(() => sorted(parts.rows, columns[by]?.value, isDown), [parts.rows, columns, by, isDown]);
  const at = useMemo(
    () => (current === "" ? -1 : rows.findIndex((row) => keyOf(row) === current)),
    [rows, current, keyOf],
  );
  const { first, end, onPaper } = useDrawn(look, box, rows.length);
  const id = label.replaceAll(/\W+/g, "-");
  const walkTo = (index: number, isChosen: boolean) => {
    const row = rows[index];
    if (row === undefined) return;
    look.current.value = keyOf(row);
    look.visible.scrollToIndex(index, { align: "auto" });
    if (isChosen) chosen?.(row);
  };
  const takeClick = ({ target }: MouseEvent) => {
    const row = target instanceof Element && target.closest("button") === null ? target.closest("tr") : null;
    if (row?.dataset["index"] !== undefined) walkTo(Number(row.dataset["index"]), true);
  };
  const takeKey = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 0) / rowPx) - 2);
    const to = keyPlaces(at, page, rows.length - 1)[event.key];
    if (to !== undefined) walkTo(to, false);
    else if ((event.key === "Enter" || event.key === " ") && at >= 0) walkTo(at, true);
    else return;
    event.preventDefault();
  };
  return (
    <div ref={box} class="vscroll" style={{ maxHeight: most === undefined ? "" : `${rowPx * (most + 1) + 4}px` }}>
      <table
        {...gridOf(at >= first && at < end ? `${id}-${at}` : undefined)}
        aria-label={label}
        aria-rowcount={rows.length + 1}
        class="rows"
        style={widthsOf(columns)}
        onKeyDown={takeKey}
        onClick={takeClick}
      >
        <thead {...roles.group}>
          <tr {...roles.row} aria-rowindex={1}>
            {columns.map((column, index) => (
              <Head key={index} column={column} index={index} look={look} />
            ))}
          </tr>
        </thead>
        <tbody
          {...roles.group}
          style={{ paddingTop: `${first * rowPx}px`, paddingBottom: `${onPaper ? 0 : (rows.length - end) * rowPx}px` }}
        >
          {rows.slice(first, end).map((row, place) => (
            <Row
              key={place}
              row={row}
              columns={columns}
              id={`${id}-${first + place}`}
              index={first + place}
              isCurrent={first + place === at}
              tone={rowTone?.(row) ?? ""}
            />
          ))}
        </tbody>
      </table>
      {rows.length === 0 && <p class="empty">{empty}</p>}
      {onPaper && end < rows.length && (
        <p class="soft">{`The first ${figure(end)} of ${figure(rows.length)} rows are printed.`}</p>
      )}
    </div>
  );
};

const keyPlaces = (at: number, page: number, last: number): Readonly<Record<string, number>> => ({
  ArrowDown: Math.min(last, at + 1),
  ArrowUp: Math.max(0, at - 1),
  PageDown: Math.min(last, at + page),
  PageUp: Math.max(0, at - page),
  Home: 0,
  End: last,
});

const classOf = ({ isText = false, wide = false }: { isText?: boolean; wide?: boolean }) =>
  `${isText ? "" : "n"}${wide ? " wide" : ""}`;

const Head = <R,>({ column, index, look: { by, isDown } }: { column: TableColumn<R>; index: number; look: Look }) => {
  const { name, label = name, value, isText = false } = column;
  const order = by.value !== index ? "none" : isDown.value ? "descending" : "ascending";
  const sort = () => {
    isDown.value = by.value === index ? !isDown.value : !isText;
    by.value = index;
  };
  return (
    <th {...roles.head} scope="col" class={classOf(column)} aria-sort={order}>
      {value === undefined ? (
        name || <span class="unseen">{label}</span>
      ) : (
        <Button text={name} label={`sort by ${label}`} act={sort} />
      )}
    </th>
  );
};

type RowParts<R> = {
  row: R;
  columns: readonly TableColumn<R>[];
  id: string;
  index: number;
  isCurrent: boolean;
  tone: string;
};

const Row = <R,>({ row, columns, id, index, isCurrent, tone }: RowParts<R>): VNode =>
  useMemo(
    () => (
      <tr {...roles.row} id={id} data-index={index} class={tone} aria-rowindex={index + 2} aria-selected={isCurrent}>
        {columns.map((column, place) => cellOf(row, column, place))}
      </tr>
    ),
    [row, columns, id, index, isCurrent, tone],
  );

const cellOf = <R,>(row: R, column: TableColumn<R>, place: number) => {
  const text = column.text(row);
  const press = () => column.press?.(row);
  return (
    <td
      key={place}
      {...roles.cell}
      class={`${classOf(column)} ${column.tone?.(row) ?? ""}`}
      title={column.title?.(row) ?? text}
    >
      {column.press === undefined ? text : text !== "" && <Button text={text} act={press} class="acts" />}
    </td>
  );
};
