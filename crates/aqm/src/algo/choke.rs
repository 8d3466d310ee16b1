//! CHOKe: RED that first compares each arriving packet with one that waits, and drops both if they are of the same flow.
//!
//! *Signal*: RED's average of the queue length in packets; and who else waits. Acts on arrival.
//!
//! *Law*: up to an average of `min_th` every packet passes. Above it a waiting packet is drawn, each as likely as any other; if it
//! belongs to the arriving packet's flow, both are dropped. Otherwise RED goes on: up to `max_th` signals at random with
//! a probability that rises to `max_p`, spread evenly by the count of packets since the last one; above `max_th` every packet is
//! signalled. A flow that fills the queue meets itself the more often.
//!
//! *Parameters*: those of [`super::red`] that its plain form has: `min_th`, `max_th`, `w_q`, `auto_w_q`, `mean_pktsize`, `targetdelay`,
//! `legacy_static` with RED's (automatic) defaults, and `max_p` 0.02 (Linux's `tc`). `harddrop` off: above `max_th` ECN-capable packets are
//! dropped, too (Linux).
//!
//! *Departures*: a packet that does not fit is dropped without meeting another, as the queue's limit comes first here; Linux compares
//! first. The queue has no holes, so every waiting packet can be drawn at once (Linux draws up to three times, then takes the
//! head). A matched pair is dropped even if ECN-capable, as in the sources. The matched arrival does not count towards RED's spacing.
//! RED's own peculiarities are those of [`super::red`]. With `arithmetic = linux` it is Linux's CHOKe, packet by packet, where the limit is not
//! hit ([`linux`] has its law): a table with holes, a random threshold drawn once a signal, an average in fixed point.
//!
//! *Limits*: a single TCP connection, or an aggregate that looks like one flow, keeps losing pairs above `min_th`. Inside a fair queue nobody can
//! be met, and RED alone remains. The drawn packet is taken out of the middle, which moves up to half the waiting ones.
//!
//! *Source*: Pan, Prabhakar and Psounis 2000; Linux sch_choke for ECN and the zone above `max_th`.

pub mod linux;

use super::Algorithm;
use super::red::{Adaptation, Facts, Red, RedParams, WeightRule, Zone};
use crate::aqm::{Aqm, Comparison, Env, PacketView, QueueView, Reason, Verdict};
use crate::arithmetic::{ARITHMETIC, Arithmetic};
use crate::spec::{Default as ParamDefault, Given, KindSpec, LinkFacts, ParamError, ParamSpec, Unit, Value, pick};
use alloc::boxed::Box;
use goodqueue_units::{Bytes, Duration, Instant, Packets};
use linux::{LinuxChoke, LinuxChokeParams};

/// What happens to ECN-capable packets above `max_th`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AboveMax {
    /// They are signalled like others.
    #[default]
    Signal,
    /// They are dropped.
    Drop,
}

/// CHOKe's state: one a queue.
#[derive(Clone, Debug)]
pub struct Choke {
    red: Red,
    above: AboveMax,
    /// Where the average stood when a comparison was asked for.
    zone: Zone,
    /// Who decides instead, in Linux's arithmetic.
    linux: Option<Box<LinuxChoke>>,
}

impl Choke {
    /// CHOKe around `red`, which must not adapt, be gentle or measure bytes.
    #[must_use]
    pub fn new(red: Red, above: AboveMax) -> Self {
        Self { red, above, zone: Zone::Below, linux: None }
    }

    /// RED's verdict on a packet that met no other of its flow.
    fn go_on(&mut self, env: &mut Env<'_>, len: f64) -> Verdict {
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
            // A product with a number below one rounds down to a place that exists.
            let place = (env.rng.uniform() * queue.packets.get() as f64) as usize;
            if waiting(place).is_some_and(|other| other.flow == packet.flow) {
                return Comparison::DropBoth(place, Reason::Match);
            }
        }
        Comparison::Judged(self.go_on(env, packet.len.get() as f64))
    }

    /// The average sees every arrival.
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

const INHERITED: [ParamSpec; 7] = pick(
    Red::KINDS[0].params,
    ["min_th", "max_th", "w_q", "auto_w_q", "mean_pktsize", "targetdelay", "legacy_static"],
);

const PARAMS: [ParamSpec; 10] = {
    let [min_th, max_th, w_q, auto_w_q, mean_pktsize, targetdelay, legacy_static] = INHERITED;
    let max_p = ParamSpec {
        name: "max_p",
        unit: Unit::Ratio,
        default: ParamDefault::Value(Value::Number(0.02)),
        range: (1e-9, 1.0),
        doc: "probability at max_th",
        source: "Linux",
    };
    let harddrop = ParamSpec {
        name: "harddrop",
        unit: Unit::Switch,
        default: ParamDefault::Value(Value::Switch(false)),
        range: (0.0, 1.0),
        doc: "drop ECN-capable packets, too, above max_th",
        source: "Linux",
    };
    [min_th, max_th, max_p, w_q, auto_w_q, mean_pktsize, targetdelay, legacy_static, harddrop, ARITHMETIC]
};

impl Algorithm for Choke {
    const KINDS: &'static [KindSpec] = &[KindSpec {
        kind: "choke",
        summary: "RED that drops an arriving packet together with a randomly drawn waiting one of the same flow",
        signal: "averaged queue length and a waiting packet, on arrival",
        marks: true,
        params: &PARAMS,
        source: "Pan, Prabhakar and Psounis 2000; Linux sch_choke",
    }];

    fn build(given: &Given<'_>, link: &LinkFacts) -> Result<Self, ParamError> {
        let size = |name| match given.value(name) {
            Some(Value::Size(size)) => Some(size),
            _ => None,
        };
        let params = RedParams {
            min_th: size("min_th"),
            max_th: size("max_th"),
            max_p: given.number("max_p").unwrap_or_default(),
            w_q: given.number("w_q"),
            auto_w_q: WeightRule::of(given),
            gentle: false,
            bytes: false,
            queue_in_bytes: false,
            mean_pktsize: given.bytes("mean_pktsize", link)?.unwrap_or(Bytes::new(500)),
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
            targetdelay: given.duration("targetdelay").unwrap_or_default(),
            legacy_static: given.switch("legacy_static").unwrap_or_default(),
        };
        params.check_rate(link)?;
        let red = Red::new(params, Facts { rate: link.rate, delay: link.delay, mtu: link.mtu });
        let above = if given.switch("harddrop") == Some(true) { AboveMax::Drop } else { AboveMax::Signal };
        let choke = Self::new(red, above);
        if Arithmetic::of(given) == Arithmetic::Linux {
            let linux = LinuxChoke::new(LinuxChokeParams::build(given, link)?);
            return Ok(Self { linux: Some(Box::new(linux)), ..choke });
        }
        choke.red.check_thresholds()?;
        Ok(choke)
    }
}

#[cfg(test)]
mod tests;
