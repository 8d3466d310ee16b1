//! DCTCP: the window falls in proportion to the share of marked packets.
//!
//! *Signal*: the mark of every packet, as echoed by the receiver; losses, as for Reno.
//!
//! *Law*: once per window, with `F` the share of delivered segments that were marked,
//! `alpha = (1 - g) alpha + g F`; when marks arrive, `cwnd = max(cwnd (1 - alpha / 2), 2)`, at most
//! once per window. A loss halves the window, even one that is already being reduced for marks.
//! Growth is that of Reno.
//!
//! *Parameters*: see `SPEC`; the defaults are those of RFC 8257.
//!
//! *Deviations*: none known from Linux 6.12: `alpha` is a multiple of 1/1024 and becomes zero when
//! a sixteenth of it is less than one step. From the RFC: segments are counted instead of bytes,
//! and the window approaches its reduced value over a round trip (PRR).
//!
//! *Limits*: whole segments and multiples of 1/1024 are rounded down, so that mark shares below
//! about 3 % are underestimated, and those of less than one packet in 64 cause no response at all
//! (Prague corrects this). Needs a queue that marks at a low threshold and does not share it with
//! Reno or CUBIC. With classic feedback (RFC 3168) it halves like Reno; without ECN it is Reno.
//!
//! *Source*: RFC 8257; Alizadeh et al.: Data center TCP (2010); Linux 6.12.

use super::slow_start::SlowStart;
use super::window::SegmentWindow;
use super::{AckSample, Congestion, CongestionControl, Control, ControlSpec, Established, Growth, Marks, Needs, Setup, Timeout};
use crate::config::EcnMode;
use goodqueue_base::spec::{Kind, TypedParam};
use goodqueue_base::units::{Bytes, Instant};

/// The number one in the fixed point of `alpha`.
const ONE: u32 = 1024;

/// State of DCTCP. Windows are in segments.
#[derive(Clone, Debug)]
pub struct Dctcp {
    window: SegmentWindow,
    slow_start: SlowStart,
    alpha: u32,
    g: f64,
    /// Sequence number up to which everything is acknowledged when the counted window ends.
    window_end: u64,
    delivered: u64,
    marked: u64,
}

impl Dctcp {
    fn count(&mut self, latest: &Marks) {
        self.delivered += u64::from(latest.delivered);
        self.marked += u64::from(latest.marked);
        if latest.una < self.window_end {
            return;
        }
        let decay = (f64::from(self.alpha) * self.g) as u32;
        // A smaller step would never let it reach zero.
        self.alpha -= if decay == 0 { self.alpha } else { decay };
        if self.marked > 0 {
            let share = self.marked as f64 / self.delivered.max(1) as f64;
            self.alpha = (self.alpha + (share * self.g * f64::from(ONE)) as u32).min(ONE);
        }
        self.delivered = 0;
        self.marked = 0;
        self.window_end = latest.nxt;
    }

    fn half(window: u32) -> u32 {
        (window / 2).max(2)
    }
}

const G: TypedParam<f64> = TypedParam::ratio("g", 1.0 / 16.0)
    .within(1.0 / 1024.0, 1.0)
    .about("weight of the latest window in the share of marked packets");
const ALPHA_INITIAL: TypedParam<f64> =
    TypedParam::ratio("alpha_initial", 1.0).within(0.0, 1.0).about("share of marked packets assumed at the start");

impl Control for Dctcp {
    const SPEC: ControlSpec = ControlSpec {
        base: Kind {
            kind: "dctcp",
            aliases: &[],
            title: "DCTCP",
            summary: "the window falls in proportion to the share of marked packets",
            params: &[G.param, ALPHA_INITIAL.param],
            source: "RFC 8257; Linux 6.12",
        },
        needs: Needs { ecn: EcnMode::Mirror, ..Needs::PLAIN },
    };

    fn build(setup: &Setup<'_>) -> Self {
        Self {
            window: SegmentWindow::new(setup.mss),
            slow_start: SlowStart::new(setup.slow_start_exit),
            alpha: (ALPHA_INITIAL.read(setup.given) * f64::from(ONE) + 0.5) as u32,
            g: G.read(setup.given),
            window_end: 0,
            delivered: 0,
            marked: 0,
        }
    }
}

impl CongestionControl for Dctcp {
    fn on_established(&mut self, event: &Established) {
        self.window.cwnd = event.initial_window;
    }

    fn on_ack(&mut self, sample: &AckSample) {
        let &AckSample { delivered, marked, una, nxt, .. } = sample;
        // An acknowledgement with marks was counted when the marks were reported.
        if marked == 0 {
            self.count(&Marks { delivered, marked, una, nxt });
        }
        if sample.growth == Growth::Held {
            return;
        }
        let mut rest = sample.delivered;
        if self.window.in_slow_start() {
            rest = self.slow_start.grow(&mut self.window, sample, sample.delivered);
            if rest == 0 {
                return;
            }
        }
        self.window.increase(self.window.cwnd, rest);
    }

    fn on_marks(&mut self, marks: &Marks) {
        self.count(marks);
    }

    fn on_loss(&mut self, _: &Congestion) {
        self.window.reduce(Self::half(self.window.cwnd));
        self.slow_start.over();
    }

    fn on_loss_after_ecn(&mut self, window: u32) -> Option<u32> {
        let target = Self::half(window);
        self.window.lower(target);
        Some(target)
    }

    fn on_ecn(&mut self, _: &Congestion) {
        let cwnd = u64::from(self.window.cwnd);
        let fall = cwnd * u64::from(self.alpha) / u64::from(2 * ONE);
        self.window.reduce(((cwnd - fall) as u32).max(2));
        self.slow_start.over();
    }

    fn on_rto(&mut self, timeout: &Timeout) {
        self.window.collapse(timeout, Self::half(self.window.cwnd));
        self.slow_start.over();
    }

    fn on_restart_after_idle(&mut self, window: u32) {
        self.window.shrink(window);
    }

    fn on_undo(&mut self, _: Instant) {
        self.window.restore();
    }

    fn cwnd(&self) -> Bytes {
        self.window.bytes()
    }

    fn ssthresh(&self) -> Bytes {
        self.window.ssthresh_bytes()
    }
}

#[cfg(test)]
mod tests;
