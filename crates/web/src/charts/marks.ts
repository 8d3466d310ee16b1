// Charts of a few marks, drawn as SVG on the page: read by pointer or arrow keys, zoomed by
// dragging a box.

import { h } from "../dom.ts";
import { type Ink, inkOf, type Look } from "../palette.ts";
import type { Chart, Heading } from "./chart.ts";
import type { Rows } from "./export.ts";
import { isChord } from "./gestures.ts";
import { draw, type Drawn, type Plot } from "./svg.ts";
import type { Range } from "./ticks.ts";
import { Tooltip, type TooltipRow } from "./tooltip.ts";

/** A point with a tooltip. */
export interface Target {
  readonly x: number;
  readonly y: number;
  readonly look: Look;
  readonly heading: string;
  readonly rows: readonly TooltipRow[];
}

/** Visible range; `null` for everything. */
export interface Box {
  readonly x: Range | null;
  readonly y: Range | null;
}

/** Options of a chart of marks. */
export interface MarksOptions {
  readonly name: string;
  /** The plot for a width in pixels and a part of the axes. */
  readonly build: (width: number, box: Box, ink: Ink) => Plot;
  readonly targets: readonly Target[];
  /** Which axes dragging zooms. */
  readonly zoom: "x" | "xy";
  readonly data: Rows;
  readonly digest: Rows;
  readonly onZoom: () => void;
}

/** The pointer has to come this near, in pixels. */
const REACH = 28;

export class MarksChart implements Chart {
  readonly element: HTMLElement;
  readonly #options: MarksOptions;
  readonly #host = h("div", { class: "plot" });
  readonly #selection = h("div", { class: "plot-selection", hidden: true });
  readonly #ring = h("div", { class: "plot-ring", hidden: true });
  readonly #tooltip: Tooltip;
  readonly #observer = new ResizeObserver(() => this.#draw());
  #box: Box = { x: null, y: null };
  #drawn: Drawn | undefined;
  #ink = inkOf("page");
  #chosen = -1;
  #start: { x: number; y: number } | undefined;

  constructor(options: MarksOptions) {
    this.#options = options;
    this.element = h("div", { class: "plot-frame", tabindex: 0, role: "group", "aria-roledescription": "chart", "aria-label": `${options.name}. Arrow keys read one value after the other, 0 shows everything.` }, this.#host, this.#selection, this.#ring);
    this.#tooltip = new Tooltip(this.element);
    this.element.addEventListener("pointermove", (event) => this.#onMove(event));
    // A lifted finger also fires `leave`, but the tapped value stays selected until the next tap.
    this.element.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && this.#choose(-1));
    this.element.addEventListener("pointerdown", (event) => this.#onDown(event));
    this.element.addEventListener("pointerup", (event) => this.#onUp(event));
    this.element.addEventListener("pointercancel", () => this.#endDrag());
    this.element.addEventListener("dblclick", () => this.resetZoom());
    this.element.addEventListener("keydown", (event) => this.#onKey(event));
    this.element.addEventListener("blur", () => this.#choose(-1));
    this.#observer.observe(this.#host);
  }

  zoomed(): boolean {
    return this.#box.x !== null || this.#box.y !== null;
  }

  resetZoom(): void {
    this.#zoomTo({ x: null, y: null });
  }

  redraw(): void {
    this.#ink = inkOf("page");
    this.#draw();
  }

  destroy(): void {
    this.#observer.disconnect();
  }

  svg(ink: Ink, width: number, heading: Heading | undefined): string {
    const plot = this.#options.build(width, this.#box, ink);
    return draw(heading ? { ...plot, ...heading, height: plot.height + 60 } : plot, ink).svg;
  }

  data(): Rows {
    return this.#options.data;
  }

  digest(): Rows {
    return this.#options.digest;
  }

  #draw(): void {
    const width = this.#host.clientWidth;
    if (width === 0) return;
    this.#drawn = draw(this.#options.build(width, this.#box, this.#ink), this.#ink);
    // The text comes from draw(), which escapes all external strings.
    this.#host.innerHTML = this.#drawn.svg;
    this.#host.firstElementChild?.setAttribute("aria-hidden", "true");
    this.#choose(-1);
  }

  #zoomTo(box: Box): void {
    this.#box = box;
    this.#draw();
    this.#options.onZoom();
  }

  #choose(index: number): void {
    this.#chosen = index;
    const target = this.#options.targets[index];
    const drawn = this.#drawn;
    this.#ring.hidden = !target || !drawn;
    if (!target || !drawn) {
      this.#tooltip.hide();
      return;
    }
    const [x, y] = [drawn.toX(target.x), drawn.toY(target.y)];
    this.#ring.style.transform = `translate(${x - 9}px, ${y - 9}px)`;
    this.#ring.style.borderColor = this.#ink.hues[target.look.hue];
    this.#tooltip.show(x, y, target.heading, target.rows);
  }

  #position(event: PointerEvent): { x: number; y: number } {
    const bounds = this.#host.getBoundingClientRect();
    return { x: event.clientX - bounds.left, y: event.clientY - bounds.top };
  }

  #onMove(event: PointerEvent): void {
    const at = this.#position(event);
    if (this.#start) {
      this.#showSelection(this.#start, at);
      return;
    }
    const drawn = this.#drawn;
    if (!drawn) return;
    let nearest = -1;
    let best = REACH;
    this.#options.targets.forEach((target, index) => {
      const distance = Math.hypot(drawn.toX(target.x) - at.x, drawn.toY(target.y) - at.y);
      if (distance < best) [nearest, best] = [index, distance];
    });
    if (nearest !== this.#chosen) this.#choose(nearest);
  }

  #onDown(event: PointerEvent): void {
    if (event.pointerType === "touch") this.#onMove(event);
    if (event.button !== 0 || event.pointerType === "touch") return;
    this.#start = this.#position(event);
    this.element.setPointerCapture(event.pointerId);
  }

  #onUp(event: PointerEvent): void {
    const start = this.#start;
    const drawn = this.#drawn;
    const end = this.#position(event);
    this.#endDrag();
    if (!start || !drawn || Math.abs(end.x - start.x) < 6) return;
    const x = between(drawn.fromX(start.x), drawn.fromX(end.x));
    const isBox = this.#options.zoom === "xy" && Math.abs(end.y - start.y) >= 6;
    this.#zoomTo({ x, y: isBox ? between(drawn.fromY(start.y), drawn.fromY(end.y)) : this.#box.y });
  }

  #endDrag(): void {
    this.#start = undefined;
    this.#selection.hidden = true;
  }

  #showSelection(start: { x: number; y: number }, end: { x: number; y: number }): void {
    const drawn = this.#drawn;
    if (!drawn) return;
    const isBox = this.#options.zoom === "xy" && Math.abs(end.y - start.y) >= 6;
    const [top, bottom] = isBox ? [Math.min(start.y, end.y), Math.max(start.y, end.y)] : [drawn.box.top, drawn.box.top + drawn.box.height];
    this.#selection.hidden = false;
    Object.assign(this.#selection.style, { left: `${Math.min(start.x, end.x)}px`, width: `${Math.abs(end.x - start.x)}px`, top: `${top}px`, height: `${bottom - top}px` });
  }

  #onKey(event: KeyboardEvent): void {
    if (isChord(event)) return;
    const count = this.#options.targets.length;
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step !== undefined && count > 0) this.#choose((Math.max(this.#chosen, step < 0 ? 0 : -1) + step + count) % count);
    else if (event.key === "0" || event.key === "Escape") this.resetZoom();
    else return;
    event.preventDefault();
  }
}

function between(a: number, b: number): Range {
  return { min: Math.min(a, b), max: Math.max(a, b) };
}
