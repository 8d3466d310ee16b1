// The tables of figures: aligned numbers with their intervals, sorted by a click or a key.

import type { Rows } from "../charts/export.ts";
import { sign } from "../charts/sign.ts";
import { h } from "../dom.ts";
import { columnDecimals, formatDecimals, type Unit, unitFor } from "../units.ts";
import type { FigureColumn } from "./columns.ts";
import type { Figure, Point } from "./data.ts";

/** One row: its names, and the owner of its figures. */
export interface TableRow {
  readonly names: readonly string[];
  readonly point: Point;
  /** The link or the group that the columns are asked of. */
  readonly subject: string;
}

/** A table of figures. */
export interface TableOptions {
  readonly caption: string;
  readonly nameLabels: readonly string[];
  readonly columns: readonly FigureColumn[];
  readonly rows: readonly TableRow[];
  /** Are rows compared within the whole table? Else only those with an equal last name are. */
  readonly compareAll: boolean;
  /** Labels of points that do not satisfy the policy, so that nothing of theirs is best. */
  readonly outside?: readonly string[];
}

/** Columns of a table that are shown. */
export type Extent = "main" | "all";

/** A row with the figures of the columns that are shown. */
interface FilledRow extends TableRow {
  readonly figures: readonly (Figure | undefined)[];
  readonly isOutside: boolean;
}

/** Figures that differ by less than this part are equal to a reader. */
const NEGLIGIBLE = 0.01;

type Order = { readonly column: number; readonly direction: "ascending" | "descending" };

/** A sortable table in a box that scrolls sideways. */
export function figureTable(options: TableOptions, extent: Extent): HTMLElement {
  const { caption, nameLabels, compareAll } = options;
  const { columns, rows } = filled(options, extent);
  const scales = columns.map((column, at) => scaleOf(column, rows.map((row) => row.figures[at])));
  const best = columns.map((column, at) => bestRows(column, rows, at, compareAll));
  let order: Order | undefined;

  const body = h("tbody");
  const headers = columns.map((column, at) => {
    const unit = scales[at]?.unit.symbol ?? "";
    const button = h("button", { type: "button", class: "sort", title: column.meaning, onclick: () => sortBy(at) }, h("span", { class: "sort-label" }, column.label), h("span", { class: "sort-unit" }, unit === "" ? "\u00a0" : unit));
    return h("th", { scope: "col", class: "figure" }, button);
  });
  const fill = (): void => {
    body.replaceChildren(...sorted(rows, order).map((row) => tableRow(row, rows.indexOf(row), scales, best)));
    headers.forEach((header, at) => {
      if (order?.column === at) header.setAttribute("aria-sort", order.direction);
      else header.removeAttribute("aria-sort");
    });
  };
  const sortBy = (at: number): void => {
    const first = columns[at]?.better === "higher" ? "descending" : "ascending";
    const second = first === "ascending" ? "descending" : "ascending";
    if (order?.column !== at) order = { column: at, direction: first };
    else order = order.direction === first ? { column: at, direction: second } : undefined;
    fill();
  };
  fill();
  const head = h("thead", {}, h("tr", {}, ...nameLabels.map((label) => h("th", { scope: "col", class: "name" }, label)), ...headers));
  return h("div", { class: "table-scroll", tabindex: 0, role: "region", "aria-label": caption }, h("table", { class: "figures" }, h("caption", { class: "visually-hidden" }, caption), head, body));
}

/** All of it as plain rows, in SI units, for a CSV file. */
export function figureRows(options: TableOptions): Rows {
  const { columns, rows } = filled(options, "all");
  const header = [...options.nameLabels, ...columns.flatMap(({ key }) => [key, `${key}_ci95`, `${key}_n`])];
  const cells = (figure: Figure | undefined): (number | null)[] => (figure ? [figure.mean, figure.ci95, figure.n] : [null, null, null]);
  return [header, ...rows.map((row) => [...row.names, ...row.figures.flatMap(cells)])];
}

/** The columns that hold any figure, and the figures of each row. A main column of nothing but
 *  zeros (marks, when nobody uses ECN) is for those who ask for everything. */
function filled({ columns: all, rows, outside = [] }: TableOptions, extent: Extent): { columns: readonly FigureColumn[]; rows: readonly FilledRow[] } {
  const columns = all.filter((column) => {
    const figures = rows.flatMap(({ point, subject }) => column.figure(point, subject) ?? []);
    return extent === "main" ? column.main && figures.some(({ mean }) => mean !== 0) : figures.length > 0;
  });
  return { columns, rows: rows.map((row) => ({ ...row, figures: columns.map((column) => column.figure(row.point, row.subject)), isOutside: outside.includes(row.point.label) })) };
}

interface Scale {
  readonly unit: Unit;
  readonly decimals: number;
  /** Does any figure have an interval? */
  readonly hasIntervals: boolean;
}

/** One unit and one number of digits for a whole column, so that its numbers line up. */
function scaleOf(column: FigureColumn, figures: readonly (Figure | undefined)[]): Scale {
  const means = figures.flatMap((figure) => (figure ? [figure.mean] : []));
  const unit = unitFor(column.quantity, Math.max(0, ...means.map(Math.abs)));
  const shown = means.map((mean) => mean * unit.factor);
  const intervals = figures.flatMap((figure) => (figure?.ci95 ? [figure.ci95 * unit.factor] : []));
  // Counts are whole in one run; on average, small ones are not.
  const isCount = column.quantity === "number" && column.decimals === undefined;
  return {
    unit,
    decimals: column.decimals ?? (isCount ? (Math.max(0, ...shown) < 10 ? 1 : 0) : columnDecimals(shown, intervals)),
    hasIntervals: figures.some((figure) => figure !== undefined && figure.ci95 !== null),
  };
}

function tableRow(row: FilledRow, number: number, scales: readonly Scale[], best: readonly ReadonlySet<number>[]): HTMLElement {
  const names = row.names.map((name, at) => {
    if (at > 0) return h("td", { class: "name" }, name);
    return h("th", { scope: "row", class: "name" }, h("span", { class: "name-line" }, sign(row.point.look), name, row.isOutside && h("span", { class: "outside", title: "Outside the policy" }, "†")));
  });
  const cells = row.figures.map((figure, at) => figureCell(figure, scales[at], best[at]?.has(number) === true));
  return h("tr", { "data-point": row.point.number }, ...names, ...cells);
}

function figureCell(figure: Figure | undefined, scale: Scale | undefined, isBest: boolean): HTMLElement {
  if (!figure || !scale) return h("td", { class: "figure number none" }, h("span", { class: "mean" }, "–"), scale?.hasIntervals === true && h("span", { class: "ci" }));
  const { factor } = scale.unit;
  const mean = h(isBest ? "strong" : "span", { class: "mean" }, formatDecimals(figure.mean * factor, scale.decimals));
  const interval = figure.ci95 === null || (figure.mean === 0 && figure.ci95 === 0) ? "" : `±${halfWidth(figure.ci95 * factor, scale.decimals)}`;
  return h("td", { class: "figure number" }, mean, scale.hasIntervals && h("span", { class: "ci" }, interval));
}

/** A half-width that rounds to zero is shown as an upper bound. */
function halfWidth(value: number, decimals: number): string {
  const text = formatDecimals(value, decimals);
  return value > 0 && Number(text) === 0 ? `<${formatDecimals(10 ** -decimals, decimals)}` : text;
}

/** Rows by a column; without an order, as they were given; missing figures last. */
function sorted(rows: readonly FilledRow[], order: Order | undefined): readonly FilledRow[] {
  if (!order) return rows;
  const sign = order.direction === "ascending" ? 1 : -1;
  const place = (row: FilledRow): number => sign * (row.figures[order.column]?.mean ?? sign * Infinity);
  return [...rows].sort((a, b) => (place(a) === place(b) ? 0 : place(a) - place(b)));
}

/** The best rows of a column: the best one and all that do not differ from it significantly. */
function bestRows(column: FigureColumn, rows: readonly FilledRow[], at: number, compareAll: boolean): Set<number> {
  const best = new Set<number>();
  if (column.better === undefined) return best;
  const sign = column.better === "lower" ? 1 : -1;
  const group = (row: FilledRow): string => (compareAll ? "" : (row.names[row.names.length - 1] ?? ""));
  for (const name of new Set(rows.map(group))) {
    const members = rows.flatMap((row, number) => {
      const figure = row.figures[at];
      return group(row) === name && figure && !row.isOutside ? [{ number, figure }] : [];
    });
    const first = members.reduce<(typeof members)[number] | undefined>((winner, one) => (winner === undefined || sign * (one.figure.mean - winner.figure.mean) < 0 ? one : winner), undefined);
    if (!first || members.length < 2) continue;
    const edge = sign * first.figure.mean + (first.figure.ci95 ?? 0);
    const winners = members.filter(({ figure }) => sign * figure.mean - (figure.ci95 ?? 0) <= edge);
    // If all rows are best, or as good as equal, highlighting is useless.
    const size = Math.max(...members.map(({ figure }) => Math.abs(figure.mean)));
    const differs = members.some(({ figure }) => Math.abs(figure.mean - first.figure.mean) > NEGLIGIBLE * size);
    if (winners.length < members.length && differs) for (const { number } of winners) best.add(number);
  }
  return best;
}
