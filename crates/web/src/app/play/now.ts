// Present values, one row per queue, updated a few times per second; after the run, the values
// behind the verdict.

import { forget, repaintAfter } from "../../charts/painter.ts";
import { sign } from "../../charts/sign.ts";
import { h, setText } from "../../dom.ts";
import type { Look } from "../../palette.ts";
import type { Point, Result } from "../../report/data.ts";
import type { Frame, VariantFrame } from "../../serve/protocol.ts";
import { formatDecimals, formatNumber, formatQuantity } from "../../units.ts";
import { GOODPUT_ABOVE_RATE } from "./charts.ts";

/** Milliseconds between updates, so that values remain readable. */
const PACE = 200;
const THIS_MOMENT = "Present values; drops and marks since the start:";
const COLUMNS = ["Utilization", "Sojourn mean", "Sojourn p95", "Packets waiting", "Packets dropped", "Packets marked"];

export class Now {
  readonly element: HTMLElement;
  readonly #cells: readonly (readonly HTMLElement[])[];
  readonly #groups: readonly HTMLElement[];
  readonly #when = h("p", { class: "hint now-when" }, THIS_MOMENT);
  /** Shown from the moment on when goodput exceeds the rate of the link. */
  readonly #above = h("p", { class: "hint", hidden: true }, GOODPUT_ABOVE_RATE);
  #frame: Frame | undefined;

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
    const table = h("table", {}, h("caption", { class: "visually-hidden" }, "Figures by queue"), h("thead", {}, head), h("tbody", {}, ...rows));
    this.element = h("div", {}, this.#when, h("div", { class: "table-scroll now", tabindex: 0, role: "region", "aria-label": "Figures by queue" }, table), this.#above);
  }

  /** Schedules a frame for display; a newer one replaces it. */
  setFrame(frame: Frame): void {
    this.#frame = frame;
    repaintAfter(this, PACE);
  }

  destroy(): void {
    forget(this);
  }

  /** Shows the final results, measured after the warm-up, on which the verdict is based. */
  setResult(result: Result, link: string, from: number, to: number): void {
    this.destroy();
    this.#frame = undefined;
    this.#above.hidden = true;
    setText(this.#when, `Over the measured time, from ${seconds(from)} to ${seconds(to)}:`);
    result.points.forEach((point, at) => this.#write(at, measured(point, link, result.groups)));
  }

  paint(): void {
    const isAbove = this.#frame?.variants.some(({ link, groups }) => groups.some((group) => group.goodput_bit_s > link.rate_bit_s)) === true;
    if (isAbove) this.#above.hidden = false;
    this.#frame?.variants.forEach((variant, at) => this.#write(at, momentary(variant)));
  }

  #write(at: number, { figures, groups }: Row): void {
    this.#cells[at]?.forEach((cell, column) => setText(cell, figures[column] ?? cell.textContent ?? ""));
    const cell = this.#groups[at];
    if (cell) setText(cell, groups.map(([name, rate]) => `${name} ${formatQuantity(rate, "rate", 2)}`).join(" · "));
  }
}

/** Content of a row: one string per column, or `undefined` to keep the previous one. */
interface Row {
  readonly figures: readonly (string | undefined)[];
  readonly groups: readonly (readonly [string, number])[];
}

function momentary({ link, groups }: VariantFrame): Row {
  const figures = [
    link.utilization === null ? "–" : share(link.utilization),
    // A frame without departures keeps the values of the last departures.
    link.sojourn_s ? formatQuantity(link.sojourn_s.mean, "time", 2) : undefined,
    link.sojourn_s ? formatQuantity(link.sojourn_s.p95, "time", 2) : undefined,
    formatNumber(link.queue_packets),
    formatDecimals(link.drops.early + link.drops.overflow, 0),
    formatDecimals(link.marks, 0),
  ];
  return { figures, groups: groups.map((group) => [group.name, group.goodput_bit_s]) };
}

function measured(point: Point, link: string, groups: readonly string[]): Row {
  const mean = (...path: string[]): number | undefined => point.figure("links", link, ...path)?.mean;
  const told = (value: number | undefined, format: (value: number) => string): string => (value === undefined ? "–" : format(value));
  const time = (value: number): string => formatQuantity(value, "time", 3);
  const count = (value: number): string => formatDecimals(value, 0);
  const figures = [
    told(mean("utilization"), share),
    told(mean("sojourn_s", "mean"), time),
    told(mean("sojourn_s", "p95"), time),
    told(mean("queue_packets"), formatNumber),
    told((mean("drops", "early") ?? 0) + (mean("drops", "overflow") ?? 0), count),
    told(mean("marked_packets"), count),
  ];
  const rates = groups.map((group) => [group, point.figure("groups", group, "goodput_bit_s")?.mean] as const);
  return { figures, groups: rates.filter((rate): rate is readonly [string, number] => rate[1] !== undefined) };
}

function seconds(time: number): string {
  return `${Number(time.toFixed(3))} s`;
}

function share(utilization: number): string {
  return formatQuantity(Math.round(utilization * 1000) / 1000, "ratio");
}
