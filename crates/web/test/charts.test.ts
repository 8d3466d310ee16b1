import { describe, expect, it } from "vitest";
import { csv, fileName } from "../src/charts/export.ts";
import { draw, escapeXml } from "../src/charts/svg.ts";
import { extent, linearTicks, logTicks, tickDecimals } from "../src/charts/ticks.ts";
import { HUES, type Ink } from "../src/palette.ts";

const ink: Ink = { surface: "#fff", ink: "#000", muted: "#555", grid: "#eee", line: "#888", shade: "#0001", hues: Object.fromEntries(HUES.map((hue) => [hue, "#123456"])) as Ink["hues"] };

describe("ticks", () => {
  it("are round numbers inside the range", () => expect(linearTicks({ min: 0, max: 141 }, 5)).toEqual([0, 50, 100]));
  it("work for small steps far from zero", () => expect(linearTicks({ min: 97.7, max: 98.05 }, 4)).toEqual([97.7, 97.8, 97.9, 98]));
  it("of a log axis are powers of ten over many decades", () => expect(logTicks({ min: 0.01, max: 1000 })).toEqual([0.01, 0.1, 1, 10, 100, 1000]));
  it("of a short log axis have more", () => expect(logTicks({ min: 8, max: 60 })).toEqual([10, 20, 50]));
  it("need enough digits to differ", () => expect([tickDecimals([0, 50]), tickDecimals([0.1, 0.25]), tickDecimals([97.7])]).toEqual([0, 2, 1]));
  it("exist for an empty range", () => expect(linearTicks({ min: 3, max: 3 }, 5)).toEqual([3]));
  it("extent of nothing is zero to one", () => expect(extent([Number.NaN])).toEqual({ min: 0, max: 1 }));
});

describe("svg", () => {
  const axis = { label: "Time", range: { min: 0, max: 10 }, scale: "linear", unit: { symbol: "s", factor: 1 } } as const;
  const look = { hue: "blue", dash: [], mark: "circle" } as const;
  const plot = { width: 400, height: 200, x: axis, y: axis, shapes: [{ type: "line", x: [0, 5, 10], y: [0, null, 10], look, steps: true, width: 1, opacity: 1 }] } as const;

  it("puts values where its scales say", () => {
    const drawn = draw(plot, ink);
    expect(drawn.toX(0)).toBe(drawn.box.left);
    expect(drawn.toY(10)).toBe(drawn.box.top);
    expect(drawn.fromX(drawn.toX(3.7))).toBeCloseTo(3.7, 9);
    expect(drawn.fromY(drawn.toY(3.7))).toBeCloseTo(3.7, 9);
    expect(drawn.svg).toContain(`H${drawn.box.left + drawn.box.width}V${drawn.box.top}`);
  });

  it("holds the title, the legend and the unit when it stands alone", () => {
    const { svg } = draw({ ...plot, title: "A & B", legend: [{ label: "<codel>", look }] }, ink);
    expect(svg).toContain("A &amp; B");
    expect(svg).toContain("&lt;codel&gt;");
    expect(svg).toContain("Time (s)");
  });

  it("escapes text", () => expect(escapeXml(`<a b="c">&`)).toBe("&lt;a b=&quot;c&quot;&gt;&amp;"));
});

describe("csv", () => {
  it("quotes what needs it", () => expect(csv([["a,b", 'say "x"', 1.5, null]])).toBe('"a,b","say ""x""",1.5,\r\n'));
  it("keeps formulas from running", () => expect(csv([["=1+1", -3]])).toBe("'=1+1,-3\r\n"));
  it("names files by words", () => expect(fileName("Home uplink: 16 flows / CUBIC")).toBe("home-uplink-16-flows-cubic"));
});
