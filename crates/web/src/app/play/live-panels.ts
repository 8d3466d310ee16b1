// Live charts side by side, one for each compared queue, with one vertical axis for all.

import type { Rows } from "../../charts/export.ts";
import { LiveChart, type LiveLine, type LiveOptions, steadyTop } from "../../charts/live.ts";
import { type Panel, Panels } from "../../charts/panels.ts";
import type { PlotLine } from "../../charts/plot.ts";

/** One of the charts before it is made. */
export interface LivePanel extends PlotLine {
  readonly lines: () => readonly LiveLine[];
}

export class LivePanels extends Panels<LiveChart, Panel<LiveChart>> {
  constructor(options: Omit<LiveOptions, "lines" | "top">, panels: readonly LivePanel[]) {
    const needed: number[] = panels.map(() => 0);
    let top = 0;
    const charts: readonly LiveChart[] = panels.map(
      (panel, at) =>
        new LiveChart({
          ...options,
          name: `${options.name}, ${panel.label}`,
          lines: panel.lines,
          top: (value) => {
            needed[at] = value;
            const now = steadyTop(top, Math.max(...needed));
            // Panels that were drawn before still have the previous axis.
            if (now !== top) for (const [other, chart] of charts.entries()) if (other !== at) chart.update();
            top = now;
            return now;
          },
        }),
    );
    super(charts.flatMap((chart, at) => (panels[at] ? [{ ...panels[at], chart }] : [])));
  }

  protected inRow(): number {
    return this.panels.length > 1 ? 2 : 1;
  }

  update(): void {
    for (const { chart } of this.panels) chart.update();
  }

  data(): Rows {
    const [header = []] = this.panels[0]?.chart.data() ?? [];
    return [["queue", ...header], ...this.panels.flatMap(({ label, chart }) => chart.data().slice(1).map((row) => [label, ...row]))];
  }

  digest(): Rows {
    const all = this.panels.map(({ label, chart }) => ({ label, rows: chart.digest() }));
    return (all[0]?.rows ?? []).map((row, line) => [row[0] ?? "", ...all.flatMap(({ label, rows }) => (rows[line] ?? []).slice(1).map((cell) => (line === 0 ? `${label}: ${cell}` : cell)))]);
  }
}
