//! The figures of a line that a file has, for a question about the line.

use crate::FULL_PACKET;
use crate::import::{Draft, Origin, Way};
use goodqueue_base::line::{RateCursor, RateSpec};
use goodqueue_base::units::{Direction, Duration, Framing, Instant, Rate};
use goodqueue_lab::scenario::plan::{LinkDirection, Plan, PlanError};
use std::path::Path;

/// A figure and its origin, which is measured or estimated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known<T> {
    /// The figure.
    pub value: T,
    /// The origin.
    pub origin: Origin,
}

/// A line as it is known from a file. Figures that [`Draft::text`] assumes are not among them.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredLine {
    /// The rate toward the user, the middle of one that varies.
    pub down: Option<Known<Rate>>,
    /// The rate from the user.
    pub up: Option<Known<Rate>>,
    /// Part by which a rate that varies lies above or below its middle; zero for constant rates.
    pub varies: f64,
    /// Round-trip time without queueing.
    pub rtt: Option<Known<Duration>>,
    /// The amount that the buffer toward the user holds, as time at the rate.
    pub buffer_down: Option<Known<Duration>>,
    /// The amount that the buffer from the user holds.
    pub buffer_up: Option<Known<Duration>>,
    /// The framing of packets.
    pub framing: Option<Known<Framing>>,
    /// Remarks on the figures, in sentences.
    pub notes: Vec<String>,
}

impl Draft {
    /// The figures that the file has.
    ///
    /// # Errors
    /// When the scenario of this draft cannot be read.
    pub fn measured(&self) -> Result<MeasuredLine, PlanError> {
        let plan = Plan::parse(&format!("scenario made from {}", self.name), &self.text(), Path::new(""))?;
        let scenario = plan.point(0)?.plan;
        let link = scenario.main_link();
        let until = Instant::ZERO + scenario.duration;
        let (mut down, down_varies) = rate(&self.down, &link.down, until);
        let (mut up, up_varies) = self.up.as_ref().map_or((None, 0.0), |way| rate(way, &link.up, until));
        let mut buffer_down = held(&self.down, &link.down);
        let mut buffer_up = self.up.as_ref().and_then(|way| held(way, &link.up));
        if self.down.known_as == Direction::Up && self.up.is_none() {
            (up, buffer_up) = (down.take(), buffer_down.take());
        }
        Ok(MeasuredLine {
            down,
            up,
            varies: down_varies.max(up_varies),
            rtt: known(link.down.delay + link.up.delay, &whole(&self.delay[0].origin)),
            buffer_down,
            buffer_up,
            framing: self.framing.as_ref().and_then(|(framing, origin)| known(*framing, origin)),
            notes: self.notes.clone(),
        })
    }
}

fn known<T>(value: T, origin: &Origin) -> Option<Known<T>> {
    let is_known = matches!(origin, Origin::Measured(_) | Origin::Set(_) | Origin::Estimated(_));
    is_known.then(|| Known { value, origin: origin.clone() })
}

/// The origin of a round-trip time, of which a scenario has half in each direction.
fn whole(origin: &Origin) -> Origin {
    let words = |why: &String| why.strip_prefix("half of ").unwrap_or(why).to_owned();
    match origin {
        Origin::Measured(why) => Origin::Measured(words(why)),
        Origin::Set(why) => Origin::Set(words(why)),
        Origin::Estimated(why) => Origin::Estimated(words(why)),
        Origin::Assumed(why) => Origin::Assumed(words(why)),
    }
}

/// The middle between the slow and the fast seconds of a rate, and how far they are from it: a
/// tenth of the time is slower, and a tenth is faster.
fn rate(way: &Way, link: &LinkDirection, until: Instant) -> (Option<Known<Rate>>, f64) {
    const SECOND: Duration = Duration::secs(1);
    let is_constant = matches!(link.rate, RateSpec::Constant(_)) || until < Instant::ZERO + SECOND;
    if is_constant {
        return (known(link.nominal_rate(), &way.rate.origin), 0.0);
    }
    let line = RateCursor::new(&link.rate);
    let mut seconds: Vec<f64> = (0..until.since(Instant::ZERO).as_nanos() / SECOND.as_nanos())
        .map(|second| Instant::ZERO + SECOND * second)
        .map(|from| line.capacity_bits(from, from + SECOND))
        .collect();
    seconds.sort_by(f64::total_cmp);
    let [slow, fast] = [1, 9].map(|tenths| seconds[(seconds.len() - 1) * tenths / 10]);
    let middle = Rate::bit_s(((slow + fast) / 2.0).round() as u64);
    (known(middle, &way.rate.origin), (fast - slow) / (fast + slow).max(1.0))
}

/// The buffer of a line, to a tenth of a millisecond and not below one. That of a queue in
/// the file is the router's own limit and tells nothing of the modem.
fn held(way: &Way, link: &LinkDirection) -> Option<Known<Duration>> {
    if !matches!(way.queue.origin, Origin::Assumed(_)) {
        return None;
    }
    let limit = link.queue.as_ref()?.limit;
    let bytes = limit.bytes.get().min(limit.packets.get().saturating_mul(FULL_PACKET.get()));
    let lasts = bytes as f64 * 8.0 / link.nominal_rate().as_bit_s().max(1) as f64;
    known(Duration::us((lasts * 1e4).round() as u64 * 100).max(Duration::ms(1)), &way.buffer.origin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::Input;
    use crate::import::any::read;

    fn measured(text: &str) -> MeasuredLine {
        read(&Input::read("x", text.as_bytes()).unwrap()).unwrap().measured().unwrap()
    }

    #[test]
    fn a_speed_test_knows_all_but_framing() {
        let line = measured(
            r#"{"base_rtt":20,"dl_throughput":1e8,"ul_throughput":2e7,"dl_responsiveness":600,"ul_responsiveness":100}"#,
        );
        assert_eq!(line.down.unwrap().value, Rate::kbit(103_600));
        assert_eq!(line.up.unwrap().value, Rate::kbit(20_720));
        let origin = Origin::Measured("base_rtt, 20 ms of idle latency".to_owned());
        assert_eq!(line.rtt.unwrap(), Known { value: Duration::ms(20), origin });
        assert_eq!(line.buffer_down.unwrap().value, Duration::ms(80));
        let up = line.buffer_up.unwrap();
        assert_eq!(up.value, Duration::ms(580));
        assert!(matches!(up.origin, Origin::Estimated(_)), "{up:?}");
        assert_eq!((line.framing, line.varies), (None, 0.0));
    }

    #[test]
    fn assumed_figures_are_not_known() {
        let line = measured(r#"{"download":50000000.5,"upload":10000000,"ping":null}"#);
        assert!(line.down.is_some() && line.up.is_some());
        assert_eq!((line.rtt, line.buffer_down, line.buffer_up), (None, None, None));
        let one = measured(r#"{"results":{"TCP download":[5,5]}}"#);
        assert!(one.down.is_some() && one.up.is_none());
        let other = measured(r#"{"results":{"TCP upload":[5,5]}}"#);
        assert!(other.down.is_none() && other.up.is_some());
        let controlled = measured("timestamp_unix_ms;site;direction;queue_mbps\n1;a;up;20\n");
        assert!(controlled.down.is_none() && controlled.up.unwrap().value == Rate::mbit(20));
    }

    #[test]
    fn limits_of_a_router_are_no_buffer_of_the_line() {
        let line = measured("tc qdisc add dev eth0 root cake bandwidth 16mbit pppoe-ptm memlimit 1mb");
        assert_eq!((line.down, line.up.unwrap().value), (None, Rate::mbit(16)));
        assert_eq!(line.framing.unwrap().value, Framing::named("pppoe-ptm").unwrap());
        assert_eq!((line.buffer_down, line.rtt), (None, None));
        let bare = measured("tc qdisc add dev eth0 root fq_codel");
        assert_eq!((bare.down, bare.up), (None, None));
    }

    #[test]
    fn a_rate_in_steps_varies_around_its_middle() {
        let rows: String =
            (0..60).map(|second| format!("LOAD;x;{second};1;1;1;{};20000\n", [30_000, 50_000][second / 30])).collect();
        let line = measured(&rows);
        assert_eq!((line.down.unwrap().value, line.up.unwrap().value), (Rate::mbit(40), Rate::mbit(20)));
        assert_eq!(line.varies, 0.25);
    }
}
