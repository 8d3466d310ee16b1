// A calm line through noisy samples.

import { lowerBound } from "./downsample.ts";

/** For each x the mean of the values within half of `width` on either side; gaps (`null`) are left out, and where nothing is
 *  left there is a gap. `x` must rise. */
export function movingMean(x: readonly number[], values: readonly (number | null)[], width: number): (number | null)[] {
  const sums = new Float64Array(x.length + 1);
  const counts = new Uint32Array(x.length + 1);
  values.forEach((value, at) => {
    sums[at + 1] = (sums[at] ?? 0) + (value ?? 0);
    counts[at + 1] = (counts[at] ?? 0) + (value === null ? 0 : 1);
  });
  let start = 0;
  let end = 0;
  return x.map((centre) => {
    while (start < x.length && (x[start] ?? 0) < centre - width / 2) start += 1;
    while (end < x.length && (x[end] ?? 0) <= centre + width / 2) end += 1;
    const count = (counts[end] ?? 0) - (counts[start] ?? 0);
    return count === 0 ? null : ((sums[end] ?? 0) - (sums[start] ?? 0)) / count;
  });
}

/** How wide to average so that a line over `from` … `to` stays calm: a hundredth of what is shown, or 0 (not at all) when
 *  there are few enough points to show each. */
export function calmWidth(x: readonly number[], from: number, to: number): number {
  const shown = lowerBound(x, to) - lowerBound(x, from);
  return shown > 300 ? (to - from) / 100 : 0;
}
