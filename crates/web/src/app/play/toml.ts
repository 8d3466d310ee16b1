// Scenario files: written from the form, and read back into it where it has a field for everything
// they say.

import { parse, TomlError } from "smol-toml";
import type { NewSession, Value } from "../../serve/protocol.ts";
import { groupNames, labelsOf, type LinkSettings, MOST_GROUPS, MOST_VARIANTS, NO_UP, type Play, queueOf, type RateSetting, type Scenario, type Settings, SIM, START, titleOf, type TrafficSettings, type UpSettings, type Variant } from "./model.ts";

/** The link's name in scenarios that the form writes. */
export const LINK = "bottleneck";

type Table = Readonly<Record<string, unknown>>;

/** The request for a run of these settings on their host. */
export function sessionOf(play: Play): NewSession {
  const { scenario, seed, speed, host } = play;
  const labels = labelsOf(play.variants);
  const variants = play.variants.map((variant, at) => ({ label: labels[at] ?? variant.kind, queue: queueOf(variant) }));
  const session = { scenario_toml: scenarioToml(play), variants, link: scenario.form === "text" ? scenario.link : LINK, seed, paused: false };
  return host === SIM ? { ...session, speed } : { ...session, on: host, speed: null };
}

/** The scenario of the form, or its text; the queue is the first variant's. */
export function scenarioToml({ scenario, variants, seed }: Play): string {
  if (scenario.form === "text") return scenario.text;
  const [first] = variants;
  const { link, traffic, warmup, duration } = scenario;
  const names = groupNames(traffic);
  return [
    tableToml("", { goodqueue: 1, name: titleOf(scenario), warmup, duration, seed }),
    tableToml("[access]\n", { delay: "0 s" }),
    tableToml(`[link.${LINK}]\n`, { rate: link.rate, delay: scaled(link.rtt, 0.5), buffer: link.buffer, ...(first ? { queue: queueOf(first) } : {}), ...wayBack(link, traffic) }),
    ...traffic.map(({ kind, flows, settings }, at) => tableToml("[[traffic]]\n", { ...(names[at] === undefined ? {} : { name: names[at] }), kind, flows, ...settings })),
  ].join("\n");
}

function tableToml(head: string, values: Settings): string {
  return head + Object.entries(values).map(([key, value]) => `${key} = ${tomlValue(value)}\n`).join("");
}

/** The way back: with a buffer as soon as anything is known of it or sent on it, the same as on the way down unless it has its own. */
function wayBack({ up, buffer }: LinkSettings, traffic: readonly TrafficSettings[]): Settings {
  const isUsed = traffic.some(({ settings }) => settings["direction"] === "up" || settings["direction"] === "both");
  if (!up && !isUsed) return {};
  const { rate, buffer: own, queue } = up ?? NO_UP;
  const given = Object.entries({ rate_up: rate, buffer_up: own === "" ? buffer : own, queue_up: queue });
  return Object.fromEntries(given.filter(([, value]) => value !== ""));
}

/** The same for a file: with all variants, as a sweep when there are several. */
export function fileToml(play: Play): string {
  const text = scenarioToml(play);
  const { scenario, variants } = play;
  if (variants.length < 2) return text;
  const link = scenario.form === "text" ? scenario.link : LINK;
  return `${text.trimEnd()}\n\n[sweep]\n${JSON.stringify(`link.${link}.queue`)} = [\n${variants.map((variant) => `    ${tomlValue(queueOf(variant))},\n`).join("")}]\n`;
}

/** A multiple of a time as typed: half of `30 ms` is `15 ms`. Anything that is not a number with a
 *  unit is left for the server to reject. */
function scaled(time: string, factor: number): string {
  const match = /^\s*(\d+(?:\.\d+)?)\s*([a-zµ]+)\s*$/.exec(time);
  return match ? `${Number(match[1]) * factor} ${match[2]}` : time;
}

/** A value on one line, in TOML. JSON's strings are TOML's. */
export function tomlValue(value: Value): string {
  if (typeof value !== "object") return typeof value === "string" ? JSON.stringify(value) : String(value);
  return `{ ${Object.entries(value).map(([key, part]) => `${/^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key)} = ${tomlValue(part)}`).join(", ")} }`;
}

/** A file that cannot be read, with the place in it. */
export class Unreadable extends Error {}

/** Settings of the playground from a scenario file. Settings that the file does not give keep
 *  their value in `before`. */
export function playFrom(text: string, name: string, before: Play): Play {
  const file = read(text);
  const links = table(file["link"]);
  const [single, ...further] = Object.keys(links);
  if (single === undefined) throw new Unreadable("this is no scenario: it describes no [link]");
  const sweep = table(file["sweep"]);
  const main = sweptLink(sweep) ?? [single, ...further].find((one) => table(links[one])["queue"] !== undefined) ?? single;
  const swept = queuesIn(sweep[`link.${main}.queue`]);
  const own = queuesIn([table(links[main])["queue"] ?? "tail-drop"]);
  const variants = (swept.length > 0 ? swept : own).slice(0, MOST_VARIANTS);
  const seed = typeof file["seed"] === "number" ? file["seed"] : before.seed;
  return { scenario: fieldsFrom(file) ?? { form: "text", text: withoutSweep(text), name, link: main }, variants, seed, speed: before.speed, host: before.host };
}

function read(text: string): Table {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof TomlError) throw new Unreadable(`line ${error.line}, column ${error.column}: ${(error.message.split("\n")[0] ?? "").replace(/^Invalid TOML document: /, "")}`);
    throw error;
  }
}

/** The link whose queue is swept, if one is. */
function sweptLink(sweep: Table): string | undefined {
  return Object.keys(sweep).map((key) => /^link\.([^.]+)\.queue$/.exec(key)?.[1]).find((name) => name !== undefined);
}

function queuesIn(list: unknown): Variant[] {
  return (Array.isArray(list) ? list : []).flatMap((one): Variant[] => {
    if (typeof one === "string") return [{ kind: one, settings: {} }];
    // A file may give a swept table a name, which is no setting.
    const { kind, name: _name, ...settings } = table(one);
    return typeof kind === "string" ? [{ kind, settings: settings as Settings }] : [];
  });
}

/** The text without its sweep: variants take its place. */
function withoutSweep(text: string): string {
  const lines = text.split("\n");
  const start = lines.findIndex((line) => /^\s*\[sweep\]/.test(line));
  if (start < 0) return text;
  const length = lines.slice(start + 1).findIndex((line) => /^\s*\[\[?\s*[A-Za-z"']/.test(line) && !/^\s*\[\s*["']/.test(line));
  lines.splice(start, length < 0 ? lines.length - start : length + 1);
  return `${lines.join("\n").trimEnd()}\n`;
}

/** The form's fields, if it has one for each setting of the file. */
function fieldsFrom(file: Table): Scenario | undefined {
  const known = new Set(["goodqueue", "name", "warmup", "duration", "replications", "seed", "access", "link", "traffic", "sweep"]);
  const access = table(file["access"]);
  const links = table(file["link"]);
  const link = linkFrom(table(links[LINK]));
  const traffic = trafficFrom(file["traffic"]);
  const { warmup = "0 s", duration } = file;
  const isOurs =
    Object.keys(file).every((key) => known.has(key)) &&
    Object.keys(links).length === 1 &&
    Object.keys(access).join() === "delay" &&
    isZero(access["delay"]) &&
    Object.keys(table(file["sweep"])).every((key) => key === `link.${LINK}.queue`) &&
    typeof warmup === "string" &&
    typeof duration === "string";
  return isOurs && link && traffic ? named({ form: "fields", link, traffic, warmup, duration }, file["name"]) : undefined;
}

/** With a name, if that is not the one it has anyway. */
function named(scenario: Scenario, name: unknown): Scenario {
  return typeof name === "string" && name !== titleOf(scenario) ? { ...scenario, name } : scenario;
}

function isZero(time: unknown): boolean {
  return typeof time === "string" && /^0(\.0*)? ?[mnuµ]?s$/.test(time.trim());
}

function linkFrom(link: Table): LinkSettings | undefined {
  const { rate, delay, delay_up: delayUp, buffer, queue: _queue, rate_up: rateUp, buffer_up: bufferUp, queue_up: queueUp, ...others } = link;
  const up = upFrom({ rate: rateUp, buffer: bufferUp === buffer ? "" : bufferUp, queue: queueUp });
  if (up === undefined) return undefined;
  if (Object.keys(others).length > 0 || typeof delay !== "string" || typeof buffer !== "string") return undefined;
  if (delayUp !== undefined && delayUp !== delay) return undefined;
  const kept = rateFrom(rate);
  return kept === undefined ? undefined : { rate: kept, rtt: scaled(delay, 2), buffer, ...up };
}

/** The way back, if the form can show it: nothing but texts, and a queue without settings. */
function upFrom({ rate = "", buffer = "", queue = "" }: Table): { up?: UpSettings } | undefined {
  const { kind, ...settings } = table(queue);
  const name = typeof kind === "string" && Object.keys(settings).length === 0 ? kind : queue;
  if (typeof rate !== "string" || typeof buffer !== "string" || typeof name !== "string") return undefined;
  return [rate, buffer, name].every((text) => text === "") ? {} : { up: { rate, buffer, queue: name } };
}

function rateFrom(rate: unknown): RateSetting | undefined {
  if (typeof rate === "string") return rate;
  const { trace, ...others } = table(rate);
  return typeof trace === "string" && Object.keys(others).length === 0 ? { trace } : undefined;
}

function trafficFrom(list: unknown): readonly TrafficSettings[] | undefined {
  if (!Array.isArray(list) || list.length > MOST_GROUPS) return undefined;
  const groups = list.map((group): TrafficSettings | undefined => {
    const { kind, flows = 1, ...settings } = table(group);
    const isPlain = Object.values(settings).every((value) => ["string", "number", "boolean"].includes(typeof value));
    return typeof kind === "string" && typeof flows === "number" && isPlain ? { kind, flows, settings: settings as Settings } : undefined;
  });
  return groups.every((group) => group !== undefined) ? withoutGivenNames(groups) : undefined;
}

/** Without the names that the form gives by itself, so that they follow its settings. */
function withoutGivenNames(groups: readonly TrafficSettings[]): readonly TrafficSettings[] {
  const nameless = groups.map((group): TrafficSettings => {
    const { name: _name, ...settings } = group.settings;
    return { ...group, settings };
  });
  const given = groupNames(nameless);
  const areOurs = groups.every((group, at) => group.settings["name"] === given[at]);
  return areOurs ? nameless : groups;
}

function table(value: unknown): Table {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Table) : {};
}

/** Interprets arbitrary data as settings of the playground; invalid parts get their initial
 *  values. */
export function playOf(data: unknown): Play {
  const { scenario, variants, seed, speed, host } = table(data);
  return {
    scenario: scenarioOf(table(scenario)),
    variants: variantsOf(variants),
    seed: typeof seed === "number" && Number.isSafeInteger(seed) && seed >= 0 ? seed : START.seed,
    speed: speed === null || (typeof speed === "number" && speed > 0) ? speed : START.speed,
    host: typeof host === "string" && /^[a-z]{1,16}$/.test(host) ? host : START.host,
  };
}

function scenarioOf(raw: Table): Scenario {
  if (raw["form"] === "text" && typeof raw["text"] === "string") {
    return { form: "text", text: raw["text"], name: String(raw["name"] ?? "scenario"), link: String(raw["link"] ?? LINK) };
  }
  const link = table(raw["link"]);
  const rate = rateFrom(link["rate"]);
  const traffic = trafficOf(raw["traffic"]);
  const text = (value: unknown): value is string => typeof value === "string";
  if (rate === undefined || !text(link["rtt"]) || !text(link["buffer"]) || !traffic || !text(raw["warmup"]) || !text(raw["duration"])) return START.scenario;
  const up = link["up"] === undefined ? {} : upFrom(table(link["up"]));
  return named({ form: "fields", link: { rate, rtt: link["rtt"], buffer: link["buffer"], ...up }, traffic, warmup: raw["warmup"], duration: raw["duration"] }, raw["name"]);
}

function trafficOf(list: unknown): readonly TrafficSettings[] | undefined {
  return Array.isArray(list) ? trafficFrom(list.map((group) => ({ kind: table(group)["kind"], flows: table(group)["flows"], ...table(table(group)["settings"]) }))) : undefined;
}

function variantsOf(list: unknown): readonly Variant[] {
  const variants = (Array.isArray(list) ? list : []).map(table).flatMap((one): Variant[] => (typeof one["kind"] === "string" ? [{ kind: one["kind"], settings: table(one["settings"]) as Settings }] : []));
  return variants.length > 0 ? variants.slice(0, MOST_VARIANTS) : START.variants;
}
