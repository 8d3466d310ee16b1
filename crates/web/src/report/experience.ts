// What people on the line get under each queue: a panel for each figure, with a dot and its
// interval for each queue.

import type { Rows } from "../charts/export.ts";
import { type Box, MarksChart, type Target } from "../charts/marks.ts";
import { type Panel, Panels } from "../charts/panels.ts";
import type { Plot, Shape } from "../charts/svg.ts";
import type { Range } from "../charts/ticks.ts";
import { h } from "../dom.ts";
import { formatDecimals, formatNumber, type Unit, unitFor, withUnitLabel } from "../units.ts";
import type { FigureColumn } from "./columns.ts";
import type { Figure, Point } from "./data.ts";
import { rangeOf, withInterval } from "./intervals.ts";
import { namesAxis } from "./names.ts";

/** Opinion scores: the worst, and the best that is reached. */
const SCORES: Range = { min: 1, max: 4.5 };
/** Axes of parts reach at least this far, so that a thousandth does not look like much. */
const LEAST_PART = 0.01;
/** Room before zero, as a part of the axis. */
const EDGE = 0.03;
/** What part of a panel names may take: they are its legend. */
const NAMES = 0.45;
/** The narrowest picture of a panel, in pixels. */
const NARROWEST = 270;

/** The axis of a figure of these values: times that spread are told apart on a logarithmic one. */
export function axisOf(column: FigureColumn, figures: readonly Figure[]): { range: Range; scale: "linear" | "log" } {
  if (column.key.endsWith(".mos")) return { range: SCORES, scale: "linear" };
  if (column.quantity === "time" && figures.length > 0 && figures.every(({ mean }) => mean > 0)) return { range: rangeOf(figures, "log", { linear: 1.08, log: [1.6, 1.6] }), scale: "log" };
  return { range: rangeOf(figures, "linear", { linear: 1.08, log: [1, 1] }, column.quantity === "ratio" ? LEAST_PART : 1e-9), scale: "linear" };
}

/** A figure's name, capitalized, without that of its group where it begins with it. */
export function titleOf({ label }: FigureColumn): string {
  const [group = "", name = label] = label.split(": ");
  const whole = name.toLowerCase().startsWith(group.toLowerCase()) ? name : label;
  return whole.charAt(0).toUpperCase() + whole.slice(1);
}

/** A value in the unit of its axis, with its interval. */
export function toldBy(column: FigureColumn, figure: Figure, unit: Unit): string {
  const number = (value: number): string => (column.decimals === undefined ? formatNumber(value * unit.factor) : formatDecimals(value * unit.factor, column.decimals));
  return withInterval(figure, number);
}

const direction = ({ better }: FigureColumn): string => (better ? `${better} is better` : "");

interface FigurePanel extends Panel<MarksChart> {
  readonly column: FigureColumn;
  readonly unit: Unit;
}

/** The picture of these figures for the points that are switched on. */
export class ExperienceChart extends Panels<MarksChart, FigurePanel> {
  readonly #points: readonly Point[];

  constructor(points: readonly Point[], columns: readonly FigureColumn[], onZoom: () => void) {
    super(columns.map((column) => panelOf(points, column, onZoom)), "panels few");
    this.#points = points;
  }

  protected inRow(width: number): number {
    return Math.min(this.panels.length, Math.max(1, Math.floor(width / NARROWEST)));
  }

  data(): Rows {
    const cells = (figure: Figure | undefined): (number | null)[] => [figure?.mean ?? null, figure?.ci95 ?? null];
    return [["point", ...this.panels.flatMap(({ column }) => [column.key, `${column.key}_ci95`])], ...this.#points.map((point) => [point.label, ...this.panels.flatMap(({ column }) => cells(column.figure(point, "")))])];
  }

  digest(): Rows {
    const told = ({ column, unit }: FigurePanel, point: Point): string => {
      const figure = column.figure(point, "");
      return figure ? toldBy(column, figure, unit) : "–";
    };
    return [["Queue", ...this.panels.map(({ label }) => label)], ...this.#points.map((point) => [point.label, ...this.panels.map((panel) => told(panel, point))])];
  }
}

function panelOf(points: readonly Point[], column: FigureColumn, onZoom: () => void): FigurePanel {
  const rows = points.map((point) => ({ point, figure: column.figure(point, "") }));
  const figures = rows.flatMap(({ figure }) => figure ?? []);
  const { range: values, scale } = axisOf(column, figures);
  // A mark at zero stays whole.
  const range = values.min === 0 ? { ...values, min: -EDGE * values.max } : values;
  const unit = unitFor(column.quantity, range.max);
  const title = withUnitLabel(titleOf(column), unit);
  const targets = rows.flatMap(({ point, figure }, row): Target[] => (figure ? [{ x: figure.mean, y: row, look: point.look, heading: point.label, rows: [{ label: title, value: toldBy(column, figure, unit) }] }] : []));
  const build = (width: number, box: Box): Plot => {
    const shown = box.x ?? range;
    return {
      width,
      height: 38 + rows.length * 24,
      // The means stand in a column of their own.
      right: 56,
      x: { label: "", range: shown, scale, unit, ...(range === SCORES ? { ticks: [1, 2, 3, 4] } : {}) },
      y: namesAxis(points, width, NAMES),
      shapes: rows.flatMap(({ point, figure }, row) => (figure ? shapesOf(point, figure, row, shown.max, toldBy(column, { ...figure, ci95: null }, unit)) : [])),
    };
  };
  const chart = new MarksChart({ name: `${title} under each queue; ${direction(column)}`, build, targets, zoom: "x", data: [], digest: [], onZoom });
  return { label: title, meaning: column.meaning, aside: h("span", { class: "number panel-value" }, direction(column)), column, unit, chart };
}

function shapesOf({ look }: Point, { mean, ci95 }: Figure, row: number, end: number, told: string): Shape[] {
  const interval: Shape[] = ci95 === null ? [] : [{ type: "segment", from: [mean - ci95, row], to: [mean + ci95, row], look, width: 2.5, opacity: 0.55 }];
  return [...interval, { type: "point", x: mean, y: row, look, size: 5, opacity: 1 }, { type: "label", x: end, y: row, text: told, anchor: "start", dx: 10, dy: 4, quiet: true }];
}
