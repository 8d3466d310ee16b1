// Smoothing of noisy samples.

import { lowerBound } from "./downsample.ts";

/** Sums up to each place of a line, from which the mean of any part follows at once. */
export interface Sums {
  readonly sums: Float64Array;
  readonly counts: Uint32Array;
}

/** The sums of `values`; gaps (`null`) are left out. */
export function sumsOf(values: readonly (number | null)[]): Sums {
  const sums = new Float64Array(values.length + 1);
  const counts = new Uint32Array(values.length + 1);
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at] ?? null;
    sums[at + 1] = (sums[at] ?? 0) + (value ?? 0);
    counts[at + 1] = (counts[at] ?? 0) + (value === null ? 0 : 1);
  }
  return { sums, counts };
}

/** For each x between `from` and `to` (and one more on either side) the mean of the values within half of `width` around it; where there are
 *  none, and elsewhere, there is a gap. `x` must rise. */
export function movingMean(x: readonly number[], { sums, counts }: Sums, width: number, from = -Infinity, to = Infinity): (number | null)[] {
  const result = new Array<number | null>(x.length).fill(null);
  const first = Math.max(0, lowerBound(x, from) - 1);
  const last = Math.min(x.length, lowerBound(x, to) + 1);
  let start = lowerBound(x, (x[first] ?? 0) - width / 2);
  let end = start;
  for (let at = first; at < last; at += 1) {
    const centre = x[at] ?? 0;
    while (start < x.length && (x[start] ?? 0) < centre - width / 2) start += 1;
    while (end < x.length && (x[end] ?? 0) <= centre + width / 2) end += 1;
    const count = (counts[end] ?? 0) - (counts[start] ?? 0);
    if (count > 0) result[at] = ((sums[end] ?? 0) - (sums[start] ?? 0)) / count;
  }
  return result;
}

/** How wide to average so that a line over `from` … `to` stays calm: a hundredth of what is shown, or 0 (not at all) when
 *  there are few enough points to show each. */
export function calmWidth(x: readonly number[], from: number, to: number): number {
  const shown = lowerBound(x, to) - lowerBound(x, from);
  return shown > 300 ? (to - from) / 100 : 0;
}
