// How each algorithm looks: the same color, dash and mark in every chart, table and page.

import { COLOUR_OF, FAMILY_OF } from "./families.ts";

/** The colors of theme.css, by name. */
export const HUES = ["slate", "blue", "orange", "green", "red", "violet", "gold", "pink"] as const;
export type Hue = (typeof HUES)[number];

/** Shapes of points, so that color is never the only difference. */
export const MARKS = ["circle", "square", "diamond", "up", "down", "cross"] as const;
export type Mark = (typeof MARKS)[number];

/** Dash patterns in pixels, from solid on. */
const DASHES: readonly (readonly number[])[] = [[], [7, 3], [2, 3], [9, 3, 2, 3]];

/** Look of one line, point or swatch. */
export interface Look {
  readonly hue: Hue;
  readonly dash: readonly number[];
  readonly mark: Mark;
}

/** The hue of a family; the baseline is gray. */
const hueOf = (family: string): Hue => HUES.find((hue) => hue === COLOUR_OF[family]) ?? "slate";

/** Looks of one hue; the first six differ by their marks, all of them by dash and mark. */
const MEMBERS = 12;

/** The look of the `member`-th of a hue's users. */
function look(hue: Hue, member: number): Look {
  return { ...placed(hue, member), mark: MARKS[(HUES.indexOf(hue) + member) % MARKS.length] ?? "circle" };
}

/** A hue with the dash and the mark of this place, which are the same in every hue. */
function placed(hue: Hue, place: number): Look {
  return { hue, dash: DASHES[place % DASHES.length] ?? [], mark: MARKS[place % MARKS.length] ?? "circle" };
}

/** Each known algorithm's own look: its family's hue, and dash and mark by its place in the list. */
const LOOK_OF: ReadonlyMap<string, Look> = new Map(
  Object.entries(FAMILY_OF).map(([kind, family], at, all) => {
    const before = all.slice(0, at).filter(([, other]) => hueOf(other) === hueOf(family));
    return [kind, look(hueOf(family), before.length)];
  }),
);

const looksOf = (hue: Hue): Look[] => Array.from({ length: MEMBERS }, (_, member) => look(hue, member));

/** All looks, those that are easiest to tell apart first. */
const ALL_LOOKS: readonly Look[] = Array.from({ length: MEMBERS }, (_, member) => HUES.map((hue) => look(hue, member))).flat();

const keyOf = (one: Look): string => `${one.hue} ${one.dash.join(",")} ${one.mark}`;

/** Looks for a list of compared points; no two of them are alike while there are looks left. Points of a known algorithm keep
 *  its color, and its later points differ by dash and mark. An algorithm that is not listed gets a color that nobody else in
 *  the list has, if there is one. When one algorithm is alone (a sweep of its parameters), its points get all colors. Where
 *  several algorithms are compared at several `settings` (one for each point), dash and mark tell the setting, if that tells all
 *  points apart. */
export function looksFor(kinds: readonly string[], settings: readonly string[] = []): Look[] {
  const places = [...new Set(settings)];
  const compared = [...new Set(kinds)];
  if (places.length > 1 && compared.length > 1) {
    const own = looksFor(compared);
    const looks = kinds.map((kind, at) => placed(own[compared.indexOf(kind)]?.hue ?? "slate", places.indexOf(settings[at] ?? "")));
    if (new Set(looks.map(keyOf)).size === looks.length) return looks;
  }
  const used = new Set<string>();
  const hues = new Set<Hue>();
  const looks: (Look | undefined)[] = kinds.map(() => undefined);
  const isAlone = new Set(kinds).size === 1;
  const take = (at: number, wanted: readonly Look[]): void => {
    const free = [...wanted, ...ALL_LOOKS].find((one) => !used.has(keyOf(one))) ?? wanted[0] ?? look("slate", 0);
    used.add(keyOf(free));
    hues.add(free.hue);
    looks[at] = free;
  };
  const isFirst = (kind: string, at: number): boolean => kinds.indexOf(kind) === at;
  kinds.forEach((kind, at) => {
    const own = LOOK_OF.get(kind);
    if (own && isFirst(kind, at)) take(at, [own, ...looksOf(own.hue)]);
  });
  kinds.forEach((kind, at) => {
    if (LOOK_OF.has(kind) || !isFirst(kind, at)) return;
    take(at, ALL_LOOKS.filter(({ hue }) => !hues.has(hue) && hue !== "slate"));
  });
  kinds.forEach((kind, at) => {
    if (looks[at]) return;
    const first = looks[kinds.indexOf(kind)];
    take(at, isAlone || !first ? [] : looksOf(first.hue));
  });
  return looks.map((one) => one ?? look("slate", 0));
}

/** Colors of a chart, resolved for one theme. */
export interface Ink {
  readonly surface: string;
  readonly ink: string;
  readonly muted: string;
  readonly grid: string;
  readonly line: string;
  readonly shade: string;
  readonly hues: Readonly<Record<Hue, string>>;
}

/** Ink whose colors are those of theme.css, each as `resolve` gives it by its name there. */
export function inkFrom(resolve: (name: string) => string): Ink {
  const hues = Object.fromEntries(HUES.map((hue) => [hue, resolve(`series-${hue}`)])) as Ink["hues"];
  return { surface: resolve("surface"), ink: resolve("ink"), muted: resolve("muted"), grid: resolve("grid"), line: resolve("line-strong"), shade: resolve("shade"), hues };
}

/** Reads the colors of theme.css as they are in `scheme`; `page`: as the page shows them now. */
export function inkOf(scheme: "light" | "dark" | "page"): Ink {
  const probe = document.createElement("span");
  probe.hidden = true;
  if (scheme !== "page") probe.style.colorScheme = scheme;
  document.body.append(probe);
  const ink = inkFrom((name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  });
  probe.remove();
  return ink;
}
