//! JoBS (joint buffer management and scheduling): classes with promised delays, losses and rates,
//! enforced by one rule for service and drops.
//!
//! *Signal*: at each arrival the age of each class's head, its backlog, and its losses in the busy
//! period.
//!
//! *Law*: each class has a rate. The next packet comes from the class that is furthest behind what
//! its rate would have sent since the busy period began. Rates are equal when classes begin or
//! cease to wait. A class with a delay bound `d` needs the rate `backlog / (d - age)`; a class with
//! a least rate needs that. The missing rate is taken from the least urgent classes that can spare
//! some; if there is not enough, the class drops until its rate suffices. Every `sampling`
//! arrivals, classes with delay shares `s` gain `K (age / s - mean)`,
//! `K = 2 s_min / (packet * sampling) * C'^2 * q * u * max(u, 1)`, where `C'` is what the others
//! leave of the link, `q` the smallest share of one of them in the bytes that they accepted, and
//! `u` the offered load. A full buffer drops from the class of the arriving packet; among classes
//! with loss shares, from the one with the smallest loss relative to its share; and if a class has
//! a loss bound that allows it, from that class. Loss bounds take precedence over delay bounds and
//! rates, and these over shares.
//!
//! *Parameters*: see `KINDS`. Class 0 is the least urgent. The defaults are those of ns-2; the
//! projection is off.
//!
//! *Deviations*: this is the feedback rule of ns-2.35 and not the optimization of the report; its
//! gain differs from that of the report. Shares replace factors between neighboring classes. Where
//! every loss bound forbids a drop, the class with the most room loses, which ns-2 intends but does
//! not achieve. A packet that is already late for its bound is dropped from the head, as dropping
//! the newest would not help it. Drops stop within one byte of enough. The load is that of the
//! latest half second, initially 1.
//!
//! The projection is our reading of the survey's §2.6: a router estimates window and round-trip
//! time of the flow of each arriving packet, projects arrivals, and marks before more waits than
//! the buffer holds. The full text of its authors (Christin and Liebeherr 2005) was not available,
//! only the abstract. Here the windows of all active flows, each growing by a segment per round
//! trip, are projected over the round-trip time of the packet's flow, the soonest that a mark can
//! act. If more than `b_lim` of the limit would wait then, or waits now, the packet is marked, once
//! per round trip of its flow, whose window is taken to stop growing now and to halve in a round
//! trip; what came of it is seen in later counts.
//!
//! No source that could be read settles the rest, and this is our choice. A window is bytes per
//! round trip, smoothed with `alpha` as the weight of the old; the survey's `K = 10` is without a
//! meaning there and without a parameter here. Since packets of one direction are seen, a
//! round-trip time is that from a flow's first packet, its SYN, to the first one after a pause that
//! takes three quarters of this time (the idea of Jiang and Dovrolis 2002, of whom only the
//! abstract could be read): at least the link's delay and a millisecond, at most a second, measured
//! once; until then it is `rtt`. Flows whose packets cannot be marked do not grow. Beyond `flows`
//! the flow that was silent longest is forgotten (gauge `evicted_flows`). So that an arrival costs
//! the same however many flows there are, sums over flows are kept: a flow counts as its latest
//! packet left it, until it has been silent for a second, only the backlog now and at the end is
//! compared, and what marks spare beyond the end is subtracted from what they spare within. The
//! projection does not distinguish classes.
//!
//! *Limits*: promises hold within busy periods, and no traffic is refused: contradictory promises
//! are missed. Needs the rate of the link; at rate zero no rates are computed. A single class is a
//! FIFO.
//!
//! *Source*: Liebeherr and Christin 2001; ns-2.35 (`jobs`); Koo, Ahn and Chung §2.6 for the
//! projection, which is Christin and Liebeherr 2005's; Jiang and Dovrolis 2002.

mod params;
mod projection;
mod rates;

use crate::aqm::{QueueView, Reason, Verdict};
use crate::books::{Books, Entry, Fate, Waiting};
use crate::counters::Counters;
use crate::outline::aside;
use crate::qdisc::{Departure, Packet, Qdisc, Sink};
use crate::queue::{Limit, Line};
use crate::sched::{Scheduler, Setup};
use crate::spec::{KindSpec, ParamError, ParamValues};
use alloc::boxed::Box;
use goodqueue_base::units::{Bytes, Duration, Instant, Packets, Rate};
pub use params::{DropEnd, JobsParams, ProjectionParams, Promise};
use params::{KIND, MAX};
use projection::{Projection, Room};
use rates::{Account, Load};

/// Time over which the offered load is measured (ns-2.35).
const LOAD_WINDOW: Duration = Duration::ms(500);
/// Rounding must not cost a packet.
const ENOUGH: f64 = 1.0;

/// The arrivals in a window, and the load and mean packet size in the last full one.
#[derive(Clone, Copy, Debug)]
struct Meter {
    since: Option<Instant>,
    bytes: u64,
    packets: u64,
    utilization: f64,
    mean_packet: f64,
}

impl Meter {
    fn note(&mut self, now: Instant, len: u64, link: f64) {
        let since = *self.since.get_or_insert(now);
        self.bytes += len;
        self.packets += 1;
        if now.since(since) >= LOAD_WINDOW {
            if link > 0.0 {
                self.utilization = self.bytes as f64 / (now.since(since).as_secs_f64() * link);
            }
            self.mean_packet = self.bytes as f64 / self.packets as f64;
            *self = Self { since: Some(now), bytes: 0, packets: 0, ..*self };
        }
    }
}

/// Classes under JoBS, holding packets of type `P`.
#[derive(Clone, Debug)]
pub struct Jobs<P> {
    lines: alloc::vec::Vec<Line<P>>,
    accounts: [Account; MAX],
    params: JobsParams,
    projection: Option<Projection>,
    meter: Meter,
    /// Bytes per second: zero while the link is down, and the last rate above zero.
    link: f64,
    known_link: f64,
    /// The latest time that `due` and ages are worked out for.
    settled_at: Instant,
    is_idle: bool,
    /// A bit for each class that waits.
    busy: u8,
    /// Whether a class that does not wait may have a rate.
    is_uneven: bool,
    has_absolute: bool,
    has_delay_shares: bool,
    arrivals: u32,
    missed_losses: u64,
    /// Backlog of all classes.
    total: QueueView,
    limit: Limit,
    /// Limit of each class where each has room of its own, and of all together where not.
    room: Limit,
    books: Books,
}

impl<P: Packet> Jobs<P> {
    /// Empty classes that drop rather than mark; `mtu` is what packets are taken to be before some
    /// were seen.
    #[must_use]
    pub fn new(params: JobsParams, limit: Limit, mtu: Bytes) -> Self {
        let mut jobs = Self::bare(params, limit, mtu);
        jobs.promise();
        jobs
    }

    /// Notes what is promised to each class.
    fn promise(&mut self) {
        let Self { accounts, params, .. } = self;
        accounts.iter_mut().zip(&params.promises).for_each(|(account, promise)| account.promise = *promise);
    }

    /// Creates the queue before promises are noted. Nothing changes it in here, so that it is made
    /// where it is wanted and not moved there.
    #[inline(always)]
    fn bare(params: JobsParams, limit: Limit, mtu: Bytes) -> Self {
        let parts = if params.separate { params.promises.len().max(1) as u64 } else { 1 };
        let room = Limit { packets: Packets::new(limit.packets.get() / parts), bytes: Bytes::new(limit.bytes.get() / parts) };
        Self {
            lines: params.promises.iter().map(|_| Line::new()).collect(),
            accounts: [Account::default(); MAX],
            projection: params.projection.map(Projection::new),
            meter: Meter { since: None, bytes: 0, packets: 0, utilization: 1.0, mean_packet: mtu.get() as f64 },
            link: 0.0,
            known_link: 0.0,
            settled_at: Instant::ZERO,
            is_idle: true,
            busy: 0,
            is_uneven: true,
            has_absolute: params.promises.iter().any(Promise::is_absolute),
            has_delay_shares: params.promises.iter().any(|promise| promise.delay_share.is_some()),
            arrivals: 0,
            missed_losses: 0,
            total: QueueView::default(),
            limit,
            room,
            books: Books::new(),
            params,
        }
    }

    /// Applies the settings that a host gives every queue: ECN policy, random stream and framing.
    pub(crate) fn set_up(&mut self, setup: Setup<'_>) {
        self.promise();
        self.books.set_up(setup.ecn, setup.rng, setup.link.overhead);
    }

    /// A packet of `len` is no longer in the line of `class`.
    #[inline]
    fn forget(&mut self, class: usize, len: Bytes) {
        if !self.accounts[class].is_busy() {
            self.busy &= !(1 << class);
            self.is_uneven = true;
        }
        self.total.backlog -= len;
        self.total.packets -= Packets::new(1);
    }

    fn wire(&self, len: Bytes) -> u64 {
        (len + self.books.overhead).get()
    }

    /// Brings what rates would have sent, and ages, up to now.
    #[inline]
    fn settle(&mut self, now: Instant) {
        let span = now.since(self.settled_at);
        self.settled_at = now;
        // A packet often leaves at the time at which another one came.
        if !span.is_zero() && self.link > 0.0 {
            let span = span.as_secs_f64();
            self.accounts[..self.lines.len()].iter_mut().for_each(|account| account.due += account.rate * span);
        }
        if self.has_absolute || self.has_delay_shares {
            self.accounts[..self.lines.len()].iter_mut().for_each(|account| account.age = account.age_at(now));
        }
    }

    /// A busy period begins.
    fn begin(&mut self) {
        for account in &mut self.accounts {
            *account = Account { promise: account.promise, rate: account.rate, ..Account::default() };
        }
        self.is_idle = false;
    }

    /// True if more waits than there is room for, `class` having got the latest packet.
    fn is_over(&self, class: usize) -> bool {
        let view = if self.params.separate { self.lines[class].view() } else { self.total };
        view.packets > self.room.packets || view.backlog > self.room.bytes
    }

    /// Wire bytes of the packet that `class` would lose.
    fn loses(&self, class: usize) -> u64 {
        let entry = match self.params.drop {
            DropEnd::Tail => self.lines[class].tail(),
            DropEnd::Head => self.lines[class].first(),
        };
        entry.map_or(0, |entry| self.wire(entry.packet.len()))
    }

    fn drop_from(&mut self, class: usize, end: DropEnd, now: Instant, reason: Reason, sink: &mut dyn Sink<P>) {
        let line = &mut self.lines[class];
        let entry = match end {
            DropEnd::Tail => line.pop_tail(),
            DropEnd::Head => (&mut *line).pop(),
        };
        let head_since = line.head_since();
        let Some(entry) = entry else { return };
        let len = self.wire(entry.packet.len());
        let account = &mut self.accounts[class];
        account.lost += len;
        account.backlog -= len;
        account.packets -= 1;
        account.head_since = head_since;
        account.age = account.age_at(now);
        self.forget(class, entry.packet.len());
        self.books.discard(entry, reason, sink);
    }

    /// Drops until the backlog fits.
    fn make_room(&mut self, class: usize, now: Instant, sink: &mut dyn Sink<P>) {
        while self.is_over(class) {
            let loser = if self.params.separate { class } else { self.choose_loser(class) };
            self.drop_from(loser, self.params.drop, now, Reason::Overflow, sink);
        }
    }

    fn choose_loser(&mut self, class: usize) -> usize {
        // A class that has lost all it had has nothing more to lose.
        let class = if self.accounts[class].is_busy() { class } else { self.next_class().unwrap_or(class) };
        let (loser, misses) = rates::victim(self.accounts(), class, |class| self.loses(class));
        self.missed_losses += u64::from(misses);
        loser
    }

    /// The class to be served.
    #[inline]
    fn next_class(&self) -> Option<usize> {
        // Mostly there is no choice.
        if self.busy.is_power_of_two() { Some(self.busy.trailing_zeros() as usize) } else { rates::next(self.accounts()) }
    }

    fn accounts(&self) -> &[Account] {
        &self.accounts[..self.lines.len()]
    }

    /// Sees to absolute promises; true when rates had to be moved.
    fn keep_promises(&mut self, now: Instant, sink: &mut dyn Sink<P>) -> bool {
        let (classes, link) = (self.lines.len(), self.link);
        if !rates::is_short(self.accounts(), link) {
            return false;
        }
        rates::redistribute(&mut self.accounts[..classes], link);
        self.is_uneven = true;
        for class in 0..classes {
            self.drop_late(class, now, sink);
        }
        true
    }

    /// Drops what the rate of `class` cannot send within its bound, as far as bounds of loss allow.
    fn drop_late(&mut self, class: usize, now: Instant, sink: &mut dyn Sink<P>) {
        let surplus = |account: &Account| {
            account
                .slack()
                .filter(|_| account.is_busy())
                .map_or(0.0, |slack| account.backlog as f64 - account.rate * slack.max(0.0))
        };
        let mut pain = surplus(&self.accounts[class]);
        while pain > ENOUGH {
            let is_late = self.accounts[class].is_late();
            let loser = if self.params.shares_pain && !is_late {
                rates::victim(self.accounts(), class, |class| self.loses(class)).0
            } else {
                class
            };
            let end = if is_late { DropEnd::Head } else { self.params.drop };
            let len = match end {
                DropEnd::Head => self.lines[loser].first().map_or(0, |entry| self.wire(entry.packet.len())),
                DropEnd::Tail => self.loses(loser),
            };
            if len == 0 || !self.accounts[loser].may_lose(len) {
                return;
            }
            self.drop_from(loser, end, now, Reason::Early, sink);
            pain = if loser == class { surplus(&self.accounts[class]) } else { pain - len as f64 };
        }
    }

    fn balance(&mut self) {
        self.arrivals = 0;
        if !self.has_delay_shares {
            return;
        }
        let load = Load {
            link: self.link,
            mean_packet: self.meter.mean_packet,
            utilization: self.meter.utilization,
            sampling: f64::from(self.params.sampling),
        };
        let classes = self.lines.len();
        rates::balance_delays(&mut self.accounts[..classes], load);
        self.is_uneven = true;
    }
}

impl<P: Packet> Qdisc<P> for Jobs<P> {
    fn enqueue(&mut self, now: Instant, mut packet: P, sink: &mut dyn Sink<P>) {
        self.books.arrive(&packet);
        self.settle(now);
        if self.is_idle {
            self.begin();
        }
        let class = packet.class().band(self.lines.len());
        let len = self.wire(packet.len());
        self.meter.note(now, len, self.link);
        self.accounts[class].arrived += len;
        if packet.len() > self.room.bytes || self.room.packets.is_zero() {
            self.accounts[class].lost += len;
            self.books.discard(Entry { packet, enqueued_at: now }, Reason::Overflow, sink);
            return;
        }
        let total = self.total;
        if let Some(projection) = &mut self.projection {
            let shown = self.books.shown(&packet, now);
            let limit = self.limit.bytes.get().min(self.limit.packets.get().saturating_mul(self.meter.mean_packet as u64)) as f64;
            let room = Room { backlog: total.backlog.get() as f64, limit, link: self.link };
            let place = projection.arrive(now, &shown);
            if shown.ecn.is_capable()
                && self.limit.admits(total, shown.len)
                && projection.marks(place, now, room)
                && let Fate::Drop(_) = self.books.carry_out(Verdict::Mark(Reason::Early), shown.ecn, &mut packet, sink)
            {
                debug_assert!(false, "marks never drop");
            }
        }
        let joins = !self.accounts[class].is_busy();
        self.total.backlog += packet.len();
        self.total.packets += Packets::new(1);
        self.lines[class].push(packet, now);
        let account = &mut self.accounts[class];
        if joins {
            account.head_since = Some(now);
        }
        account.backlog += len;
        account.packets += 1;
        self.busy |= 1 << class;
        self.make_room(class, now, sink);
        let left = self.is_uneven && self.accounts().iter().any(|account| !account.is_busy() && account.rate > 0.0);
        self.is_uneven = false;
        let classes = self.lines.len();
        if left || joins && self.accounts[class].is_busy() && self.accounts[class].rate <= 0.0 {
            rates::share_equally(&mut self.accounts[..classes], self.link);
        }
        self.arrivals += 1;
        if self.link > 0.0 && (self.has_absolute && self.keep_promises(now, sink) || self.arrivals >= self.params.sampling) {
            self.balance();
        }
    }

    fn dequeue(&mut self, now: Instant, _sink: &mut dyn Sink<P>) -> Option<Departure<P>> {
        self.settle(now);
        let Some(class) = self.next_class() else {
            self.is_idle = true;
            return None;
        };
        let mut line = &mut self.lines[class];
        let entry = line.pop()?;
        let len = (entry.packet.len() + self.books.overhead).get();
        let account = &mut self.accounts[class];
        account.head_since = line.head_since();
        account.sent += len;
        account.backlog -= len;
        account.packets -= 1;
        self.forget(class, entry.packet.len());
        self.books.counters.departed.add(entry.packet.len());
        Some(Departure { packet: entry.packet, enqueued_at: entry.enqueued_at })
    }

    fn next_timer(&self) -> Option<Instant> {
        None
    }

    fn handle_timer(&mut self, _: Instant) {}

    fn set_link_rate(&mut self, now: Instant, rate: Option<Rate>) {
        self.settle(now);
        self.is_uneven = true;
        self.books.set_link_rate(rate);
        // A rate that becomes unknown keeps its last value.
        let Some(rate) = rate.map(Rate::as_bytes_s_f64) else { return };
        if rate > 0.0 {
            if self.known_link > 0.0 {
                self.accounts.iter_mut().for_each(|account| account.rate *= rate / self.known_link);
            }
            self.known_link = rate;
        }
        self.link = rate;
    }

    fn reserve(&mut self, packets: usize) {
        // One more is queued before others are dropped.
        self.lines.iter_mut().for_each(|line| line.reserve(packets.saturating_add(1)));
    }

    fn view(&self) -> QueueView {
        self.total
    }

    fn counters(&self) -> Counters {
        self.books.counters.clone()
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        const RATES: [&str; MAX] = [
            "class_0_bit_s",
            "class_1_bit_s",
            "class_2_bit_s",
            "class_3_bit_s",
            "class_4_bit_s",
            "class_5_bit_s",
            "class_6_bit_s",
            "class_7_bit_s",
        ];
        const AGES: [&str; MAX] = [
            "class_0_age_s",
            "class_1_age_s",
            "class_2_age_s",
            "class_3_age_s",
            "class_4_age_s",
            "class_5_age_s",
            "class_6_age_s",
            "class_7_age_s",
        ];
        for (class, account) in self.accounts().iter().rev().enumerate() {
            visit(RATES[class], 8.0 * account.rate);
            visit(AGES[class], account.age_at(self.settled_at));
        }
        visit("offered_load", self.meter.utilization);
        visit("missed_loss_bounds", self.missed_losses as f64);
        let ahead = self.projection.as_ref();
        visit("projected_windows", ahead.map_or(0.0, Projection::windows));
        visit("followed_flows", ahead.map_or(0.0, |ahead| ahead.followed() as f64));
        visit("evicted_flows", ahead.map_or(0.0, |ahead| ahead.evicted() as f64));
    }
}

/// The kind `jobs`.
#[derive(Clone, Copy, Debug)]
pub struct JobsKind;

impl Scheduler for JobsKind {
    const KIND: KindSpec = KIND;
    type Queue<P> = Box<Jobs<P>>;

    fn build<P: Packet, R>(
        given: &ParamValues<'_>,
        setup: Setup<'_>,
        keep: impl FnOnce(Self::Queue<P>) -> R,
    ) -> Result<R, ParamError> {
        let params = JobsParams::build(given, setup.link)?;
        let mut queue = aside(|| Box::write(Box::new_uninit(), Jobs::bare(params, setup.link.limit, setup.link.mtu)));
        queue.set_up(setup);
        Ok(keep(queue))
    }
}

#[cfg(test)]
mod tests;
