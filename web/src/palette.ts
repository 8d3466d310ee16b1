// How each algorithm looks: the same colour, dash and mark in every chart, table and page.

/** The colours of theme.css, by name. */
export const HUES = ["slate", "blue", "orange", "green", "red", "violet", "gold", "pink"] as const;
export type Hue = (typeof HUES)[number];

/** Shapes of points, so that colour is never the only difference. */
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

/** One family one hue; members of a family differ by dash and mark. The baseline is grey. */
const FAMILIES: readonly (readonly [Hue, readonly string[]])[] = [
  ["slate", ["tail-drop", "rem", "avq", "phantom-queue"]],
  ["blue", ["codel", "codel-as", "jobs", "nfq-codel"]],
  ["green", ["fq-codel", "sfq-codel", "fq-pie"]],
  ["orange", ["pie", "docsis-pie", "pie-as", "pi"]],
  ["red", ["red", "ared", "choke"]],
  ["violet", ["cp-aqm", "blue", "sfb"]],
  ["pink", ["gsp", "gsp-as"]],
  ["gold", ["cobalt", "dualpi2"]],
];

/** The look of the `member`-th of a hue's users. */
function look(hue: Hue, member: number): Look {
  const position = HUES.indexOf(hue) + member * 2;
  return { hue, dash: DASHES[member % DASHES.length] ?? [], mark: MARKS[position % MARKS.length] ?? "circle" };
}

/** The look of an algorithm on its own; unknown kinds get one from their name. */
export function lookOf(kind: string): Look {
  for (const [hue, kinds] of FAMILIES) {
    const member = kinds.indexOf(kind);
    if (member >= 0) return look(hue, member);
  }
  const number = [...kind].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) >>> 0, 7);
  return look(HUES[number % HUES.length] ?? "slate", Math.floor(number / HUES.length) % DASHES.length);
}

/** Looks for a list of compared points. Points of different algorithms keep their algorithm's colour; its later points differ
 *  by dash and mark. When one algorithm is alone (a sweep of its parameters), or has too many points, colours that nobody
 *  else in the list has tell its points apart. */
export function looksFor(kinds: readonly string[]): Look[] {
  const key = (one: Look): string => `${one.hue} ${one.dash.join(",")}`;
  const used = new Set(kinds.map((kind) => key(lookOf(kind))));
  const seen = new Set<string>();
  const isAlone = new Set(kinds).size === 1;
  const spare = DASHES.flatMap((_, member) => HUES.map((hue) => look(hue, member)));
  return kinds.map((kind) => {
    const own = lookOf(kind);
    if (!seen.has(kind)) {
      seen.add(kind);
      return own;
    }
    const family = isAlone ? [] : spare.filter((one) => one.hue === own.hue);
    const next = [...family, ...spare].find((one) => !used.has(key(one))) ?? own;
    used.add(key(next));
    return next;
  });
}

/** Colours of a chart, resolved for one theme. */
export interface Ink {
  readonly surface: string;
  readonly ink: string;
  readonly muted: string;
  readonly grid: string;
  readonly line: string;
  readonly shade: string;
  readonly hues: Readonly<Record<Hue, string>>;
}

/** Reads the colours of theme.css as they are in `scheme`; `page`: as the page shows them now. */
export function inkOf(scheme: "light" | "dark" | "page"): Ink {
  const probe = document.createElement("span");
  probe.hidden = true;
  if (scheme !== "page") probe.style.colorScheme = scheme;
  document.body.append(probe);
  const resolve = (name: string): string => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const ink = {
    surface: resolve("surface"),
    ink: resolve("ink"),
    muted: resolve("muted"),
    grid: resolve("grid"),
    line: resolve("line-strong"),
    shade: resolve("shade"),
    hues: Object.fromEntries(HUES.map((hue) => [hue, resolve(`series-${hue}`)])) as Record<Hue, string>,
  };
  probe.remove();
  return ink;
}
