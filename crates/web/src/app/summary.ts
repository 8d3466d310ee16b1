// `summary.json` of one or two runs as the trade-off chart and the tables of the report.

import { Frame } from "../charts/frame.ts";
import { h } from "../dom.ts";
import { looksFor } from "../palette.ts";
import { type FigureColumn, groupColumns, linkColumns } from "../report/columns.ts";
import { type Json, type Metrics, type Point, readResult, type Result, type Summary } from "../report/data.ts";
import { isSpreadOut, tradeoffChart } from "../report/tradeoff.ts";
import { figureTable, type TableRow } from "../report/tables.ts";

type Table = Readonly<Record<string, Json>>;

/** Reads what `summary.json` says; `labels` name its points. */
export function readSummary(json: Table, labels: readonly string[]): Result {
  if (json["schema"] !== "goodqueue.summary/1") throw new Error(`this page reads goodqueue.summary/1, and the file is ${String(json["schema"])}`);
  const summary = json as unknown as Summary;
  const points = summary.points.map(({ queue }, at) => {
    const kind = typeof queue === "string" ? queue : "tail-drop";
    return { label: labels[at] ?? kind, kind };
  });
  const [link = ""] = Object.keys((summary.points[0]?.["links"] ?? {}) as Table);
  return readResult({ schema: "goodqueue.report/1", title: summary.scenario, summary, seed: String(summary.seed ?? ""), main_link: link, points });
}

/** One or two runs as a reader sees them. */
export class Compared {
  readonly element: HTMLElement;
  readonly #frames: readonly Frame[];

  constructor(results: readonly Result[], metrics: Metrics) {
    const all = rowsOf(results);
    const isPair = results.length > 1;
    const links = [...new Set(results.flatMap(({ links }) => links))];
    const groups = [...new Set(results.flatMap(({ groups }) => groups))];
    this.#frames = links.map((link) => tradeoffFrame(all, link, isPair));
    const naming = { nameLabels: isPair ? ["Queue", "Run"] : ["Queue"], compareAll: true };
    const tables = links.map((link) => {
      const columns = linkColumns(metrics);
      // A run without this link has no rows.
      const rows = all.map(({ point, run }): TableRow => ({ point, subject: link, names: isPair ? [point.label, run] : [point.label] })).filter((row) => hasFigures(row, columns.filter(({ key }) => !key.startsWith("jain."))));
      return h("section", {}, h("h2", {}, `Link ${link}`), figureTable({ ...naming, caption: `Figures of the link ${link}`, columns, rows }, "main"));
    });
    this.element = h("div", {}, h("div", { class: "chart-grid" }, ...this.#frames.map((frame) => frame.element)), ...tables, ...(groups.length > 0 ? [trafficTable(all, groups, isPair, metrics)] : []));
    for (const frame of this.#frames) frame.update();
  }

  redraw(): void {
    for (const frame of this.#frames) frame.redraw();
  }
}

interface Row {
  readonly point: Point;
  /** The run's title. */
  readonly run: string;
}

function tradeoffFrame(all: readonly Row[], link: string, isPair: boolean): Frame {
  const here = all.filter(({ point }) => point.figure("links", link, "sojourn_s", "p95") !== undefined);
  // Dots have only their name, so the name includes the run where both have the link.
  const isShared = isPair && new Set(here.map(({ run }) => run)).size > 1;
  const points = here.map(({ point, run }): Point => (isShared ? { ...point, label: `${point.label} · ${run}` } : point));
  return new Frame({
    title: `Utilization against delay, ${link}`,
    hint: "The delay is the 95th percentile of the sojourn times. Up and to the left is better.",
    make: (onZoom) => (points.length > 0 ? tradeoffChart(points, link, "p95", isSpreadOut(points, link) ? "log" : "linear", onZoom) : undefined),
    legend: () => points.map(({ label, look }) => ({ label, look })),
    empty: "These runs have no results for this link.",
    isWide: () => true,
  });
}

function trafficTable(all: readonly Row[], groups: readonly string[], isPair: boolean, metrics: Metrics): HTMLElement {
  const columns = groupColumns(metrics);
  const rows = groups.flatMap((group) => all.map(({ point, run }): TableRow => ({ point, subject: group, names: [point.label, ...(isPair ? [run] : []), group] })));
  // A run without this traffic has no row.
  const told = rows.filter((row) => hasFigures(row, columns));
  return h("section", {}, h("h2", {}, "What the traffic experienced"), figureTable({ caption: "What the traffic experienced", nameLabels: ["Queue", ...(isPair ? ["Run"] : []), "Traffic"], columns, rows: told, compareAll: false }, "main"));
}

function hasFigures({ point, subject }: TableRow, columns: readonly FigureColumn[]): boolean {
  return columns.some((column) => column.figure(point, subject) !== undefined);
}

/** The points of all runs, looking different from each other. */
function rowsOf(results: readonly Result[]): Row[] {
  const titles = results.map(({ title }, at) => (results.findIndex((other) => other.title === title) === at ? title : `${title} (${at + 1})`));
  const all = results.flatMap(({ points }, at) => points.map((point): Row => ({ point, run: titles[at] ?? "" })));
  const looks = looksFor(all.map(({ point }) => point.kind));
  return all.map(({ point, run }, at) => ({ point: { ...point, number: at, look: looks[at] ?? point.look }, run }));
}
