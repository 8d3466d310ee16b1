// Names next to the rows of a chart.

import { type Axis, CHARACTER } from "../charts/svg.ts";

/** What part of a chart its names may take. */
const PART = 0.3;
/** Where a shortened name is cut: it ends in its settings, which tell it from others. */
const CUT = 0.45;
const LEAST = 14;

/** A name that takes no more than a part of a chart of `width` pixels. */
function shortened(name: string, width: number, part: number): string {
  const most = Math.max(LEAST, Math.floor((width * part) / CHARACTER));
  const first = Math.floor(most * CUT);
  return name.length > most ? `${name.slice(0, first)}…${name.slice(first + 1 - most)}` : name;
}

/** An axis with a row for each point, called as it is. */
export function namesAxis(points: readonly { readonly label: string }[], width: number, part = PART): Axis {
  const categories = points.map(({ label }) => shortened(label, width, part));
  return { label: "", range: { min: -0.6, max: Math.max(0.6, points.length - 0.4) }, scale: "linear", unit: { symbol: "", factor: 1 }, categories };
}
