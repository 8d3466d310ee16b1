import { describe, expect, it } from "vitest";
import { parseResult } from "../src/report/data.ts";
import { bestFirst } from "../src/report/state.ts";
import { fixture } from "./fixture.ts";

describe("parseResult", () => {
  const result = parseResult(JSON.stringify(fixture()));

  it("reads figures by their path", () => {
    expect(result.points[0]?.figure("links", "bottleneck", "utilization")?.mean).toBe(0.9998);
    expect(result.points[0]?.figure("links", "nowhere", "utilization")).toBeUndefined();
  });

  it("keeps a seed beyond the numbers of a browser", () => expect(result.seed).toBe("18446744073709551615"));
  it("shares one list of times between series", () => expect(result.points[0]?.series[0]?.columns[0]?.times).toBe(result.points[7]?.series[3]?.columns[0]?.times));
  it("knows links and groups", () => expect([result.links, result.groups]).toEqual([["bottleneck"], ["bulk", "call"]]));
  it("has no intervals with one replication", () => {
    const once = parseResult(JSON.stringify(fixture({ replications: 1 })));
    expect(once.points[2]?.figure("links", "bottleneck", "sojourn_s", "p95")?.ci95).toBeNull();
  });
  it("reads round trips of probes, where there are any", () => {
    expect(result.points[0]?.probes).toEqual([]);
    const data = fixture() as { points: object[] };
    Object.assign(data.points[1] ?? {}, { rtt_cdfs: [{ group: "echo", rtt_s: [0.02, 0.03], quantile: [0.5, 1] }] });
    const probed = parseResult(JSON.stringify(data)).points[1];
    expect(probed?.probes).toEqual(["echo"]);
    expect(probed?.rttCdf("echo")).toEqual({ times: [0.02, 0.03], quantile: [0.5, 1] });
    expect(probed?.rttCdf("bulk")).toBeUndefined();
  });
  it("reads the answer and what groups are to people", () => {
    expect(result.headline).toMatchObject({ best: "fq-codel", not_significantly_different: ["cp-aqm"], outside_policy: ["tail-drop"] });
    expect(["bulk", "call", "none"].map((group) => result.points[0]?.activity(group))).toEqual(["bulk", "call", undefined]);
    expect(result.metrics.experience.find(({ activity }) => activity === "call")).toMatchObject({ interactive: true });
    const older = fixture() as { summary: { headline?: object } };
    delete older.summary.headline;
    expect(parseResult(JSON.stringify(older)).headline).toBeUndefined();
  });
  it("puts the best points first: the best, its equals, others within the policy, those outside", () => {
    const labels = bestFirst(result).map((number) => result.points[number]?.label);
    expect([labels.slice(0, 2), labels.at(-1)]).toEqual([["fq-codel", "cp-aqm"], "tail-drop"]);
    const delays = bestFirst(result).slice(2, -1).map((number) => result.points[number]?.figure("links", "bottleneck", "sojourn_s", "p95")?.mean ?? 0);
    expect(delays).toEqual([...delays].sort((a, b) => a - b));
  });
  it("puts all points of the queue first that is best over several settings", () => {
    const over = fixture() as { summary: { headline: { best: string } }; points: { label: string }[] };
    over.summary.headline.best = "cake";
    over.points.forEach((point, number) => { point.label = `${number % 2 === 0 ? "cake" : "cake:target=9ms"}, flows=${number}`; });
    const read = parseResult(JSON.stringify(over));
    const labels = bestFirst(read).map((number) => read.points[number]?.label ?? "");
    const first = labels.filter((label) => label.startsWith("cake, ")).length;
    expect(labels.slice(0, first).every((label) => label.startsWith("cake, "))).toBe(true);
  });
  it("refuses another schema", () => expect(() => parseResult('{"schema":"other/2"}')).toThrow("goodqueue.report/1"));
});
