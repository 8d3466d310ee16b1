// The columns of the tables. What a figure is called, means and counts comes with the data; this is
// how tables read it.

import type { Quantity } from "../units.ts";
import type { ActivityMetrics, Figure, Metric, Metrics, Point, Result } from "./data.ts";

/** One column of figures. */
export interface FigureColumn {
  /** The figure's name in the summary, with dots between nested keys. */
  readonly key: string;
  readonly label: string;
  /** For the tooltip of the header. */
  readonly meaning: string;
  readonly quantity: Quantity;
  readonly better?: "higher" | "lower";
  /** Digits after the point, when the usual number would hide what matters. */
  readonly decimals?: number;
  /** Shown at once, or only with all columns. */
  readonly isMain: boolean;
}

/** A column of the table of links. */
export interface LinkColumn extends FigureColumn {
  readonly figure: (point: Point, link: string) => Figure | undefined;
}

/** A column of the table of traffic. */
export interface GroupColumn extends FigureColumn {
  readonly figure: (point: Point, group: string) => Figure | undefined;
}

/** The columns of the table of links: its figures, and fairness between the flows of the point. */
export function linkColumns(metrics: Metrics): LinkColumn[] {
  const ofLinks = metrics.links.map((metric): LinkColumn => ({ ...column(metric, metric.name), figure: (point, link) => point.figure("links", link, ...path(metric)) }));
  const ofPoints = metrics.jain.map((metric): LinkColumn => ({ ...column(metric, `jain.${metric.name}`), figure: (point) => point.figure("jain", ...path(metric)) }));
  return [...ofLinks, ...ofPoints];
}

/** What decides between queues, for each group that somebody waits for: the columns in front of those of the link. */
export function decidingColumns(result: Result): LinkColumn[] {
  return experienceColumns(result, ({ isInteractive }, { name }) => isInteractive && FIRST_FIGURES.test(name));
}

/** What people notice of each queue, and what is left for those who only wait for data: the figures of the first picture. */
export function noticedColumns(result: Result): LinkColumn[] {
  const noticed = (of: Readonly<Record<string, RegExp>>): LinkColumn[] => defined(result, experienceColumns(result, ({ activity }, { name }) => of[activity]?.test(name) === true));
  const goodput = noticed({ bulk: /^goodput_bit_s$/ });
  const people = [NOTICED, NOTICED_WITHOUT_THESE].map(noticed).find((columns) => columns.length > 0);
  if (people) return [...people, ...goodput];
  const isBulk = (group: string): boolean => activityOf(result, group) === "bulk";
  const groups = result.groups.some(isBulk) ? result.groups.filter(isBulk) : result.groups;
  const ofGroups = ["sojourn_s.p95", "goodput_bit_s"].flatMap((name) =>
    result.metrics.groups
      .filter((metric) => metric.name === name)
      .flatMap((metric) => groups.map((group): LinkColumn => ({ ...column(metric, `${group}.${name}`), label: `${group}: ${metric.label}`, figure: (point) => point.figure("groups", group, ...path(metric)) }))),
  );
  return defined(result, ofGroups);
}

/** Columns of figures of what groups got, those of the activities that decide first. */
function experienceColumns(result: Result, isWanted: (activity: ActivityMetrics, metric: Metric) => boolean): LinkColumn[] {
  return result.metrics.experience.flatMap((activity) =>
    result.groups
      .filter((group) => activityOf(result, group) === activity.activity)
      .flatMap((group) =>
        activity.figures
          .filter((metric) => isWanted(activity, metric))
          .map((metric): LinkColumn => ({ ...column(metric, `${group}.${metric.name}`), isMain: true, label: `${group}: ${metric.label}`, figure: (point) => point.figure("experience", group, ...path(metric)) })),
      ),
  );
}

/** What a group is to people; nothing where that is not known. */
export function activityOf({ points }: Result, group: string): string | undefined {
  return points.map((point) => point.activity(group)).find((one) => one !== undefined);
}

function defined({ points }: Result, columns: readonly LinkColumn[]): LinkColumn[] {
  return columns.filter((column) => points.some((point) => column.figure(point, "") !== undefined));
}

/** Of each activity, what people notice first. */
const NOTICED: Readonly<Record<string, RegExp>> = { call: /^mos$/, ping: /^(late_ratio|rtt_s\.p95)$/, page: /^page_load_s\.p95$/, video: /^stalled_ratio$/ };
/** The same where there is none of these. */
const NOTICED_WITHOUT_THESE: Readonly<Record<string, RegExp>> = { game: /^one_way_delay_s\.p95$/, transfer: /^completion_s\.p95$/ };

/** Of each activity, what the main table has room for: its quality, its losses and what 95 % of it took. */
const FIRST_FIGURES = /^(mos|late_ratio|loss_ratio|rtt_s\.p95|page_load_s\.p95|stalled_ratio|bitrate_bit_s|completion_s\.p95)$/;

/** The columns of one activity. */
export function activityColumns({ figures }: ActivityMetrics): GroupColumn[] {
  return figures.map((metric): GroupColumn => ({ ...column(metric, metric.name), isMain: true, figure: (point, group) => point.figure("experience", group, ...path(metric)) }));
}

/** The columns of the table of traffic. */
export function groupColumns(metrics: Metrics): GroupColumn[] {
  return metrics.groups.map((metric): GroupColumn => ({ ...column(metric, metric.name), figure: (point, group) => point.figure("groups", group, ...path(metric)) }));
}

function path(metric: Metric): string[] {
  return metric.name.split(".");
}

function column({ label, meaning, quantity, better, decimals, isMain }: Metric, key: string): FigureColumn {
  return { key, label, meaning, quantity, isMain, ...(better === undefined ? {} : { better }), ...(decimals === undefined ? {} : { decimals }) };
}
