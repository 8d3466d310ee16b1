// Run, pause, step, speed, and where the run is.

import { h } from "../../dom.ts";
import type { SessionState } from "../../serve/protocol.ts";
import { formatDecimals } from "../../units.ts";

/** Simulated seconds per second, from very slow to unlimited. */
export const SPEEDS: readonly (number | null)[] = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 2, 5, 10, 30, 100, null];
/** Speed up to which the server reports individual packets. */
export const PACKET_SPEED = 0.05;

const STEPS = [
  { value: 0.001, label: "1 ms" },
  { value: 0.01, label: "10 ms" },
  { value: 0.1, label: "100 ms" },
  { value: 1, label: "1 s" },
];

/** What the buttons do. */
export interface TransportOptions {
  readonly speed: number | null;
  readonly onRun: () => void;
  readonly onPlay: (isPlaying: boolean) => void;
  readonly onStop: () => void;
  readonly onStep: (seconds: number) => void;
  readonly onSpeed: (speed: number | null) => void;
}

/** A speed in words. */
export function speedInWords(speed: number | null): string {
  if (speed === null) return "as fast as it goes";
  return `${speed}\u00a0×`;
}

/** The place in `SPEEDS` that is nearest to `speed`. */
export function nearestSpeed(speed: number | null): number {
  if (speed === null) return SPEEDS.length - 1;
  const distance = (at: number): number => Math.abs(Math.log((SPEEDS[at] ?? Infinity) / speed));
  return SPEEDS.slice(0, -1).reduce<number>((best, _value, at) => (distance(at) < distance(best) ? at : best), 0);
}

export class Transport {
  readonly element: HTMLElement;
  readonly #run: HTMLButtonElement;
  readonly #play: HTMLButtonElement;
  readonly #step: HTMLButtonElement;
  readonly #slider: HTMLInputElement;
  readonly #speed = h("output", { for: "speed", class: "number speed-value" });
  readonly #clock = h("span", { class: "number clock" }, "0 s");
  readonly #bar = h("div", { class: "bar" });
  #isRunning = false;
  #isSteerable = true;
  #shownClock = "";

  constructor(options: TransportOptions) {
    this.#run = h("button", { type: "button", id: "run", class: "button primary", onclick: options.onRun }, "Run");
    this.#play = h("button", { type: "button", id: "play", class: "button", disabled: true, onclick: () => (this.#isSteerable ? options.onPlay(!this.#isRunning) : options.onStop()) }, "Pause");
    const length = h("select", { class: "select", "aria-label": "Length of a step" }, ...STEPS.map((step) => h("option", { value: step.value, selected: step.value === 0.1 }, step.label)));
    this.#step = h("button", { type: "button", id: "step", class: "button", disabled: true, onclick: () => options.onStep(Number(length.value)) }, "Step");
    this.#slider = h("input", { type: "range", id: "speed", min: 0, max: SPEEDS.length - 1, step: 1, value: nearestSpeed(options.speed), oninput: () => this.#tellSpeed(), onchange: () => options.onSpeed(this.#chosen()) });
    this.element = h(
      "div",
      { class: "row transport", role: "group", "aria-label": "Run" },
      h("div", { class: "transport-buttons" }, this.#run, this.#play, h("span", { class: "joined" }, this.#step, length)),
      h("div", { class: "speed" }, h("label", { for: "speed" }, "Speed"), this.#slider, this.#speed),
      this.#clock,
      h("div", { class: "progress", "aria-hidden": "true" }, this.#bar),
    );
    this.#tellSpeed();
  }

  /** Shows another speed, without telling anybody. */
  setSpeed(speed: number | null): void {
    this.#slider.value = String(nearestSpeed(speed));
    this.#tellSpeed();
  }

  /** Enables the buttons that apply in this state; a run that is not steerable can only be stopped. */
  setState(state: SessionState | undefined, isStarting: boolean, isSteerable = true): void {
    const isOver = !state || !["running", "paused", ...(isSteerable ? [] : ["queued"])].includes(state.state);
    this.#isSteerable = isSteerable;
    this.#isRunning = state?.state === "running";
    this.#run.textContent = isStarting ? "Starting…" : state ? "Run again" : "Run";
    // Disabling a button would lose the keyboard focus.
    this.#run.setAttribute("aria-disabled", String(isStarting));
    this.#run.classList.toggle("primary", isOver);
    this.#play.disabled = isOver;
    this.#play.textContent = !isSteerable ? "Stop" : state?.state === "paused" ? "Continue" : "Pause";
    this.#step.disabled = isOver || !isSteerable;
    this.#slider.disabled = !isSteerable && !isOver;
  }

  setTime(t: number, duration: number): void {
    const decimals = duration <= 0 ? 0 : t < 0.1 ? 4 : duration < 10 ? 3 : 1;
    const text = `${formatDecimals(t, decimals)} of ${duration}\u00a0s`;
    if (text === this.#shownClock) return;
    this.#shownClock = text;
    this.#clock.textContent = text;
    this.#bar.style.transform = `scaleX(${duration > 0 ? Math.min(1, t / duration) : 0})`;
  }

  #chosen(): number | null {
    return SPEEDS[Number(this.#slider.value)] ?? null;
  }

  #tellSpeed(): void {
    const words = speedInWords(this.#chosen());
    this.#speed.textContent = words;
    this.#slider.setAttribute("aria-valuetext", words);
  }
}
