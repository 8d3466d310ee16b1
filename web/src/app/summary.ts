// `summary.json` of one or two runs as tables, with the columns of the report.

import { h } from "../dom.ts";
import { type GroupColumn, GROUP_COLUMNS, LINK_COLUMNS } from "../report/columns.ts";
import { parseResult, type Point, type Result } from "../report/data.ts";
import { columnsWorthShowing, figureTable, type TableRow } from "../report/tables.ts";

/** A run read from its summary. */
export interface Summary {
  readonly title: string;
  readonly result: Result;
}

type Table = Readonly<Record<string, unknown>>;

/** Reads a summary; `labels` name its points where the summary does not. */
export function parseSummary(text: string, labels: readonly string[]): Summary {
  const summary = JSON.parse(text) as Table;
  if (summary["schema"] !== "goodqueue.summary/1") throw new Error(`this page reads goodqueue.summary/1, and the file says ${String(summary["schema"])}`);
  const points = (Array.isArray(summary["points"]) ? summary["points"] : []) as readonly Table[];
  const named = points.map((point, at) => nameOf((point["set"] ?? {}) as Table, labels[at]));
  const title = String(summary["scenario"] ?? "run");
  const links = Object.keys((points[0]?.["links"] ?? {}) as Table);
  const report = { schema: "goodqueue.report/1", title, summary, seed: String(summary["seed"] ?? ""), main_link: links[0] ?? "", points: named };
  return { title, result: parseResult(JSON.stringify(report)) };
}

/** What a point is called: its swept values, or the given label. */
function nameOf(set: Table, label: string | undefined): { label: string; kind: string } {
  const values = Object.entries(set);
  const queue = values.find(([key]) => key.endsWith(".queue"))?.[1];
  const kind = typeof queue === "string" ? queue : String((queue as Table | undefined)?.["kind"] ?? label?.split(",")[0] ?? "tail-drop");
  const told = values.map(([key, value]) => (key.endsWith(".queue") ? words(value) : `${key.split(".").pop() ?? key} ${words(value)}`)).join(", ");
  return { label: label ?? (told === "" ? kind : told), kind };
}

function words(value: unknown): string {
  return typeof value === "object" && value !== null ? Object.values(value).map(words).join(" ") : String(value);
}

/** The figures of all runs in one table for each link, and one for the traffic. */
export function compareTable(summaries: readonly Summary[]): HTMLElement {
  const links = [...new Set(summaries.flatMap(({ result }) => result.links))];
  const groups = [...new Set(summaries.flatMap(({ result }) => result.groups))];
  const isPair = summaries.length > 1;
  const sections = links.map((link) => {
    const columns = columnsWorthShowing(LINK_COLUMNS, true, (column) => points(summaries).map(({ point }) => column.figure(point, link)));
    const rows = points(summaries).map(({ point, title }): TableRow => ({ point: point.number, look: point.look, names: isPair ? [point.label, title] : [point.label], figures: columns.map((column) => column.figure(point, link)) }));
    return h("section", {}, h("h2", {}, `Link ${link}`), figureTable({ caption: `Figures of the link ${link}`, nameLabels: isPair ? ["Queue", "Run"] : ["Queue"], columns, rows, compareAll: true }));
  });
  return h("div", {}, ...sections, ...(groups.length > 0 ? [trafficTable(summaries, groups)] : []));
}

function trafficTable(summaries: readonly Summary[], groups: readonly string[]): HTMLElement {
  const all = points(summaries);
  const columns = columnsWorthShowing<GroupColumn>(GROUP_COLUMNS, true, (column) => all.flatMap(({ point }) => groups.map((group) => column.figure(point, group))));
  const isPair = summaries.length > 1;
  const rows = groups.flatMap((group) => all.map(({ point, title }): TableRow => ({ point: point.number, look: point.look, names: [point.label, ...(isPair ? [title] : []), group], figures: columns.map((column) => column.figure(point, group)) })));
  return h("section", {}, h("h2", {}, "What the traffic saw"), figureTable({ caption: "What the traffic saw", nameLabels: ["Queue", ...(isPair ? ["Run"] : []), "Traffic"], columns, rows, compareAll: false }));
}

function points(summaries: readonly Summary[]): { readonly point: Point; readonly title: string }[] {
  const titles = summaries.map(({ title }, at) => (summaries.findIndex((other) => other.title === title) === at ? title : `${title} (${at + 1})`));
  return summaries.flatMap(({ result }, at) => result.points.map((point) => ({ point, title: titles[at] ?? "" })));
}
