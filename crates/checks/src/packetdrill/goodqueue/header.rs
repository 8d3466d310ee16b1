//! Options of a TCP header in the order in which Linux writes them.

use goodqueue_tcp::wire::TcpOption;

/// Shift count of the window that Linux announces with its default buffers.
pub(super) const WINDOW_SCALE: u8 = 8;

/// The options announced in a handshake.
#[derive(Clone, Debug)]
pub(super) struct Offer {
    pub(super) mss: u16,
    pub(super) sack: bool,
    pub(super) timestamp: Option<(u32, u32)>,
    pub(super) scale: bool,
    /// Byte counters of accurate ECN.
    pub(super) counters: Option<TcpOption>,
}

impl Offer {
    /// Options of a SYN or its answer.
    pub(super) fn options(self) -> Vec<TcpOption> {
        use TcpOption::{Mss, Nop, SackPermitted, Timestamp, WindowScale};
        let mut options = vec![Mss(self.mss)];
        match (self.timestamp, self.sack) {
            (Some((value, echo)), true) => options.extend([SackPermitted, Timestamp { value, echo }]),
            (Some((value, echo)), false) => options.extend([Nop, Nop, Timestamp { value, echo }]),
            (None, _) => {}
        }
        extend_padded(&mut options, self.counters);
        if self.timestamp.is_none() && self.sack {
            options.extend([Nop, Nop, SackPermitted]);
        }
        if self.scale {
            options.extend([Nop, WindowScale(WINDOW_SCALE)]);
        }
        options
    }
}

/// Options of a segment after the handshake.
pub(super) fn options(timestamp: Option<(u32, u32)>, counters: Option<TcpOption>, blocks: Vec<(u32, u32)>) -> Vec<TcpOption> {
    use TcpOption::{Nop, Sack, Timestamp};
    let mut options = Vec::new();
    if let Some((value, echo)) = timestamp {
        options.extend([Nop, Nop, Timestamp { value, echo }]);
    }
    extend_padded(&mut options, counters);
    if !blocks.is_empty() {
        options.extend([Nop, Nop, Sack(blocks)]);
    }
    options
}

/// Appends an option and as much padding as whole words need.
fn extend_padded(options: &mut Vec<TcpOption>, option: Option<TcpOption>) {
    let Some(option) = option else { return };
    let padding = option.len().next_multiple_of(4) - option.len();
    options.push(option);
    options.extend(std::iter::repeat_n(TcpOption::Nop, padding));
}
