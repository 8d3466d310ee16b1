// Formatting of quantities: unit and digits. Internally everything is SI: seconds, bit/s, bytes,
// plain ratios.

/** What kind of quantity a value is. */
export type Quantity = "time" | "seconds" | "rate" | "bytes" | "packets" | "ratio" | "number";

/** A unit to show a quantity in. */
export interface Unit {
  /** As printed after a number; empty for plain numbers. */
  readonly symbol: string;
  /** Multiply an SI value by this to get the shown one. */
  readonly factor: number;
}

export const LADDERS: Record<Quantity, readonly [Unit, ...Unit[]]> = {
  time: [
    { symbol: "µs", factor: 1e6 },
    { symbol: "ms", factor: 1e3 },
    { symbol: "s", factor: 1 },
  ],
  // Simulated time since the start, which stays in seconds however short.
  seconds: [{ symbol: "s", factor: 1 }],
  rate: [
    { symbol: "bit/s", factor: 1 },
    { symbol: "kbit/s", factor: 1e-3 },
    { symbol: "Mbit/s", factor: 1e-6 },
    { symbol: "Gbit/s", factor: 1e-9 },
  ],
  bytes: [
    { symbol: "B", factor: 1 },
    { symbol: "kB", factor: 1e-3 },
    { symbol: "MB", factor: 1e-6 },
    { symbol: "GB", factor: 1e-9 },
  ],
  packets: [{ symbol: "packets", factor: 1 }],
  ratio: [{ symbol: "%", factor: 100 }],
  number: [{ symbol: "", factor: 1 }],
};

/** The quantity that a name such as `sojourn_s` or `gauge:drop_probability` stands for, by its
 *  ending. */
export function quantityOf(name: string): Quantity {
  if (/_bit_s$/.test(name)) return "rate";
  if (/_s$/.test(name)) return "time";
  if (/_bytes$/.test(name)) return "bytes";
  if (/_packets$/.test(name)) return "packets";
  if (/(ratio|utilization|probability|prob)$/.test(name)) return "ratio";
  return "number";
}

/** The largest unit in which `magnitude` (SI) is at least one; times from 0.1 ms up to 10 s are all in milliseconds, since
 *  2000 ms of queue beside 5 ms is read more easily than 2 s. */
export function unitFor(quantity: Quantity, magnitude: number): Unit {
  const size = Math.abs(magnitude);
  const [first, ...rest] = LADDERS[quantity];
  const least = (unit: Unit): number => (unit.symbol === "ms" ? 1e-4 : unit.symbol === "s" ? 10 : 1 / unit.factor);
  return rest.reduce((best, unit) => (size >= least(unit) ? unit : best), first);
}

/** `value` with about `digits` significant digits, never in scientific notation between a
 *  millionth and a billion. */
export function formatNumber(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e9 || size < 1e-6) return value.toExponential(digits - 1).replace("-", "−").replace("e+", "e");
  return formatDecimals(value, Math.max(0, digits - 1 - Math.floor(Math.log10(size))));
}

/** `value` with so many digits after the point, a true minus and thin spaces between thousands
 *  from 10 000 on. */
export function formatDecimals(value: number, decimals: number): string {
  if (!Number.isFinite(value)) return "–";
  const text = Math.abs(value).toFixed(Math.min(decimals, 12));
  const [whole = "0", part] = text.split(".");
  const grouped = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, "\u202f") : whole;
  const sign = value < 0 && Number(text) !== 0 ? "−" : "";
  return `${sign}${grouped}${part === undefined ? "" : `.${part}`}`;
}

/** An SI value with its own best unit: `12.3 ms`. */
export function formatQuantity(value: number, quantity: Quantity, digits = 3): string {
  return withUnit(value, unitFor(quantity, value), digits);
}

/** An SI value in a given unit: `12.3 ms`, `4.5 %`, `3`. */
export function withUnit(value: number, unit: Unit, digits = 3): string {
  if (!Number.isFinite(value)) return "–";
  const number = formatNumber(value * unit.factor, digits);
  return unit.symbol === "" ? number : `${number}\u00a0${unit.symbol}`;
}

/** Digits after the point for a column of numbers with half-widths of their intervals: two significant for the smallest
 *  number and one for the smallest interval, but at most four for the largest number. */
export function columnDecimals(values: readonly number[], intervals: readonly number[]): number {
  const positive = (sizes: readonly number[]): number[] => sizes.map(Math.abs).filter((size) => size > 0 && Number.isFinite(size));
  const sizes = positive(values);
  if (sizes.length === 0) return 0;
  const place = (size: number): number => Math.floor(Math.log10(size));
  const wanted = Math.max(1 - place(Math.min(...sizes)), 2 - place(Math.max(...sizes)), -place(Math.min(...positive(intervals), Infinity)));
  return Math.max(0, Math.min(wanted, 3 - place(Math.max(...sizes))));
}

/** A label with its unit in brackets: `Sojourn time (ms)`. */
export function withUnitLabel(label: string, unit: Unit): string {
  return unit.symbol === "" ? label : `${label} (${unit.symbol})`;
}

const SUFFIXES: Record<Quantity, string> = { time: "s", seconds: "s", rate: "bit_s", bytes: "bytes", packets: "packets", ratio: "", number: "" };

/** The name of a column of an exported file, which ends in its SI unit as names in `summary.json` do: `sojourn_time_s`. */
export function columnName(label: string, quantity: Quantity): string {
  const words = label.toLowerCase().replace(/[^a-z0-9]+/g, "_").replace(/^_+|_+$/g, "");
  const suffix = SUFFIXES[quantity];
  return suffix === "" || words === suffix || words.endsWith(`_${suffix}`) ? words : `${words}_${suffix}`;
}
