// Series over time: all points in one plot, or one panel for each with equal axes.

import type { Chart, Heading } from "../charts/chart.ts";
import type { Rows } from "../charts/export.ts";
import { LineChart, type LineData, type LineOptions } from "../charts/line.ts";
import { extent, type Range } from "../charts/ticks.ts";
import type { SharedWindow } from "../charts/window.ts";
import { sign } from "../charts/sign.ts";
import { stackSvg } from "../charts/stack.ts";
import { h } from "../dom.ts";
import type { Ink } from "../palette.ts";
import type { Quantity } from "../units.ts";
import type { Result } from "./data.ts";
import type { Arrangement, PanelAxes } from "./state.ts";

/** What a chart over time shows. */
export interface TimelineOptions {
  readonly name: string;
  readonly quantity: Quantity;
  readonly lines: readonly LineData[];
  readonly steps: boolean;
  /** Single samples tell nothing. */
  readonly coarse: boolean;
  readonly arrangement: Arrangement;
  readonly panelAxes: PanelAxes;
  readonly result: Result;
  readonly window: SharedWindow;
}

/** A chart over time, arranged as asked. */
export function timelineChart(options: TimelineOptions): Chart {
  const { result, lines } = options;
  const everything = extent(lines.flatMap((line) => [line.x[0] ?? 0, line.x[line.x.length - 1] ?? 1]));
  const range: Range = { min: Math.min(0, everything.min), max: everything.max };
  const base = {
    x: { label: "Time", quantity: "seconds" as const, range },
    steps: options.steps,
    calm: !options.steps,
    coarse: options.coarse,
    window: options.window,
    ...(result.measured && result.measured.from > 0 ? { band: { to: result.measured.from, text: "warm-up" } } : {}),
  };
  if (options.arrangement === "together") {
    return new LineChart({ ...base, name: options.name, y: { label: options.name, quantity: options.quantity }, lines, height: 260 });
  }
  const values = extent(lines.flatMap((line) => line.y.filter((value) => value !== null)));
  const equal = { range: { min: Math.min(0, values.min), max: values.max > 0 ? values.max * 1.06 : 1 } };
  const y = { label: options.name, quantity: options.quantity, ...(options.panelAxes === "equal" ? equal : {}) };
  return new Panels(lines.map((line) => ({ ...base, name: `${options.name}, ${line.label}`, y, lines: [line], height: 152 })));
}

/** Several line charts with equal axes, looked at as one. */
class Panels implements Chart {
  readonly element: HTMLElement;
  readonly #charts: { readonly chart: LineChart; readonly options: LineOptions }[];

  constructor(options: readonly LineOptions[]) {
    const readouts: HTMLElement[] = [];
    this.#charts = options.map((one, at) => ({ chart: new LineChart({ ...one, onCursor: (x) => this.#readOut(readouts[at], at, x) }), options: one }));
    const panels = this.#charts.map(({ chart, options: { lines } }, at) => {
      const [line] = lines;
      const readout = h("span", { class: "panel-value" });
      readouts[at] = readout;
      return h("div", { class: "panel" }, h("div", { class: "panel-head" }, line && sign(line.look), h("span", { class: "panel-name", title: line?.label ?? "" }, line?.label ?? ""), readout), chart.element);
    });
    this.element = h("div", { class: "panels", "data-count": panels.length }, ...panels);
    this.#charts.forEach((_, at) => this.#readOut(readouts[at], at, null));
  }

  zoomed(): boolean {
    return this.#charts.some(({ chart }) => chart.zoomed());
  }

  resetZoom(): void {
    // They share one window.
    this.#charts[0]?.chart.resetZoom();
  }

  redraw(): void {
    for (const { chart } of this.#charts) chart.redraw();
  }

  destroy(): void {
    for (const { chart } of this.#charts) chart.destroy();
  }

  data(): Rows {
    const all = this.#charts.map(({ chart }) => chart.data());
    return [...(all[0]?.slice(0, 1) ?? []), ...all.flatMap((rows) => rows.slice(1))];
  }

  digest(): Rows {
    const all = this.#charts.map(({ chart }) => chart.digest());
    return (all[0] ?? []).map((row, at) => [row[0] ?? "", ...all.map((rows) => rows[at]?.[1] ?? "")]);
  }

  svg(ink: Ink, width: number, heading: Heading | undefined): string {
    const inRow = this.#charts.length > 3 ? 2 : 1;
    const pieces = this.#charts.map(({ chart, options }) => {
      const legend = options.lines.map(({ label, look }) => ({ label, look }));
      return chart.svg(ink, width / inRow, { title: "", legend });
    });
    return stackSvg(pieces, width, inRow, heading?.title, ink);
  }

  /** Without a cursor, the highest value; with one, the value there. */
  #readOut(element: HTMLElement | undefined, at: number, x: number | null): void {
    const one = this.#charts[at];
    if (!element || !one) return;
    const line = one.options.lines[0];
    if (x === null) {
      const { max } = extent((line?.y ?? []).filter((value) => value !== null));
      element.textContent = `max ${one.chart.formatY(line && line.y.length > 0 ? max : null)}`;
    } else {
      element.textContent = one.chart.formatY(one.chart.valuesAt(x)[0] ?? null);
    }
  }
}
