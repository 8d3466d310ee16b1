import { describe, expect, it } from "vitest";
import { lowerBound, minMax } from "../src/charts/downsample.ts";

const x = Array.from({ length: 10_000 }, (_, at) => at / 100);

describe("minMax", () => {
  it("keeps the highest and the lowest value", () => {
    const y = x.map((_, at) => (at === 6_177 ? 900 : at === 333 ? -5 : Math.sin(at)));
    const thin = minMax({ x, y }, 0, 100, 200);
    expect(thin.x.length).toBeLessThanOrEqual(404);
    expect(thin.y).toContain(900);
    expect(thin.y).toContain(-5);
  });

  it("invents no point and keeps their order", () => {
    const y = x.map((_, at) => (at * 7_919) % 1_009);
    const thin = minMax({ x, y }, 10, 60, 150);
    thin.x.forEach((value, at) => expect(thin.y[at]).toBe(y[x.indexOf(value)]));
    expect(thin.x).toEqual([...thin.x].sort((a, b) => a - b));
  });

  it("leaves short lines alone", () => {
    const line = { x: [1, 2, 3], y: [3, null, 1] };
    expect(minMax(line, 0, 5, 100)).toEqual(line);
  });

  it("keeps gaps", () => {
    const y = x.map((value) => (value > 40 && value < 60 ? null : 1));
    const thin = minMax({ x, y }, 0, 100, 50);
    expect(thin.y.filter((value, at) => value !== null && (thin.x[at] ?? 0) > 40 && (thin.x[at] ?? 0) < 60)).toEqual([]);
    expect(thin.y).toContain(null);
  });

  it("runs to the edges of a part", () => {
    const thin = minMax({ x, y: x }, 10, 11, 2_000);
    expect(thin.x[0]).toBeLessThan(10);
    expect(thin.x[thin.x.length - 1]).toBeGreaterThanOrEqual(11);
  });
});

describe("lowerBound", () => {
  it.each([
    [0, 0],
    [1, 0],
    [1.5, 1],
    [3, 2],
    [9, 3],
  ])("of %d is %d", (value, index) => expect(lowerBound([1, 2, 3], value)).toBe(index));
});
