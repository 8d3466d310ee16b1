// Distributions of times: the share of packets that waited at most …, the share of probes that
// returned within …

import type { Chart } from "../charts/chart.ts";
import type { Rows } from "../charts/export.ts";
import { type LineData, LineChart } from "../charts/line.ts";
import type { SharedWindow } from "../charts/window.ts";
import { lowerBound } from "../charts/downsample.ts";
import { formatNumber, unitFor } from "../units.ts";
import type { Cdf, Point } from "./data.ts";

/** On a logarithmic axis, what waited less than this is drawn here: nobody feels ten
 *  microseconds. */
const SHORTEST = 1e-5;

/** What is distributed, in words. */
export interface Distributed {
  readonly name: string;
  readonly time: string;
  readonly part: string;
}

export const SOJOURN: Distributed = { name: "Distribution of the sojourn time", time: "Sojourn time", part: "Packets that waited at most this long" };
export const ROUND_TRIPS: Distributed = { name: "Distribution of the probes’ round-trip time", time: "Round-trip time", part: "Probes that took at most this long" };

/** The chart of one distribution of each point. */
export function distributionChart(what: Distributed, points: readonly Point[], of: (point: Point) => Cdf | undefined, scale: "linear" | "log", window: SharedWindow): Chart {
  const lines = points.flatMap((point): LineData[] => {
    const cdf = of(point);
    return cdf && cdf.times.length > 0 ? [{ label: point.label, look: point.look, ...stepsOf(cdf, scale) }] : [];
  });
  const longest = Math.max(SHORTEST * 10, ...lines.map((line) => line.x[line.x.length - 1] ?? 0));
  const nearlyAll = Math.max(SHORTEST * 10, ...lines.map((line) => quantileOf(line, 0.999)));
  const range = scale === "log" ? { min: Math.max(SHORTEST, shortestOf(lines)), max: longest * 1.1 } : { min: 0, max: nearlyAll * 1.05 };
  const chart = new LineChart({
    name: what.name,
    x: { label: what.time, quantity: "time", scale, range },
    y: { label: what.part, quantity: "ratio", range: { min: 0, max: 1.02 } },
    lines: lines.map((line) => extended(line, range)),
    steps: true,
    height: 350,
    window,
  });
  // Slices of the axis say little here; quantiles are what a reader looks for.
  return Object.assign(chart, { digest: () => quantileTable(lines) });
}

function stepsOf({ times, quantile }: Cdf, scale: "linear" | "log"): { x: number[]; y: number[] } {
  if (scale === "linear") return { x: [...times], y: [...quantile] };
  // Several times may fall on the axis' start; the last of them holds.
  const first = Math.max(0, lowerBound(times, SHORTEST) - 1);
  return { x: times.slice(first).map((x) => Math.max(SHORTEST, x)), y: quantile.slice(first) };
}

/** The line from the start of the axis (nothing waited less) to its end (everything waited
 *  less). */
function extended(line: LineData, range: { min: number; max: number }): LineData {
  const begins = (line.x[0] ?? range.min) > range.min ? [range.min] : [];
  const ends = (line.x[line.x.length - 1] ?? range.max) < range.max ? [range.max] : [];
  return { ...line, x: [...begins, ...line.x, ...ends], y: [...begins.map(() => 0), ...line.y, ...ends.map(() => 1)] };
}

/** Where the axis may start: what one in fifty took less than is no news. */
function shortestOf(lines: readonly LineData[]): number {
  return Math.min(1, ...lines.map((line) => quantileOf(line, 0.02))) * 0.8;
}

/** The smallest time that `part` of them did not exceed. */
function quantileOf(line: LineData, part: number): number {
  const at = line.y.findIndex((quantile) => (quantile ?? 0) >= part);
  return line.x[at < 0 ? line.x.length - 1 : at] ?? 0;
}

function quantileTable(lines: readonly LineData[]): Rows {
  const parts = [0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999];
  const unit = unitFor("time", Math.max(SHORTEST, ...lines.map((line) => quantileOf(line, 0.99))));
  return [["Part", ...lines.map((line) => `${line.label} (${unit.symbol})`)], ...parts.map((part) => [`${formatNumber(part * 100)} %`, ...lines.map((line) => formatNumber(quantileOf(line, part) * unit.factor))])];
}
