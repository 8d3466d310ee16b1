import { describe, expect, it } from "vitest";
import { calmWidth, movingMean } from "../src/charts/smooth.ts";

describe("movingMean", () => {
  it("averages what is near, on both sides", () => expect(movingMean([0, 1, 2, 3, 4], [0, 3, 6, 9, 0], 2)).toEqual([1.5, 3, 6, 5, 4.5]));
  it("leaves gaps out", () => expect(movingMean([0, 1, 2, 9], [2, null, 4, null], 2)).toEqual([2, 3, 4, null]));
  it("keeps a constant constant", () => expect(movingMean([0, 1, 5, 6], [7, 7, 7, 7], 3)).toEqual([7, 7, 7, 7]));
});

describe("calmWidth", () => {
  const x = Array.from({ length: 1000 }, (_, at) => at);
  it("is a hundredth of what is shown", () => expect(calmWidth(x, 0, 1000)).toBe(10));
  it("is nothing when every point can be shown", () => expect(calmWidth(x, 100, 200)).toBe(0));
});
