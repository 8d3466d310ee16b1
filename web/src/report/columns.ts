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
export function decidingColumns({ metrics, groups, points }: Result): LinkColumn[] {
  const activityOf = (group: string): string | undefined => points.map((point) => point.activity(group)).find((one) => one !== undefined);
  return metrics.experience
    .filter(({ isInteractive }) => isInteractive)
    .flatMap(({ activity, figures }) =>
      groups
        .filter((group) => activityOf(group) === activity)
        .flatMap((group) =>
          figures
            .filter(({ name }) => FIRST_FIGURES.test(name))
            .map((metric): LinkColumn => ({ ...column(metric, `${group}.${metric.name}`), isMain: true, label: `${group}: ${metric.label}`, figure: (point) => point.figure("experience", group, ...path(metric)) })),
        ),
    );
}

/** Of each activity, what the main table has room for: its quality, its losses and what 95 % of it took. */
const FIRST_FIGURES = /^(mos|loss_ratio|rtt_s\.p95|page_load_s\.p95|stalled_ratio|bitrate_bit_s|completion_s\.p95)$/;

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
