// Which charts a report has, and what each is made from.

import type { Chart } from "../charts/chart.ts";
import type { LineData } from "../charts/line.ts";
import { SharedWindow } from "../charts/window.ts";
import { segmented, selectField } from "../dom.ts";
import { FAMILY_OF } from "../families.ts";
import { type Quantity, quantityOf } from "../units.ts";
import { activityOf, decidingColumns, linkColumns, noticedColumns } from "./columns.ts";
import type { Cdf, Point, Result } from "./data.ts";
import { type Distributed, distributionChart, ROUND_TRIPS, SOJOURN } from "./distribution.ts";
import { experienceChart, titleOf } from "./experience.ts";
import { fairnessChart } from "./fairness.ts";
import { Frame } from "../charts/frame.ts";
import { sweptSettings } from "./settings.ts";
import type { Arrangement, State } from "./state.ts";
import { sweepChart, type SweepLine, sweepLines } from "./sweep.ts";
import { columnOf, timelineChart } from "./timelines.ts";
import { delayChart, levelUtilization } from "./delays.ts";
import { type Delay, DELAYS, tradeoffChart } from "./tradeoff.ts";

const SCALES = [
  { value: "linear", label: "Linear" },
  { value: "log", label: "Log" },
] as const;

/** The charts of a report, by the section they stand in. */
export interface Charts {
  /** What people notice of each queue; of several queues alone. */
  readonly experience: Frame | undefined;
  readonly overview: readonly Frame[];
  readonly overTime: readonly Frame[];
}

export function makeCharts(result: Result, state: State): Charts {
  const visible = (): Point[] => result.points.filter((point) => state.isVisible(point.number));
  const legend = (): { label: string; look: Point["look"] }[] => visible().map(({ label, look }) => ({ label, look }));
  const shared = { legend, isWide: () => false };
  const overview = sweepFrames(result, state, shared);
  if (result.points.some((point) => point.probes.length > 0)) overview.push(roundTripsFrame(result, visible, shared));
  const hasFlows = result.points.some((point) => point.flows.length > 1);
  if (hasFlows) overview.push(fairnessFrame(result, visible, shared));
  overview.push(tradeoffFrame(result, state, visible, shared), sojournFrame(result, state, visible, shared));
  const hasSeries = result.points.some((point) => point.series.length > 0);
  return { experience: experienceFrame(result, visible), overview, overTime: hasSeries ? timeFrames(result, state, visible, legend) : [] };
}

interface Shared {
  readonly legend: () => { label: string; look: Point["look"] }[];
  readonly isWide: () => boolean;
}

function experienceFrame(result: Result, visible: () => Point[]): Frame | undefined {
  const columns = noticedColumns(result);
  if (result.points.length < 2 || columns.length === 0) return undefined;
  const isOfPeople = columns.some(({ key }) => !/\.(sojourn_s\.p95|goodput_bit_s)$/.test(key));
  return new Frame({
    title: isOfPeople ? "What people on the line get" : "Queueing delay and goodput",
    hint: `A dot for each queue, with its mean in figures; the bar through it is the 95 % interval.${columns.some(({ quantity }) => quantity === "time") ? " Axes of times are logarithmic." : ""}`,
    controls: [],
    // Names stand at the axes.
    legend: () => [],
    isWide: () => true,
    make: (onZoom) => (visible().length > 0 ? experienceChart(visible(), columns, onZoom) : undefined),
    empty: "Every queue is switched off.",
  });
}

/** The chart over a swept setting, where one is swept. */
function sweepFrames(result: Result, state: State, shared: Shared): Frame[] {
  const settings = sweptSettings(result.points);
  const [first] = settings;
  const deciding = decidingColumns(result);
  const others = [...noticedColumns(result).filter(({ key }) => deciding.every((column) => column.key !== key)), ...linkColumns(result.metrics).filter(({ isMain }) => isMain)];
  const columns = [...deciding, ...others];
  let setting = first;
  // Losses are zero in most results.
  let column = columns.find(({ key }) => !key.endsWith(".loss_ratio"));
  if (!setting || !column) return [];
  const lines = (): SweepLine[] => (setting ? sweepLines(result.points, setting).filter((line) => line.points.some(({ number }) => state.isVisible(number))) : []);
  const figures = columns.map((one) => ({ value: one.key, label: titleOf(one), group: deciding.includes(one) ? "Deciding figures" : "Others" }));
  const frame: Frame = new Frame({
    ...shared,
    title: "Over the swept setting",
    hint: "A line for each queue of which a point is switched on; bars are 95 % intervals.",
    legend: () => lines().map(({ label, look }) => ({ label, look })),
    controls: [
      selectField("Figure", figures, column.key, (value) => ((column = columns.find(({ key }) => key === value)), frame.update())),
      ...(settings.length > 1 ? [selectField("Over", settings.map(({ key, label }) => ({ value: key, label })), setting.key, (value) => ((setting = settings.find(({ key }) => key === value)), frame.update()))] : []),
    ],
    make: (onZoom) => (setting && column && lines().length > 0 ? sweepChart(lines(), setting, column, state.link, onZoom) : undefined),
    empty: "Every queue is switched off.",
    isWide: () => true,
  });
  return [frame];
}

function tradeoffFrame(result: Result, state: State, visible: () => Point[], shared: Shared): Frame {
  let delay: Delay = "p95";
  let scale: "linear" | "log" = isSpreadOut(visible(), state.link) ? "log" : "linear";
  const level = levelUtilization(result.points, state.link);
  const frame: Frame = new Frame({
    ...shared,
    title: level === undefined ? "Utilization against delay" : "Delay",
    hint: level === undefined ? "Up and to the left is better. Bars are 95 % intervals." : `Shorter is better; whiskers are 95 % intervals. All queues use ${level} of the link, so utilization does not tell them apart.`,
    controls: [
      selectField("Sojourn time", DELAYS.map((value) => ({ value, label: value })), delay, (value) => {
        delay = DELAYS.find((known) => known === value) ?? "p95";
        frame.update();
      }),
      segmented("Delay axis", SCALES, scale, (value) => {
        scale = value === "log" ? "log" : "linear";
        frame.update();
      }),
    ],
    make: (onZoom) => (visible().length > 0 ? (level === undefined ? tradeoffChart(visible(), state.link, delay, scale, onZoom) : delayChart(visible(), state.link, delay, scale, onZoom)) : undefined),
    empty: "Every queue is switched off.",
  });
  return frame;
}

/** Whether the delays differ so much that a linear axis would squeeze most points into a corner. */
function isSpreadOut(points: readonly Point[], link: string): boolean {
  const delays = points.flatMap((point) => point.figure("links", link, "sojourn_s", "p95")?.mean ?? []);
  return Math.min(...delays) > 0 && Math.max(...delays) > 6 * Math.min(...delays);
}

function sojournFrame(result: Result, state: State, visible: () => Point[], shared: Shared): Frame {
  return distributionFrame(SOJOURN, {
    ...shared,
    visible,
    title: "Sojourn time of the packets",
    hint: `Share of packets that waited at most this long. Further left is better.${result.points.some(({ kind }) => FAMILY_OF[kind] === "flow-queueing") ? " With a queue per flow, packets of light flows pass those of heavy ones: the curve rises in steps." : ""}`,
    of: (point) => point.cdf(state.link),
    more: () => [],
  });
}

function roundTripsFrame(result: Result, visible: () => Point[], shared: Shared): Frame {
  const groups = [...new Set(result.points.flatMap((point) => point.probes))];
  let group = groups[0] ?? "";
  return distributionFrame(ROUND_TRIPS, {
    ...shared,
    visible,
    title: "Round trips of the probes",
    hint: "Share of probes that returned within this time. Further left is better.",
    isWide: () => true,
    of: (point) => point.rttCdf(group),
    more: (update) => (groups.length > 1 ? [selectField("Probes", groups.map((value) => ({ value, label: value })), group, (value) => ((group = value), update()))] : []),
  });
}

interface DistributionFrame extends Shared {
  readonly visible: () => Point[];
  readonly title: string;
  readonly hint: string;
  readonly of: (point: Point) => Cdf | undefined;
  /** Additional controls, given the function that redraws the chart. */
  readonly more: (update: () => void) => HTMLElement[];
}

function distributionFrame(what: Distributed, { visible, of, more, ...options }: DistributionFrame): Frame {
  let scale: "linear" | "log" = "log";
  const window = new SharedWindow(what.name);
  const update = (): void => {
    window.set(null);
    frame.update();
  };
  const frame: Frame = new Frame({
    ...options,
    controls: [
      ...more(update),
      segmented("Time axis", SCALES, scale, (value) => {
        scale = value === "log" ? "log" : "linear";
        update();
      }),
    ],
    make: () => (visible().some(of) ? distributionChart(what, visible(), of, scale, window) : undefined),
    empty: "No distribution was recorded for these queues.",
  });
  window.watch(() => frame.zoomChanged());
  return frame;
}

function fairnessFrame(result: Result, visible: () => Point[], shared: Shared): Frame {
  const groups = [...new Set(result.points.flatMap((point) => point.flows.map((flow) => flow.group)))];
  const size = (name: string): number => Math.max(...result.points.map((point) => point.flows.filter((flow) => flow.group === name).length));
  // Equal flows of one direction: the bulk flows, if there are several.
  const bulk = groups.filter((name) => activityOf(result, name) === "bulk");
  let group = [...bulk, ...groups].find((name) => size(name) > 1) ?? "";
  const choices = [{ value: "", label: "all" }, ...groups.map((name) => ({ value: name, label: name }))];
  const frame: Frame = new Frame({
    ...shared,
    title: "Goodput of each flow",
    hint: "One dot per flow, the bar is their mean. J is Jain’s index over the flows of the group.",
    controls: groups.length > 1 ? [selectField("Flows", choices, group, (value) => ((group = value), frame.update()))] : [],
    make: (onZoom) => (visible().length > 0 ? fairnessChart(visible(), group, onZoom) : undefined),
    empty: "Every queue is switched off.",
    isWide: () => true,
  });
  return frame;
}

/** A chart over time that follows the chosen link: its title, column and what to see. */
const LINK_TIMELINES = [
  { column: "queue_packets", title: "Queue length", hint: "Packets waiting." },
  { column: "sojourn_s", title: "Sojourn time over time", hint: "Mean sojourn time of the packets that left in each sampling interval." },
  { column: "throughput_bit_s", title: "Link throughput", hint: "Everything the link sent." },
] as const;

type MakeTimeline = (name: string, quantity: Quantity, lines: readonly LineData[], steps: boolean, arrangement?: Arrangement) => Chart | undefined;

/** Values that hold until they change. */
const STEP_NAMES = /^(gauge:|drops$|marks$|cwnd_bytes$)/;

function timeFrames(result: Result, state: State, visible: () => Point[], legend: Shared["legend"]): Frame[] {
  const window = new SharedWindow("time");
  const isWide = (): boolean => state.arrangement === "apart" && visible().length > 1;
  const timeline: MakeTimeline = (name, quantity, lines, steps, arrangement = state.arrangement) =>
    lines.length > 0 ? timelineChart({ name, quantity, lines, steps, coarse: quantity === "rate", arrangement: lines.length > 1 ? arrangement : "together", panelAxes: state.panelAxes, result, window }) : undefined;
  const empty = "This was not sampled for the queues that are switched on.";
  const linkLines = (column: string): LineData[] =>
    visible().flatMap((point): LineData[] => {
      const data = columnOf(point.series, `link:${state.link}`, column);
      return data ? [{ label: point.label, look: point.look, ...data }] : [];
    });
  const frames = LINK_TIMELINES.map(
    ({ column, title, hint }) => new Frame({ legend, isWide, empty, title, hint, controls: [], make: () => timeline(title, quantityOf(column), linkLines(column), false) }),
  );
  const inner = innerFrame(result, { legend, isWide, empty }, (name) => timeline(readable(name), quantityOf(name), linkLines(name), STEP_NAMES.test(name)));
  const senders = sendersFrame(result, visible, { legend, isWide, empty }, timeline);
  const all = [...frames.slice(0, 2), ...inner, ...senders, ...frames.slice(2)];
  window.watch(() => all.forEach((frame) => frame.zoomChanged()));
  return all;
}

/** Internal state of the algorithms: their gauges, and the drops and marks they caused. */
function innerFrame(result: Result, shared: Shared & { empty: string }, make: (name: string) => Chart | undefined): Frame[] {
  const names = [...new Set(result.points.flatMap((point) => point.series.filter((one) => one.subject.startsWith("link:")).flatMap((one) => one.columns.map((column) => column.name))))];
  const gauges = names.filter((name) => name.startsWith("gauge:"));
  const counters = names.filter((name) => name === "drops" || name === "marks");
  if (gauges.length + counters.length === 0) return [];
  let chosen = gauges.find((name) => name.includes("prob")) ?? gauges[0] ?? counters[0] ?? "";
  const owners = (name: string): string => result.points.filter((point) => point.series.some((one) => one.columns.some((column) => column.name === name))).map((point) => point.label).slice(0, 4).join(", ");
  const options = [
    ...gauges.map((name) => ({ value: name, label: `${readable(name)} (${owners(name)})`, group: "Gauges" })),
    ...counters.map((name) => ({ value: name, label: readable(name), group: "Since the start" })),
  ];
  const frame: Frame = new Frame({
    ...shared,
    title: "Inside the algorithms",
    hint: "Sampled internal state, and the drops and marks it caused.",
    controls: [selectField("Show", options, chosen, (value) => ((chosen = value), frame.update()))],
    make: () => make(chosen),
  });
  return [frame];
}

const SENDER_COLUMNS = ["cwnd_bytes", "in_flight_bytes", "srtt_s", "goodput_bit_s"];

/** The senders: one flow under every queue, or every flow under one queue. */
function sendersFrame(
  result: Result,
  visible: () => Point[],
  shared: Shared & { empty: string },
  timeline: MakeTimeline,
): Frame[] {
  const subjects = [...new Set(result.points.flatMap((point) => point.series.map((one) => one.subject)))].filter((subject) => subject.startsWith("flow:"));
  if (subjects.length === 0) return [];
  const columns = SENDER_COLUMNS.filter((name) => result.points.some((point) => point.series.some((one) => one.columns.some((column) => column.name === name))));
  let column = columns[0] ?? "cwnd_bytes";
  let view = subjects[0] ?? "";
  const views = [
    ...subjects.map((subject) => ({ value: subject, label: flowName(subject), group: "One flow, every queue" })),
    ...result.points.map((point) => ({ value: `point:${point.number}`, label: point.label, group: "Every flow of one queue" })),
  ];
  const lines = (): LineData[] => {
    const point = result.points.find((one) => `point:${one.number}` === view);
    if (point) return flowLines(point, subjects, column);
    return visible().flatMap((one): LineData[] => {
      const data = columnOf(one.series, view, column);
      return data ? [{ label: one.label, look: one.look, ...data }] : [];
    });
  };
  const frame: Frame = new Frame({
    ...shared,
    title: "Senders",
    hint: "Congestion window, data in flight, round-trip time and goodput of single flows.",
    controls: [
      selectField("Value", columns.map((name) => ({ value: name, label: readable(name) })), column, (value) => ((column = value), frame.update())),
      selectField("Of", views, view, (value) => ((view = value), frame.update())),
    ],
    // The flows of one queue all have its colour, so only panels of their own tell them apart.
    make: () => timeline(readable(column), quantityOf(column), lines(), STEP_NAMES.test(column), view.startsWith("point:") ? "apart" : undefined),
    isWide: () => view.startsWith("point:") || shared.isWide(),
  });
  return [frame];
}

/** More flows than this in one chart cannot be told apart. */
const MOST_FLOWS = 16;

function flowLines(point: Point, subjects: readonly string[], column: string): LineData[] {
  return subjects.slice(0, MOST_FLOWS).flatMap((subject): LineData[] => {
    const data = columnOf(point.series, subject, column);
    return data ? [{ label: flowName(subject), look: point.look, ...data }] : [];
  });
}

function flowName(subject: string): string {
  return subject.replace(/^flow:/, "").replace(/:(\d+)$/, " $1");
}

const READABLE: Readonly<Record<string, string>> = {
  drops: "Packets dropped",
  marks: "Packets marked",
  cwnd_bytes: "Congestion window",
  in_flight_bytes: "Data in flight",
  srtt_s: "Smoothed round-trip time",
  goodput_bit_s: "Goodput",
};

/** A column's name for people: `gauge:drop_probability` is “Drop probability”. */
function readable(name: string): string {
  const known = READABLE[name];
  if (known !== undefined) return known;
  const words = name.replace(/^gauge:/, "").replace(/_(s|bit_s|bytes|packets)$/, "").replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
