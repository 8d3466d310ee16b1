//! Adaptive video over one kept connection: segments of a few seconds, each of the best quality that the throughput so far allows.
//!
//! *Choice*: the highest bitrate not above 0.8 times the smoothed throughput; the first segment has the lowest. The throughput of a segment is
//! its bits over the time from request to last byte, smoothed with weight 0.4 for the newest (our choice). *Buffer*: the next segment is asked
//! for as soon as it fits below the target. Playing begins with the first segment and stalls while the buffer is empty.

use super::{Action, After, Desk, Event, Note, ROUND_TRIPS_FRESH, ROUND_TRIPS_OPEN, Way};
use crate::spec::VideoSpec;
use goodqueue_units::{Duration, Instant};

const SAFETY: f64 = 0.8;
const NEWEST: f64 = 0.4;
/// It needs one channel.
const CHANNEL: u32 = 0;

#[derive(Clone, Debug)]
pub(crate) struct Video {
    spec: VideoSpec,
    began: Instant,
    asked: Instant,
    /// Place of the segment being fetched in the ladder.
    rung: usize,
    throughput_bit_s: Option<f64>,
    /// Media received and not yet played, as of `seen`.
    buffer: Duration,
    seen: Instant,
    started: bool,
    stopped: bool,
    so_far: VideoReading,
}

/// What was played so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct VideoReading {
    /// Bits of all segments received, and the media time they hold.
    pub(crate) media_bits: u64,
    pub(crate) media: Duration,
    pub(crate) played: Duration,
    /// Since playing began.
    pub(crate) stalled: Duration,
    pub(crate) stalls: u64,
    /// Changes of quality from one segment to the next.
    pub(crate) switches: u64,
}

impl Video {
    pub(super) fn new(spec: &VideoSpec) -> Self {
        Self {
            spec: spec.clone(),
            began: Instant::ZERO,
            asked: Instant::ZERO,
            rung: 0,
            throughput_bit_s: None,
            buffer: Duration::ZERO,
            seen: Instant::ZERO,
            started: false,
            stopped: false,
            so_far: VideoReading::default(),
        }
    }

    pub(super) fn handle(&mut self, event: Event, desk: &mut Desk<'_>) {
        match event {
            Event::Start => {
                self.began = desk.now;
                desk.act(Action::Connect(CHANNEL));
                self.ask(desk);
            }
            Event::Alarm if !self.stopped => self.ask(desk),
            Event::Arrived(_, Way::Request) => desk.send(CHANNEL, Way::Data, self.segment_bits() / 8, After::Keep),
            Event::FirstByte(_) => desk.note(Note::FirstByte { since: self.asked }),
            Event::Arrived(_, Way::Data) => self.receive(desk),
            Event::Stop => self.stopped = true,
            _ => {}
        }
    }

    /// What was played up to `now`.
    pub(super) fn reading(&mut self, now: Instant) -> VideoReading {
        self.play(now);
        self.so_far
    }

    fn segment_bits(&self) -> u64 {
        let bits = u128::from(self.spec.ladder[self.rung].as_bit_s()) * u128::from(self.spec.segment.as_nanos());
        (bits / 1_000_000_000) as u64
    }

    fn ask(&mut self, desk: &mut Desk<'_>) {
        self.asked = desk.now;
        desk.note(Note::Began);
        desk.send(CHANNEL, Way::Request, self.spec.request.get(), After::Keep);
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

    fn receive(&mut self, desk: &mut Desk<'_>) {
        self.play(desk.now);
        let bits = self.segment_bits();
        let round_trips = if self.started { ROUND_TRIPS_OPEN } else { ROUND_TRIPS_FRESH };
        desk.note(Note::Complete { began: self.asked, bytes: bits / 8, round_trips });
        if !self.started {
            self.started = true;
            desk.note(Note::Playing { since: self.began });
        }
        self.so_far.media_bits += bits;
        self.so_far.media += self.spec.segment;
        self.buffer += self.spec.segment;
        let sample = bits as f64 / desk.now.since(self.asked).as_secs_f64().max(1e-9);
        let smoothed = self.throughput_bit_s.map_or(sample, |before| before + NEWEST * (sample - before));
        self.throughput_bit_s = Some(smoothed);
        let allowed = SAFETY * smoothed;
        let next = self.spec.ladder.iter().rposition(|rate| rate.as_bit_s() as f64 <= allowed).unwrap_or(0);
        self.so_far.switches += u64::from(next != self.rung);
        self.rung = next;
        if self.stopped {
            return;
        }
        let excess = (self.buffer + self.spec.segment).saturating_sub(self.spec.buffer);
        if excess.is_zero() {
            self.ask(desk);
        } else {
            desk.wake_in(excess);
        }
    }
}
