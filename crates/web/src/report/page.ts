// The page: the answer, the tables, the charts, and how the result was made.

import { csv, download, fileName } from "../charts/export.ts";
import { sign } from "../charts/sign.ts";
import { h, menu, optionsNamed, segmented, selectField } from "../dom.ts";
import { equalPlaces } from "../lists.ts";
import { themeButton } from "../theme.ts";
import { type Charts, makeCharts } from "./charts.ts";
import { activityColumns, decidingColumns, type FigureColumn, groupColumns, linkColumns } from "./columns.ts";
import type { Point, Result } from "./data.ts";
import type { Frame } from "../charts/frame.ts";
import { GLOSSARY } from "./glossary.ts";
import { MOST_AT_START, State } from "./state.ts";
import { type Extent, figureRows, figureTable, type TableOptions, type TableRow } from "./tables.ts";

/** Fills `root` with the report of `result`; `source` is the text it was read from, for the
 *  download. */
export function showReport(root: HTMLElement, result: Result, source: string): void {
  const state = new State(result);
  const charts = makeCharts(result, state);
  const frames = [...(charts.experience ? [charts.experience] : []), ...charts.overview, ...charts.overTime];
  const results = resultsSection(result, state, source);
  const legend = legendBar(result, state);
  const refresh = (): void => {
    results.update();
    legend.update();
    for (const frame of frames) frame.update();
  };
  const repaint = (): void => {
    for (const frame of frames) frame.redraw();
  };
  root.append(
    header(result, repaint),
    answer(result),
    charts.experience ? chartSection("At a glance", [], [charts.experience], []) : "",
    results.element,
    ...experienceSections(result),
    legend.element,
    chartSection("Delay, utilization, fairness", [], charts.overview, []),
    ...[...timeSection(result, state, charts), trafficSection(result), scenarioSection(result), glossarySection(result)].map(foldedOnPhones),
    h("footer", {}, "Made by goodqueue. This file contains all its data and fetches nothing."),
  );
  state.watch(refresh);
  refresh();
  preparePrinting(frames, root);
}

function header(result: Result, repaint: () => void): HTMLElement {
  const facts = [
    hostName(result.host),
    result.replications === undefined ? "" : result.replications === 1 ? "1 replication" : `${result.replications} replications`,
    result.seed === "" ? "" : `seed ${result.seed}`,
    result.measured ? `measured from ${result.measured.from} s to ${result.measured.to} s` : "",
  ].filter((fact) => fact !== "");
  return h(
    "header",
    { class: "page-head" },
    h("div", { class: "brand-line" }, h("span", { class: "brand" }, "goodqueue"), themeButton(repaint)),
    h("h1", {}, result.title),
    h("p", { class: "facts" }, ...facts.map((fact) => h("span", {}, fact))),
  );
}

function hostName(host: string): string {
  return { sim: "Simulator", linux: "Linux kernels in virtual time", "linux-7.3": "Linux 7.3 in virtual time", live: "Live data plane" }[host] ?? host;
}

function answer(result: Result): HTMLElement {
  const cautions = [...result.warnings, ...result.notes];
  const box = h("section", { class: "answer", "aria-label": "What it means" });
  const [sentence = "", details] = result.sentence.split("\n\n");
  const names = result.points.map((point) => point.label);
  const said = (text: string): (Node | string)[] => withNames(unbroken(text), names);
  if (sentence !== "") box.append(h("p", { class: "sentence" }, ...said(sentence)));
  if (details !== undefined) box.append(h("ul", { class: "details" }, ...details.split("\n").map((line) => h("li", {}, ...said(line)))));
  if (cautions.length > 0) {
    const title = cautions.length === 1 ? "Before you rely on this" : `Before you rely on this: ${cautions.length} remarks`;
    box.append(h("div", { class: "cautions", role: "note" }, h("h2", {}, title), h("ul", {}, ...cautions.map((text) => h("li", {}, unbroken(text))))));
  }
  return box;
}

/** `text` with numbers and their units held together. */
function unbroken(text: string): string {
  return text.replace(/(\d) (?=(?:%|[kMGµm]?(?:s|B|bit\/s)|packets?|flows?|bdp|BDP)(?![\w]))/g, "$1\u00a0");
}

/** `text` with each of `names` in bold and unbroken where it stands as a word. */
function withNames(text: string, names: readonly string[]): (Node | string)[] {
  const longestFirst = [...names].filter((name) => name !== "").sort((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return [text];
  const quoted = longestFirst.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return text.split(new RegExp(`(?<![\\w-])(${quoted.join("|")})(?![\\w-])`)).map((piece, at) => (at % 2 === 1 ? h("b", {}, piece) : piece));
}

interface Updated {
  readonly element: HTMLElement;
  update(): void;
}

function resultsSection(result: Result, state: State, source: string): Updated {
  const options = (): TableOptions => ({
    ...tableOf(result),
    caption: `Results at the link ${state.choices.link}`,
    columns: [...decidingColumns(result), ...delayFirst(linkColumns(result.metrics))],
    rows: result.points.map((point) => ({ point, subject: state.choices.link, names: [point.label] })),
  });
  const link = result.links.length > 1 && selectField("Link", optionsNamed(result.links), state.choices.link, ({ value }) => state.choose({ link: value }));
  const save = menu("Save", "Save: results", [
    { label: "This link, CSV", run: () => download(`${fileName(result.title)}.csv`, "text/csv", csv(figureRows(options()))) },
    { label: "Everything, JSON", run: () => download(`${fileName(result.title)}.json`, "application/json", source) },
  ]);
  const title = result.links.length > 1 ? "Results" : `Results at the ${state.choices.link === "" ? "link" : state.choices.link}`;
  const section = tableSection(title, options, link ? [link] : [], save);
  section.element.append(h("p", { class: "hint" }, intervalNote(result)));
  return section;
}

/** Options of most tables of a result. */
function tableOf({ headline }: Result): Pick<TableOptions, "nameLabels" | "compareAll" | "outside"> {
  return { nameLabels: ["Queue"], compareAll: true, outside: headline?.outside_policy ?? [] };
}

/** The columns with the one that the charts show in front. */
function delayFirst(columns: readonly FigureColumn[]): readonly FigureColumn[] {
  const isDelay = ({ key }: FigureColumn): boolean => key === "sojourn_s.p95";
  // In front it has no mean next to it that says what it is a percentile of.
  return [...columns.filter(isDelay).map((column) => ({ ...column, label: "Sojourn p95" })), ...columns.filter((column) => !isDelay(column))];
}

/** What people on the line got: a table for each group, of the figures of what it does. */
function experienceSections(result: Result): HTMLElement[] {
  const activities = result.metrics.experience.flatMap((activity) => result.groups.filter((group) => result.points.some((point) => point.activity(group) === activity.activity)).map((group) => ({ activity, group })));
  if (activities.length === 0) return [];
  const tables = activities.map(({ activity, group }) => {
    const name = group.startsWith(activity.activity) ? group : `${group}: ${activity.activity}`;
    const rows = result.points.map((point): TableRow => ({ point, subject: group, names: [point.label] }));
    const options: TableOptions = { ...tableOf(result), caption: `What ${group} got`, columns: activityColumns(activity), rows };
    const save = menu("Save", `Save: ${group}`, [{ label: "Numbers, CSV", run: () => download(`${fileName(result.title)}-${fileName(group)}.csv`, "text/csv", csv(figureRows(options))) }]);
    return h("div", { class: "experience" }, h("div", { class: "section-head" }, h("h3", {}, name), save), figureTable(options, "all"));
  });
  return [h("section", { class: "results" }, h("h2", {}, "What people on the line got"), ...tables)];
}

/** A heading, tools and a table that shows its main columns or all of them. */
function tableSection(title: string, options: () => TableOptions, tools: readonly HTMLElement[], save: HTMLElement): Updated {
  let extent: Extent = "main";
  const place = h("div");
  const update = (): void => place.replaceChildren(figureTable(options(), extent));
  const choices = [
    { value: "main", label: "Main columns" },
    { value: "all", label: "All" },
  ] as const;
  const columns = segmented(`${title}: columns`, choices, extent, ({ value }) => ((extent = value), update()));
  update();
  const head = h("div", { class: "section-head" }, h("h2", {}, title), h("div", { class: "row section-tools" }, ...tools, columns, save));
  return { element: h("section", { class: "results" }, head, place), update };
}

/** Explanation of the intervals and of bold figures. */
function intervalNote(result: Result): string {
  const { headline } = result;
  const outside = headline && headline.outside_policy.length > 0 ? ` † does not satisfy the policy (${headline.policy}) and is not compared.` : "";
  const bold = result.points.length > 1 ? ` Bold: the best of a column, and all that do not differ from it significantly.${outside}` : "";
  if (result.replications === 1) return `One replication, so there are no confidence intervals: repeat with more before trusting a difference.${bold}`;
  return `Mean ± half the 95 % confidence interval over ${result.replications ?? "all"} replications. A click on a heading sorts.${bold}`;
}

/** Legend with switches for the compared points; stays visible while scrolling. */
function legendBar(result: Result, state: State): Updated {
  const all = result.points.map((point) => point.number);
  const toggle = (point: Point): void => state.show([point.number], !state.isVisible(point.number));
  const buttons = result.points.map((point) => {
    const button = h("button", { type: "button", class: "legend-item", onclick: () => toggle(point), ondblclick: () => (state.show(all, false), state.show([point.number], true)) }, sign(point.look), point.label);
    return { point, button };
  });
  const count = h("p", { class: "hint", role: "status" });
  const update = (): void => {
    for (const { point, button } of buttons) button.setAttribute("aria-pressed", String(state.isVisible(point.number)));
    const shown = all.filter((point) => state.isVisible(point)).length;
    const first = result.points.length > MOST_AT_START ? " At first these are the best queues and the baseline, at settings spread over the sweep." : "";
    count.textContent = shown === all.length ? "" : `${shown} of ${all.length} shown in the charts; press a name to show or hide it.${first}`;
    count.hidden = count.textContent === "";
  };
  const twins = identical(result).map((labels) => h("p", { class: "hint" }, `Identical results: ${labels.join(", ")}. Their curves coincide.`));
  const every = h("button", { type: "button", class: "button quiet", onclick: () => state.show(all, !all.every((point) => state.isVisible(point))) }, "Toggle all");
  const element = h("div", { class: "legend-bar", role: "group", "aria-label": "Queues shown in the charts" }, h("div", { class: "row legend-items" }, ...buttons.map(({ button }) => button), result.points.length > 2 && every), count, ...twins);
  return { element, update };
}

/** Labels of points whose figures are all the same, such as those of a setting without effect. */
function identical({ points, links, groups, metrics }: Result): string[][] {
  const ofLinks = linkColumns(metrics);
  const ofGroups = groupColumns(metrics);
  const texts = points.map((point) => JSON.stringify([...links.flatMap((link) => ofLinks.map((column) => column.figure(point, link)?.mean)), ...groups.flatMap((group) => ofGroups.map((column) => column.figure(point, group)?.mean))]));
  return equalPlaces(texts).map((places) => places.flatMap((at) => points[at]?.label ?? []));
}

function chartSection(title: string, hint: readonly (string | Node)[], frames: readonly Frame[], tools: readonly HTMLElement[]): HTMLElement {
  return h(
    "section",
    { class: "charts" },
    h("div", { class: "section-head" }, h("div", { class: "section-title" }, h("h2", {}, title), hint.length > 0 && h("p", { class: "hint" }, ...hint)), h("div", { class: "row section-tools" }, ...tools)),
    h("div", { class: "chart-grid" }, ...frames.map((frame) => frame.element)),
  );
}

function timeSection(result: Result, state: State, charts: Charts): HTMLElement[] {
  if (charts.overTime.length === 0) return [];
  const arrangement = segmented(
    "Arrangement",
    [
      { value: "apart", label: "Separate" },
      { value: "together", label: "Overlaid" },
    ],
    state.choices.arrangement,
    ({ value }) => state.choose({ arrangement: value }),
  );
  state.watch(() => (scales.hidden = state.choices.arrangement === "together"));
  const scales = segmented(
    "Vertical axes of the panels",
    [
      { value: "equal", label: "Same scale" },
      { value: "own", label: "Free scale" },
    ],
    state.choices.panelAxes,
    ({ value }) => state.choose({ panelAxes: value }),
  );
  scales.hidden = state.choices.arrangement === "together";
  const pair = Math.max(1, ...result.points.flatMap((point) => point.series.filter((one) => one.subject.startsWith("link:")).map((one) => one.samplesAPair)));
  const thinned = pair > 1 ? ` Thin lines show the lowest and the highest of every ${pair} samples.` : "";
  const replication = result.replications !== undefined && result.replications > 1 ? "The first replication. " : "";
  const warmup = result.measured && result.measured.from > 0 ? " The shaded start is the warm-up." : "";
  const calm = " A bold line is a moving mean over a hundredth of the visible span; the faint line behind it shows the samples.";
  const hint = [`${replication}Time is in seconds.${warmup}${calm}${thinned}`, h("span", { class: "screen-only" }, " Drag to zoom, double click to reset; all plots follow.")];
  return [chartSection("Over time", hint, charts.overTime, result.points.length > 1 ? [arrangement, scales] : [])];
}

function trafficSection(result: Result): HTMLElement | "" {
  if (result.groups.length === 0) return "";
  const rows = result.groups.flatMap((group) => result.points.map((point): TableRow => ({ point, subject: group, names: [point.label, group] })));
  const options = (): TableOptions => ({ ...tableOf(result), caption: "What the traffic experienced", nameLabels: ["Queue", "Traffic"], columns: groupColumns(result.metrics), rows, compareAll: false });
  const save = menu("Save", "Save: what the traffic experienced", [{ label: "Numbers, CSV", run: () => download(`${fileName(result.title)}-traffic.csv`, "text/csv", csv(figureRows(options()))) }]);
  return tableSection("What the traffic experienced", options, [], save).element;
}

function scenarioSection(result: Result): HTMLElement {
  const facts: (readonly [string, string])[] = [...(result.seed === "" ? [] : [["seed", result.seed] as const]), ...result.provenance];
  return h(
    "section",
    { class: "scenario" },
    h("h2", {}, "How it was made"),
    result.commandLine !== null && h("div", {}, h("h3", {}, "Command"), code(result.commandLine, "Command")),
    facts.length > 0 && h("dl", { class: "provenance" }, ...facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
    h("details", { class: "scenario-text" }, h("summary", {}, "Scenario file"), code(result.scenario, "Scenario")),
  );
}

/** Text as it was written, with a button that copies it. */
function code(text: string, name: string): HTMLElement {
  const copy = h("button", { type: "button", class: "button copy", "aria-label": `${name}: copy`, onclick: () => void copied() }, "Copy");
  const pre = h("pre", { tabindex: 0, role: "region", "aria-label": name }, text);
  const copied = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      copy.textContent = "Copied";
    } catch {
      // No clipboard for pages from files in this browser: select the text, so that one key copies
      // it.
      getSelection()?.selectAllChildren(pre);
      copy.textContent = "Selected";
    }
    setTimeout(() => (copy.textContent = "Copy"), 2_000);
  };
  return h("div", { class: "code" }, pre, copy);
}

function glossarySection(result: Result): HTMLElement {
  const entry = (term: string, meaning: string): Node[] => [h("dt", {}, term), h("dd", {}, meaning)];
  return h(
    "section",
    { class: "glossary" },
    h("h2", {}, "Words used here"),
    result.kinds.length > 0 && h("h3", {}, "Queues compared"),
    result.kinds.length > 0 && h("dl", {}, ...result.kinds.flatMap(({ kind, summary, source }) => entry(kind, source === "" ? summary : `${summary} (${source})`))),
    h("h3", {}, "Terms"),
    h("dl", {}, ...GLOSSARY.flatMap(([term, meaning]) => entry(term, meaning))),
  );
}

/** A section that begins folded where the page would be many screens long: its heading, and a button that shows the rest. */
function foldedOnPhones(section: HTMLElement | ""): HTMLElement | "" {
  if (section === "" || !matchMedia("(max-width: 560px)").matches) return section;
  const [head, ...rest] = [...section.children];
  const title = section.querySelector("h2")?.textContent ?? "";
  if (!head) return section;
  const body = h("div", { class: "folded", hidden: true });
  body.append(...rest);
  const toggle = (): void => {
    body.hidden = !body.hidden;
    button.textContent = body.hidden ? "Show" : "Hide";
    button.setAttribute("aria-expanded", String(!body.hidden));
  };
  const button = h("button", { type: "button", class: "button fold", "aria-expanded": "false", "aria-label": `${title}: show or hide`, onclick: toggle }, "Show");
  section.replaceChildren(h("div", { class: "fold-head" }, head, button), body);
  return section;
}

/** On paper, charts are drawings in light colors and the scenario is open. */
function preparePrinting(frames: readonly Frame[], root: HTMLElement): void {
  const opened: HTMLDetailsElement[] = [];
  addEventListener("beforeprint", () => {
    for (const body of root.querySelectorAll<HTMLElement>(".folded[hidden]")) body.hidden = false;
    for (const frame of frames) frame.preparePrint();
    for (const details of root.querySelectorAll<HTMLDetailsElement>("details.scenario-text:not([open])")) {
      details.open = true;
      opened.push(details);
    }
  });
  addEventListener("afterprint", () => {
    for (const details of opened.splice(0)) details.open = false;
  });
}

