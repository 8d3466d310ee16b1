// Interaction along the horizontal axis of a plot: pointing, dragging, stepping with keys.

import type uPlot from "uplot";
import { formatNumber, type Unit } from "../units.ts";
import { extent } from "./ticks.ts";
import type { SharedWindow } from "./window.ts";

/** uPlot's cursor: it points along the axis in all charts of one window, and a drag chooses a
 *  part; a double click gives it back. */
export function cursorOf(window: SharedWindow, reset: () => void, points: uPlot.Cursor.Points = { show: false }): uPlot.Cursor {
  return {
    drag: { x: true, y: false, setScale: false, dist: 4 },
    points,
    y: false,
    sync: { key: window.key, setSeries: false, filters: { pub: (type: string) => type === "mousemove" || type === "mouseleave" } },
    bind: { dblclick: () => () => (reset(), null) },
  };
}

/** Shows the part that was dragged over, in all charts of the window. */
export function chooseSelected(plot: uPlot, window: SharedWindow): void {
  const { left, width } = plot.select;
  if (width < 4) return;
  const range = { min: plot.posToVal(left, "x"), max: plot.posToVal(left + width, "x") };
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  window.set(range);
}

/** Position of the cursor in pixels from the left; the middle if there is none. */
export function cursorLeft(plot: uPlot): number {
  const { left } = plot.cursor;
  return left === undefined || left < 0 ? plot.over.clientWidth / 2 : left;
}

/** Whether the key is part of a browser shortcut. */
export function isChord(event: KeyboardEvent): boolean {
  return event.ctrlKey || event.metaKey || event.altKey;
}

/** Arrow keys, Home and End move the cursor, 0 and Escape show everything; says whether the key
 *  was one of these. */
export function steer(plot: uPlot, event: KeyboardEvent, reset: () => void): boolean {
  const width = plot.over.clientWidth;
  const now = cursorLeft(plot);
  const step = width / (event.shiftKey ? 10 : 100);
  const moves: Record<string, number> = { ArrowLeft: now - step, ArrowRight: now + step, Home: 0, End: width };
  const target = moves[event.key];
  if (target !== undefined) plot.setCursor({ left: Math.max(0, Math.min(width, target)), top: 20 });
  else if (event.key === "0" || event.key === "Escape") reset();
  else return false;
  return true;
}

/** The lowest and the highest of some values, in words for a table. */
export function spread(values: readonly (number | null)[], unit: Unit): string {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return "–";
  const { min, max } = extent(known);
  return `${formatNumber(min * unit.factor)} to ${formatNumber(max * unit.factor)}`;
}
