// Series over time: all points in one plot, or one panel for each with equal axes.

import type { Chart } from "../charts/chart.ts";
import type { Rows } from "../charts/export.ts";
import { LineChart, type LineData, type LineOptions } from "../charts/line.ts";
import { type Panel, Panels } from "../charts/panels.ts";
import { extent, type Range } from "../charts/ticks.ts";
import type { SharedWindow } from "../charts/window.ts";
import { h } from "../dom.ts";
import type { Quantity } from "../units.ts";
import type { Result } from "./data.ts";
import type { Arrangement, PanelAxes } from "./state.ts";

/** What a chart over time shows. */
export interface TimelineOptions {
  readonly name: string;
  readonly quantity: Quantity;
  readonly lines: readonly LineData[];
  readonly steps: boolean;
  readonly arrangement: Arrangement;
  readonly panelAxes: PanelAxes;
  readonly result: Result;
  readonly window: SharedWindow;
}

/** A chart over time, arranged as asked. */
export function timelineChart(options: TimelineOptions): Chart {
  const { result, lines } = options;
  const everything = extent(lines.flatMap((line) => [line.x[0] ?? 0, line.x[line.x.length - 1] ?? 1]));
  const range: Range = { min: Math.min(0, everything.min), max: everything.max };
  const base = {
    x: { label: "Time", quantity: "seconds" as const, range },
    steps: options.steps,
    calm: !options.steps,
    // Single samples of a rate tell nothing.
    coarse: options.quantity === "rate",
    window: options.window,
    ...(result.measured && result.measured.from > 0 ? { band: { to: result.measured.from, text: "warm-up" } } : {}),
  };
  if (options.arrangement === "together") {
    return new LineChart({ ...base, name: options.name, y: { label: options.name, quantity: options.quantity }, lines, height: 260 });
  }
  const values = extent(lines.flatMap((line) => line.y.filter((value) => value !== null)));
  const equal = { range: { min: Math.min(0, values.min), max: values.max > 0 ? values.max * 1.06 : 1 } };
  const y = { label: options.name, quantity: options.quantity, ...(options.panelAxes === "equal" ? equal : {}) };
  return new TimePanels(lines, (line) => ({ ...base, name: `${options.name}, ${line.label}`, y, lines: [line], height: 152 }));
}

interface TimePanel extends Panel<LineChart> {
  readonly line: LineData;
  /** The highest value; while there is a cursor, the value there. */
  readonly aside: HTMLElement;
}

/** Several line charts with equal axes, looked at as one. */
class TimePanels extends Panels<LineChart, TimePanel> {
  constructor(lines: readonly LineData[], optionsOf: (line: LineData) => LineOptions) {
    const panels = lines.map((line): TimePanel => {
      const panel: TimePanel = {
        line,
        label: line.label,
        look: line.look,
        meaning: line.label,
        aside: h("span", { class: "number panel-value" }),
        chart: new LineChart({ ...optionsOf(line), onCursor: (x) => readOut(panel, x) }),
      };
      return panel;
    });
    super(panels);
    for (const panel of panels) readOut(panel, null);
  }

  protected inRow(): number {
    return this.panels.length > 3 ? 2 : 1;
  }

  data(): Rows {
    const all = this.panels.map(({ chart }) => chart.data());
    return [...(all[0]?.slice(0, 1) ?? []), ...all.flatMap((rows) => rows.slice(1))];
  }

  digest(): Rows {
    const all = this.panels.map(({ chart }) => chart.digest());
    return (all[0] ?? []).map((row, at) => [row[0] ?? "", ...all.map((rows) => rows[at]?.[1] ?? "")]);
  }
}

function readOut({ aside, chart, line }: TimePanel, x: number | null): void {
  const highest = line.y.length > 0 ? extent(line.y.filter((value) => value !== null)).max : null;
  aside.textContent = x === null ? `max ${chart.formatY(highest)}` : chart.formatY(chart.valuesAt(x)[0] ?? null);
}
