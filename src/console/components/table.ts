import type { ComponentChildren, VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import { formatCount, toTsv } from "../format.ts";
import { html } from "../html.ts";
import { CopyButton } from "./copy-button.ts";
import { Badge, Empty, type Tone } from "./status.ts";

export type Cell = string | number | null | undefined;

export interface Column<Row> {
  readonly title: string;
  /** Names the column in a `Sort`. Default: the title. */
  readonly id?: string;
  /** The value that is sorted and copied. */
  readonly value: (row: Row) => Cell;
  /** The view that is shown. Default: the value. */
  readonly view?: (row: Row) => ComponentChildren;
  /**
   * True if the column is aligned to the right, and first sorted with the greatest value at the
   * top.
   */
  readonly isNumber?: boolean;
  /** Default: true. */
  readonly isSortable?: boolean;
  /** True if the column stays in sight while the table is scrolled sideways. */
  readonly isSticky?: boolean;
}

interface NumberColumn<Row> {
  readonly title: string;
  readonly value: (row: Row) => number | undefined;
  /** Default: writes separators of thousands. */
  readonly format?: (value: number) => string;
  /** The text that is shown if there is no value. Default: a dash. */
  readonly absent?: string;
}

/** A column of numbers that are shown with `format`, and sorted and copied as they are. */
export const numberColumn = <Row>({
  format = formatCount,
  absent = "–",
  ...column
}: NumberColumn<Row>): Column<Row> => ({
  ...column,
  isNumber: true,
  view: (row) => {
    const value = column.value(row);
    return value === undefined ? absent : format(value);
  },
});

interface BadgeColumn<Row, State extends string> {
  readonly title: string;
  readonly value: (row: Row) => State;
  readonly tones: Readonly<Record<State, Tone>>;
}

/** A column of states that are shown as badges. */
export const badgeColumn = <Row, State extends string>({
  tones,
  ...column
}: BadgeColumn<Row, State>): Column<Row> => ({
  ...column,
  view: (row) => html`<${Badge} tone=${tones[column.value(row)]}>${column.value(row)}<//>`,
});

/**
 * The column with the actions that a person can apply to a row; none for persons who may only read.
 */
export const actionColumns = <Row>(
  mayChange: boolean,
  view: (row: Row) => ComponentChildren,
): readonly Column<Row>[] =>
  mayChange ? [{ title: "Actions", isSortable: false, isSticky: true, value: () => "", view }] : [];

const classOf = <Row>({ isNumber, isSticky }: Column<Row>): string | undefined =>
  isNumber ? "number" : isSticky ? "sticky" : undefined;

const idOfColumn = ({ title, id = title }: Pick<Column<never>, "title" | "id">): string => id;

export interface Sort {
  readonly by: string;
  readonly descending: boolean;
}

interface TableProps<Row> {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly idOf: (row: Row) => string | number;
  readonly initialSort?: Sort;
  /** Given if the service sorts: `rows` are then one page in this order. */
  readonly sort?: Sort;
  readonly onSort?: (sort: Sort) => void;
  /** Rows in the page at once. Default: 50. */
  readonly pageSize?: number;
  readonly empty?: string;
  /** Shown beside the copy button, for instance links to other pages. */
  readonly children?: ComponentChildren;
}

/** A table that is sorted by its headers, paged, and copied as tab-separated values. */
export const Table = <Row>(props: TableProps<Row>): VNode => {
  const { caption, columns, rows, idOf, pageSize = 50, empty = "Nothing to show.", children } = props;
  const [ownSort, setOwnSort] = useState<Sort | undefined>(props.initialSort);
  const [page, setPage] = useState(0);
  const sort = props.onSort ? props.sort : ownSort;
  const sorted = useMemo(
    () => (props.onSort || !ownSort ? rows : sortRows(rows, columns, ownSort)),
    [rows, columns, ownSort, props.onSort],
  );
  const pages = Math.max(1, Math.ceil(sorted.length / pageSize));
  const current = Math.min(page, pages - 1);
  const shown = sorted.slice(current * pageSize, (current + 1) * pageSize);
  const changeSort = (by: string): void => {
    const isNumber = columns.some((column) => idOfColumn(column) === by && column.isNumber === true);
    const next = { by, descending: sort?.by === by ? !sort.descending : isNumber };
    setPage(0);
    if (props.onSort) props.onSort(next);
    else setOwnSort(next);
  };
  const copied = () =>
    toTsv([
      columns.map(({ title }) => title),
      ...sorted.map((row) => columns.map(({ value }) => value(row))),
    ]);
  return html`<div class="table">
    <div class="scroll" role="region" aria-label=${caption} tabindex="0">
      <table>
        <caption>${caption}</caption>
        <thead><tr>${columns.map((column) => header(column, sort, changeSort))}</tr></thead>
        <tbody>
          ${shown.map((row) => html`<tr key=${idOf(row)}>${columns.map((column) => dataCell(column, row))}</tr>`)}
        </tbody>
      </table>
      ${rows.length === 0 && html`<${Empty}>${empty}<//>`}
    </div>
    <div class="under">
      <${CopyButton} label="Copy table" text=${copied} />
      ${pages > 1 && html`<${Pager} page=${current} pages=${pages} onPage=${setPage} />`}
      ${children}
    </div>
  </div>`;
};

const header = <Row>(column: Column<Row>, sort: Sort | undefined, onSort: (by: string) => void) => {
  const { title, isSortable = true } = column;
  const id = idOfColumn(column);
  const isSorted = sort?.by === id;
  const order = isSorted ? (sort.descending ? "descending" : "ascending") : undefined;
  const arrow = isSorted ? (sort.descending ? " ▼" : " ▲") : "";
  return html`<th key=${id} scope="col" class=${classOf(column)} aria-sort=${order}>
    ${
      isSortable
        ? html`<button type="button" class="sort" onClick=${() => onSort(id)}>
            ${title}<span aria-hidden="true">${arrow}</span>
          </button>`
        : title
    }
  </th>`;
};

const dataCell = <Row>(column: Column<Row>, row: Row) => {
  const { value, view = value } = column;
  return html`<td key=${idOfColumn(column)} class=${classOf(column)}>${view(row)}</td>`;
};

const sortRows = <Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { by, descending }: Sort,
): Row[] => {
  const column = columns.find((one) => idOfColumn(one) === by);
  if (!column) return [...rows];
  const sorted = rows.toSorted((a, b) => compareCells(column.value(a), column.value(b)));
  return descending ? sorted.reverse() : sorted;
};

/** Sorts numbers by size, texts by the alphabet, and absent values first. */
const compareCells = (a: Cell, b: Cell): number => {
  if (a == null || b == null) return Number(a != null) - Number(b != null);
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
};

interface PagerProps {
  readonly page: number;
  readonly pages: number;
  readonly onPage: (page: number) => void;
}

const Pager = ({ page, pages, onPage }: PagerProps): VNode =>
  html`<nav class="pager" aria-label="Pages">
    <button type="button" disabled=${page === 0} onClick=${() => onPage(page - 1)}>Previous</button>
    <span>Page ${page + 1} of ${pages}</span>
    <button type="button" disabled=${page >= pages - 1} onClick=${() => onPage(page + 1)}>Next</button>
  </nav>`;
