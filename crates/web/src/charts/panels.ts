// Several charts side by side, looked at as one.

import { h } from "../dom.ts";
import type { Ink, Look } from "../palette.ts";
import type { Chart, Heading } from "./chart.ts";
import type { Rows } from "./export.ts";
import { sign } from "./sign.ts";
import { escapeXml } from "./svg.ts";

/** One of the charts, with its heading. */
export interface Panel<C extends Chart> {
  readonly chart: C;
  readonly label: string;
  readonly look?: Look;
  /** Explanation of the label. */
  readonly meaning?: string;
  /** At the end of the line. */
  readonly aside?: HTMLElement;
}

export abstract class Panels<C extends Chart, P extends Panel<C>> implements Chart {
  readonly element: HTMLElement;
  protected readonly panels: readonly P[];

  constructor(panels: readonly P[], className = "panels") {
    this.panels = panels;
    const elements = panels.map(({ chart, label, look, meaning, aside }) => {
      const name = h("span", { class: "panel-name", title: meaning }, label);
      return h("div", { class: "panel" }, h("div", { class: "panel-head" }, look && sign(look), name, aside), chart.element);
    });
    this.element = h("div", { class: className, "data-count": elements.length }, ...elements);
  }

  /** Number of charts in a row of a picture of `width` pixels. */
  protected abstract inRow(width: number): number;
  abstract data(): Rows;
  abstract digest(): Rows;

  zoomed(): boolean {
    return this.panels.some(({ chart }) => chart.zoomed());
  }

  resetZoom(): void {
    for (const { chart } of this.panels) if (chart.zoomed()) chart.resetZoom();
  }

  redraw(): void {
    for (const { chart } of this.panels) chart.redraw();
  }

  destroy(): void {
    for (const { chart } of this.panels) chart.destroy();
  }

  svg(ink: Ink, width: number, heading: Heading | undefined): string {
    const inRow = this.inRow(width);
    const pieces = this.panels.map(({ chart, label, look }) => {
      const own = look ? { title: "", legend: [{ label, look }] } : { title: label, legend: [] };
      return chart.svg(ink, width / inRow, own);
    });
    return stackSvg(pieces, width, inRow, heading?.title, ink);
  }
}

/** SVG texts side by side, `inRow` in a row, below a title if there is one. */
function stackSvg(pieces: readonly string[], width: number, inRow: number, title: string | undefined, ink: Ink): string {
  const height = Math.max(0, ...pieces.map((piece) => Number(/height="([\d.]+)"/.exec(piece)?.[1] ?? 0)));
  const top = title === undefined ? 0 : 40;
  const placed = pieces.map((piece, at) => {
    const place = `<svg x="${(at % inRow) * (width / inRow)}" y="${top + Math.floor(at / inRow) * height}" `;
    // Names inside one picture are its own only as long as no other picture has them.
    return piece.replace("<svg ", place).replaceAll("clip-", `clip-${at}-`);
  });
  const all = top + Math.ceil(pieces.length / inRow) * height;
  const head = title === undefined ? "" : `<text x="14" y="26" font-size="15" font-weight="600" fill="${ink.ink}">${escapeXml(title)}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${all}" viewBox="0 0 ${width} ${all}" font-family="Inter, sans-serif"><defs></defs><rect width="${width}" height="${all}" fill="${ink.surface}"/>${head}${placed.join("")}</svg>`;
}
