//! SFB in the arithmetic of Linux: 16-bit probabilities, time in ticks of 1 ms, two tables that
//! keep their contents.
//!
//! A probability is a number up to 65535, which stands for 1; steps are whole numbers, and random
//! draws have 16 bits. For each packet the hash under which each table counted it is stored: always
//! that of the table in use, and that of the next table if it was being prepared and the flow is
//! unresponsive. When the tables change places, the outgoing one draws another salt, keeps its
//! bins, and judges one more packet. Once the tokens of the trickle run out they are refilled:
//! `penalty_rate` for each second since the last refill, counting at most ten seconds, up to
//! `penalty_burst`; fractions are lost.
//!
//! Linux hashes the header of a packet with a secret of 128 bits; here the flow number is hashed
//! with 64 bits from two draws. The discipline counts as created at time zero of the host's clock.

use super::{BINS, BITS, LEVELS, SfbParams, spread};
use crate::aqm::{Env, FlowHash, PacketView, Reason, Verdict};
use crate::arithmetic::LinuxDraws;
use alloc::boxed::Box;
use alloc::collections::VecDeque;

/// Stands for probability 1.
const CERTAIN: u32 = 0xffff;
/// Ticks per second.
const HZ: u64 = 1000;
const TICK_NS: u64 = 1_000_000_000 / HZ;

#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    probability: u16,
    packets: u16,
}

#[derive(Clone, Debug)]
struct Table {
    bins: Box<[[Bin; BINS]; LEVELS]>,
    salt: u64,
}

/// The smallest count and the smallest probability among the bins of a flow.
struct Least {
    probability: u32,
    packets: u32,
}

impl Table {
    fn new() -> Self {
        Self { bins: Box::new([[Bin::default(); BINS]; LEVELS]), salt: 0 }
    }

    /// Hash of a flow, never zero, since zero stands for a packet that is not counted.
    fn hash(&self, flow: FlowHash) -> u32 {
        spread(flow, self.salt).max(1)
    }

    fn bins_of(&mut self, hash: u32) -> impl Iterator<Item = &mut Bin> {
        self.bins.iter_mut().enumerate().map(move |(level, bins)| &mut bins[(hash as usize >> (BITS * level)) % BINS])
    }

    fn meet(&mut self, hash: u32, params: &LinuxSfbParams) -> Least {
        let mut least = Least { probability: u32::MAX, packets: u32::MAX };
        for bin in self.bins_of(hash) {
            if bin.packets == 0 {
                bin.probability = bin.probability.saturating_sub(params.decrement);
            } else if u32::from(bin.packets) >= params.bin_size {
                bin.probability = bin.probability.saturating_add(params.increment);
            }
            least.probability = least.probability.min(bin.probability.into());
            least.packets = least.packets.min(bin.packets.into());
        }
        least
    }
}

/// Settings of SFB in Linux.
#[derive(Clone, Copy, Debug)]
struct LinuxSfbParams {
    bin_size: u32,
    max: u32,
    increment: u16,
    decrement: u16,
    penalty_rate: u64,
    penalty_burst: u64,
    /// Period in ticks; zero for never.
    rehash: u64,
    warmup: u64,
}

/// State of SFB in Linux, one per queue.
#[derive(Clone, Debug)]
pub struct LinuxSfb {
    params: LinuxSfbParams,
    tables: [Table; 2],
    /// Index of the table in use.
    slot: usize,
    /// Whether the other table is being prepared.
    warming: bool,
    /// Ticks at which the tables last changed places, and at which tokens were last refilled.
    rehashed_at: u64,
    counted_at: u64,
    tokens: u64,
    is_salted: bool,
    draws: LinuxDraws,
    /// Hashes of waiting packets, oldest first, for both tables; zero where not counted.
    hashes: VecDeque<[u32; 2]>,
}

impl LinuxSfb {
    /// Creates the SFB of Linux with the whole numbers nearest to these settings.
    #[must_use]
    pub fn new(params: &SfbParams) -> Self {
        let step = |share: f64| (share * f64::from(CERTAIN) + 0.5) as u16;
        let ticks = |span: goodqueue_base::units::Duration| span.as_nanos() / TICK_NS;
        let params = LinuxSfbParams {
            bin_size: params.bin_size,
            max: params.max,
            increment: step(params.d1),
            decrement: step(params.d2),
            penalty_rate: params.penalty_rate as u64,
            penalty_burst: params.penalty_burst as u64,
            rehash: ticks(params.rehash),
            warmup: ticks(params.warmup),
        };
        Self {
            tables: [Table::new(), Table::new()],
            slot: 0,
            warming: false,
            rehashed_at: 0,
            counted_at: 0,
            tokens: params.penalty_burst,
            is_salted: false,
            draws: LinuxDraws::default(),
            hashes: VecDeque::with_capacity(16),
            params,
        }
    }

    fn salt(&mut self, slot: usize, env: &mut Env<'_>) {
        let (low, high) = (self.draws.next(env.rng), self.draws.next(env.rng));
        self.tables[slot].salt = low ^ high.rotate_left(32);
    }

    /// Swaps the tables, or starts preparing the next one, when it is due.
    fn turn_tables(&mut self, env: &mut Env<'_>, tick: u64) {
        if !self.is_salted {
            self.is_salted = true;
            self.salt(0, env);
            self.salt(1, env);
        }
        let LinuxSfbParams { rehash, warmup, .. } = self.params;
        if rehash == 0 {
            return;
        }
        let end = self.rehashed_at + rehash;
        if tick > end {
            self.salt(self.slot, env);
            self.slot ^= 1;
            self.warming = false;
            self.rehashed_at = tick;
        } else if !self.warming && warmup > 0 && tick + warmup > end {
            self.warming = true;
        }
    }

    fn trickles(&mut self, tick: u64) -> bool {
        let LinuxSfbParams { penalty_rate, penalty_burst, .. } = self.params;
        if penalty_rate == 0 || penalty_burst == 0 {
            return false;
        }
        if self.tokens < 1 {
            let age = (tick - self.counted_at).min(10 * HZ);
            self.tokens = (age * penalty_rate / HZ).min(penalty_burst);
            self.counted_at = tick;
            if self.tokens < 1 {
                return false;
            }
        }
        self.tokens -= 1;
        true
    }

    #[cold]
    pub(super) fn on_arrival(&mut self, env: &mut Env<'_>, packet: PacketView) -> Verdict {
        let tick = env.now.as_nanos() / TICK_NS;
        let (slot, other) = (self.slot, self.slot ^ 1);
        self.turn_tables(env, tick);
        let mut hashes = [0; 2];
        hashes[slot] = self.tables[slot].hash(packet.flow);
        let least = self.tables[slot].meet(hashes[slot], &self.params);
        if least.packets >= self.params.max {
            return Verdict::Drop(Reason::Early);
        }
        if least.probability >= CERTAIN {
            if self.warming {
                hashes[other] = self.tables[other].hash(packet.flow);
                let _only_prepares = self.tables[other].meet(hashes[other], &self.params);
            }
            if !self.trickles(tick) {
                return Verdict::Drop(Reason::Penalty);
            }
            self.accept(hashes);
            return Verdict::Pass;
        }
        let verdict = self.chance(env, least.probability);
        let is_kept = match verdict {
            Verdict::Signal(_) => packet.ecn.is_capable(),
            verdict => verdict == Verdict::Pass,
        };
        if is_kept {
            self.accept(hashes);
        }
        verdict
    }

    fn chance(&mut self, env: &mut Env<'_>, p: u32) -> Verdict {
        let chance = (self.draws.next(env.rng) >> 48) as u32;
        let half = CERTAIN / 2;
        if chance >= p {
            Verdict::Pass
        } else if p > half && chance < (p - half) * 2 {
            Verdict::Drop(Reason::Early)
        } else {
            Verdict::Signal(Reason::Early)
        }
    }

    /// Takes memory for the hashes of `packets` packets.
    pub(super) fn reserve(&mut self, packets: usize) {
        self.hashes.reserve_exact(packets.saturating_sub(self.hashes.len()));
    }

    fn accept(&mut self, hashes: [u32; 2]) {
        for (table, hash) in self.tables.iter_mut().zip(hashes).filter(|(_, hash)| *hash != 0) {
            table.bins_of(hash).for_each(|bin| bin.packets = bin.packets.saturating_add(1));
        }
        self.hashes.push_back(hashes);
    }

    #[cold]
    pub(super) fn on_departure(&mut self) {
        let Some(hashes) = self.hashes.pop_front() else { return };
        for (table, hash) in self.tables.iter_mut().zip(hashes).filter(|(_, hash)| *hash != 0) {
            table.bins_of(hash).for_each(|bin| bin.packets = bin.packets.saturating_sub(1));
        }
    }

    /// Largest probability, number of bins at probability 1, packets in the fullest bin, tokens.
    pub(super) fn figures(&self) -> [f64; 4] {
        let bins = || self.tables[self.slot].bins.iter().flatten();
        let probability = bins().map(|bin| bin.probability).max().unwrap_or(0);
        let certain = bins().filter(|bin| u32::from(bin.probability) >= CERTAIN).count();
        let packets = bins().map(|bin| bin.packets).max().unwrap_or(0);
        [f64::from(probability) / f64::from(CERTAIN), certain as f64, f64::from(packets), self.tokens as f64]
    }
}
