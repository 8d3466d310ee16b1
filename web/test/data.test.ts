import { describe, expect, it } from "vitest";
import { parseResult } from "../src/report/data.ts";
import { fixture } from "./fixture.ts";

describe("parseResult", () => {
  const result = parseResult(JSON.stringify(fixture()));

  it("reads figures by their path", () => {
    expect(result.points[0]?.figure("links", "bottleneck", "utilization")?.mean).toBe(0.9998);
    expect(result.points[0]?.figure("links", "nowhere", "utilization")).toBeUndefined();
  });

  it("keeps a seed beyond the numbers of a browser", () => expect(result.seed).toBe("18446744073709551615"));
  it("shares one list of times between series", () => expect(result.points[0]?.series[0]?.columns[0]?.times).toBe(result.points[7]?.series[3]?.columns[0]?.times));
  it("knows links and groups", () => expect([result.links, result.groups]).toEqual([["bottleneck"], ["bulk"]]));
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
  it("refuses another schema", () => expect(() => parseResult('{"schema":"other/2"}')).toThrow("goodqueue.report/1"));
});
