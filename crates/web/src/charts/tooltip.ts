// The tooltip.

import { h } from "../dom.ts";
import type { Look } from "../palette.ts";
import { sign } from "./sign.ts";

/** One line of a tooltip. */
export interface TooltipRow {
  readonly look?: Look;
  readonly label: string;
  readonly value: string;
}

/** Shows values beside the pointer, inside `host`, which must be positioned. */
export class Tooltip {
  readonly #element: HTMLElement;
  readonly #host: HTMLElement;

  constructor(host: HTMLElement) {
    this.#host = host;
    this.#element = h("div", { class: "tooltip", role: "status", hidden: true });
    host.append(this.#element);
  }

  /** Shows `heading` and `rows` near (x, y), in pixels of the host, on the side where there is
   *  room. */
  show(x: number, y: number, heading: string, rows: readonly TooltipRow[]): void {
    const lines = rows.map((row) => h("div", { class: "tooltip-row" }, row.look && sign(row.look), h("span", { class: "tooltip-label" }, row.label), h("span", { class: "number tooltip-value" }, row.value)));
    this.#element.replaceChildren(h("div", { class: "tooltip-heading" }, heading), ...lines);
    this.#element.hidden = false;
    const width = this.#element.offsetWidth;
    const room = this.#host.clientWidth;
    const left = x + 14 + width <= room ? x + 14 : Math.max(0, x - 14 - width);
    this.#element.style.transform = `translate(${Math.round(Math.min(left, Math.max(0, room - width)))}px, ${Math.round(Math.max(0, y - 10))}px)`;
  }

  hide(): void {
    this.#element.hidden = true;
  }
}
