//! SFB (stochastic fair BLUE): a Bloom filter of BLUE probabilities finds flows that do not respond, and holds them to a trickle.
//!
//! *Signal*: how many packets of a flow's bins wait. Acts on arrival.
//!
//! *Law*: a salted hash maps a flow to one of 16 bins on each of 8 levels; each bin counts its waiting packets and has a probability. At
//! an arrival a bin's probability falls by `d2` where nothing of it waits, and rises by `d1` where `bin_size` packets or more do. Then, with
//! the smallest of the 8 counts and probabilities: from `max` waiting packets on the packet is dropped; at probability 1
//! the flow does not respond, and passes at `penalty_rate` packets a second with bursts of `penalty_burst`; otherwise it is signalled with the
//! probability `p`, and dropped even if ECN-capable with probability `2 (p - 1/2)` where that is above zero. Two flows share
//! all their bins by bad luck only; to bound its time the salt is renewed every `rehash`, and during the last `warmup` of it
//! flows that do not respond raise the probabilities of the next table, too.
//!
//! *Parameters*: Linux's: `bin_size` 20 and `max` 25 packets, `d1` 0.001, `d2` 1/6000, `penalty_rate` 10 packets a second,
//! `penalty_burst` 20, `rehash` 600 s (0: never), `warmup` 60 s.
//!
//! *Departures*: no freeze time, as in Linux; the authors' BLUE has one. The next table begins empty, where Linux has it begin with what it held when it
//! was last in use. It counts every packet accepted during the warm-up, not only those of flows that do not respond, so that it knows the true
//! backlog when its turn comes. The trickle is a plain token bucket; Linux empties its bucket at each refusal. With `arithmetic = linux` it is
//! Linux's SFB, packet by packet ([`linux`] has its law): probabilities of 16 bits, ticks of 1 ms, tables that keep what they held.
//!
//! *Limits*: packets must leave in the order they came. With all bins of a level in use by flows that do not respond, everyone is one of them: many such
//! flows need other means. A queue limit below some 16 `bin_size` packets is hit before many flows are told apart. Inside a fair queue there is
//! nobody to tell apart.
//!
//! *Source*: Feng, Kandlur, Saha and Shin 2001; Linux sch_sfb for defaults, order of rules and marking.

pub mod linux;

use super::Algorithm;
use crate::arithmetic::{ARITHMETIC, Arithmetic};
use crate::aqm::{Aqm, Env, FlowHash, PacketView, QueueView, Reason, Verdict};
use crate::spec::{Default as ParamDefault, Given, KindSpec, LinkFacts, ParamError, ParamSpec, Unit, Value};
use alloc::boxed::Box;
use goodqueue_units::{Duration, Instant, Packets};
use linux::LinuxSfb;

const LEVELS: usize = 8;
const BITS: usize = 4;
const BINS: usize = 1 << BITS;

/// SFB's settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SfbParams {
    /// From so many waiting packets on a bin's probability rises.
    pub bin_size: u32,
    /// From so many on, in all its bins, a flow's packets are dropped.
    pub max: u32,
    /// Step up of a probability.
    pub d1: f64,
    /// Step down of a probability.
    pub d2: f64,
    /// Packets a second that all flows that do not respond may send together.
    pub penalty_rate: f64,
    /// Packets they may send at once.
    pub penalty_burst: f64,
    /// How long a salt lasts; zero: for ever.
    pub rehash: Duration,
    /// How long before its turn the next table is prepared.
    pub warmup: Duration,
}

impl Default for SfbParams {
    /// Linux's.
    fn default() -> Self {
        Self {
            bin_size: 20,
            max: 25,
            d1: 0.001,
            d2: 1.0 / 6000.0,
            penalty_rate: 10.0,
            penalty_burst: 20.0,
            rehash: Duration::secs(600),
            warmup: Duration::secs(60),
        }
    }
}

/// Four bits a level: numbered flows differ in a few low bits only, which the finaliser of splitmix64 spreads.
#[inline]
fn spread(flow: FlowHash, salt: u64) -> u32 {
    let mut z = (u64::from(flow.0) ^ salt).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 32) as u32
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Bin {
    probability: f64,
    packets: u32,
}

/// All bins under one salt.
#[derive(Clone, Debug)]
struct Table {
    bins: Box<[[Bin; BINS]; LEVELS]>,
    salt: u64,
    /// Number of the first packet it counted.
    counts_from: u64,
}

/// The least full of a flow's bins, and the least probability.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Least {
    probability: f64,
    packets: u32,
}

impl Table {
    fn new() -> Self {
        Self { bins: Box::new([[Bin::default(); BINS]; LEVELS]), salt: 0, counts_from: 0 }
    }

    /// Empties it, to count packets from number `counts_from` on under another salt.
    fn renew(&mut self, salt: u64, counts_from: u64) {
        *self.bins = [[Bin::default(); BINS]; LEVELS];
        self.salt = salt;
        self.counts_from = counts_from;
    }

    /// The flow's bins, one a level.
    #[inline]
    fn bins_of(&mut self, flow: FlowHash) -> impl Iterator<Item = &mut Bin> {
        let hash = spread(flow, self.salt) as usize;
        self.bins.iter_mut().enumerate().map(move |(level, bins)| &mut bins[(hash >> (BITS * level)) % BINS])
    }

    /// A packet of `flow` arrives: moves the probabilities of its bins and gives the least of them, and counts so many packets more.
    #[inline]
    fn meet(&mut self, flow: FlowHash, params: &SfbParams, more: u32) -> Least {
        let mut least = Least { probability: 1.0, packets: u32::MAX };
        for bin in self.bins_of(flow) {
            if bin.packets == 0 {
                let lowered = bin.probability - params.d2;
                bin.probability = if lowered > 0.0 { lowered } else { 0.0 };
            } else if bin.packets >= params.bin_size {
                let raised = bin.probability + params.d1;
                bin.probability = if raised < 1.0 { raised } else { 1.0 };
            }
            least.probability = if bin.probability < least.probability { bin.probability } else { least.probability };
            least.packets = least.packets.min(bin.packets);
            bin.packets += more;
        }
        least
    }

    #[inline]
    fn add(&mut self, flow: FlowHash) {
        self.bins_of(flow).for_each(|bin| bin.packets += 1);
    }

    /// The packet of `flow` that was just counted is dropped.
    fn withdraw(&mut self, flow: FlowHash) {
        self.bins_of(flow).for_each(|bin| bin.packets -= 1);
    }

    /// Packet `number` of `flow` leaves.
    #[inline]
    fn take(&mut self, flow: FlowHash, number: u64) {
        if number >= self.counts_from {
            self.bins_of(flow).for_each(|bin| bin.packets -= u32::from(bin.packets > 0));
        }
    }

    fn forget_packets(&mut self) {
        self.bins.iter_mut().flatten().for_each(|bin| bin.packets = 0);
    }
}

/// SFB's state: one a queue.
#[derive(Clone, Debug)]
pub struct Sfb {
    params: SfbParams,
    /// The table in use and the next one.
    tables: [Table; 2],
    /// Is the next table being prepared?
    warming: bool,
    /// When the salt in use was drawn; `MAX` before the first arrival.
    salted_at: Instant,
    /// Packets that the trickle may let through now.
    tokens: f64,
    tokens_at: Instant,
    /// Numbers of the next packet to be accepted and of the next to leave.
    accepted: u64,
    left: u64,
    /// Packets went without notice of their flows: counts are right again once the queue is empty.
    lost_count: bool,
    /// Who decides instead, in Linux's arithmetic.
    linux: Option<Box<LinuxSfb>>,
}

impl Sfb {
    /// SFB with these settings, awaiting its first packet.
    #[must_use]
    pub fn new(params: SfbParams) -> Self {
        Self {
            params,
            tables: [Table::new(), Table::new()],
            warming: false,
            salted_at: Instant::MAX,
            tokens: params.penalty_burst,
            tokens_at: Instant::ZERO,
            accepted: 0,
            left: 0,
            lost_count: false,
            linux: None,
        }
    }

    /// SFB with these settings as Linux would have them.
    #[must_use]
    pub fn linux(params: SfbParams) -> Self {
        Self { linux: Some(Box::new(LinuxSfb::new(&params))), ..Self::new(params) }
    }

    /// Begins and ends the preparation of the next table when it is time.
    #[inline]
    fn turn_tables(&mut self, env: &mut Env<'_>) {
        if self.salted_at == Instant::MAX {
            self.salted_at = env.now;
            self.tables[0].renew(env.rng.next_u64(), self.accepted);
        }
        let SfbParams { rehash, warmup, .. } = self.params;
        if rehash.is_zero() || env.now <= self.salted_at + rehash.saturating_sub(warmup) {
            return;
        }
        let is_over = env.now > self.salted_at + rehash;
        if !self.warming {
            self.tables[1].renew(env.rng.next_u64(), self.accepted);
            self.warming = true;
        }
        if is_over {
            self.tables.swap(0, 1);
            self.warming = false;
            self.salted_at = env.now;
        }
    }

    /// May one more packet of flows that do not respond pass?
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

    /// Judges an arriving packet, which counts as waiting in the table in use until it turns out to be dropped.
    #[inline]
    fn judge(&mut self, env: &mut Env<'_>, flow: FlowHash) -> Verdict {
        let least = self.tables[0].meet(flow, &self.params, 1);
        if least.packets >= self.params.max {
            return Verdict::Drop(Reason::Early);
        }
        let p = least.probability;
        if p >= 1.0 {
            if self.warming {
                let _only_prepares = self.tables[1].meet(flow, &self.params, 0);
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
}

impl Aqm for Sfb {
    #[inline]
    fn on_arrival(&mut self, env: &mut Env<'_>, packet: PacketView, _queue: QueueView) -> Verdict {
        if let Some(linux) = &mut self.linux {
            return linux.on_arrival(env, packet);
        }
        self.turn_tables(env);
        let verdict = self.judge(env, packet.flow);
        let is_kept = match verdict {
            Verdict::Pass => true,
            Verdict::Signal(_) => packet.ecn.is_capable(),
            _ => false,
        };
        if is_kept {
            if self.warming {
                self.tables[1].add(packet.flow);
            }
            self.accepted += 1;
        } else {
            self.tables[0].withdraw(packet.flow);
        }
        verdict
    }

    #[inline]
    fn on_departure(&mut self, _env: &mut Env<'_>, head: PacketView, _queue: QueueView) -> Verdict {
        if let Some(linux) = &mut self.linux {
            linux.on_departure();
            return Verdict::Pass;
        }
        self.tables[0].take(head.flow, self.left);
        if self.warming {
            self.tables[1].take(head.flow, self.left);
        }
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
    }

    #[inline]
    fn on_emptied(&mut self, _now: Instant) {
        if self.lost_count {
            self.tables.iter_mut().for_each(Table::forget_packets);
            self.lost_count = false;
        }
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let bins = || self.tables[0].bins.iter().flatten();
        let figures = self.linux.as_ref().map_or_else(
            || {
                let probability = bins().map(|bin| bin.probability).fold(0.0, f64::max);
                let certain = bins().filter(|bin| bin.probability >= 1.0).count();
                let packets = bins().map(|bin| bin.packets).max().unwrap_or(0);
                [probability, certain as f64, f64::from(packets), self.tokens]
            },
            |linux| linux.figures(),
        );
        let names = ["greatest_probability", "certain_bins", "fullest_bin_packets", "tokens"];
        names.into_iter().zip(figures).for_each(|(name, figure)| visit(name, figure));
    }
}

const fn number(name: &'static str, unit: Unit, default: f64, range: (f64, f64), doc: &'static str) -> ParamSpec {
    ParamSpec { name, unit, default: ParamDefault::Value(Value::Number(default)), range, doc, source: "Linux" }
}

const fn span(name: &'static str, default: Duration, doc: &'static str) -> ParamSpec {
    let default = ParamDefault::Value(Value::Duration(default));
    ParamSpec { name, unit: Unit::Duration, default, range: (0.0, 1e6), doc, source: "Linux" }
}

impl Algorithm for Sfb {
    const KINDS: &'static [KindSpec] = &[KindSpec {
        kind: "sfb",
        summary: "Finds flows that do not respond by a Bloom filter of BLUE probabilities, and holds them to a trickle",
        signal: "waiting packets of a flow's bins, on arrival",
        marks: true,
        params: &[
            number("bin_size", Unit::Count, 20.0, (1.0, 65535.0), "waiting packets from which a bin's probability rises"),
            number("max", Unit::Count, 25.0, (1.0, 65535.0), "waiting packets in all bins of a flow from which its packets are dropped"),
            number("d1", Unit::Ratio, 0.001, (1e-6, 1.0), "step up of a bin's probability"),
            number("d2", Unit::Ratio, 1.0 / 6000.0, (1e-6, 1.0), "step down of a bin's probability, at an arrival that finds it empty"),
            number(
                "penalty_rate",
                Unit::Number,
                10.0,
                (0.0, 1e9),
                "packets a second that pass of all flows that do not respond together",
            ),
            number("penalty_burst", Unit::Count, 20.0, (0.0, 1e9), "packets of them that may pass at once"),
            span("rehash", Duration::secs(600), "how long flows share bins by bad luck; 0: for ever"),
            span("warmup", Duration::secs(60), "how long the next table of bins is prepared"),
            ARITHMETIC,
        ],
        source: "Feng, Kandlur, Saha and Shin 2001; Linux sch_sfb",
    }];

    fn build(given: &Given<'_>, _link: &LinkFacts) -> Result<Self, ParamError> {
        let defaults = SfbParams::default();
        let count = |name, default: u32| given.number(name).map_or(default, |count| count as u32);
        let params = SfbParams {
            bin_size: count("bin_size", defaults.bin_size),
            max: count("max", defaults.max),
            d1: given.number("d1").unwrap_or(defaults.d1),
            d2: given.number("d2").unwrap_or(defaults.d2),
            penalty_rate: given.number("penalty_rate").unwrap_or(defaults.penalty_rate),
            penalty_burst: given.number("penalty_burst").unwrap_or(defaults.penalty_burst),
            rehash: given.duration("rehash").unwrap_or(defaults.rehash),
            warmup: given.duration("warmup").unwrap_or(defaults.warmup),
        };
        let SfbParams { bin_size, max, rehash, warmup, .. } = params;
        if max < bin_size {
            let message = alloc::format!("{max} is below bin_size: allowed from {bin_size}, or no probability ever rises");
            return Err(ParamError { param: "max", message });
        }
        if !rehash.is_zero() && warmup > rehash {
            let message = alloc::format!("{warmup} is longer than rehash: allowed up to {rehash}");
            return Err(ParamError { param: "warmup", message });
        }
        if Arithmetic::of(given) == Arithmetic::Linux {
            return Ok(Self::linux(params));
        }
        Ok(Self::new(params))
    }
}

#[cfg(test)]
mod tests;
