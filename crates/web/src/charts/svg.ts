// Plots as SVG text: shown live where there are few marks, and the form in which every chart is
// exported and printed.

import type { Ink, Look, Mark } from "../palette.ts";
import { formatDecimals, type Unit, withUnitLabel } from "../units.ts";
import { axisTitle } from "./axis.ts";
import { linearTicks, logTicks, type Range, tickDecimals } from "./ticks.ts";

/** One axis; values are SI, `unit` says how they are shown. */
export interface Axis {
  readonly label: string;
  readonly range: Range;
  readonly scale: "linear" | "log";
  readonly unit: Unit;
  /** Names instead of numbers: the k-th is at k, from the top. */
  readonly categories?: readonly string[];
  /** Values that have a tick where there is room, instead of round ones. */
  readonly ticks?: readonly number[];
}

/** Something drawn inside the axes, in the axes' values. */
export type Shape =
  | { readonly type: "line"; readonly x: readonly number[]; readonly y: readonly (number | null)[]; readonly look: Look; readonly steps: boolean; readonly width: number; readonly opacity: number }
  | { readonly type: "point"; readonly x: number; readonly y: number; readonly look: Look; readonly size: number; readonly opacity: number }
  | { readonly type: "segment"; readonly from: readonly [number, number]; readonly to: readonly [number, number]; readonly look: Look; readonly width: number; readonly opacity: number }
  | { readonly type: "label"; readonly x: number; readonly y: number; readonly text: string; readonly anchor: "start" | "middle" | "end"; readonly dx: number; readonly dy: number; readonly quiet: boolean }
  | { readonly type: "band"; readonly from: number; readonly to: number; readonly text: string };

/** A whole plot. */
export interface Plot {
  readonly width: number;
  readonly height: number;
  readonly x: Axis;
  readonly y: Axis;
  readonly shapes: readonly Shape[];
  /** Room at the right of the plotting area, for text. */
  readonly right?: number;
  /** Only for exported files, which stand alone. */
  readonly title?: string;
  readonly legend?: readonly { readonly label: string; readonly look: Look }[];
}

/** A drawn plot and where its values are. */
export interface Drawn {
  readonly svg: string;
  readonly box: { readonly left: number; readonly top: number; readonly width: number; readonly height: number };
  readonly toX: (value: number) => number;
  readonly toY: (value: number) => number;
  readonly fromX: (pixel: number) => number;
  readonly fromY: (pixel: number) => number;
}

const FONT = `Inter, ui-sans-serif, system-ui, "Segoe UI", "Helvetica Neue", sans-serif`;
/** Width of an average character of the 12-pixel text. */
export const CHARACTER = 6.7;

/** Draws `plot`. */
export function draw(plot: Plot, ink: Ink): Drawn {
  const header = drawHeader(plot, ink);
  const yTicks = ticksOf(plot.y, plot.height < 160 ? 3 : 5);
  const widest = Math.max(0, ...yTicks.map((tick) => tick.text.length));
  const left = Math.ceil(widest * CHARACTER) + (plot.y.categories || plot.y.label === "" ? 14 : 32);
  const box = {
    left,
    top: header.height + 10,
    width: Math.max(40, plot.width - left - (plot.right ?? 14)),
    height: Math.max(30, plot.height - header.height - 10 - (plot.x.label === "" ? 24 : 42)),
  };
  const [toX, fromX] = scaleOf(plot.x, box.left, box.left + box.width);
  // Categories are counted from the top, numbers from the bottom.
  const [toY, fromY] = plot.y.categories ? scaleOf(plot.y, box.top, box.top + box.height) : scaleOf(plot.y, box.top + box.height, box.top);
  const xTicks = withRoom(ticksOf(plot.x, Math.max(2, Math.floor(box.width / 90))), toX);
  const clip = `clip-${Math.round(plot.width)}-${Math.round(plot.height)}`;
  const bands = plot.shapes.filter((shape) => shape.type === "band");
  const marks = plot.shapes.filter((shape) => shape.type !== "band" && shape.type !== "label");
  const labels = plot.shapes.filter((shape) => shape.type === "label");
  const scales = { toX, toY, box, ink };
  const svg = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${plot.width}" height="${plot.height}" viewBox="0 0 ${plot.width} ${plot.height}" font-family='${FONT}' font-size="12">`,
    `<defs><clipPath id="${clip}"><rect x="${box.left}" y="${box.top - 4}" width="${box.width + 4}" height="${box.height + 8}"/></clipPath></defs>`,
    header.svg,
    ...bands.map((shape) => drawShape(shape, scales)),
    ...yTicks.map(({ at, text }) => drawYTick(toY(at), text, box, ink, plot.y.categories !== undefined)),
    ...xTicks.map(({ at, text }) => drawXTick(toX(at), text, box, ink)),
    `<path d="M${box.left} ${box.top + box.height}h${box.width}" stroke="${ink.line}" fill="none"/>`,
    axisLabels(plot, box, ink),
    `<g clip-path="url(#${clip})">`,
    ...marks.map((shape) => drawShape(shape, scales)),
    "</g>",
    ...labels.map((shape) => drawShape(shape, scales)),
    "</svg>",
  ].join("");
  return { svg, box, toX, toY, fromX, fromY };
}

/** Text that can stand inside SVG. */
export function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

function scaleOf(axis: Axis, start: number, end: number): [(value: number) => number, (pixel: number) => number] {
  const { min, max } = axis.range;
  if (axis.scale === "log") {
    const low = Math.log10(min);
    const span = Math.log10(max) - low || 1;
    return [
      (value) => start + ((Math.log10(Math.max(value, min * 1e-3)) - low) / span) * (end - start),
      (pixel) => 10 ** (low + ((pixel - start) / (end - start)) * span),
    ];
  }
  const span = max - min || 1;
  return [(value) => start + ((value - min) / span) * (end - start), (pixel) => min + ((pixel - start) / (end - start)) * span];
}

function ticksOf(axis: Axis, count: number): { at: number; text: string }[] {
  if (axis.categories) return axis.categories.map((text, at) => ({ at, text }));
  if (axis.ticks) return axis.ticks.filter((at) => at >= axis.range.min && at <= axis.range.max).map((at) => ({ at, text: plainNumber(at * axis.unit.factor) }));
  const shown = { min: axis.range.min * axis.unit.factor, max: axis.range.max * axis.unit.factor };
  if (axis.scale === "log") {
    return logTicks(shown).map((tick) => ({ at: tick / axis.unit.factor, text: formatDecimals(tick, tickDecimals([tick])) }));
  }
  const ticks = linearTicks(shown, count);
  const decimals = tickDecimals(ticks);
  return ticks.map((tick) => ({ at: tick / axis.unit.factor, text: formatDecimals(tick, decimals) }));
}

function plainNumber(value: number): string {
  const number = Number(value.toPrecision(6));
  return formatDecimals(number, tickDecimals([number]));
}

/** Ticks without those whose texts would touch the one before. */
function withRoom<Tick extends { at: number; text: string }>(ticks: readonly Tick[], toX: (value: number) => number): Tick[] {
  const kept: Tick[] = [];
  for (const tick of ticks) {
    const before = kept[kept.length - 1];
    if (!before || toX(tick.at) - toX(before.at) >= ((before.text.length + tick.text.length) / 2 + 1) * CHARACTER) kept.push(tick);
  }
  return kept;
}

/** Where each entry of a legend stands: one after the other on one line, in columns on several. */
function legendPlaces(legend: Plot["legend"] = [], width: number): { x: number; line: number }[] {
  const widths = legend.map(({ label }) => 30 + label.length * CHARACTER + 18);
  if (widths.reduce((sum, one) => sum + one, 14) <= width) return widths.map((_, at) => ({ x: widths.slice(0, at).reduce((sum, one) => sum + one, 14), line: 0 }));
  const column = Math.max(...widths);
  const count = Math.max(1, Math.floor((width - 14) / column));
  return legend.map((_, at) => ({ x: 14 + (at % count) * column, line: Math.floor(at / count) }));
}

/** Height that a legend takes above a plot without a title. */
export function legendHeight(legend: Plot["legend"], width: number): number {
  return 28 + 18 * Math.max(0, ...legendPlaces(legend, width).map(({ line }) => line));
}

function drawHeader(plot: Plot, ink: Ink): { svg: string; height: number } {
  if (plot.title === undefined) return { svg: "", height: 0 };
  let svg = `<rect width="${plot.width}" height="${plot.height}" fill="${ink.surface}"/>`;
  if (plot.title !== "") svg += `<text x="14" y="26" fill="${ink.ink}" font-size="15" font-weight="600">${escapeXml(plot.title)}</text>`;
  const legend = plot.legend ?? [];
  const first = plot.title === "" ? 20 : 50;
  legendPlaces(legend, plot.width).forEach(({ x, line }, at) => {
    const entry = legend[at];
    const y = first + 18 * line;
    if (entry) svg += `<g transform="translate(${fixed(x)} ${y - 4})">${swatch(entry.look, ink)}</g><text x="${fixed(x + 30)}" y="${y}" fill="${ink.ink}">${escapeXml(entry.label)}</text>`;
  });
  return { svg, height: legend.length > 0 ? first - 20 + legendHeight(legend, plot.width) : 36 };
}

/** A short piece of line with its mark, 24 wide, centred on y = 0. */
export function swatch(look: Look, ink: Ink): string {
  const colour = ink.hues[look.hue];
  return `<path d="M0 0h24" stroke="${colour}" stroke-width="2" stroke-dasharray="${look.dash.join(" ")}" fill="none"/>${markPath(look.mark, 12, 0, 4, colour, 1, ink.surface)}`;
}

function drawYTick(y: number, text: string, box: Drawn["box"], ink: Ink, isCategory: boolean): string {
  const label = `<text x="${box.left - 8}" y="${fixed(y + 4)}" text-anchor="end" fill="${isCategory ? ink.ink : ink.muted}">${escapeXml(text)}</text>`;
  return `<path d="M${box.left} ${fixed(y)}h${box.width}" stroke="${ink.grid}" fill="none"/>${label}`;
}

function drawXTick(x: number, text: string, box: Drawn["box"], ink: Ink): string {
  const bottom = box.top + box.height;
  return `<path d="M${fixed(x)} ${box.top}V${bottom}" stroke="${ink.grid}" fill="none"/><text x="${fixed(x)}" y="${bottom + 18}" text-anchor="middle" fill="${ink.muted}">${escapeXml(text)}</text>`;
}

function axisLabels(plot: Plot, box: Drawn["box"], ink: Ink): string {
  let svg = "";
  if (plot.x.label !== "") {
    svg += `<text x="${box.left + box.width}" y="${box.top + box.height + 36}" text-anchor="end" fill="${ink.muted}">${escapeXml(withUnitLabel(plot.x.label, plot.x.unit))}</text>`;
  }
  if (plot.y.label !== "") {
    const middle = box.top + box.height / 2;
    svg += `<text transform="translate(13 ${fixed(middle)}) rotate(-90)" text-anchor="middle" fill="${ink.muted}">${escapeXml(axisTitle(plot.y.label, plot.y.unit, box.height))}</text>`;
  }
  return svg;
}

interface Scales {
  readonly toX: (value: number) => number;
  readonly toY: (value: number) => number;
  readonly box: Drawn["box"];
  readonly ink: Ink;
}

function drawShape(shape: Shape, { toX, toY, box, ink }: Scales): string {
  switch (shape.type) {
    case "line":
      return `<path d="${linePath(shape, toX, toY)}" stroke="${ink.hues[shape.look.hue]}" stroke-width="${shape.width}" opacity="${shape.opacity}" stroke-linejoin="round" stroke-dasharray="${shape.opacity < 1 ? "" : shape.look.dash.join(" ")}" fill="none"/>`;
    case "segment":
      return `<path d="M${fixed(toX(shape.from[0]))} ${fixed(toY(shape.from[1]))}L${fixed(toX(shape.to[0]))} ${fixed(toY(shape.to[1]))}" stroke="${ink.hues[shape.look.hue]}" stroke-width="${shape.width}" opacity="${shape.opacity}" stroke-linecap="round" fill="none"/>`;
    case "point":
      return markPath(shape.look.mark, toX(shape.x), toY(shape.y), shape.size, ink.hues[shape.look.hue], shape.opacity, ink.surface);
    case "label":
      return `<text x="${fixed(toX(shape.x) + shape.dx)}" y="${fixed(toY(shape.y) + shape.dy)}" text-anchor="${shape.anchor}" fill="${shape.quiet ? ink.muted : ink.ink}" stroke="${ink.surface}" stroke-width="3" paint-order="stroke" stroke-linejoin="round">${escapeXml(shape.text)}</text>`;
    case "band": {
      const left = Math.max(box.left, toX(shape.from));
      const right = Math.min(box.left + box.width, toX(shape.to));
      if (right <= left) return "";
      return `<rect x="${fixed(left)}" y="${box.top}" width="${fixed(right - left)}" height="${box.height}" fill="${ink.shade}"/>${right - left > 60 ? `<text x="${fixed(left + 6)}" y="${box.top + 14}" fill="${ink.muted}" font-size="11">${escapeXml(shape.text)}</text>` : ""}`;
    }
  }
}

function linePath(line: { x: readonly number[]; y: readonly (number | null)[]; steps: boolean }, toX: (value: number) => number, toY: (value: number) => number): string {
  let path = "";
  let last: number | null = null;
  line.x.forEach((x, at) => {
    const y = line.y[at] ?? null;
    if (y === null) return;
    const [px, py] = [fixed(toX(x)), fixed(toY(y))];
    if (last === null) path += `M${px} ${py}`;
    else path += line.steps ? `H${px}V${py}` : `L${px} ${py}`;
    last = y;
  });
  return path;
}

/** The outline of a mark of radius `size` around (x, y). */
function markPath(mark: Mark, x: number, y: number, size: number, colour: string, opacity: number, halo: string): string {
  const r = size;
  const t = size * 1.15;
  const path = {
    circle: `M${fixed(x - r)} ${fixed(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
    square: `M${fixed(x - r * 0.9)} ${fixed(y - r * 0.9)}h${fixed(r * 1.8)}v${fixed(r * 1.8)}h${fixed(-r * 1.8)}z`,
    diamond: `M${fixed(x)} ${fixed(y - r * 1.3)}l${fixed(r * 1.3)} ${fixed(r * 1.3)}l${fixed(-r * 1.3)} ${fixed(r * 1.3)}l${fixed(-r * 1.3)} ${fixed(-r * 1.3)}z`,
    up: `M${fixed(x)} ${fixed(y - t)}l${fixed(t)} ${fixed(t * 1.8)}h${fixed(-2 * t)}z`,
    down: `M${fixed(x)} ${fixed(y + t)}l${fixed(t)} ${fixed(-t * 1.8)}h${fixed(-2 * t)}z`,
    cross: `M${fixed(x - r)} ${fixed(y - r)}l${fixed(2 * r)} ${fixed(2 * r)}m0 ${fixed(-2 * r)}l${fixed(-2 * r)} ${fixed(2 * r)}`,
  }[mark];
  if (mark === "cross") return `<path d="${path}" stroke="${colour}" stroke-width="${fixed(Math.max(1.2, r * 0.5))}" opacity="${opacity}" fill="none"/>`;
  return `<path d="${path}" fill="${colour}" opacity="${opacity}" stroke="${halo}" stroke-width="${size > 3 ? 1 : 0}"/>`;
}

/** A coordinate with two digits, which is finer than any screen. */
function fixed(value: number): string {
  return String(Math.round(value * 100) / 100);
}
