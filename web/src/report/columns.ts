// The columns of the tables: what is shown of a point, in which unit, and which way is better.

import type { Quantity } from "../units.ts";
import type { Figure, Point } from "./data.ts";

/** One column of figures. */
export interface FigureColumn {
  readonly key: string;
  readonly label: string;
  /** For the tooltip of the header. */
  readonly meaning: string;
  readonly quantity: Quantity;
  readonly better?: "higher" | "lower";
  /** Digits after the point, when the usual number would hide what matters. */
  readonly decimals?: number;
  /** Shown at once, or only with all columns. */
  readonly isMain: boolean;
}

/** A column of the table of links. */
export interface LinkColumn extends FigureColumn {
  readonly figure: (point: Point, link: string) => Figure | undefined;
}

/** A column of the table of traffic. */
export interface GroupColumn extends FigureColumn {
  readonly figure: (point: Point, group: string) => Figure | undefined;
}

const ofLink =
  (...path: string[]) =>
  (point: Point, link: string): Figure | undefined =>
    point.figure("links", link, ...path);

const ofGroup =
  (...path: string[]) =>
  (point: Point, group: string): Figure | undefined =>
    point.figure("groups", group, ...path);

/** Sizes of transfers that have completion times of their own, as the summary names them and in words. */
const SIZES: readonly (readonly [string, string])[] = [
  ["under_10_kB", "under 10 kB"],
  ["from_10_kB", "10 to 100 kB"],
  ["from_100_kB", "100 kB to 1 MB"],
  ["from_1_MB", "1 to 10 MB"],
  ["from_10_MB", "10 MB and more"],
];

export const LINK_COLUMNS: readonly LinkColumn[] = [
  { key: "utilization", label: "Utilisation", meaning: "Bits sent over bits that could have been sent", quantity: "ratio", better: "higher", decimals: 2, isMain: true, figure: ofLink("utilization") },
  { key: "sojourn_mean", label: "Sojourn mean", meaning: "Mean time packets spent in the queue", quantity: "time", better: "lower", isMain: true, figure: ofLink("sojourn_s", "mean") },
  { key: "sojourn_p25", label: "p25", meaning: "A quarter of the packets waited no longer", quantity: "time", better: "lower", isMain: false, figure: ofLink("sojourn_s", "p25") },
  { key: "sojourn_p50", label: "p50", meaning: "Half of the packets waited no longer", quantity: "time", better: "lower", isMain: true, figure: ofLink("sojourn_s", "p50") },
  { key: "sojourn_p75", label: "p75", meaning: "Three quarters of the packets waited no longer", quantity: "time", better: "lower", isMain: false, figure: ofLink("sojourn_s", "p75") },
  { key: "sojourn_p95", label: "p95", meaning: "95 % of the packets waited no longer", quantity: "time", better: "lower", isMain: true, figure: ofLink("sojourn_s", "p95") },
  { key: "sojourn_p99", label: "p99", meaning: "99 % of the packets waited no longer", quantity: "time", better: "lower", isMain: true, figure: ofLink("sojourn_s", "p99") },
  { key: "sojourn_max", label: "Max", meaning: "The longest wait", quantity: "time", better: "lower", isMain: false, figure: ofLink("sojourn_s", "max") },
  { key: "queue_packets", label: "Queue", meaning: "Time average of the packets waiting", quantity: "packets", better: "lower", isMain: true, figure: ofLink("queue_packets") },
  { key: "queue_bytes", label: "Queue", meaning: "Time average of the bytes waiting", quantity: "bytes", better: "lower", isMain: false, figure: ofLink("queue_bytes") },
  { key: "throughput", label: "Throughput", meaning: "Everything the link sent, per second", quantity: "rate", better: "higher", isMain: false, figure: ofLink("throughput_bit_s") },
  { key: "drop_ratio", label: "Dropped", meaning: "Packets dropped over packets arrived", quantity: "ratio", better: "lower", isMain: true, figure: ofLink("drop_ratio") },
  { key: "mark_ratio", label: "Marked", meaning: "Packets newly marked over packets arrived that can be marked", quantity: "ratio", isMain: true, figure: ofLink("mark_ratio") },
  { key: "drops_overflow", label: "Overflow drops", meaning: "Packets dropped because the buffer was full", quantity: "number", isMain: false, figure: ofLink("drops", "overflow") },
  { key: "drops_early", label: "Early drops", meaning: "Packets dropped by the algorithm", quantity: "number", isMain: false, figure: ofLink("drops", "early") },
  { key: "signal_ratio", label: "Signalled", meaning: "Packets marked or dropped by the algorithm over packets arrived", quantity: "ratio", isMain: false, figure: ofLink("signal_ratio") },
  { key: "marked", label: "Marked packets", meaning: "Packets newly marked", quantity: "number", isMain: false, figure: ofLink("marked_packets") },
  { key: "arrived", label: "Arrived", meaning: "Packets that arrived at the queue, dropped ones included", quantity: "number", isMain: false, figure: ofLink("arrived_packets") },
  { key: "departed", label: "Departed", meaning: "Packets that left the queue for the wire", quantity: "number", isMain: false, figure: ofLink("departed_packets") },
  { key: "loss_events", label: "Loss events", meaning: "Times at which packets were dropped; drops within a round trip are one", quantity: "number", isMain: false, figure: ofLink("loss_events") },
  { key: "loss_synchronization", label: "Lose together", meaning: "Mean share of the active flows that lost something in a loss event", quantity: "ratio", better: "lower", isMain: false, figure: ofLink("loss_synchronization") },
  { key: "settle_sojourn", label: "Settles in", meaning: "Mean time after a change of rate until the waiting times have settled", quantity: "time", better: "lower", isMain: false, figure: ofLink("settle", "sojourn_s") },
  { key: "settle_utilization", label: "Full again in", meaning: "Mean time after a change of rate until the link is as used as later", quantity: "time", better: "lower", isMain: false, figure: ofLink("settle", "utilization_s") },
  { key: "settle_peak", label: "Peak after change", meaning: "The longest wait after a change of rate", quantity: "time", better: "lower", isMain: false, figure: ofLink("settle", "peak_sojourn_s") },
  { key: "jain", label: "Jain’s index", meaning: "Fairness of the flows’ goodput; 1 is equal shares", quantity: "number", better: "higher", decimals: 3, isMain: true, figure: (point) => point.figure("jain", "goodput") },
  { key: "jain_drop_share", label: "Jain, drops", meaning: "Fairness of the flows’ drops in proportion to what they sent; 1 is in proportion", quantity: "number", better: "higher", decimals: 3, isMain: false, figure: (point) => point.figure("jain", "drop_share") },
];

export const GROUP_COLUMNS: readonly GroupColumn[] = [
  { key: "goodput", label: "Goodput, all flows", meaning: "Payload delivered per second, all flows of the group together", quantity: "rate", better: "higher", isMain: true, figure: ofGroup("goodput_bit_s") },
  { key: "rtt_mean", label: "RTT mean", meaning: "Mean round-trip time, as the senders measure it", quantity: "time", better: "lower", isMain: true, figure: ofGroup("rtt_s", "mean") },
  { key: "rtt_p50", label: "RTT p50", meaning: "Half of the round trips took no longer", quantity: "time", better: "lower", isMain: false, figure: ofGroup("rtt_s", "p50") },
  { key: "rtt_p95", label: "RTT p95", meaning: "95 % of the round trips took no longer", quantity: "time", better: "lower", isMain: true, figure: ofGroup("rtt_s", "p95") },
  { key: "rtt_p99", label: "RTT p99", meaning: "99 % of the round trips took no longer", quantity: "time", better: "lower", isMain: false, figure: ofGroup("rtt_s", "p99") },
  { key: "loss", label: "Lost", meaning: "Packets lost over packets sent", quantity: "ratio", better: "lower", isMain: true, figure: ofGroup("loss_ratio") },
  { key: "loss_run", label: "Loss run", meaning: "Mean number of consecutive packets lost together", quantity: "number", decimals: 2, isMain: false, figure: ofGroup("loss_run_packets", "mean") },
  { key: "mark_ratio", label: "Marked", meaning: "Packets newly marked over packets sent", quantity: "ratio", isMain: true, figure: ofGroup("mark_ratio") },
  { key: "retransmitted", label: "Retransmitted", meaning: "Retransmissions over packets sent", quantity: "ratio", better: "lower", isMain: false, figure: ofGroup("retransmitted_ratio") },
  { key: "timeouts", label: "Timeouts", meaning: "Retransmission timeouts of all flows of the group", quantity: "number", better: "lower", isMain: true, figure: ofGroup("timeouts") },
  { key: "sent", label: "Packets sent", meaning: "Packets sent, retransmissions included, by all flows of the group", quantity: "number", isMain: false, figure: ofGroup("sent_packets") },
  { key: "completed", label: "Completed", meaning: "Flows with limited data that finished, warm-up included", quantity: "number", isMain: true, figure: ofGroup("completed_flows") },
  { key: "completion_p50", label: "Completion p50", meaning: "Half of the transfers finished within this time", quantity: "time", better: "lower", isMain: true, figure: ofGroup("completion_s", "p50") },
  { key: "completion_p95", label: "Completion p95", meaning: "95 % of the transfers finished within this time", quantity: "time", better: "lower", isMain: true, figure: ofGroup("completion_s", "p95") },
  ...SIZES.flatMap(([key, words]): GroupColumn[] => [
    { key: `completion_${key}_p50`, label: `${words}, p50`, meaning: `Half of the transfers of ${words} ended within this time`, quantity: "time", better: "lower", isMain: false, figure: ofGroup("completion_by_size", key, "p50") },
    { key: `completion_${key}_p95`, label: `${words}, p95`, meaning: `95 % of the transfers of ${words} ended within this time`, quantity: "time", better: "lower", isMain: false, figure: ofGroup("completion_by_size", key, "p95") },
  ]),
  { key: "slowdown_p50", label: "Slowdown p50", meaning: "Median of the time of a transfer over the least that the empty path allows", quantity: "number", better: "lower", decimals: 2, isMain: false, figure: ofGroup("slowdown", "p50") },
  { key: "slowdown_p95", label: "Slowdown p95", meaning: "95 % of the transfers took no more than so many times the least that the empty path allows", quantity: "number", better: "lower", decimals: 2, isMain: false, figure: ofGroup("slowdown", "p95") },
  { key: "transfers_unfinished", label: "Unfinished", meaning: "Transfers that had not ended when the run did", quantity: "number", better: "lower", isMain: false, figure: ofGroup("transfers", "unfinished") },
  { key: "transfers_refused", label: "Refused", meaning: "Transfers that could not begin, since too many were open", quantity: "number", better: "lower", isMain: false, figure: ofGroup("transfers", "refused") },
  { key: "page_load_p50", label: "Page load p50", meaning: "Half of the pages were complete within this time", quantity: "time", better: "lower", isMain: true, figure: ofGroup("page_load_s", "p50") },
  { key: "page_load_p95", label: "Page load p95", meaning: "95 % of the pages were complete within this time", quantity: "time", better: "lower", isMain: true, figure: ofGroup("page_load_s", "p95") },
  { key: "first_byte_p50", label: "First byte p50", meaning: "Median time from a request to the first byte of its response", quantity: "time", better: "lower", isMain: false, figure: ofGroup("startup_s", "p50") },
  { key: "first_byte_p95", label: "First byte p95", meaning: "95 % of the requests saw the first byte of their response within this time", quantity: "time", better: "lower", isMain: false, figure: ofGroup("startup_s", "p95") },
  { key: "video_bitrate", label: "Video bitrate", meaning: "Mean bitrate of the segments received", quantity: "rate", better: "higher", isMain: true, figure: ofGroup("video", "bitrate_bit_s") },
  { key: "video_startup", label: "Video starts in", meaning: "Median time from a video’s start to its playing", quantity: "time", better: "lower", isMain: true, figure: ofGroup("video", "startup_s") },
  { key: "video_rebuffer", label: "Rebuffering", meaning: "Time spent waiting with an empty buffer over time since playing began", quantity: "ratio", better: "lower", isMain: true, figure: ofGroup("video", "rebuffer_ratio") },
  { key: "video_stalls", label: "Stalls", meaning: "How often a video’s buffer ran empty", quantity: "number", better: "lower", isMain: false, figure: ofGroup("video", "stalls") },
  { key: "video_switches", label: "Switches", meaning: "Changes of bitrate, mean over videos", quantity: "number", better: "lower", isMain: false, figure: ofGroup("video", "switches") },
  { key: "mos", label: "Call quality, MOS", meaning: "Mean opinion score of the E-model, from 1 to 4.5, mean over calls", quantity: "number", better: "higher", decimals: 2, isMain: true, figure: ofGroup("voip", "mos") },
  { key: "worst_mos", label: "Worst call, MOS", meaning: "Mean opinion score of the worst call", quantity: "number", better: "higher", decimals: 2, isMain: false, figure: ofGroup("voip", "worst_mos") },
  { key: "r_factor", label: "R factor", meaning: "Rating of the E-model, from 0 to 93.2, mean over calls", quantity: "number", better: "higher", decimals: 1, isMain: false, figure: ofGroup("voip", "r_factor") },
  { key: "one_way_p95", label: "One-way delay p95", meaning: "95 % of the UDP packets arrived within this time of being sent", quantity: "time", better: "lower", isMain: false, figure: ofGroup("one_way_delay_s", "p95") },
  { key: "jitter_p95", label: "Jitter p95", meaning: "Delay above the flow’s least that 95 % of its packets did not exceed", quantity: "time", better: "lower", isMain: false, figure: ofGroup("jitter_s", "p95") },
  { key: "late", label: "Late", meaning: "Packets that took longer than 150 ms over packets that arrived", quantity: "ratio", better: "lower", isMain: false, figure: ofGroup("late_ratio") },
];
