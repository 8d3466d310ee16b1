//! The demands of a control on the sender that works for it.

use crate::config::EcnMode;

/// The demands of a control on the sender beyond the events every control gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Detail in which it needs to know each acknowledgement.
    pub feedback: Feedback,
    /// The side that reduces the window.
    pub reduction: Reduction,
    /// The control's own kind of ECN.
    pub ecn: EcnMode,
    /// Response to marks.
    pub marks: MarkResponse,
    /// Whether it has a [`PathModel`](super::PathModel).
    pub models_path: bool,
    /// Start of the control.
    pub start: Start,
    /// Windows that the send buffer is made for.
    pub send_buffer: u32,
    /// Whether its hosts have segmentation offload.
    pub offload: bool,
}

/// The response of a control to packets that arrive marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkResponse {
    /// Sends less.
    Reduces,
    /// Sends on as before: a queue that marks instead of dropping does not slow the flow.
    Ignores,
}

/// The way in which a control starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Starts by slow start, which may end as [`SlowStartExit`](crate::SlowStartExit) says.
    Slow,
    /// Starts in its own way; [`SlowStartExit::Native`](crate::SlowStartExit::Native) is the only
    /// exit it knows.
    Own,
}

/// The detail in which a control needs to know each acknowledgement. Details cost the sender time
/// and memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// [`CongestionControl::on_ack`](super::CongestionControl::on_ack).
    Plain,
    /// [`CongestionControl::on_detailed_ack`](super::CongestionControl::on_detailed_ack), losses
    /// one by one, and pacing.
    Detailed,
}

/// The side that reduces the window after losses and marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// The sender, gradually over a round trip (PRR), to the window the control names.
    Gradual,
    /// The control: its window holds at any time.
    Own,
}

impl Needs {
    /// The demands of most controls: acknowledgements, losses and marks as they come.
    pub const PLAIN: Self = Self {
        feedback: Feedback::Plain,
        reduction: Reduction::Gradual,
        ecn: EcnMode::Off,
        marks: MarkResponse::Reduces,
        models_path: false,
        start: Start::Slow,
        send_buffer: 2,
        offload: true,
    };
}
