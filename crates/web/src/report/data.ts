// The data inside a report (schema `goodqueue.report/1`, written by crates/lab/src/report), made
// ready for the page.

import { type Look, looksFor } from "../palette.ts";
import type { Quantity } from "../units.ts";
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
  /** Shown at once; others only with all columns. */
  readonly main: boolean;
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
  readonly interactive: boolean;
  readonly figures: readonly Metric[];
}

/** The answer to a comparison, as crates/lab ranks the points. */
export interface Headline {
  readonly text: string;
  /** The label of the best point, if any is ranked. */
  readonly best: string | null;
  /** Labels of those that are not significantly worse for anybody. */
  readonly not_significantly_different: readonly string[];
  /** The bounds that a point must satisfy to be ranked, in words. */
  readonly policy: string;
  /** Labels of points that do not satisfy them. */
  readonly outside_policy: readonly string[];
}

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type Fields = { readonly [key: string]: Json };

/** Parts of `summary.json` that are not asked for by a path. */
export interface Summary {
  readonly schema: string;
  readonly scenario: string;
  readonly host?: string;
  readonly seed?: number;
  readonly replications?: number;
  /** Results of older versions have none. */
  readonly headline?: Headline | null;
  readonly provenance?: Fields;
  readonly points: readonly Fields[];
}

/** The data as they are written. Results that are known by their summary alone lack the optional
 *  parts. */
export interface Report {
  readonly schema: string;
  readonly title: string;
  readonly sentence?: string;
  readonly warnings?: readonly string[];
  readonly notes?: readonly string[];
  readonly scenario_toml?: string;
  readonly command_line?: string | null;
  readonly provenance?: readonly (readonly [string, string])[];
  readonly seed: string;
  readonly kinds?: readonly { readonly kind: string; readonly summary: string; readonly source: string }[];
  readonly metrics?: Metrics;
  readonly main_link: string;
  readonly measured_s?: readonly [number, number] | null;
  readonly summary: Summary;
  /** Sampling times, shared by the series. */
  readonly axes?: readonly (readonly number[])[];
  readonly points: readonly ReportPoint[];
}

interface ReportPoint {
  readonly label: string;
  readonly kind: string;
  /** Goodput of the flows as columns. */
  readonly flows?: {
    readonly groups: readonly string[];
    readonly group: readonly number[];
    readonly index: readonly number[];
    readonly goodput_bit_s: readonly (number | null)[];
    readonly ci95: readonly (number | null)[];
  };
  readonly cdfs?: readonly { readonly link: string; readonly sojourn_s: readonly number[]; readonly quantile: readonly number[] }[];
  readonly rtt_cdfs?: readonly { readonly group: string; readonly rtt_s: readonly number[]; readonly quantile: readonly number[] }[];
  readonly series?: readonly {
    readonly subject: string;
    readonly axis: number;
    readonly samples_a_pair: number;
    readonly columns: readonly Omit<Column, "times">[];
  }[];
}

/** A whole result. */
export interface Result extends Required<Pick<Report, "title" | "sentence" | "warnings" | "notes" | "kinds" | "metrics" | "provenance">> {
  readonly headline: Headline | undefined;
  readonly scenario: string;
  readonly commandLine: string | null;
  readonly mainLink: string;
  readonly links: readonly string[];
  readonly groups: readonly string[];
  readonly measured: { readonly from: number; readonly to: number } | undefined;
  readonly host: string;
  readonly seed: string;
  readonly replications: number | undefined;
  readonly points: readonly Point[];
}

/** Reads the text of the data element. */
export function parseResult(text: string): Result {
  return readResult(JSON.parse(text) as Report);
}

/** The same, of what the text says. */
export function readResult(report: Report): Result {
  if (report.schema !== "goodqueue.report/1") throw new Error(`this page reads goodqueue.report/1, and the data says ${report.schema}`);
  const { title, summary, seed, sentence = "", warnings = [], notes = [], kinds = [], metrics = { links: [], groups: [], jain: [], experience: [] } } = report;
  const looks = looksFor(
    report.points.map(({ kind }) => kind),
    summary.points.map(({ set }) => settingOf(fields(set))),
  );
  const [from, to] = report.measured_s ?? [];
  return {
    title,
    sentence,
    warnings,
    notes,
    kinds,
    metrics,
    seed,
    scenario: report.scenario_toml ?? "",
    commandLine: report.command_line ?? null,
    provenance: [...provenance(summary.provenance ?? {}), ...(report.provenance ?? [])],
    headline: summary.headline ?? undefined,
    mainLink: report.main_link,
    links: names(summary.points, "links"),
    groups: names(summary.points, "groups"),
    measured: from === undefined || to === undefined ? undefined : { from, to },
    host: summary.host ?? "",
    replications: summary.replications,
    points: report.points.map((point, number) => readPoint(number, point, summary.points[number] ?? {}, report.axes ?? [], looks[number])),
  };
}

function readPoint(number: number, raw: ReportPoint, summary: Fields, axes: readonly (readonly number[])[], look: Look | undefined): Point {
  const { label, kind, flows, cdfs = [], rtt_cdfs: rttCdfs = [], series = [] } = raw;
  return {
    number,
    label,
    kind,
    set: fields(summary["set"]),
    look: look ?? { hue: "slate", dash: [], mark: "circle" },
    flows: (flows?.group ?? []).map((group, at) => ({ group: flows?.groups[group] ?? "", index: flows?.index[at] ?? at, goodput: flows?.goodput_bit_s[at] ?? 0, ci95: flows?.ci95[at] ?? null })),
    series: series.map(({ subject, axis, samples_a_pair: samplesAPair, columns }) => ({ subject, samplesAPair, columns: columns.map((column) => readColumn(column, axes[axis] ?? [])) })),
    activity: (group) => {
      const named = fields(fields(summary["experience"])[group])["activity"];
      return typeof named === "string" ? named : undefined;
    },
    cdf: (link) => cdfs.filter((one) => one.link === link).map(({ sojourn_s: times, quantile }) => ({ times, quantile }))[0],
    probes: rttCdfs.map(({ group }) => group),
    rttCdf: (group) => rttCdfs.filter((one) => one.group === group).map(({ rtt_s: times, quantile }) => ({ times, quantile }))[0],
    figure: (...path) => figure(path.reduce<Json | undefined>((at, key) => fields(at)[key], summary)),
  };
}

function readColumn({ name, values, means = [] }: Omit<Column, "times">, times: readonly number[]): Column {
  // One mean for each pair of extremes.
  return { name, times, values, ...(means.length > 0 ? { means: values.map((_, at) => means[at >> 1] ?? null) } : {}) };
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
