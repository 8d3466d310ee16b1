// Live charts side by side, one for each compared queue, with one vertical axis for all.

import type { Chart, Heading } from "../../charts/chart.ts";
import type { Rows } from "../../charts/export.ts";
import { LiveChart, type LiveLine, type LiveOptions, steadyTop } from "../../charts/live.ts";
import { sign } from "../../charts/sign.ts";
import { stackSvg } from "../../charts/stack.ts";
import { h } from "../../dom.ts";
import type { Ink, Look } from "../../palette.ts";

/** One of the charts. */
export interface Panel {
  readonly label: string;
  readonly look: Look;
  readonly lines: () => readonly LiveLine[];
}

export class LivePanels implements Chart {
  readonly element: HTMLElement;
  readonly #charts: readonly LiveChart[];
  readonly #panels: readonly Panel[];

  constructor(options: Omit<LiveOptions, "lines" | "top">, panels: readonly Panel[]) {
    this.#panels = panels;
    const needed: number[] = panels.map(() => 0);
    let top = 0;
    this.#charts = panels.map(
      (panel, at) =>
        new LiveChart({
          ...options,
          name: `${options.name}, ${panel.label}`,
          lines: panel.lines,
          top: (value) => {
            needed[at] = value;
            const now = steadyTop(top, Math.max(...needed));
            // Panels that were drawn before still have the previous axis.
            if (now !== top) for (const [other, chart] of this.#charts.entries()) if (other !== at) chart.update();
            top = now;
            return now;
          },
        }),
    );
    this.element = h("div", { class: "panels", "data-count": panels.length }, ...panels.map((panel, at) => h("div", { class: "panel" }, h("div", { class: "panel-head" }, sign(panel.look), h("span", { class: "panel-name" }, panel.label)), this.#charts[at]?.element)));
  }

  update(): void {
    for (const chart of this.#charts) chart.update();
  }

  zoomed(): boolean {
    return this.#charts.some((chart) => chart.zoomed());
  }

  resetZoom(): void {
    // They share one window.
    this.#charts[0]?.resetZoom();
  }

  redraw(): void {
    for (const chart of this.#charts) chart.redraw();
  }

  destroy(): void {
    for (const chart of this.#charts) chart.destroy();
  }

  data(): Rows {
    const all = this.#charts.map((chart) => chart.data());
    const [header = []] = all[0] ?? [];
    return [["queue", ...header], ...all.flatMap((rows, at) => rows.slice(1).map((row) => [this.#panels[at]?.label ?? "", ...row]))];
  }

  digest(): Rows {
    const all = this.#charts.map((chart) => chart.digest());
    return (all[0] ?? []).map((row, line) => [row[0] ?? "", ...all.flatMap((rows, at) => (rows[line] ?? []).slice(1).map((cell) => (line === 0 ? `${this.#panels[at]?.label ?? ""}: ${cell}` : cell)))]);
  }

  svg(ink: Ink, width: number, heading: Heading | undefined): string {
    const inRow = this.#charts.length > 1 ? 2 : 1;
    const pieces = this.#charts.map((chart, at) => {
      const panel = this.#panels[at];
      return chart.svg(ink, width / inRow, { title: "", legend: panel ? [{ label: panel.label, look: panel.look }] : [] });
    });
    return stackSvg(pieces, width, inRow, heading?.title, ink);
  }
}
