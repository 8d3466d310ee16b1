// Delays as bars, for queues whose utilizations do not tell them apart.

import { type Box, MarksChart, type Target } from "../charts/marks.ts";
import type { Plot, Shape } from "../charts/svg.ts";
import { extent } from "../charts/ticks.ts";
import { formatDecimals, formatNumber, unitFor, withUnit } from "../units.ts";
import type { Figure, Point } from "./data.ts";
import { rangeOf, withInterval } from "./intervals.ts";
import { namesAxis } from "./names.ts";
import type { Delay } from "./tradeoff.ts";

/** Utilizations that differ by less than this are level. */
const LEVEL = 0.005;

/** The utilization that all points have, in words; nothing where they differ, or where there is only one. */
export function levelUtilization(points: readonly Point[], link: string): string | undefined {
  const values = points.flatMap((point) => point.figure("links", link, "utilization")?.mean ?? []);
  const { min, max } = extent(values);
  if (values.length < 2 || max - min >= LEVEL) return undefined;
  const [least, most] = [formatDecimals(min * 100, 1), formatDecimals(max * 100, 1)];
  return least === most ? `${least}\u00a0%` : `${least} to ${most}\u00a0%`;
}

/** One bar for each point, with its interval. */
export function delayChart(points: readonly Point[], link: string, delay: Delay, scale: "linear" | "log", onZoom: () => void): MarksChart {
  const bars = points.flatMap((point) => {
    const figure = point.figure("links", link, "sojourn_s", delay);
    return figure ? [{ point, figure }] : [];
  });
  const all = rangeOf(bars.map(({ figure }) => figure), scale, { linear: 1.08, log: [2, 1.6] });
  const unit = unitFor("time", all.max);
  const targets = bars.map(({ point, figure }, row): Target => ({ x: figure.mean, y: row, look: point.look, heading: point.label, rows: [{ label: `Sojourn ${delay}`, value: withInterval(figure, (value) => withUnit(value, unit)) }] }));
  const build = (width: number, box: Box): Plot => {
    const x = box.x ?? all;
    return {
      width,
      height: Math.max(180, 62 + bars.length * 30),
      x: { label: `Sojourn time, ${delay}`, range: x, scale, unit },
      y: namesAxis(bars.map(({ point }) => point), width),
      shapes: bars.flatMap(({ point, figure }, row) => shapesOf(point, figure, row, x.min, scale)),
    };
  };
  return new MarksChart({
    name: `Sojourn time, ${delay}, one bar for each queue; shorter is better`,
    build,
    targets,
    zoom: "x",
    data: [["point", `sojourn_${delay}_s`, "ci95_s"], ...bars.map(({ point, figure }) => [point.label, figure.mean, figure.ci95])],
    digest: [["Queue", `Sojourn ${delay} (${unit.symbol})`], ...bars.map(({ point, figure }) => [point.label, withInterval(figure, (value) => formatNumber(value * unit.factor))])],
    onZoom,
  });
}

function shapesOf(point: Point, { mean, ci95 }: Figure, row: number, start: number, scale: "linear" | "log"): Shape[] {
  const { look } = point;
  // A logarithmic axis has no zero for a bar to begin at: there a line leads to the dot.
  const bar: Shape = { type: "segment", from: [start, row], to: [mean, row], look, ...(scale === "linear" ? { width: 11, opacity: 0.32 } : { width: 1, opacity: 0.35 }) };
  const dot: Shape = { type: "point", x: mean, y: row, look, size: 5, opacity: 1 };
  const whisker: Shape[] = ci95 === null ? [] : [{ type: "segment", from: [mean - ci95, row], to: [mean + ci95, row], look, width: 1.5, opacity: 0.9 }];
  return [bar, ...whisker, dot];
}
