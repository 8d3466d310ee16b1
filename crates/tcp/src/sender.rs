//! The sending end of a connection.
//!
//! A host gives it time, acknowledgements and expired timers, and polls it for segments until there
//! are none. Data is numbered by byte offset from zero. SYN and FIN are flags without a number, so
//! a connection of `n` bytes is finished when the acknowledgement reaches `n`. Every segment but
//! the last is full, which makes byte offsets and segment numbers interchangeable.
//!
//! With [`LossDetection::Rfc6675`] losses are found by counting, there are no probes, and lost
//! retransmissions are found by the timer only. Reductions use PRR as well.
//!
//! With [`LossDetection::Duplicates`] there are no selective acknowledgements: three duplicates
//! indicate a loss, and each partial acknowledgement indicates the next one.
//!
//! Where the RFCs leave room it follows Linux 6.12: one timer for retransmission, loss probe (TLP)
//! and reordering (RACK); reductions by PRR; reductions are undone when timestamps, duplicate
//! reports or F-RTO show them to be mistaken; windows are counted in segments; segments leave in
//! pieces; buffers and PSH. Not modeled: send buffers that hold data back, the metrics cache
//! between connections, the decay of an unused window.

mod acks;
mod duplicates;
mod echo;
mod instruments;
mod messages;
mod pieces;
mod recovery;
mod state;
mod timers;
mod transmit;
mod writer;

use crate::cc::{self, AnyCc, CcError, CongestionControl, Established, Feedback, PathModel, Reduction, State};
use crate::config::{Data, EcnMode, LossDetection, SenderConfig};
use crate::prr::Prr;
use crate::rack::Rack;
use crate::rtt::{self, Rtt};
use crate::scoreboard::Scoreboard;
use crate::segment::{Flags, Segment};
use crate::segmentation::Segmentation;
use alloc::boxed::Box;
use goodqueue_base::units::{Bytes, Duration, Ecn, Instant, Rate, Rng};
pub use state::Ending;
use state::{
    AckFacts, Duplicates, Echo, Instruments, NEVER, NO_SEGMENT, Phase, Pieces, ProbeContent, RecoveryStep, Repair, Stream, Timer,
    Undo, Urgent,
};
use writer::Writer;

/// A segment to put on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// The segment.
    pub segment: Segment,
    /// The packet's ECN codepoint.
    pub ecn: Ecn,
    /// Whether this data was sent before.
    pub retransmission: bool,
}

/// Counters of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
#[non_exhaustive]
pub struct SenderStatistics {
    /// Data segments sent, including retransmissions.
    pub sent_segments: u64,
    /// Retransmissions among them.
    pub retransmitted_segments: u64,
    /// Round-trip times measured.
    pub rtt_samples: u64,
    /// The latest round-trip time.
    pub last_rtt: Duration,
    /// Expiries of the retransmission timer, including that of the handshake.
    pub timeouts: u64,
    /// Fast recoveries entered.
    pub recoveries: u64,
    /// Loss probes sent.
    pub probes: u64,
    /// Reductions that answer an ECN echo.
    pub ecn_responses: u64,
    /// Reductions that were undone.
    pub undone: u64,
}

/// A sender's counts of its segments, for observers of its inner state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// State of the sender.
    pub state: State,
    /// Segments sent and not acknowledged cumulatively.
    pub outstanding: u32,
    /// Outstanding segments reported selectively; without SACK, duplicate acknowledgements.
    pub sacked: u32,
    /// Outstanding segments believed lost.
    pub lost: u32,
    /// Outstanding segments sent again, with that copy believed in flight.
    pub retransmitted: u32,
    /// Segments delivered since the beginning.
    pub delivered: u64,
}

/// The sending end of a connection; see the [crate] for how a host drives it.
///
/// The fields that every acknowledgement and every segment touch come first, side by side: with
/// thousands of flows cache lines dominate the cost.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Sender {
    /// New full segments that may leave without further checks.
    quota: u32,
    /// Segments that may be in flight now.
    window: u32,
    /// Byte offset of the next new segment.
    nxt_bytes: u64,
    segmentation: Segmentation,
    /// Number of segments in the stream; [`NO_SEGMENT`] for an endless stream.
    end: u64,
    /// One above the last segment that fits the receiver's window; [`NO_SEGMENT`] until it has
    /// offered one.
    limit: u64,
    /// The receiver's window in segments when it never changes; 0 when acknowledgements state it.
    fixed_window: u32,
    /// New segments sent since the last acknowledgement or timeout, and whether nothing was
    /// outstanding before them.
    burst: u32,
    burst_from_empty: bool,
    /// Nothing can leave before the next event.
    settled: bool,
    state: State,
    phase: Phase,
    urgent: Urgent,
    repair: Repair,
    loss_detection: LossDetection,
    /// The connection is established, and an acknowledgement that only advances is routine.
    routine: bool,
    /// The control reduces its window itself, without PRR.
    owns_window: bool,
    /// The control needs no details: there are no instruments, and there is no pacing.
    unwatched: bool,
    echo: Echo,
    /// ECN codepoint of new data.
    codepoint: Ecn,
    cwr_pending: bool,
    /// Whether the window was used up in the round that ends at `usage_end`, and otherwise the most
    /// segments outstanding in it.
    cwnd_limited: bool,
    max_in_round: u32,
    usage_end: u64,
    last_sent_at: u64,
    timer: Timer,
    /// The result of [`next_timeout`](Self::next_timeout).
    wake: u64,
    /// One above the last segment when the outstanding loss probe was sent; [`NO_SEGMENT`] without
    /// one.
    probe_end: u64,
    /// The control's window from which `window` was computed; [`Bytes::MAX`] when it has another
    /// source.
    cc_window: Bytes,
    /// Segments delivered so far.
    delivered: u64,
    rtt: Rtt,
    rack: Rack,
    statistics: SenderStatistics,
    cc: AnyCc,
    pieces: Pieces,
    board: Scoreboard,
    writer: Writer,
    /// Timeouts since the acknowledgement last advanced.
    timeouts_in_a_row: u32,
    /// Whether the window shrinks after a silence.
    restarts: bool,
    /// Segments that receivers have reported as arrived twice.
    copies_reported: u64,
    /// Recovery ends when everything below this segment is acknowledged.
    recovery_point: u64,
    prr: Prr,
    undo: Undo,
    duplicates: Duplicates,
    probe_content: ProbeContent,
    recovery: RecoveryStep,
    ecn: EcnMode,
    /// Marks that the receiver has counted, modulo 256.
    marks_seen: u8,
    stream: Stream,
    last_len: u32,
    initial_window: u32,
    /// Present for controls that need details.
    instruments: Option<Box<Instruments>>,
}

impl Sender {
    /// A closed sender. `rng` is its own random stream, for controls that draw random numbers.
    ///
    /// # Errors
    /// When a setting is outside its range or the congestion control is unknown.
    pub fn new(config: &SenderConfig, rng: Rng) -> Result<Self, CcError> {
        config.check()?;
        let mss = config.mss.get() as u32;
        let segmentation = Segmentation::new(mss);
        let (end, last_len) = match config.data {
            Data::Unlimited => (NO_SEGMENT, mss),
            Data::Messages => (0, mss),
            Data::Bytes(bytes) => {
                let whole = bytes.get() / u64::from(mss);
                match (bytes.get() % u64::from(mss)) as u32 {
                    0 => (whole, mss),
                    rest => (whole + 1, rest),
                }
            }
        };
        let cc = AnyCc::new(&config.cc, mss, config.slow_start_exit, rng)?;
        let needs = cc::needs(config.cc.kind).unwrap_or(cc::Needs::PLAIN);
        let offload = config.offload.unwrap_or(needs.offload);
        let mut board = Scoreboard::new();
        let instruments = (needs.feedback == Feedback::Detailed).then(Box::<Instruments>::default);
        if instruments.is_some() {
            board.log_losses();
        }
        let most = segmentation.whole(config.max_window.get()).min(u64::from(u32::MAX / 4)) as u32;
        Ok(Self {
            board,
            window: 0,
            cc_window: Bytes::MAX,
            quota: 0,
            settled: false,
            end,
            nxt_bytes: 0,
            limit: NO_SEGMENT,
            fixed_window: if config.max_window == Bytes::MAX { 0 } else { most.max(1) },
            state: State::Open,
            phase: Phase::Closed,
            writer: if config.data == Data::Messages {
                Writer::that_never_pushes(mss)
            } else {
                Writer::new(mss, needs.send_buffer, offload, config.max_window, config.initial_window)
            },
            pieces: Pieces::new(offload),
            urgent: Urgent::Nothing,
            repair: Repair::Nothing,
            segmentation,
            cc,
            rtt: Rtt::new(config.rto_min),
            rack: Rack::new(),
            timer: Timer::OFF,
            wake: NEVER,
            statistics: SenderStatistics::default(),
            delivered: 0,
            last_sent_at: 0,
            burst: 0,
            burst_from_empty: false,
            cwnd_limited: false,
            max_in_round: 0,
            usage_end: 0,
            recovery_point: 0,
            prr: Prr::default(),
            undo: Undo::default(),
            duplicates: Duplicates::default(),
            probe_end: NO_SEGMENT,
            probe_content: ProbeContent::NewData,
            timeouts_in_a_row: 0,
            restarts: config.restart_after_idle,
            copies_reported: 0,
            recovery: RecoveryStep::Ordinary,
            loss_detection: config.loss_detection,
            routine: false,
            owns_window: needs.reduction == Reduction::Own,
            unwatched: instruments.is_none(),
            ecn: config.ecn_mode(),
            echo: Echo::Nothing,
            codepoint: Ecn::NotEct,
            marks_seen: 0,
            cwr_pending: false,
            stream: match config.data {
                Data::Unlimited => Stream::Endless,
                Data::Bytes(_) => Stream::Bytes,
                Data::Messages => Stream::Messages(Ending::More),
            },
            last_len,
            initial_window: config.initial_window,
            instruments,
        })
    }

    /// Puts a new connection in the place of this one: a copy of `closed`, a sender that has not
    /// connected, with its own random stream. Unlike [`new`](Self::new) it looks nothing up, and it
    /// uses memory again.
    pub fn renew(&mut self, closed: &Self, rng: Rng) {
        let board = self.board.start_over();
        *self = closed.again(board, rng);
    }

    /// Makes a new connection like [`renew`](Self::renew), in a place of its own.
    #[must_use]
    pub fn renewed(closed: &Self, rng: Rng) -> Self {
        closed.again(Scoreboard::new(), rng)
    }

    #[inline(never)]
    fn again(&self, board: Scoreboard, rng: Rng) -> Self {
        debug_assert!(self.phase == Phase::Closed, "a sender that has not connected");
        let (cc, instruments) = (self.cc.clone(), self.instruments.clone());
        let mut new = Self { board, cc, instruments, rtt: self.rtt.clone(), rack: self.rack.clone(), ..*self };
        new.cc.set_rng(rng);
        if new.instruments.is_some() {
            new.board.log_losses();
        }
        new
    }

    /// Opens the connection: the next segment is a SYN. Later calls do nothing.
    pub fn connect(&mut self, now: Instant) {
        if self.phase == Phase::Closed {
            self.phase = Phase::SynSent;
            self.urgent = Urgent::Syn;
            self.arm_handshake(now.as_nanos());
        }
    }

    /// Ends the stream at the last segment sent, which is still delivered.
    pub fn stop(&mut self, _now: Instant) {
        self.unsettle();
        if self.end > self.board.nxt() {
            self.end = self.board.nxt();
            self.stream.abandon();
            self.last_len = self.segmentation.mss();
        }
        if self.phase == Phase::SynSent {
            self.phase = Phase::Closed;
            self.urgent = Urgent::Nothing;
            self.disarm();
        }
    }

    /// Length of the prefix of this struct that processing an acknowledgement reads, apart from
    /// [`records`](Self::records); used as the prefetch size.
    pub(crate) const TOUCHED: usize = core::mem::offset_of!(Self, writer) + Writer::TOUCHED;

    /// The scoreboard records of the oldest outstanding segment and of the next one to be sent.
    #[inline]
    pub(crate) fn records(&self) -> [&(impl Sized + use<>); 2] {
        self.board.ends()
    }

    /// Whether the whole stream has been acknowledged.
    #[inline]
    #[must_use]
    pub const fn is_finished(&self) -> bool {
        self.board.una() == self.end
    }

    /// The time to call [`handle_timeout`](Self::handle_timeout) next. Any other call may move it
    /// in either direction; a call at an earlier time is harmless.
    #[inline]
    #[must_use]
    pub const fn next_timeout(&self) -> Option<Instant> {
        if self.wake == NEVER { None } else { Some(Instant::from_nanos(self.wake)) }
    }

    /// The counters so far.
    #[inline]
    #[must_use]
    pub const fn statistics(&self) -> &SenderStatistics {
        &self.statistics
    }

    /// The sender's counts of its segments.
    #[must_use]
    pub const fn tally(&self) -> Tally {
        Tally {
            state: self.state,
            outstanding: self.board.outstanding(),
            sacked: self.board.sacked(),
            lost: self.board.lost(),
            retransmitted: self.board.retransmitted(),
            delivered: self.delivered,
        }
    }

    /// The present window; during a reduction it is on its way to the control's window.
    #[must_use]
    pub const fn cwnd(&self) -> Bytes {
        Bytes::new(self.window as u64 * self.segmentation.mss() as u64)
    }

    /// The slow-start threshold; [`Bytes::MAX`] before the first reduction.
    #[must_use]
    pub fn ssthresh(&self) -> Bytes {
        self.cc.ssthresh()
    }

    /// Bytes believed in the network; the last segment counts as full.
    #[must_use]
    pub const fn in_flight(&self) -> Bytes {
        Bytes::new(self.board.in_flight() as u64 * self.segmentation.mss() as u64)
    }

    /// The smoothed round-trip time, once there is one.
    #[must_use]
    pub const fn srtt(&self) -> Option<Duration> {
        let srtt = self.rtt.srtt();
        if srtt.is_zero() { None } else { Some(srtt) }
    }

    /// The rate at which segments are released, when the control paces.
    #[must_use]
    pub fn pacing_rate(&self) -> Option<Rate> {
        self.instruments.as_ref().and_then(|_| self.cc.pacing_rate())
    }

    /// The control's model of its path, if it has one.
    #[must_use]
    pub fn path_model(&self) -> Option<PathModel> {
        self.cc.path_model()
    }

    fn establish(&mut self, now: Instant, segment: &Segment) {
        let t = now.as_nanos();
        let retries = self.timeouts_in_a_row;
        self.phase = Phase::Established;
        self.urgent = Urgent::Ack;
        self.timeouts_in_a_row = 0;
        self.disarm();
        let echoed = segment.timestamp.as_nanos();
        if retries == 0 || echoed != 0 {
            let rtt = if retries == 0 { t.saturating_sub(self.last_sent_at) } else { rtt::of_echo(t, echoed) };
            self.rtt.sample(rtt, 0, 0);
            self.rtt.sample_minimum(t, rtt);
            self.note_rtt(rtt);
        } else {
            self.rtt.reset_back_off();
        }
        self.settle_ecn(segment.flags);
        self.routine = self.unwatched && self.echo != Echo::Counted;
        // Repeated loss of the handshake indicates a bad path (RFC 5681 §3.1; Linux ignores the
        // first loss).
        let initial_window = if retries > 1 { 1 } else { self.initial_window };
        self.cc.on_established(&Established { now, initial_window, srtt: self.rtt.srtt(), ecn: self.ecn });
        self.note_offer(segment);
        self.follow_control();
    }

    /// An event has occurred: what may leave has to be determined again.
    #[inline]
    pub(crate) const fn unsettle(&mut self) {
        self.quota = 0;
        self.settled = false;
        self.pieces.resume();
    }

    /// Takes the receiver's window from an acknowledgement.
    #[inline]
    pub(super) fn note_offer(&mut self, segment: &Segment) {
        // The acknowledgement of the handshake comes before the application has written.
        if !segment.flags.has(Flags::SYN) {
            self.writer.note_ack();
        }
        if self.fixed_window > 0 {
            self.limit = self.board.una() + u64::from(self.fixed_window);
        } else if let Some(offered) = segment.offered() {
            let edge = self.segmentation.whole(segment.number + offered);
            self.limit = if self.limit == NO_SEGMENT { edge } else { self.limit.max(edge) };
            self.writer.note_offer(offered);
        }
    }

    fn note_rtt(&mut self, rtt: u64) {
        self.statistics.rtt_samples += 1;
        self.statistics.last_rtt = Duration::ns(rtt);
    }

    /// Adopts the control's window.
    #[inline]
    fn follow_control(&mut self) {
        let window = self.cc.cwnd();
        if window != self.cc_window {
            self.cc_window = window;
            self.window = (self.segmentation.whole(window.get()) as u32).max(1);
        }
    }

    /// Sets a window that differs from the control's.
    fn set_window(&mut self, segments: u32) {
        self.window = segments;
        self.cc_window = Bytes::MAX;
    }

    #[inline]
    fn payload_of(&self, number: u64) -> u32 {
        if number + 1 == self.end { self.last_len } else { self.segmentation.mss() }
    }
}
