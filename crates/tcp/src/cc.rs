//! Congestion control: how much may be in flight. Finding losses is the sender's business, reacting
//! to them is a control's.

mod control;
mod full_pipe;
mod hystart;
mod hystart_plus_plus;
mod model;
mod needs;
mod slow_start;
mod window;

use crate::config::{CcConfig, EcnMode, SenderConfig, SlowStartExit};
pub use crate::sample::RateSample;
use alloc::boxed::Box;
use alloc::vec::Vec;
pub use control::{
    AckSample, Congestion, CongestionControl, Control, ControlSpec, Detail, Established, Growth, LostSegment, Marks, Response,
    Sent, Setup, State, Timeout,
};
use goodqueue_base::spec::{ParamError, ParamValues};
use goodqueue_base::units::{Bytes, Instant, Rate, Rng};
pub use hystart_plus_plus::HystartPlusPlus;
pub use model::{ModelPhase, PathModel};
pub use needs::{Feedback, MarkResponse, Needs, Reduction, Start};

/// A sender's settings that cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CcError {
    /// No control has this name.
    #[error("cc: `{kind}` is not a congestion control; known: {}", known.join(", "))]
    UnknownKind {
        /// The name given.
        kind: &'static str,
        /// All names.
        known: Vec<&'static str>,
    },
    /// A control that only kernels have.
    #[error("cc: `{kind}` is the kernel's own control, which only hosts with kernel senders have (--on linux)")]
    OnlyKernels {
        /// The name given.
        kind: &'static str,
    },
    /// A parameter that the control does not have, or a value that it does not take.
    #[error("cc.{0}")]
    Param(ParamError),
    /// The control has no slow start that could end in another way.
    #[error("slow_start_exit: `{kind}` starts in its own way; leave it \"native\"")]
    NoSlowStart {
        /// The control.
        kind: &'static str,
    },
    /// A setting of the sender lies outside its range.
    #[error(transparent)]
    Setting(#[from] ParamError),
}

macro_rules! controls {
    (@stored $module:ident :: $Type:ident) => { $module::$Type };
    (@stored $module:ident :: $Type:ident boxed) => { Box<$module::$Type> };
    ($($module:ident :: $Type:ident $($boxed:ident)?),+ $(,)?) => {
        $(pub mod $module;)+

        /// Any congestion control, chosen at run time: one `match` a hook. Large states stand in a
        /// box, so that senders with small ones stay small.
        #[derive(Clone, Debug)]
        pub enum AnyCc {
            $(#[doc = concat!("See [`", stringify!($module), "`].")] $Type(controls!(@stored $module::$Type $($boxed)?)),)+
        }

        /// Every congestion control.
        static SPECS: &[ControlSpec] = &[$(<$module::$Type as Control>::SPEC,)+];

        impl AnyCc {
            fn build(kind: &str, setup: &Setup<'_>) -> Option<Self> {
                $(if kind == <$module::$Type as Control>::SPEC.base.kind {
                    return Some(Self::$Type(<$module::$Type as Control>::build(setup).into()));
                })+
                None
            }
        }

        impl CongestionControl for AnyCc {
            fn on_established(&mut self, event: &Established) {
                match self { $(Self::$Type(cc) => cc.on_established(event),)+ }
            }
            fn on_sent(&mut self, sent: &Sent) {
                match self { $(Self::$Type(cc) => cc.on_sent(sent),)+ }
            }
            #[inline]
            fn on_ack(&mut self, sample: &AckSample) {
                match self { $(Self::$Type(cc) => cc.on_ack(sample),)+ }
            }
            fn on_detailed_ack(&mut self, sample: &AckSample, detail: &Detail) {
                match self { $(Self::$Type(cc) => cc.on_detailed_ack(sample, detail),)+ }
            }
            fn on_segment_lost(&mut self, lost: &LostSegment) {
                match self { $(Self::$Type(cc) => cc.on_segment_lost(lost),)+ }
            }
            fn on_restart(&mut self, now: Instant) {
                match self { $(Self::$Type(cc) => cc.on_restart(now),)+ }
            }
            fn on_restart_after_idle(&mut self, window: u32) {
                match self { $(Self::$Type(cc) => cc.on_restart_after_idle(window),)+ }
            }
            fn on_marks(&mut self, marks: &Marks) {
                match self { $(Self::$Type(cc) => cc.on_marks(marks),)+ }
            }
            fn on_loss(&mut self, loss: &Congestion) {
                match self { $(Self::$Type(cc) => cc.on_loss(loss),)+ }
            }
            fn on_loss_after_ecn(&mut self, window: u32) -> Option<u32> {
                match self { $(Self::$Type(cc) => cc.on_loss_after_ecn(window),)+ }
            }
            fn on_ecn(&mut self, mark: &Congestion) {
                match self { $(Self::$Type(cc) => cc.on_ecn(mark),)+ }
            }
            fn on_rto(&mut self, timeout: &Timeout) {
                match self { $(Self::$Type(cc) => cc.on_rto(timeout),)+ }
            }
            fn on_undo(&mut self, now: Instant) {
                match self { $(Self::$Type(cc) => cc.on_undo(now),)+ }
            }
            fn on_recovered(&mut self, now: Instant) {
                match self { $(Self::$Type(cc) => cc.on_recovered(now),)+ }
            }
            #[inline]
            fn cwnd(&self) -> Bytes {
                match self { $(Self::$Type(cc) => cc.cwnd(),)+ }
            }
            #[inline]
            fn ssthresh(&self) -> Bytes {
                match self { $(Self::$Type(cc) => cc.ssthresh(),)+ }
            }
            #[inline]
            fn in_slow_start(&self) -> bool {
                match self { $(Self::$Type(cc) => cc.in_slow_start(),)+ }
            }
            fn pacing_rate(&self) -> Option<Rate> {
                match self { $(Self::$Type(cc) => cc.pacing_rate(),)+ }
            }
            fn pacing_burst(&self) -> u32 {
                match self { $(Self::$Type(cc) => cc.pacing_burst(),)+ }
            }
            fn holds_back(&self) -> bool {
                match self { $(Self::$Type(cc) => cc.holds_back(),)+ }
            }
            fn path_model(&self) -> Option<PathModel> {
                match self { $(Self::$Type(cc) => cc.path_model(),)+ }
            }
            fn set_rng(&mut self, rng: Rng) {
                match self { $(Self::$Type(cc) => cc.set_rng(rng),)+ }
            }
        }
    };
}

controls! {
    reno::Reno,
    cubic::Cubic,
    cubic_rfc::CubicRfc,
    htcp::Htcp boxed,
    compound::Compound boxed,
    dctcp::Dctcp boxed,
    prague::Prague boxed,
    bbr::Bbr boxed,
    bbr3::Bbr3 boxed,
    ledbat::Ledbat boxed,
}

/// Names of controls that Linux has and this crate does not: settings may name them for senders
/// that are kernels.
pub const KERNEL_KINDS: &[&str] = &[
    "kernel:bic",
    "kernel:cdg",
    "kernel:highspeed",
    "kernel:hybla",
    "kernel:illinois",
    "kernel:lp",
    "kernel:nv",
    "kernel:scalable",
    "kernel:vegas",
    "kernel:veno",
    "kernel:westwood",
    "kernel:yeah",
];

/// Every congestion control: names, parameters, sources.
#[must_use]
pub fn kinds() -> &'static [ControlSpec] {
    SPECS
}

/// Returns the demands on a sender of the control of this name.
#[must_use]
pub fn needs(kind: &str) -> Option<Needs> {
    SPECS.iter().find(|spec| spec.kind == kind).map(|spec| spec.needs)
}

impl SenderConfig {
    /// The connection's use of ECN: [`ecn`](Self::ecn) with the control's own habit filled in.
    #[must_use]
    pub fn ecn_mode(&self) -> EcnMode {
        self.ecn.resolve(needs(self.cc.kind).map_or(EcnMode::Off, |needs| needs.ecn))
    }

    /// Whether the connection asks for ECN although its control does nothing about marks.
    #[must_use]
    pub fn ignores_marks(&self) -> bool {
        let ignored = needs(self.cc.kind).is_some_and(|needs| needs.marks == MarkResponse::Ignores);
        ignored && self.ecn_mode() != EcnMode::Off
    }
}

impl AnyCc {
    /// Builds the control a configuration names, for segments of `mss` bytes.
    ///
    /// # Errors
    /// When the name or a parameter is unknown, or a value lies outside its range.
    pub fn new(config: &CcConfig, mss: u32, slow_start_exit: SlowStartExit, rng: Rng) -> Result<Self, CcError> {
        if KERNEL_KINDS.contains(&config.kind) {
            return Err(CcError::OnlyKernels { kind: config.kind });
        }
        let unknown = || CcError::UnknownKind { kind: config.kind, known: SPECS.iter().map(|spec| spec.kind).collect() };
        let spec = SPECS.iter().find(|spec| spec.kind == config.kind).ok_or_else(unknown)?;
        let given = ParamValues::new(spec, &config.params).map_err(CcError::Param)?;
        if spec.needs.start == Start::Own && slow_start_exit != SlowStartExit::Native {
            return Err(CcError::NoSlowStart { kind: spec.kind });
        }
        Self::build(spec.kind, &Setup { mss, slow_start_exit, rng, given: &given }).ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests;
