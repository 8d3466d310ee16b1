import { describe, expect, it } from "vitest";
import { calmWidth, movingMean, sumsOf } from "../src/charts/smooth.ts";

describe("movingMean", () => {
  it("averages what is near, on both sides", () => expect(movingMean([0, 1, 2, 3, 4], sumsOf([0, 3, 6, 9, 0]), 2)).toEqual([1.5, 3, 6, 5, 4.5]));
  it("leaves gaps out", () => expect(movingMean([0, 1, 2, 9], sumsOf([2, null, 4, null]), 2)).toEqual([2, 3, 4, null]));
  it("keeps a constant constant", () => expect(movingMean([0, 1, 5, 6], sumsOf([7, 7, 7, 7]), 3)).toEqual([7, 7, 7, 7]));
});

describe("movingMean of a part", () => {
  const x = Array.from({ length: 500 }, (_, at) => at / 10);
  const sums = sumsOf(x.map((value) => Math.sin(value)));

  it("is that of the whole, with gaps elsewhere", () => {
    const whole = movingMean(x, sums, 3);
    const part = movingMean(x, sums, 3, 20, 25);
    expect(part.slice(199, 251)).toEqual(whole.slice(199, 251));
    expect(part.filter((value) => value !== null).length).toBe(52);
  });
});

describe("calmWidth", () => {
  const x = Array.from({ length: 1000 }, (_, at) => at);
  it("is a hundredth of what is shown", () => expect(calmWidth(x, 0, 1000)).toBe(10));
  it("is nothing when every point can be shown", () => expect(calmWidth(x, 100, 200)).toBe(0));
});
