// The data inside a report (schema `goodqueue.report/1`, written by crates/lab/src/report), made
// ready for the page.

import { type Look, looksFor } from "../palette.ts";
import { type Quantity, quantityNamed } from "../units.ts";
import { settingOf } from "./settings.ts";

/** A figure over replications; `ci95` is the half-width of the 95 % interval, absent with one
 *  replication. */
export interface Figure {
  readonly mean: number;
  readonly ci95: number | null;
  readonly n: number;
}

/** One sampled value over time. */
export interface Column {
  readonly name: string;
  readonly times: readonly number[];
  readonly values: readonly (number | null)[];
  /** Where `values` are extremes, the mean of the samples behind each. */
  readonly means?: readonly (number | null)[];
}

/** Everything sampled of one link or flow. */
export interface Series {
  readonly subject: string;
  readonly samplesAPair: number;
  readonly columns: readonly Column[];
}

/** One flow's goodput. */
export interface FlowGoodput {
  readonly group: string;
  readonly index: number;
  readonly goodput: number;
  readonly ci95: number | null;
}

/** A distribution: which part took no longer than each of these times, in seconds. */
export interface Cdf {
  readonly times: readonly number[];
  readonly quantile: readonly number[];
}

/** One compared point. */
export interface Point {
  readonly number: number;
  readonly label: string;
  readonly kind: string;
  /** Swept keys and their values here. */
  readonly set: Readonly<Record<string, Json>>;
  readonly look: Look;
  readonly flows: readonly FlowGoodput[];
  readonly flowsInAll: number;
  readonly series: readonly Series[];
  /** What a group is to the people who use it; nothing where that is not known. */
  activity(group: string): string | undefined;
  /** Distribution of sojourn times by link. */
  cdf(link: string): Cdf | undefined;
  /** Groups of probes, and the distribution of the round trips of each. */
  readonly probes: readonly string[];
  rttCdf(group: string): Cdf | undefined;
  /** A figure of the summary by its path: `figure("links", "bottleneck", "utilization")`. */
  figure(...path: string[]): Figure | undefined;
}

/** What a figure of the summary is. */
export interface Metric {
  /** Its key in the summary, with dots between nested keys. */
  readonly name: string;
  readonly label: string;
  readonly meaning: string;
  readonly quantity: Quantity;
  readonly better?: "higher" | "lower";
  readonly decimals?: number;
  /** Shown at once, or only with all columns. */
  readonly isMain: boolean;
}

/** What all figures are, in the order of columns. */
export interface Metrics {
  readonly links: readonly Metric[];
  readonly groups: readonly Metric[];
  readonly jain: readonly Metric[];
  /** What groups get, by what they are to the people who use them; those that decide between queues first. */
  readonly experience: readonly ActivityMetrics[];
}

/** The figures of one activity, such as a call. */
export interface ActivityMetrics {
  readonly activity: string;
  /** Whether its figures decide between queues. */
  readonly isInteractive: boolean;
  readonly figures: readonly Metric[];
}

/** The answer to a comparison, as crates/lab ranks the points. */
export interface Headline {
  readonly text: string;
  /** The label of the best point, if any is ranked. */
  readonly best: string | null;
  /** Labels of those that are not significantly worse for anybody. */
  readonly equals: readonly string[];
  /** The bounds that a point must satisfy to be ranked, in words. */
  readonly policy: string;
  /** Labels of points that do not satisfy them. */
  readonly outside: readonly string[];
}

/** A whole result. */
export interface Result {
  readonly metrics: Metrics;
  /** Results of older versions have none. */
  readonly headline: Headline | undefined;
  readonly title: string;
  readonly sentence: string;
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
  readonly scenario: string;
  readonly commandLine: string | null;
  readonly provenance: readonly (readonly [string, string])[];
  readonly kinds: readonly { readonly kind: string; readonly summary: string; readonly source: string }[];
  readonly mainLink: string;
  readonly links: readonly string[];
  readonly groups: readonly string[];
  readonly measured: { readonly from: number; readonly to: number } | undefined;
  readonly host: string;
  readonly seed: string;
  readonly replications: number | undefined;
  readonly points: readonly Point[];
}

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type Fields = { readonly [key: string]: Json };

/** Reads the text of the data element. */
export function parseResult(text: string): Result {
  return readResult(JSON.parse(text) as Json);
}

/** The same, of what the text says. */
export function readResult(data: Json): Result {
  const root = fields(data);
  if (root["schema"] !== "goodqueue.report/1") throw new Error(`this page reads goodqueue.report/1, and the data says ${String(root["schema"])}`);
  const summary = fields(root["summary"]);
  const summaryPoints = list(summary["points"]).map(fields);
  const axes = list(root["axes"]).map(numbers);
  const raws = list(root["points"]).map(fields);
  const looks = looksFor(
    raws.map((point) => string(point["kind"])),
    summaryPoints.map((point) => settingOf(fields(point["set"]))),
  );
  const points = raws.map((point, number): Point => readPoint(number, point, summaryPoints[number] ?? {}, axes, looks[number]));
  const measured = Array.isArray(root["measured_s"]) ? numbers(root["measured_s"]) : [];
  return {
    title: string(root["title"]),
    sentence: string(root["sentence"]),
    warnings: list(root["warnings"]).map(string),
    notes: list(root["notes"]).map(string),
    scenario: string(root["scenario_toml"]),
    commandLine: root["command_line"] === null || root["command_line"] === undefined ? null : string(root["command_line"]),
    provenance: [...provenance(fields(summary["provenance"])), ...list(root["provenance"]).map((pair) => [string(list(pair)[0]), string(list(pair)[1])] as const)],
    kinds: list(root["kinds"]).map(fields).map((kind) => ({ kind: string(kind["kind"]), summary: string(kind["summary"]), source: string(kind["source"]) })),
    metrics: readMetrics(root["metrics"]),
    headline: readHeadline(summary["headline"]),
    mainLink: string(root["main_link"]),
    links: names(summaryPoints, "links"),
    groups: names(summaryPoints, "groups"),
    measured: measured.length === 2 ? { from: measured[0] ?? 0, to: measured[1] ?? 0 } : undefined,
    host: string(summary["host"]),
    seed: string(root["seed"]),
    replications: typeof summary["replications"] === "number" ? summary["replications"] : undefined,
    points,
  };
}

/** Reads the descriptions of figures. */
export function readMetrics(raw: Json | undefined): Metrics {
  const part = (name: string): Metric[] => list(fields(raw)[name]).map(fields).map(readMetric);
  const experience = list(fields(raw)["experience"])
    .map(fields)
    .map((one): ActivityMetrics => ({ activity: string(one["activity"]), isInteractive: one["interactive"] === true, figures: list(one["figures"]).map(fields).map(readMetric) }));
  return { links: part("links"), groups: part("groups"), jain: part("jain"), experience };
}

function readHeadline(raw: Json | undefined): Headline | undefined {
  const { text, best, not_significantly_different: equals, policy, outside_policy: outside } = fields(raw);
  if (typeof text !== "string") return undefined;
  return { text, best: typeof best === "string" ? best : null, equals: list(equals).map(string), policy: string(policy), outside: list(outside).map(string) };
}

function readMetric(raw: Fields): Metric {
  const { better, decimals } = raw;
  return {
    name: string(raw["name"]),
    label: string(raw["label"]),
    meaning: string(raw["meaning"]),
    quantity: quantityNamed(string(raw["quantity"])),
    isMain: raw["main"] === true,
    ...(better === "higher" || better === "lower" ? { better } : {}),
    ...(typeof decimals === "number" ? { decimals } : {}),
  };
}

function readPoint(number: number, raw: Fields, summary: Fields, axes: readonly number[][], look: Look | undefined): Point {
  const flows = fields(raw["flows"]);
  const groups = list(flows["groups"]).map(string);
  const goodputs = gappy(flows["goodput_bit_s"]);
  const intervals = gappy(flows["ci95"]);
  const indexes = numbers(flows["index"]);
  const cdfs = readCdfs(raw["cdfs"], "link", "sojourn_s");
  const rttCdfs = readCdfs(raw["rtt_cdfs"], "group", "rtt_s");
  return {
    number,
    label: string(raw["label"]),
    kind: string(raw["kind"]),
    set: fields(summary["set"]),
    look: look ?? { hue: "slate", dash: [], mark: "circle" },
    flows: numbers(flows["group"]).map((group, at) => ({ group: groups[group] ?? "", index: indexes[at] ?? at, goodput: goodputs[at] ?? 0, ci95: intervals[at] ?? null })),
    flowsInAll: Number(flows["total"] ?? 0),
    series: list(raw["series"]).map(fields).map((series) => readSeries(series, axes)),
    activity: (group) => {
      const named = fields(fields(summary["experience"])[group])["activity"];
      return typeof named === "string" ? named : undefined;
    },
    cdf: (link) => cdfs.get(link),
    probes: [...rttCdfs.keys()],
    rttCdf: (group) => rttCdfs.get(group),
    figure: (...path) => figure(path.reduce<Json | undefined>((at, key) => fields(at)[key], summary)),
  };
}

/** Distributions by the name under `subject`. */
function readCdfs(raw: Json | undefined, subject: string, times: string): Map<string, Cdf> {
  return new Map(list(raw).map(fields).map((cdf) => [string(cdf[subject]), { times: numbers(cdf[times]), quantile: numbers(cdf["quantile"]) }]));
}

function readSeries(raw: Fields, axes: readonly number[][]): Series {
  const times = axes[Number(raw["axis"])] ?? [];
  return {
    subject: string(raw["subject"]),
    samplesAPair: Number(raw["samples_a_pair"] ?? 1),
    columns: list(raw["columns"]).map(fields).map((column) => readColumn(column, times)),
  };
}

function readColumn(raw: Fields, times: readonly number[]): Column {
  const values = gappy(raw["values"]);
  const means = gappy(raw["means"]);
  // One mean for each pair of extremes.
  return { name: string(raw["name"]), times, values, ...(means.length > 0 ? { means: values.map((_, at) => means[at >> 1] ?? null) } : {}) };
}

function figure(raw: Json | undefined): Figure | undefined {
  const { mean, ci95, n } = fields(raw);
  if (typeof mean !== "number") return undefined;
  return { mean, ci95: typeof ci95 === "number" && typeof n === "number" && n > 1 ? ci95 : null, n: typeof n === "number" ? n : 1 };
}

/** The names in one part of the points, in order of appearance. */
function names(points: readonly Fields[], part: string): string[] {
  return [...new Set(points.flatMap((point) => Object.keys(fields(point[part]))))];
}

function provenance(raw: Fields): (readonly [string, string])[] {
  return Object.entries(raw).map(([name, value]) => [name.replaceAll("_", " "), typeof value === "string" ? value : JSON.stringify(value)] as const);
}

function fields(raw: Json | undefined): Fields {
  return typeof raw === "object" && raw !== null && !Array.isArray(raw) ? (raw as Fields) : {};
}

function list(raw: Json | undefined): readonly Json[] {
  return Array.isArray(raw) ? raw : [];
}

function string(raw: Json | undefined): string {
  return raw === null || raw === undefined ? "" : typeof raw === "string" ? raw : String(raw);
}

function gappy(raw: Json | undefined): (number | null)[] {
  return list(raw).map((value) => (typeof value === "number" ? value : null));
}

function numbers(raw: Json | undefined): number[] {
  return list(raw).map((value) => (typeof value === "number" ? value : 0));
}
