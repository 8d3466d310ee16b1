//! Adaptive video over one persistent connection: segments of a few seconds, each of the best
//! quality that the throughput so far allows.
//!
//! *Choice*: the highest bitrate not above 0.8 times the smoothed throughput; the first segment has
//! the lowest bitrate. The throughput of a segment is its bits over the time from the request to
//! the last byte, smoothed with weight 0.4 for the newest (our choice). *Buffer*: the next segment
//! is requested as soon as it fits below the target. Playback begins with the first segment and
//! stalls while the buffer is empty. *Giving up*: a player that does asks for a lower bitrate, on a
//! new connection, when a segment has taken longer than 1.8 times its media time (dash.js has that
//! bound for the time that it foresees).

use super::events::{Action, After, Event, Measurement, Payload, ROUND_TRIPS_FRESH, ROUND_TRIPS_OPEN, SessionContext};
use crate::outcome::VideoOutcome;
use crate::spec::VideoSpec;
use goodqueue_base::units::{Duration, Instant};

const SAFETY: f64 = 0.8;
const NEWEST: f64 = 0.4;
/// A segment is given up after this many times its media time.
const PATIENCE: f64 = 1.8;
/// The only channel that it needs.
const CHANNEL: u32 = 0;

#[derive(Clone, Debug)]
pub(crate) struct Video {
    spec: VideoSpec,
    began: Instant,
    asked: Instant,
    is_fetching: bool,
    round_trips: u64,
    /// Place of the segment being fetched in the ladder.
    rung: usize,
    throughput_bit_s: Option<f64>,
    /// Media received and not yet played, as of `seen`.
    buffer: Duration,
    seen: Instant,
    started: bool,
    stopped: bool,
    so_far: VideoOutcome,
}

impl Video {
    pub(super) fn new(spec: &VideoSpec) -> Self {
        Self {
            spec: spec.clone(),
            began: Instant::ZERO,
            asked: Instant::ZERO,
            is_fetching: false,
            round_trips: ROUND_TRIPS_FRESH,
            rung: 0,
            throughput_bit_s: None,
            buffer: Duration::ZERO,
            seen: Instant::ZERO,
            started: false,
            stopped: false,
            so_far: VideoOutcome::default(),
        }
    }

    pub(super) fn handle(&mut self, event: Event, context: &mut SessionContext<'_>) {
        match event {
            Event::Start => {
                self.began = context.now;
                context.act(Action::Connect(CHANNEL));
                self.ask(context);
            }
            Event::Alarm if !self.stopped => self.ask(context),
            Event::ChannelAlarm(_) if self.is_fetching && context.now >= self.asked + self.patience() => self.give_up(context),
            Event::Arrived(_, Payload::Request) => context.send(CHANNEL, Payload::Data, self.segment_bits() / 8, After::Keep),
            Event::FirstByte(_) => context.measure(Measurement::FirstByte { since: self.asked }),
            Event::Arrived(_, Payload::Data) => self.receive(context),
            Event::Stop => self.stopped = true,
            _ => {}
        }
    }

    /// The playback up to `now`.
    pub(super) fn reading(&mut self, now: Instant) -> VideoOutcome {
        self.play(now);
        self.so_far
    }

    fn segment_bits(&self) -> u64 {
        let bits = u128::from(self.spec.ladder[self.rung].as_bit_s()) * u128::from(self.spec.segment.as_nanos());
        (bits / 1_000_000_000) as u64
    }

    fn ask(&mut self, context: &mut SessionContext<'_>) {
        (self.asked, self.is_fetching) = (context.now, true);
        if self.spec.gives_up && self.rung > 0 {
            context.act(Action::WakeChannel(CHANNEL, context.now + self.patience()));
        }
        context.measure(Measurement::Began);
        context.send(CHANNEL, Payload::Request, self.spec.request.get(), After::Keep);
    }

    /// The time after which a segment is given up.
    fn patience(&self) -> Duration {
        Duration::from_secs_f64(PATIENCE * self.spec.segment.as_secs_f64())
    }

    /// Drops the segment being fetched and asks for it at a lower bitrate.
    fn give_up(&mut self, context: &mut SessionContext<'_>) {
        let at_most = self.segment_bits() as f64 / context.now.since(self.asked).as_secs_f64().max(1e-9);
        let known = self.throughput_bit_s.map_or(at_most, |before| before.min(at_most));
        self.throughput_bit_s = Some(known);
        self.rung = self.best_rung(known).min(self.rung.saturating_sub(1));
        self.so_far.switches += 1;
        self.round_trips = ROUND_TRIPS_FRESH;
        context.measure(Measurement::GivenUp);
        context.act(Action::Connect(CHANNEL));
        self.ask(context);
    }

    /// The highest bitrate that this throughput allows.
    fn best_rung(&self, throughput_bit_s: f64) -> usize {
        let allowed = SAFETY * throughput_bit_s;
        self.spec.ladder.iter().rposition(|rate| rate.as_bit_s() as f64 <= allowed).unwrap_or(0)
    }

    /// Time has passed up to `now`.
    fn play(&mut self, now: Instant) {
        let span = now.since(self.seen);
        self.seen = now;
        if !self.started {
            return;
        }
        let was_playing = !self.buffer.is_zero();
        let played = span.min(self.buffer);
        self.buffer = self.buffer.saturating_sub(played);
        self.so_far.played += played;
        let stalled = span.saturating_sub(played);
        self.so_far.stalled += stalled;
        self.so_far.stalls += u64::from(was_playing && !stalled.is_zero());
    }

    fn receive(&mut self, context: &mut SessionContext<'_>) {
        self.play(context.now);
        let bits = self.segment_bits();
        context.measure(Measurement::Complete { began: self.asked, bytes: bits / 8, round_trips: self.round_trips });
        (self.is_fetching, self.round_trips) = (false, ROUND_TRIPS_OPEN);
        if !self.started {
            self.started = true;
            context.measure(Measurement::Playing { since: self.began });
        }
        self.so_far.media_bits += bits;
        self.so_far.media += self.spec.segment;
        self.buffer += self.spec.segment;
        let sample = bits as f64 / context.now.since(self.asked).as_secs_f64().max(1e-9);
        let smoothed = self.throughput_bit_s.map_or(sample, |before| before + NEWEST * (sample - before));
        self.throughput_bit_s = Some(smoothed);
        let next = self.best_rung(smoothed);
        self.so_far.switches += u64::from(next != self.rung);
        self.rung = next;
        if self.stopped {
            return;
        }
        let excess = (self.buffer + self.spec.segment).saturating_sub(self.spec.buffer);
        if excess.is_zero() {
            self.ask(context);
        } else {
            context.wake_in(excess);
        }
    }
}
