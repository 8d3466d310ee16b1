//! Fields of Linux's `tcp_info`.

use super::connection::{Connection, Phase};
use crate::packetdrill::stack::NotModelled;
use goodqueue_base::units::{Duration, Ecn, Instant};
use goodqueue_tcp::cc::State;

/// The value of `tcpi_snd_ssthresh` before the first reduction.
const INFINITE: f64 = 0x7fff_ffff as f64;

impl Connection {
    pub(super) fn info(&self, now: Instant, field: &str) -> Result<f64, NotModelled> {
        let sender = &self.sender;
        let tally = sender.tally();
        let segments = |bytes: u64| (bytes / u64::from(self.mss)) as f64;
        let micros = |span: Option<Duration>| span.unwrap_or_default().as_nanos() as f64 / 1e3;
        Ok(match field {
            "tcpi_snd_cwnd" => segments(sender.cwnd().get()),
            "tcpi_snd_ssthresh" => segments(sender.ssthresh().get()).min(INFINITE),
            "tcpi_ca_state" => f64::from(match tally.state {
                State::Open => 0u8,
                State::Disorder => 1,
                State::Reducing => 2,
                State::Recovery => 3,
                State::Loss => 4,
            }),
            "tcpi_unacked" => f64::from(tally.outstanding),
            "tcpi_sacked" => f64::from(tally.sacked),
            "tcpi_lost" => f64::from(tally.lost),
            "tcpi_retrans" => f64::from(tally.retransmitted),
            "tcpi_total_retrans" => sender.statistics().retransmitted_segments as f64,
            // Linux counts the handshake.
            "tcpi_delivered" => tally.delivered as f64 + 1.0,
            "tcpi_rtt" => micros(sender.srtt()).floor(),
            "tcpi_snd_mss" => f64::from(self.mss),
            "tcpi_last_data_recv" => (now.since(self.last_data).as_nanos() / 1_000_000) as f64,
            "tcpi_state" if self.phase == Phase::SynSent => 2.0,
            "tcpi_state" if self.phase == Phase::SynReceived => 3.0,
            "tcpi_state" if !self.stream.is_closed() && self.peer_end.is_none() => 1.0,
            _ => return self.counted(field).map(|count| count as f64).ok_or_else(|| NotModelled::new(field)),
        })
    }

    /// A field about accurate ECN.
    fn counted(&self, field: &str) -> Option<u64> {
        let [received, delivered] = self.counts()?;
        let (counts, what) = match field.strip_prefix("tcpi_received_") {
            Some(what) => (received, what),
            None => (delivered, field.strip_prefix("tcpi_delivered_")?),
        };
        match what {
            "ce" => Some(counts.marks),
            "ce_bytes" => Some(counts.bytes.of(Ecn::Ce)),
            "e0_bytes" => Some(counts.bytes.of(Ecn::Ect0)),
            "e1_bytes" => Some(counts.bytes.of(Ecn::Ect1)),
            _ => None,
        }
    }
}
