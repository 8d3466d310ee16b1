// What the playground is set to: plain data that goes into the address, a scenario, and back.

import type { Json } from "../../report/data.ts";
import type { Kind, Kinds, Parameter, Queue, Value } from "../../serve/protocol.ts";

/** Settings of something by their keys, as in a scenario file; what is not there has its default. */
export type Settings = Readonly<Record<string, Value>>;

/** A rate as in files, or a trace by its id. */
export type RateSetting = string | { readonly trace: string };

/** The way back of a line; what is empty has the default of a scenario. */
export interface UpSettings {
  readonly rate: string;
  readonly buffer: string;
  /** A kind of queue. */
  readonly queue: string;
}

/** One bottleneck. */
export interface LinkSettings {
  readonly rate: RateSetting;
  readonly rtt: string;
  readonly buffer: string;
  /** Without it, the way back has the rate of the way down and a queue that is not reported. */
  readonly up?: UpSettings;
}

/** One group of flows. */
export interface TrafficSettings {
  readonly kind: string;
  readonly flows: number;
  readonly settings: Settings;
}

/** A scenario filled into the form, or written as text where the form has no field for what it says. */
export type Scenario =
  | { readonly form: "fields"; readonly name?: string; readonly link: LinkSettings; readonly traffic: readonly TrafficSettings[]; readonly warmup: string; readonly duration: string }
  | { readonly form: "text"; readonly text: string; readonly name: string; readonly link: string };

/** One compared queue. */
export interface Variant {
  readonly kind: string;
  readonly settings: Settings;
}

/** Everything that a shared address restores. */
export interface Play {
  readonly scenario: Scenario;
  readonly variants: readonly Variant[];
  readonly seed: number;
  /** Simulated seconds per second; `null`: as fast as it goes. */
  readonly speed: number | null;
  /** The host by its name, as in `gq run --on`. */
  readonly host: string;
}

/** The host whose runs can be watched and changed. */
export const SIM = "sim";

export const NO_UP: UpSettings = { rate: "", buffer: "", queue: "" };

export const MOST_VARIANTS = 4;
export const MOST_GROUPS = 8;

/** Lines that people have, as a start. */
export const LINES: readonly { readonly id: string; readonly title: string; readonly link: LinkSettings }[] = [
  { id: "dsl", title: "DSL, 16 Mbit/s", link: { rate: "16 Mbit/s", rtt: "30 ms", buffer: "300 ms" } },
  { id: "vdsl", title: "DSL, 50 Mbit/s down and 10 Mbit/s up", link: { rate: "50 Mbit/s", rtt: "30 ms", buffer: "200 ms", up: { rate: "10 Mbit/s", buffer: "300 ms", queue: "fq-codel" } } },
  { id: "uplink", title: "Home uplink, 5 Mbit/s", link: { rate: "5 Mbit/s", rtt: "30 ms", buffer: "500 ms" } },
  { id: "cable", title: "Cable, 100 Mbit/s", link: { rate: "100 Mbit/s", rtt: "20 ms", buffer: "250 ms" } },
  { id: "fibre", title: "Fibre, 300 Mbit/s", link: { rate: "300 Mbit/s", rtt: "8 ms", buffer: "4 bdp" } },
  { id: "lte", title: "LTE, a synthetic phone link", link: { rate: { trace: "builtin:cellular.down" }, rtt: "50 ms", buffer: "500 packets" } },
  { id: "satellite", title: "Satellite, 50 Mbit/s, 600 ms", link: { rate: "50 Mbit/s", rtt: "600 ms", buffer: "1 bdp" } },
];

const [DSL] = LINES;

/** What a first visitor finds. */
export const START: Play = {
  scenario: {
    form: "fields",
    link: DSL?.link ?? { rate: "16 Mbit/s", rtt: "30 ms", buffer: "300 ms" },
    traffic: [
      { kind: "bulk", flows: 4, settings: { cc: "cubic" } },
      { kind: "voip", flows: 1, settings: {} },
    ],
    warmup: "5 s",
    duration: "55 s",
  },
  variants: [
    { kind: "tail-drop", settings: {} },
    { kind: "codel", settings: {} },
    { kind: "fq-codel", settings: {} },
  ],
  seed: 1,
  speed: 5,
  host: SIM,
};

/** What a run of these settings is called: the scenario's own name, or its line and traffic. */
export function titleOf(scenario: Scenario): string {
  if (scenario.form === "text") return scenario.name;
  if (scenario.name !== undefined) return scenario.name;
  const { link, traffic } = scenario;
  const usual = LINES.find((line) => JSON.stringify(line.link) === JSON.stringify(link))?.title;
  const rate = typeof link.rate === "string" ? link.rate : "recorded rate";
  return `${usual ?? `${rate}, RTT ${link.rtt}`}: ${traffic.map(({ kind, flows }) => `${flows} ${kind}`).join(", ")}`;
}

/** The queue's table as a scenario has it. */
export function queueOf(variant: Variant): Queue {
  return { kind: variant.kind, ...variant.settings };
}

/** Names that tell the variants apart: the kind, with the settings that differ from the defaults; numbered if still equal. */
export function labelsOf(variants: readonly Variant[]): string[] {
  const plain = variants.map(({ kind, settings }) => {
    const told = Object.entries(settings).map(([key, value]) => (value === true ? key : value === false ? `no ${key}` : `${key} ${inWords(value)}`));
    return [kind, ...told].join(", ");
  });
  return plain.map((label, at) => {
    const before = plain.slice(0, at).filter((other) => other === label).length;
    return before === 0 ? label : `${label} (${before + 1})`;
  });
}

/** A value as names of points have it: of a table, the values alone. */
export function inWords(value: Json): string {
  if (typeof value !== "object" || value === null) return String(value);
  return Object.values(value).map(inWords).join(" ");
}

/** What somebody typed, as a scenario means it: `true`, `0.05`, `"10 ms"`. */
export function valueOf(text: string): Value {
  const trimmed = text.trim();
  if (trimmed === "true" || trimmed === "false") return trimmed === "true";
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed) ? Number(trimmed) : trimmed;
}

/** `settings` with one of them changed; an empty text takes it out, so that it has its default. */
export function withSetting(settings: Settings, key: string, value: Value): Settings {
  const { [key]: _before, ...others } = settings;
  return value === "" ? others : { ...others, [key]: value };
}

/** Is this kind of traffic carried by TCP? */
export function isTcp(kinds: Kinds, kind: string): boolean {
  return parametersOf(kinds, kind).some((parameter) => parameter.key === "cc");
}

const parametersOf = (kinds: Kinds, kind: string): readonly Parameter[] => kinds.traffic.find((one) => one.kind === kind)?.parameters ?? [];

/** A new group of this kind, with values to start from where it has no defaults. */
export function newTraffic(kinds: Kinds, kind: string, flows: number): TrafficSettings {
  const needed = parametersOf(kinds, kind).flatMap(({ key, required, example }) => (required === true ? [[key, example ?? ""] as const] : []));
  return { kind, flows, settings: { ...(isTcp(kinds, kind) ? { cc: "cubic" } : {}), ...Object.fromEntries(needed) } };
}

/** Settings that stand in the form at once, the others behind "more": those without a default. */
export function mainKeys(kinds: Kinds, kind: string): readonly string[] {
  return parametersOf(kinds, kind).flatMap(({ key, required }) => (required === true ? [key] : []));
}

/** The settings with every kind under its own name where they have another program's for it. */
export function canonical(kinds: Kinds, play: Play): Play {
  const { scenario } = play;
  const variants = play.variants.map((variant) => ({ ...variant, kind: nameOf(kinds.aqm, variant.kind) }));
  if (scenario.form === "text") return { ...play, variants };
  const traffic = scenario.traffic.map((group) => ({ ...group, kind: nameOf(kinds.traffic, group.kind) }));
  const { up } = scenario.link;
  const link = up ? { ...scenario.link, up: { ...up, queue: nameOf(kinds.aqm, up.queue) } } : scenario.link;
  return { ...play, variants, scenario: { ...scenario, link, traffic } };
}

/** What a kind is called here that may be called differently elsewhere; an unknown name stays. */
function nameOf(kinds: readonly Kind[], name: string): string {
  const plain = name.toLowerCase();
  return kinds.find(({ kind, aliases = [], title = "" }) => kind === plain || aliases.includes(plain) || title.toLowerCase() === plain)?.kind ?? name;
}

/** The names that tell groups of one kind apart by the settings in which they differ, such as `bulk-bbr`; none where a kind is
 *  there once, or where a group has a name. */
export function groupNames(traffic: readonly TrafficSettings[]): (string | undefined)[] {
  const names = traffic.map((group) => {
    const peers = traffic.filter(({ kind, settings }) => kind === group.kind && settings["name"] === undefined);
    if (peers.length < 2 || group.settings["name"] !== undefined) return undefined;
    const keys = [...new Set(peers.flatMap(({ settings }) => Object.keys(settings)))].filter((key) => new Set(peers.map(({ settings }) => JSON.stringify(settings[key]))).size > 1);
    const words = keys.flatMap((key) => {
      const value = group.settings[key];
      return value === undefined ? [] : [typeof value === "boolean" ? `${value ? "" : "no "}${key}` : inWords(value)];
    });
    const name = [group.kind, ...words].join("-").replace(/[^A-Za-z0-9_]+/g, "-").replace(/-$/, "").slice(0, 64);
    return words.length === 0 ? undefined : name;
  });
  // Two with one name are left to the scenario, which numbers them.
  return names.map((name) => (names.filter((other) => other === name).length === 1 ? name : undefined));
}

/** Rates as they are written for both directions at once, `50/10 Mbit/s`: down, and up if there is one. */
export function bothRates(text: string): { readonly down: string; readonly up?: string } {
  const found = /^\s*([\d.]+)\s*([A-Za-z/]*?)\s*\/\s*([\d.]+)\s*([A-Za-z][A-Za-z/]*)\s*$/.exec(text);
  if (!found) return { down: text };
  const [, down = "", unit = "", up = "", unitUp = ""] = found;
  return { down: `${down} ${unit === "" ? unitUp : unit}`, up: `${up} ${unitUp}` };
}
