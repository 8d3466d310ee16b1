import { describe, expect, it } from "vitest";
import { legendHeight } from "../src/charts/svg.ts";
import { decidingColumns, noticedColumns } from "../src/report/columns.ts";
import { parseResult, type Result } from "../src/report/data.ts";
import { axisOf, titleOf } from "../src/report/experience.ts";
import { nameWithout, sweptSettings } from "../src/report/settings.ts";
import { shownAtStart } from "../src/report/state.ts";
import { sweepLines } from "../src/report/sweep.ts";
import { fixture, type FixtureOptions } from "./fixture.ts";

const read = (options: FixtureOptions, change: (data: { metrics: { experience: { activity: string; figures: object[] }[] }; summary: { points: { experience?: Record<string, object>; set: object }[] } }) => void = () => undefined): Result => {
  const data = fixture({ flows: 2, samples: 10, ...options }) as Parameters<typeof change>[0];
  change(data);
  return parseResult(JSON.stringify(data));
};

describe("the first picture", () => {
  const keys = (result: Result): string[] => noticedColumns(result).map(({ key }) => key);

  it("shows what people notice, and the goodput of bulk flows", () => expect(keys(read({ points: 3 }))).toEqual(["call.bad_ratio", "call.mos", "bulk.goodput_bit_s"]));

  it("shows late pings where they are counted, in front of their round trips", () => {
    const ping = { activity: "ping", rtt_s: { p95: { mean: 0.03, ci95: 0.001, n: 3 } } };
    const late = read({ points: 2 }, ({ metrics, summary }) => {
      metrics.experience.find(({ activity }) => activity === "ping")?.figures.unshift({ name: "late_ratio", label: "Late", quantity: "ratio" });
      summary.points.forEach((point) => (point.experience = { bulk: { ...ping, late_ratio: { mean: 0, ci95: 0, n: 3 } } }));
    });
    expect([...new Set(keys(late))]).toEqual(["bulk.late_ratio", "bulk.rtt_s.p95"]);
  });

  it("shows games where people do nothing else", () => {
    const ping = { activity: "ping", rtt_s: { p95: { mean: 0.03, ci95: 0.001, n: 3 } } };
    const game = { activity: "game", one_way_delay_s: { p95: { mean: 0.03, ci95: 0.001, n: 3 } } };
    const both = read({ points: 2 }, ({ summary }) => summary.points.forEach((point) => (point.experience = { bulk: ping, call: game })));
    expect(keys(both)).toEqual(["bulk.rtt_s.p95"]);
    expect(keys(read({ points: 2 }, ({ summary }) => summary.points.forEach((point) => (point.experience = { call: game }))))).toEqual(["call.one_way_delay_s.p95"]);
  });

  it("shows the goodput alone where the queueing delay of no group is known, and nobody waits", () => {
    expect(keys(read({ points: 2 }, ({ summary }) => summary.points.forEach((point) => delete point.experience)))).toEqual(["bulk.goodput_bit_s"]);
  });

  it("has a linear axis for scores and parts, a logarithmic one for times", () => {
    const score = noticedColumns(read({ points: 3 })).find(({ key }) => key === "call.mos");
    if (!score) throw new Error("no figure");
    expect(axisOf(score, [{ mean: 4, ci95: 0.1, n: 2 }])).toEqual({ range: { min: 1, max: 4.5 }, scale: "linear" });
    const time = { ...score, key: "ping.rtt_s.p95", quantity: "time" as const };
    expect(axisOf(time, [{ mean: 0.01, ci95: 1, n: 2 }, { mean: 1, ci95: 0, n: 2 }])).toEqual({ range: { min: 0.01 / 1.6, max: 1.6 }, scale: "log" });
    expect(axisOf(time, [{ mean: 0, ci95: 0, n: 2 }]).scale).toBe("linear");
    expect(axisOf({ ...score, key: "ping.late_ratio", quantity: "ratio" }, [{ mean: 0, ci95: 0, n: 2 }]).range.max).toBeCloseTo(0.0108);
  });

  it("names a group once", () => {
    const titles = noticedColumns(read({ points: 2 })).map(titleOf);
    expect(titles).toEqual(["Call bad", "Call quality, MOS", "Bulk: Goodput, all flows"]);
  });
});

describe("a sweep", () => {
  const result = read({ points: 4, swept: [1, 4, 16, 64] });
  const [flows] = sweptSettings(result.points);
  if (!flows) throw new Error("nothing is swept");

  it("has settings that are numbers, with their unit", () => {
    expect([flows.label, flows.names, flows.valueOf(result.points[5] ?? (result.points[0] as Result["points"][number]))]).toEqual(["Flows", undefined, 4]);
    const rates = read({ points: 2, swept: [1, 4] }, ({ summary }) => summary.points.forEach((point, at) => (point.set = { "link.l.rate": at < 2 ? "500 kbit/s" : "8 Mbit/s", "link.l.buffer": at < 2 ? "1 bdp" : "4 bdp", cc: at % 2 ? "cubic" : "reno" })));
    const told = sweptSettings(rates.points).map(({ label, unit, names, valueOf }) => [label, unit.symbol, names, ...rates.points.slice(1, 3).map(valueOf)]);
    expect(told).toEqual([["Rate", "Mbit/s", undefined, 5e5, 8e6], ["Buffer", "bdp", undefined, 1, 4], ["CC", "", ["reno", "cubic"], 1, 0]]);
  });

  it("has a line for each queue, of its color and without the setting in its name", () => {
    const lines = sweepLines(result.points, flows);
    expect(lines.map(({ label, look, points }) => [label, look.hue, points.map((point) => point.set["traffic.0.flows"])])).toEqual([
      ["tail-drop", "slate", [1, 4, 16, 64]],
      ["red", "red", [1, 4, 16, 64]],
      ["codel", "blue", [1, 4, 16, 64]],
      ["fq-codel", "green", [1, 4, 16, 64]],
    ]);
  });

  it("takes a parameter of a queue from its name", () => {
    const [point] = result.points;
    if (!point) throw new Error("no point");
    const target = { ...flows, key: "link.l.queue.target" };
    expect([nameWithout({ ...point, label: "codel target=5ms, flows=4" }, target), nameWithout({ ...point, label: "target=5ms" }, target)]).toEqual(["codel, flows=4", "tail-drop"]);
  });

  it("begins with the best queue and the baseline at both ends", () => {
    const labels = shownAtStart(result).map((number) => result.points[number]?.label);
    expect(labels.length).toBeLessThanOrEqual(10);
    expect(labels).toEqual(expect.arrayContaining(["tail-drop, flows=1", "tail-drop, flows=64", "fq-codel, flows=1", "fq-codel, flows=64"]));
    expect(shownAtStart(read({ points: 8 }))).toHaveLength(8);
    const many = read({ points: 8, swept: [1, 4] });
    expect(shownAtStart(many).map((number) => many.points[number]?.kind)).toContain("tail-drop");
  });

  it("gives decisive figures to choose from", () => expect(decidingColumns(result).map(({ key }) => key)).toEqual(["call.bad_ratio", "call.mos", "call.loss_ratio"]));
});

describe("a legend", () => {
  const entry = (label: string) => ({ label, look: { hue: "blue", dash: [], mark: "circle" } as const });
  it("takes one line while there is room, then columns", () => {
    expect([legendHeight([entry("codel"), entry("pie")], 400), legendHeight([entry("a long name of a queue"), entry("pie"), entry("red")], 340)]).toEqual([28, 64]);
  });
});
