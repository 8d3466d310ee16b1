// What calls and games get under each queue, in large figures: live, then over the measured time.

import { forget, repaintAfter } from "../../charts/painter.ts";
import { sign } from "../../charts/sign.ts";
import { h } from "../../dom.ts";
import type { Look } from "../../palette.ts";
import type { Result } from "../../report/data.ts";
import type { About, CallFigures, Frame } from "../../serve/protocol.ts";
import { formatDecimals, formatQuantity } from "../../units.ts";

/** Kinds of traffic with a listener at the far end. */
const LISTENED = ["voip", "gaming"];
/** Milliseconds between updates. */
const PACE = 400;

/** How satisfied listeners are with a mean opinion score: the least score, from the best class down (ITU-T G.107 annex B). */
const CLASSES: readonly (readonly [least: number, words: string])[] = [
  [4.34, "very good"],
  [4.03, "good"],
  [3.6, "fair"],
  [3.1, "poor"],
  [0, "bad"],
];

/** The group whose calls or games are shown: the first one. */
export function listenedGroup(about: About): About["groups"][number] | undefined {
  return about.groups.find(({ kind }) => LISTENED.includes(kind));
}

export function scoreInWords(mos: number): string {
  return CLASSES.find(([least]) => mos >= least)?.[1] ?? "bad";
}

/** What a listener would say of a call. */
export function heard(figures: CallFigures | undefined): (readonly [name: string, value: string])[] {
  const { bad_ratio: bad, mos } = figures ?? { mos: null };
  const score = mos === null ? (["score", "–"] as const) : ([`score, ${scoreInWords(mos)}`, formatDecimals(mos, 2)] as const);
  return bad === undefined ? [score] : [["of the time bad", formatQuantity(Math.round(bad * 100) / 100, "ratio", 2)], score];
}

export class CallBoard {
  readonly element: HTMLElement;
  readonly #group: string;
  readonly #isVoice: boolean;
  readonly #places: readonly HTMLElement[];
  readonly #when = h("p", { class: "hint" });
  #frame: Frame | undefined;

  constructor({ name, kind }: About["groups"][number], labels: readonly string[], looks: readonly Look[]) {
    this.#group = name;
    this.#isVoice = kind === "voip";
    this.#places = labels.map(() => h("dl", { class: "call-figures" }));
    this.#tellWhen(true);
    const cards = labels.map((label, at) => h("div", { class: "call-card" }, h("div", { class: "call-queue" }, sign(looks[at] ?? { hue: "slate", dash: [], mark: "circle" }), label), this.#places[at]));
    this.element = h("section", { class: "calls", "aria-label": "Calls" }, h("h2", {}, kind === "voip" ? "What the call gets" : "What the game gets"), h("div", { class: "call-cards" }, ...cards), this.#when);
    for (const place of this.#places) this.#show(place, undefined);
  }

  setFrame(frame: Frame): void {
    this.#frame = frame;
    repaintAfter(this, PACE);
  }

  paint(): void {
    this.#frame?.variants.forEach(({ groups }, at) => this.#show(this.#places[at], groups.find(({ name }) => name === this.#group)?.call ?? undefined));
  }

  /** Shows the final figures, over the measured time. */
  setResult({ points }: Result): void {
    this.destroy();
    this.#frame = undefined;
    this.#tellWhen(false);
    points.forEach(({ figure }, at) => {
      const mean = (...path: string[]): number | undefined => figure("groups", this.#group, ...path)?.mean;
      const [p50, p95] = [mean("one_way_delay_s", "p50"), mean("one_way_delay_s", "p95")];
      const bad = mean("voip", "bad_ratio");
      const whole = p50 === undefined || p95 === undefined ? undefined : { mos: mean("voip", "mos") ?? null, ...(bad === undefined ? {} : { bad_ratio: bad }), delay_s: { p50, p95 }, lost_ratio: mean("loss_ratio") ?? 0 };
      this.#show(this.#places[at], whole);
    });
  }

  destroy(): void {
    forget(this);
  }

  #tellWhen(isLive: boolean): void {
    this.#when.textContent = `One way, 95 % of the packets within this time, ${isLive ? "over the latest second of simulated time" : "over the measured time"}.${this.#isVoice ? ` Score: the mean opinion score of the E-model, from 1 to 4.5, ${isLive ? "over the latest 8 s" : "mean over windows of 8 s; a window is bad if nearly all would be dissatisfied"}.` : ""}`;
  }

  /** Fills a card with figures; without any, with dashes. */
  #show(place: HTMLElement | undefined, figures: CallFigures | undefined): void {
    const delay = figures ? formatQuantity(figures.delay_s.p95, "time", 2) : "–";
    const lost = figures ? formatQuantity(Math.round(figures.lost_ratio * 1000) / 1000, "ratio", figures.lost_ratio < 0.01 ? 1 : 2) : "–";
    // What a voice call loses is among what is bad.
    const entries = this.#isVoice ? [...heard(figures), ["one-way delay", delay] as const] : [["one-way delay", delay] as const, ["lost", lost] as const];
    const text = entries.flat().join("|");
    if (!place || place.dataset["said"] === text) return;
    place.dataset["said"] = text;
    place.replaceChildren(...entries.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", { class: "number" }, value))));
  }
}
