//! Tail drop: a plain FIFO that drops packets that do not fit.
//!
//! *Signal*: none besides the limit of the queue.
//! *Law*: an arriving packet that would exceed the limit is dropped; every other packet is queued.
//! *Parameters*: see `KINDS`.
//! *Deviations*: none. By the name `pfifo` the limit counts packets, by the name `bfifo` bytes, as
//! in Linux ([`Counting`]).
//! *Limits*: never marks; keeps a standing queue as long as senders keep it full. Limits in packets
//! and in bytes differ when packet sizes do.
//! *Source*: RFC 7567 §1, RFC 7928 §3.2.

use super::Algorithm;
use crate::aqm::Aqm;
use crate::qdisc::Packet;
use crate::queue::{Limit, ManagedQueue};
use crate::spec::{Family, Kind, KindSpec, LinkFacts, Marking, ParamError, ParamValues};
use goodqueue_base::spec::is_same_name;
use goodqueue_base::units::{Bytes, Packets};

/// The unit of a tail drop's limit, for names that imply one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// Packets: `pfifo`.
    Packets,
    /// Bytes: `bfifo`.
    Bytes,
}

impl Counting {
    /// Returns the unit that a queue called `name` counts, if its name implies one.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        [("pfifo", Self::Packets), ("bfifo", Self::Bytes)]
            .into_iter()
            .find_map(|(alias, counting)| is_same_name(alias, name).then_some(counting))
    }

    /// `limit` in what is counted, packets having `mtu`; at least one packet.
    #[must_use]
    pub fn count(self, limit: Limit, mtu: Bytes) -> Limit {
        let size = mtu.get().max(1);
        match self {
            Self::Packets if limit.packets == Packets::MAX => {
                let whole = limit.bytes.get() / size + u64::from(limit.bytes.get() % size >= size.div_ceil(2));
                Limit::packets(whole.max(1))
            }
            Self::Bytes if limit.bytes == Bytes::MAX => Limit::bytes(limit.packets.get().saturating_mul(size)),
            Self::Packets | Self::Bytes => limit,
        }
    }
}

/// Tail drop. The limit belongs to the queue, so there is nothing left to decide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TailDrop;

impl<P: Packet> ManagedQueue<P, TailDrop> {
    /// Counts a packet that arrives and leaves at once, since the link is free: it need not be
    /// queued. Returns false, and counts nothing, where others wait or it does not fit.
    #[inline]
    pub fn pass(&mut self, packet: &P) -> bool {
        self.count_through(packet)
    }
}

impl Aqm for TailDrop {
    #[inline]
    fn is_timeless() -> bool {
        true
    }
}

impl Algorithm for TailDrop {
    const KINDS: &'static [KindSpec] = &[KindSpec::new(
        Kind {
            kind: "tail-drop",
            aliases: &["pfifo", "bfifo", "fifo", "drop-tail", "FifoQueueDisc", "DropTailQueue"],
            title: "Tail drop",
            summary: "FIFO that drops what does not fit",
            params: &[],
            source: "RFC 7567 §1",
        },
        Family::TailDrop,
        "the hard limit, on arrival",
    )
    .marking(Marking::Never)];

    fn build(_: &ParamValues<'_>, _: &LinkFacts) -> Result<Self, ParamError> {
        Ok(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_linux_say_what_the_limit_counts() {
        let mtu = Bytes::new(1500);
        let [pfifo, bfifo] = ["PFIFO", "bfifo"].map(|name| Counting::of(name).expect("a name of Linux"));
        assert_eq!(Counting::of("tail-drop"), None);
        assert_eq!(pfifo.count(Limit::bytes(100_000), mtu), Limit::packets(67));
        assert_eq!(pfifo.count(Limit::bytes(10), mtu), Limit::packets(1));
        assert_eq!(bfifo.count(Limit::packets(30), mtu), Limit::bytes(45_000));
        assert_eq!(
            (pfifo.count(Limit::packets(7), mtu), bfifo.count(Limit::bytes(9), mtu)),
            (Limit::packets(7), Limit::bytes(9))
        );
    }
}
