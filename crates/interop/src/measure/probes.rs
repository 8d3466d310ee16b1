//! Probes of the client, the offset of the server's clock, and delays in each direction.

use crate::measure::delays::{Delays, Quantiles};
use crate::measure::key::Key;
use crate::measure::message::{Datagram, PROBE_BYTES};
use goodqueue_base::units::{Duration, Instant};
use goodqueue_lab::results::statistics::Figure;

/// Parts of a window that intervals of its delays follow from.
const PARTS: u64 = 8;
/// Probes that are kept.
const MAX_PROBES: usize = 40_000;

/// A span of the client's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The beginning.
    pub from: Instant,
    /// The end, which is not part of it.
    pub to: Instant,
}

impl Window {
    fn has(&self, at: Instant) -> bool {
        (self.from..self.to).contains(&at)
    }

    /// The length.
    #[must_use]
    pub fn span(&self) -> Duration {
        self.to.since(self.from)
    }

    /// Equal parts, in order.
    pub(crate) fn parts(self, count: u64) -> impl Iterator<Item = Self> {
        let place = move |n: u64| {
            self.from + Duration::ns((u128::from(self.span().as_nanos()) * u128::from(n) / u128::from(count)) as u64)
        };
        (0..count).map(move |n| Self { from: place(n), to: place(n + 1) })
    }
}

/// Times of an answer: at the server by its clock, and back at the client.
#[derive(Clone, Copy, Debug)]
struct Answer {
    received: u64,
    answered: u64,
    back: Instant,
    count: u32,
}

/// Probes that were sent, each with its answer.
#[derive(Clone, Debug, Default)]
pub struct Probes {
    sent: Vec<(Instant, Option<Answer>)>,
}

impl Probes {
    /// The next probe; `None` after very many.
    pub fn next(&mut self, now: Instant, session: u64, key: &Key) -> Option<[u8; PROBE_BYTES]> {
        let number = self.sent.len();
        if number >= MAX_PROBES {
            return None;
        }
        self.sent.push((now, None));
        Some(Datagram { session, number: number as u64, ..Datagram::default() }.sealed(key))
    }

    /// Takes an answer that has come back. Others, and the second of one probe, are left alone.
    pub fn answer(&mut self, back: Instant, datagram: &[u8], session: u64, key: &Key) {
        let Some(read) = Datagram::read(datagram, key).filter(|read| read.session == session && read.answered > 0) else {
            return;
        };
        let Some((_, answer @ None)) = usize::try_from(read.number).ok().and_then(|number| self.sent.get_mut(number)) else {
            return;
        };
        *answer = Some(Answer { received: read.received, answered: read.answered, back, count: read.count });
    }

    /// The delays and losses of the probes sent within a window; `None` without an answer.
    #[must_use]
    pub fn delays(&self, window: Window, clock: &Clock) -> Option<Delays> {
        let seen = self.seen(window);
        let times = |time: &dyn Fn(Instant, &Answer) -> f64| {
            Quantiles::of(seen.iter().map(|(sent, answer)| time(*sent, answer)).collect())
        };
        let parts: Vec<Option<Quantiles>> = window
            .parts(PARTS)
            .map(|part| Quantiles::of(self.seen(part).iter().map(|(sent, answer)| round_trip(*sent, answer)).collect()))
            .collect();
        let over_parts = |of: fn(&Quantiles) -> f64| Figure::of(parts.iter().map(|part| part.as_ref().map(of)));
        let probes = self.sent.iter().filter(|(sent, _)| window.has(*sent)).count() as u32;
        let lost_up = self.lost_up(window).min(probes);
        Some(Delays {
            probes,
            lost_up,
            lost_down: (probes - lost_up).saturating_sub(seen.len() as u32),
            rtt_s: times(&round_trip)?,
            down_s: times(&|_, answer| {
                seconds(i128::from(answer.back.as_nanos()) - i128::from(answer.answered)) + clock.offset_s(answer.back)
            })?,
            up_s: times(&|sent, answer| {
                seconds(i128::from(answer.received) - i128::from(sent.as_nanos())) - clock.offset_s(sent)
            })?,
            rtt_p50_s: over_parts(|part| part.p50),
            rtt_p95_s: over_parts(|part| part.p95),
        })
    }

    fn seen(&self, window: Window) -> Vec<(Instant, Answer)> {
        self.sent.iter().filter(|(sent, _)| window.has(*sent)).filter_map(|(sent, answer)| Some((*sent, (*answer)?))).collect()
    }

    /// Probes sent within the window that the server does not count: those sent less those counted
    /// between the last answer before it and the first answer after it.
    fn lost_up(&self, window: Window) -> u32 {
        let counted =
            |(number, (_, answer)): (usize, &(Instant, Option<Answer>))| Some((number as u32 + 1, answer.as_ref()?.count));
        let all = || self.sent.iter().enumerate();
        let before = all().take_while(|(_, (sent, _))| *sent < window.from).filter_map(counted).last().unwrap_or((0, 0));
        let after = all().skip_while(|(_, (sent, _))| *sent < window.to).find_map(counted);
        let after = after.or_else(|| all().filter_map(counted).next_back()).unwrap_or(before);
        (after.0 - before.0.min(after.0)).saturating_sub(after.1.saturating_sub(before.1))
    }
}

fn seconds(nanos: i128) -> f64 {
    nanos as f64 / 1e9
}

/// The time between probe and answer, less the server's part of it.
fn round_trip(sent: Instant, answer: &Answer) -> f64 {
    answer.back.since(sent).saturating_sub(Duration::ns(answer.answered.saturating_sub(answer.received))).as_secs_f64()
}

/// The server's clock as the client's sees it. At the fastest probe of an idle window, both
/// directions are taken to be equally long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    first: (Instant, f64),
    last: (Instant, f64),
    /// Half of the fastest round trip: the offset cannot be further off.
    pub uncertainty_s: f64,
}

impl Clock {
    /// From the fastest probe of each of these windows; `None` where none was answered.
    #[must_use]
    pub fn of(probes: &Probes, idle: &[Window]) -> Option<Self> {
        let points: Vec<(Instant, f64, f64)> = idle
            .iter()
            .filter_map(|window| {
                let seen = probes.seen(*window);
                let (sent, answer) = seen.iter().min_by(|(a, x), (b, y)| round_trip(*a, x).total_cmp(&round_trip(*b, y)))?;
                let there = i128::from(answer.received) - i128::from(sent.as_nanos());
                let back = i128::from(answer.answered) - i128::from(answer.back.as_nanos());
                Some((*sent, seconds(there + back) / 2.0, round_trip(*sent, answer)))
            })
            .collect();
        let (first, last) = (points.first()?, points.last()?);
        let uncertainty_s = first.2.max(last.2) / 2.0;
        Some(Self { first: (first.0, first.1), last: (last.0, last.1), uncertainty_s })
    }

    /// Time of the server's clock less that of the client's, in seconds, on a straight line between
    /// the idle windows.
    #[must_use]
    pub fn offset_s(&self, at: Instant) -> f64 {
        self.first.1 + self.drift() * seconds(i128::from(at.as_nanos()) - i128::from(self.first.0.as_nanos()))
    }

    /// Seconds that the server's clock gains in each second.
    #[must_use]
    pub fn drift(&self) -> f64 {
        let span = self.last.0.since(self.first.0).as_secs_f64();
        if span > 0.0 { (self.last.1 - self.first.1) / span } else { 0.0 }
    }

    /// The client's time at a time of the server.
    #[must_use]
    pub fn at_client(&self, server: Instant) -> Instant {
        let guess = server.as_nanos() as f64 - self.first.1 * 1e9;
        let offset = self.offset_s(Instant::from_nanos(guess.max(0.0) as u64));
        Instant::from_nanos((i128::from(server.as_nanos()) - (offset * 1e9) as i128).max(0) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::gate::{Gate, Limits};
    use crate::measure::message::{Kind, Message};
    use std::net::{IpAddr, Ipv4Addr};

    const PEER: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
    /// The server's clock is ahead by a thousand seconds and gains 40 parts per million.
    const AHEAD: Duration = Duration::secs(1_000);

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::ms(ms)
    }

    fn at_server(now: Instant) -> Instant {
        now + AHEAD + Duration::ns(now.as_nanos() / 25_000)
    }

    fn session(key: &Key, gate: &mut Gate) -> (u64, Key) {
        let hello = Message::of(Kind::Hello).sealed(key);
        let challenge = gate.challenge(&hello, [2; 16]).unwrap();
        let session = key.of_session(&[0; 16], &[2; 16]);
        let open = Message { nonce: [2; 16], ..Message::of(Kind::Open) }.sealed(&session);
        gate.open(at_server(at(0)), PEER, &challenge, &open).unwrap();
        gate.session(at_server(at(0)), &challenge).unwrap()
    }

    /// Client and server over a line of 15 ms in each direction, in virtual time. A probe every
    /// 40 ms. From 5 to 25 s it waits 100 ms more on the way down; each tenth is lost on the way
    /// up, and each fourth of the others on the way down.
    fn measured() -> (Probes, Clock) {
        let key = Key::from_random([1; 32]);
        let mut gate = Gate::new(key.clone(), Limits::default());
        let (id, key) = session(&key, &mut gate);
        let mut probes = Probes::default();
        for number in 0..750 {
            let now = at(40 * number);
            let bytes = probes.next(now, id, &key).unwrap();
            let is_loaded = (5_000..25_000).contains(&(40 * number));
            if is_loaded && number % 10 == 0 {
                continue;
            }
            let there = at_server(now + Duration::ms(15));
            let answer = gate.answer(there, there + Duration::us(50), PEER, &bytes).unwrap();
            let queue = Duration::ms(if is_loaded { 100 } else { 0 });
            let back = now + Duration::ms(30) + Duration::us(50) + queue;
            if !(is_loaded && number % 4 == 1) {
                probes.answer(back, &answer, id, &key);
                probes.answer(back + Duration::ms(1), &answer, id, &key);
            }
        }
        let clock = Clock::of(&probes, &[Window { from: at(0), to: at(5_000) }, Window { from: at(25_000), to: at(30_000) }]);
        (probes, clock.unwrap())
    }

    fn near(got: f64, expected: f64) {
        assert!((got - expected).abs() < 1e-5, "{got} but {expected}");
    }

    #[test]
    fn delays_of_each_direction_need_no_common_clock() {
        let (probes, clock) = measured();
        near(clock.offset_s(at(0)), 1_000.0);
        near(clock.drift() * 1e3, 4e-2);
        near(clock.uncertainty_s, 0.015);
        let idle = probes.delays(Window { from: at(0), to: at(5_000) }, &clock).unwrap();
        near(idle.rtt_s.p95, 0.030);
        near(idle.up_s.max, 0.015);
        near(idle.down_s.min, 0.015);
        assert_eq!((idle.probes, idle.lost_up, idle.lost_down), (125, 0, 0));
        let loaded = probes.delays(Window { from: at(5_000), to: at(25_000) }, &clock).unwrap();
        near(loaded.rtt_s.p50, 0.130);
        near(loaded.down_s.p95, 0.115);
        near(loaded.up_s.p95, 0.015);
        near(loaded.rtt_p95_s.mean.unwrap(), 0.130);
        near(loaded.rtt_p95_s.ci95.unwrap(), 0.0);
    }

    #[test]
    fn losses_are_told_apart_by_direction() {
        let (probes, clock) = measured();
        let loaded = probes.delays(Window { from: at(5_000), to: at(25_000) }, &clock).unwrap();
        // Of the numbers 125 to 624, each tenth from 130 on, and each fourth from 125 on: all are
        // odd, so none is both.
        assert_eq!((loaded.probes, loaded.lost_up, loaded.lost_down), (500, 50, 125));
    }

    #[test]
    fn times_of_the_server_are_found_at_the_client() {
        let (_, clock) = measured();
        let there = clock.at_client(at_server(at(20_000)));
        near(there.as_secs_f64(), 20.0);
    }

    #[test]
    fn strangers_change_nothing() {
        let key = Key::from_random([1; 32]);
        let mut probes = Probes::default();
        let probe = probes.next(at(0), 1, &key).unwrap();
        probes.answer(at(1), &probe, 1, &key);
        probes.answer(at(1), &[0; 64], 1, &key);
        let answer = |session, number| Datagram { session, number, received: 1, answered: 1, count: 1 }.sealed(&key);
        probes.answer(at(1), &answer(2, 0), 1, &key);
        probes.answer(at(1), &answer(1, 7), 1, &key);
        assert_eq!(Clock::of(&probes, &[Window { from: at(0), to: at(10) }]), None);
    }
}
