// The frame around each chart: heading, controls, exports, and a table view.

import type { Chart, Heading } from "./chart.ts";
import { csv, download, fileName, type Rows, svgToPng } from "./export.ts";
import { h, menu } from "../dom.ts";
import { inkOf } from "../palette.ts";

/** A place on the page that holds one chart, which may be replaced by another. */
export interface FrameOptions {
  readonly title: string;
  /** What to see here, in a sentence. */
  readonly hint: string;
  /** Makes what stands above the chart, given the function that recreates the chart. */
  readonly controls?: (update: () => void) => readonly HTMLElement[];
  /** Creates the chart from the present selection; nothing if there is nothing to show. */
  readonly make: (onZoom: () => void) => Chart | undefined;
  /** Lines of the legend of an exported picture. */
  readonly legend: () => Heading["legend"];
  /** Why there is nothing to show. */
  readonly empty: string;
  readonly isWide: () => boolean;
  /** Label of the button that resets the zoom. */
  readonly resetLabel?: string;
}

/** Width of exported pictures, in CSS pixels. */
const PICTURE_WIDTH = 840;

export class Frame {
  readonly element: HTMLElement;
  readonly #options: FrameOptions;
  readonly #place = h("div", { class: "chart-place" });
  readonly #print = h("div", { class: "chart-print", "aria-hidden": "true" });
  readonly #table: HTMLElement;
  readonly #details: HTMLDetailsElement;
  readonly #reset: HTMLButtonElement;
  readonly #actions: HTMLElement;
  readonly #controls = h("div", { class: "row chart-controls" });
  #chart: Chart | undefined;

  constructor(options: FrameOptions) {
    this.#options = options;
    this.#table = h("div", { class: "table-scroll", tabindex: 0, role: "region", "aria-label": `${options.title}, as a table` });
    this.#details = h("details", { class: "numbers", ontoggle: () => this.fillTable() }, h("summary", {}, "As a table"), this.#table);
    this.#reset = h("button", { type: "button", class: "button", disabled: true, onclick: () => this.#chart?.resetZoom() }, options.resetLabel ?? "Show all");
    const name = fileName(options.title);
    const save = menu("Save", `Save: ${options.title}`, [
      { label: "Picture, SVG", run: () => download(`${name}.svg`, "image/svg+xml", this.#picture()) },
      { label: "Picture, PNG", run: () => void svgToPng(this.#picture(), 2).then((png) => download(`${name}.png`, "image/png", png)) },
      { label: "Numbers, CSV", run: () => download(`${name}.csv`, "text/csv", csv(this.#chart?.data() ?? [])) },
    ]);
    this.#actions = h("div", { class: "chart-actions" }, this.#reset, save);
    this.setControls(options.controls?.(() => this.update()) ?? []);
    const head = h("div", { class: "chart-head" }, h("div", {}, h("h3", {}, options.title), h("p", { class: "hint" }, options.hint)), this.#actions);
    this.element = h("section", { class: "chart-card" }, head, this.#controls, this.#place, this.#print, this.#details);
  }

  /** Recreates the chart. */
  update(): void {
    this.#chart?.destroy();
    this.#chart = this.#options.make(() => this.zoomChanged());
    this.#place.replaceChildren(this.#chart?.element ?? h("p", { class: "empty" }, this.#options.empty));
    this.element.classList.toggle("wide", this.#options.isWide());
    this.#actions.hidden = this.#chart === undefined;
    this.#details.hidden = this.#chart === undefined;
    this.zoomChanged();
    this.fillTable();
  }

  /** Puts other controls above the chart. */
  setControls(controls: readonly HTMLElement[]): void {
    this.#controls.replaceChildren(...controls);
    this.#controls.hidden = controls.length === 0;
  }

  redraw(): void {
    this.#chart?.redraw();
  }

  zoomChanged(): void {
    this.#reset.disabled = this.#chart?.zoomed() !== true;
    this.fillTable();
  }

  /** Paper gets a drawing in light colors at its own width, whatever the screen shows. */
  preparePrint(): void {
    // The text comes from draw(), which escapes all external strings.
    this.#print.innerHTML = this.#chart?.svg(inkOf("light"), this.#options.isWide() ? 720 : 620, undefined) ?? "";
  }

  /** Updates the table if it is open. */
  fillTable(): void {
    if (!this.#details.open || !this.#chart) return;
    this.#table.replaceChildren(plainTable(this.#options.title, this.#chart.digest()));
  }

  #picture(): string {
    return this.#chart?.svg(inkOf("light"), PICTURE_WIDTH, { title: this.#options.title, legend: this.#options.legend() }) ?? "";
  }
}

/** A table of text, its first row and column being headers. */
function plainTable(caption: string, rows: Rows): HTMLElement {
  const [header = [], ...body] = rows;
  const text = (value: string | number | null | undefined): string => (value === null || value === undefined ? "–" : String(value));
  return h(
    "table",
    { class: "digest" },
    h("caption", { class: "visually-hidden" }, caption),
    h("thead", {}, h("tr", {}, ...header.map((value) => h("th", { scope: "col" }, text(value))))),
    h("tbody", {}, ...body.map((row) => h("tr", {}, ...row.map((value, at) => (at === 0 ? h("th", { scope: "row" }, text(value)) : h("td", { class: "number" }, text(value))))))),
  );
}
