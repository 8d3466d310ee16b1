// History of a live chart: the latest frames individually, and the whole run in a bounded number of
// intervals.

import { lowerBoundIn } from "./downsample.ts";

/** A piece of history ready to be drawn: rising x, and for each asked line its values, `null`
 *  being a gap. */
export interface View {
  readonly x: number[];
  readonly y: (number | null)[][];
}

/** Values of many lines at common times. Memory is bounded: the last `recent` frames are kept as they came, and of the whole run
 *  at most `stretches` stretches with each line's lowest and highest value; when these are full, neighbours become one. */
export class History {
  readonly #times: Float64Array;
  readonly #lines = new Map<string, Line>();
  readonly #recent: number;
  readonly #stretches: number;
  /** Frames so far. */
  #count = 0;
  /** Stretches in use, how many frames one holds, and how many are in the last one. */
  #used = 0;
  #width = 1;
  #inLast = 0;
  readonly #starts: Float64Array;
  readonly #ends: Float64Array;

  constructor(recent = 3600, stretches = 1024) {
    this.#recent = recent;
    this.#stretches = stretches;
    this.#times = new Float64Array(recent);
    this.#starts = new Float64Array(stretches);
    this.#ends = new Float64Array(stretches);
  }

  /** The first and the last time; `undefined` before the first frame. */
  get span(): { readonly from: number; readonly to: number } | undefined {
    if (this.#count === 0) return undefined;
    return { from: this.#starts[0] ?? 0, to: this.#times[(this.#count - 1) % this.#recent] ?? 0 };
  }

  /** Forgets everything. */
  clear(): void {
    this.#lines.clear();
    this.#count = 0;
    this.#used = 0;
    this.#width = 1;
    this.#inLast = 0;
  }

  /** Begins a frame at `t`; times that do not rise are left out, and the answer is false. */
  begin(t: number): boolean {
    const before = this.span;
    if (before && !(t > before.to)) return false;
    if (this.#inLast === this.#width || this.#used === 0) this.#nextStretch(t);
    this.#inLast += 1;
    this.#ends[this.#used - 1] = t;
    this.#times[this.#count % this.#recent] = t;
    for (const line of this.#lines.values()) line.recent[this.#count % this.#recent] = NaN;
    this.#count += 1;
    return true;
  }

  /** Sets a line's value in the frame that was begun last. */
  set(name: string, value: number | null | undefined): void {
    if (value === null || value === undefined || !Number.isFinite(value) || this.#count === 0) return;
    let line = this.#lines.get(name);
    if (!line) {
      line = { recent: new Float32Array(this.#recent).fill(NaN), low: new Float32Array(this.#stretches).fill(NaN), high: new Float32Array(this.#stretches).fill(NaN) };
      this.#lines.set(name, line);
    }
    line.recent[(this.#count - 1) % this.#recent] = value;
    const at = this.#used - 1;
    // Comparisons with NaN are false, so the first value replaces it.
    if (!((line.low[at] ?? NaN) <= value)) line.low[at] = value;
    if (!((line.high[at] ?? NaN) >= value)) line.high[at] = value;
  }

  /** The lines between `from` and `to` with about two points for each of `pixels` columns. */
  view(names: readonly string[], from: number, to: number, pixels: number): View {
    const first = Math.max(0, this.#count - this.#recent);
    const isRecent = this.#count > 0 && (first === 0 || (this.#times[first % this.#recent] ?? 0) <= from);
    return isRecent ? this.#viewFrames(names, first, from, to, pixels) : this.#viewStretches(names, from, to, pixels);
  }

  #viewFrames(names: readonly string[], first: number, from: number, to: number, pixels: number): View {
    const time = (frame: number): number => this.#times[frame % this.#recent] ?? 0;
    const start = Math.max(first, lowerBoundIn(first, this.#count, from, time) - 1);
    const end = Math.min(this.#count, lowerBoundIn(first, this.#count, to, time) + 1);
    const pieces = new Pieces(names.length, from, to, pixels, end - start);
    const lines = names.map((name) => this.#lines.get(name)?.recent);
    for (let frame = start; frame < end; frame += 1) {
      pieces.at(time(frame), time(frame));
      lines.forEach((line, which) => {
        const value = line?.[frame % this.#recent] ?? NaN;
        pieces.put(which, value, value);
      });
    }
    return pieces.finish();
  }

  #viewStretches(names: readonly string[], from: number, to: number, pixels: number): View {
    const start = Math.max(0, lowerBoundIn(0, this.#used, from, (at) => this.#ends[at] ?? 0) - 1);
    const end = Math.min(this.#used, lowerBoundIn(0, this.#used, to, (at) => this.#starts[at] ?? 0) + 1);
    const pieces = new Pieces(names.length, from, to, pixels, Infinity);
    const lines = names.map((name) => this.#lines.get(name));
    for (let at = start; at < end; at += 1) {
      pieces.at(this.#starts[at] ?? 0, this.#ends[at] ?? 0);
      lines.forEach((line, which) => pieces.put(which, line?.low[at] ?? NaN, line?.high[at] ?? NaN));
    }
    return pieces.finish();
  }

  #nextStretch(t: number): void {
    if (this.#used === this.#stretches) this.#halve();
    this.#starts[this.#used] = t;
    for (const line of this.#lines.values()) {
      line.low[this.#used] = NaN;
      line.high[this.#used] = NaN;
    }
    this.#used += 1;
    this.#inLast = 0;
  }

  /** Makes one stretch of each two neighbours. */
  #halve(): void {
    const half = this.#stretches / 2;
    for (let at = 0; at < half; at += 1) {
      this.#starts[at] = this.#starts[2 * at] ?? 0;
      this.#ends[at] = this.#ends[2 * at + 1] ?? 0;
      for (const { low, high } of this.#lines.values()) {
        low[at] = least(low[2 * at] ?? NaN, low[2 * at + 1] ?? NaN);
        high[at] = -least(-(high[2 * at] ?? NaN), -(high[2 * at + 1] ?? NaN));
      }
    }
    for (const { low, high } of this.#lines.values()) {
      low.fill(NaN, half);
      high.fill(NaN, half);
    }
    this.#used = half;
    this.#width *= 2;
  }
}

interface Line {
  readonly recent: Float32Array;
  readonly low: Float32Array;
  readonly high: Float32Array;
}

/** Aggregates the values of each pixel column into two points per line: lowest and highest. */
class Pieces {
  readonly #x: number[] = [];
  readonly #y: (number | null)[][];
  readonly #from: number;
  readonly #scale: number;
  readonly #isRaw: boolean;
  #column = NaN;
  #start = 0;
  #end = 0;
  readonly #low: Float64Array;
  readonly #high: Float64Array;

  constructor(lines: number, from: number, to: number, pixels: number, points: number) {
    this.#y = Array.from({ length: lines }, () => []);
    this.#from = from;
    this.#scale = to > from ? pixels / (to - from) : 0;
    this.#isRaw = points <= pixels * 2;
    this.#low = new Float64Array(lines).fill(NaN);
    this.#high = new Float64Array(lines).fill(NaN);
  }

  /** Goes on to what lies between `start` and `end`. */
  at(start: number, end: number): void {
    const column = this.#isRaw ? start : Math.floor((start - this.#from) * this.#scale);
    if (column !== this.#column) {
      this.#flush();
      this.#column = column;
      this.#start = start;
    }
    this.#end = end;
  }

  put(line: number, low: number, high: number): void {
    this.#low[line] = least(this.#low[line] ?? NaN, low);
    this.#high[line] = -least(-(this.#high[line] ?? NaN), -high);
  }

  finish(): View {
    this.#flush();
    return { x: this.#x, y: this.#y };
  }

  #flush(): void {
    if (Number.isNaN(this.#column)) return;
    const isPair = this.#end > this.#start;
    this.#x.push(this.#start);
    if (isPair) this.#x.push(this.#end);
    this.#y.forEach((values, line) => {
      const low = this.#low[line] ?? NaN;
      const high = this.#high[line] ?? NaN;
      values.push(Number.isNaN(low) ? null : low);
      if (isPair) values.push(Number.isNaN(high) ? null : high);
    });
    this.#low.fill(NaN);
    this.#high.fill(NaN);
  }
}

/** The smaller of two numbers, of which either may be missing. */
function least(a: number, b: number): number {
  return Number.isNaN(a) ? b : a <= b || Number.isNaN(b) ? a : b;
}
