// Figures with their intervals: in words, and the axes that they need.

import { extent, type Range } from "../charts/ticks.ts";
import type { Figure } from "./data.ts";

/** A figure with half the width of its interval, if it has one. */
export function withInterval({ mean, ci95 }: Pick<Figure, "mean" | "ci95">, format: (value: number) => string): string {
  return ci95 === null ? format(mean) : `${format(mean)} ± ${format(ci95)}`;
}

/** Factors by which an axis reaches beyond figures: a linear one above, a logarithmic one below and
 *  above. */
interface Room {
  readonly linear: number;
  readonly log: readonly [below: number, above: number];
}

/** The axis of these figures; a linear one begins at zero and reaches at least as far as `least`. */
export function rangeOf(figures: readonly Figure[], scale: "linear" | "log", room: Room, least = 1e-6): Range {
  const ends = figures.map(({ mean, ci95 }) => mean + (ci95 ?? 0));
  if (scale === "linear") return { min: 0, max: Math.max(least, ...ends) * room.linear };
  // Intervals may reach beyond the axis: a wide one must not squeeze everything else.
  const { min, max } = extent(figures.map(({ mean }) => mean).filter((mean) => mean > 0));
  return { min: min / room.log[0], max: max * room.log[1] };
}
