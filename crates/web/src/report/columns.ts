// The columns of the tables. What a figure is called, means and counts comes with the data; this is
// how tables read it.

import type { ActivityMetrics, Figure, Metric, Metrics, Point, Result } from "./data.ts";

/** One column of figures. */
export interface FigureColumn extends Metric {
  /** The metric's name, in tables of links with that of its group. */
  readonly key: string;
  /** The figure of a point; `subject` is the link or the group that it is asked of. */
  readonly figure: (point: Point, subject: string) => Figure | undefined;
}

/** The columns of the table of links: its figures, and fairness between the flows of the point. */
export function linkColumns({ links, jain }: Metrics): FigureColumn[] {
  return [...columnsOf("links", links), ...jain.map((metric) => ({ ...metric, key: `jain.${metric.name}`, figure: (point: Point) => point.figure("jain", ...path(metric)) }))];
}

/** The columns of the table of traffic. */
export function groupColumns({ groups }: Metrics): FigureColumn[] {
  return columnsOf("groups", groups);
}

/** The columns of one activity. */
export function activityColumns({ figures }: ActivityMetrics): FigureColumn[] {
  return columnsOf("experience", figures);
}

function columnsOf(part: string, metrics: readonly Metric[]): FigureColumn[] {
  return metrics.map((metric) => ({ ...metric, key: metric.name, figure: (point, subject) => point.figure(part, subject, ...path(metric)) }));
}

/** The column of one group in a table of links. */
function ofGroup(column: FigureColumn, group: string): FigureColumn {
  return { ...column, main: true, key: `${group}.${column.key}`, label: `${group}: ${column.label}`, figure: (point) => column.figure(point, group) };
}

function path(metric: Metric): string[] {
  return metric.name.split(".");
}

/** What decides between queues, for each group that somebody waits for: the columns in front of those of the link. */
export function decidingColumns(result: Result): FigureColumn[] {
  return experienceColumns(result, ({ interactive }, { name }) => interactive && FIRST_FIGURES.test(name));
}

/** What people notice of each queue, and what is left for those who only wait for data: the figures of the first picture. */
export function noticedColumns(result: Result): FigureColumn[] {
  const noticed = (of: Readonly<Record<string, RegExp>>): FigureColumn[] => defined(result, experienceColumns(result, ({ activity }, { name }) => of[activity]?.test(name) === true));
  const goodput = noticed({ bulk: /^goodput_bit_s$/ });
  const people = [NOTICED, NOTICED_WITHOUT_THESE].map(noticed).find((columns) => columns.length > 0);
  if (people) return [...people, ...goodput];
  const isBulk = (group: string): boolean => activityOf(result, group) === "bulk";
  const groups = result.groups.some(isBulk) ? result.groups.filter(isBulk) : result.groups;
  const columns = groupColumns(result.metrics);
  return defined(result, ["sojourn_s.p95", "goodput_bit_s"].flatMap((name) => columns.filter(({ key }) => key === name).flatMap((column) => groups.map((group) => ofGroup(column, group)))));
}

/** Columns of figures of what groups got, those of the activities that decide first. */
function experienceColumns(result: Result, isWanted: (activity: ActivityMetrics, metric: Metric) => boolean): FigureColumn[] {
  return result.metrics.experience.flatMap((activity) => {
    const columns = activityColumns(activity).filter((column) => isWanted(activity, column));
    return result.groups.filter((group) => activityOf(result, group) === activity.activity).flatMap((group) => columns.map((column) => ofGroup(column, group)));
  });
}

/** What a group is to people; nothing where that is not known. */
export function activityOf({ points }: Result, group: string): string | undefined {
  return points.map((point) => point.activity(group)).find((one) => one !== undefined);
}

function defined({ points }: Result, columns: readonly FigureColumn[]): FigureColumn[] {
  return columns.filter((column) => points.some((point) => column.figure(point, "") !== undefined));
}

/** Of each activity, what people notice first. */
const NOTICED: Readonly<Record<string, RegExp>> = { call: /^(bad_ratio|mos)$/, ping: /^(late_ratio|rtt_s\.p95)$/, page: /^page_load_s\.p95$/, video: /^stalled_ratio$/ };
/** The same where there is none of these. */
const NOTICED_WITHOUT_THESE: Readonly<Record<string, RegExp>> = { game: /^one_way_delay_s\.p95$/, transfer: /^completion_s\.p95$/ };

/** Of each activity, what the main table has room for: its quality, its losses and what 95 % of it took. */
const FIRST_FIGURES = /^(bad_ratio|mos|late_ratio|loss_ratio|rtt_s\.p95|page_load_s\.p95|stalled_ratio|bitrate_bit_s|completion_s\.p95)$/;
