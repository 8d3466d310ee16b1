//! CP-AQM (congestion policing): a token bucket that meters congestion instead of traffic.
//!
//! *Signal*: bytes waiting when a packet arrives; acts on arrival.
//!
//! *Law*: at a backlog of `x` bytes a packet of `len` bytes on the wire costs `len * c(x)` tokens, where `c(x) = 0` for
//! `x < threshold` and `1 + (x - threshold) / (capacity - threshold) * (c_max - 1)` from there on. Tokens flow in at the link's
//! rate times `rate_factor` up to `bucket`. A packet that cannot be paid for is signalled and takes no tokens.
//!
//! *Parameters*: `threshold` 5 packets (0 to the limit, IP bytes, packets or time); `c_max` 1.2 (1 to 100); `rate_factor` 1 or
//! `rate`; `bucket` 1.5 capacities in wire bytes (plus one packet at threshold 0). The capacity is the queue's limit in bytes,
//! or its packets times the MTU.
//!
//! *Departures*: the paper does not mark and holds the rate constant. Here an ECN-capable packet that cannot be paid for is marked and
//! let through, until the bucket has for 100 ms been unable to pay for one MTU at full congestion; then it is dropped, as
//! otherwise unresponsive senders would escape. A new link rate sets a new token rate; the fill fraction stays; threshold and bucket are worked out
//! again if they were given as times.
//!
//! *Limits*: without a known link rate `rate` must be given. With a threshold at or above the capacity it is a tail drop.
//! At rate zero no tokens flow in: packets pass until tokens or room run out.
//!
//! *Source*: the CP-AQM paper, §3.

use super::Algorithm;
use crate::aqm::{Aqm, Env, PacketView, QueueView, Reason, Verdict};
use crate::spec::{Default as ParamDefault, Given, KindSpec, LinkFacts, ParamError, ParamSpec, Size, Unit, Value};
use goodqueue_units::{Bytes, Duration, Instant, Rate};

/// How long the bucket may be unable to pay before ECN-capable packets are dropped too (our choice: a few RTTs).
const MARKING_PATIENCE: Duration = Duration::ms(100);

const NANOS_PER_SEC: f64 = 1e9;

/// CP-AQM's settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpAqmParams {
    /// Bytes the queue holds.
    pub capacity: Bytes,
    /// Backlog from which packets cost tokens.
    pub threshold: Size,
    /// Cost of a byte when the queue is full.
    pub c_max: f64,
    /// Token rate as a multiple of the link's rate.
    pub rate_factor: f64,
    /// Fixed token rate, in place of `rate_factor`.
    pub rate: Option<Rate>,
    /// Bucket size in wire bytes; `None`: by the rule.
    pub bucket: Option<Size>,
    /// Largest packet without framing.
    pub mtu: Bytes,
    /// Framing bytes per packet.
    pub overhead: Bytes,
}

/// CP-AQM's state.
#[derive(Clone, Debug)]
pub struct CpAqm {
    params: CpAqmParams,
    /// Backlog in bytes from which packets cost tokens; infinite where congestion is not defined.
    threshold: f64,
    /// Rise of a byte's cost per byte of backlog.
    slope: f64,
    bucket: f64,
    tokens_per_nano: f64,
    /// Cost of one MTU on the wire at a full queue.
    full_cost: f64,
    fill: f64,
    filled_at: Instant,
    /// When the bucket could last pay `full_cost`.
    solvent_at: Instant,
}

impl CpAqm {
    /// A full bucket on a link of rate `rate`.
    #[must_use]
    pub fn new(params: CpAqmParams, rate: Option<Rate>) -> Self {
        let mut this = Self {
            params,
            threshold: f64::INFINITY,
            slope: 0.0,
            bucket: 0.0,
            tokens_per_nano: 0.0,
            full_cost: (params.mtu + params.overhead).get() as f64 * params.c_max,
            fill: 0.0,
            filled_at: Instant::ZERO,
            solvent_at: Instant::ZERO,
        };
        this.adopt(rate);
        this.fill = this.bucket;
        this
    }

    /// Works out everything that depends on the link's rate. What needs a rate and has none keeps its value.
    fn adopt(&mut self, rate: Option<Rate>) {
        let Self { params, .. } = *self;
        let capacity = params.capacity.get() as f64;
        if let Some(bytes) = params.threshold.bytes(params.mtu, rate) {
            let bytes = bytes.get() as f64;
            let span = capacity - bytes;
            (self.threshold, self.slope) =
                if span > 0.0 { (bytes, (params.c_max - 1.0) / span) } else { (f64::INFINITY, 0.0) };
        }
        let wire_mtu = (params.mtu + params.overhead).get() as f64;
        self.bucket = match params.bucket {
            // A bucket given as a time holds nothing on a link that is down; it keeps its size until the link is back.
            Some(Size::Time(_)) if rate.is_none_or(Rate::is_zero) => self.bucket,
            Some(size) => size.bytes(params.mtu, rate).map_or(self.bucket, |bytes| bytes.get() as f64),
            None => {
                let every_packet_pays = if self.threshold == 0.0 { wire_mtu } else { 0.0 };
                1.5 * capacity * wire_mtu / params.mtu.get() as f64 + every_packet_pays
            }
        };
        let token_rate = params.rate.map_or_else(
            || rate.map_or(0.0, |rate| rate.as_bytes_s_f64() * params.rate_factor),
            |fixed| fixed.as_bytes_s_f64(),
        );
        self.tokens_per_nano = token_rate / NANOS_PER_SEC;
    }

    #[inline]
    fn refill(&mut self, now: Instant) {
        let fill = self.fill + self.tokens_per_nano * now.since(self.filled_at).as_nanos() as f64;
        self.fill = if fill < self.bucket { fill } else { self.bucket };
        self.filled_at = now;
    }

    /// Tokens a byte costs at a backlog of `x` bytes.
    #[inline]
    fn congestion(&self, x: f64) -> f64 {
        if x < self.threshold { 0.0 } else { 1.0 + (x - self.threshold) * self.slope }
    }
}

impl Aqm for CpAqm {
    #[inline]
    fn on_arrival(&mut self, env: &mut Env<'_>, packet: PacketView, queue: QueueView) -> Verdict {
        self.refill(env.now);
        let wire_len = (packet.len + env.overhead).get() as f64;
        let cost = wire_len * self.congestion(queue.backlog.get() as f64);
        if self.fill >= cost {
            self.fill -= cost;
            if self.fill >= self.full_cost {
                self.solvent_at = env.now;
            }
            return Verdict::Pass;
        }
        if env.now.since(self.solvent_at) > MARKING_PATIENCE {
            Verdict::Drop(Reason::Policer)
        } else {
            Verdict::Signal(Reason::Policer)
        }
    }

    fn on_rate_change(&mut self, env: &mut Env<'_>) {
        self.refill(env.now);
        let fraction = if self.bucket > 0.0 { self.fill / self.bucket } else { 1.0 };
        let before = self.bucket;
        self.adopt(env.link_rate);
        if self.bucket != before {
            self.fill = fraction * self.bucket;
        }
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("fill", self.fill);
    }
}

impl CpAqmParams {
    fn check(&self, rate: Option<Rate>, built: &CpAqm) -> Result<(), ParamError> {
        let fault = |param, message| Err(ParamError { param, message });
        if self.rate.is_none() && rate.is_none() {
            return fault("rate", "the link's rate is unknown: give the token rate".into());
        }
        if self.threshold.bytes(self.mtu, rate).is_none() {
            return fault("threshold", "a time needs a link of known rate: use bytes or packets".into());
        }
        if self.bucket.is_some_and(|size| size.bytes(self.mtu, rate).is_none()) {
            return fault("bucket", "a time needs a link of known rate: use bytes or packets".into());
        }
        if built.bucket < built.full_cost {
            let message = alloc::format!(
                "{} B cannot pay for one packet at a full queue: allowed from {} B",
                built.bucket,
                built.full_cost
            );
            return fault("bucket", message);
        }
        Ok(())
    }
}

impl Algorithm for CpAqm {
    const KINDS: &'static [KindSpec] = &[KindSpec {
        kind: "cp-aqm",
        summary: "Congestion policing: tokens pay for bytes weighted by how full the queue is",
        signal: "backlog, on arrival",
        marks: true,
        params: &[
            ParamSpec {
                name: "threshold",
                unit: Unit::Size,
                default: ParamDefault::Value(Value::Size(Size::Packets(5.0))),
                range: (0.0, 1e12),
                doc: "backlog from which packets cost tokens",
                source: "CP-AQM paper §3",
            },
            ParamSpec {
                name: "c_max",
                unit: Unit::Number,
                default: ParamDefault::Value(Value::Number(1.2)),
                range: (1.0, 100.0),
                doc: "tokens a byte costs when the queue is full",
                source: "CP-AQM paper §3",
            },
            ParamSpec {
                name: "rate_factor",
                unit: Unit::Number,
                default: ParamDefault::Value(Value::Number(1.0)),
                range: (0.01, 100.0),
                doc: "token rate as a multiple of the link's rate",
                source: "CP-AQM paper §3",
            },
            ParamSpec {
                name: "rate",
                unit: Unit::Rate,
                default: ParamDefault::Auto("the link's rate times rate_factor"),
                range: (1.0, 1e13),
                doc: "fixed token rate",
                source: "CP-AQM paper §3",
            },
            ParamSpec {
                name: "bucket",
                unit: Unit::Size,
                default: ParamDefault::Auto("1.5 times the queue's capacity in wire bytes; one packet more at threshold 0"),
                range: (0.0, 1e12),
                doc: "most tokens kept, in wire bytes",
                source: "CP-AQM paper §3",
            },
        ],
        source: "CP-AQM paper §3",
    }];

    fn build(given: &Given<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let in_packets = link.limit.packets.get().saturating_mul(link.mtu.get());
        let capacity = link.limit.bytes.min(Bytes::new(in_packets));
        if capacity == Bytes::MAX {
            return Err(ParamError { param: "limit", message: "cp-aqm needs a queue with a limit: none is set".into() });
        }
        let size = |name| match given.value(name) {
            Some(Value::Size(size)) => Some(size),
            _ => None,
        };
        let params = CpAqmParams {
            capacity,
            threshold: size("threshold").unwrap_or(Size::Packets(5.0)),
            c_max: given.number("c_max").unwrap_or(1.2),
            rate_factor: given.number("rate_factor").unwrap_or(1.0),
            rate: given.rate("rate"),
            bucket: size("bucket"),
            mtu: link.mtu,
            overhead: link.overhead,
        };
        let built = Self::new(params, link.rate);
        params.check(link.rate, &built)?;
        Ok(built)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paper(threshold: Size, rate: Rate) -> CpAqm {
        let params = CpAqmParams {
            capacity: Bytes::new(45_000),
            threshold,
            c_max: 1.2,
            rate_factor: 1.0,
            rate: None,
            bucket: None,
            mtu: Bytes::new(1500),
            overhead: Bytes::new(7),
        };
        CpAqm::new(params, Some(rate))
    }

    #[track_caller]
    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{found} is not {expected}");
    }

    #[test]
    fn congestion_rises_from_the_threshold_to_the_full_queue() {
        let cp = paper(Size::Packets(5.0), Rate::mbit(10));
        assert_eq!(cp.congestion(7_499.0), 0.0);
        near(cp.congestion(7_500.0), 1.0);
        near(cp.congestion(26_250.0), 1.1);
        near(cp.congestion(45_000.0), 1.2);
        near(1507.0 * cp.congestion(26_250.0), 1657.7);
    }

    #[test]
    fn the_bucket_follows_the_rule() {
        near(paper(Size::Packets(5.0), Rate::mbit(10)).bucket, 67_815.0);
        near(paper(Size::Bytes(0.0), Rate::mbit(10)).bucket, 67_815.0 + 1507.0);
    }

    /// Tokens saved in `t_below` under the threshold pay for the extra cost of standing above it for `t_above`.
    #[test]
    fn a_short_dip_pays_for_a_long_stay_above() {
        let cp = paper(Size::Packets(10.0), Rate::mbit(10));
        let extra = cp.congestion(15.0 * 1500.0) - 1.0;
        near(2.4e-3 / extra, 48e-3);
    }

    #[test]
    fn a_threshold_beyond_the_queue_means_tail_drop() {
        assert_eq!(paper(Size::Packets(30.0), Rate::mbit(10)).congestion(45_000.0), 0.0);
    }

    #[test]
    fn a_new_rate_rescales_what_was_given_in_time() {
        let mut cp = paper(Size::Time(Duration::ms(6)), Rate::mbit(10));
        near(cp.threshold, 7500.0);
        cp.fill = 1000.0;
        cp.adopt(Some(Rate::mbit(20)));
        near(cp.threshold, 15_000.0);
        near(cp.tokens_per_nano, 2.5e-3);
        near(cp.fill, 1000.0);
    }
}
