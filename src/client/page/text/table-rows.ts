import type { TextPiece } from "./plain-text.ts";

interface Columns {
  readonly headerRows: ReadonlySet<Element>;
  /** The header cells of each cell below them. */
  readonly headers: ReadonlyMap<Element, readonly Element[]>;
}

/**
 * Puts the column's header before each cell of a table row that is read aloud: "Paris, Departs:
 * 20:15". The rows of headers are not read on their own.
 */
export class TableRows {
  readonly #columns = new Map<Element, Columns>();
  readonly #headerTexts = new Map<Element, TextPiece[]>();
  #lastCell: Element | undefined;

  /** Returns what is spoken for a text of this row. */
  read(row: Element, piece: TextPiece): (TextPiece | string)[] {
    const table = row.closest("table");
    const cell = childOf(row, piece.node);
    if (!table || !cell) return [];
    const { headerRows, headers } = this.#columnsOf(table);
    if (headerRows.has(row)) {
      this.#headerTexts.set(cell, [...(this.#headerTexts.get(cell) ?? []), piece]);
      return [];
    }
    const last = this.#lastCell;
    if (last === cell) return [piece];
    if (!/\S/.test(piece.node.data)) return [];
    this.#lastCell = cell;
    const header = (headers.get(cell) ?? []).flatMap((each) => this.#headerTexts.get(each) ?? []);
    const isFirst = last?.parentElement !== row;
    const isNamedByRow = last?.localName === "th" && header.length === 0;
    return [
      ...(isFirst ? [] : [isNamedByRow ? ":" : ","]),
      ...(header.length > 0 ? [...header, ":"] : []),
      piece,
    ];
  }

  #columnsOf(table: HTMLTableElement): Columns {
    const columns = this.#columns.get(table) ?? readColumns(table);
    this.#columns.set(table, columns);
    return columns;
  }
}

const childOf = (row: Element, node: Node): Element | undefined => {
  let cell = node.parentElement;
  while (cell && cell.parentElement !== row) cell = cell.parentElement;
  return cell ?? undefined;
};

/** A row of one header is a title of the rows below, and read on its own. */
const isTitle = ({ parentElement, cells }: HTMLTableRowElement): boolean =>
  cells.length === 1 && (parentElement?.localName === "thead" || cells[0]?.localName === "th");

const isHeaderRow = (row: HTMLTableRowElement): boolean =>
  !isTitle(row) &&
  (row.parentElement?.localName === "thead" || [...row.cells].every(({ localName }) => localName === "th"));

const readColumns = (table: HTMLTableElement): Columns => {
  const rows = [...table.rows];
  const firstOfData = rows.findIndex((row) => !isHeaderRow(row) && !isTitle(row));
  const headerRows = new Set(rows.slice(0, Math.max(firstOfData, 0)).filter(isHeaderRow));
  const headers = new Map<Element, readonly Element[]>();
  const headersOfColumns: Element[][] = [];
  /** The number of rows that each column's cell from above still spans. */
  const covered: number[] = [];
  for (const row of rows) {
    let column = 0;
    for (const cell of row.cells) {
      while ((covered[column] ?? 0) > 0) column++;
      if (cell.localName === "td") headers.set(cell, headersOfColumns[column] ?? []); // rows of headers are first
      for (const end = column + cell.colSpan; column < end; column++) {
        covered[column] = cell.rowSpan || Number.POSITIVE_INFINITY;
        headersOfColumns[column] ??= [];
        if (headerRows.has(row)) headersOfColumns[column]?.push(cell);
      }
    }
    for (const [index, rowsLeft] of covered.entries()) covered[index] = Math.max((rowsLeft ?? 0) - 1, 0);
  }
  return { headerRows, headers };
};
