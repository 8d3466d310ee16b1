// A running bridge: both directions live, counters named as in `tc`, and settings that change after
// a second click.

import { Frame } from "../charts/frame.ts";
import { History } from "../charts/history.ts";
import { LiveChart, type LiveLine } from "../charts/live.ts";
import { sign } from "../charts/sign.ts";
import { SharedWindow } from "../charts/window.ts";
import { h, messageOf, setText } from "../dom.ts";
import { HUES, type Look } from "../palette.ts";
import type { BridgeStats, Direction } from "../serve/protocol.ts";
import { listen } from "../serve/stream.ts";
import { formatDecimals, formatQuantity, type Quantity, quantityOf, unitFor } from "../units.ts";
import { announce } from "./announce.ts";
import type { Context, Page } from "./page.ts";

interface Events {
  stats: BridgeStats;
  gone: { readonly message?: string };
  back: object;
}

const CHARTS: readonly { title: string; hint: string; what: string; quantity: Quantity }[] = [
  { title: "Throughput", hint: "Bits sent per second, by direction.", what: "throughput", quantity: "rate" },
  { title: "Sojourn time", hint: "Mean sojourn time of packets leaving now.", what: "sojourn", quantity: "time" },
  { title: "Backlog", hint: "Packets waiting now.", what: "backlog", quantity: "packets" },
  { title: "Dropped and marked", hint: "Packets per second.", what: "signals", quantity: "packets" },
];
/** Time span of the charts, in minutes. */
const SPAN = 300;

export class MonitorPage implements Page {
  readonly element: HTMLElement;
  readonly #context: Context;
  readonly #status = h("p", { class: "lead", role: "status" }, "Waiting for the bridge…");
  readonly #directions = h("div", { class: "directions" });
  readonly #history = new History(900, 512);
  readonly #window = new SharedWindow("monitor");
  readonly #charts: (LiveChart | undefined)[] = [];
  readonly #frames: readonly Frame[] = CHARTS.map((chart, at) => this.#frame(chart, at));
  readonly #control = h("section", { class: "bridge-control", hidden: true });
  #names: readonly string[] = [];
  #lines = new Map<string, readonly LiveLine[]>();
  #stream: { close(): void } | undefined;
  #before = new Map<string, Direction>();
  /** Shows the present settings; there once the bridge has told them. */
  #present: ((stats: BridgeStats) => void) | undefined;

  constructor(context: Context) {
    this.#context = context;
    const grid = h("div", { class: "chart-grid" }, ...this.#frames.map((frame) => frame.element));
    this.element = h("div", { class: "page wide" }, h("h1", {}, "Monitor"), this.#status, context.hello.bridge === true ? h("div", {}, this.#control, grid, this.#directions) : noBridge());
    if (context.hello.bridge !== true) this.#status.hidden = true;
  }

  show(): void {
    if (this.#context.hello.bridge !== true || this.#stream) return;
    for (const frame of this.#frames) frame.update();
    this.#stream = listen<Events>(
      "api/bridge/stream",
      {
        stats: (stats) => this.#onStats(stats),
        gone: ({ message }) => this.#say(`The bridge is gone${message === undefined ? "" : ` (${message})`}. Waiting for it to come back…`, true),
        back: () => this.#say("The bridge is back."),
      },
      (isBroken) => isBroken && this.#say("Lost the connection to gq serve; reconnecting…", true),
    );
  }

  hide(): void {
    this.#stream?.close();
    this.#stream = undefined;
  }

  redraw(): void {
    for (const frame of this.#frames) frame.redraw();
  }

  #say(text: string, isTrouble = false): void {
    this.#status.classList.toggle("problem", isTrouble);
    this.#status.classList.toggle("lead", !isTrouble);
    this.#directions.classList.toggle("stale", isTrouble);
    setText(this.#status, text);
  }

  #frame({ title, hint, what, quantity }: (typeof CHARTS)[number], at: number): Frame {
    return new Frame({
      title,
      hint,
      make: () =>
        (this.#charts[at] = new LiveChart({
          name: title,
          label: title,
          quantity,
          // A handful of packets, so that the axis has whole numbers.
          ...(quantity === "packets" ? { least: 4 } : {}),
          height: 200,
          history: this.#history,
          lines: () => this.#lines.get(what) ?? [],
          follow: () => this.#range(),
          window: this.#window,
          moments: () => [],
        })),
      legend: () => [],
      empty: "",
      isWide: () => false,
      resetLabel: "Follow",
    });
  }

  #range(): { min: number; max: number } {
    const span = this.#history.span;
    if (!span) return { min: 0, max: SPAN };
    const start = Math.max(span.from, span.to - SPAN);
    return { min: start, max: Math.max(span.to, start + 10) };
  }

  #onStats(stats: BridgeStats): void {
    // A restarted bridge counts from zero.
    const { span } = this.#history;
    if (span && stats.t < span.to) {
      this.#history.clear();
      this.#before.clear();
    }
    if (!this.#history.begin(stats.t)) return;
    if (stats.directions.map(({ name }) => name).join() !== this.#names.join()) this.#setNames(stats.directions.map(({ name }) => name));
    for (const direction of stats.directions) this.#remember(direction);
    this.#say(stats.directions.map(({ name, aqm, rate_bit_s }) => `${name}: ${aqm} at ${formatQuantity(rate_bit_s, "rate")}`).join(" · "));
    // Keep the text while the reader selects or copies it.
    const held = this.#directions.contains(document.activeElement) || (getSelection()?.isCollapsed === false && this.#directions.contains(getSelection()?.anchorNode ?? null));
    if (!held) this.#directions.replaceChildren(...stats.directions.map(directionTables));
    this.#present ??= this.#showControl();
    this.#present(stats);
    for (const chart of this.#charts) chart?.update();
  }

  #setNames(names: readonly string[]): void {
    this.#names = names;
    for (const [at, { what }] of CHARTS.entries()) {
      this.#lines.set(
        what,
        names.flatMap((name, number) => (what === "signals" ? [line(`${name}.dropped`, `${name}, dropped`, number * 2), line(`${name}.marked`, `${name}, marked`, number * 2 + 1)] : [line(`${name}.${what}`, name, number * 2)])),
      );
      this.#frames[at]?.setControls([lineNames(this.#lines.get(what) ?? [])]);
    }
  }

  #remember(direction: Direction): void {
    const { name, counters } = direction;
    const before = this.#before.get(name);
    const risen = (counter: string): number | null => {
      const [now, then] = [counters[counter], before?.counters[counter]];
      return now === undefined || then === undefined ? null : Math.max(0, now - then);
    };
    this.#before.set(name, direction);
    this.#history.set(`${name}.throughput`, direction.throughput_bit_s);
    this.#history.set(`${name}.sojourn`, direction.sojourn_s?.mean);
    this.#history.set(`${name}.backlog`, counters["backlog_packets"] ?? counters["qlen"]);
    this.#history.set(`${name}.dropped`, risen("dropped") ?? risen("drops"));
    this.#history.set(`${name}.marked`, risen("marked") ?? risen("ecn_mark"));
  }

  /** Builds the form; gives back what shows the present settings in it. */
  #showControl(): (stats: BridgeStats) => void {
    const { kinds } = this.#context;
    const known = h("datalist", { id: "bridge-kinds" }, ...kinds.aqm.map(({ kind }) => h("option", { value: kind })));
    const field = (id: string, list?: string): HTMLInputElement => h("input", { id, class: "input", type: "text", autocomplete: "off", spellcheck: "false", list });
    const fields = { aqm: field("bridge-aqm", "bridge-kinds"), rate: field("bridge-rate"), delay: field("bridge-delay"), policy: field("bridge-policy") };
    // What somebody types stays until it is the present setting or the direction changes.
    const shown = new Map<HTMLInputElement, string>();
    let latest: BridgeStats | undefined;
    const present = (stats: BridgeStats): void => {
      latest = stats;
      const now = stats.directions.find(({ name }) => name === direction.value);
      for (const [what, input] of Object.entries(fields)) {
        const value = now ? SETTINGS[what as keyof typeof fields](now) : "";
        const isTyped = input.value !== (shown.get(input) ?? "");
        if (isTyped || document.activeElement === input || value === shown.get(input)) continue;
        input.value = value;
        shown.set(input, value);
      }
      fields.policy.placeholder = fields.policy.value === "" ? "none" : "";
    };
    const direction = h("select", { id: "bridge-direction", class: "select", onchange: () => again() }, ...this.#names.map((name) => h("option", { value: name }, name)));
    const again = (): void => {
      for (const input of Object.values(fields)) {
        input.value = "";
        shown.set(input, "");
      }
      if (latest) present(latest);
    };
    // The bridge splits commands at spaces, so a value must not contain any.
    const change = (label: string, word: string, input: HTMLInputElement, hint: string): HTMLElement =>
      h("div", { class: "form-row" }, h("label", { for: input.id }, label), input, this.#confirmed(`Set the ${label.toLowerCase()}`, input, () => `${word} ${direction.value} ${input.value.replace(/\s+/g, "")}`, () => shown.set(input, input.value)), h("span", { class: "hint" }, hint));
    this.#control.replaceChildren(
      h("h2", {}, "Settings of the bridge"),
      h("p", { class: "hint" }, "The fields show the present settings. A change loses no waiting packet."),
      h("div", { class: "form-row" }, h("label", { for: "bridge-direction" }, "Direction"), direction),
      change("Rate", "rate", fields.rate, "for example 50 Mbit/s"),
      change("Added delay", "delay", fields.delay, "for example 5 ms"),
      change("Algorithm", "aqm", fields.aqm, "with parameters after a colon, as on the command line: codel:target=10ms"),
      change("Policy", "policy", fields.policy, "of steered algorithms (gsp-as, codel-as, pie-as): utilization>=0.99, delay<=30ms"),
      known,
    );
    this.#control.hidden = false;
    return present;
  }

  /** A button that asks for confirmation before it sends `line`. */
  #confirmed(label: string, input: HTMLInputElement, line: () => string, onDone: () => void): HTMLElement {
    const said = h("span", { class: "hint", role: "status" });
    const send = async (): Promise<void> => {
      const command = line();
      try {
        await this.#context.api.bridge(command);
        onDone();
        said.textContent = "Done.";
        announce(`Done: ${command}`);
      } catch (error) {
        said.textContent = messageOf(error);
      }
      rest();
    };
    const ask = h("button", { type: "button", class: "button", onclick: () => arm() }, label);
    const yes = h("button", { type: "button", class: "button primary", hidden: true, onclick: () => void send() }, "Yes, change live traffic");
    const no = h("button", { type: "button", class: "button", hidden: true, onclick: () => rest() }, "No");
    const arm = (): void => {
      if (input.value.trim() === "") {
        said.textContent = "Enter a value first.";
        input.focus();
        return;
      }
      said.textContent = line();
      ask.hidden = true;
      yes.hidden = no.hidden = false;
      yes.focus();
    };
    const rest = (): void => {
      ask.hidden = false;
      yes.hidden = no.hidden = true;
    };
    return h("span", { class: "confirm" }, ask, yes, no, said);
  }
}

function line(key: string, label: string, number: number): LiveLine {
  const look: Look = { hue: HUES[(number + 1) % HUES.length] ?? "blue", dash: number % 2 === 1 ? [7, 3] : [], mark: "circle" };
  return { key, label, look };
}

/** Present settings in the words that change them. */
const SETTINGS = {
  aqm: ({ settings, aqm }: Direction): string => settings?.aqm ?? aqm,
  rate: ({ rate_bit_s }: Direction): string => exactly(rate_bit_s, "rate"),
  delay: ({ settings }: Direction): string => exactly(settings?.delay_s ?? 0, "time"),
  policy: ({ settings }: Direction): string => settings?.policy ?? "",
};

/** A quantity with every digit, as options take it. */
function exactly(value: number, quantity: Quantity): string {
  if (value === 0) return quantity === "time" ? "0 s" : "0 bit/s";
  const { factor, symbol } = unitFor(quantity, value);
  return `${Number((value * factor).toPrecision(12))} ${symbol.replace("µ", "u")}`;
}

/** Legend of the lines. */
function lineNames(lines: readonly LiveLine[]): HTMLElement {
  return h("div", { class: "line-names" }, ...lines.map(({ look, label }) => h("span", { class: "named" }, sign(look), label)));
}

/** Counters that `tc -s qdisc` prints. */
const IN_LINES = ["sent_bytes", "sent_packets", "dropped", "overlimits", "requeues", "backlog_bytes", "backlog_packets"];

function directionTables(direction: Direction): HTMLElement {
  const { name, device, counters, gauges, flows } = direction;
  const pairs = (title: string, entries: readonly (readonly [string, string])[]): HTMLElement | "" => (entries.length === 0 ? "" : h("div", {}, h("h3", {}, title), h("dl", { class: "pairs" }, ...entries.flatMap(([key, value]) => [h("dt", {}, key.replaceAll("_", " ")), h("dd", { class: "number" }, value)]))));
  const hasBacklog = flows.some((flow) => flow.backlog_bytes !== undefined);
  const largest = Math.max(1, ...flows.map((flow) => flow.throughput_bit_s));
  const top = flows.map((flow) => {
    const bar = h("span", { class: "flow-bar", "aria-hidden": "true" });
    bar.style.setProperty("--part", String(flow.throughput_bit_s / largest));
    return h("tr", {}, h("th", { scope: "row" }, flow.label, bar), h("td", { class: "number" }, formatQuantity(flow.throughput_bit_s, "rate")), hasBacklog && h("td", { class: "number" }, flow.backlog_bytes === undefined ? "–" : formatQuantity(flow.backlog_bytes, "bytes")));
  });
  return h(
    "section",
    { class: "direction" },
    h("h2", {}, name, device === undefined ? "" : h("span", { class: "hint" }, ` out of ${device}`)),
    h("div", {}, h("h3", {}, "Counters, as tc -s qdisc prints them"), h("pre", { class: "tc", tabindex: 0, "aria-label": `Counters of ${name}` }, asTc(direction))),
    h("h3", {}, "Largest flows of the last second"),
    top.length > 0 ? h("table", { class: "plain flow-table" }, h("thead", {}, h("tr", {}, ...["Flow", "Throughput", ...(hasBacklog ? ["Waiting"] : [])].map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, ...top)) : h("p", { class: "hint" }, "Nothing was sent."),
    h("div", { class: "pair-columns" }, pairs("Gauges", Object.entries(gauges).map(([key, value]) => [key, value === null ? "–" : formatQuantity(value, quantityOf(key))] as const)), pairs("Further counters", Object.entries(counters).filter(([key]) => !IN_LINES.includes(key)).map(([key, value]) => [key, formatDecimals(value, 0)] as const))),
  );
}

/** The lines of `tc -s qdisc show`. */
function asTc({ aqm, device, counters }: Direction): string {
  const of = (name: string): number => counters[name] ?? 0;
  return [
    `qdisc ${aqm.replaceAll("-", "_")} 1: dev ${device ?? "?"} root`,
    ` Sent ${of("sent_bytes")} bytes ${of("sent_packets")} pkt (dropped ${of("dropped")}, overlimits ${of("overlimits")} requeues ${of("requeues")})`,
    ` backlog ${of("backlog_bytes")}b ${of("backlog_packets")}p requeues ${of("requeues")}`,
  ].join("\n");
}

function noBridge(): HTMLElement {
  const command = (text: string): HTMLElement => h("pre", { class: "tc", tabindex: 0 }, text);
  return h(
    "div",
    { class: "empty" },
    h("p", {}, "No bridge is being watched. A bridge puts one of the queues between two network interfaces of this machine; this page shows and controls it while it runs. Start one as root:"),
    command("gq bridge --in eth0 --out eth1 --rate 50mbit --aqm fq-codel --control /run/goodqueue.sock"),
    h("p", {}, "Then start this server with its control socket:"),
    command("gq serve --bridge /run/goodqueue.sock"),
  );
}
