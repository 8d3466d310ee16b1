// Which charts a report has, and what each is made from.

import type { Chart } from "../charts/chart.ts";
import type { LineData } from "../charts/line.ts";
import { SharedWindow } from "../charts/window.ts";
import { optionsNamed, segmented, selectField } from "../dom.ts";
import { FAMILY_OF } from "../families.ts";
import { quantityOf } from "../units.ts";
import { activityOf, decidingColumns, linkColumns, noticedColumns } from "./columns.ts";
import type { Cdf, Point, Result } from "./data.ts";
import { type Distributed, distributionChart, ROUND_TRIPS, SOJOURN } from "./distribution.ts";
import { ExperienceChart, titleOf } from "./experience.ts";
import { fairnessChart } from "./fairness.ts";
import { Frame, type FrameOptions } from "../charts/frame.ts";
import { sweptSettings } from "./settings.ts";
import type { Arrangement, State } from "./state.ts";
import { sweepChart, type SweepLine, sweepLines } from "./sweep.ts";
import { timelineChart } from "./timelines.ts";
import { delayChart, levelUtilization } from "./delays.ts";
import { type Delay, DELAYS, isSpreadOut, tradeoffChart } from "./tradeoff.ts";

const SCALES = [
  { value: "linear", label: "Linear" },
  { value: "log", label: "Log" },
] as const;
type Scale = (typeof SCALES)[number]["value"];

/** The charts of a report, by the section they stand in. */
export interface Charts {
  /** What people notice of each queue; of several queues alone. */
  readonly experience: Frame | undefined;
  readonly overview: readonly Frame[];
  readonly overTime: readonly Frame[];
}

export function makeCharts(result: Result, state: State): Charts {
  const visible = (): Point[] => result.points.filter((point) => state.isVisible(point.number));
  const shared: Shared = {
    result,
    state,
    visible,
    legend: () => visible().map(({ label, look }) => ({ label, look })),
    isWide: () => false,
    empty: "Every queue is switched off.",
  };
  const overview = sweepFrames(shared);
  if (result.points.some((point) => point.probes.length > 0)) overview.push(roundTripsFrame(shared));
  const hasFlows = result.points.some((point) => point.flows.length > 1);
  if (hasFlows) overview.push(fairnessFrame(shared));
  overview.push(tradeoffFrame(shared), sojournFrame(shared));
  const hasSeries = result.points.some((point) => point.series.length > 0);
  return { experience: experienceFrame(shared), overview, overTime: hasSeries ? timeFrames(shared) : [] };
}

/** Sources of all charts, and options of most frames. */
interface Shared extends Pick<FrameOptions, "legend" | "isWide" | "empty"> {
  readonly result: Result;
  readonly state: State;
  /** The points that are switched on. */
  readonly visible: () => Point[];
}

function experienceFrame(shared: Shared): Frame | undefined {
  const { result, visible } = shared;
  const columns = noticedColumns(result);
  if (result.points.length < 2 || columns.length === 0) return undefined;
  const isOfPeople = columns.some(({ key }) => !/\.(sojourn_s\.p95|goodput_bit_s)$/.test(key));
  return new Frame({
    ...shared,
    title: isOfPeople ? "What people on the line get" : "Queueing delay and goodput",
    hint: `A dot for each queue, with its mean in figures; the bar through it is the 95 % interval.${columns.some(({ quantity }) => quantity === "time") ? " Axes of times are logarithmic." : ""}`,
    // Names stand at the axes.
    legend: () => [],
    isWide: () => true,
    make: (onZoom) => (visible().length > 0 ? new ExperienceChart(visible(), columns, onZoom) : undefined),
  });
}

/** The chart over a swept setting, where one is swept. */
function sweepFrames(shared: Shared): Frame[] {
  const { result, state } = shared;
  const settings = sweptSettings(result.points).map((setting) => ({ setting, value: setting.key, label: setting.label }));
  const deciding = decidingColumns(result);
  const others = [...noticedColumns(result).filter(({ key }) => deciding.every((column) => column.key !== key)), ...linkColumns(result.metrics).filter(({ main }) => main)];
  const figures = [...deciding, ...others].map((column) => ({ column, value: column.key, label: titleOf(column), group: deciding.includes(column) ? "Deciding figures" : "Others" }));
  let [over] = settings;
  // Losses are zero in most results.
  let figure = figures.find(({ value }) => !value.endsWith(".loss_ratio"));
  if (!over || !figure) return [];
  const [setting, column] = [over.value, figure.value];
  const lines = (): SweepLine[] => (over ? sweepLines(result.points, over.setting).filter((line) => line.points.some(({ number }) => state.isVisible(number))) : []);
  const frame = new Frame({
    ...shared,
    title: "Over the swept setting",
    hint: "A line for each queue of which a point is switched on; bars are 95 % intervals.",
    legend: () => lines().map(({ label, look }) => ({ label, look })),
    controls: (update) => [
      selectField("Figure", figures, column, (chosen) => ((figure = chosen), update())),
      ...(settings.length > 1 ? [selectField("Over", settings, setting, (chosen) => ((over = chosen), update()))] : []),
    ],
    make: (onZoom) => (over && figure && lines().length > 0 ? sweepChart(lines(), over.setting, figure.column, state.choices.link, onZoom) : undefined),
    isWide: () => true,
  });
  return [frame];
}

function tradeoffFrame(shared: Shared): Frame {
  const { result, state, visible } = shared;
  let delay: Delay = "p95";
  let scale: Scale = isSpreadOut(visible(), state.choices.link) ? "log" : "linear";
  const level = levelUtilization(result.points, state.choices.link);
  const chart = level === undefined ? tradeoffChart : delayChart;
  return new Frame({
    ...shared,
    title: level === undefined ? "Utilization against delay" : "Delay",
    hint: level === undefined ? "Up and to the left is better. Bars are 95 % intervals." : `Shorter is better; whiskers are 95 % intervals. All queues use ${level} of the link, so utilization does not tell them apart.`,
    controls: (update) => [
      selectField("Sojourn time", optionsNamed(DELAYS), delay, ({ value }) => ((delay = value), update())),
      segmented("Delay axis", SCALES, scale, ({ value }) => ((scale = value), update())),
    ],
    make: (onZoom) => (visible().length > 0 ? chart(visible(), state.choices.link, delay, scale, onZoom) : undefined),
  });
}

function sojournFrame(shared: Shared): Frame {
  const { result, state } = shared;
  return distributionFrame(SOJOURN, {
    ...shared,
    title: "Sojourn time of the packets",
    hint: `Share of packets that waited at most this long. Further left is better.${result.points.some(({ kind }) => FAMILY_OF[kind] === "flow-queueing") ? " With a queue per flow, packets of light flows pass those of heavy ones: the curve rises in steps." : ""}`,
    of: (point) => point.cdf(state.choices.link),
  });
}

function roundTripsFrame(shared: Shared): Frame {
  const groups = [...new Set(shared.result.points.flatMap((point) => point.probes))];
  let [group = ""] = groups;
  return distributionFrame(ROUND_TRIPS, {
    ...shared,
    title: "Round trips of the probes",
    hint: "Share of probes that returned within this time. Further left is better.",
    isWide: () => true,
    of: (point) => point.rttCdf(group),
    controls: (update) => (groups.length > 1 ? [selectField("Probes", optionsNamed(groups), group, ({ value }) => ((group = value), update()))] : []),
  });
}

interface DistributionFrame extends Shared, Pick<FrameOptions, "title" | "hint" | "controls"> {
  readonly of: (point: Point) => Cdf | undefined;
}

function distributionFrame(what: Distributed, { of, ...options }: DistributionFrame): Frame {
  const { visible, controls } = options;
  let scale: Scale = "log";
  const window = new SharedWindow(what.name);
  const frame = new Frame({
    ...options,
    controls: (recreate) => {
      const update = (): void => {
        window.set(null);
        recreate();
      };
      return [...(controls?.(update) ?? []), segmented("Time axis", SCALES, scale, ({ value }) => ((scale = value), update()))];
    },
    make: () => (visible().some(of) ? distributionChart(what, visible(), of, scale, window) : undefined),
    empty: "No distribution was recorded for these queues.",
  });
  window.watch(() => frame.zoomChanged());
  return frame;
}

function fairnessFrame(shared: Shared): Frame {
  const { result, visible } = shared;
  const groups = [...new Set(result.points.flatMap((point) => point.flows.map((flow) => flow.group)))];
  const size = (name: string): number => Math.max(...result.points.map((point) => point.flows.filter((flow) => flow.group === name).length));
  // Equal flows of one direction: the bulk flows, if there are several.
  const bulk = groups.filter((name) => activityOf(result, name) === "bulk");
  let group = [...bulk, ...groups].find((name) => size(name) > 1) ?? "";
  const choices = [{ value: "", label: "all" }, ...optionsNamed(groups)];
  return new Frame({
    ...shared,
    title: "Goodput of each flow",
    hint: "One dot per flow, the bar is their mean. J is Jain’s index over the flows of the group.",
    controls: (update) => (groups.length > 1 ? [selectField("Flows", choices, group, ({ value }) => ((group = value), update()))] : []),
    make: (onZoom) => (visible().length > 0 ? fairnessChart(visible(), group, onZoom) : undefined),
    isWide: () => true,
  });
}

/** A chart over time that follows the chosen link: its title, column and what to see. */
const LINK_TIMELINES = [
  { column: "queue_packets", title: "Queue length", hint: "Packets waiting." },
  { column: "sojourn_s", title: "Sojourn time over time", hint: "Mean sojourn time of the packets that left in each sampling interval." },
  { column: "throughput_bit_s", title: "Link throughput", hint: "Everything the link sent." },
] as const;

/** Values that hold until they change. */
const STEP_NAMES = /^(gauge:|drops$|marks$|cwnd_bytes$)/;

/** Makes the chart of a sampled column, called as the column unless it has a title. */
type MakeTimeline = (column: string, lines: readonly LineData[], options?: { readonly title?: string; readonly arrangement?: Arrangement }) => Chart | undefined;

function timeFrames(shared: Shared): Frame[] {
  const { result, state, visible } = shared;
  const window = new SharedWindow("time");
  const timed = { ...shared, isWide: () => state.choices.arrangement === "apart" && visible().length > 1, empty: "This was not sampled for the queues that are switched on." };
  const timeline: MakeTimeline = (column, lines, { title: name = readable(column), arrangement = state.choices.arrangement } = {}) => {
    const quantity = quantityOf(column);
    return lines.length > 0 ? timelineChart({ name, quantity, lines, steps: STEP_NAMES.test(column), arrangement: lines.length > 1 ? arrangement : "together", panelAxes: state.choices.panelAxes, result, window }) : undefined;
  };
  const linkLines = (column: string): LineData[] => visible().flatMap((point) => linesOf(point, `link:${state.choices.link}`, column, point.label));
  const frames = LINK_TIMELINES.map(({ column, title, hint }) => new Frame({ ...timed, title, hint, make: () => timeline(column, linkLines(column), { title }) }));
  const inner = innerFrame(timed, (name) => timeline(name, linkLines(name)));
  const all = [...frames.slice(0, 2), ...inner, ...sendersFrame(timed, timeline), ...frames.slice(2)];
  window.watch(() => all.forEach((frame) => frame.zoomChanged()));
  return all;
}

/** Internal state of the algorithms: their gauges, and the drops and marks they caused. */
function innerFrame(shared: Shared, make: (name: string) => Chart | undefined): Frame[] {
  const { points } = shared.result;
  const names = [...new Set(points.flatMap((point) => point.series.filter((one) => one.subject.startsWith("link:")).flatMap((one) => one.columns.map((column) => column.name))))];
  const gauges = names.filter((name) => name.startsWith("gauge:"));
  const counters = names.filter((name) => name === "drops" || name === "marks");
  if (gauges.length + counters.length === 0) return [];
  let chosen = gauges.find((name) => name.includes("prob")) ?? gauges[0] ?? counters[0] ?? "";
  const owners = (name: string): string => points.filter((point) => isSampled(point, name)).map((point) => point.label).slice(0, 4).join(", ");
  const options = [
    ...gauges.map((name) => ({ value: name, label: `${readable(name)} (${owners(name)})`, group: "Gauges" })),
    ...counters.map((name) => ({ value: name, label: readable(name), group: "Since the start" })),
  ];
  const frame = new Frame({
    ...shared,
    title: "Inside the algorithms",
    hint: "Sampled internal state, and the drops and marks it caused.",
    controls: (update) => [selectField("Show", options, chosen, ({ value }) => ((chosen = value), update()))],
    make: () => make(chosen),
  });
  return [frame];
}

const SENDER_COLUMNS = ["cwnd_bytes", "in_flight_bytes", "srtt_s", "goodput_bit_s"];

/** More flows than this in one chart cannot be told apart. */
const MOST_FLOWS = 16;

/** The senders: one flow under every queue, or every flow under one queue. */
function sendersFrame(shared: Shared, timeline: MakeTimeline): Frame[] {
  const { result, visible } = shared;
  const subjects = [...new Set(result.points.flatMap((point) => point.series.map((one) => one.subject)))].filter((subject) => subject.startsWith("flow:"));
  const columns = SENDER_COLUMNS.filter((name) => result.points.some((point) => isSampled(point, name)));
  let [column = "cwnd_bytes"] = columns;
  let [view] = subjects;
  if (view === undefined) return [];
  const views = [
    ...subjects.map((subject) => ({ value: subject, label: flowName(subject), group: "One flow, every queue" })),
    ...result.points.map((point) => ({ value: `point:${point.number}`, label: point.label, group: "Every flow of one queue" })),
  ];
  const whole = (): Point | undefined => result.points.find((point) => `point:${point.number}` === view);
  const lines = (): LineData[] => {
    const [point, subject = ""] = [whole(), view];
    if (point) return subjects.slice(0, MOST_FLOWS).flatMap((flow) => linesOf(point, flow, column, flowName(flow)));
    return visible().flatMap((one) => linesOf(one, subject, column, one.label));
  };
  const frame = new Frame({
    ...shared,
    title: "Senders",
    hint: "Congestion window, data in flight, round-trip time and goodput of single flows.",
    controls: (update) => [
      selectField("Value", columns.map((value) => ({ value, label: readable(value) })), column, ({ value }) => ((column = value), update())),
      selectField("Of", views, subjects[0] ?? "", ({ value }) => ((view = value), update())),
    ],
    // The flows of one queue all have its color, so only panels of their own tell them apart.
    make: () => timeline(column, lines(), whole() ? { arrangement: "apart" } : {}),
    isWide: () => whole() !== undefined || shared.isWide(),
  });
  return [frame];
}

function isSampled({ series }: Point, name: string): boolean {
  return series.some((one) => one.columns.some((column) => column.name === name));
}

/** The line of a sampled column of a subject, if it holds any value. */
function linesOf({ series, look }: Point, subject: string, name: string, label: string): LineData[] {
  const column = series.find((one) => one.subject === subject)?.columns.find((one) => one.name === name);
  return column?.values.some((value) => value !== null) === true ? [{ label, look, x: column.times, y: column.values, ...(column.means ? { means: column.means } : {}) }] : [];
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
