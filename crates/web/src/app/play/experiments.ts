// Experiments that run with one click; each shows one effect of queues.

import { h } from "../../dom.ts";
import { LINES, type Play, type Settings, START, type TrafficSettings, type Variant } from "./model.ts";

/** One experiment: an effect and the settings that show it. */
export interface Experiment {
  readonly id: string;
  readonly title: string;
  /** Explanation of what to observe. */
  readonly about: string;
  readonly play: Play;
}

/** Settings on one of the usual lines. */
function on(line: string, traffic: readonly TrafficSettings[], queues: readonly Variant[], speed: number, duration = "55 s"): Play {
  const link = LINES.find(({ id }) => id === line)?.link;
  if (START.scenario.form !== "fields" || !link) return START;
  return { ...START, scenario: { ...START.scenario, link, traffic, duration }, variants: queues, speed };
}

function queue(kind: string, settings: Variant["settings"] = {}): Variant {
  return { kind, settings };
}

function bulk(flows: number, settings: Settings = {}): TrafficSettings {
  return { kind: "bulk", flows, settings: { cc: "cubic", ...settings } };
}

const CALL: TrafficSettings = { kind: "voip", flows: 1, settings: {} };
const PING: TrafficSettings = { kind: "echo", flows: 1, settings: {} };

/** Experiments before their runs have their titles. */
const UNNAMED: readonly Experiment[] = [
  {
    id: "bloat",
    title: "A call alongside downloads",
    about: "Four downloads fill a DSL line, and a call shares it. The plain queue makes the call wait as long as the downloads; look at what the call gets.",
    play: on("dsl", [bulk(4), CALL], [queue("tail-drop"), queue("codel"), queue("fq-codel")], 5),
  },
  {
    id: "four",
    title: "Four ways to hold a queue down",
    about: "CoDel watches the shortest wait, PIE steers a probability, GSP spaces its drops. Halve the rate during the run and see which one finds the new balance first.",
    play: on("dsl", [bulk(8)], [queue("tail-drop"), queue("codel"), queue("pie"), queue("gsp")], 5),
  },
  {
    id: "share",
    title: "Who gets how much",
    about: "BBR against CUBIC on one line. Look at each flow: a queue per flow shares equally, whichever control sends.",
    play: on("uplink", [bulk(2), bulk(2, { cc: "bbr" })], [queue("tail-drop"), queue("codel"), queue("fq-codel")], 10, "85 s"),
  },
  {
    id: "phone",
    title: "A phone's link",
    about: "The rate changes from moment to moment, by a synthetic trace of a cellular link. What waits in a buffer meant for the best moments?",
    play: on("lte", [bulk(2), CALL, PING], [queue("tail-drop"), queue("codel"), queue("pie"), queue("fq-codel")], 5, "30 s"),
  },
  {
    id: "marks",
    title: "Marks instead of drops",
    about: "The same algorithms, once dropping and once marking; all senders use ECN. They slow down in both cases; with marks nothing has to be retransmitted.",
    play: on("dsl", [bulk(4, { ecn: true })], [queue("codel"), queue("codel", { ecn: true }), queue("pie"), queue("pie", { ecn: true })], 5),
  },
  {
    id: "far",
    title: "Over a satellite",
    about: "600 ms there and back: a sender learns late that it is too fast. A buffer of one round trip is large, and algorithms tuned for cities cost throughput.",
    play: on("satellite", [bulk(4)], [queue("tail-drop"), queue("codel"), queue("codel", { target: "30 ms", interval: "700 ms" })], 10, "145 s"),
  },
];

export const EXPERIMENTS: readonly Experiment[] = UNNAMED.map((experiment) => ({ ...experiment, play: { ...experiment.play, scenario: { ...experiment.play.scenario, name: experiment.title } } }));

/** The cards of all experiments. */
export function experimentCards(onChoose: (experiment: Experiment) => void): HTMLElement {
  return h(
    "ul",
    { class: "bare experiments" },
    ...EXPERIMENTS.map((experiment) =>
      h("li", {}, h("button", { type: "button", class: "experiment", id: `experiment-${experiment.id}`, onclick: () => onChoose(experiment) }, h("span", { class: "experiment-title" }, experiment.title), h("span", { class: "experiment-about" }, experiment.about))),
    ),
  );
}
