// Finished runs: results in a table; any two can be compared.

import { h, trouble } from "../dom.ts";
import { announce } from "./announce.ts";
import type { Runs } from "../serve/protocol.ts";
import type { Metrics, Result } from "../report/data.ts";
import { firstSentence, localTime } from "./run-words.ts";
import { Compared, readSummary } from "./summary.ts";
import type { Context, Page } from "./page.ts";

export class RunsPage implements Page {
  readonly #context: Context;
  readonly #list = h("div", { class: "run-list" });
  readonly #compared = h("section", { class: "compared", "aria-label": "Results of the selected runs" });
  readonly element = h("div", { class: "page wide" }, h("h1", {}, "Runs"), h("p", { class: "lead" }, "Select one run to see its results, two to compare them."), this.#list, this.#compared);
  readonly #chosen: string[] = [];
  #shown: Compared | undefined;
  #runs: Runs = { runs: [] };

  constructor(context: Context) {
    this.#context = context;
  }

  show(): void {
    void this.#fill();
  }

  redraw(): void {
    this.#shown?.redraw();
  }

  #show(results: readonly Result[], metrics: Metrics): void {
    this.#shown = results.length === 0 ? undefined : new Compared(results, metrics);
    this.#compared.replaceChildren(this.#shown?.element ?? "");
    announce(results.length === 0 ? "No run is selected." : `Figures of ${results.map(({ title }) => title).join(" and ")} are below.`);
  }

  async #fill(): Promise<void> {
    try {
      this.#runs = await this.#context.api.runs();
      this.#showList();
    } catch (error) {
      this.#list.replaceChildren(trouble(error));
    }
  }

  #showList(): void {
    const { runs, hint } = this.#runs;
    if (runs.length === 0) {
      this.#list.replaceChildren(h("p", { class: "empty" }, hint ?? "No runs yet. Run an experiment in the playground, or start gq serve with --runs DIR to see results of gq run and gq compare."));
      return;
    }
    const rows = runs.map((run) => {
      const box = h("input", { type: "checkbox", id: `run-${run.id}`, checked: this.#chosen.includes(run.id), onchange: () => void this.#choose(run.id, box.checked) });
      const base = `api/runs/${encodeURIComponent(run.id)}`;
      const files = h("span", { class: "files" }, run.report && h("a", { href: `${base}/report.html`, target: "_blank", rel: "noopener" }, "report"), h("a", { href: `${base}/summary.json`, target: "_blank", rel: "noopener" }, "summary"), h("a", { href: `${base}/scenario.toml`, target: "_blank", rel: "noopener" }, "scenario"));
      return h("tr", {}, h("td", {}, box), h("th", { scope: "row" }, h("label", { for: box.id }, run.title, run.folder !== undefined && run.folder !== run.title && h("span", { class: "run-folder" }, run.folder))), h("td", { class: "run-verdict" }, firstSentence(run.verdict ?? "")), h("td", {}, files), h("td", { class: "run-points" }, ...namesOf(run.points)), h("td", { class: "when" }, localTime(run.created_s)));
    });
    const head = h("tr", {}, h("th", { scope: "col" }, h("span", { class: "visually-hidden" }, "Chosen")), ...["Run", "Verdict", "Files", "Queues", "When"].map((text) => h("th", { scope: "col" }, text)));
    this.#list.replaceChildren(h("div", { class: "table-scroll", tabindex: 0, role: "region", "aria-label": "Runs" }, h("table", { class: "plain" }, h("thead", {}, head), h("tbody", {}, ...rows))));
  }

  async #choose(id: string, isChosen: boolean): Promise<void> {
    if (isChosen) this.#chosen.push(id);
    else this.#chosen.splice(this.#chosen.indexOf(id), 1);
    // A third selection replaces the first.
    if (this.#chosen.length > 2) {
      this.#chosen.shift();
      this.#showList();
      document.getElementById(`run-${id}`)?.focus();
    }
    const chosen = [...this.#chosen];
    try {
      const results = await Promise.all(chosen.map((one) => this.#read(one)));
      const metrics = await this.#context.api.metrics();
      if (chosen.join() === this.#chosen.join()) this.#show(results, metrics);
    } catch (error) {
      this.#compared.replaceChildren(trouble(error));
    }
  }

  async #read(id: string): Promise<Result> {
    const { points = [], title, folder = title } = this.#runs.runs.find((one) => one.id === id) ?? {};
    const result = readSummary(JSON.parse(await this.#context.api.text(`api/runs/${encodeURIComponent(id)}/summary.json`)), points);
    return folder === undefined ? result : { ...result, title: folder };
  }
}

/** Names of this many points are told in the list. */
const MOST_NAMES = 6;

/** Names of points, which may contain commas, each for itself. */
function namesOf(points: readonly string[]): HTMLElement[] {
  const names = points.slice(0, MOST_NAMES).map((name) => h("span", { class: "run-point" }, name));
  return points.length > MOST_NAMES ? [...names, h("span", { class: "hint", title: points.join("\n") }, `and ${points.length - MOST_NAMES} more`)] : names;
}
