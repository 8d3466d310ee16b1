// Protocol between `gq serve` and its page. All quantities are SI, times count from the start of
// the run.

import type { Json } from "../report/data.ts";

/** Why a request was refused; `line` and `column` point into the text that was sent. */
export interface Refusal {
  readonly message: string;
  readonly field?: string;
  readonly line?: number;
  readonly column?: number;
}

/** A trace of a link, recorded or synthetic, that a scenario may name as its rate. */
export interface Trace {
  readonly id: string;
  readonly name: string;
  readonly mean_rate_bit_s: number;
  readonly seconds: number;
}

/** The first thing a page asks for. */
export interface Hello {
  readonly version: string;
  /** Needed for everything that changes something; absent where a cookie holds it. */
  readonly token?: string;
  readonly limits: { readonly sessions?: number; readonly seconds?: number; readonly flows?: number; readonly upload_bytes?: number };
  readonly presets: readonly { readonly id: string; readonly title: string; readonly scenario_toml: string }[];
  readonly traces?: readonly Trace[];
  readonly bridge?: boolean;
  /** Where scenarios can run; `missing` says why one cannot be had. */
  readonly hosts?: readonly { readonly name: string; readonly missing: string | null }[];
}

/** A parameter of an algorithm, a congestion control or a kind of traffic. */
export interface Parameter {
  readonly key: string;
  /** `time`, `share`, `number`, `a | b | c`, `true or false` and the like. */
  readonly unit: string;
  readonly default: string | number | boolean | null;
  readonly min?: string | number | null;
  readonly max?: string | number | null;
  readonly about: string;
  /** Whether it has no default, so that it must be given. */
  readonly required?: boolean;
  /** A value to start from. */
  readonly example?: Value | null;
}

/** Something a scenario can name by its kind. */
export interface Kind {
  readonly kind: string;
  /** Names that other programs have for it. */
  readonly aliases?: readonly string[];
  readonly title?: string;
  readonly summary: string;
  readonly parameters?: readonly Parameter[];
  /** Of queues: whether it can mark (ECN). */
  readonly marks?: boolean;
  /** Of traffic: whether most lines carry it. */
  readonly usual?: boolean;
}

export interface Kinds {
  readonly aqm: readonly Kind[];
  readonly cc: readonly Kind[];
  readonly traffic: readonly Kind[];
}

/** A value of a queue's table. */
export type Value = string | number | boolean | { readonly [key: string]: Value };

/** A queue's table as in a scenario. */
export interface Queue {
  readonly kind: string;
  readonly [key: string]: Value;
}

export interface NewSession {
  readonly scenario_toml: string;
  readonly variants: readonly { readonly label: string; readonly queue: Queue }[];
  /** The link that gets the variants' queues; the first one with a buffer when it is missing. */
  readonly link?: string;
  readonly seed: number;
  /** The host; the simulator unless given. Others take no speed. */
  readonly on?: string;
  /** Simulated seconds per second; `null` for unlimited speed. */
  readonly speed: number | null;
  readonly paused: boolean;
}

/** Event `about`: what a session is. */
export interface About {
  readonly link: string;
  readonly links: readonly string[];
  readonly groups: readonly { readonly name: string; readonly kind: string; readonly flows: number }[];
  readonly duration: number;
  readonly warmup: number;
  readonly variants: readonly { readonly label: string; readonly kind: string }[];
}

/** What a group got; `call` is what its calls or games got in the latest complete second of simulated time, absent without any. */
export interface GroupFrame {
  readonly name: string;
  readonly goodput_bit_s: number;
  readonly call?: CallFigures | null;
}

/** Means over the calls of a group; `mos` is that of the latest 8 s, `null` for games. */
export interface CallFigures {
  readonly mos: number | null;
  /** Share of the windows of 8 s that were bad; known at the end. */
  readonly bad_ratio?: number;
  /** One-way. */
  readonly delay_s: { readonly p50: number; readonly p95: number };
  readonly lost_ratio: number;
}

/** What one variant's link and flows did since the frame before; drops, marks and arrivals count
 *  from the start. */
export interface VariantFrame {
  readonly link: {
    readonly rate_bit_s: number;
    readonly queue_packets: number;
    readonly queue_bytes: number;
    readonly sojourn_s: { readonly mean: number; readonly p95: number; readonly max: number } | null;
    readonly throughput_bit_s: number;
    readonly utilization: number | null;
    readonly drops: { readonly overflow: number; readonly early: number };
    readonly marks: number;
    readonly arrived: number;
  };
  readonly groups: readonly GroupFrame[];
  readonly flows: readonly { readonly group: string; readonly index: number; readonly goodput_bit_s: number; readonly cwnd_packets?: number; readonly rtt_s?: number }[];
  readonly gauges: { readonly [name: string]: number | null };
}

/** Event `frame`. */
export interface Frame {
  readonly t: number;
  readonly dt: number;
  readonly variants: readonly VariantFrame[];
}

/** One thing that happened to one packet. */
export interface PacketEvent {
  readonly t: number;
  readonly what: "arrive" | "depart" | "drop" | "mark";
  readonly flow: number;
  readonly size: number;
  readonly id: number;
  readonly why?: string;
  /** The reason in words. */
  readonly text?: string;
}

/** A packet that waits. */
export type Waiting = Pick<PacketEvent, "t" | "flow" | "size" | "id">;

/** Event `packets`, at slow speed only. */
export interface Packets {
  readonly variants: readonly (readonly PacketEvent[])[];
  /** With the first such event: what waits before them, the head first. */
  readonly queue?: readonly (readonly Waiting[])[];
}

/** Event `state`. */
export interface SessionState {
  readonly state: "queued" | "running" | "paused" | "done" | "stopped" | "failed";
  readonly t: number;
  readonly duration: number;
  readonly speed: number | null;
  /** Whether anything was changed during the run. */
  readonly changed: boolean;
  readonly message?: string | null;
}

/** Event `done`. */
export interface Done {
  readonly verdict: string;
  readonly fingerprint: string;
  readonly fingerprints?: readonly string[];
  readonly changed: boolean;
  /** From when to when was measured, in seconds. */
  readonly measured_s?: readonly [number, number];
  /** What `summary.json` will say. */
  readonly summary?: Readonly<Record<string, Json>> | null;
}

/** Event `note`: something was changed at `t`. */
export interface Note {
  readonly t: number;
  readonly text: string;
}

/** What can be asked of a session while it runs. */
export type Control =
  | { readonly do: "pause" | "play" | "stop" }
  | { readonly do: "speed"; readonly value: number | null }
  | { readonly do: "step"; readonly seconds: number }
  | { readonly do: "rate"; readonly link: string; readonly value: string }
  | { readonly do: "add_flows"; readonly group: string; readonly count: number }
  | { readonly do: "set"; readonly variant: number | null; readonly link: string; readonly key: string; readonly value: Value };

/** A setting that is probably not meant, by its dotted key, and the variants for which that is so. */
export interface Warning {
  readonly field: string;
  readonly message: string;
  readonly help: string;
  readonly points: readonly number[];
}

/** Answer of POST /api/check. */
export interface Checked {
  readonly warnings: readonly Warning[];
  readonly links: readonly string[];
  readonly groups: readonly string[];
}

/** One finished result. */
export interface Run {
  readonly id: string;
  readonly title: string;
  /** The folder's name, of results in folders. */
  readonly folder?: string;
  readonly created_s: number;
  readonly points: readonly string[];
  /** What came of it, in sentences. */
  readonly verdict?: string | null;
  readonly report: boolean;
}

export interface Runs {
  readonly runs: readonly Run[];
  readonly hint?: string;
}

/** One statement of a paper beside what came out here. */
export interface GalleryRow {
  readonly id: string;
  readonly place: string;
  readonly claim: string;
  readonly metric?: string;
  readonly expected?: string;
  readonly value?: string;
  readonly verdict: string;
  readonly grade?: string;
  readonly why?: string;
}

export interface GalleryFigure {
  readonly id: string;
  readonly title: string;
  readonly place: string;
  readonly svg: string;
}

export interface Paper {
  readonly id: string;
  readonly title: string;
  readonly summary: string;
  readonly citation: string;
  readonly figures: readonly GalleryFigure[];
  readonly rows: readonly GalleryRow[];
}

export interface Gallery {
  readonly papers: readonly Paper[];
  readonly hint?: string;
}

/** One direction of a running bridge. */
export interface Direction {
  readonly name: string;
  readonly aqm: string;
  readonly rate_bit_s: number;
  /** What can be changed, in the words that change it. */
  readonly settings?: { readonly aqm: string | null; readonly policy: string | null; readonly delay_s: number | null };
  /** The interface that it sends to. */
  readonly device?: string;
  readonly counters: { readonly [name: string]: number };
  readonly sojourn_s: { readonly mean: number; readonly p95: number; readonly max: number } | null;
  readonly throughput_bit_s: number;
  readonly gauges: { readonly [name: string]: number | null };
  readonly flows: readonly { readonly label: string; readonly throughput_bit_s: number; readonly backlog_bytes?: number }[];
}

/** Event `stats` of the bridge. */
export interface BridgeStats {
  readonly t: number;
  readonly directions: readonly Direction[];
}
