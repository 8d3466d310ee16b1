//! What a control asks of the sender that works for it.

use crate::config::EcnMode;

/// What a control asks of the sender beyond the events every control gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// How much it needs to know of each acknowledgement.
    pub feedback: Feedback,
    /// Who reduces the window.
    pub reduction: Reduction,
    /// Its own kind of ECN.
    pub ecn: EcnMode,
    /// What it does about marks.
    pub marks: MarkResponse,
    /// Whether it has a [`PathModel`](super::PathModel).
    pub models_path: bool,
    /// How it starts.
    pub start: Start,
    /// Windows that the send buffer is made for.
    pub send_buffer: u32,
    /// Whether its hosts have segmentation offload.
    pub offload: bool,
}

/// What a control does about packets that arrive marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkResponse {
    /// It sends less.
    Reduces,
    /// It sends on as before: a queue that marks instead of dropping does not slow it.
    Ignores,
}

/// How a control starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// By slow start, which may end as [`SlowStartExit`](crate::SlowStartExit) says.
    Slow,
    /// In its own way; [`SlowStartExit::Native`](crate::SlowStartExit::Native) is all it knows.
    Own,
}

/// How much a control needs to know of each acknowledgement. Details cost the sender time and
/// memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// [`CongestionControl::on_ack`](super::CongestionControl::on_ack).
    Plain,
    /// [`CongestionControl::on_detailed_ack`](super::CongestionControl::on_detailed_ack), losses
    /// one by one, and pacing.
    Detailed,
}

/// Who reduces the window after losses and marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// The sender, gradually over a round trip (PRR), to the window the control names.
    Gradual,
    /// The control: its window holds at any time.
    Own,
}

impl Needs {
    /// What most controls need: acknowledgements, losses and marks as they come.
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
