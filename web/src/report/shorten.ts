// Names beside the rows of a chart.

/** Width of an average character of a chart's text, in pixels. */
const CHARACTER = 6.7;
/** What part of a chart its names may take. */
const PART = 0.3;
const LEAST = 14;

/** A name that leaves room for the rows of a chart of `width` pixels. */
export function shortened(name: string, width: number): string {
  const most = Math.max(LEAST, Math.floor((width * PART) / CHARACTER));
  return name.length > most ? `${name.slice(0, most - 1)}…` : name;
}
