// The cursor and the keys of plots.

import type uPlot from "uplot";

/** Position of the cursor in pixels from the left; the middle if there is none. */
export function cursorLeft(plot: uPlot): number {
  const { left } = plot.cursor;
  return left === undefined || left < 0 ? plot.over.clientWidth / 2 : left;
}

/** Whether the key is part of a browser shortcut. */
export function isChord(event: KeyboardEvent): boolean {
  return event.ctrlKey || event.metaKey || event.altKey;
}

