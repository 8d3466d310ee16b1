// The playground: a form on the left and the run on the right.

import { download } from "../../charts/export.ts";
import { h, menu, messageOf, segmented } from "../../dom.ts";
import { equalPlaces } from "../../lists.ts";
import { looksFor } from "../../palette.ts";
import { Refused } from "../../serve/backend.ts";
import type { About, Control, Done, Frame, Note, Packets, SessionState, Trace } from "../../serve/protocol.ts";
import { announce } from "../announce.ts";
import type { Page, PlayContext } from "../page.ts";
import { readSummary } from "../summary.ts";
import { pack, unpack } from "../share.ts";
import { remarkInWords } from "./beside.ts";
import { CallBoard, listenedGroup } from "./call-board.ts";
import { Changes } from "./changes.ts";
import { PlayCharts, type Span } from "./charts.ts";
import { acceptDrops, fileButton, kindOf } from "./files.ts";
import { type Experiment, experimentCards } from "./experiments.ts";
import { FlowLegend, flowName } from "./flow-legend.ts";
import { Form } from "./form.ts";
import { canonical, labelsOf, type Play, SIM, START } from "./model.ts";
import { Now } from "./now.ts";
import { PacketView } from "./packet-view.ts";
import { MOST_FLOWS, Session, type Watcher } from "./session.ts";
import { fileToml, playFrom, playOf, sessionOf, Unreadable } from "./toml.ts";
import { PACKET_SPEED, speedInWords, Transport } from "./transport.ts";

type View = "charts" | "packets";

/** The speed at which packets are first shown. */
const SLOWED = 0.01;

/** Time spans in seconds; the whole run is none. */
const SPANS = [null, 30, 5, 1, 0.2].map((span: Span) => ({ value: String(span), label: span === null ? "Whole run" : `${span} s`, span }));

export class PlayPage implements Page, Watcher {
  readonly element: HTMLElement;
  readonly #context: PlayContext;
  readonly #form: Form;
  readonly #transport: Transport;
  readonly #changes: Changes;
  readonly #problem = h("div", { class: "problem", role: "alert", hidden: true });
  readonly #cautions = h("div", { class: "cautions", role: "note", hidden: true });
  readonly #verdict = h("section", { class: "verdict", "aria-label": "Verdict", hidden: true });
  readonly #nowPlace = h("div");
  readonly #callPlace = h("div", { class: "call-place" });
  readonly #stage = h("div", { class: "stage" }, welcome((experiment) => this.#try(experiment)));
  readonly #viewTools = h("div", { class: "row view-tools", hidden: true });
  readonly #uploads: Trace[] = [];
  #play: Play = START;
  #session: Session | undefined;
  #labels: readonly string[] = [];
  #charts: PlayCharts | undefined;
  #packets: PacketView[] = [];
  #now: Now | undefined;
  #calls: CallBoard | undefined;
  #legend = new FlowLegend(MOST_FLOWS);
  #view: View = "charts";
  #span: Span = null;
  /** Whether the speed was lowered so that packets can be shown. */
  #isSlowed = false;
  #isShown = false;
  #isStarting = false;
  /** Host of the present session. */
  #host = SIM;
  #ownAddress = "";
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(context: PlayContext) {
    this.#context = context;
    const { kinds, hello } = context;
    this.#form = new Form({ kinds, hosts: hello.hosts ?? [], presets: hello.presets, traces: () => [...(hello.traces ?? []), ...this.#uploads], get: () => this.#play, set: (play) => this.#set(play), adopt: (play) => this.#adopt(play), load: (toml, name) => this.#load(toml, name) });
    this.#transport = new Transport({ speed: this.#play.speed, onRun: () => void this.#run(), onPlay: (isPlaying) => this.#control({ do: isPlaying ? "play" : "pause" }), onStop: () => this.#control({ do: "stop" }), onStep: (seconds) => this.#control({ do: "step", seconds }), onSpeed: (speed) => this.#setSpeed(speed) });
    this.#changes = new Changes(kinds, (control) => this.#control(control));
    const files = h("div", { class: "setup-files" }, fileButton("Open a file…", (file) => void this.#open(file)), this.#saveMenu());
    const side = h("details", { class: "side", open: true }, h("summary", {}, "Settings"), this.#form.element, this.#cautions, files);
    // On a phone the form would push everything else below the fold.
    if (matchMedia("(max-width: 960px)").matches) side.open = false;
    this.element = h("div", { class: "play" }, h("h1", { class: "visually-hidden" }, "Playground"), side, h("div", { class: "result" }, this.#transport.element, this.#problem, this.#verdict, this.#changes.element, this.#callPlace, this.#nowPlace, this.#viewTools, this.#stage));
    acceptDrops(() => this.#isShown, (file) => void this.#open(file));
    addEventListener("pagehide", () => this.#session?.close());
  }

  show(_rest: string, query: URLSearchParams): void {
    this.#isShown = true;
    const shared = query.get("s");
    if (shared !== null && shared !== this.#ownAddress) void this.#restore(shared);
    else this.#remember();
  }

  hide(): void {
    this.#isShown = false;
  }

  redraw(): void {
    this.#charts?.redraw();
    for (const view of this.#packets) view.redraw();
  }

  // What the form and the address say.

  #set(given: Play): void {
    const play = withoutOldName(given, this.#play);
    this.#play = play;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#remember();
      void this.#check();
    }, 250);
  }

  /** Puts the settings into the address. */
  #remember(): void {
    const play = this.#play;
    void pack(play).then((packed) => {
      if (!this.#isShown || play !== this.#play) return;
      this.#ownAddress = packed;
      history.replaceState(null, "", `#/play?s=${packed}`);
    });
  }

  async #restore(packed: string): Promise<void> {
    // The previous content of the form must not replace this address.
    clearTimeout(this.#timer);
    try {
      this.#adopt(playOf(await unpack(packed)));
      this.#ownAddress = packed;
      announce("Settings restored from the link.");
    } catch {
      this.#complain("The settings in this address cannot be read: it may have been cut off. The form is unchanged.");
    }
  }

  #adopt(given: Play): void {
    const play = canonical(this.#context.kinds, given);
    this.#play = play;
    this.#transport.setSpeed(play.speed);
    this.#form.render();
    this.#set(play);
  }

  /** Applies the settings of the experiment and runs it. */
  #try(experiment: Experiment): void {
    this.#adopt(experiment.play);
    announce(`${experiment.title}: running.`);
    void this.#run();
    // This removes the cards; keyboard focus moves to the buttons of the run.
    document.getElementById("run")?.focus({ preventScroll: true });
  }

  #load(toml: string, name: string): void {
    try {
      this.#adopt(playFrom(toml, name, this.#play));
      this.#complain("");
      announce(`${name} is loaded.`);
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      this.#complain(`${name}: ${error.message}`);
    }
  }

  async #open(file: File): Promise<void> {
    const most = this.#context.hello.limits.upload_bytes ?? 4_000_000;
    if (file.size > most) {
      this.#complain(`${file.name}: the file has ${file.size} bytes, and at most ${most} are taken`);
      return;
    }
    const text = await file.text();
    if (kindOf(file.name, text) === "scenario") {
      this.#load(text, file.name);
      return;
    }
    try {
      const trace = await this.#context.api.uploadTrace(text);
      this.#uploads.push({ ...trace, name: file.name });
      const { scenario } = this.#play;
      if (scenario.form === "fields") this.#adopt(withoutOldName({ ...this.#play, scenario: { ...scenario, link: { ...scenario.link, rate: { trace: trace.id } } } }, this.#play));
      this.#complain("");
      announce(`${file.name} is now the rate of the line.`);
    } catch (error) {
      this.#complain(`${file.name}: ${messageOf(error)}`);
    }
  }

  async #check(): Promise<void> {
    const play = this.#play;
    try {
      const { warnings } = await this.#context.api.check(fileToml(play));
      if (play === this.#play) this.#caution(this.#form.caution(warnings).map((warning) => remarkInWords(warning, "list")));
    } catch (error) {
      if (play === this.#play && error instanceof Refused && error.status === 422) this.#caution([error.message]);
    }
  }

  #caution(texts: readonly string[]): void {
    this.#cautions.hidden = texts.length === 0;
    this.#cautions.replaceChildren(h("h2", {}, "About these settings"), h("ul", {}, ...texts.map((text) => h("li", {}, text))));
  }

  #complain(text: string): void {
    this.#problem.hidden = text === "";
    this.#problem.textContent = text;
  }

  // The run.

  async #run(): Promise<void> {
    if (this.#isStarting) return;
    this.#isStarting = true;
    this.#transport.setState(undefined, true);
    this.#complain("");
    const play = this.#play;
    this.#end();
    try {
      const { id } = await this.#context.api.createSession(sessionOf(play));
      this.#begin(new Session(this.#context.api, id, this), play, labelsOf(play.variants));
    } catch (error) {
      this.#complain(messageOf(error));
      this.#transport.setState(undefined, false);
    } finally {
      this.#isStarting = false;
    }
  }

  /** Removes the previous session. */
  #end(): void {
    this.#session?.close();
    this.#session = undefined;
    this.#now?.destroy();
    this.#calls?.destroy();
    this.#calls = undefined;
    this.#charts?.destroy();
    for (const view of this.#packets) view.destroy();
  }

  #begin(session: Session, play: Play, labels: readonly string[]): void {
    this.#session = session;
    this.#host = play.host;
    this.#labels = labels;
    const kinds = play.variants.map(({ kind }) => kind);
    const looks = looksFor(kinds);
    this.#charts = new PlayCharts(session, kinds, labels);
    this.#charts.follow(this.#span);
    this.#packets = labels.map((label, at) => new PacketView(label, looks[at] ?? { hue: "slate", dash: [], mark: "circle" }, (flow) => this.#flowName(at, flow)));
    this.#now = new Now(labels, looks, (variant, isShown) => this.#charts?.show(variant, isShown));
    this.#callPlace.replaceChildren();
    this.#nowPlace.replaceChildren(this.#now.element);
    this.#verdict.hidden = true;
    this.#showView();
  }

  #flowName(variant: number, flow: number): string {
    const known = this.#session?.frame?.variants[variant]?.flows[flow];
    return known ? flowName(known) : `flow ${flow}`;
  }

  #showView(): void {
    if (this.#host !== SIM) {
      this.#viewTools.hidden = true;
      this.#stage.replaceChildren(h("p", { class: "hint" }, `A run on ${this.#host} goes at its own pace and shows its figures at the end.`));
      return;
    }
    const isPackets = this.#view === "packets";
    this.#legend = new FlowLegend(MOST_FLOWS);
    this.#legend.update(this.#session?.frame?.variants[0]?.flows ?? []);
    const view = segmented("Charts", [{ value: "charts", label: "Charts" }, { value: "packets", label: "Packets" }], this.#view, ({ value }) => this.#chooseView(value));
    const span = segmented("Time span", SPANS, String(this.#span), (chosen) => {
      this.#span = chosen.span;
      this.#charts?.follow(this.#span);
    });
    this.#viewTools.hidden = false;
    const shown = `${speedInWords(PACKET_SPEED)} and slower`;
    const speed = this.#isSlowed ? `The speed was lowered to ${speedInWords(SLOWED)}: packets are shown at ${shown}.` : `Shown at ${shown}.`;
    this.#viewTools.replaceChildren(view, isPackets ? h("p", { class: "hint" }, `Each square is a packet, each color a flow, and low squares are small packets. The next packet to leave is at the right of the lowest row; rows continue upward, back and forth. Pause and step to follow single packets. ${speed}`) : span);
    const charts = h("div", { class: "chart-grid" }, ...(this.#charts?.frames ?? []).map((frame) => frame.element));
    this.#stage.replaceChildren(isPackets ? h("div", { class: "packet-grid" }, h("div", {}, this.#legend.element), ...this.#packets.map((one) => one.element)) : charts);
  }

  #chooseView(view: View): void {
    this.#view = view;
    this.#isSlowed = view === "packets" && (this.#play.speed === null || this.#play.speed > PACKET_SPEED);
    if (this.#isSlowed) {
      this.#transport.setSpeed(SLOWED);
      this.#setSpeed(SLOWED);
      announce(`The speed was lowered to ${speedInWords(SLOWED)}.`);
    }
    this.#showView();
  }

  #setSpeed(speed: number | null): void {
    this.#set({ ...this.#play, speed });
    if (this.#session && !this.#session.isOver && this.#host === SIM) this.#control({ do: "speed", value: speed });
  }

  #control(control: Control): void {
    this.#session?.control(control).then(
      () => this.#complain(""),
      (error: unknown) => this.#complain(messageOf(error)),
    );
  }

  // Events of the session.

  onAbout(about: About): void {
    this.#changes.setAbout(about);
    this.#transport.setTime(0, about.duration);
    const listened = listenedGroup(about);
    if (!listened || !this.#charts || this.#calls) return;
    this.#calls = new CallBoard(listened, this.#labels, this.#charts.looks);
    this.#callPlace.replaceChildren(this.#calls.element);
    this.#charts.addCalls(listened);
    this.#showView();
  }

  onFrame(frame: Frame): void {
    this.#transport.setTime(frame.t, this.#session?.state?.duration ?? this.#session?.about?.duration ?? 0);
    this.#changes.setFrame(frame);
    this.#now?.setFrame(frame);
    this.#calls?.setFrame(frame);
    if (this.#view === "packets") {
      this.#legend.update(frame.variants[0]?.flows ?? []);
      frame.variants.forEach(({ gauges }, at) => this.#packets[at]?.setState(frame.t, gauges));
    } else {
      this.#charts?.update();
    }
  }

  onPackets({ queue, variants }: Packets): void {
    queue?.forEach((waiting, at) => this.#packets[at]?.reset(waiting));
    variants.forEach((events, at) => this.#packets[at]?.apply(events));
  }

  onState(state: SessionState): void {
    this.#transport.setState(state, false, this.#host === SIM);
    this.#transport.setTime(state.t, state.duration);
    this.#changes.setEnabled(this.#host === SIM && (state.state === "running" || state.state === "paused"));
    if (state.state === "running") announce("Running.");
    if (state.state === "paused") announce(`Paused at ${Math.round(state.t * 1000) / 1000} seconds.`);
    this.#complain(troubleIn(state));
    this.#charts?.update();
  }

  onNote(note: Note): void {
    announce(note.text);
    this.#charts?.update();
  }

  onDone(done: Done): void {
    announce(`Done. ${done.verdict}`);
    // The verdict itself mentions changes; elsewhere the kernel has a part in the packets.
    const isRepeatable = !done.changed && this.#host === SIM;
    const remark = isRepeatable ? `One run. The same scenario and seed give the same packets anywhere: fingerprint ${done.fingerprint}.` : "One run.";
    const report = h("p", { class: "verdict-links" });
    if (this.#session) void this.#linkReport(this.#session, report);
    const twins = equalPlaces(done.fingerprints ?? []).map((group) => h("p", { class: "hint" }, `The same packets under ${group.map((at) => this.#labels[at] ?? "").join(" and ")}: their curves coincide.`));
    this.#verdict.replaceChildren(h("p", { class: "sentence" }, done.verdict), ...twins, h("p", { class: "hint" }, remark), report);
    this.#verdict.hidden = false;
    this.#charts?.update();
    const link = this.#session?.about?.link;
    if (!done.summary || !done.measured_s || link === undefined) return;
    const result = readSummary(done.summary, this.#labels);
    this.#now?.setResult(result, link, ...done.measured_s);
    this.#calls?.setResult(result);
  }

  async #linkReport(session: Session, place: HTMLElement): Promise<void> {
    try {
      const href = await this.#context.api.reportAddress(session.id);
      place.replaceChildren(h("a", { href, target: "_blank", rel: "noopener", class: "button" }, "Open the report"));
    } catch {
      // A run that was stopped before measuring began has no report.
    }
  }

  onBreak(isBroken: boolean, isFinal: boolean): void {
    if (this.#session?.isOver) return;
    if (!isBroken) this.#complain("");
    else this.#complain(isFinal ? "The server has ended this run." : "Lost the connection to gq serve; reconnecting…");
  }

  // Exports.

  #saveMenu(): HTMLElement {
    const complain = (error: unknown): void => this.#complain(messageOf(error));
    return menu("Save", "Save: scenario, results, link", [
      { label: "Scenario, TOML", run: () => this.#saveScenario().catch(complain) },
      { label: "Results, JSON", run: () => this.#saveSummary().catch(complain) },
      { label: "Copy the link", run: () => void this.#copyLink() },
    ]);
  }

  /** The scenario of the run, or of the form before the first one. */
  async #saveScenario(): Promise<void> {
    const session = this.#session;
    const text = session ? await this.#context.api.sessionText(session.id, "scenario.toml", this.#labels.length === 1 ? 0 : undefined) : fileToml(this.#play);
    download("playground.toml", "application/toml", text);
  }

  async #saveSummary(): Promise<void> {
    const session = this.#session;
    if (!session?.done) throw new Error("Results are available when a run is done.");
    download("playground.json", "application/json", await this.#context.api.sessionText(session.id, "summary.json"));
  }

  async #copyLink(): Promise<void> {
    const packed = await pack(this.#play);
    history.replaceState(null, "", `#/play?s=${packed}`);
    try {
      await navigator.clipboard.writeText(location.href);
      announce("The link is copied.");
    } catch {
      announce("The link is in the address bar.");
    }
  }
}

/** The settings without a name that other settings have been given. */
function withoutOldName(play: Play, before: Play): Play {
  const isSame = play.scenario === before.scenario && play.variants === before.variants;
  if (isSame || play.scenario.form === "text") return play;
  const { name: _name, ...scenario } = play.scenario;
  return { ...play, scenario };
}

/** Warning for a state, if any. */
function troubleIn({ state, message }: SessionState): string {
  const said = message ?? "";
  if (state === "queued") return said === "" ? "Too many simulations are running; this one is queued." : said;
  if (state === "failed") return said === "" ? "The run failed." : said;
  return state === "stopped" ? said : "";
}

function welcome(onChoose: (experiment: Experiment) => void): HTMLElement {
  return h(
    "div",
    { class: "welcome" },
    h("p", { class: "sentence" }, "See how queues change a line: choose the line, the traffic and the queue algorithms, then run them side by side with the same packets."),
    h("p", { class: "hint" }, "While it runs, halve the rate, add flows or change a parameter for all of them at once. A scenario file or a trace of a link can be dropped anywhere on this page."),
    h("h2", {}, "Or start with an experiment"),
    experimentCards(onChoose),
  );
}
