// What each flow got: one row per point, one dot per flow.

import { MarksChart, type Box, type Target } from "../charts/marks.ts";
import type { Plot, Shape } from "../charts/svg.ts";
import { extent, type Range } from "../charts/ticks.ts";
import { evenly } from "../lists.ts";
import { formatDecimals, formatNumber, unitFor, withUnit } from "../units.ts";
import type { FlowGoodput, Point } from "./data.ts";
import { withInterval } from "./intervals.ts";
import { namesAxis } from "./names.ts";

/** Dots of one row; of more flows, evenly chosen ones are drawn, the smallest and the largest
 *  among them. */
const MOST_DOTS = 160;

/** The chart of one group's flows (`""`: all groups) for the points that are switched on. */
export function fairnessChart(points: readonly Point[], group: string, onZoom: () => void): MarksChart {
  const rows = points.map((point) => {
    const flows = point.flows.filter((flow) => group === "" || flow.group === group).sort((a, b) => a.goodput - b.goodput);
    return { point, flows, mean: flows.reduce((sum, flow) => sum + flow.goodput, 0) / Math.max(1, flows.length) };
  });
  const all: Range = { min: 0, max: Math.max(1, extent(rows.flatMap(({ flows }) => flows.map((flow) => flow.goodput))).max) * 1.06 };
  const unit = unitFor("rate", all.max);
  const targets = rows.flatMap(({ point, flows }, row) =>
    evenly(flows, MOST_DOTS).map(
      (flow): Target => ({
        x: flow.goodput,
        y: row,
        look: point.look,
        heading: point.label,
        rows: [{ label: `Flow ${flow.group} ${flow.index}`, value: withInterval({ mean: flow.goodput, ci95: flow.ci95 }, (value) => withUnit(value, unit)) }],
      }),
    ),
  );
  const build = (width: number, box: Box): Plot => ({
    width,
    height: Math.max(150, 62 + rows.length * 34),
    right: 84,
    x: { label: "Goodput of a flow", range: box.x ?? all, scale: "linear", unit },
    y: namesAxis(points, width),
    shapes: rows.flatMap(({ point, flows, mean }, row) => rowShapes(point, flows, mean, row, box.x ?? all, jainOf(point, group))),
  });
  return new MarksChart({
    name: "Goodput of each flow, one row for each queue, with Jain’s index of fairness",
    build,
    targets,
    zoom: "x",
    data: [["point", "group", "flow", "goodput_bit_s", "ci95_bit_s"], ...rows.flatMap(({ point, flows }) => flows.map((flow) => [point.label, flow.group, flow.index, flow.goodput, flow.ci95]))],
    digest: [
      ["Queue", "Flows", `Smallest (${unit.symbol})`, `Median (${unit.symbol})`, `Largest (${unit.symbol})`, "Jain’s index"],
      ...rows.map(({ point, flows }) => [point.label, flows.length, ...[0, 0.5, 1].map((part) => formatNumber((flows[Math.floor(part * (flows.length - 1))]?.goodput ?? NaN) * unit.factor)), jainOf(point, group) ?? "–"]),
    ],
    onZoom,
  });
}

function rowShapes(point: Point, flows: readonly FlowGoodput[], mean: number, row: number, shown: Range, jain: string | undefined): Shape[] {
  const [smallest, largest] = [flows[0]?.goodput, flows[flows.length - 1]?.goodput];
  const shapes: Shape[] = [];
  if (smallest === undefined || largest === undefined) return shapes;
  const drawn = evenly(flows, MOST_DOTS);
  const opacity = drawn.length > 60 ? 0.35 : drawn.length > 20 ? 0.55 : 0.8;
  shapes.push({ type: "segment", from: [smallest, row], to: [largest, row], look: point.look, width: 1, opacity: 0.5 });
  shapes.push({ type: "segment", from: [mean, row - 0.3], to: [mean, row + 0.3], look: point.look, width: 2, opacity: 1 });
  shapes.push(...drawn.map((flow): Shape => ({ type: "point", x: flow.goodput, y: row, look: point.look, size: 4, opacity })));
  if (jain !== undefined) shapes.push({ type: "label", x: shown.max, y: row, text: `J ${jain}`, anchor: "start", dx: 12, dy: 4, quiet: true });
  return shapes;
}

/** Jain’s index over the flows of one group, from the summary: it compares flows that want the same. */
function jainOf(point: Point, group: string): string | undefined {
  const jain = point.figure("groups", group, "goodput_jain");
  return jain && formatDecimals(jain.mean, 3);
}
