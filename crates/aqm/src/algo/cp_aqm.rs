//! CP-AQM (congestion policing): a token bucket that meters congestion instead of traffic.
//!
//! *Signal*: bytes waiting when a packet arrives; acts on arrival.
//!
//! *Law*: at a backlog of `x` bytes, a packet of `len` bytes on the wire costs `len * c(x)` tokens,
//! where `c(x) = 0` for `x < threshold` and `c(x) = 1 + (x - threshold) / (capacity - threshold) *
//! (c_max - 1)` from there on. Tokens arrive at the rate of the link times `rate_factor`, up to
//! `bucket`. A packet that cannot be paid for is signaled and takes no tokens.
//!
//! *Parameters*: see `KINDS`. `capacity` is the limit of the queue in bytes, or its limit in
//! packets times the MTU, unless a smaller one is given. `bucket` is by default the capacity in
//! wire bytes times the larger of 1.5 and `(1 + c_max) / 2`, so that one burst may fill the queue
//! (plus one packet at threshold 0). `rate` replaces `rate_factor`.
//!
//! *Deviations*: the paper does not mark and holds the rate constant. Here an ECN-capable packet
//! that cannot be paid for is marked and passes, until the bucket has been unable to pay for one
//! MTU at full congestion for 100 ms; from then on it is dropped, since otherwise unresponsive
//! senders would escape. A new link rate sets a new token rate, and the bucket keeps its fill level
//! in percent; capacity, threshold and bucket are recomputed if they were given as times (a
//! capacity never exceeds the limit of the queue), and so is a bucket of default size. The paper
//! leaves links of changing rate for later. Where the momentary rate is unknown, as on a recorded
//! or a radio link, tokens earned by time would be too many in a fade and too few afterward. With
//! `tokens = "departures"` each departing packet earns its wire bytes times `rate_factor` instead,
//! and an idle queue earns at the known rate, if there is one.
//!
//! *Limits*: without a known link rate, `rate` or `tokens = "departures"` must be given, and sizes
//! must be in packets or bytes. With a threshold at or above the capacity the kind behaves as tail
//! drop. At rate zero no tokens arrive: packets pass until tokens or room run out, and sizes given
//! as times keep their last value.
//!
//! *Source*: Menth and Veith 2018 §3.

use super::Algorithm;
use crate::aqm::{Aqm, Env, PacketView, QueueView, Reason, Verdict};
use crate::spec::{Family, Kind, KindSpec, LinkFacts, ParamError, ParamFault, ParamValues, Size, TypedParam, Value};
use goodqueue_base::units::{Bytes, Duration, Instant, Rate};
use goodqueue_base::words;

/// Time that the bucket may be unable to pay before ECN-capable packets are dropped, too (our
/// choice: a few RTTs).
const MARKING_PATIENCE: Duration = Duration::ms(100);

const NANOS_PER_SEC: f64 = 1e9;

/// The bucket in capacities: a burst that fills the queue costs at most `(1 + c_max) / 2` of them.
/// The paper's value is that for a `c_max` of 2, whatever `c_max` is, and stays the least.
fn burst_factor(c_max: f64) -> f64 {
    f64::midpoint(1.0, c_max).max(1.5)
}

/// Settings of CP-AQM.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpAqmParams {
    /// Limit of the queue in bytes.
    pub limit: Bytes,
    /// Backlog at which a byte costs `c_max` and beyond which no packet fits; `None`: `limit`.
    pub capacity: Option<Size>,
    /// Backlog from which packets cost tokens.
    pub threshold: Size,
    /// Cost of a byte when the queue is full.
    pub c_max: f64,
    /// Token rate as a multiple of the link's rate.
    pub rate_factor: f64,
    /// Fixed token rate, in place of `rate_factor`.
    pub rate: Option<Rate>,
    /// Source of the tokens.
    pub tokens: Tokens,
    /// Bucket size in wire bytes; `None`: what one burst into an idle queue needs.
    pub bucket: Option<Size>,
    /// Largest packet without framing.
    pub mtu: Bytes,
    /// Framing bytes per packet.
    pub overhead: Bytes,
}

words! {
    /// The source of the tokens.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Tokens {
        /// Elapsed time, at the token rate.
        Time = "time",
        /// Departing packets, and idle time at the link's rate.
        Departures = "departures",
    }
}

/// State of CP-AQM, one per queue.
#[derive(Clone, Debug)]
pub struct CpAqm {
    params: CpAqmParams,
    /// Backlog in bytes that no packet may exceed.
    capacity: f64,
    /// Backlog in bytes from which packets cost tokens; infinite where the threshold is not below
    /// the capacity.
    threshold: f64,
    /// Increase of a byte's cost per byte of backlog.
    slope: f64,
    bucket: f64,
    tokens_per_nano: f64,
    /// Cost of one MTU on the wire at a full queue.
    full_cost: f64,
    fill: f64,
    filled_at: Instant,
    /// Whether tokens are earned by time at present.
    earns: bool,
    /// Last time at which the bucket could pay `full_cost`.
    solvent_at: Instant,
}

impl CpAqm {
    /// Creates a CP-AQM with a full bucket on a link of rate `rate`.
    #[must_use]
    pub fn new(params: CpAqmParams, rate: Option<Rate>) -> Self {
        let mut this = Self {
            params,
            capacity: params.limit.get() as f64,
            threshold: f64::INFINITY,
            slope: 0.0,
            bucket: 0.0,
            tokens_per_nano: 0.0,
            full_cost: (params.mtu + params.overhead).get() as f64 * params.c_max,
            fill: 0.0,
            filled_at: Instant::ZERO,
            earns: true,
            solvent_at: Instant::ZERO,
        };
        this.adopt(rate);
        this.fill = this.bucket;
        this
    }

    /// Recomputes everything that depends on the rate of the link. Settings that need a rate keep
    /// their values while there is none.
    fn adopt(&mut self, rate: Option<Rate>) {
        let Self { params, .. } = *self;
        // A time has no size on a link that is down; the size stays as it was until the link is
        // back.
        let bytes = |size: Size| match size {
            Size::Time(_) if rate.is_none_or(Rate::is_zero) => None,
            _ => size.bytes(params.mtu, rate).map(|bytes| bytes.get() as f64),
        };
        if let Some(capacity) = params.capacity.and_then(bytes) {
            self.capacity = capacity.min(params.limit.get() as f64);
        }
        let capacity = self.capacity;
        if let Some(bytes) = bytes(params.threshold) {
            let span = capacity - bytes;
            (self.threshold, self.slope) = if span > 0.0 { (bytes, (params.c_max - 1.0) / span) } else { (f64::INFINITY, 0.0) };
        }
        let wire_mtu = (params.mtu + params.overhead).get() as f64;
        self.bucket = match params.bucket {
            Some(size) => bytes(size).unwrap_or(self.bucket),
            None => {
                let every_packet_pays = if self.threshold == 0.0 { wire_mtu } else { 0.0 };
                burst_factor(params.c_max) * capacity * wire_mtu / params.mtu.get() as f64 + every_packet_pays
            }
        };
        let token_rate = params
            .rate
            .map_or_else(|| rate.map_or(0.0, |rate| rate.as_bytes_s_f64() * params.rate_factor), |fixed| fixed.as_bytes_s_f64());
        self.tokens_per_nano = token_rate / NANOS_PER_SEC;
    }

    #[inline]
    fn refill(&mut self, now: Instant) {
        if self.earns {
            self.earn(self.tokens_per_nano * now.since(self.filled_at).as_nanos() as f64);
        }
        self.filled_at = now;
    }

    #[inline]
    fn earn(&mut self, tokens: f64) {
        let fill = self.fill + tokens;
        self.fill = if fill < self.bucket { fill } else { self.bucket };
    }

    /// Cost in tokens of one byte at a backlog of `x` bytes.
    #[inline]
    fn congestion(&self, x: f64) -> f64 {
        if x < self.threshold { 0.0 } else { 1.0 + (x - self.threshold) * self.slope }
    }
}

impl Aqm for CpAqm {
    #[inline]
    fn on_arrival(&mut self, env: &mut Env<'_>, packet: PacketView, queue: QueueView) -> Verdict {
        self.refill(env.now);
        self.earns = self.params.tokens == Tokens::Time;
        let backlog = queue.backlog.get() as f64;
        if backlog + packet.len.get() as f64 > self.capacity {
            return Verdict::Drop(Reason::Overflow);
        }
        let wire_len = (packet.len + env.overhead).get() as f64;
        let cost = wire_len * self.congestion(backlog);
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

    #[inline]
    fn on_departure(&mut self, env: &mut Env<'_>, head: PacketView, _queue: QueueView) -> Verdict {
        if self.params.tokens == Tokens::Departures {
            self.earn((head.len + env.overhead).get() as f64 * self.params.rate_factor);
        }
        Verdict::Pass
    }

    fn on_idle(&mut self, now: Instant) {
        self.refill(now);
        self.earns = true;
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
        visit("capacity", self.capacity);
    }
}

const MENTH: &str = "Menth and Veith 2018 §3";
const THRESHOLD: TypedParam<Size> = TypedParam::size("threshold", Size::Packets(5.0))
    .within(0.0, 1e12)
    .about("backlog from which packets cost tokens")
    .from_source(MENTH)
    .as_threshold();
const CAPACITY: TypedParam<Option<Size>> = TypedParam::auto("capacity", "the queue's limit")
    .within(0.0, 1e12)
    .about("backlog at which a byte costs c_max and no more fits, at most the queue's limit")
    .from_source(MENTH);
const C_MAX: TypedParam<f64> =
    TypedParam::number("c_max", 1.2).within(1.0, 100.0).about("tokens a byte costs when the queue is full").from_source(MENTH);
const RATE_FACTOR: TypedParam<f64> = TypedParam::number("rate_factor", 1.0)
    .within(0.01, 100.0)
    .about("token rate as a multiple of the link's rate")
    .from_source(MENTH);
const RATE: TypedParam<Option<Rate>> =
    TypedParam::auto("rate", "the link's rate times rate_factor").within(1.0, 1e13).about("fixed token rate").from_source(MENTH);
const TOKENS: TypedParam<Tokens> = TypedParam::choice("tokens", "time")
    .about("earn tokens by time at the token rate, or by departing packets, for links of unknown or changing rate")
    .from_source("Menth and Veith 2018 §3; our extension");
const BUCKET: TypedParam<Option<Size>> =
    TypedParam::auto("bucket", "the queue's capacity in wire bytes times 1.5 or (1 + c_max) / 2; one packet more at threshold 0")
        .within(0.0, 1e12)
        .about("most tokens kept, in wire bytes")
        .from_source(MENTH);

impl CpAqmParams {
    fn check(&self, given: &ParamValues<'_>, link: &LinkFacts, built: &CpAqm) -> Result<(), ParamError> {
        if self.tokens == Tokens::Departures {
            given.refuse_unused(&[RATE.name()], TOKENS.name(), "departures")?;
        } else if self.rate.is_none() && link.rate.is_none() {
            return Err(RATE.fault(ParamFault::UnknownRate("give the token rate, or tokens = \"departures\"")));
        }
        for size in [CAPACITY.name(), THRESHOLD.name(), BUCKET.name()] {
            given.bytes(size, link.mtu, link.rate)?;
        }
        let bytes = |bytes| Value::Size(Size::Bytes(bytes));
        if built.capacity == 0.0 {
            let (value, least) = (bytes(0.0), bytes(1.0));
            return Err(CAPACITY.fault(ParamFault::TooSmall { value, why: "holds nothing", least }));
        }
        if built.bucket < built.full_cost {
            let (value, least) = (bytes(built.bucket), bytes(built.full_cost));
            return Err(BUCKET.fault(ParamFault::TooSmall { value, why: "cannot pay for one packet at a full queue", least }));
        }
        Ok(())
    }
}

impl Algorithm for CpAqm {
    const KINDS: &'static [KindSpec] = &[KindSpec::new(
        Kind {
            kind: "cp-aqm",
            aliases: &[],
            title: "CP-AQM",
            summary: "Congestion policing: tokens pay for bytes weighted by how full the queue is",
            params: &[THRESHOLD.param, CAPACITY.param, C_MAX.param, RATE_FACTOR.param, RATE.param, TOKENS.param, BUCKET.param],
            source: MENTH,
        },
        Family::Policing,
        "backlog, on arrival",
    )];

    fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let in_packets = link.limit.packets.get().saturating_mul(link.mtu.get());
        let limit = link.limit.bytes.min(Bytes::new(in_packets));
        if limit == Bytes::MAX {
            return Err(ParamError::new("limit", ParamFault::NeedsLimit("cp-aqm")));
        }
        let params = CpAqmParams {
            limit,
            capacity: CAPACITY.read(given),
            threshold: THRESHOLD.read(given),
            c_max: C_MAX.read(given),
            rate_factor: RATE_FACTOR.read(given),
            rate: RATE.read(given),
            tokens: TOKENS.read(given),
            bucket: BUCKET.read(given),
            mtu: link.mtu,
            overhead: link.overhead,
        };
        let built = Self::new(params, link.rate);
        params.check(given, link, &built)?;
        Ok(built)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::FlowHash;
    use goodqueue_base::units::{Ecn, Rng};

    fn paper(threshold: Size, rate: Rate) -> CpAqm {
        let params = CpAqmParams {
            limit: Bytes::new(45_000),
            capacity: None,
            threshold,
            c_max: 1.2,
            rate_factor: 1.0,
            rate: None,
            tokens: Tokens::Time,
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
        assert_eq!([1.0, 2.0, 3.0, 5.0].map(burst_factor), [1.5, 1.5, 2.0, 3.0]);
        near(paper(Size::Bytes(0.0), Rate::mbit(10)).bucket, 67_815.0 + 1507.0);
    }

    /// Tokens saved during `t_below` under the threshold pay for the extra cost of staying above it
    /// during `t_above`.
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

    fn at(rate: Rate, now: Instant, rng: &mut Rng) -> Env<'_> {
        Env { now, link_rate: Some(rate), overhead: Bytes::new(7), rng }
    }

    /// Default capacity, threshold and bucket follow the rate; a link that is down changes nothing;
    /// the limit is the upper bound.
    #[test]
    fn a_capacity_in_time_follows_the_rate() {
        let params = CpAqmParams {
            limit: Bytes::new(90_000),
            capacity: Some(Size::Time(Duration::ms(36))),
            ..paper(Size::Time(Duration::ms(6)), Rate::mbit(10)).params
        };
        let mut cp = CpAqm::new(params, Some(Rate::mbit(10)));
        for (rate, capacity, threshold) in
            [(10, 45_000.0, 7_500.0), (5, 22_500.0, 3_750.0), (0, 22_500.0, 3_750.0), (40, 90_000.0, 30_000.0)]
        {
            cp.adopt(Some(Rate::mbit(rate)));
            assert_eq!((cp.capacity, cp.threshold), (capacity, threshold));
            near(cp.bucket, capacity * 1.5 * 1507.0 / 1500.0);
            near(cp.congestion(threshold), 1.0);
            near(cp.congestion(capacity), 1.2);
        }
    }

    /// Two departing packets of 1507 wire bytes earn that much at any time; an idle queue earns by
    /// time.
    #[test]
    fn departures_earn_what_they_take_from_the_queue() {
        let mut cp = paper(Size::Packets(5.0), Rate::mbit(10));
        cp.params.tokens = Tokens::Departures;
        let (mut rng, rate) = (Rng::new(1), Rate::mbit(10));
        let len = Bytes::new(1500);
        let packet = PacketView { len, ecn: Ecn::NotEct, flow: FlowHash(1), enqueued_at: Instant::ZERO };
        let _ = cp.on_arrival(&mut at(rate, Instant::ZERO, &mut rng), packet, QueueView::default());
        cp.fill = 1000.0;
        for second in [1, 100] {
            let _ =
                cp.on_departure(&mut at(rate, Instant::ZERO + Duration::secs(second), &mut rng), packet, QueueView::default());
        }
        near(cp.fill, 1000.0 + 2.0 * 1507.0);
        cp.on_idle(Instant::ZERO + Duration::secs(100));
        let now = Instant::ZERO + Duration::secs(100) + Duration::ms(4);
        let _ = cp.on_arrival(&mut at(rate, now, &mut rng), packet, QueueView::default());
        near(cp.fill, 1000.0 + 2.0 * 1507.0 + 5000.0);
    }
}
