//! Flows of an experiment.

use super::gaps::Arrivals;
use crate::forwarder::Direction;
use goodqueue_base::units::{Duration, Ecn, Rate, Rng};
use goodqueue_sim::{Content, Transfer};
use std::sync::Arc;

/// IP length of the shortest packet with room for a number and a time.
pub const MIN_STAMPED: u32 = 44;

/// Source of a flow's packets.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// As much as this kernel's TCP can, under the control of this name.
    Tcp {
        /// The kernel's name of the congestion control.
        control: String,
    },
    /// Transfers, each on a connection of its own.
    Transfers {
        /// The kernel's name of the congestion control.
        control: String,
        /// Ordered by time, which counts from the flow's start.
        list: Arc<[Transfer]>,
    },
    /// UDP packets.
    Udp {
        /// In IP bits; of bursts, within one.
        rate: Rate,
        /// Distribution of the gaps between packets.
        arrivals: Arrivals,
        /// For what is drawn of that.
        rng: Rng,
        /// IP length.
        packet_size: u32,
        /// Codepoint they carry.
        ecn: Ecn,
    },
    /// UDP packets at constant gaps that the far end listens to.
    Call {
        /// The content of the packets.
        content: Content,
        /// Time from one to the next.
        interval: Duration,
        /// IP length; with room for a number and a time, [`MIN_STAMPED`] at least.
        packet_size: u32,
        /// Codepoint they carry.
        ecn: Ecn,
        /// Propagation of the path, beyond which delays are told apart finely.
        propagation: Duration,
    },
    /// UDP packets that the far end sends back.
    Echo {
        /// Time from one to the next.
        interval: Duration,
        /// IP length, both ways; with room for a number and a time, [`MIN_STAMPED`] at least.
        packet_size: u32,
        /// Codepoint they carry, both ways.
        ecn: Ecn,
    },
}

impl Source {
    /// Returns this source with the gaps between its packets drawn from `rng`.
    #[must_use]
    pub fn drawing_from(self, rng: Rng) -> Self {
        match self {
            Self::Udp { rate, arrivals, rng: _, packet_size, ecn } => Self::Udp { rate, arrivals, rng, packet_size, ecn },
            Self::Tcp { .. } | Self::Transfers { .. } | Self::Echo { .. } | Self::Call { .. } => self,
        }
    }
}

/// Whether TCP segments carry timestamps (RFC 7323).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Timestamps {
    /// 12 bytes of options in each segment.
    #[default]
    On,
    /// No options in data segments.
    Off,
}

/// A flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Source of the flow's packets.
    pub source: Source,
    /// Direction of the flow's data.
    pub way: Direction,
    /// When it starts.
    pub start: Duration,
    /// When it stops offering data; `None`: at the end.
    pub stop: Option<Duration>,
    /// The upper six bits of the traffic class.
    pub dscp: u8,
}

/// Time between two reports, and between two samples of senders.
pub(super) const REPORT_EVERY: Duration = Duration::ms(20);
