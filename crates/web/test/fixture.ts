// A made-up result in the shape that crates/lab embeds, for tests of the page. Never shipped, and
// no figure in it means anything.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Json } from "../src/report/data.ts";

/** Small generator with a seed, so that pictures are equal from run to run. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Profile {
  readonly kind: string;
  readonly label?: string;
  readonly set?: object;
  /** Queue in packets around which it swings, and how far. */
  readonly queue: number;
  readonly swing: number;
  readonly utilization: number;
  readonly gauge?: string;
  readonly spread: number;
}

const PROFILES: readonly Profile[] = [
  { kind: "tail-drop", queue: 92, swing: 26, utilization: 0.9998, spread: 0.28 },
  { kind: "red", queue: 21, swing: 14, utilization: 0.991, gauge: "drop_probability", spread: 0.16 },
  { kind: "codel", queue: 5.2, swing: 5, utilization: 0.978, gauge: "count", spread: 0.2 },
  { kind: "fq-codel", queue: 5.6, swing: 4, utilization: 0.984, gauge: "new_flows", spread: 0.01 },
  { kind: "pie", queue: 12.5, swing: 9, utilization: 0.987, gauge: "drop_probability", spread: 0.18 },
  { kind: "cp-aqm", queue: 6.4, swing: 4, utilization: 0.9931, gauge: "tokens", spread: 0.13 },
  { kind: "gsp-as", queue: 8.1, swing: 6, utilization: 0.9905, gauge: "threshold", spread: 0.22 },
  { kind: "cobalt", queue: 5.4, swing: 5, utilization: 0.9785, gauge: "drop_probability", spread: 0.19 },
];

const RATE = 10e6;
const PACKET_S = (1507 * 8) / RATE;
const SAMPLES = 1000;
const SECONDS = 60;

function round(value: number): number {
  return Number(value.toPrecision(6));
}

function figure(mean: number, random: () => number, n: number): object {
  return { mean: round(mean), ci95: n > 1 ? round(Math.abs(mean) * (0.004 + 0.03 * random())) : null, n };
}

/** A sawtooth with noise, between zero and twice the middle. */
function wander(times: readonly number[], middle: number, swing: number, period: number, random: () => number): number[] {
  const step = SECONDS / times.length;
  let phase = random();
  return times.map((time) => {
    phase += (step / period) * (0.7 + 0.6 * random());
    const start = time < 1.5 ? 2.2 - time * 0.8 : 1;
    return round(Math.max(0, middle * start + swing * (2 * (phase % 1) - 1) + swing * 0.35 * (random() - 0.5)));
  });
}

/** Choices for a fixture. */
export interface FixtureOptions {
  readonly flows?: number;
  readonly replications?: number;
  readonly points?: number;
  readonly scenario?: string;
  readonly sweep?: boolean;
  /** Numbers of flows at which each queue is compared; `points` counts the queues. */
  readonly swept?: readonly number[];
  /** All points use the link equally. */
  readonly level?: boolean;
  /** The second point is the first one again. */
  readonly twins?: boolean;
  /** Samples of each line. */
  readonly samples?: number;
}

/** What figures are, as crates/lab describes them; a test there writes the file and says when it is stale. */
export function metricsFixture(): Json {
  return JSON.parse(readFileSync(resolve(import.meta.dirname, "metrics.json"), "utf8")) as Json;
}

/** Data of schema `goodqueue.report/1`. */
export function fixture(options: FixtureOptions = {}): object {
  const { flows = 16, replications = 10, points = PROFILES.length, scenario = SCENARIO, sweep = false, swept = [], samples = SAMPLES, level = false, twins = false } = options;
  const times = Array.from({ length: samples }, (_, at) => round((at * SECONDS) / samples));
  const made = Array.from({ length: points }, (_, at): Profile => {
    const profile = PROFILES[sweep ? 5 : at % PROFILES.length] as Profile;
    if (level) return { ...profile, utilization: 0.9995 + 0.0001 * (at % 3) };
    return sweep ? { ...profile, label: `c_max = ${(1 + at * 0.1).toFixed(1)}`, queue: profile.queue * (1 + at * 0.4), utilization: 0.97 + 0.003 * at } : profile;
  });
  const profiles = swept.length === 0 ? made : swept.flatMap((flows) => made.map((profile): Profile => ({ ...profile, label: `${profile.kind}, flows=${flows}`, set: { "link.bottleneck.queue": profile.kind, "traffic.0.flows": flows }, queue: profile.queue * flows ** 0.3 })));
  const built = profiles.map((profile, at) => point(profile, flows, replications, twins && at === 1 ? 0 : at, times));
  if (twins) Object.assign(built[1] ?? {}, { summary: built[0]?.summary });
  const labels = profiles.map(({ label, kind }) => label ?? kind);
  const best = labels[Math.min(labels.length - 1, 3)] ?? null;
  return {
    schema: "goodqueue.report/1",
    title: "Home uplink, 16 CUBIC flows",
    sentence:
      "At 10 Mbit/s with 16 CUBIC flows, fq-codel and cp-aqm keep 95 % of the packets below 12 ms with the link more than 98 % busy; a plain FIFO of one BDP adds 141 ms at the 95th percentile and gains 0.7 % of throughput.",
    warnings: ["The buffer of codel (20 packets) is below one BDP: its overflow drops are the buffer’s, not the algorithm’s."],
    scenario_toml: scenario,
    command_line: "gq compare --rate 10mbit --rtt 100ms --buffer 1bdp --flows 16 --cc cubic --replications 10",
    seed: "18446744073709551615",
    provenance: [["processor", "a made-up one"]],
    kinds: profiles.slice(0, 3).map(({ kind }) => ({ kind, summary: `What ${kind} does, in a sentence.`, source: "A source, §1" })),
    metrics: metricsFixture(),
    main_link: "bottleneck",
    measured_s: [10, 60],
    notes: [],
    summary: {
      schema: "goodqueue.summary/1",
      scenario: "home uplink",
      host: "sim",
      seed: 1,
      replications,
      headline: { text: "See the sentence.", best, not_significantly_different: labels.slice(5, 6), policy: "utilization at least 95 % of the best", outside_policy: labels.slice(0, 1) },
      provenance: { version: "0.1.0", commit: "0123456789abcdef", scenario_sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", fingerprint: "a94a8fe5ccb19ba6" },
      points: built.map(({ summary }) => summary),
    },
    axes: [times],
    points: built.map(({ report }) => report),
  };
}

function point(profile: Profile, flowCount: number, n: number, number: number, times: readonly number[]): { summary: object; report: object } {
  const random = generator(number * 977 + 11);
  const shares = Array.from({ length: flowCount }, () => 1 + profile.spread * (random() + random() + random() - 1.5) * 2);
  const total = shares.reduce((sum, share) => sum + share, 0);
  const goodputs = shares.map((share) => round((share / total) * RATE * profile.utilization * 0.955));
  const jain = goodputs.reduce((sum, x) => sum + x, 0) ** 2 / (flowCount * goodputs.reduce((sum, x) => sum + x * x, 0));
  const queue = wander(times, profile.queue, profile.swing, 2.4, random);
  const waits = [...queue].map((packets) => packets * PACKET_S).sort((a, b) => a - b);
  const at = (part: number): number => waits[Math.floor(part * (waits.length - 1))] ?? 0;
  const f = (mean: number): object => figure(mean, random, n);
  const summary = {
    set: profile.set ?? {},
    links: {
      bottleneck: {
        utilization: { mean: profile.utilization, ci95: n > 1 ? 0.0006 + 0.001 * random() : null, n },
        throughput_bit_s: f(RATE * profile.utilization),
        queue_packets: f(profile.queue),
        queue_bytes: f(profile.queue * 1500),
        sojourn_s: { mean: f(profile.queue * PACKET_S), p25: f(at(0.25)), p50: f(at(0.5)), p75: f(at(0.75)), p95: f(at(0.95)), p99: f(at(0.99)), max: f(at(1)) },
        drop_ratio: f(0.004 + 0.01 * random()),
        mark_ratio: f(0),
        drops: { overflow: f(profile.kind === "tail-drop" ? 420 : 0), early: f(profile.kind === "tail-drop" ? 0 : 380) },
        departed_packets: f(82_000),
      },
    },
    groups: { bulk: { flows: flowCount, goodput_bit_s: f(RATE * profile.utilization * 0.955), rtt_s: { mean: f(0.1 + profile.queue * PACKET_S), p95: f(0.1 + at(0.95)) }, loss_ratio: f(0.008) }, call: { flows: 1, loss_ratio: f(0.004) } },
    experience: {
      bulk: { activity: "bulk", goodput_bit_s: f(RATE * profile.utilization * 0.955), share_of_line: f(0.99) },
      call: { activity: "call", bad_ratio: f(profile.queue > 20 ? 0.14 : 0), mos: f(4.4 - profile.queue / 60), one_way_delay_s: { p50: f(0.05 + at(0.5)), p95: f(0.05 + at(0.95)), p99: f(0.05 + at(0.99)) }, loss_ratio: f(0.004) },
    },
    jain: { goodput: { mean: round(jain), ci95: n > 1 ? 0.004 : null, n } },
  };
  const sojourn = [...new Set(waits.map((wait) => round(wait)))];
  const series = [
    {
      subject: "link:bottleneck",
      axis: 0,
      samples_a_pair: 6,
      columns: [
        { name: "queue_packets", values: queue },
        { name: "sojourn_s", values: queue.map((packets) => (packets < 0.4 ? null : round(packets * PACKET_S))) },
        { name: "throughput_bit_s", values: queue.map((packets) => round(RATE * (packets < 0.5 ? 0.8 + 0.2 * random() : 1))) },
        { name: "drops", values: times.map((time) => Math.round(time * 7)) },
        { name: "marks", values: times.map(() => 0) },
        ...(profile.gauge === undefined ? [] : [{ name: `gauge:${profile.gauge}`, values: wander(times, profile.gauge === "drop_probability" ? 0.012 : 9, profile.gauge === "drop_probability" ? 0.006 : 6, 3, random) }]),
      ],
    },
    ...Array.from({ length: Math.min(flowCount, 16) }, (_, flow) => ({
      subject: `flow:bulk:${flow}`,
      axis: 0,
      samples_a_pair: 6,
      columns: [{ name: "cwnd_bytes", values: wander(times, 14_000, 6_000, 3 + flow / 4, random) }],
    })),
  ];
  const report = {
    label: profile.label ?? profile.kind,
    kind: profile.kind,
    flows: { groups: ["bulk"], group: shares.map(() => 0), index: shares.map((_, flow) => flow), goodput_bit_s: goodputs, ci95: goodputs.map((value) => (n > 1 ? round(value * 0.04) : null)), total: flowCount },
    cdfs: [{ link: "bottleneck", sojourn_s: sojourn, quantile: sojourn.map((_, rank) => round((rank + 1) / sojourn.length)) }],
    series,
  };
  return { summary, report };
}

const SCENARIO = `goodqueue = 1
name = "home uplink"
warmup = "10 s"
duration = "50 s"
replications = 10
seed = 1

[link.bottleneck]
rate = "10 Mbit/s"
delay = "50 ms"
buffer = "1 bdp"

[[traffic]]
kind = "bulk"
cc = "cubic"
flows = 16
start = "uniform 0 s .. 5 s"
`;

/** The page as crates/lab writes it. */
export function page(data: object): string {
  const template = readFileSync(resolve(import.meta.dirname, "../../lab/assets/report.html"), "utf8");
  const json = JSON.stringify(data).replace(/[<>&\u2028\u2029]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return template.replace("{{goodqueue:title}}", () => "Fixture").replace("{{goodqueue:data}}", () => json);
}
