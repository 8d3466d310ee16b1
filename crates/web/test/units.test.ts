import { describe, expect, it } from "vitest";
import { columnDecimals, columnName, formatDecimals, formatNumber, formatQuantity, quantityOf, unitFor } from "../src/units.ts";

describe("quantityOf", () => {
  it.each([
    ["sojourn_s", "time"],
    ["goodput_bit_s", "rate"],
    ["cwnd_bytes", "bytes"],
    ["queue_packets", "packets"],
    ["drop_ratio", "ratio"],
    ["gauge:drop_probability", "ratio"],
    ["gauge:count", "number"],
  ])("%s is a %s", (name, quantity) => expect(quantityOf(name)).toBe(quantity));
});

describe("unitFor", () => {
  it.each([
    ["time", 0.000_02, "µs"],
    ["time", 0.000_5, "ms"],
    ["time", 2, "ms"],
    ["time", 12, "s"],
    ["rate", 999, "bit/s"],
    ["rate", 9.8e6, "Mbit/s"],
    ["rate", 2.5e9, "Gbit/s"],
    ["bytes", 45_000, "kB"],
    ["bytes", 0, "B"],
    ["ratio", 0.5, "%"],
    ["seconds", 0.001, "s"],
  ] as const)("%s of %d is shown in %s", (quantity, magnitude, symbol) => expect(unitFor(quantity, magnitude).symbol).toBe(symbol));

  it("takes the size of negative values", () => expect(unitFor("time", -0.02).symbol).toBe("ms"));
});

describe("formatting", () => {
  it.each([
    [0, "0"],
    [0.012_345, "0.0123"],
    [9.876, "9.88"],
    [99.96, "100.0"],
    [123_456, "123\u202f456"],
    [-3.5, "−3.50"],
    [4e12, "4.00e12"],
    [2e-9, "2.00e−9"],
    [Number.NaN, "–"],
  ])("%d with three digits is %s", (value, text) => expect(formatNumber(value)).toBe(text));

  it("never shows a negative zero", () => expect(formatDecimals(-0.001, 1)).toBe("0.0"));
  it("leaves four digits together", () => expect(formatDecimals(1234.5, 1)).toBe("1234.5"));
  it("joins number and unit", () => expect(formatQuantity(0.0123, "time")).toBe("12.3\u00a0ms"));
});

describe("columnDecimals", () => {
  it("keeps two digits of the smallest number", () => expect(columnDecimals([3.4, 20], [])).toBe(1));
  it("keeps one digit of the smallest interval", () => expect(columnDecimals([41, 56], [0.2, 1])).toBe(1));
  it("stops at four digits of the largest", () => expect(columnDecimals([0.02, 141], [0.001])).toBe(1));
  it("needs none for nothing", () => expect(columnDecimals([0, Number.NaN], [])).toBe(0));
});

describe("columns of exported files", () => {
  it.each([
    ["Time", "seconds", "time_s"],
    ["Sojourn time, p95", "time", "sojourn_time_p95_s"],
    ["Link, throughput", "rate", "link_throughput_bit_s"],
    ["Queue length, packets", "packets", "queue_length_packets"],
    ["Utilization", "ratio", "utilization"],
    ["Share of packets", "ratio", "share_of_packets"],
  ] as const)("%s", (label, quantity, name) => {
    expect(columnName(label, quantity)).toBe(name);
  });
});
