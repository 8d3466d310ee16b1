// The form of the playground: the line, who sends over it, and the queues to compare.

import { sign } from "../../charts/sign.ts";
import { dropDown, h, optionsNamed } from "../../dom.ts";
import { looksFor } from "../../palette.ts";
import type { Hello, Kind, Kinds, Trace, Warning } from "../../serve/protocol.ts";
import { isDeliberate, type Place, placesOf, remark } from "./beside.ts";
import { EXPERIMENTS } from "./experiments.ts";
import { bothRates, isTcp, LINES, type LinkSettings, mainKeys, MOST_GROUPS, MOST_VARIANTS, newTraffic, NO_UP, type Play, type Scenario, SIM, START, type TrafficSettings, type UpSettings, type Variant, withSetting } from "./model.ts";
import { parameterFields, parameterInput } from "./parameter-fields.ts";
import { LINK } from "./toml.ts";

/** What the form needs to know and whom it tells. */
export interface FormOptions {
  readonly kinds: Kinds;
  readonly hosts: NonNullable<Hello["hosts"]>;
  readonly traces: () => readonly Trace[];
  readonly presets: Hello["presets"];
  readonly get: () => Play;
  readonly set: (play: Play) => void;
  /** Everything was chosen at once: line, traffic and queues. */
  readonly adopt: (play: Play) => void;
  /** A whole scenario was chosen. */
  readonly load: (toml: string, name: string) => void;
}

/** Queues that are offered first. */
const USUAL_QUEUES = ["tail-drop", "codel", "fq-codel", "pie", "cp-aqm", "gsp"];
/** Keys of traffic that have a field of their own. */
const OWN_KEYS = ["cc", "flows", "name", "path", "return_path"];

/** Hosts in words. */
const HOSTS: Readonly<Record<string, string>> = { [SIM]: "the simulator", linux: "guest kernels, virtual time", "linux-7.3": "guest kernels of Linux 7.3, virtual time", live: "this machine's kernel, real time" };

type Fields = Extract<Scenario, { form: "fields" }>;

export class Form {
  readonly element = h("form", { class: "setup", "aria-label": "What to simulate", onsubmit: (event) => event.preventDefault() });
  readonly #options: FormOptions;
  #warnings: readonly Warning[] = [];

  constructor(options: FormOptions) {
    this.#options = options;
    this.render();
  }

  /** Builds the form anew, keeping the focus and what is folded open. */
  render(): void {
    const focused = document.activeElement?.id ?? "";
    const open = new Set([...this.element.querySelectorAll<HTMLDetailsElement>("details[open]")].map((details) => details.id));
    const play = this.#options.get();
    const { scenario } = play;
    const parts = scenario.form === "fields" ? [this.#link(scenario), this.#traffic(scenario)] : [this.#text(scenario)];
    this.element.replaceChildren(...parts, this.#queues(play), this.#more(play));
    this.#warnings = [];
    for (const details of this.element.querySelectorAll<HTMLDetailsElement>("details")) if (open.has(details.id)) details.open = true;
    if (focused !== "" && this.element.querySelector(`#${CSS.escape(focused)}`)) document.getElementById(focused)?.focus();
  }

  /** Puts each remark beside what it is about; gives back those without a place here. */
  caution(warnings: readonly Warning[]): readonly Warning[] {
    const { scenario, variants } = this.#options.get();
    const isSame = JSON.stringify(warnings) === JSON.stringify(this.#warnings);
    const link = scenario.form === "fields" ? LINK : scenario.link;
    const worthSaying = warnings.filter((warning) => !isDeliberate(warning, variants));
    const placeless = worthSaying.filter((warning) => placesOf(warning, link).every((place) => !this.#slot(place)));
    if (isSame) return placeless;
    this.#warnings = warnings;
    for (const slot of this.element.querySelectorAll("[data-place]")) slot.replaceChildren();
    for (const warning of worthSaying) for (const place of placesOf(warning, link)) this.#slot(place)?.append(remark(warning, this.#remedy(warning)));
    return placeless;
  }

  #slot(place: Place): Element | null {
    return this.element.querySelector(`[data-place="${CSS.escape(place)}"]`);
  }

  /** Senders that could be marked and are not. */
  #remedy({ field }: Warning): { label: string; run: () => void } | undefined {
    const { scenario } = this.#options.get();
    if (!field.endsWith(".queue.ecn") || scenario.form !== "fields") return undefined;
    const { kinds } = this.#options;
    const deaf = scenario.traffic.filter(({ kind, settings }) => isTcp(kinds, kind) && settings["ecn"] !== true);
    if (deaf.length === 0 || scenario.traffic.length === 0 || deaf.length < scenario.traffic.filter(({ kind }) => isTcp(kinds, kind)).length) return undefined;
    return { label: "Let the senders use ECN", run: () => this.#changeTraffic((groups) => groups.map((group) => (isTcp(kinds, group.kind) ? { ...group, settings: withSetting(group.settings, "ecn", true) } : group))) };
  }

  #set(change: (play: Play) => Play): void {
    this.#options.set(change(this.#options.get()));
  }

  #setFields(change: Partial<Fields>): void {
    this.#set((play) => (play.scenario.form === "fields" ? { ...play, scenario: { ...play.scenario, ...change } } : play));
  }

  #rebuild(change: (play: Play) => Play): void {
    this.#set(change);
    this.render();
  }

  #link({ link }: Fields): HTMLElement {
    const setLink = (change: Partial<LinkSettings>): void => this.#setFields({ link: { ...this.#fields().link, ...change } });
    const same = LINES.find((line) => JSON.stringify(line.link) === JSON.stringify(link));
    const { presets, load, adopt, get } = this.#options;
    const line = dropDown(
      { id: "line" },
      [
        { value: "", label: "Your own", choose: () => undefined },
        ...LINES.map(({ id, title, link: usual }) => ({ value: id, label: title, group: "The line alone", choose: () => this.#rebuild((play) => withLink(play, usual)) })),
        ...EXPERIMENTS.map(({ id, title, play }) => ({ value: `experiment:${id}`, label: title, group: "Line, traffic and queues", choose: () => adopt({ ...play, seed: get().seed, host: get().host }) })),
        ...presets.map(({ id, title, scenario_toml: toml }) => ({ value: `scenario:${id}`, label: title, group: "Line and traffic", choose: () => load(toml, title) })),
      ],
      same?.id ?? "",
      ({ choose }) => choose(),
    );
    return h(
      "fieldset",
      {},
      h("legend", {}, "Line"),
      row("line", "Start from", line),
      this.#rate(link, setLink),
      row("rtt", "Round-trip time", text("rtt", link.rtt, (rtt) => setLink({ rtt }))),
      row("buffer", "Buffer", text("buffer", link.buffer, (buffer) => setLink({ buffer })), "bytes, packets, a time, or bdp"),
      this.#up(link),
      slot("line"),
    );
  }

  /** The way back: what is left empty has the scenario's default. */
  #up({ up = NO_UP }: LinkSettings): HTMLElement {
    const set = (change: Partial<UpSettings>): void => {
      const { up: before = NO_UP, ...others } = this.#fields().link;
      const now = { ...before, ...change };
      this.#setFields({ link: Object.values(now).every((value) => value === "") ? others : { ...others, up: now } });
    };
    const given = Object.values(up).filter((value) => value !== "").length;
    const names = this.#options.kinds.aqm.map(({ kind }) => kind).filter((kind) => kind !== "tail-drop");
    const known = up.queue === "" || names.includes(up.queue) ? names : [up.queue, ...names];
    const queue = dropDown({ id: "queue-up" }, [{ value: "", label: "tail-drop" }, ...optionsNamed(known)], up.queue, ({ value }) => set({ queue: value }));
    const field = (id: "rate" | "buffer", empty: string): HTMLInputElement => {
      const input = text(`${id}-up`, up[id], (value) => set({ [id]: value }));
      input.placeholder = empty;
      return input;
    };
    return h(
      "details",
      { id: "line-up" },
      h("summary", {}, given === 0 ? "Upload direction" : `Upload direction (${given} set)`),
      h("div", { class: "more" }, row("rate-up", "Rate up", field("rate", "as down")), row("buffer-up", "Buffer up", field("buffer", "as down")), row("queue-up", "Queue up", queue, "traffic goes up with the setting direction = up")),
    );
  }

  #rate(link: LinkSettings, setLink: (change: Partial<LinkSettings>) => void): HTMLElement {
    const traces = this.#options.traces();
    const { rate } = link;
    // Both directions may be written at once, as on the command line.
    const setRate = (value: string): void => {
      const { down, up } = bothRates(value);
      if (up === undefined) setLink({ rate: value });
      else this.#rebuild((play) => withLink(play, { rate: down, up: { ...(this.#fields().link.up ?? NO_UP), rate: up } }));
    };
    if (typeof rate === "string" && traces.length === 0) return row("rate", "Rate", text("rate", rate, setRate));
    const chosen = typeof rate === "string" ? "" : rate.trace;
    const known = traces.some(({ id }) => id === chosen) || chosen === "" ? traces : [...traces, { id: chosen, name: chosen, mean_rate_bit_s: 0, seconds: 0 }];
    const rates = [{ value: "", label: "constant" }, ...known.map(({ id, name }) => ({ value: id, label: name }))];
    const choose = (trace: string): void => this.#rebuild((play) => withLink(play, { rate: trace === "" ? "10 Mbit/s" : { trace } }));
    const select = dropDown({ id: "recording", "aria-label": "Constant rate or a trace" }, rates, chosen, ({ value }) => choose(value));
    const input = typeof rate === "string" && text("rate", rate, setRate);
    return h("div", { class: "form-row" }, h("label", { for: input ? "rate" : "recording" }, "Rate"), h("div", { class: "pair" }, input, select));
  }

  #fields(): Fields {
    const { scenario } = this.#options.get();
    return scenario.form === "fields" ? scenario : (START.scenario as Fields);
  }

  #traffic({ traffic }: Fields): HTMLElement {
    const change = (at: number, group: TrafficSettings): void => this.#setFields({ traffic: this.#fields().traffic.map((one, index) => (index === at ? group : one)) });
    const add = h("button", { type: "button", id: "add-traffic", class: "button", disabled: traffic.length >= MOST_GROUPS, onclick: () => this.#changeTraffic((groups) => [...groups, newTraffic(this.#options.kinds, nextKind(this.#options.kinds, groups), 1)]) }, "Add traffic");
    return h("fieldset", {}, h("legend", {}, "Traffic"), ...traffic.map((one, at) => this.#group(one, at, traffic.length, (group) => change(at, group))), add);
  }

  #changeTraffic(change: (groups: readonly TrafficSettings[]) => readonly TrafficSettings[]): void {
    this.#rebuild((play) => (play.scenario.form === "fields" ? { ...play, scenario: { ...play.scenario, traffic: change(play.scenario.traffic) } } : play));
  }

  #group(group: TrafficSettings, at: number, count: number, change: (group: TrafficSettings) => void): HTMLElement {
    const { kinds } = this.#options;
    const id = `traffic-${at}`;
    const now = (): TrafficSettings => this.#fields().traffic[at] ?? group;
    const kind = kindSelect(id, `Traffic ${at + 1}: kind`, kinds.traffic, usual(kinds.traffic), group.kind, (value) => this.#changeTraffic((groups) => groups.map((one, index) => (index === at ? newTraffic(kinds, value, one.flows) : one))));
    const flows = h("input", { id: `${id}-flows`, class: "input count", type: "number", min: 1, max: 1000, step: 1, value: group.flows, "aria-label": `Traffic ${at + 1}: flows`, onchange: () => change({ ...now(), flows: Math.max(1, Math.round(Number(flows.value) || 1)) }) });
    const cc = isTcp(kinds, group.kind) && kindSelect(`${id}-cc`, `Traffic ${at + 1}: congestion control`, kinds.cc, kinds.cc.map(({ kind: name }) => name), String(group.settings["cc"] ?? "cubic"), (value) => change({ ...now(), settings: withSetting(now().settings, "cc", value) }));
    const remove = count > 1 && h("button", { type: "button", class: "button quiet remove", "aria-label": `Remove traffic ${at + 1}, ${group.kind}`, onclick: () => this.#changeTraffic((groups) => groups.filter((_one, index) => index !== at)) }, "×");
    const parameters = (kinds.traffic.find((one) => one.kind === group.kind)?.parameters ?? []).filter((parameter) => !OWN_KEYS.includes(parameter.key));
    const main = mainKeys(kinds, group.kind);
    const set = (key: string, value: Parameters<typeof withSetting>[2]): void => change({ ...now(), settings: withSetting(now().settings, key, value) });
    const shown = parameters.filter((parameter) => main.includes(parameter.key));
    const rest = parameters.filter((parameter) => !main.includes(parameter.key));
    return h(
      "div",
      { class: "group-row" },
      h("div", { class: "group-line" }, flows, h("span", { class: "times", "aria-hidden": "true" }, "×"), kind, cc, remove),
      ...shown.map((parameter) => row(`${id}-${parameter.key}`, parameter.key, parameterInput(`${id}-${parameter.key}`, parameter, group.settings[parameter.key], (value) => set(parameter.key, value)))),
      rest.length > 0 && h("details", { id: `${id}-more` }, h("summary", {}, settingsTitle(rest.filter((parameter) => parameter.key in group.settings).length)), parameterFields(id, rest, group.settings, set)),
      slot(`traffic-${at}`),
    );
  }

  #queues({ variants }: Play): HTMLElement {
    const looks = looksFor(variants.map((variant) => variant.kind));
    const change = (to: readonly Variant[]): void => this.#rebuild((play) => ({ ...play, variants: to }));
    const add = h("button", { type: "button", id: "add-queue", class: "button", disabled: variants.length >= MOST_VARIANTS, onclick: () => change([...this.#options.get().variants, { kind: nextQueue(variants), settings: {} }]) }, "Add queue");
    const rows = variants.map((variant, at) => this.#queue(variant, at, variants.length, sign(looks[at] ?? { hue: "slate", dash: [], mark: "circle" })));
    return h("fieldset", {}, h("legend", {}, "Queues, side by side"), ...rows, add);
  }

  #queue(variant: Variant, at: number, count: number, look: HTMLElement): HTMLElement {
    const { kinds, get } = this.#options;
    const id = `queue-${at}`;
    const replace = (to: Variant | undefined): void => this.#rebuild((play) => ({ ...play, variants: play.variants.flatMap((one, index) => (index === at ? (to ?? []) : [one])) }));
    const now = (): Variant => get().variants[at] ?? variant;
    const set = (key: string, value: Parameters<typeof withSetting>[2]): void => this.#set((play) => ({ ...play, variants: play.variants.map((one, index) => (index === at ? { ...one, settings: withSetting(one.settings, key, value) } : one)) }));
    const kind = kindSelect(id, `Queue ${at + 1}: algorithm`, kinds.aqm, USUAL_QUEUES, variant.kind, (value) => replace({ kind: value, settings: {} }));
    const about = kinds.aqm.find((one) => one.kind === variant.kind);
    const parameters = (about?.parameters ?? []).filter((parameter) => parameter.key !== "ecn");
    const usually = about?.parameters?.find(({ key }) => key === "ecn")?.default === true;
    const isOn = variant.settings["ecn"] ?? usually;
    const cannot = about?.marks === false && isOn !== true;
    const ecn = h("input", { id: `${id}-ecn`, type: "checkbox", checked: isOn === true, disabled: cannot, onchange: () => replace({ ...now(), settings: withSetting(now().settings, "ecn", ecn.checked === usually ? "" : ecn.checked) }) });
    const remove = count > 1 && h("button", { type: "button", class: "button quiet remove", "aria-label": `Remove queue ${at + 1}, ${variant.kind}`, onclick: () => replace(undefined) }, "×");
    const changed = parameters.filter((parameter) => parameter.key in variant.settings).length;
    return h(
      "div",
      { class: "group-row" },
      h("div", { class: "group-line" }, look, kind, h("label", { class: "check", title: cannot ? `${variant.kind} never marks` : "Mark packets of senders that use ECN instead of dropping them" }, ecn, "ECN"), remove),
      about && h("p", { class: "hint" }, about.summary),
      parameters.length > 0 && h("details", { id: `${id}-more` }, h("summary", {}, settingsTitle(changed)), parameterFields(id, parameters, variant.settings, set)),
      slot(`queue-${at}`),
    );
  }

  #text(scenario: Extract<Scenario, { form: "text" }>): HTMLElement {
    const area = h("textarea", { id: "scenario", class: "input", rows: 16, spellcheck: "false", autocomplete: "off", onchange: () => this.#set((play) => ({ ...play, scenario: { ...scenario, text: area.value } })) }, scenario.text);
    const back = h("button", { type: "button", class: "button", onclick: () => this.#rebuild((play) => ({ ...play, scenario: START.scenario })) }, "Back to the form");
    return h("fieldset", {}, h("legend", {}, "Scenario"), h("label", { for: "scenario" }, scenario.name), area, h("p", { class: "hint" }, `Its text says more than the form has fields for. The queues below take the place of the one at the link ${scenario.link}.`), back);
  }

  #more(play: Play): HTMLElement {
    const { scenario } = play;
    const seed = h("input", { id: "seed", class: "input", type: "number", min: 0, step: 1, value: play.seed, onchange: () => this.#set((now) => ({ ...now, seed: Math.max(0, Math.round(Number(seed.value) || 0)) })) });
    const times = scenario.form === "fields" ? [row("warmup", "Warm-up", text("warmup", scenario.warmup, (warmup) => this.#setFields({ warmup }))), row("duration", "Measured for", text("duration", scenario.duration, (duration) => this.#setFields({ duration })))] : [];
    const title = `Duration, seed and host${play.host === SIM ? "" : ` (${play.host})`}`;
    return h("details", { id: "more-run" }, h("summary", {}, title), h("div", { class: "more" }, ...times, row("seed", "Seed", seed, "the same seed gives the same run"), this.#host(play)));
  }

  /** What runs the scenario. A host that is missing here can be chosen: the server says why it refuses. */
  #host({ host }: Play): HTMLElement {
    const known = [{ name: SIM, missing: null }, ...this.#options.hosts.filter(({ name }) => name !== SIM)];
    const offered = known.some(({ name }) => name === host) ? known : [...known, { name: host, missing: null }];
    const options = offered.map(({ name, missing }) => ({ value: name, label: `${HOSTS[name] ?? name}${missing === null ? "" : " (missing here)"}` }));
    const select = dropDown({ id: "host" }, options, host, ({ value }) => this.#rebuild((play) => ({ ...play, host: value })));
    return row("host", "Runs on", select, known.find(({ name }) => name === host)?.missing ?? (host === SIM ? "" : "shows its figures at the end"));
  }
}

function withLink(play: Play, change: Partial<LinkSettings>): Play {
  return play.scenario.form === "fields" ? { ...play, scenario: { ...play.scenario, link: { ...play.scenario.link, ...change } } } : play;
}

function settingsTitle(changed: number): string {
  return changed === 0 ? "Settings" : `Settings (${changed} set)`;
}

/** Where remarks on a setting go. */
function slot(place: Place): HTMLElement {
  return h("div", { "data-place": place });
}

/** Names of the kinds of traffic that most lines carry. */
function usual(traffic: readonly Kind[]): readonly string[] {
  return traffic.filter((kind) => kind.usual !== false).map(({ kind }) => kind);
}

/** The first usual kind that is not there yet. */
function nextKind(kinds: Kinds, groups: readonly TrafficSettings[]): string {
  return usual(kinds.traffic).find((kind) => !groups.some((group) => group.kind === kind)) ?? "bulk";
}

function nextQueue(variants: readonly Variant[]): string {
  return USUAL_QUEUES.find((kind) => !variants.some((variant) => variant.kind === kind)) ?? "codel";
}

/** A labelled line of the form. */
export function row(id: string, label: string, input: HTMLElement, hint?: string): HTMLElement {
  if (hint !== undefined) input.setAttribute("aria-describedby", `${id}-about`);
  return h("div", { class: "form-row" }, h("label", { for: id }, label), input, hint !== undefined && h("span", { class: "hint", id: `${id}-about` }, hint));
}

function text(id: string, value: string, onChange: (value: string) => void): HTMLInputElement {
  const input = h("input", { id, class: "input", type: "text", autocomplete: "off", spellcheck: "false", value, onchange: () => onChange(input.value.trim()) });
  return input;
}

/** A list of kinds, the usual ones first. */
function kindSelect(id: string, label: string, kinds: readonly Kind[], first: readonly string[], value: string, onChange: (value: string) => void): HTMLSelectElement {
  const names = kinds.map(({ kind }) => kind);
  const usual = first.filter((kind) => names.includes(kind));
  const others = names.filter((kind) => !usual.includes(kind)).map((kind) => ({ value: kind, label: kind, group: "More" }));
  const options = [...optionsNamed(names.includes(value) ? [] : [value]), ...optionsNamed(usual), ...others];
  return dropDown({ id, "aria-label": label }, options, value, (chosen) => onChange(chosen.value));
}
