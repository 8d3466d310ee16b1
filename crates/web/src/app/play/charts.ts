// The charts of a running session.

import type { Chart, Heading } from "../../charts/chart.ts";
import { Frame, type FrameOptions } from "../../charts/frame.ts";
import { LiveChart, type LiveLine, type LiveOptions } from "../../charts/live.ts";
import type { Range } from "../../charts/ticks.ts";
import { SharedWindow } from "../../charts/window.ts";
import { type Option, segmented, selectField } from "../../dom.ts";
import { type Look, looksFor } from "../../palette.ts";
import type { About } from "../../serve/protocol.ts";
import { type Quantity, quantityOf } from "../../units.ts";
import { FlowLegend, flowLook, flowName } from "./flow-legend.ts";
import { type LivePanel, LivePanels } from "./live-panels.ts";
import { keyOf, MOST_FLOWS, type Session } from "./session.ts";

/** A chart that accepts new data. */
type Updatable = Chart & { update(): void };

/** Time span of the charts; `null` for the whole run. */
export type Span = number | null;

/** A quantity of the link with one line per queue. */
interface Choice extends Option {
  /** The title of its axis. */
  readonly title: string;
  readonly quantity: Quantity;
}

const SOJOURN: readonly Choice[] = [
  { value: "link.sojourn_s.mean", label: "mean", title: "Sojourn time, mean", quantity: "time" },
  { value: "link.sojourn_s.p95", label: "p95", title: "Sojourn time, p95", quantity: "time" },
  { value: "link.sojourn_s.max", label: "max", title: "Sojourn time, max", quantity: "time" },
];
const QUEUE: readonly Choice[] = [
  { value: "link.queue_packets", label: "packets", title: "Queue length", quantity: "packets" },
  { value: "link.queue_bytes", label: "bytes", title: "Queue length", quantity: "bytes" },
];
const SIGNALS: readonly Choice[] = [
  { value: "link.drops", label: "drops", title: "Packets dropped", quantity: "number" },
  { value: "link.drops.early", label: "by the algorithm", title: "Packets dropped early", quantity: "number" },
  { value: "link.drops.overflow", label: "overflow", title: "Packets that overflowed", quantity: "number" },
  { value: "link.marks", label: "marks", title: "Packets marked", quantity: "number" },
];
const LOAD: readonly Choice[] = [
  { value: "link.throughput_bit_s", label: "throughput", title: "Throughput", quantity: "rate" },
  { value: "link.utilization", label: "utilization", title: "Utilization", quantity: "ratio" },
];
const FLOWS: readonly Choice[] = [
  { value: "goodput_bit_s", label: "goodput", title: "Goodput", quantity: "rate" },
  { value: "cwnd_packets", label: "window", title: "Window", quantity: "packets" },
  { value: "rtt_s", label: "round trip", title: "Round trip", quantity: "time" },
];

/** Why a flow may seem to be faster than its line. */
export const GOODPUT_ABOVE_RATE = "Goodput is data delivered in order: what waited behind a lost packet counts when the repair arrives, so it may exceed the rate of the line for a moment.";

/** Milliseconds between two updates of open tables. */
const TABLES = 1500;

/** The charts of one session, created once and fed by `update`. */
export class PlayCharts {
  frames: readonly Frame[];
  readonly looks: readonly Look[];
  readonly #session: Session;
  readonly #labels: readonly string[];
  readonly #window = new SharedWindow("play");
  readonly #charts: (Updatable | undefined)[] = [];
  readonly #hidden = new Set<number>();
  #span: Span = null;
  #gaugesSeen = 0;
  readonly #flowLegend = new FlowLegend(MOST_FLOWS);
  #tabled = 0;
  #gauge = "";
  readonly #gaugeFrame: Frame;

  constructor(session: Session, kinds: readonly string[], labels: readonly string[]) {
    this.#session = session;
    this.#labels = labels;
    this.looks = looksFor(kinds);
    this.#gaugeFrame = this.#frame("Gauges", "Internal state of the algorithms.", () => this.#gaugeChart(), () => [], "These queues have no state to show.", true);
    this.frames = [
      this.#linkFrame("Sojourn time", "Sojourn time of packets leaving now.", SOJOURN),
      this.#linkFrame("Queue length", "Packets waiting now.", QUEUE),
      this.#linkFrame("Drops and marks", "Packets since the start.", SIGNALS),
      this.#linkFrame("Link", "Bits sent per second; the thin gray line is its rate.", LOAD),
      this.#flowFrame(),
      this.#gaugeFrame,
    ];
    for (const frame of this.frames) frame.update();
    this.#window.watch(() => {
      for (const frame of this.frames) frame.zoomChanged();
    });
  }

  /** Puts a chart of the calls or games of a group in front of the others. */
  addCalls({ name, kind }: About["groups"][number]): void {
    const of = (value: string, label: string, title: string, quantity: Quantity): Choice => ({ value: `call.${name}.${value}`, label, title, quantity });
    const scores = kind === "voip" ? [of("mos", "score", "Score, latest 8 s", "number")] : [];
    const choices = [of("delay_s.p95", "delay p95", "One-way delay, p95", "time"), of("delay_s.p50", "delay p50", "One-way delay, p50", "time"), ...scores, of("lost_ratio", "lost", "Lost", "ratio")];
    const hint = `One-way delay and losses, over the latest second${kind === "voip" ? "; score, over the latest 8 s" : ""}.`;
    const frame = this.#linkFrame(kind === "voip" ? "Call" : "Game", hint, choices, true);
    this.frames = [frame, ...this.frames];
    frame.update();
  }

  /** Called when the history has new frames. */
  update(): void {
    if (this.#session.gauges.size !== this.#gaugesSeen) {
      this.#gaugesSeen = this.#session.gauges.size;
      this.#gaugeFrame.update();
      this.#gaugeFrame.setControls(this.#gaugeControls());
    }
    this.#flowLegend.update(this.#session.frame?.variants[0]?.flows ?? []);
    for (const chart of this.#charts) chart?.update();
    const now = performance.now();
    if (now - this.#tabled < TABLES) return;
    this.#tabled = now;
    for (const frame of this.frames) frame.fillTable();
  }

  /** Sets the visible time span. */
  follow(span: Span): void {
    this.#span = span;
    this.#window.set(null);
    this.update();
  }

  /** Shows or hides one queue's lines. */
  show(variant: number, isShown: boolean): void {
    if (isShown) this.#hidden.delete(variant);
    else this.#hidden.add(variant);
    for (const frame of this.frames) frame.update();
  }

  /** Called when the colors have changed. */
  redraw(): void {
    for (const frame of this.frames) frame.redraw();
  }

  destroy(): void {
    for (const chart of this.#charts) chart?.destroy();
  }

  #shown(): number[] {
    return this.#labels.map((_label, at) => at).filter((at) => !this.#hidden.has(at));
  }

  #look(variant: number): Look {
    return this.looks[variant] ?? { hue: "slate", dash: [], mark: "circle" };
  }

  #linesOf(variants: readonly number[], what: string): LiveLine[] {
    return variants.map((at) => ({ key: keyOf(at, what), label: this.#labels[at] ?? "", look: this.#look(at) }));
  }

  #legend(): Heading["legend"] {
    return this.#shown().map((at) => ({ label: this.#labels[at] ?? "", look: this.#look(at) }));
  }

  /** Visible range while the charts follow the run: from the left edge until the span is full,
   *  then the newest part. */
  #range(): Range {
    const now = this.#session.history.span?.to ?? 0;
    if (this.#span === null) return { min: 0, max: Math.max(now, this.#session.state?.duration ?? this.#session.about?.duration ?? 1) };
    return { min: Math.max(0, now - this.#span), max: Math.max(now, this.#span) };
  }

  #options(name: string, choice: Choice): Omit<LiveOptions, "lines" | "top"> {
    return {
      name,
      label: choice.title,
      quantity: choice.quantity,
      height: 210,
      history: this.#session.history,
      follow: () => this.#range(),
      window: this.#window,
      moments: () => this.#session.notes,
      ...(/^link\.(drops|marks)/.test(choice.value) ? { steps: true } : {}),
      ...(choice.value === "link.utilization" ? { least: 1 } : choice.value.endsWith(".mos") ? { least: 4.5 } : {}),
    };
  }

  /** A frame whose chart gets new data while it is visible. */
  #frame(title: string, hint: string, make: () => Updatable | undefined, controls: NonNullable<FrameOptions["controls"]>, empty: string, isWide: boolean): Frame {
    const place = this.#charts.push(undefined) - 1;
    return new Frame({
      title,
      hint,
      controls,
      make: () => (this.#charts[place] = make()),
      legend: () => this.#legend(),
      empty,
      isWide: () => isWide,
      resetLabel: "Follow",
    });
  }

  #linkFrame(title: string, hint: string, choices: readonly Choice[], isWide = false): Frame {
    let [choice] = choices;
    const make = (): Updatable | undefined => {
      const { value } = choice ?? { value: "" };
      const lines = (): LiveLine[] => {
        const rate: LiveLine[] = value === "link.throughput_bit_s" ? [{ key: keyOf(0, "link.rate_bit_s"), label: "rate", look: { hue: "slate", dash: [2, 3], mark: "circle" }, isQuiet: true }] : [];
        return [...rate, ...this.#linesOf(this.#shown(), value)];
      };
      return choice && this.#shown().length > 0 ? new LiveChart({ ...this.#options(title, choice), lines }) : undefined;
    };
    return this.#frame(title, hint, make, (update) => [segmented(title, choices, choices[0]?.value ?? "", (chosen) => ((choice = chosen), update()))], "Every queue is switched off.", isWide);
  }

  #flowFrame(): Frame {
    let [choice] = FLOWS;
    const title = "Each flow";
    const make = (): Updatable | undefined => {
      if (!choice || this.#shown().length === 0) return undefined;
      const { value } = choice;
      const panels = this.#shown().map((at): LivePanel => ({ label: this.#labels[at] ?? "", look: this.#look(at), lines: () => this.#flowLines(at, value) }));
      return new LivePanels({ ...this.#options(`${title}, ${choice.label}`, choice), height: 172 }, panels);
    };
    const hint = `One line per flow, the first ${MOST_FLOWS} of them; same scale. ${GOODPUT_ABOVE_RATE}`;
    const controls = (update: () => void): HTMLElement[] => [segmented("Of each flow", FLOWS, "goodput_bit_s", (chosen) => ((choice = chosen), update())), this.#flowLegend.element];
    return this.#frame(title, hint, make, controls, "Every queue is switched off.", true);
  }

  #flowLines(variant: number, what: string): LiveLine[] {
    const flows = (this.#session.frame?.variants[variant]?.flows ?? []).slice(0, MOST_FLOWS);
    return flows.map((flow, at) => ({ key: keyOf(variant, `flow.${at}.${what}`), label: flowName(flow), look: flowLook(at) }));
  }

  #gaugeChart(): Updatable | undefined {
    const names = [...this.#session.gauges];
    if (!names.includes(this.#gauge)) this.#gauge = names[0] ?? "";
    if (this.#gauge === "" || this.#shown().length === 0) return undefined;
    const gauge = this.#gauge;
    const choice = { value: gauge, label: gaugeName(gauge), title: gaugeName(gauge), quantity: quantityOf(gauge) };
    const lines = (): LiveLine[] => this.#linesOf(this.#shown().filter((at) => gauge in (this.#session.frame?.variants[at]?.gauges ?? {})), `gauge.${gauge}`);
    return new LiveChart({ ...this.#options(gaugeName(gauge), choice), lines, steps: true });
  }

  #gaugeControls(): HTMLElement[] {
    const options = [...this.#session.gauges].map((name) => ({ value: name, label: gaugeName(name) }));
    return options.length === 0 ? [] : [selectField("Gauge", options, this.#gauge, ({ value }) => ((this.#gauge = value), this.#gaugeFrame.update()))];
  }
}

/** Name of a gauge without the unit of its values. */
export function gaugeName(name: string): string {
  return name.replace(/_(s|bit_s|bytes|packets)$/, "").replaceAll("_", " ");
}
