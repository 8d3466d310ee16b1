// Fewer points, same picture: each pixel keeps its lowest and its highest value.

/** Coordinates of one line; `null` is a gap. */
export interface Points {
  readonly x: readonly number[];
  readonly y: readonly (number | null)[];
}

/** `line` with at most about two points for each of `pixels` columns between `from` and `to`. The first and the last point of
 *  a column are kept through its extremes only, so peaks survive and no point is invented. Points outside are left out,
 *  but for one neighbour at each side so that lines run to the edge. `x` must rise. */
export function minMax(line: Points, from: number, to: number, pixels: number): { x: number[]; y: (number | null)[] } {
  const { x, y } = line;
  const start = Math.max(0, lowerBound(x, from) - 1);
  const end = Math.min(x.length, lowerBound(x, to) + 1);
  const result: { x: number[]; y: (number | null)[] } = { x: [], y: [] };
  const push = (at: number): void => {
    result.x.push(x[at] ?? 0);
    result.y.push(y[at] ?? null);
  };
  if (end - start <= pixels * 2 || !(to > from)) {
    for (let at = start; at < end; at += 1) push(at);
    return result;
  }
  const column = (at: number): number => Math.floor((((x[at] ?? 0) - from) / (to - from)) * pixels);
  for (let at = start; at < end; ) {
    const here = column(at);
    let low = -1;
    let high = -1;
    let gap = -1;
    for (; at < end && column(at) === here; at += 1) {
      const value = y[at] ?? null;
      if (value === null) {
        gap = at;
        continue;
      }
      if (low < 0 || value < (y[low] ?? 0)) low = at;
      if (high < 0 || value > (y[high] ?? 0)) high = at;
    }
    if (low < 0) {
      if (gap >= 0) push(gap);
    } else {
      push(Math.min(low, high));
      if (low !== high) push(Math.max(low, high));
    }
  }
  return result;
}

/** Index of the first value that is at least `value`; the length when there is none. */
export function lowerBound(sorted: readonly number[], value: number): number {
  return lowerBoundIn(0, sorted.length, value, (at) => sorted[at] ?? 0);
}

/** The first index from `low` on whose value is at least `value`; `high` when there is none. */
export function lowerBoundIn(low: number, high: number, value: number, at: (index: number) => number): number {
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (at(middle) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
