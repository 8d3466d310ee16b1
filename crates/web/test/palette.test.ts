import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { FAMILY_OF } from "../src/families.ts";
import { HUES, looksFor } from "../src/palette.ts";

type Rgb = readonly [number, number, number];
const css = readFileSync(resolve(import.meta.dirname, "../src/theme.css"), "utf8");

/** A color of theme.css, linear light. */
function colour(name: string, theme: "light" | "dark"): Rgb {
  const pair = new RegExp(`--${name}: light-dark\\((#[0-9a-f]{6}), (#[0-9a-f]{6})\\)`).exec(css);
  if (!pair) throw new Error(`theme.css has no colour --${name}`);
  const text = theme === "light" ? pair[1] : pair[2];
  const channel = (at: number): number => {
    const value = parseInt((text ?? "").slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [channel(1), channel(3), channel(5)];
}

const luminance = ([r, g, b]: Rgb): number => 0.2126 * r + 0.7152 * g + 0.0722 * b;

/** WCAG contrast ratio. */
function contrast(a: Rgb, b: Rgb): number {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

/** Machado, Oliveira, Fernandes (2009), severity 1. */
const EYES: Record<string, readonly Rgb[]> = {
  normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protan: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deutan: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritan: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

/** OKLab, where equal distances look about equally different. */
function oklab([r, g, b]: Rgb): Rgb {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s, 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s, 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s];
}

function seen(rgb: Rgb, eye: readonly Rgb[]): Rgb {
  const [r = 0, g = 0, b = 0] = eye.map((row) => Math.min(1, Math.max(0, row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2])));
  return oklab([r, g, b]);
}

describe.each(["light", "dark"] as const)("colors of the %s theme", (theme) => {
  it.each(HUES)("%s is clear of the surface", (hue) => {
    expect(contrast(colour(`series-${hue}`, theme), colour("surface", theme))).toBeGreaterThanOrEqual(3);
  });

  it.each([
    ["ink", "page"],
    ["ink", "surface"],
    ["ink", "raised"],
    ["muted", "page"],
    ["muted", "surface"],
    ["muted", "raised"],
    ["accent", "page"],
    ["warn", "warn-surface"],
    ["ink", "warn-surface"],
  ])("%s on %s can be read", (text, ground) => {
    expect(contrast(colour(text, theme), colour(ground, theme))).toBeGreaterThanOrEqual(4.5);
  });

  it.each(Object.keys(EYES))("every two differ to %s eyes", (name) => {
    const eye = EYES[name] ?? [];
    const all = HUES.map((hue) => seen(colour(`series-${hue}`, theme), eye));
    const distances = all.flatMap((a, at) => all.slice(0, at).map((b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])));
    expect(Math.min(...distances)).toBeGreaterThan(0.085);
  });
});

describe("looksFor", () => {
  const name = (look: { hue: string; dash: readonly number[]; mark: string }): string => `${look.hue} ${look.dash.join(" ")} ${look.mark}`;

  const cases = JSON.parse(readFileSync(resolve(import.meta.dirname, "looks.json"), "utf8")) as { kinds: string[]; settings?: string[]; looks: string[] }[];
  const dashes = ["", "7 3", "2 3", "9 3 2 3"];

  it.each(cases)("gives the looks of figures for papers (crates/plot): $kinds", ({ kinds, settings, looks }) => {
    expect(looksFor(kinds, settings).map((look) => `${look.hue} ${dashes.indexOf(look.dash.join(" "))} ${look.mark}`)).toEqual(looks);
  });

  it("gives an algorithm one look, whatever it is compared with", () => {
    expect(looksFor(["pie", "codel"])[1]).toEqual(looksFor(["codel"])[0]);
  });

  it("tells every two known algorithms apart", () => {
    const kinds = Object.keys(FAMILY_OF);
    expect(new Set(looksFor(kinds).map(name)).size).toBe(kinds.length);
  });

  it("gives no two algorithms of one hue the same mark, up to six", () => {
    const looks = looksFor(["fq-codel", "fair", "fq-pie", "sfq-codel", "nfq-codel", "cake"]);
    expect(new Set(looks.map((look) => look.mark)).size).toBe(6);
  });

  it("tells an algorithm that it does not know from all others", () => {
    const looks = looksFor(["ramp", "codel", "ramp", "fair:ramp", "tail-drop", "new", "my-aqm", "fq-codel", "stabl"]);
    expect(new Set(looks.map(name)).size).toBe(looks.length);
    const [ramp, codel, , fair] = looks;
    expect(new Set([ramp?.hue, codel?.hue, fair?.hue]).size).toBe(3);
  });

  it("tells the points of a sweep apart", () => {
    const looks = looksFor(Array.from({ length: 12 }, () => "cp-aqm"));
    expect(new Set(looks.map(name)).size).toBe(12);
  });

  it("keeps an algorithm's color when others are compared at several points", () => {
    const looks = looksFor(["codel", "pie", "codel", "pie", "codel"]);
    expect(looks.map((look) => look.hue)).toEqual(["blue", "orange", "blue", "orange", "blue"]);
    expect(new Set(looks.map(name)).size).toBe(5);
  });

  it("knows no algorithm that has no color", () => {
    expect(HUES).toContain(looksFor(["something-new"])[0]?.hue);
  });
});
