import { describe, expect, it } from "vitest";
import { History } from "../src/charts/history.ts";
import { roundUp, steadyTop } from "../src/charts/live.ts";

/** A history with `frames` frames a tenth of a second apart, one line `a` with the frame's number. */
function filled(frames: number, recent: number, stretches: number): History {
  const history = new History(recent, stretches);
  for (let frame = 0; frame < frames; frame += 1) {
    history.begin(frame / 10);
    history.set("a", frame);
  }
  return history;
}

describe("history", () => {
  it("gives frames back as they came while they are recent", () => {
    const history = filled(50, 100, 16);
    const { x, y } = history.view(["a"], 0, 10, 500);
    expect(x).toHaveLength(50);
    expect(y[0]?.slice(0, 3)).toEqual([0, 1, 2]);
    expect(y[0]?.at(-1)).toBe(49);
  });

  it("keeps the lowest and the highest of everything in bounded memory", () => {
    const history = filled(100_000, 100, 16);
    const { x, y } = history.view(["a"], 0, 10_000, 500);
    expect(x.length).toBeLessThanOrEqual(32);
    const values = (y[0] ?? []).filter((value) => value !== null);
    expect(Math.min(...values)).toBe(0);
    expect(Math.max(...values)).toBe(99_999);
    expect(x[0]).toBe(0);
    expect(x[x.length - 1]).toBeCloseTo(9999.9);
  });

  it("keeps a single peak, however far back", () => {
    const history = new History(100, 16);
    for (let frame = 0; frame < 5000; frame += 1) {
      history.begin(frame);
      history.set("a", frame === 1234 ? 77 : 1);
    }
    const { y } = history.view(["a"], 0, 5000, 500);
    expect(Math.max(...(y[0] ?? []).map((value) => value ?? 0))).toBe(77);
  });

  it("thins recent frames to two points a pixel", () => {
    const { x } = filled(1000, 1000, 16).view(["a"], 0, 100, 50);
    expect(x.length).toBeLessThanOrEqual(2 * 52);
  });

  it("has gaps where a line has no value", () => {
    const history = new History(10, 8);
    history.begin(0);
    history.set("a", 1);
    history.begin(1);
    history.set("b", null);
    history.begin(2);
    history.set("b", 5);
    expect(history.view(["a", "b", "c"], 0, 2, 100).y).toEqual([
      [1, null, null],
      [null, null, 5],
      [null, null, null],
    ]);
  });

  it("does not go back in time", () => {
    const history = filled(5, 10, 8);
    expect(history.begin(0.1)).toBe(false);
    expect(history.span).toEqual({ from: 0, to: 0.4 });
  });

  it("forgets", () => {
    const history = filled(50, 10, 8);
    history.clear();
    expect(history.span).toBeUndefined();
    expect(history.view(["a"], 0, 10, 10)).toEqual({ x: [], y: [[]] });
  });
});

describe("top of an axis", () => {
  it.each([
    [1, 1],
    [1.01, 1.2],
    [0.0101, 0.012],
    [730, 800],
    [9.1, 10],
  ])("%f becomes %f", (value, rounded) => expect(roundUp(value)).toBeCloseTo(rounded, 12));
});

describe("steadyTop", () => {
  it("grows at once", () => expect(steadyTop(10, 11)).toBe(12));
  it("stays while half of it is used", () => expect([steadyTop(10, 10), steadyTop(10, 5)]).toEqual([10, 10]));
  it("shrinks when most of it is empty", () => expect(steadyTop(10, 1)).toBeCloseTo(1.2, 12));
  it("is never nothing", () => expect([steadyTop(0, 0), steadyTop(5, 0)]).toEqual([1, 1]));
});
