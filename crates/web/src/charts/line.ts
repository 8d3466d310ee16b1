// Line charts drawn by uPlot: fast with long series, zoomed by dragging, read by pointer or arrow
// keys.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { h } from "../dom.ts";
import { type Ink, inkOf, type Look } from "../palette.ts";
import { columnName, formatNumber, type Unit, unitFor, withUnit, withUnitLabel } from "../units.ts";
import { type LineAxis, plotAxis } from "./axis.ts";
import type { Chart, Heading } from "./chart.ts";
import { lowerBound, minMax } from "./downsample.ts";
import type { Rows } from "./export.ts";
import { chooseSelected, cursorLeft, cursorOf, isChord, spread, steer } from "./gestures.ts";
import { forget, repaint } from "./painter.ts";
import { draw, type Shape } from "./svg.ts";
import { calmWidth, movingMean, type Sums, sumsOf } from "./smooth.ts";
import { extent, type Range } from "./ticks.ts";
import { Tooltip } from "./tooltip.ts";
import type { SharedWindow } from "./window.ts";

/** One line; `x` rises. */
export interface LineData {
  readonly label: string;
  readonly look: Look;
  readonly x: readonly number[];
  readonly y: readonly (number | null)[];
  /** What to average for a calm line, where `y` holds extremes; `y` itself when it holds every
   *  sample. */
  readonly means?: readonly (number | null)[];
}

/** Options of a line chart. */
export interface LineOptions {
  /** Description for screen readers. */
  readonly name: string;
  readonly x: LineAxis;
  readonly y: LineAxis;
  readonly lines: readonly LineData[];
  /** Hold each value until the next one instead of joining them. */
  readonly steps: boolean;
  /** Put a calm line of moving means over each line while it has too many points to be read. */
  readonly calm?: boolean;
  /** Show the calm line alone where there is one: single samples tell nothing, such as how many whole packets fell into one. */
  readonly coarse?: boolean;
  readonly height: number;
  readonly window: SharedWindow;
  /** A shaded stretch, for instance the warm-up. */
  readonly band?: { readonly to: number; readonly text: string };
  /** Receives the values at the cursor instead of a tooltip (`null` when it leaves). */
  readonly onCursor?: (x: number | null) => void;
}

/** How much of a noisy line is left behind its calm one. */
const FAINT = 0.28;

export class LineChart implements Chart {
  readonly element: HTMLElement;
  readonly #options: LineOptions;
  readonly #host: HTMLElement;
  readonly #tooltip: Tooltip;
  readonly #observer: ResizeObserver;
  readonly #unwatch: () => void;
  readonly #units: { x: Unit; y: Unit };
  readonly #xRange: Range;
  #plot: uPlot | undefined;
  #ink: Ink;
  #hovered = false;
  /** Calm lines in the order of the lines, while they are needed, and how wide they average. */
  #calm: readonly (readonly (number | null)[])[] | undefined;
  #calmWidth = 0;
  readonly #sums: Sums[] = [];

  constructor(options: LineOptions) {
    this.#options = options;
    this.#ink = inkOf("page");
    this.#xRange = options.x.range ?? extent(options.lines.flatMap((line) => line.x));
    const yRange = options.y.range ?? extent(options.lines.flatMap((line) => line.y.filter((value) => value !== null)));
    this.#units = { x: unitFor(options.x.quantity, this.#xRange.max), y: unitFor(options.y.quantity, Math.max(Math.abs(yRange.min), yRange.max)) };
    this.#host = h("div", { class: "plot" });
    this.#host.style.height = `${options.height}px`;
    this.element = h("div", { class: "plot-frame", tabindex: 0, role: "group", "aria-roledescription": "chart", "aria-label": `${options.name}. Arrow keys read values, plus and minus zoom, 0 shows everything.` }, this.#host);
    this.#tooltip = new Tooltip(this.element);
    this.element.addEventListener("keydown", (event) => this.#onKey(event));
    this.element.addEventListener("pointerenter", () => (this.#hovered = true));
    // A lifted finger also fires `leave`, but the tapped value stays selected until the next tap.
    this.element.addEventListener("pointerleave", (event) => (this.#hovered &&= event.pointerType === "touch"));
    this.element.addEventListener("blur", () => {
      this.#hovered = false;
      this.#plot?.setCursor({ left: -10, top: -10 });
    });
    this.#unwatch = options.window.watch(() => repaint(this));
    this.#observer = new ResizeObserver(() => this.#fit());
    this.#observer.observe(this.#host);
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
    this.#fit();
  }

  destroy(): void {
    forget(this);
    this.#unwatch();
    this.#observer.disconnect();
    this.#plot?.destroy();
  }

  /** What each line shows at `x`, in the order of the lines: its calm line, where there is one. */
  valuesAt(x: number): (number | null)[] {
    return this.#options.lines.map((line, at) => valueAt({ ...line, y: this.#calm?.[at] ?? line.y }, x, this.#options.steps));
  }

  /** A value of the vertical axis, with its unit. */
  formatY(value: number | null): string {
    return value === null ? "–" : withUnit(value, this.#units.y);
  }

  svg(ink: Ink, width: number, heading: Heading | undefined): string {
    const { x, y, lines, steps, band, height } = this.#options;
    const shown = this.#shown();
    this.#calmDown();
    const thinned = lines.map((line) => ({ ...line, ...minMax(line, shown.min, shown.max, width) }));
    const isCalm = this.#calm !== undefined;
    const shapes: Shape[] = thinned.map((line) => ({ type: "line", x: line.x, y: line.y, look: line.look, steps, width: isCalm ? 1 : 1.5, opacity: isCalm ? this.#faint : 1 }));
    for (const [at, calm] of (this.#calm ?? []).entries()) {
      const line = lines[at];
      if (line) shapes.push({ type: "line", ...minMax({ x: line.x, y: calm }, shown.min, shown.max, width), look: line.look, steps: false, width: 2, opacity: 1 });
    }
    if (band) shapes.push({ type: "band", from: 0, to: band.to, text: band.text });
    const top = y.range ?? this.#yRange(extent(thinned.flatMap((line) => line.y.filter((value) => value !== null))));
    const plot = {
      width,
      height: height + (heading ? 60 + 18 * Math.ceil(heading.legend.length / 4) : 0),
      x: { label: x.label, range: shown, scale: x.scale ?? ("linear" as const), unit: this.#units.x },
      y: { label: y.label, range: top, scale: y.scale ?? ("linear" as const), unit: this.#units.y },
      shapes,
    };
    return draw(heading ? { ...plot, ...heading } : plot, ink).svg;
  }

  data(): Rows {
    const { x, y, lines } = this.#options;
    const header = ["line", columnName(x.label, x.quantity), columnName(y.label, y.quantity)];
    return [header, ...lines.flatMap((line) => line.x.map((at, index) => [line.label, at, line.y[index] ?? null]))];
  }

  digest(): Rows {
    const slices = 8;
    const { min, max } = this.#shown();
    const edges = Array.from({ length: slices + 1 }, (_, at) => min + ((max - min) * at) / slices);
    const header = [withUnitLabel(this.#options.x.label, this.#units.x), ...this.#options.lines.map((line) => `${line.label}, lowest to highest (${this.#units.y.symbol || "number"})`)];
    const rows = edges.slice(0, -1).map((from, at) => {
      const to = edges[at + 1] ?? max;
      const cells = this.#options.lines.map((line) => spread(line.y.slice(lowerBound(line.x, from), lowerBound(line.x, to)), this.#units.y));
      return [`${formatNumber(from * this.#units.x.factor)} to ${formatNumber(to * this.#units.x.factor)}`, ...cells];
    });
    return [header, ...rows];
  }

  #shown(): Range {
    return this.#options.window.range ?? this.#xRange;
  }

  /** From zero to a little above the highest value, unless something is below zero. */
  #yRange({ min, max }: Range): Range {
    const top = max > 0 ? max * 1.06 : max === 0 && min === 0 ? 1 : 0;
    return { min: min < 0 ? min * 1.06 : 0, max: top > Math.min(0, min) ? top : 1 };
  }

  /** Shows the part that is looked at now. Many charts may follow one choice, so each has its
   *  turn. */
  paint(): void {
    const { min, max } = this.#shown();
    const plot = this.#plot;
    if (!plot) return;
    const wasCalm = this.#calm !== undefined;
    this.#calmDown();
    if (wasCalm !== (this.#calm !== undefined)) {
      // A different number of lines needs a new plot.
      this.redraw();
      return;
    }
    if (wasCalm) plot.setData(this.#aligned(), false);
    plot.setScale("x", { min, max });
  }

  /** Computes the smoothed lines for the visible range. */
  #calmDown(): void {
    const { calm, lines } = this.#options;
    const { min, max } = this.#shown();
    this.#calmWidth = calm ? Math.max(0, ...lines.map((line) => calmWidth(line.x, min, max))) : 0;
    this.#calm = this.#calmWidth > 0 ? lines.map((line, at) => movingMean(line.x, (this.#sums[at] ??= sumsOf(line.means ?? line.y)), this.#calmWidth, min, max)) : undefined;
  }

  #fit(): void {
    const width = this.#host.clientWidth;
    if (width === 0) return;
    if (this.#plot) {
      this.#plot.setSize({ width, height: this.#options.height });
      return;
    }
    this.#calmDown();
    this.#plot = new uPlot(this.#uplotOptions(width), this.#aligned(), this.#host);
  }

  /** The lines over one common list of x, which is how uPlot takes them. */
  #aligned(): uPlot.AlignedData {
    const { lines } = this.#options;
    const calm = (this.#calm ?? []).map((y, at) => ({ x: lines[at]?.x ?? [], y }));
    const all = [...lines, ...calm];
    const [first] = all;
    if (!first) return [[this.#xRange.min, this.#xRange.max]];
    if (this.#isShared()) return [first.x as number[], ...all.map((line) => line.y as (number | null)[])];
    return uPlot.join(all.map((line) => [line.x as number[], line.y as (number | null)[]]));
  }

  /** How much of the samples is left behind a calm line. */
  get #faint(): number {
    return this.#options.coarse === true ? 0 : FAINT;
  }

  /** Do all lines have the same x? */
  #isShared(): boolean {
    const [first, ...others] = this.#options.lines;
    return others.every((line) => line.x === first?.x);
  }

  #uplotOptions(width: number): uPlot.Options {
    const { x, y, lines, steps, window, height } = this.#options;
    const ink = this.#ink;
    const isCalm = this.#calm !== undefined;
    const drawn = (line: LineData): uPlot.Series => ({ label: line.label, stroke: ink.hues[line.look.hue], dash: isCalm ? [] : [...line.look.dash], points: { show: false }, spanGaps: true });
    const stepped = uPlot.paths.stepped?.({ align: 1 });
    return {
      width,
      height,
      legend: { show: false },
      padding: [10, 12, 0, 0],
      scales: {
        x: { time: false, distr: x.scale === "log" ? 3 : 1, range: (_plot, min, max) => [min, max], min: this.#shown().min, max: this.#shown().max },
        y: { range: (_plot, min, max) => (y.range ? [y.range.min, y.range.max] : rangeTuple(this.#yRange({ min: min ?? 0, max: max ?? 0 }))) },
      },
      axes: [plotAxis("x", x, () => this.#units.x, ink, height), plotAxis("y", y, () => this.#units.y, ink, height)],
      series: [
        {},
        ...lines.map((line): uPlot.Series => ({
          ...drawn(line),
          width: isCalm ? 1 : 1.5,
          alpha: isCalm ? this.#faint : 1,
          ...(steps && stepped ? { paths: stepped } : {}),
        })),
        ...(isCalm ? lines.map((line): uPlot.Series => ({ ...drawn(line), width: 2, dash: [...line.look.dash] })) : []),
      ],
      // Lines with times of their own have no point at most places of the cursor.
      cursor: cursorOf(window, () => this.resetZoom(), this.#isShared() && !isCalm ? { size: 7 } : { show: false }),
      hooks: {
        drawClear: [(plot) => this.#drawBand(plot)],
        setCursor: [(plot) => this.#onCursor(plot)],
        setSelect: [(plot) => chooseSelected(plot, window)],
      },
    };
  }

  #drawBand(plot: uPlot): void {
    const { band } = this.#options;
    if (!band) return;
    const { left, top, width, height } = plot.bbox;
    const right = Math.min(left + width, plot.valToPos(band.to, "x", true));
    const start = Math.max(left, plot.valToPos(0, "x", true));
    if (right <= start) return;
    const scale = plot.width > 0 ? plot.ctx.canvas.width / plot.width : 1;
    plot.ctx.save();
    plot.ctx.fillStyle = this.#ink.shade;
    plot.ctx.fillRect(start, top, right - start, height);
    if (right - start > 60 * scale) {
      plot.ctx.fillStyle = this.#ink.muted;
      plot.ctx.font = `${11 * scale}px Inter, ui-sans-serif, system-ui, sans-serif`;
      plot.ctx.fillText(band.text, start + 6 * scale, top + 14 * scale);
    }
    plot.ctx.restore();
  }

  #onCursor(plot: uPlot): void {
    const { left = -10 } = plot.cursor;
    const at = left < 0 ? null : plot.posToVal(left, "x");
    if (this.#options.onCursor) {
      this.#options.onCursor(at);
      return;
    }
    const isOurs = this.#hovered || document.activeElement === this.element;
    if (at === null || !isOurs) {
      this.#tooltip.hide();
      return;
    }
    const values = this.valuesAt(at);
    const rows = this.#options.lines.map((line, index) => ({ look: line.look, label: line.label, value: this.formatY(values[index] ?? null) }));
    const offset = plot.over.offsetLeft;
    const place = withUnit(at, this.#units.x, 4);
    const heading = this.#calmWidth > 0 ? `${place}, mean over ${withUnit(this.#calmWidth, this.#units.x, 2)}` : place;
    this.#tooltip.show(left + offset, Math.max(0, Math.min(plot.cursor.top ?? 0, 60)), heading, rows);
  }

  #onKey(event: KeyboardEvent): void {
    const plot = this.#plot;
    if (!plot || isChord(event)) return;
    if (event.key === "+" || event.key === "-") this.#zoom(plot.posToVal(cursorLeft(plot), "x"), event.key === "+" ? 0.5 : 2);
    else if (!steer(plot, event, () => this.resetZoom())) return;
    event.preventDefault();
  }

  /** Shows `factor` times as much around `centre`. */
  #zoom(centre: number, factor: number): void {
    const { min, max } = this.#shown();
    const isLog = this.#options.x.scale === "log";
    const into = isLog ? Math.log10 : (value: number) => value;
    const back = isLog ? (value: number) => 10 ** value : (value: number) => value;
    const low = Math.max(into(this.#xRange.min), into(centre) - (into(centre) - into(min)) * factor);
    const high = Math.min(into(this.#xRange.max), into(centre) + (into(max) - into(centre)) * factor);
    const isAll = low <= into(this.#xRange.min) && high >= into(this.#xRange.max);
    this.#options.window.set(isAll ? null : { min: back(low), max: back(high) });
  }
}

/** The value at `x`: the last one before it for steps, else the nearest. */
function valueAt(line: LineData, x: number, steps: boolean): number | null {
  const after = lowerBound(line.x, x);
  const isExact = line.x[after] === x;
  let at = isExact ? after : after - 1;
  if (!steps && !isExact && after < line.x.length && (at < 0 || (line.x[after] ?? 0) - x < x - (line.x[at] ?? 0))) at = after;
  // A gap: the nearest value before it, which is what the line seems to show.
  while (at > 0 && (line.y[at] ?? null) === null) at -= 1;
  return line.y[at] ?? null;
}

function rangeTuple({ min, max }: Range): [number, number] {
  return [min, max];
}
