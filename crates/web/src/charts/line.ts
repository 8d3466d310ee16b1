// Line charts of whole series, with a calm line over what is too noisy to be read.

import uPlot from "uplot";
import { withUnit } from "../units.ts";
import type { LineAxis } from "./axis.ts";
import { lowerBound, minMax, type Points } from "./downsample.ts";
import { cursorLeft } from "./gestures.ts";
import { type Picture, PlotChart, type PlotLine, type PlotOptions, valueBefore } from "./plot.ts";
import type { Shape } from "./svg.ts";
import { calmWidth, movingMean, type Sums, sumsOf } from "./smooth.ts";
import { extent, type Range } from "./ticks.ts";

/** One line; `x` rises. */
export interface LineData extends PlotLine, Points {
  /** What to average for a calm line, where `y` holds extremes; `y` itself when it holds every
   *  sample. */
  readonly means?: readonly (number | null)[];
}

/** Options of a line chart. */
export interface LineOptions extends PlotOptions {
  readonly x: LineAxis;
  readonly y: LineAxis;
  readonly lines: readonly LineData[];
  /** Hold each value until the next one instead of joining them. */
  readonly steps: boolean;
  /** Put a calm line of moving means over each line while it has too many points to be read. */
  readonly calm?: boolean;
  /** Show the calm line alone where there is one: single samples tell nothing, such as how many whole packets fell into one. */
  readonly coarse?: boolean;
  /** A shaded stretch, for instance the warm-up. */
  readonly band?: { readonly to: number; readonly text: string };
  /** Receives the values at the cursor instead of a tooltip (`null` when it leaves). */
  readonly onCursor?: (x: number | null) => void;
}

/** How much of a noisy line is left behind its calm one. */
const FAINT = 0.28;

export class LineChart extends PlotChart<LineOptions, LineData> {
  readonly #xRange: Range;
  /** Calm lines in the order of the lines, while they are needed, and how wide they average. */
  #calm: readonly (readonly (number | null)[])[] | undefined;
  #calmWidth = 0;
  readonly #sums: Sums[] = [];

  constructor(options: LineOptions) {
    const xRange = options.x.range ?? extent(options.lines.flatMap((line) => line.x));
    const yRange = options.y.range ?? extent(options.lines.flatMap((line) => line.y.filter((value) => value !== null)));
    super(options, options, { x: xRange.max, y: Math.max(Math.abs(yRange.min), yRange.max) }, "plus and minus zoom, 0 shows everything");
    this.#xRange = xRange;
  }

  protected get lines(): readonly LineData[] {
    return this.options.lines;
  }

  protected whole(): Range {
    return this.#xRange;
  }

  /** The values of the calm lines, where there are some. */
  valuesAt(x: number): (number | null)[] {
    return this.lines.map((line, at) => valueAt({ ...line, y: this.#calm?.[at] ?? line.y }, x, this.options.steps));
  }

  protected picture(range: Range, width: number): Picture {
    const { y, steps, band } = this.options;
    this.#calmDown();
    const thinned = this.lines.map((line) => ({ ...line, ...minMax(line, range.min, range.max, width) }));
    const isCalm = this.#calm !== undefined;
    const shapes: Shape[] = thinned.map((line) => ({ type: "line", x: line.x, y: line.y, look: line.look, steps, width: isCalm ? 1 : 1.5, opacity: isCalm ? this.#faint : 1 }));
    for (const [at, calm] of (this.#calm ?? []).entries()) {
      const line = this.lines[at];
      if (line) shapes.push({ type: "line", ...minMax({ x: line.x, y: calm }, range.min, range.max, width), look: line.look, steps: false, width: 2, opacity: 1 });
    }
    if (band) shapes.push({ type: "band", from: 0, to: band.to, text: band.text });
    return { shapes, range: y.range ?? this.#yRange(extent(thinned.flatMap((line) => line.y.filter((value) => value !== null)))), unit: this.units.y };
  }

  protected points(): readonly Points[] {
    return this.lines;
  }

  protected valuesBetween(from: number, to: number): (number | null)[][] {
    return this.lines.map(({ x, y }) => y.slice(lowerBound(x, from), lowerBound(x, to)));
  }

  /** From zero to a little above the highest value, unless something is below zero. */
  #yRange({ min, max }: Range): Range {
    const top = max > 0 ? max * 1.06 : max === 0 && min === 0 ? 1 : 0;
    return { min: min < 0 ? min * 1.06 : 0, max: top > Math.min(0, min) ? top : 1 };
  }

  /** Shows the part that is looked at now. Many charts may follow one choice, so each has its
   *  turn. */
  paint(): void {
    const { min, max } = this.shown();
    const plot = this.plot;
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
    const { calm, lines } = this.options;
    const { min, max } = this.shown();
    this.#calmWidth = calm ? Math.max(0, ...lines.map((line) => calmWidth(line.x, min, max))) : 0;
    this.#calm = this.#calmWidth > 0 ? lines.map((line, at) => movingMean(line.x, (this.#sums[at] ??= sumsOf(line.means ?? line.y)), this.#calmWidth, min, max)) : undefined;
  }

  protected fit(): void {
    const width = this.host.clientWidth;
    if (width === 0) return;
    if (this.plot) {
      this.plot.setSize({ width, height: this.options.height });
      return;
    }
    this.#calmDown();
    this.plot = new uPlot(this.#uplotOptions(width), this.#aligned(), this.host);
  }

  /** The lines over one common list of x, which is how uPlot takes them. */
  #aligned(): uPlot.AlignedData {
    const { lines } = this.options;
    const calm = (this.#calm ?? []).map((y, at) => ({ x: lines[at]?.x ?? [], y }));
    const all = [...lines, ...calm];
    const [first] = all;
    if (!first) return [[this.#xRange.min, this.#xRange.max]];
    if (this.#isShared()) return [first.x as number[], ...all.map((line) => line.y as (number | null)[])];
    return uPlot.join(all.map((line) => [line.x as number[], line.y as (number | null)[]]));
  }

  /** How much of the samples is left behind a calm line. */
  get #faint(): number {
    return this.options.coarse === true ? 0 : FAINT;
  }

  /** Do all lines have the same x? */
  #isShared(): boolean {
    const [first, ...others] = this.options.lines;
    return others.every((line) => line.x === first?.x);
  }

  #uplotOptions(width: number): uPlot.Options {
    const { x, y, lines, steps } = this.options;
    const isCalm = this.#calm !== undefined;
    const tuple = ({ min, max }: Range): [number, number] => [min, max];
    const scales: uPlot.Scales = {
      x: { time: false, distr: x.scale === "log" ? 3 : 1, range: (_plot, min, max) => [min, max], min: this.shown().min, max: this.shown().max },
      y: { range: (_plot, min, max) => tuple(y.range ?? this.#yRange({ min: min ?? 0, max: max ?? 0 })) },
    };
    const samples = lines.map((line): uPlot.Series => (isCalm ? { ...this.seriesOf(line, 1, steps), dash: [], alpha: this.#faint } : this.seriesOf(line, 1.5, steps)));
    const series = [...samples, ...(isCalm ? lines.map((line) => this.seriesOf(line, 2)) : [])];
    // Lines with times of their own have no point at most places of the cursor.
    return this.plotOptions(width, scales, series, this.#isShared() && !isCalm ? { size: 7 } : { show: false });
  }

  protected drawBehind(plot: uPlot): void {
    const { band } = this.options;
    if (!band) return;
    const { left, top, width, height } = plot.bbox;
    const right = Math.min(left + width, plot.valToPos(band.to, "x", true));
    const start = Math.max(left, plot.valToPos(0, "x", true));
    if (right <= start) return;
    const scale = plot.width > 0 ? plot.ctx.canvas.width / plot.width : 1;
    plot.ctx.save();
    plot.ctx.fillStyle = this.ink.shade;
    plot.ctx.fillRect(start, top, right - start, height);
    if (right - start > 60 * scale) {
      plot.ctx.fillStyle = this.ink.muted;
      plot.ctx.font = `${11 * scale}px Inter, ui-sans-serif, system-ui, sans-serif`;
      plot.ctx.fillText(band.text, start + 6 * scale, top + 14 * scale);
    }
    plot.ctx.restore();
  }

  protected headingAt(x: number): string {
    const place = withUnit(x, this.units.x, 4);
    return this.#calmWidth > 0 ? `${place}, mean over ${withUnit(this.#calmWidth, this.units.x, 2)}` : place;
  }

  protected override onCursor(plot: uPlot): void {
    const { left = -10 } = plot.cursor;
    if (this.options.onCursor) this.options.onCursor(left < 0 ? null : plot.posToVal(left, "x"));
    else super.onCursor(plot);
  }

  protected override onKey(plot: uPlot, event: KeyboardEvent): boolean {
    if (event.key !== "+" && event.key !== "-") return super.onKey(plot, event);
    this.#zoom(plot.posToVal(cursorLeft(plot), "x"), event.key === "+" ? 0.5 : 2);
    return true;
  }

  /** Shows `factor` times as much around `centre`. */
  #zoom(centre: number, factor: number): void {
    const { min, max } = this.shown();
    const isLog = this.options.x.scale === "log";
    const into = isLog ? Math.log10 : (value: number) => value;
    const back = isLog ? (value: number) => 10 ** value : (value: number) => value;
    const low = Math.max(into(this.#xRange.min), into(centre) - (into(centre) - into(min)) * factor);
    const high = Math.min(into(this.#xRange.max), into(centre) + (into(max) - into(centre)) * factor);
    const isAll = low <= into(this.#xRange.min) && high >= into(this.#xRange.max);
    this.options.window.set(isAll ? null : { min: back(low), max: back(high) });
  }
}

/** The value at `x`: the last one before it for steps, else the nearest. */
function valueAt(line: LineData, x: number, steps: boolean): number | null {
  const after = lowerBound(line.x, x);
  const isExact = line.x[after] === x;
  let at = isExact ? after : after - 1;
  if (!steps && !isExact && after < line.x.length && (at < 0 || (line.x[after] ?? 0) - x < x - (line.x[at] ?? 0))) at = after;
  // In a gap, the line seems to show the nearest value before it.
  return valueBefore(line.y, at);
}
