// Utilization against delay: the trade-off of each algorithm.

import type { Rows } from "../charts/export.ts";
import { type Box, MarksChart, type Target } from "../charts/marks.ts";
import { type Axis, draw, type Plot, type Shape } from "../charts/svg.ts";
import { extent, padded, type Range } from "../charts/ticks.ts";
import type { Ink } from "../palette.ts";
import { formatDecimals, formatNumber, unitFor, withUnit } from "../units.ts";
import type { Figure, Point } from "./data.ts";
import { rangeOf, withInterval } from "./intervals.ts";

/** Which sojourn figure is on the horizontal axis. */
export const DELAYS = ["mean", "p50", "p95", "p99"] as const;
export type Delay = (typeof DELAYS)[number];

interface Dot {
  readonly point: Point;
  readonly delay: Figure;
  readonly use: Figure;
}

/** The chart for one link and the points that are switched on. */
export function tradeoffChart(points: readonly Point[], link: string, delay: Delay, scale: "linear" | "log", onZoom: () => void): MarksChart {
  const dots = points.flatMap((point): Dot[] => {
    const x = point.figure("links", link, "sojourn_s", delay);
    const y = point.figure("links", link, "utilization");
    return x && y ? [{ point, delay: x, use: y }] : [];
  });
  const all = { x: rangeOf(dots.map(({ delay: figure }) => figure), scale, { linear: 1.12, log: [2, 1.9] }), y: useRange(dots) };
  const unit = unitFor("time", all.x.max);
  const percent = unitFor("ratio", 1);
  const targets = dots.map(
    ({ point, delay: x, use: y }): Target => ({
      x: x.mean,
      y: y.mean,
      look: point.look,
      heading: point.label,
      rows: [
        { label: `Sojourn ${delay}`, value: withInterval(x, (value) => withUnit(value, unit)) },
        { label: "Utilization", value: withInterval(y, (value) => `${formatDecimals(value * 100, 2)}\u00a0%`) },
      ],
    }),
  );
  const build = (width: number, box: Box, ink: Ink): Plot => {
    const height = Math.round(Math.max(280, Math.min(350, width * 0.8)));
    const x: Axis = { label: `Sojourn time, ${delay}`, range: box.x ?? all.x, scale, unit };
    const y: Axis = { label: "Utilization", range: box.y ?? all.y, scale: "linear", unit: percent };
    const plain: Plot = { width, height, x, y, shapes: [...dots.flatMap(crossOf), ...dots.map(dotOf)] };
    return { ...plain, shapes: [...plain.shapes, ...labelsOf(dots, plain, ink)] };
  };
  return new MarksChart({
    name: `Utilization against ${delay} sojourn time; up and to the left is better`,
    build,
    targets,
    zoom: "xy",
    data: [["point", `sojourn_${delay}_s`, "ci95_s", "utilization", "utilization_ci95"], ...dots.map(({ point, delay: x, use: y }) => [point.label, x.mean, x.ci95, y.mean, y.ci95])],
    digest: digestOf(dots, delay, unit.factor, unit.symbol),
    onZoom,
  });
}

/** Says whether a linear axis would squeeze most points into a corner. */
export function isSpreadOut(points: readonly Point[], link: string): boolean {
  const delays = points.flatMap((point) => point.figure("links", link, "sojourn_s", "p95")?.mean ?? []);
  return Math.min(...delays) > 0 && Math.max(...delays) > 6 * Math.min(...delays);
}

/** A link cannot carry more than 100 %, so the axis ends shortly above. */
function useRange(dots: readonly Dot[]): Range {
  const { min, max } = padded(extent(dots.flatMap(({ use }) => [use.mean - (use.ci95 ?? 0), use.mean + (use.ci95 ?? 0)])), 0.12);
  const width = Math.max(max - min, 0.004);
  return { min: Math.max(0, Math.min(min, max - width)), max: Math.min(Math.max(max, min + width), 1 + width * 0.04) };
}

function crossOf({ point, delay, use }: Dot): Shape[] {
  const arm = (from: [number, number], to: [number, number]): Shape => ({ type: "segment", from, to, look: point.look, width: 1.5, opacity: 0.75 });
  const arms: Shape[] = [];
  if (delay.ci95 !== null) arms.push(arm([delay.mean - delay.ci95, use.mean], [delay.mean + delay.ci95, use.mean]));
  if (use.ci95 !== null) arms.push(arm([delay.mean, use.mean - use.ci95], [delay.mean, use.mean + use.ci95]));
  return arms;
}

function dotOf({ point, delay, use }: Dot): Shape {
  return { type: "point", x: delay.mean, y: use.mean, look: point.look, size: 5.5, opacity: 1 };
}

/** Where a name may stand beside its dot, the best place first. */
const LABEL_PLACES: readonly (readonly [dx: number, dy: number, anchor: "start" | "middle" | "end"])[] = [
  [11, 4, "start"],
  [-11, 4, "end"],
  [0, -11, "middle"],
  [0, 20, "middle"],
  [8, -9, "start"],
  [8, 17, "start"],
  [-8, -9, "end"],
  [-8, 17, "end"],
];

/** A name at each dot that has room for one; the others are told by the legend and the pointer. */
function labelsOf(dots: readonly Dot[], plot: Plot, ink: Ink): Shape[] {
  const { toX, toY, box } = draw(plot, ink);
  type Place = Record<"left" | "top" | "right" | "bottom", number>;
  const hits = (a: Place, b: Place): boolean => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const inside = dots.filter(({ delay, use }) => {
    const [x, y] = [toX(delay.mean), toY(use.mean)];
    return x >= box.left && x <= box.left + box.width && y >= box.top && y <= box.top + box.height;
  });
  const taken: Place[] = inside.map(({ delay, use }) => {
    const [x, y] = [toX(delay.mean), toY(use.mean)];
    return { left: x - 7, top: y - 7, right: x + 7, bottom: y + 7 };
  });
  // Names keep off the bars of intervals, too.
  for (const { delay, use } of inside) {
    const [left, right] = [toX(delay.mean - (delay.ci95 ?? 0)), toX(delay.mean + (delay.ci95 ?? 0))];
    const [top, bottom] = [toY(use.mean + (use.ci95 ?? 0)), toY(use.mean - (use.ci95 ?? 0))];
    taken.push({ left, top: toY(use.mean) - 2, right, bottom: toY(use.mean) + 2 }, { left: toX(delay.mean) - 2, top, right: toX(delay.mean) + 2, bottom });
  }
  // A name nearer to another dot than to its own would be misleading.
  const isNearer = (place: Place, x: number, y: number): boolean => {
    const distance = (px: number, py: number): number => Math.hypot(Math.max(place.left - px, px - place.right, 0), Math.max(place.top - py, py - place.bottom, 0));
    return inside.some((other) => distance(toX(other.delay.mean), toY(other.use.mean)) < distance(x, y));
  };
  return inside.flatMap(({ point, delay, use }): Shape[] => {
    const [x, y] = [toX(delay.mean), toY(use.mean)];
    const width = point.label.length * 6.6;
    for (const [dx, dy, anchor] of LABEL_PLACES) {
      const left = x + dx - { start: 0, middle: width / 2, end: width }[anchor];
      const place = { left, top: y + dy - 11, right: left + width, bottom: y + dy + 3 };
      const isOut = place.left < box.left || place.right > plot.width || place.top < 0 || place.bottom > box.top + box.height;
      if (isOut || isNearer(place, x, y) || taken.some((other) => hits(place, other))) continue;
      taken.push(place);
      return [{ type: "label", x: delay.mean, y: use.mean, text: point.label, anchor, dx, dy, quiet: false }];
    }
    return [];
  });
}

function digestOf(dots: readonly Dot[], delay: Delay, factor: number, symbol: string): Rows {
  const plusMinus = (figure: Figure, scale: number): string => withInterval(figure, (value) => formatNumber(value * scale));
  return [["Queue", `Sojourn ${delay} (${symbol})`, "Utilization (%)"], ...dots.map(({ point, delay: x, use: y }) => [point.label, plusMinus(x, factor), plusMinus(y, 100)])];
}
