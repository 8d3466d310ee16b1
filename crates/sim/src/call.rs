//! Calls as they are heard: a receiver that adapts its delay, and the E-model's rating of what it
//! plays.
//!
//! A [`Listener`] takes the packets of one call. Of speech, its [`Playout`] decides when each frame
//! is played, or that it is lost; every [`Stretch`] of 8 s is rated by [`emodel`].

mod bursts;
pub mod emodel;
mod listener;
mod playout;
mod stretch;

pub use bursts::Bursts;
pub use listener::Listener;
pub use playout::{Heard, Playout};
pub use stretch::Stretch;

use goodqueue_base::units::{Bytes, Duration};

/// The content of packets at constant gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Speech in frames of this codec.
    Voice(Codec),
    /// The state of a game.
    Game,
}

/// The codec of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// Opus at 32 kbit/s, super-wideband, with forward error correction: each packet has a coarse
    /// copy of the frame before (RFC 6716 §2.1.7).
    Opus,
    /// G.711 with packet loss concealment.
    Pcmu,
}

impl Codec {
    /// Speech in one packet of either codec (RFC 3551 §4.2; the usual frame of RFC 6716).
    pub const FRAME: Duration = Duration::ms(20);

    /// All of them.
    pub const ALL: [Self; 2] = [Self::Opus, Self::Pcmu];

    /// The name in scenarios.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Opus => "opus",
            Self::Pcmu => "pcmu",
        }
    }

    /// The codec of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|codec| codec.name() == name)
    }

    /// IP length of a packet. Opus: 80 bytes of speech, an SRTP tag of 10, and RTP, UDP and IP
    /// headers of 40 (sizes are our choice). G.711: 160 bytes (RFC 3551) and the headers.
    #[must_use]
    pub const fn packet_size(self) -> Bytes {
        match self {
            Self::Opus => Bytes::new(130),
            Self::Pcmu => Bytes::new(200),
        }
    }

    /// Whether a frame that is lost can be had from its successor.
    #[must_use]
    pub const fn repairs(self) -> bool {
        matches!(self, Self::Opus)
    }
}
