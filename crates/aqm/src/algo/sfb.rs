//! SFB (Stochastic Fair BLUE): a Bloom filter of BLUE probabilities that finds unresponsive flows
//! and limits them to a trickle.
//!
//! *Signal*: the number of waiting packets in the bins of a flow. Acts on arrival.
//!
//! *Law*: on each of 8 levels a salted hash maps a flow to one of 16 bins; each bin counts its
//! waiting packets and has a probability. At an arrival the probability of a bin falls by `d2` if
//! none of its packets wait, and rises by `d1` if `bin_size` or more do. The smallest of the 8
//! counts and the smallest of the 8 probabilities then decide: from `max` waiting packets on the
//! packet is dropped. At probability 1 the flow is unresponsive, and all such flows together pass
//! at `penalty_rate` packets per second with bursts of `penalty_burst`. Otherwise the packet is
//! signaled with probability `p`, and dropped even if ECN-capable with probability `2 (p - 1/2)`
//! if that is positive. Two flows rarely share all their bins; to end such a collision the salt is
//! renewed every `rehash`, and during the last `warmup` before that unresponsive flows raise the
//! probabilities of the next table, too.
//!
//! *Parameters*: see `KINDS`. The defaults are those of Linux. A `rehash` of zero never renews the
//! salt.
//!
//! *Deviations*: no freeze time, as in Linux; the BLUE of the authors has one. The next table
//! starts empty; in Linux it starts with what it held when it was last in use. It counts every
//! packet accepted during the warm-up, not only those of unresponsive flows, so that it knows the
//! true backlog when it takes over. The trickle is a plain token bucket; Linux empties its bucket
//! at each refusal. With `arithmetic = linux` the kind reproduces the SFB of Linux packet by packet
//! (the law is in [`linux`]): 16-bit probabilities, ticks of 1 ms, tables that keep their contents.
//!
//! *Limits*: packets must leave in the order in which they arrived. When unresponsive flows occupy
//! all bins of a level, every flow counts as unresponsive, so many such flows need other means. A
//! queue limit below about 16 `bin_size` packets is reached before many flows can be told apart.
//! Within a fair queue there is only one flow and nothing to tell apart.
//!
//! *Source*: Feng, Kandlur, Saha and Shin 2001; Linux sch_sfb for the defaults, the order of the
//! rules and marking.

pub mod linux;

use super::Algorithm;
use crate::aqm::{Aqm, Env, FlowHash, PacketView, QueueView, Reason, Verdict};
use crate::arithmetic::{ARITHMETIC, Arithmetic};
use crate::spec::{Family, Kind, KindSpec, LinkFacts, Param, ParamError, ParamValues, TypedParam, join};
use alloc::boxed::Box;
use goodqueue_base::settings;
use goodqueue_base::units::{Duration, Instant, Packets};
use linux::LinuxSfb;

const LEVELS: usize = 8;
const BITS: usize = 4;
const BINS: usize = 1 << BITS;

settings! {
    /// Settings of SFB; by default those of Linux.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct SfbParams {
        /// Waiting packets from which the probability of a bin rises.
        pub bin_size: u32 => BIN_SIZE,
        /// Waiting packets, in every bin of the flow, from which its packets are dropped.
        pub max: u32 => MAX,
        /// Step up of a probability.
        pub d1: f64 => D1,
        /// Step down of a probability.
        pub d2: f64 => D2,
        /// Packets per second that all unresponsive flows together may send.
        pub penalty_rate: f64 => PENALTY_RATE,
        /// Packets that unresponsive flows may send at once.
        pub penalty_burst: f64 => PENALTY_BURST = PENALTY_BURST.default as f64,
        /// Lifetime of a salt; zero for ever.
        pub rehash: Duration => REHASH,
        /// Time before its turn from which the next table is prepared.
        pub warmup: Duration => WARMUP,
    }
}

/// Hash with four bits per level. Numbered flows differ in a few low bits only, which the finaliser
/// of splitmix64 spreads.
#[inline]
fn spread(flow: FlowHash, salt: u64) -> u32 {
    let mut z = (u64::from(flow.0) ^ salt).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 32) as u32
}

/// The bin of each level that a hash names.
#[inline]
fn places(hash: u32) -> impl Iterator<Item = usize> {
    (0..LEVELS).map(move |level| level * BINS + (hash >> (BITS * level)) as usize % BINS)
}

/// Set in the word of a bin whose probability is above zero.
const RISEN: u32 = 1 << 31;
/// Set in a bin's word when the bin holds enough packets to need a closer look.
const MANY: u32 = 1 << 30;

/// Waiting packets and probabilities of all bins.
#[derive(Clone, Debug)]
struct Bins {
    /// Waiting packets, counted up from [`Table::empty`], and [`RISEN`].
    words: [u32; BINS * LEVELS],
    probabilities: [f64; BINS * LEVELS],
}

impl Bins {
    const ZERO: Self = Self { words: [0; BINS * LEVELS], probabilities: [0.0; BINS * LEVELS] };

    /// Gives all bins this word, and no probability.
    fn fill(&mut self, empty: u32) {
        self.words.fill(empty);
        self.probabilities.fill(0.0);
    }
}

/// All bins under one salt.
#[derive(Clone, Debug)]
struct Table {
    bins: Box<Bins>,
    salt: u64,
    /// Number of the first packet that this table counted.
    counts_from: u64,
    /// The word of a bin without packets: by so much below [`MANY`] as it may have packets before
    /// it has to be looked at.
    empty: u32,
}

/// The smallest count and the smallest probability among the bins of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Least {
    probability: f64,
    packets: u32,
}

impl Table {
    /// Empty, with bins that have to be looked at from `few` packets on.
    fn new(few: u32) -> Self {
        let empty = MANY - few.min(MANY);
        // Zeros take no room on the stack, of which a kernel has little; other values would.
        let mut bins = Box::new(Bins::ZERO);
        bins.fill(empty);
        Self { bins, salt: 0, counts_from: 0, empty }
    }

    /// Clears the table, to count packets from number `counts_from` on under another salt.
    fn renew(&mut self, salt: u64, counts_from: u64) {
        self.bins.fill(self.empty);
        self.salt = salt;
        self.counts_from = counts_from;
    }

    #[inline]
    fn hash(&self, flow: FlowHash) -> u32 {
        spread(flow, self.salt)
    }

    /// Counts one packet more. Returns true if a bin has to be looked at: one that already held
    /// many packets, or whose probability is above zero.
    #[inline]
    fn count(&mut self, hash: u32) -> bool {
        let words = &mut self.bins.words;
        let mut seen = 0;
        for bin in places(hash) {
            seen |= words[bin];
            words[bin] += 1;
        }
        seen & (RISEN | MANY) != 0
    }

    /// Waiting packets of the bin with this word.
    #[inline]
    fn packets(&self, word: u32) -> u32 {
        (word & !RISEN) - self.empty
    }

    /// Updates the probabilities of the bins for an arriving packet and returns the minima. The
    /// bins have `counted` packets too many: one if they count the arriving packet already.
    fn adapt(&mut self, hash: u32, params: &SfbParams, counted: u32) -> Least {
        let mut least = Least { probability: 1.0, packets: u32::MAX };
        for bin in places(hash) {
            let packets = self.packets(self.bins.words[bin]) - counted;
            let mut probability = self.bins.probabilities[bin];
            if packets == 0 {
                let lowered = probability - params.d2;
                probability = if lowered > 0.0 { lowered } else { 0.0 };
            } else if packets >= params.bin_size {
                let raised = probability + params.d1;
                probability = if raised < 1.0 { raised } else { 1.0 };
            }
            self.set(bin, probability);
            least.probability = if probability < least.probability { probability } else { least.probability };
            least.packets = least.packets.min(packets);
        }
        least
    }

    /// Gives a bin a probability.
    #[inline]
    fn set(&mut self, bin: usize, probability: f64) {
        self.bins.probabilities[bin] = probability;
        let word = &mut self.bins.words[bin];
        *word = *word & !RISEN | if probability > 0.0 { RISEN } else { 0 };
    }

    /// Counts one packet less.
    #[inline]
    fn take_off(&mut self, hash: u32) {
        let words = &mut self.bins.words;
        places(hash).for_each(|bin| words[bin] -= 1);
    }

    /// Records that packet `number` of `flow` leaves. Counts that `are_wrong` for want of reports
    /// must not fall below zero.
    fn leaves(&mut self, flow: FlowHash, number: u64, are_wrong: bool) {
        if number < self.counts_from {
            return;
        }
        let hash = self.hash(flow);
        if !are_wrong {
            self.take_off(hash);
            return;
        }
        for bin in places(hash) {
            let is_empty = self.packets(self.bins.words[bin]) == 0;
            self.bins.words[bin] -= u32::from(!is_empty);
        }
    }

    fn forget_packets(&mut self) {
        let empty = self.empty;
        self.bins.words.iter_mut().for_each(|word| *word = *word & RISEN | empty);
    }
}

/// State of SFB, one per queue.
#[derive(Clone, Debug)]
pub struct Sfb {
    params: SfbParams,
    /// The table in use and the next one.
    tables: [Table; 2],
    /// Whether the next table is being prepared.
    warming: bool,
    /// Time at which the salt in use was drawn; `MAX` before the first arrival.
    salted_at: Instant,
    /// Time from which an arrival has to prepare or swap the tables.
    turns_at: Instant,
    /// Time until which an arrival concerns the table in use and nothing else; `ZERO` for none.
    simple_until: Instant,
    /// Whether a departure concerns the table in use and nothing else.
    leaves_simply: bool,
    /// Packets that the trickle may let through now.
    tokens: f64,
    tokens_at: Instant,
    /// Number of the next packet to be accepted, and of the next to leave.
    accepted: u64,
    left: u64,
    /// Whether packets left without their flow being reported; counts are right again once the
    /// queue is empty.
    lost_count: bool,
    /// Decides instead when the arithmetic is that of Linux.
    linux: Option<Box<LinuxSfb>>,
}

impl Sfb {
    /// Creates an SFB with these settings, before its first packet.
    #[must_use]
    pub fn new(params: SfbParams) -> Self {
        let few = params.bin_size.min(params.max);
        Self {
            params,
            tables: [Table::new(few), Table::new(few)],
            warming: false,
            salted_at: Instant::MAX,
            turns_at: Instant::ZERO,
            simple_until: Instant::ZERO,
            leaves_simply: false,
            tokens: params.penalty_burst,
            tokens_at: Instant::ZERO,
            accepted: 0,
            left: 0,
            lost_count: false,
            linux: None,
        }
    }

    /// Creates the SFB of Linux with the nearest settings.
    #[must_use]
    pub fn linux(params: SfbParams) -> Self {
        Self { linux: Some(Box::new(LinuxSfb::new(&params))), ..Self::new(params) }
    }

    /// Starts and ends the preparation of the next table, which is due.
    #[cold]
    fn turn_tables(&mut self, env: &mut Env<'_>) {
        if self.salted_at == Instant::MAX {
            self.salted_at = env.now;
            self.tables[0].renew(env.rng.next_u64(), self.accepted);
        }
        let SfbParams { rehash, warmup, .. } = self.params;
        let lasts = rehash.saturating_sub(warmup);
        if !rehash.is_zero() && env.now > self.salted_at + lasts {
            if !self.warming {
                self.tables[1].renew(env.rng.next_u64(), self.accepted);
                self.warming = true;
            }
            if env.now > self.salted_at + rehash {
                self.tables.swap(0, 1);
                self.warming = false;
                self.salted_at = env.now;
            }
        }
        let span = if self.warming { rehash } else { lasts };
        // Right after the end of the span.
        self.turns_at = if rehash.is_zero() { Instant::MAX } else { self.salted_at + span + Duration::ns(1) };
        self.simple_until = if self.warming { Instant::ZERO } else { self.turns_at };
        self.note_departures();
    }

    /// Takes note of what departures concern.
    fn note_departures(&mut self) {
        let counts_all = self.left >= self.tables[0].counts_from && !self.lost_count;
        self.leaves_simply = counts_all && !self.warming && self.linux.is_none();
    }

    /// Whether one more packet of unresponsive flows may pass.
    fn trickles(&mut self, now: Instant) -> bool {
        let earned = now.since(self.tokens_at).as_secs_f64() * self.params.penalty_rate;
        self.tokens = (self.tokens + earned).min(self.params.penalty_burst);
        self.tokens_at = now;
        let may_pass = self.tokens >= 1.0;
        if may_pass {
            self.tokens -= 1.0;
        }
        may_pass
    }

    /// Judges an arriving packet by the table in use, which counts it if it stays.
    #[inline]
    fn admit(&mut self, env: &mut Env<'_>, packet: PacketView) -> Verdict {
        let hash = self.tables[0].hash(packet.flow);
        if self.tables[0].count(hash) {
            return self.judge(env, packet, hash);
        }
        // A probability of zero takes its draw, too.
        let _ = env.rng.next_u64();
        self.accepted += 1;
        Verdict::Pass
    }

    /// Does the work of [`Sfb::admit`] for a packet that is counted, and whose bins have to be
    /// looked at.
    fn judge(&mut self, env: &mut Env<'_>, packet: PacketView, hash: u32) -> Verdict {
        let least = self.tables[0].adapt(hash, &self.params, 1);
        let verdict = self.verdict(env, packet.flow, least);
        if verdict.keeps(packet.ecn) {
            self.accepted += 1;
        } else {
            self.tables[0].take_off(hash);
        }
        verdict
    }

    fn verdict(&mut self, env: &mut Env<'_>, flow: FlowHash, least: Least) -> Verdict {
        if least.packets >= self.params.max {
            return Verdict::Drop(Reason::Early);
        }
        let p = least.probability;
        if p >= 1.0 {
            if self.warming {
                let hash = self.tables[1].hash(flow);
                let _only_prepares = self.tables[1].adapt(hash, &self.params, 0);
            }
            return if self.trickles(env.now) { Verdict::Pass } else { Verdict::Drop(Reason::Penalty) };
        }
        let chance = env.rng.uniform();
        if chance >= p {
            Verdict::Pass
        } else if chance < 2.0 * (p - 0.5) {
            Verdict::Drop(Reason::Early)
        } else {
            Verdict::Signal(Reason::Early)
        }
    }

    /// An arrival that may concern more than the table in use.
    #[cold]
    fn arrive(&mut self, env: &mut Env<'_>, packet: PacketView) -> Verdict {
        if let Some(linux) = &mut self.linux {
            return linux.on_arrival(env, packet);
        }
        if env.now >= self.turns_at {
            self.turn_tables(env);
        }
        let verdict = self.admit(env, packet);
        if self.warming && verdict.keeps(packet.ecn) {
            let hash = self.tables[1].hash(packet.flow);
            let _only_prepares = self.tables[1].count(hash);
        }
        verdict
    }

    /// A departure that may concern more than the table in use.
    #[cold]
    fn depart(&mut self, flow: FlowHash) -> Verdict {
        if let Some(linux) = &mut self.linux {
            linux.on_departure();
            return Verdict::Pass;
        }
        let concerned = if self.warming { 2 } else { 1 };
        self.tables.iter_mut().take(concerned).for_each(|table| table.leaves(flow, self.left, self.lost_count));
        self.left += 1;
        self.note_departures();
        Verdict::Pass
    }

    /// The queue is empty, and so are its bins.
    #[cold]
    fn recount(&mut self) {
        self.tables.iter_mut().for_each(Table::forget_packets);
        self.lost_count = false;
        self.note_departures();
    }
}

impl Aqm for Sfb {
    #[inline]
    fn on_arrival(&mut self, env: &mut Env<'_>, packet: PacketView, _queue: QueueView) -> Verdict {
        if env.now >= self.simple_until { self.arrive(env, packet) } else { self.admit(env, packet) }
    }

    #[inline]
    fn on_departure(&mut self, _env: &mut Env<'_>, head: PacketView, _queue: QueueView) -> Verdict {
        if !self.leaves_simply {
            return self.depart(head.flow);
        }
        let hash = self.tables[0].hash(head.flow);
        self.tables[0].take_off(hash);
        self.left += 1;
        Verdict::Pass
    }

    fn on_evicted(&mut self, _env: &mut Env<'_>, count: Packets) {
        if let Some(linux) = &mut self.linux {
            (0..count.get()).for_each(|_| linux.on_departure());
            return;
        }
        self.left += count.get();
        self.lost_count = true;
        self.note_departures();
    }

    #[inline]
    fn on_emptied(&mut self, _now: Instant) {
        if self.lost_count {
            self.recount();
        }
    }

    fn reserve(&mut self, packets: usize) {
        if let Some(linux) = &mut self.linux {
            linux.reserve(packets);
        }
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let Bins { words, probabilities } = &*self.tables[0].bins;
        let probabilities = || probabilities.iter().copied();
        let figures = self.linux.as_ref().map_or_else(
            || {
                let probability = probabilities().fold(0.0, f64::max);
                let certain = probabilities().filter(|probability| *probability >= 1.0).count();
                let packets = words.iter().map(|&word| self.tables[0].packets(word)).max().unwrap_or(0);
                [probability, certain as f64, f64::from(packets), self.tokens]
            },
            |linux| linux.figures(),
        );
        let names = ["greatest_probability", "certain_bins", "fullest_bin_packets", "tokens"];
        names.into_iter().zip(figures).for_each(|(name, figure)| visit(name, figure));
    }
}

const fn count(name: &'static str, default: u32, range: (f64, f64), doc: &'static str) -> TypedParam<u32> {
    TypedParam::count(name, default).within(range.0, range.1).about(doc).from_source("Linux")
}

const fn step(name: &'static str, default: f64, doc: &'static str) -> TypedParam<f64> {
    TypedParam::ratio(name, default).within(1e-6, 1.0).about(doc).from_source("Linux")
}

const fn span(name: &'static str, default: Duration, doc: &'static str) -> TypedParam<Duration> {
    TypedParam::duration(name, default).within(0.0, 1e6).about(doc).from_source("Linux")
}

const BIN_SIZE: TypedParam<u32> = count("bin_size", 20, (1.0, 65535.0), "waiting packets from which a bin's probability rises");
const MAX: TypedParam<u32> =
    count("max", 25, (1.0, 65535.0), "waiting packets in all bins of a flow from which its packets are dropped");
const D1: TypedParam<f64> = step("d1", 33.0 / 65535.0, "step up of a bin's probability");
const D2: TypedParam<f64> = step("d2", 3.0 / 65535.0, "step down of a bin's probability, at an arrival that finds it empty");
const PENALTY_RATE: TypedParam<f64> = TypedParam::number("penalty_rate", 10.0)
    .within(0.0, 1e9)
    .about("packets per second that pass, over all flows that do not respond")
    .from_source("Linux");
const PENALTY_BURST: TypedParam<u32> = count("penalty_burst", 20, (0.0, 1e9), "packets of them that may pass at once");
const REHASH: TypedParam<Duration> = span("rehash", Duration::secs(600), "how long flows share bins by bad luck; 0: for ever");
const WARMUP: TypedParam<Duration> = span("warmup", Duration::secs(60), "how long the next table of bins is prepared");

const PARAMS: [Param; 9] = join(&[&SfbParams::PARAMS, &[ARITHMETIC.param]], &[]);

impl Algorithm for Sfb {
    const KINDS: &'static [KindSpec] = &[KindSpec::new(
        Kind {
            kind: "sfb",
            aliases: &[],
            title: "SFB",
            summary: "Finds flows that do not respond by a Bloom filter of BLUE probabilities, and holds them to a trickle",
            params: &PARAMS,
            source: "Feng, Kandlur, Saha and Shin 2001; Linux sch_sfb",
        },
        Family::Blue,
        "waiting packets of a flow's bins, on arrival",
    )
    .with_queue_bytes(4608)];

    fn build(given: &ParamValues<'_>, _link: &LinkFacts) -> Result<Self, ParamError> {
        let params = SfbParams { penalty_burst: f64::from(PENALTY_BURST.read(given)), ..SfbParams::read(given) };
        let SfbParams { bin_size, max, rehash, warmup, .. } = params;
        // Else no probability ever rises.
        MAX.at_least(max, &BIN_SIZE, bin_size)?;
        if !rehash.is_zero() {
            WARMUP.at_most(warmup, &REHASH, rehash)?;
        }
        if ARITHMETIC.read(given) == Arithmetic::Linux {
            return Ok(Self::linux(params));
        }
        Ok(Self::new(params))
    }
}

#[cfg(test)]
mod tests;
