// Lines that grow during a run, drawn by uPlot from a bounded history. They follow the
// newest moment, until a part is chosen.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { h } from "../dom.ts";
import { type Ink, inkOf, type Look } from "../palette.ts";
import { columnName, formatNumber, type Quantity, type Unit, unitFor, withUnit } from "../units.ts";
import { axisTitle, plotAxis, verticalRoom } from "./axis.ts";
import type { Chart, Heading } from "./chart.ts";
import type { Rows } from "./export.ts";
import { chooseSelected, cursorOf, isChord, spread, steer } from "./gestures.ts";
import type { History, View } from "./history.ts";
import { forget, repaint, repaintWhenIdle } from "./painter.ts";
import { draw, type Shape } from "./svg.ts";
import { extent, type Range } from "./ticks.ts";
import { Tooltip } from "./tooltip.ts";
import type { SharedWindow } from "./window.ts";

/** One line of a live chart, by its name in the history. */
export interface LiveLine {
  readonly key: string;
  readonly label: string;
  readonly look: Look;
  /** Drawn thin, for a reference line. */
  readonly isQuiet?: boolean;
}

/** Time of a change. */
export interface Moment {
  readonly t: number;
  readonly text: string;
}

/** Options of a live chart. */
export interface LiveOptions {
  readonly name: string;
  readonly label: string;
  readonly quantity: Quantity;
  readonly height: number;
  readonly history: History;
  readonly lines: () => readonly LiveLine[];
  /** The part to show while no part was chosen by dragging. */
  readonly follow: () => Range;
  readonly window: SharedWindow;
  readonly moments: () => readonly Moment[];
  readonly steps?: boolean;
  /** The axis reaches at least this high. */
  readonly least?: number;
  /** A common top for charts that are read side by side: told what this one needs, answers where
   *  its axis ends. */
  readonly top?: (needed: number) => number;
}

/** Points a picture or a file gets, whatever the screen shows. */
const POINTS = 2000;
const TIME: Unit = { symbol: "s", factor: 1 };

export class LiveChart implements Chart {
  readonly element: HTMLElement;
  readonly #options: LiveOptions;
  readonly #host: HTMLElement;
  readonly #tooltip: Tooltip;
  readonly #resized: ResizeObserver;
  readonly #seen: IntersectionObserver;
  readonly #unwatch: () => void;
  #plot: uPlot | undefined;
  #ink: Ink;
  #lines: readonly LiveLine[] = [];
  #unit: Unit;
  #top: number;
  #isSeen = false;
  #isHovered = false;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#ink = inkOf("page");
    this.#top = options.least ?? 0;
    this.#unit = unitFor(options.quantity, this.#top);
    this.#host = h("div", { class: "plot" });
    this.#host.style.height = `${options.height}px`;
    this.element = h("div", { class: "plot-frame", tabindex: 0, role: "group", "aria-roledescription": "chart", "aria-label": `${options.name}. Arrow keys read values, 0 follows the run.` }, this.#host);
    this.#tooltip = new Tooltip(this.element);
    this.element.addEventListener("keydown", (event) => this.#onKey(event));
    this.element.addEventListener("pointerenter", () => (this.#isHovered = true));
    this.element.addEventListener("pointerleave", (event) => (this.#isHovered &&= event.pointerType === "touch"));
    this.element.addEventListener("blur", () => {
      this.#isHovered = false;
      this.#plot?.setCursor({ left: -10, top: -10 });
    });
    this.#unwatch = options.window.watch(() => repaint(this));
    this.#resized = new ResizeObserver(() => this.#resize());
    this.#resized.observe(this.#host);
    this.#seen = new IntersectionObserver((entries) => {
      // Of several simultaneous changes the last one counts.
      this.#isSeen = entries[entries.length - 1]?.isIntersecting ?? true;
      if (this.#isSeen) repaint(this);
    });
    this.#seen.observe(this.#host);
  }

  /** Called when there is new data to draw. */
  update(): void {
    if (this.#isSeen) repaint(this);
    else repaintWhenIdle(this);
  }

  paint(): void {
    const width = this.#host.clientWidth;
    // Without any moment there is nothing to draw, nor an axis to draw it on.
    if (width === 0 || this.#options.history.span === undefined) return;
    const lines = this.#options.lines();
    if (!this.#plot || !sameLines(lines, this.#lines)) {
      this.#plot?.destroy();
      this.#lines = lines;
      this.#plot = new uPlot(this.#uplotOptions(width), [[], ...lines.map(() => [])], this.#host);
    }
    const plot = this.#plot;
    const range = this.#shown();
    const view = this.#view(range, Math.max(50, plot.bbox.width / devicePixelRatio));
    this.#fitTop(view);
    plot.batch(() => {
      plot.setData([view.x, ...view.y], false);
      plot.setScale("x", range);
      plot.setScale("y", { min: 0, max: this.#top });
    });
    if (this.#isHovered) this.#tell(plot);
  }

  zoomed(): boolean {
    return this.#options.window.range !== null;
  }

  resetZoom(): void {
    this.#options.window.set(null);
  }

  redraw(): void {
    this.#ink = inkOf("page");
    this.#plot?.destroy();
    this.#plot = undefined;
    repaint(this);
  }

  destroy(): void {
    forget(this);
    this.#unwatch();
    this.#resized.disconnect();
    this.#seen.disconnect();
    this.#plot?.destroy();
  }

  svg(ink: Ink, width: number, heading: Heading | undefined): string {
    const { label, height, steps, moments } = this.#options;
    const range = this.#shown();
    const lines = this.#options.lines();
    const view = this.#view(range, width, lines);
    const { max } = extent(view.y.flatMap((values) => values.filter((value) => value !== null)));
    const top = max > 0 ? max * 1.06 : 1;
    const shapes: Shape[] = lines.map((line, at) => ({ type: "line", x: view.x, y: view.y[at] ?? [], look: line.look, steps: steps ?? false, width: line.isQuiet ? 1 : 1.5, opacity: line.isQuiet ? 0.6 : 1 }));
    for (const moment of moments()) shapes.push({ type: "segment", from: [moment.t, 0], to: [moment.t, top], look: { hue: "slate", dash: [], mark: "circle" }, width: 1, opacity: 0.5 });
    const legend = heading && heading.legend.length > 0 ? heading.legend : lines.map((line) => ({ label: line.label, look: line.look }));
    const plot = {
      width,
      height: height + (heading ? 60 + 18 * Math.ceil(legend.length / 4) : 0),
      x: { label: "Time", range, scale: "linear" as const, unit: TIME },
      y: { label, range: { min: 0, max: top }, scale: "linear" as const, unit: unitFor(this.#options.quantity, top) },
      shapes,
    };
    return draw(heading ? { ...plot, title: heading.title, legend } : plot, ink).svg;
  }

  data(): Rows {
    const { label, quantity } = this.#options;
    const lines = this.#options.lines();
    const view = this.#view(this.#shown(), POINTS, lines);
    const header = ["line", columnName("Time", "seconds"), columnName(label, quantity)];
    return [header, ...lines.flatMap((line, at) => view.x.map((x, index) => [line.label, x, view.y[at]?.[index] ?? null]))];
  }

  digest(): Rows {
    const slices = 8;
    const { min, max } = this.#shown();
    const lines = this.#options.lines();
    const edge = (at: number): number => min + ((max - min) * at) / slices;
    const header = ["Time (s)", ...lines.map((line) => `${line.label}, lowest to highest (${this.#unit.symbol || "number"})`)];
    const rows = Array.from({ length: slices }, (_, at) => {
      const view = this.#view({ min: edge(at), max: edge(at + 1) }, 50, lines);
      const cells = lines.map((_line, which) => spread(view.y[which] ?? [], this.#unit));
      return [`${formatNumber(edge(at))} to ${formatNumber(edge(at + 1))}`, ...cells];
    });
    return [header, ...rows];
  }

  #view(range: Range, pixels: number, lines: readonly LiveLine[] = this.#lines): View {
    return this.#options.history.view(lines.map((line) => line.key), range.min, range.max, pixels);
  }

  #shown(): Range {
    return this.#options.window.range ?? this.#options.follow();
  }

  #fitTop(view: View): void {
    let needed = this.#options.least ?? 0;
    for (const values of view.y) for (const value of values) if (value !== null && value > needed) needed = value;
    this.#top = this.#options.top?.(needed) ?? steadyTop(this.#top, needed);
    const unit = unitFor(this.#options.quantity, this.#top);
    if (unit.symbol === this.#unit.symbol) return;
    this.#unit = unit;
    const axis = this.#plot?.axes[1];
    if (axis) axis.label = axisTitle(this.#options.label, unit, verticalRoom(this.#options.height));
  }

  #resize(): void {
    const width = this.#host.clientWidth;
    if (width > 0) this.#plot?.setSize({ width, height: this.#options.height });
    repaint(this);
  }

  #uplotOptions(width: number): uPlot.Options {
    const { label, quantity, height, steps, window } = this.#options;
    const ink = this.#ink;
    const stepped = steps ? uPlot.paths.stepped?.({ align: 1 }) : undefined;
    const range = this.#shown();
    return {
      width,
      height,
      legend: { show: false },
      padding: [10, 12, 0, 0],
      scales: { x: { time: false, auto: false, min: range.min, max: range.max }, y: { auto: false, min: 0, max: this.#top || 1 } },
      axes: [plotAxis("x", { label: "Time", quantity: "seconds" }, () => TIME, ink, height), plotAxis("y", { label, quantity }, () => this.#unit, ink, height)],
      series: [
        {},
        ...this.#lines.map((line): uPlot.Series => ({
          label: line.label,
          stroke: ink.hues[line.look.hue],
          dash: [...line.look.dash],
          width: line.isQuiet ? 1 : 1.5,
          alpha: line.isQuiet ? 0.7 : 1,
          points: { show: false },
          spanGaps: true,
          ...(stepped ? { paths: stepped } : {}),
        })),
      ],
      cursor: cursorOf(window, () => this.resetZoom()),
      hooks: {
        drawClear: [(plot) => this.#drawMoments(plot)],
        setCursor: [(plot) => this.#tell(plot)],
        setSelect: [(plot) => chooseSelected(plot, window)],
      },
    };
  }

  #drawMoments(plot: uPlot): void {
    const moments = this.#options.moments();
    if (moments.length === 0) return;
    const { left, top, width, height } = plot.bbox;
    plot.ctx.save();
    plot.ctx.strokeStyle = this.#ink.line;
    plot.ctx.lineWidth = devicePixelRatio;
    plot.ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
    for (const { t } of moments) {
      const x = plot.valToPos(t, "x", true);
      if (x < left || x > left + width) continue;
      plot.ctx.beginPath();
      plot.ctx.moveTo(x, top);
      plot.ctx.lineTo(x, top + height);
      plot.ctx.stroke();
    }
    plot.ctx.restore();
  }

  #tell(plot: uPlot): void {
    const { left = -10, idx } = plot.cursor;
    if (left < 0 || idx === null || idx === undefined || !(this.#isHovered || document.activeElement === this.element)) {
      this.#tooltip.hide();
      return;
    }
    const at = plot.posToVal(left, "x");
    const pixel = (this.#shown().max - this.#shown().min) / Math.max(1, plot.over.clientWidth);
    const near = this.#options.moments().filter((moment) => Math.abs(moment.t - at) < 4 * pixel);
    const rows = this.#lines.map((line, which) => ({ look: line.look, label: line.label, value: this.#format(valueBefore(plot.data[which + 1], idx)) }));
    this.#tooltip.show(left + plot.over.offsetLeft, Math.max(0, Math.min(plot.cursor.top ?? 0, 60)), [withUnit(at, TIME, 4), ...near.map((moment) => moment.text)].join(" · "), rows);
  }

  #format(value: number | null): string {
    return value === null ? "–" : withUnit(value, this.#unit);
  }

  #onKey(event: KeyboardEvent): void {
    const plot = this.#plot;
    if (plot && !isChord(event) && steer(plot, event, () => this.resetZoom())) event.preventDefault();
  }
}

function sameLines(a: readonly LiveLine[], b: readonly LiveLine[]): boolean {
  return a.length === b.length && a.every((line, at) => line.key === b[at]?.key && line.label === b[at]?.label && line.look === b[at]?.look);
}

/** The value at `index`, or the last one before it. */
function valueBefore(values: uPlot.TypedArray | readonly (number | null | undefined)[] | undefined, index: number): number | null {
  for (let at = index; at >= 0; at -= 1) {
    const value = values?.[at];
    if (value !== null && value !== undefined) return value;
  }
  return null;
}

/** Where an axis ends that ended at `before` and has to reach `needed`: it grows at once and shrinks only when most of it is empty, so that it
 *  does not tremble. */
export function steadyTop(before: number, needed: number): number {
  if (before > 0 && needed <= before && needed >= before * 0.45) return before;
  return needed > 0 ? roundUp(needed * 1.05) : 1;
}

/** The next number of the form 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8 times a power of ten. */
export function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((factor) => factor * power >= value * (1 - 1e-9)) ?? 10;
  return step * power;
}
