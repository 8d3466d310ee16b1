// What a sweep varies: queues, and other settings with their values as numbers where they are some.

import { LADDERS, type Quantity, type Unit, unitFor } from "../units.ts";
import type { Json, Point } from "./data.ts";

/** A swept setting that is no queue. */
export interface Setting {
  /** Its key in the scenario. */
  readonly key: string;
  readonly label: string;
  /** Its value at a point: a number in the unit of the axis, or a place in `names`. */
  readonly valueOf: (point: Point) => number;
  /** Unit of the numbers, in SI. */
  readonly unit: Unit;
  /** The values where they are no numbers. */
  readonly names: readonly string[] | undefined;
}

type Set = Readonly<Record<string, Json>>;

const isQueue = (key: string): boolean => /\.queue(_up)?$/.test(key);

/** The swept values but those of queues, as one text. */
export function settingOf(set: Set): string {
  return JSON.stringify(Object.entries(set).filter(([key]) => !isQueue(key)));
}

/** What is compared at one setting, as one text: the queues that are swept, or else the point itself. */
export function queueOf({ set, label }: Point): string {
  const queues = Object.entries(set).filter(([key]) => isQueue(key));
  if (queues.length > 0) return JSON.stringify(queues);
  return Object.keys(set).length > 0 ? "" : label;
}

/** The swept settings with at least two values, those that are numbers first. */
export function sweptSettings(points: readonly Point[]): Setting[] {
  const keys = [...new Set(points.flatMap((point) => Object.keys(point.set)))].filter((key) => !isQueue(key));
  const settings = keys.filter((key) => distinct(points, key).length > 1).map((key) => setting(points, key, keys));
  return [...settings.filter(({ names }) => !names), ...settings.filter(({ names }) => names)];
}

/** The name of a point without its value of `setting`: that of its line. */
export function nameWithout({ label, kind }: Point, { key }: Setting): string {
  const isValue = (part: string): boolean => [key, lastOf(key)].some((name) => part.startsWith(`${name}=`));
  const parts = label.split(", ").map((part) => part.split(" ").filter((word, _, all) => !(isValue(word) && all.length > 1 && !isValue(all[0] ?? ""))).join(" "));
  return parts.filter((part) => !isValue(part)).join(", ") || kind || "all";
}

function setting(points: readonly Point[], key: string, keys: readonly string[]): Setting {
  const words = keys.filter((other) => lastOf(other) === lastOf(key)).length > 1 ? key : lastOf(key).replaceAll("_", " ");
  // Three letters are an abbreviation: RTT, ECN, CC.
  const capitals = words.length <= 3 ? words.length : 1;
  const label = words.slice(0, capitals).toUpperCase() + words.slice(capitals);
  const values = distinct(points, key);
  const numbers = values.map((text) => magnitude(JSON.parse(text) as Json));
  const [first] = numbers;
  if (first && numbers.every((one) => one?.quantity === first.quantity && one?.symbol === first.symbol)) {
    const largest = Math.max(...numbers.map((one) => one?.value ?? 0));
    const unit = first.quantity === undefined ? { symbol: first.symbol, factor: 1 } : unitFor(first.quantity, largest);
    return { key, label, unit, names: undefined, valueOf: (point) => magnitude(point.set[key])?.value ?? NaN };
  }
  const names = values.map((text) => named(points.find((point) => JSON.stringify(point.set[key]) === text), key, text));
  return { key, label, unit: { symbol: "", factor: 1 }, names, valueOf: (point) => values.indexOf(JSON.stringify(point.set[key])) };
}

/** A value as the point's name tells it. */
function named(point: Point | undefined, key: string, text: string): string {
  const part = point?.label.split(", ").find((one) => [key, lastOf(key)].some((name) => one.startsWith(`${name}=`)));
  return part?.slice(part.indexOf("=") + 1) ?? text.replaceAll('"', "");
}

const distinct = (points: readonly Point[], key: string): string[] => [...new Set(points.map((point) => JSON.stringify(point.set[key])).filter((text) => text !== undefined))];

const lastOf = (key: string): string => key.slice(key.lastIndexOf(".") + 1);

interface Magnitude {
  readonly value: number;
  readonly quantity: Quantity | undefined;
  readonly symbol: string;
}

/** The units of scenarios: those that quantities are shown in, and a few more. */
const UNITS: Readonly<Record<string, readonly [Quantity, number]>> = {
  ...Object.fromEntries((["time", "rate", "bytes"] as const).flatMap((quantity) => LADDERS[quantity].map(({ symbol, factor }) => [symbol, [quantity, factor] as const]))),
  ns: ["time", 1e9],
  us: ["time", 1e6],
  min: ["time", 1 / 60],
};

/** A number, or one with its unit as scenarios have them. */
function magnitude(value: Json | undefined): Magnitude | undefined {
  if (typeof value === "number") return { value, quantity: "number", symbol: "" };
  const [, digits, symbol = ""] = typeof value === "string" ? (/^(\d+(?:\.\d+)?)\s*([^\d\s]\S*)?$/.exec(value) ?? []) : [];
  if (digits === undefined) return undefined;
  const [quantity, factor] = UNITS[symbol] ?? [undefined, 1];
  return { value: Number(digits) / factor, quantity, symbol: quantity === undefined ? symbol : "" };
}
