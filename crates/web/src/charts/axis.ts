// Axes as uPlot draws them: our type, our colors, our numbers.

import type uPlot from "uplot";
import type { Ink } from "../palette.ts";
import { formatDecimals, type Quantity, type Unit, withUnitLabel } from "../units.ts";
import { logTicks, type Range, tickDecimals } from "./ticks.ts";

/** One axis of a line chart. */
export interface LineAxis {
  readonly label: string;
  readonly quantity: Quantity;
  /** Full range; by default that of the lines. */
  readonly range?: Range;
  readonly scale?: "linear" | "log";
}

const FONT = "12px Inter, ui-sans-serif, system-ui, sans-serif";

/** Width of an average character of the 12-pixel text. */
const CHARACTER = 6.4;

/** Length of the vertical axis of a plot of `height` pixels: the rest is above it, or below for the horizontal one. */
export function verticalRoom(height: number): number {
  return height - 56;
}

/** A vertical axis' title: the label with its unit, or the unit alone where there are too few pixels for more. */
export function axisTitle(label: string, unit: Unit, room: number): string {
  const whole = withUnitLabel(label, unit);
  return whole.length * CHARACTER <= room || unit.symbol === "" ? whole : unit.symbol;
}

/** The horizontal or vertical axis of a plot of `height` pixels; `unit` is asked at each
 *  drawing. */
export function plotAxis(which: "x" | "y", axis: LineAxis, unit: () => Unit, ink: Ink, height: number): uPlot.Axis {
  return {
    stroke: ink.muted,
    font: FONT,
    labelFont: FONT,
    grid: { stroke: ink.grid, width: 1 },
    ticks: { show: false },
    ...(axis.label === "" ? {} : { label: which === "x" ? withUnitLabel(axis.label, unit()) : axisTitle(axis.label, unit(), verticalRoom(height)) }),
    labelSize: 20,
    size: which === "x" ? 26 : (_plot, values) => 14 + Math.max(0, ...(values ?? []).map((value) => (value ?? "").length)) * 6.9,
    gap: 6,
    // Label every tick: by default the library labels only powers of ten.
    ...(axis.scale === "log" ? { splits: (_plot: uPlot, _axis: number, min: number, max: number) => logTicks({ min, max }), filter: (_plot: uPlot, splits: number[]) => splits } : {}),
    space: which === "x" ? 64 : height < 170 ? 22 : 36,
    values: (_plot, splits) => {
      const shown = splits.map((split) => (split === null ? null : Number((split * unit().factor).toPrecision(10))));
      const present = shown.filter((value) => value !== null);
      const decimals = axis.scale === "log" ? -1 : tickDecimals(present);
      return shown.map((value) => (value === null ? "" : formatDecimals(value, decimals < 0 ? tickDecimals([value]) : decimals)));
    },
  };
}
