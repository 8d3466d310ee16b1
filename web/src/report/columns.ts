// The columns of the tables. What a figure is called, means and counts comes with the data; this is how tables read it.

import type { Quantity } from "../units.ts";
import type { Figure, Metric, Metrics, Point } from "./data.ts";

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
