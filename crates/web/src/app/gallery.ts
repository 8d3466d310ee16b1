// The gallery: figures of papers as reproduced here, and statements with their verdicts.

import { h, segmented, trouble } from "../dom.ts";
import type { Gallery, GalleryFigure, GalleryRow, Paper } from "../serve/protocol.ts";
import type { Context, Page } from "./page.ts";

const FILTERS = [
  { value: "all", label: "All" },
  { value: "holds", label: "Holds" },
  { value: "fails", label: "Fails" },
  { value: "not comparable", label: "Not comparable" },
] as const;

export class GalleryPage implements Page {
  readonly element: HTMLElement;
  readonly #context: Context;
  readonly #place = h("div");
  #filter: (typeof FILTERS)[number]["value"] = "all";
  #gallery: Gallery = { papers: [] };

  constructor(context: Context) {
    this.#context = context;
    this.element = h("div", { class: "page" }, h("h1", {}, "Gallery"), h("p", { class: "lead" }, "Published studies of these algorithms, rerun: their figures as reproduced here, and each statement with the printed value, ours, and the verdict."), this.#place);
  }

  show(rest: string): void {
    void this.#fill(rest);
  }

  async #fill(chosen: string): Promise<void> {
    try {
      this.#gallery = await this.#context.api.gallery();
      this.#draw(chosen);
    } catch (error) {
      this.#place.replaceChildren(trouble(error));
    }
  }

  #draw(chosen: string): void {
    const { papers, hint } = this.#gallery;
    if (papers.length === 0) {
      this.#place.replaceChildren(h("p", { class: "empty" }, hint ?? "No results yet. Run gq reproduce, then start gq serve with --gallery-results DIR."));
      return;
    }
    const paper = papers.find(({ id }) => id === chosen) ?? papers[0];
    if (!paper) return;
    const tabs = h("nav", { class: "tabs", "aria-label": "Papers" }, ...papers.map((one) => h("a", { href: `#/gallery/${encodeURIComponent(one.id)}`, ...(one === paper ? { "aria-current": "page" } : {}) }, one.id, h("span", { class: "tally" }, tally(one)))));
    const rows = h("div");
    const fill = (): void => rows.replaceChildren(rowTable(paper.rows.filter((row) => this.#filter === "all" || row.verdict === this.#filter)));
    const filter = segmented("Which statements", FILTERS, this.#filter, ({ value }) => {
      this.#filter = value;
      fill();
    });
    fill();
    this.#place.replaceChildren(
      tabs,
      h("section", {}, h("h2", {}, paper.title), h("p", {}, paper.summary), h("p", { class: "hint" }, paper.citation)),
      paper.figures.length > 0 ? h("section", {}, h("h2", {}, "Figures"), h("div", { class: "figure-grid" }, ...paper.figures.map((one) => figure(one, paper.rows)))) : "",
      h("section", {}, h("div", { class: "section-head" }, h("h2", {}, "Statements"), filter), rows),
    );
  }
}

function tally({ rows }: Paper): string {
  const judged = rows.filter((row) => row.verdict !== "not comparable");
  return `${judged.filter((row) => row.verdict === "holds").length} of ${judged.length}`;
}

function rowTable(rows: readonly GalleryRow[]): HTMLElement {
  if (rows.length === 0) return h("p", { class: "empty" }, "No statement with this verdict.");
  const head = h("tr", {}, ...["Statement", "Where", "Paper", "Here", "Verdict"].map((text) => h("th", { scope: "col" }, text)));
  const body = rows.map((row) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, h("span", { class: "claim" }, row.claim), h("span", { class: "hint" }, [row.id, row.metric].filter((text) => text !== undefined && text !== "").join(" · "))),
      h("td", {}, row.place),
      h("td", { class: "number" }, row.expected ?? "–"),
      h("td", { class: "number" }, row.value ?? "–"),
      h("td", {}, badge(row), row.why ? h("p", { class: "hint why" }, row.why) : ""),
    ),
  );
  return h("div", { class: "table-scroll", tabindex: 0, role: "region", "aria-label": "Statements" }, h("table", { class: "plain rows" }, h("thead", {}, head), h("tbody", {}, ...body)));
}

/** A reproduced figure, with the statements of the paper that it shows. */
function figure({ title, place, svg }: GalleryFigure, rows: readonly GalleryRow[]): HTMLElement {
  const said = rows.filter((row) => placesIn(row.place).some((one) => isSeenIn(one, place)));
  return h(
    "figure",
    { class: "chart-card" },
    // The picture contains its title.
    h("figcaption", {}, h("h3", {}, place)),
    h("img", { src: svg.replace(/^\//, ""), alt: `${title}, as reproduced here`, loading: "lazy", width: 520, height: 357 }),
    said.length > 0 && h("ul", { class: "bare said" }, ...said.map((row) => h("li", {}, badge(row), h("span", {}, row.claim, row.value === undefined || row.value === null ? "" : h("span", { class: "hint" }, ` Paper: ${row.expected ?? "–"}, here: ${row.value}`))))),
  );
}

function badge({ verdict }: GalleryRow): HTMLElement {
  return h("span", { class: `badge ${verdict.replaceAll(" ", "-")}` }, verdict);
}

function squeezed(place: string): string {
  return place.toLowerCase().replace(/[^a-z0-9]/g, "");
}

/** Whether a statement about `said` (`fig2`, `fig2a`) belongs to the figure `Fig 2(a)` or `Fig 2
 *  delay`. */
export function isSeenIn(said: string, figure: string): boolean {
  const [, number, part = ""] = /^Fig\s*(\d+)(?:\(([a-z])\))?/i.exec(figure) ?? [];
  if (number === undefined) return said === squeezed(figure);
  return said === `fig${number}${part}` || said === `fig${number}`;
}

/** `Fig 2(a,b), 4.3` is `fig2a`, `fig2b` and `43`; `Fig 3(a-c)` has three parts. */
export function placesIn(place: string): string[] {
  return place
    .replace(/([A-Za-z]+\.?\s*\d+)\(([^)]*)\)/g, (_all, figure: string, parts: string) => lettersIn(parts).map((part) => figure + part).join(";"))
    .split(/[,;]/)
    .map(squeezed)
    .filter((one) => one !== "");
}

function lettersIn(parts: string): string[] {
  return parts.split(",").flatMap((part) => {
    const [from, to] = part.trim().split("-");
    if (from === undefined || to === undefined) return [part.trim()];
    const [first, last] = [from.charCodeAt(0), to.charCodeAt(0)];
    return Array.from({ length: Math.max(0, Math.min(26, last - first + 1)) }, (_, at) => String.fromCharCode(first + at));
  });
}
