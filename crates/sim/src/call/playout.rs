//! The receiver of a call: a buffer whose delay follows the packets, as receivers of browsers have
//! it.
//!
//! Target and steps are those of the delay manager of WebRTC's NetEq (libwebrtc: quantile 0.95,
//! forget factor 0.983, start weight 2, resampling every 500 ms, 100 buckets of 20 ms, start at
//! 80 ms; steps of 15 ms at least 60 ms apart; at most 200 packets). That it works on whole frames
//! is our choice.

use super::bursts::Bursts;
use super::codec::Codec;
use super::emodel::{self, Scale, delay_impairment};
use super::stretch::Stretch;
use goodqueue_aqm::math::exp;
use goodqueue_base::units::{Duration, Instant};
use std::collections::VecDeque;

/// Delays are compared with the least and greatest of the packets of this long.
const HISTORY: Duration = Duration::secs(2);
/// Change of delay at a time.
const STEP: i64 = 15_000_000;
/// Time concealed at a time while nothing is there.
const CONCEALED: i64 = 10_000_000;
/// Least time between two changes.
const MIN_BETWEEN_CHANGES: i64 = 60_000_000;
/// Packets that the buffer holds.
const MAX_PACKETS: usize = 200;
/// A hole above this is heard. Our choice.
const MAX_UNHEARD_HOLE: i64 = 15_000_000;
/// Nearly all users are dissatisfied below this rating (G.107 annex B).
const DISSATISFIED: f64 = 60.0;
/// A shorter call is not rated: a second of speech. Our choice.
const MIN_FRAMES: u64 = 50;
/// Length of a window, about that of the samples of ITU-T P.863.
const WINDOW: Duration = Duration::secs(8);

/// The playing time that nearly all packets arrive by.
#[derive(Clone, Debug)]
struct Target {
    weights: [f64; Self::BUCKETS],
    added: u32,
    forget: f64,
    since: Option<i64>,
    greatest: i64,
    delay: i64,
}

impl Target {
    const BUCKETS: usize = 100;
    const BUCKET: i64 = 20_000_000;
    const RESAMPLED_EVERY: i64 = 500_000_000;
    const QUANTILE: f64 = 0.95;
    const FORGET: f64 = 0.983;
    const START_WEIGHT: f64 = 2.0;
    const START: i64 = 80_000_000;

    const fn new() -> Self {
        Self { weights: [0.0; Self::BUCKETS], added: 0, forget: 0.0, since: None, greatest: 0, delay: Self::START }
    }

    /// A packet is here, this much later than the fastest one.
    fn update(&mut self, now: i64, behind: i64) {
        let since = *self.since.get_or_insert(now);
        if now - since > Self::RESAMPLED_EVERY {
            self.add(self.greatest);
            (self.since, self.greatest) = (Some(now), 0);
            let mut left = 1.0 - self.weights[0];
            let mut bucket = 0;
            while left > 1.0 - Self::QUANTILE + 1e-12 && bucket < Self::BUCKETS - 1 {
                bucket += 1;
                left -= self.weights[bucket];
            }
            self.delay = Self::BUCKET * (1 + bucket as i64);
        }
        self.greatest = self.greatest.max(behind);
    }

    fn add(&mut self, behind: i64) {
        let Some(bucket) = usize::try_from(behind / Self::BUCKET).ok().filter(|bucket| *bucket < Self::BUCKETS) else { return };
        self.weights.iter_mut().for_each(|weight| *weight *= self.forget);
        self.weights[bucket] += 1.0 - self.forget;
        self.added += 1;
        self.forget = (1.0 - Self::START_WEIGHT / (f64::from(self.added) + 1.0)).clamp(0.0, Self::FORGET);
    }
}

/// The least and the greatest delay of the packets of the latest [`HISTORY`]. Each queue has
/// arrival and delay of those packets only that no later one surpasses.
#[derive(Clone, Debug, Default)]
struct History {
    least: VecDeque<(i64, i64)>,
    greatest: VecDeque<(i64, i64)>,
    latest: Option<i64>,
}

impl History {
    /// Adds the delay of a packet that arrives at `now`. Returns whether another one arrived within
    /// [`HISTORY`].
    fn add(&mut self, now: i64, delay: i64) -> bool {
        let begin = now - HISTORY.as_nanos() as i64;
        let add = |kept: &mut VecDeque<(i64, i64)>, is_surpassed: fn(i64, i64) -> bool| {
            while kept.back().is_some_and(|(_, earlier)| is_surpassed(*earlier, delay)) {
                kept.pop_back();
            }
            kept.push_back((now, delay));
            while kept.front().is_some_and(|(arrived, _)| *arrived < begin) {
                kept.pop_front();
            }
        };
        add(&mut self.least, |earlier, delay| earlier >= delay);
        add(&mut self.greatest, |earlier, delay| earlier <= delay);
        self.latest.replace(now).is_some_and(|before| before >= begin)
    }

    fn least(&self) -> i64 {
        self.least.front().map_or(0, |(_, delay)| *delay)
    }

    fn greatest(&self) -> i64 {
        self.greatest.front().map_or(0, |(_, delay)| *delay)
    }
}

/// A receiver of one call. Times are nanoseconds of the call's own clock.
#[derive(Clone, Debug)]
pub struct Playout {
    codec: Codec,
    interval: i64,
    target: Target,
    history: History,
    /// Numbers of the frames that wait, in order.
    buffer: Vec<u64>,
    /// Time at which packet 0 was sent, or would have been.
    origin: i64,
    /// The frame that is due next, and when; `None` before the first packet.
    due: Option<(u64, i64)>,
    changed: i64,
    latest_played: Option<(u64, i64)>,
    /// The number of the first frame that counts.
    first: u64,
    has_lost: bool,
    windows: Vec<Stretch>,
    recent: Stretch,
    bursts: Bursts,
    underrun: i64,
}

impl Playout {
    /// A receiver of a call with a packet at every `interval`, which counts from frame `first` on.
    #[must_use]
    pub fn new(codec: Codec, interval: Duration, first: u64) -> Self {
        Self {
            codec,
            interval: (interval.as_nanos() as i64).max(1),
            target: Target::new(),
            history: History::default(),
            buffer: Vec::with_capacity(MAX_PACKETS),
            origin: 0,
            due: None,
            changed: i64::MIN / 2,
            latest_played: None,
            first,
            has_lost: false,
            windows: Vec::new(),
            recent: Stretch::default(),
            bursts: Bursts::default(),
            underrun: 0,
        }
    }

    /// The number of the first frame that counts.
    pub(crate) const fn first(&self) -> u64 {
        self.first
    }

    /// Gives up the frames before `number`, if it is the first that arrives. A receiver cannot know
    /// of them, a listener does.
    pub(crate) fn lose_before(&mut self, number: u64) {
        if self.due.is_none() {
            (self.first..number).for_each(|earlier| self.lose(earlier, earlier + 1 == number));
        }
    }

    /// Packet `number`, sent at `sent`, is here. Time does not go back.
    pub fn hear(&mut self, now: Instant, number: u64, sent: Instant) {
        let (now, sent) = (now.as_nanos() as i64, sent.as_nanos() as i64);
        if self.due.is_none() {
            self.origin = sent - number as i64 * self.interval;
            self.due = Some((number, now + self.target.delay));
        }
        self.play_before(now);
        if self.history.add(now, now - sent) {
            self.target.update(now, now - sent - self.history.least());
        }
        if self.due.is_some_and(|(next, _)| number >= next) {
            if self.buffer.len() >= MAX_PACKETS {
                self.buffer.clear();
            }
            if let Err(place) = self.buffer.binary_search(&number) {
                self.buffer.insert(place, number);
            }
        }
    }

    /// Takes a frame out of the buffer, if it is the earliest there.
    fn take(&mut self, number: u64) -> bool {
        let is_there = self.buffer.first() == Some(&number);
        if is_there {
            self.buffer.remove(0);
        }
        is_there
    }

    fn sent(&self, number: u64) -> i64 {
        self.origin + number as i64 * self.interval
    }

    /// Plays what is due before `now`, up to which all packets are known.
    fn play_before(&mut self, now: i64) {
        while let Some((next, at)) = self.due.filter(|(_, at)| *at < now) {
            if self.take(next) {
                self.play(next, at);
            } else if let Some(earliest) = self.buffer.first().copied() {
                self.lose(next, earliest == next + 1);
                self.due = Some((next + 1, at + self.interval));
            } else {
                self.due = Some((next, at + CONCEALED));
                self.underrun += CONCEALED;
            }
        }
    }

    fn play(&mut self, number: u64, at: i64) {
        let sent = self.sent(number);
        let (least, greatest) = (self.history.least(), self.history.greatest());
        let (waited, high) = (at - sent - least, self.target.delay + greatest - least + 20_000_000);
        let may_change = at - self.changed >= MIN_BETWEEN_CHANGES;
        let step = if waited >= 4 * high || (may_change && waited >= high) {
            -STEP
        } else if may_change && waited < self.target.delay {
            STEP
        } else {
            0
        };
        if step != 0 {
            self.changed = at;
        }
        // A hole in what is heard counts in the window of the frame that ends it.
        let hole = self.latest_played.map_or(0, |(before, then)| at - then - (number - before) as i64 * self.interval);
        let missed = if hole > MAX_UNHEARD_HOLE { (hole + self.interval / 2) / self.interval } else { 0 };
        self.latest_played = Some((number, at));
        let delay = Duration::ns((at - sent).max(0) as u64);
        self.count(number, |stretch| {
            stretch.miss(missed as u64);
            stretch.play(delay);
        });
        self.bursts.add_bad(missed as u64);
        self.bursts.add_good(1);
        self.due = Some((number + 1, at + self.interval + step));
    }

    /// Gives a frame up; its successor may hold a coarse copy of it, which senders add once losses
    /// are reported.
    fn lose(&mut self, number: u64, has_successor: bool) {
        let is_repaired = has_successor && self.codec.repairs() && self.has_lost;
        self.has_lost = true;
        if is_repaired {
            self.count(number, Stretch::repair);
            self.bursts.add_good(1);
        } else {
            self.count(number, |stretch| stretch.miss(1));
            self.bursts.add_bad(1);
        }
    }

    /// Counts a frame in its window and in the recent stretch.
    fn count(&mut self, number: u64, add: impl Fn(&mut Stretch)) {
        let Some(place) = number.checked_sub(self.first) else { return };
        let window = (place as i64 * self.interval / WINDOW.as_nanos() as i64) as usize;
        if window >= self.windows.len() {
            self.windows.resize(window + 1, Stretch::default());
        }
        add(&mut self.windows[window]);
        add(&mut self.recent);
    }

    /// Takes what was heard since this function was last used, as one window.
    pub(crate) fn take_recent(&mut self) -> Heard {
        let recent = std::mem::take(&mut self.recent);
        self.heard(if recent.frames() > 0 { vec![recent] } else { Vec::new() })
    }

    fn heard(&self, windows: Vec<Stretch>) -> Heard {
        let (underrun, target) = (Duration::ns(self.underrun as u64), Duration::ns(self.target.delay as u64));
        Heard { codec: self.codec, windows, bursts: self.bursts, underrun, target }
    }

    /// The call up to frame `end`, the first that does not count: what has not been played by then
    /// is, and frames that did not arrive are lost.
    #[must_use]
    pub fn outcome(&self, end: u64) -> Heard {
        let mut all = self.clone();
        let (mut next, mut at) = all.due.unwrap_or((self.first, 0));
        while next < end {
            if all.take(next) {
                all.play(next, at);
                at = all.due.map_or(at, |(_, at)| at);
            } else {
                all.lose(next, all.buffer.first() == Some(&(next + 1)));
                at += all.interval;
            }
            next += 1;
        }
        all.bursts.close();
        let whole = WINDOW.as_nanos() / all.interval as u64;
        let mut windows: Vec<Stretch> = all.windows.iter().filter(|window| 2 * window.frames() >= whole).copied().collect();
        // A call that is shorter than a window is one, unless it is hardly a word.
        if windows.is_empty() && all.bursts.frames >= MIN_FRAMES {
            windows.push(all.windows.iter().sum());
        }
        all.heard(windows)
    }
}

/// A call as it was heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    /// The codec.
    pub codec: Codec,
    /// Windows of 8 s; those of which less than half belongs to the call are left out.
    pub windows: Vec<Stretch>,
    /// Bursts of losses.
    pub bursts: Bursts,
    /// Time in which nothing was there to play.
    pub underrun: Duration,
    /// The receiver's latest target.
    pub target: Duration,
}

impl Heard {
    /// The scale of the codec itself.
    #[must_use]
    pub const fn own_scale(&self) -> Scale {
        match self.codec {
            Codec::Opus => emodel::Scale::OPUS_FULLBAND,
            Codec::Pcmu => emodel::Scale::NARROWBAND,
        }
    }

    /// Mean score of the windows; `None` without windows.
    #[must_use]
    pub fn mos(&self, scale: &Scale) -> Option<f64> {
        self.mean(|window| scale.mos(window.rate(scale)))
    }

    /// The worst window's score.
    #[must_use]
    pub fn mos_worst(&self, scale: &Scale) -> Option<f64> {
        self.windows.iter().map(|window| scale.mos(window.rate(scale))).reduce(f64::min)
    }

    /// The share of windows that nearly all would be dissatisfied with.
    #[must_use]
    pub fn bad_ratio(&self, scale: &Scale) -> Option<f64> {
        self.mean(|window| if scale.as_narrowband(window.rate(scale)) < DISSATISFIED { 1.0 } else { 0.0 })
    }

    /// Mean over windows.
    pub fn mean(&self, of: impl Fn(&Stretch) -> f64) -> Option<f64> {
        let sum: f64 = self.windows.iter().map(of).sum();
        (!self.windows.is_empty()).then(|| sum / self.windows.len() as f64)
    }

    /// The mean time from the speaker's mouth to the listener's ear, over windows in which
    /// something was heard.
    #[must_use]
    pub fn mouth_to_ear_s(&self) -> Option<f64> {
        let heard = || self.windows.iter().filter(|window| !window.is_silent());
        let sum: f64 = heard().map(|window| window.mouth_to_ear().as_secs_f64()).sum();
        heard().next().map(|_| sum / heard().count() as f64)
    }

    /// The score that is left of the call shortly after it: losses are felt at once and forgotten
    /// slowly, and the worst window stays in mind; `None` without windows.
    ///
    /// UNVERIFIED: time constants of 5 and 15 s, 0.7 and 30 s are Clark's (2001), as in ETSI TS 101
    /// 329-5 annex E.
    #[must_use]
    pub fn mos_recent(&self, scale: &Scale) -> Option<f64> {
        let step = WINDOW.as_secs_f64();
        let impairments: Vec<f64> =
            self.windows.iter().map(|window| scale.loss_impairment(100.0 * window.loss_ratio(), window.burst_ratio())).collect();
        let mut felt = *impairments.first()?;
        let mut sum = 0.0;
        for impairment in &impairments {
            let constant = if *impairment > felt { 5.0 } else { 15.0 };
            felt += (impairment - felt) * (1.0 - exp(-step / constant));
            sum += felt;
        }
        let count = self.windows.len() as f64;
        let mean = sum / count;
        let delay: f64 = self.windows.iter().map(|window| delay_impairment(window.mouth_to_ear())).sum::<f64>() / count;
        let (worst, place) = impairments.iter().enumerate().fold((f64::MIN, 0), |(worst, place), (here, impairment)| {
            if *impairment >= worst { (*impairment, here) } else { (worst, place) }
        });
        let since = (self.windows.len() - 1 - place) as f64 * step;
        let left = mean + 0.7 * (worst - mean).max(0.0) * exp(-since / 30.0);
        Some(scale.mos(scale.rate(Duration::ZERO, 0.0, 1.0) + scale.loss_impairment(0.0, 1.0) - delay - left))
    }
}

#[cfg(test)]
mod tests;
