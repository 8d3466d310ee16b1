// Where an axis has its numbers.

/** A straight or logarithmic stretch of values. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/** Round numbers (1, 2, 2.5 or 5 times a power of ten) inside `range`, about `count` of them. */
export function linearTicks({ min, max }: Range, count: number): number[] {
  if (!(max > min)) return [min];
  const rough = (max - min) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough * 0.999) ?? 10) * power;
  const ticks: number[] = [];
  for (let at = Math.ceil(min / step - 1e-9); at * step <= max + step * 1e-9; at += 1) {
    ticks.push(Number((at * step).toPrecision(12)));
  }
  return ticks;
}

/** Powers of ten inside `range`, with 2 and 5 times them when there are few. */
export function logTicks({ min, max }: Range): number[] {
  const decades = Math.log10(max / min);
  const factors = decades > 4 ? [1] : decades > 1.5 ? [1, 3] : [1, 2, 5];
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(min)); power <= Math.ceil(Math.log10(max)); power += 1) {
    for (const factor of factors) {
      const tick = Number((factor * 10 ** power).toPrecision(12));
      if (tick >= min * 0.999 && tick <= max * 1.001) ticks.push(tick);
    }
  }
  return ticks;
}

/** Digits after the point that tell all of `ticks` apart. */
export function tickDecimals(ticks: readonly number[]): number {
  for (let decimals = 0; decimals < 9; decimals += 1) {
    if (ticks.every((tick) => Math.abs(Number(tick.toFixed(decimals)) - tick) <= Math.abs(tick) * 1e-9)) return decimals;
  }
  return 9;
}

/** `range` widened by `part` of its width at both ends, and never empty. */
export function padded({ min, max }: Range, part: number): Range {
  const width = max - min || Math.abs(max) * 0.1 || 1;
  return { min: min - width * part, max: max + width * part };
}

/** The stretch that holds all finite values; (0, 1) when there are none. */
export function extent(values: Iterable<number>): Range {
  let min = Infinity;
  let max = -Infinity;
  for (const value of values) {
    if (value < min) min = value;
    if (value > max && value < Infinity) max = value;
  }
  return min <= max ? { min, max } : { min: 0, max: 1 };
}
