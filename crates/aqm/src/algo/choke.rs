//! CHOKe: RED that first compares each arriving packet with a randomly drawn waiting one and drops
//! both if they belong to the same flow.
//!
//! *Signal*: the average queue length of RED, in packets; and the flow of a waiting packet. Acts on
//! arrival.
//!
//! *Law*: up to an average of `min_th` every packet passes. Above it a waiting packet is drawn, all
//! being equally likely; if it belongs to the flow of the arriving packet, both are dropped.
//! Otherwise RED decides: up to `max_th` it signals at random with a probability that rises to
//! `max_p`, spaced evenly by the number of packets since the last signal; above `max_th` every
//! packet is signaled. The more of the queue a flow fills, the more often its packets meet each
//! other.
//!
//! *Parameters*: see `KINDS`. Those that the plain form of [`super::red`] has keep the (automatic)
//! defaults of RED; `max_p` is that of Linux's `tc`. With `harddrop` ECN-capable packets are
//! dropped, too, above `max_th` (Linux).
//!
//! *Deviations*: the queue's limit comes first here: a packet that does not fit is dropped without
//! a comparison; Linux compares first. The queue has no holes, so the first draw always finds a
//! waiting packet (Linux draws up to three times, then takes the head). A matched pair is dropped
//! even if ECN-capable, as in the sources. The matched arrival does not count in the spacing of
//! RED. A drop at an empty queue leaves it idle, so the average keeps falling. Deviations of RED
//! itself are those of [`super::red`]. With `arithmetic = linux` the kind reproduces the CHOKe of
//! Linux packet by packet as long as the limit is not reached (the law is in [`linux`]): a table
//! with holes, one random threshold per signal, a fixed-point average.
//!
//! *Limits*: a single TCP connection, or an aggregate that looks like one flow, keeps losing pairs
//! above `min_th`. Within a fair queue all waiting packets are of one flow and are not compared, so
//! only RED remains. Removing the drawn packet from the middle moves up to half of the waiting
//! packets.
//!
//! *Source*: Pan, Prabhakar and Psounis 2000; Linux sch_choke for ECN and the zone above `max_th`.

pub mod linux;

use super::Algorithm;
use super::red::params::{AUTO_W_Q, HARDDROP, LEGACY_STATIC, MAX_P, MAX_TH, MEAN_PKTSIZE, MIN_TH, TARGETDELAY, W_Q};
use super::red::{Adaptation, Facts, Red, RedParams, Zone};
use crate::aqm::{Aqm, Comparison, Env, PacketView, QueueView, Reason, Verdict};
use crate::arithmetic::{ARITHMETIC, Arithmetic};
use crate::spec::{Family, Kind, KindSpec, LinkFacts, ParamError, ParamValues, TypedParam};
use alloc::boxed::Box;
use goodqueue_base::units::{Duration, Instant, Packets};
use linux::LinuxChoke;

/// The treatment of ECN-capable packets above `max_th`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AboveMax {
    /// Signaled like others.
    Signal,
    /// Dropped.
    Drop,
}

impl AboveMax {
    const fn of(harddrop: bool) -> Self {
        if harddrop { Self::Drop } else { Self::Signal }
    }
}

/// State of CHOKe, one per queue.
#[derive(Clone, Debug)]
pub struct Choke {
    red: Red,
    above: AboveMax,
    /// Zone of the average when the last comparison was requested.
    zone: Zone,
    /// Decides instead when the arithmetic is that of Linux.
    linux: Option<Box<LinuxChoke>>,
}

impl Choke {
    /// Creates a CHOKe around `red`, which must neither adapt, nor be gentle, nor measure bytes.
    #[must_use]
    pub fn new(red: Red, above: AboveMax) -> Self {
        Self { red, above, zone: Zone::Below, linux: None }
    }

    /// Verdict of RED on a packet that matched no other.
    fn judge_by_red(&mut self, env: &mut Env<'_>, len: f64) -> Verdict {
        if self.zone == Zone::Above {
            self.red.leave_band();
            return match self.above {
                AboveMax::Signal => Verdict::Signal(Reason::Early),
                AboveMax::Drop => Verdict::Drop(Reason::Early),
            };
        }
        self.red.count_packet(len);
        self.red.judge_in_band(env, len)
    }
}

impl Aqm for Choke {
    #[inline]
    fn on_arrival(&mut self, env: &mut Env<'_>, _packet: PacketView, queue: QueueView) -> Verdict {
        if let Some(linux) = &mut self.linux {
            return linux.on_arrival(queue);
        }
        self.zone = self.red.locate(env.now, queue);
        if self.zone == Zone::Below {
            self.red.leave_band();
            return Verdict::Pass;
        }
        Verdict::Compare
    }

    fn on_comparison(
        &mut self,
        env: &mut Env<'_>,
        packet: PacketView,
        queue: QueueView,
        waiting: &dyn Fn(usize) -> Option<PacketView>,
    ) -> Comparison {
        if let Some(linux) = &mut self.linux {
            return linux.compare(env, packet, waiting);
        }
        if !queue.packets.is_zero() {
            // The product of a length and a number below one rounds down to a valid index.
            let place = (env.rng.uniform() * queue.packets.get() as f64) as usize;
            if waiting(place).is_some_and(|other| other.flow == packet.flow) {
                return Comparison::DropBoth(place, Reason::Match);
            }
        }
        let verdict = self.judge_by_red(env, packet.len.get() as f64);
        if queue.packets.is_zero() && !verdict.keeps(packet.ecn) {
            self.red.on_emptied(env.now);
        }
        Comparison::Judged(verdict)
    }

    /// The average counts every arrival.
    fn on_overflow(&mut self, env: &mut Env<'_>, _packet: PacketView, queue: QueueView) {
        match &mut self.linux {
            Some(linux) => linux.take_in(queue),
            None => self.zone = self.red.locate(env.now, queue),
        }
    }

    #[inline]
    fn on_departure(&mut self, _env: &mut Env<'_>, _head: PacketView, _queue: QueueView) -> Verdict {
        if let Some(linux) = &mut self.linux {
            linux.on_departure();
        }
        Verdict::Pass
    }

    fn on_evicted(&mut self, _env: &mut Env<'_>, count: Packets) {
        if let Some(linux) = &mut self.linux {
            (0..count.get()).for_each(|_| linux.on_departure());
        }
    }

    #[inline]
    fn on_emptied(&mut self, now: Instant) {
        self.red.on_emptied(now);
    }

    fn on_rate_change(&mut self, env: &mut Env<'_>) {
        self.red.on_rate_change(env);
    }

    fn gauges(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        self.red.gauges(&mut |name, value| match (name, &self.linux) {
            ("max_p", _) => {}
            ("average", Some(linux)) => visit(name, linux.average()),
            ("probability", Some(linux)) => visit(name, linux.probability()),
            _ => visit(name, value),
        });
    }
}

/// Parameters whose default or meaning is not that of RED.
const OWN_MAX_P: TypedParam<f64> =
    TypedParam::ratio(MAX_P.name(), 0.02).within(1e-9, 1.0).about("probability at max_th").from_source("Linux");
const OWN_HARDDROP: TypedParam<bool> =
    TypedParam::off(HARDDROP.name()).about("drop ECN-capable packets, too, above max_th").from_source("Linux");

impl Algorithm for Choke {
    const KINDS: &'static [KindSpec] = &[KindSpec::new(
        Kind {
            kind: "choke",
            aliases: &[],
            title: "CHOKe",
            summary: "RED that drops an arriving packet together with a randomly drawn waiting one of the same flow",
            params: &[
                MIN_TH.param,
                MAX_TH.param,
                OWN_MAX_P.param,
                W_Q.param,
                AUTO_W_Q.param,
                MEAN_PKTSIZE.param,
                TARGETDELAY.param,
                LEGACY_STATIC.param,
                OWN_HARDDROP.param,
                ARITHMETIC.param,
            ],
            source: "Pan, Prabhakar and Psounis 2000; Linux sch_choke",
        },
        Family::Red,
        "averaged queue length and a waiting packet, on arrival",
    )];

    fn build(given: &ParamValues<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let params = RedParams {
            min_th: MIN_TH.read(given),
            max_th: MAX_TH.read(given),
            max_p: OWN_MAX_P.read(given),
            w_q: W_Q.read(given),
            auto_w_q: AUTO_W_Q.read(given),
            gentle: false,
            bytes: false,
            queue_in_bytes: false,
            mean_pktsize: MEAN_PKTSIZE.bytes(given, link.mtu, link.rate)?,
            wait: false,
            use_mark_p: false,
            mark_p: 1.0,
            harddrop: false,
            adaptation: Adaptation::Off,
            alpha: 0.0,
            beta: 1.0,
            interval: Duration::MAX,
            top: 1.0,
            bottom: Some(0.0),
            targetdelay: TARGETDELAY.read(given),
            legacy_static: LEGACY_STATIC.read(given),
        };
        params.check_rate(link)?;
        let red = Red::new(params, Facts { rate: link.rate, delay: link.delay, mtu: link.mtu });
        let above = AboveMax::of(OWN_HARDDROP.read(given));
        let choke = Self::new(red, above);
        if ARITHMETIC.read(given) == Arithmetic::Linux {
            return Ok(Self { linux: Some(Box::new(LinuxChoke::build(given)?)), ..choke });
        }
        choke.red.check_thresholds()?;
        Ok(choke)
    }
}

#[cfg(test)]
mod tests;
