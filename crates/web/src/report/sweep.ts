// A figure over a swept setting: a line for each queue, with its intervals.

import { type Box, MarksChart, type Target } from "../charts/marks.ts";
import { type Axis, legendHeight, type Plot, type Shape } from "../charts/svg.ts";
import { extent, padded, type Range } from "../charts/ticks.ts";
import { type Look, looksFor } from "../palette.ts";
import { unitFor, withUnitLabel } from "../units.ts";
import type { FigureColumn } from "./columns.ts";
import type { Figure, Point } from "./data.ts";
import { axisOf, titleOf, toldBy } from "./experience.ts";
import { nameWithout, queueOf, type Setting, settingOf } from "./settings.ts";

/** Settings and times that vary by more than this are on a logarithmic axis. */
const SPREAD = 6;

/** Points that differ in the setting of the axis alone, in its order. */
export interface SweepLine {
  readonly label: string;
  readonly look: Look;
  readonly points: readonly Point[];
}

/** The lines over `setting`: each queue has a color, and each combination of other settings a dash and a mark. */
export function sweepLines(points: readonly Point[], setting: Setting): SweepLine[] {
  const others = ({ set }: Point): string => settingOf(Object.fromEntries(Object.entries(set).filter(([key]) => key !== setting.key)));
  const groups = new Map<string, Point[]>();
  for (const point of points) {
    const key = `${queueOf(point)} ${others(point)}`;
    groups.set(key, [...(groups.get(key) ?? []), point]);
  }
  const lines = [...groups.values()].map((members) => [...members].sort((a, b) => setting.valueOf(a) - setting.valueOf(b)));
  const firsts = lines.flatMap(([first]) => first ?? []);
  const looks = looksFor(firsts.map(({ kind }) => kind), firsts.map(others));
  return lines.flatMap((members, at): SweepLine[] => {
    const [first, look] = [members[0], looks[at]];
    return first && look ? [{ label: nameWithout(first, setting), look, points: members }] : [];
  });
}

interface Place {
  readonly point: Point;
  readonly x: number;
  readonly figure: Figure;
}

/** The chart of a figure at `link` over `setting`. */
export function sweepChart(lines: readonly SweepLine[], setting: Setting, column: FigureColumn, link: string, onZoom: () => void): MarksChart {
  const drawn = lines.map((line) => {
    const places = line.points.flatMap((point): Place[] => {
      const [x, figure] = [setting.valueOf(point), column.figure(point, link)];
      return figure && Number.isFinite(x) ? [{ point, x, figure }] : [];
    });
    return { ...line, places };
  });
  const places = drawn.flatMap((line) => line.places);
  const figures = places.map(({ figure }) => figure);
  const means = extent(figures.map(({ mean }) => mean));
  const own = axisOf(column, figures);
  const isLog = own.scale === "log" && means.max > SPREAD * means.min;
  const y = { range: own.scale === "log" && !isLog ? { min: 0, max: Math.max(...figures.map(({ mean, ci95 }) => mean + (ci95 ?? 0))) * 1.08 } : own.range, scale: isLog ? ("log" as const) : ("linear" as const) };
  const unit = unitFor(column.quantity, y.range.max);
  const [title, across] = [titleOf(column), withUnitLabel(setting.label, setting.unit)];
  const legend = drawn.map(({ label, look }) => ({ label, look }));
  const build = (width: number, box: Box): Plot => ({
    width,
    height: 320 + legendHeight(legend, width),
    title: "",
    legend,
    x: { ...axisOver(setting, places.map(({ x }) => x)), ...(box.x ? { range: box.x } : {}) },
    y: { label: title, range: box.y ?? y.range, scale: y.scale, unit },
    shapes: drawn.flatMap(({ look, places }) => shapesOf(look, places)),
  });
  const targets = drawn.flatMap(({ look, places }) =>
    places.map(({ point, x, figure }): Target => ({ x, y: figure.mean, look, heading: point.label, rows: [{ label: withUnitLabel(title, unit), value: toldBy(column, figure, unit) }] })),
  );
  return new MarksChart({
    name: `${title} over ${across}, one line for each queue`,
    build,
    targets,
    zoom: "xy",
    data: [["line", setting.key, column.key, `${column.key}_ci95`], ...drawn.flatMap(({ label, places }) => places.map(({ x, figure }) => [label, setting.names?.[x] ?? x, figure.mean, figure.ci95]))],
    digest: digestOf(drawn, setting, across, (figure) => toldBy(column, figure, unit)),
    onZoom,
  });
}

/** The axis of a setting, with a tick at each of its values. */
function axisOver(setting: Setting, xs: readonly number[]): Axis {
  const { label, unit, names } = setting;
  if (names) return { label, unit, scale: "linear", range: { min: -0.5, max: names.length - 0.5 }, categories: names };
  const ticks = [...new Set(xs)].sort((a, b) => a - b);
  const { min, max } = extent(ticks);
  if (min > 0 && max > SPREAD * min) {
    const room = (max / min) ** 0.04;
    return { label, unit, scale: "log", range: { min: min / room, max: max * room }, ticks };
  }
  const range: Range = padded({ min, max }, 0.04);
  return { label, unit, scale: "linear", range, ticks };
}

function shapesOf(look: Look, places: readonly Place[]): Shape[] {
  const intervals = places.flatMap(({ x, figure: { mean, ci95 } }): Shape[] => (ci95 === null ? [] : [{ type: "segment", from: [x, mean - ci95], to: [x, mean + ci95], look, width: 2, opacity: 0.5 }]));
  const marks = places.map(({ x, figure }): Shape => ({ type: "point", x, y: figure.mean, look, size: 4.5, opacity: 1 }));
  return [{ type: "line", x: places.map(({ x }) => x), y: places.map(({ figure }) => figure.mean), look, steps: false, width: 2, opacity: 1 }, ...intervals, ...marks];
}

function digestOf(lines: readonly { label: string; places: readonly Place[] }[], { names, unit }: Setting, across: string, told: (figure: Figure) => string): (string | number)[][] {
  const xs = [...new Set(lines.flatMap(({ places }) => places.map(({ x }) => x)))].sort((a, b) => a - b);
  const cell = (places: readonly Place[], x: number): string => {
    const place = places.find((one) => one.x === x);
    return place ? told(place.figure) : "–";
  };
  return [[across, ...lines.map(({ label }) => label)], ...xs.map((x) => [names?.[x] ?? Number((x * unit.factor).toPrecision(9)), ...lines.map(({ places }) => cell(places, x))])];
}
