// Selection of the reader: points and link.

import { Watched } from "../charts/window.ts";
import { FAMILY_OF } from "../families.ts";
import { evenly } from "../lists.ts";
import type { Point, Result } from "./data.ts";
import { queueOf, settingOf } from "./settings.ts";

/** How series over time are arranged. */
export type Arrangement = "together" | "apart";

/** Panels with one vertical axis for all, or each with its own. */
export type PanelAxes = "equal" | "own";

/** More lines than this in one plot are read badly; with more points than this, only some start switched on. */
export const MOST_AT_START = 10;
/** With more lines than this, each gets a panel of its own at first. */
const MOST_TOGETHER = 3;

/** Choices of the reader besides the points. */
interface Choices {
  readonly link: string;
  readonly arrangement: Arrangement;
  readonly panelAxes: PanelAxes;
}

export class State extends Watched {
  readonly #visible: Set<number>;
  #choices: Choices;

  constructor(result: Result) {
    super();
    this.#visible = new Set(shownAtStart(result));
    this.#choices = { link: linkOf(result), arrangement: result.points.length > MOST_TOGETHER ? "apart" : "together", panelAxes: "equal" };
  }

  get choices(): Choices {
    return this.#choices;
  }

  choose(change: Partial<Choices>): void {
    this.#choices = { ...this.#choices, ...change };
    this.changed();
  }

  isVisible(point: number): boolean {
    return this.#visible.has(point);
  }

  show(points: readonly number[], visible: boolean): void {
    for (const point of points) {
      if (visible) this.#visible.add(point);
      else this.#visible.delete(point);
    }
    this.changed();
  }
}

/** The link that a report is about at first. */
function linkOf({ links, mainLink }: Result): string {
  return links.includes(mainLink) ? mainLink : (links[0] ?? mainLink);
}

/** Numbers of the points that are switched on at first: all while they are few; otherwise the best queues and the baseline, at
 *  settings that are spread over the sweep. */
export function shownAtStart(result: Result): number[] {
  const order = bestFirst(result).flatMap((number) => result.points[number] ?? []);
  const [best] = order;
  if (!best || order.length <= MOST_AT_START) return order.map(({ number }) => number);
  const baselines = order.filter(({ kind }) => FAMILY_OF[kind] === "tail-drop");
  const queues = [...new Set([best, ...baselines, ...order].map(queueOf))].slice(0, MOST_AT_START);
  const settings = evenly([...new Set(result.points.map(({ set }) => settingOf(set)))], Math.max(1, Math.floor(MOST_AT_START / queues.length)));
  const chosen = order.filter((point) => point !== best && queues.includes(queueOf(point)) && settings.includes(settingOf(point.set)));
  return [best, ...baselines.filter((point) => chosen.includes(point)), ...chosen].filter(isFirst).slice(0, MOST_AT_START).map(({ number }) => number);
}

const isFirst = (point: Point, at: number, all: readonly Point[]): boolean => all.indexOf(point) === at;

/** Numbers of the points, the best first: those that the headline names, then those within its policy, each by their delay. */
export function bestFirst(result: Result): number[] {
  const { points, headline } = result;
  const link = linkOf(result);
  // Over several settings the headline names queues, each of which has a point in every setting.
  const isOf = (queue: string, label: string): boolean => label === queue || label.startsWith(`${queue}, `);
  const classOf = (label: string): number => {
    if (!headline) return 0;
    if (headline.outside_policy.includes(label)) return 3;
    if (headline.best !== null && isOf(headline.best, label)) return 0;
    return headline.not_significantly_different.some((queue) => isOf(queue, label)) ? 1 : 2;
  };
  const delay = ({ figure }: Result["points"][number]): number => figure("links", link, "sojourn_s", "p95")?.mean ?? Infinity;
  return [...points].sort((a, b) => classOf(a.label) - classOf(b.label) || (delay(a) === delay(b) ? 0 : delay(a) - delay(b))).map(({ number }) => number);
}
