// Lines that grow during a run, drawn by uPlot from a bounded history. They follow the
// newest moment, until a part is chosen.

import uPlot from "uplot";
import { type Quantity, unitFor, withUnit } from "../units.ts";
import { axisTitle, verticalRoom } from "./axis.ts";
import type { Points } from "./downsample.ts";
import type { History, View } from "./history.ts";
import { repaint, repaintAfter } from "./painter.ts";
import { type Picture, PlotChart, type PlotLine, type PlotOptions, valueBefore } from "./plot.ts";
import type { Shape } from "./svg.ts";
import { extent, type Range } from "./ticks.ts";

/** One line of a live chart, by its name in the history. */
export interface LiveLine extends PlotLine {
  readonly key: string;
  /** Drawn thin, for a reference line. */
  readonly isQuiet?: boolean;
}

/** Time of a change. */
export interface Moment {
  readonly t: number;
  readonly text: string;
}

/** Options of a live chart. */
export interface LiveOptions extends PlotOptions {
  readonly label: string;
  readonly quantity: Quantity;
  readonly history: History;
  readonly lines: () => readonly LiveLine[];
  /** The part to show while no part was chosen by dragging. */
  readonly follow: () => Range;
  readonly moments: () => readonly Moment[];
  readonly steps?: boolean;
  /** The axis reaches at least this high. */
  readonly least?: number;
  /** A common top for charts that are read side by side: told what this one needs, answers where
   *  its axis ends. */
  readonly top?: (needed: number) => number;
}

/** Pause before what is out of view is drawn, so that a run costs little more for it. */
const UNSEEN_MS = 500;

/** Points a picture or a file gets, whatever the screen shows. */
const POINTS = 2000;

export class LiveChart extends PlotChart<LiveOptions, LiveLine> {
  readonly #seen: IntersectionObserver;
  /** The lines that are drawn, and where their axis ends. */
  #drawn: readonly LiveLine[] = [];
  #top: number;
  #isSeen = false;

  constructor(options: LiveOptions) {
    const top = options.least ?? 0;
    super(options, { x: { label: "Time", quantity: "seconds" }, y: options }, { x: 0, y: top }, "0 follows the run");
    this.#top = top;
    this.#seen = new IntersectionObserver((entries) => {
      // Of several simultaneous changes the last one counts.
      this.#isSeen = entries[entries.length - 1]?.isIntersecting ?? true;
      if (this.#isSeen) repaint(this);
    });
    this.#seen.observe(this.host);
  }

  protected get lines(): readonly LiveLine[] {
    return this.options.lines();
  }

  protected whole(): Range {
    return this.options.follow();
  }

  /** Called when there is new data to draw. */
  update(): void {
    if (this.#isSeen) repaint(this);
    else repaintAfter(this, UNSEEN_MS);
  }

  paint(): void {
    const width = this.host.clientWidth;
    // Without any moment there is nothing to draw, nor an axis to draw it on.
    if (width === 0 || this.options.history.span === undefined) return;
    const lines = this.lines;
    if (!this.plot || !sameLines(lines, this.#drawn)) {
      this.plot?.destroy();
      this.#drawn = lines;
      this.plot = new uPlot(this.#uplotOptions(width), [[], ...lines.map(() => [])], this.host);
    }
    const plot = this.plot;
    const range = this.shown();
    const view = this.#view(range, Math.max(50, plot.bbox.width / devicePixelRatio));
    this.#fitTop(view);
    plot.batch(() => {
      plot.setData([view.x, ...view.y], false);
      plot.setScale("x", range);
      plot.setScale("y", { min: 0, max: this.#top });
    });
    if (this.isHovered) this.onCursor(plot);
  }

  override destroy(): void {
    super.destroy();
    this.#seen.disconnect();
  }

  protected picture(range: Range, width: number): Picture {
    const { steps, moments } = this.options;
    const view = this.#view(range, width);
    const { max } = extent(view.y.flatMap((values) => values.filter((value) => value !== null)));
    const top = max > 0 ? max * 1.06 : 1;
    const shapes: Shape[] = this.lines.map((line, at) => ({ type: "line", x: view.x, y: view.y[at] ?? [], look: line.look, steps: steps ?? false, width: line.isQuiet ? 1 : 1.5, opacity: line.isQuiet ? 0.6 : 1 }));
    for (const moment of moments()) shapes.push({ type: "segment", from: [moment.t, 0], to: [moment.t, top], look: { hue: "slate", dash: [], mark: "circle" }, width: 1, opacity: 0.5 });
    return { shapes, range: { min: 0, max: top }, unit: unitFor(this.options.quantity, top) };
  }

  protected points(): Points[] {
    const { x, y } = this.#view(this.shown(), POINTS);
    return y.map((values) => ({ x, y: values }));
  }

  protected valuesBetween(min: number, max: number): (number | null)[][] {
    return this.#view({ min, max }, 50).y;
  }

  #view(range: Range, pixels: number): View {
    return this.options.history.view(this.lines.map((line) => line.key), range.min, range.max, pixels);
  }

  #fitTop(view: View): void {
    let needed = this.options.least ?? 0;
    for (const values of view.y) for (const value of values) if (value !== null && value > needed) needed = value;
    this.#top = this.options.top?.(needed) ?? steadyTop(this.#top, needed);
    const unit = unitFor(this.options.quantity, this.#top);
    if (unit.symbol === this.units.y.symbol) return;
    this.units.y = unit;
    const axis = this.plot?.axes[1];
    if (axis) axis.label = axisTitle(this.options.label, unit, verticalRoom(this.options.height));
  }

  protected fit(): void {
    const width = this.host.clientWidth;
    if (width > 0) this.plot?.setSize({ width, height: this.options.height });
    repaint(this);
  }

  #uplotOptions(width: number): uPlot.Options {
    const { min, max } = this.shown();
    const scales = { x: { time: false, auto: false, min, max }, y: { auto: false, min: 0, max: this.#top || 1 } };
    return this.plotOptions(width, scales, this.#drawn.map((line) => ({ ...this.seriesOf(line, line.isQuiet ? 1 : 1.5, this.options.steps), alpha: line.isQuiet ? 0.7 : 1 })));
  }

  protected drawBehind(plot: uPlot): void {
    const moments = this.options.moments();
    if (moments.length === 0) return;
    const { left, top, width, height } = plot.bbox;
    plot.ctx.save();
    plot.ctx.strokeStyle = this.ink.line;
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

  valuesAt(): (number | null)[] | undefined {
    const { data, cursor } = this.plot ?? {};
    const index = cursor?.idx;
    return index === null || index === undefined ? undefined : this.#drawn.map((_line, which) => valueBefore(data?.[which + 1], index));
  }

  protected headingAt(x: number, plot: uPlot): string {
    const pixel = (this.shown().max - this.shown().min) / Math.max(1, plot.over.clientWidth);
    const near = this.options.moments().filter((moment) => Math.abs(moment.t - x) < 4 * pixel);
    return [withUnit(x, this.units.x, 4), ...near.map((moment) => moment.text)].join(" · ");
  }
}

function sameLines(a: readonly LiveLine[], b: readonly LiveLine[]): boolean {
  return a.length === b.length && a.every((line, at) => line.key === b[at]?.key && line.label === b[at]?.label && line.look.hue === b[at]?.look.hue);
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
