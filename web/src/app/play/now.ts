// The numbers of this moment: a row for each queue, in plain text that changes a few times a second.

import { forget, repaint } from "../../charts/painter.ts";
import { sign } from "../../charts/sign.ts";
import { h } from "../../dom.ts";
import type { Look } from "../../palette.ts";
import type { Frame, VariantFrame } from "../../serve/protocol.ts";
import { formatDecimals, formatNumber, formatQuantity } from "../../units.ts";

/** Milliseconds between changes, so that they can be read. */
const PACE = 200;
const COLUMNS = ["Used", "Sojourn", "p95", "Queue", "Dropped", "Marked"];

export class Now {
  readonly element: HTMLElement;
  readonly #cells: readonly (readonly HTMLElement[])[];
  readonly #groups: readonly HTMLElement[];
  #frame: Frame | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(labels: readonly string[], looks: readonly Look[], onToggle: (variant: number, isShown: boolean) => void) {
    this.#cells = labels.map(() => COLUMNS.map(() => h("td", {}, "–")));
    this.#groups = labels.map(() => h("td", { class: "now-groups" }, "–"));
    const rows = labels.map((label, at) => {
      const button = h("button", { type: "button", class: "legend-item", "aria-pressed": "true", title: "Show or hide its lines", onclick: () => toggle() }, sign(looks[at] ?? { hue: "slate", dash: [], mark: "circle" }), label);
      const toggle = (): void => {
        const isShown = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(isShown));
        onToggle(at, isShown);
      };
      return h("tr", {}, h("th", { scope: "row" }, button), ...(this.#cells[at] ?? []), this.#groups[at]);
    });
    const head = h("tr", {}, h("th", { scope: "col" }, "Queue"), ...COLUMNS.map((column) => h("th", { scope: "col" }, column)), h("th", { scope: "col", class: "now-groups" }, "Goodput by traffic"));
    this.element = h("div", { class: "table-scroll now", tabindex: 0, role: "region", "aria-label": "This moment, by queue" }, h("table", {}, h("caption", { class: "visually-hidden" }, "This moment, by queue"), h("thead", {}, head), h("tbody", {}, ...rows)));
  }

  /** Shows a frame soon, or a newer one in its place. */
  setFrame(frame: Frame): void {
    this.#frame = frame;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      repaint(this);
    }, PACE);
  }

  destroy(): void {
    clearTimeout(this.#timer);
    forget(this);
  }

  paint(): void {
    this.#frame?.variants.forEach((variant, at) => this.#fill(at, variant));
  }

  #fill(at: number, { link, groups }: VariantFrame): void {
    const texts = [
      link.utilization === null ? "–" : formatQuantity(Math.round(link.utilization * 1000) / 1000, "ratio"),
      // In a frame in which nothing left, those that left last still tell.
      link.sojourn_s ? formatQuantity(link.sojourn_s.mean, "time", 2) : undefined,
      link.sojourn_s ? formatQuantity(link.sojourn_s.p95, "time", 2) : undefined,
      formatNumber(link.queue_packets),
      formatDecimals(link.drops.early + link.drops.overflow, 0),
      formatDecimals(link.marks, 0),
    ];
    this.#cells[at]?.forEach((cell, column) => setText(cell, texts[column] ?? cell.textContent ?? ""));
    const cell = this.#groups[at];
    if (cell) setText(cell, groups.map((group) => `${group.name} ${formatQuantity(group.goodput_bit_s, "rate", 2)}`).join(" · "));
  }
}

function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
