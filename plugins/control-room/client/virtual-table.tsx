/**
 * A table of any length that draws only the visible rows: sorted by any column, walked by arrow keys, one row chosen.
 *
 * Invariants: rows have one height, so that what is above is known without being drawn, and each is laid out by itself;
 * a row that has not changed is not drawn again; sorting is stable; the row that is walked to is known by its key, and
 * stays while others come and go; a table that is opened again is as it was left.
 */
import { type Signal, signal } from "@preact/signals";
import type { VNode } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { Button } from "../../ui-kit/client/controls.tsx";
import { useKept } from "../../ui-kit/client/kept.ts";
import { classOf, leastWidths, narrowed, tracksOf } from "./column-widths.ts";
import type { TableColumn } from "./table-columns.ts";

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
  most?: number;
};

const rowPx = 30;
/** Rows that are drawn above and below the visible ones. */
const spare = 3;

/** Roles of a table whose rows are chosen. They are written out, because `display: grid` takes those of a table away. */
const roles = {
  grid: { role: "grid" },
  group: { role: "rowgroup" },
  row: { role: "row" },
  head: { role: "columnheader" },
  cell: { role: "gridcell" },
} as const;

type Look = {
  by: Signal<number>;
  isDown: Signal<boolean>;
  current: Signal<string>;
  top: Signal<number>;
  height: Signal<number>;
};

/** State of the table with this label. */
export const useTable = (label: string, sort: { column: number; down: boolean } = { column: -1, down: false }) =>
  useKept<Look>(`table ${label}`, () => ({
    by: signal(sort.column),
    isDown: signal(sort.down),
    current: signal(""),
    top: signal(0),
    height: signal(600),
  }));

const sorted = <R,>(rows: readonly R[], value: ((row: R) => number | string) | undefined, isDown: boolean) => {
  if (value === undefined) return rows;
  const sign = isDown ? -1 : 1;
  return rows
    .map((row, index) => ({ row, key: value(row), index }))
    .sort((a, b) => (a.key < b.key ? -sign : a.key > b.key ? sign : a.index - b.index))
    .map(({ row }) => row);
};

export const VirtualTable = <R,>(parts: TableParts<R>) => {
  const { label, columns, keyOf, empty, chosen, rowTone, most } = parts;
  const look = useTable(label, parts.sort);
  const box = useRef<HTMLElement>(null);
  const [by, isDown, current] = [look.by.value, look.isDown.value, look.current.value];
  const rows = useMemo(() => sorted(parts.rows, columns[by]?.value, isDown), [parts.rows, columns, by, isDown]);
  useLayoutEffect(() => followSize(box.current as HTMLElement, look), [look]);

  const first = Math.max(0, Math.min(rows.length - 1, Math.floor(look.top.value / rowPx) - spare));
  const last = Math.min(rows.length, first + Math.ceil(look.height.value / rowPx) + 2 * spare);
  const placeOf = (key: string) => (key === "" ? -1 : rows.findIndex((row) => keyOf(row) === key));
  const id = label.replaceAll(/\W+/g, "-");
  const at = placeOf(current);
  const walkTo = (index: number, isChosen: boolean) => {
    const row = rows[index];
    if (row === undefined) return;
    look.current.value = keyOf(row);
    scrollTo(box.current as HTMLElement, index);
    if (isChosen) chosen?.(row);
  };
  const takeClick = ({ target }: MouseEvent) => {
    const row = target instanceof Element && target.closest("button") === null ? target.closest("tr") : null;
    if (row?.dataset["index"] !== undefined) walkTo(Number(row.dataset["index"]), true);
  };
  const takeKey = (event: KeyboardEvent) => {
    if (event.target !== box.current || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 0) / rowPx) - 2);
    const to = keyPlaces(at, page, rows.length - 1)[event.key];
    if (to !== undefined) walkTo(to, false);
    else if ((event.key === "Enter" || event.key === " ") && at >= 0) walkTo(at, true);
    else return;
    event.preventDefault();
  };
  /** What the scrolled part does for its rows. */
  const walked = {
    onKeyDown: takeKey,
    onClick: takeClick,
    "aria-activedescendant": at >= first && at < last ? `${id}-${at}` : undefined,
  };
  return (
    <section
      ref={box}
      class="vscroll"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the rows are walked through by keys.
      tabIndex={0}
      aria-label={label}
      style={{ maxHeight: most === undefined ? undefined : `${rowPx * (most + 1) + 4}px` }}
      {...walked}
    >
      <table {...roles.grid} aria-label={label} class="rows" aria-rowcount={rows.length + 1} style={stylesOf(columns)}>
        <thead {...roles.group}>
          <tr {...roles.row}>
            {columns.map((column, index) => (
              <Head key={index} column={column} index={index} look={look} />
            ))}
          </tr>
        </thead>
        <tbody {...roles.group}>
          <Gap px={first * rowPx} />
          {rows.slice(first, last).map((row, place) => (
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
          <Gap px={(rows.length - last) * rowPx} />
        </tbody>
      </table>
      {rows.length === 0 && <p class="empty">{empty}</p>}
    </section>
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

const scrollTo = (box: HTMLElement, index: number) => {
  const [top, bottom] = [index * rowPx, (index + 2) * rowPx];
  if (top < box.scrollTop) box.scrollTop = top;
  else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
};

/** Keeps place and height of the visible part; sizes are read when they change, never while drawing. */
const followSize = (box: HTMLElement, { top, height }: Look) => {
  box.scrollTop = top.peek();
  const scroll = () => {
    top.value = box.scrollTop;
  };
  const sizes = new ResizeObserver(([entry]) => {
    height.value = Math.round(entry?.contentRect.height ?? 0) || height.peek();
  });
  sizes.observe(box);
  box.addEventListener("scroll", scroll, { passive: true });
  return () => sizes.disconnect();
};

const stylesOf = (columns: readonly { width: number; wide?: boolean }[]) => {
  const [least, narrowest] = leastWidths(columns);
  return {
    "--least": `${least}px`,
    "--narrow": `${narrowest}px`,
    "--cols": tracksOf(columns),
    "--ncols": tracksOf(columns.filter(({ wide }) => wide !== true).map(narrowed)),
  };
};

const unseen = { "aria-hidden": "true" } as const;

/** Rows that are not drawn. */
const Gap = ({ px }: { px: number }) => (
  <tr {...unseen} hidden={px === 0} style={{ height: `${px}px` }}>
    <td />
  </tr>
);

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
        <button type="button" title={`sort by ${label}`} onClick={sort}>
          {name}
        </button>
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
      title={column.title?.(row) ?? (column.isText ? text : "")}
    >
      {column.press === undefined ? text : text !== "" && <Button text={text} act={press} class="acts" />}
    </td>
  );
};
