// Common interface of all charts.

import type { Ink, Look } from "../palette.ts";
import type { Rows } from "./export.ts";

/** Head of an exported picture, which stands alone. */
export interface Heading {
  readonly title: string;
  readonly legend: readonly { readonly label: string; readonly look: Look }[];
}

/** A chart on the page. */
export interface Chart {
  /** Element to add to the page. */
  readonly element: HTMLElement;
  /** The chart as it is shown now, as SVG text in other colors or another size. */
  svg(ink: Ink, width: number, heading: Heading | undefined): string;
  /** Every number behind the chart, for a CSV file. */
  data(): Rows;
  /** The same in few numbers, for those who cannot see it. */
  digest(): Rows;
  /** Whether the chart is zoomed. */
  zoomed(): boolean;
  /** Resets the zoom. */
  resetZoom(): void;
  /** Redraws, after a change of size or theme. */
  redraw(): void;
  /** Releases everything outside `element`. */
  destroy(): void;
}
