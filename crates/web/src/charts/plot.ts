// What charts drawn by uPlot have in common: fast with long series, zoomed by dragging, read by
// pointer or arrow keys.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { h } from "../dom.ts";
import { type Ink, inkOf, type Look } from "../palette.ts";
import { columnName, formatNumber, type Unit, unitFor, withUnit, withUnitLabel } from "../units.ts";
import { type LineAxis, plotAxis } from "./axis.ts";
import type { Chart, Heading } from "./chart.ts";
import type { Points } from "./downsample.ts";
import type { Rows } from "./export.ts";
import { cursorLeft, isChord } from "./gestures.ts";
import { forget, repaint } from "./painter.ts";
import { draw, type Plot, type Shape } from "./svg.ts";
import { extent, type Range } from "./ticks.ts";
import { Tooltip } from "./tooltip.ts";
import type { SharedWindow } from "./window.ts";

/** Options that every such chart has. */
export interface PlotOptions {
  /** Description for screen readers. */
  readonly name: string;
  readonly height: number;
  readonly window: SharedWindow;
}

/** Name and look of a line. */
export interface PlotLine {
  readonly label: string;
  readonly look: Look;
}

interface Axes {
  readonly x: LineAxis;
  readonly y: LineAxis;
}

/** A drawing of the lines and the vertical axis that it needs. */
export interface Picture {
  readonly shapes: readonly Shape[];
  readonly range: Range;
  readonly unit: Unit;
}

/** Parts of the horizontal axis that a table tells about. */
const SLICES = 8;

export abstract class PlotChart<Options extends PlotOptions, Line extends PlotLine> implements Chart {
  readonly element: HTMLElement;
  protected readonly options: Options;
  protected readonly units: { x: Unit; y: Unit };
  protected readonly host = h("div", { class: "plot" });
  protected plot: uPlot | undefined;
  protected ink: Ink = inkOf("page");
  protected isHovered = false;
  readonly #axes: Axes;
  readonly #tooltip: Tooltip;
  readonly #resized = new ResizeObserver(() => this.fit());
  readonly #unwatch: () => void;

  /** The largest values, `sizes`, decide the units; `keys` tells keys beside the arrows. */
  constructor(options: Options, axes: Axes, sizes: { readonly x: number; readonly y: number }, keys: string) {
    this.options = options;
    this.#axes = axes;
    this.units = { x: unitFor(axes.x.quantity, sizes.x), y: unitFor(axes.y.quantity, sizes.y) };
    this.host.style.height = `${options.height}px`;
    const label = `${options.name}. Arrow keys read values, ${keys}.`;
    this.element = h("div", { class: "plot-frame", tabindex: 0, role: "group", "aria-roledescription": "chart", "aria-label": label }, this.host);
    this.#tooltip = new Tooltip(this.element);
    this.element.addEventListener("keydown", (event) => {
      if (this.plot && !isChord(event) && this.onKey(this.plot, event)) event.preventDefault();
    });
    this.element.addEventListener("pointerenter", () => (this.isHovered = true));
    // A lifted finger also fires `leave`, but the tapped value stays selected until the next tap.
    this.element.addEventListener("pointerleave", (event) => (this.isHovered &&= event.pointerType === "touch"));
    this.element.addEventListener("blur", () => {
      this.isHovered = false;
      this.plot?.setCursor({ left: -10, top: -10 });
    });
    this.#unwatch = options.window.watch(() => repaint(this));
    this.#resized.observe(this.host);
  }

  /** The lines that are shown. */
  protected abstract get lines(): readonly Line[];
  /** The part of the horizontal axis that is shown while none is chosen. */
  protected abstract whole(): Range;
  /** Fits the plot to its place. */
  protected abstract fit(): void;
  /** The lines in `range`, drawn at most so many pixels wide. */
  protected abstract picture(range: Range, width: number): Picture;
  /** Points of the lines, in their order. */
  protected abstract points(): readonly Points[];
  /** Values of the lines in a part of the axis. */
  protected abstract valuesBetween(from: number, to: number): readonly (readonly (number | null)[])[];
  /** Draws below the lines. */
  protected abstract drawBehind(plot: uPlot): void;
  /** Heading of the tooltip at `x`. */
  protected abstract headingAt(x: number, plot: uPlot): string;
  /** Values that the lines show at `x`, in their order; nothing where there are none. */
  abstract valuesAt(x: number): readonly (number | null)[] | undefined;
  abstract paint(): void;

  zoomed(): boolean {
    return this.options.window.range !== null;
  }

  resetZoom(): void {
    this.options.window.set(null);
  }

  redraw(): void {
    this.ink = inkOf("page");
    this.plot?.destroy();
    this.plot = undefined;
    this.fit();
  }

  destroy(): void {
    forget(this);
    this.#unwatch();
    this.#resized.disconnect();
    this.plot?.destroy();
  }

  /** A value of the vertical axis, with its unit. */
  formatY(value: number | null): string {
    return value === null ? "–" : withUnit(value, this.units.y);
  }

  svg(ink: Ink, width: number, heading: Heading | undefined): string {
    const { x, y } = this.#axes;
    const { shapes, range, unit } = this.picture(this.shown(), width);
    const legend = heading && heading.legend.length > 0 ? heading.legend : this.lines;
    const plot: Plot = {
      width,
      height: this.options.height + (heading ? 60 + 18 * Math.ceil(legend.length / 4) : 0),
      x: { label: x.label, range: this.shown(), scale: x.scale ?? "linear", unit: this.units.x },
      y: { label: y.label, range, scale: y.scale ?? "linear", unit },
      shapes,
    };
    return draw(heading ? { ...plot, title: heading.title, legend } : plot, ink).svg;
  }

  data(): Rows {
    const { x, y } = this.#axes;
    const header = ["line", columnName(x.label, x.quantity), columnName(y.label, y.quantity)];
    const points = this.points();
    const rows = this.lines.flatMap(({ label }, at) => points[at]?.x.map((x, index) => [label, x, points[at]?.y[index] ?? null]) ?? []);
    return [header, ...rows];
  }

  digest(): Rows {
    const { min, max } = this.shown();
    const { x, y } = this.units;
    const edge = (at: number): number => min + ((max - min) * at) / SLICES;
    const told = (at: number): string => formatNumber(edge(at) * x.factor);
    const names = this.lines.map((line) => `${line.label}, lowest to highest (${y.symbol || "number"})`);
    const rows = Array.from({ length: SLICES }, (_, at) => {
      const cells = this.valuesBetween(edge(at), edge(at + 1)).map((values) => {
        const known = values.filter((value) => value !== null);
        const { min, max } = extent(known);
        return known.length === 0 ? "–" : `${formatNumber(min * y.factor)} to ${formatNumber(max * y.factor)}`;
      });
      return [`${told(at)} to ${told(at + 1)}`, ...cells];
    });
    return [[withUnitLabel(this.#axes.x.label, x), ...names], ...rows];
  }

  protected shown(): Range {
    return this.options.window.range ?? this.whole();
  }

  /** Options of uPlot for this chart; `points` are those at the cursor. */
  protected plotOptions(
    width: number,
    scales: uPlot.Scales,
    series: readonly uPlot.Series[],
    points: uPlot.Cursor.Points = { show: false },
  ): uPlot.Options {
    const { window, height } = this.options;
    const { x, y } = this.#axes;
    return {
      width,
      height,
      legend: { show: false },
      padding: [10, 12, 0, 0],
      scales,
      axes: [plotAxis("x", x, () => this.units.x, this.ink, height), plotAxis("y", y, () => this.units.y, this.ink, height)],
      series: [{}, ...series],
      // It points along the axis in all charts of one window. A drag chooses a part; a double click
      // gives it back.
      cursor: {
        drag: { x: true, y: false, setScale: false, dist: 4 },
        points,
        y: false,
        sync: { key: window.key, setSeries: false, filters: { pub: (type: string) => type === "mousemove" || type === "mouseleave" } },
        bind: { dblclick: () => () => (this.resetZoom(), null) },
      },
      hooks: {
        drawClear: [(plot) => this.drawBehind(plot)],
        setCursor: [(plot) => this.onCursor(plot)],
        setSelect: [(plot) => this.#chooseSelected(plot)],
      },
    };
  }

  /** Shows the part that was dragged over, in all charts of the window. */
  #chooseSelected(plot: uPlot): void {
    const { left, width } = plot.select;
    if (width < 4) return;
    const range = { min: plot.posToVal(left, "x"), max: plot.posToVal(left + width, "x") };
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.options.window.set(range);
  }

  /** A line as uPlot draws it. */
  protected seriesOf({ label, look }: PlotLine, width: number, steps = false): uPlot.Series {
    const stepped = steps ? uPlot.paths.stepped?.({ align: 1 }) : undefined;
    const plain = { label, stroke: this.ink.hues[look.hue], dash: [...look.dash], width, points: { show: false }, spanGaps: true };
    return stepped ? { ...plain, paths: stepped } : plain;
  }

  protected onCursor(plot: uPlot): void {
    const { left = -10, top = 0 } = plot.cursor;
    const isOurs = this.isHovered || document.activeElement === this.element;
    const at = plot.posToVal(left, "x");
    const values = left < 0 || !isOurs ? undefined : this.valuesAt(at);
    if (!values) {
      this.#tooltip.hide();
      return;
    }
    const rows = this.lines.map(({ look, label }, index) => ({ look, label, value: this.formatY(values[index] ?? null) }));
    this.#tooltip.show(left + plot.over.offsetLeft, Math.max(0, Math.min(top, 60)), this.headingAt(at, plot), rows);
  }

  /** Follows a key: arrow keys, Home and End move the cursor, 0 and Escape show everything. Says whether it was one of these. */
  protected onKey(plot: uPlot, event: KeyboardEvent): boolean {
    const width = plot.over.clientWidth;
    const now = cursorLeft(plot);
    const step = width / (event.shiftKey ? 10 : 100);
    const moves: Record<string, number> = { ArrowLeft: now - step, ArrowRight: now + step, Home: 0, End: width };
    const target = moves[event.key];
    if (target !== undefined) plot.setCursor({ left: Math.max(0, Math.min(width, target)), top: 20 });
    else if (event.key === "0" || event.key === "Escape") this.resetZoom();
    else return false;
    return true;
  }
}

/** The value at `index`, or the last one before it. */
export function valueBefore(values: ArrayLike<number | null | undefined> | undefined, index: number): number | null {
  for (let at = index; at >= 0; at -= 1) {
    const value = values?.[at];
    if (value !== null && value !== undefined) return value;
  }
  return null;
}
