//! The cells of the study's table of features, from the schemes' behavior: each judges the same
//! packets twice, once as those of one flow and once as those of twenty.

use super::{PACKET, RATE, nothing, points};
use crate::gallery::expr::Fault;
use crate::gallery::probes::probe::handle_timers;
use goodqueue_aqm::sched::AnyQdisc;
use goodqueue_aqm::spec::LinkFacts;
use goodqueue_aqm::{Dropped, Qdisc, Reason, SimplePacket, Sink};
use goodqueue_base::units::{Bytes, Duration, Ecn, Instant, Rng};
use goodqueue_lab::scenario::build;
use goodqueue_sim::QueueSpec;

const FLOWS: u32 = 20;
const LOAD: f64 = 1.05;
const SECONDS: u64 = 4;

/// The packets that a scheme signaled or lost, in order, and the backlog at its first decision.
#[derive(Debug, Default)]
struct Signals {
    packets: Vec<(u64, Reason)>,
    decisions: u64,
    first_at: Option<Bytes>,
}

impl Signals {
    fn note(&mut self, packet: u64, reason: Reason) {
        self.packets.push((packet, reason));
        self.decisions += u64::from(!reason.is_overflow());
    }
}

impl Sink<SimplePacket> for Signals {
    fn dropped(&mut self, packet: SimplePacket, drop: Dropped) {
        self.note(packet.id, drop.reason);
    }

    fn marked(&mut self, packet: &SimplePacket, reason: Reason) {
        self.note(packet.id, reason);
    }
}

/// The scheme of this number in the study's order, with its settings.
fn scheme(number: f64) -> Result<AnyQdisc<SimplePacket>, Fault> {
    let points = points(10)?;
    let point = points.get(number as usize).ok_or_else(|| nothing(format!("there is no scheme {number}")))?;
    let world = build::world(point, 0);
    let link = world.links.iter().find(|link| link.name == "core").ok_or_else(|| nothing("there is no core link"))?;
    let QueueSpec::Discipline { queue, ecn, limit } = &link.queue else {
        return Err(nothing("the core link has no discipline"));
    };
    let mtu = Bytes::new(u64::from(PACKET));
    let facts = LinkFacts { rate: Some(RATE), delay: link.delay, mtu, overhead: Bytes::ZERO, limit: *limit };
    AnyQdisc::build_over(queue, &facts, *ecn, Rng::new(1)).map_err(nothing)
}

/// Four seconds of load at 1.05 times the link's rate, by `flows` flows in turn.
fn signals(number: f64, flows: u32) -> Result<Signals, Fault> {
    let mut queue = scheme(number)?;
    let mut seen = Signals::default();
    let sending = RATE.transmission_time(Bytes::new(u64::from(PACKET)));
    let start = Instant::from_nanos(1);
    let (mut now, mut free_at, mut id) = (start, start, 0);
    while now.since(start) < Duration::secs(SECONDS) {
        while free_at <= now {
            handle_timers(&mut queue, free_at);
            if queue.dequeue(free_at, &mut seen).is_none() {
                break;
            }
            free_at += sending;
        }
        free_at = free_at.max(now);
        handle_timers(&mut queue, now);
        let backlog = queue.view().backlog;
        let flow = (id % u64::from(flows)) as u32;
        queue.enqueue(now, SimplePacket { id, flow, ecn: Ecn::Ect0, ..SimplePacket::new(PACKET) }, &mut seen);
        if seen.first_at.is_none() && seen.decisions > 0 {
            seen.first_at = Some(backlog);
        }
        id += 1;
        now += sending.mul_f64(1.0 / LOAD);
    }
    Ok(seen)
}

/// Whether a scheme signals while there is room (1: it avoids) or not (0: it controls).
pub(super) fn avoids(of: &[f64]) -> Result<f64, Fault> {
    Ok(f64::from(u8::from(signals(of[0], FLOWS)?.decisions > 0)))
}

/// The threshold of a scheme: none but the buffer (0), the same backlog however many flows send
/// (1), another one (2).
pub(super) fn threshold(of: &[f64]) -> Result<f64, Fault> {
    let (one, many) = (signals(of[0], 1)?, signals(of[0], FLOWS)?);
    Ok(match many.first_at {
        None => 0.0,
        Some(level) if one.first_at == Some(level) => 1.0,
        Some(_) => 2.0,
    })
}

/// The state of a scheme: that of the whole queue (1), if it signals the same packets whosever they
/// are, or of single flows (2).
pub(super) fn state(of: &[f64]) -> Result<f64, Fault> {
    Ok(if signals(of[0], 1)?.packets == signals(of[0], FLOWS)?.packets { 1.0 } else { 2.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tail_drop_has_no_threshold_and_jobs_follows_flows() {
        let cells = |number| [avoids(&[number]), threshold(&[number]), state(&[number])].map(|cell| cell.unwrap());
        assert_eq!(cells(0.0), [0.0, 0.0, 1.0]);
        assert_eq!(cells(1.0), [1.0, 1.0, 1.0]);
        assert_eq!(cells(5.0), [1.0, 2.0, 2.0]);
        assert!(scheme(6.0).is_err());
    }
}
