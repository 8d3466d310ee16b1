//! Settings of TCP senders and receivers.

use super::controls;
use super::reader::{self, Field, Table};
use super::tree::Value;
use crate::diagnostic::Fault;
use crate::quantity::Limits;
use goodqueue_sim::SourceSpec;
use goodqueue_tcp::{
    AckPolicy, CcConfig, Data, EcnMode, LossDetection, ReceiverConfig, SackReports, SenderConfig, SlowStartExit,
};
use goodqueue_units::{Bytes, Duration};

/// A connection whose segment size still waits for the link's MTU.
#[derive(Clone)]
pub(super) struct Draft {
    sender: SenderConfig,
    receiver: ReceiverConfig,
    header: Bytes,
    mss: Option<Bytes>,
}

/// IP and TCP headers (RFC 791, RFC 9293), and the timestamps option with its padding (RFC 7323).
const HEADERS: Bytes = Bytes::new(40);
const TIMESTAMPS: Bytes = Bytes::new(12);
/// The smallest segment every host must take (RFC 9293 §3.7.1 less options).
const SMALLEST_MSS: Bytes = Bytes::new(48);
const LARGEST_MSS: Bytes = Bytes::new(65_495);
const MOST_DATA: Bytes = Bytes::new(1_000_000_000_000_000);
/// How much a connection may have to send.
pub(super) const SIZES: Limits<Bytes> = Limits::new(Bytes::new(1), MOST_DATA);

impl Draft {
    pub(super) fn read(table: &Table<'_>) -> Option<Self> {
        let defaults = (SenderConfig::default(), ReceiverConfig::default());
        let cc = controls::read(table);
        let header = table.optional("header", reader::bytes(Limits::new(HEADERS, Bytes::new(120))));
        let timestamps = table.optional("timestamps", reader::switch);
        if header.is_some() && timestamps.is_some() {
            table.fault("timestamps", "is given beside `header`, which it sets".to_owned(), Some("keep one of them".to_owned()));
        }
        let mss = table.optional("mss", reader::bytes(Limits::new(SMALLEST_MSS, LARGEST_MSS)));
        let ecn = table.optional("ecn", read_ecn);
        let sack = table.optional("sack", read_sack).unwrap_or_default();
        let loss_detection = table.optional("loss_detection", reader::choice(&["rack", "rfc6675"]));
        if sack == SackReports::Off && loss_detection.is_some() {
            let message = "is given beside `sack = false`, where losses are found by duplicates".to_owned();
            table.fault("loss_detection", message, Some("keep one of them".to_owned()));
        }
        let exit = table.optional("slow_start_exit", reader::choice(&["native", "loss-only", "hystart++"]));
        let initial_window = table.optional("initial_window", reader::count(Limits::new(1, 1_000)));
        let rto_min = table.optional("rto_min", reader::duration(Limits::new(Duration::ms(1), Duration::secs(60))));
        let gso = table.optional("gso", reader::switch);
        let max_window = table.optional("max_window", reader::bytes(Limits::new(Bytes::new(1), MOST_DATA)));
        let ack = table.optional("ack", read_ack);
        let delays = Limits::new(Duration::ms(1), Duration::secs(1));
        let max_ack_delay = table.optional("max_ack_delay", reader::duration(delays));
        Some(Self {
            sender: SenderConfig {
                cc: cc?.unwrap_or(CcConfig { kind: "cubic", params: Vec::new() }),
                loss_detection: match loss_detection {
                    _ if sack == SackReports::Off => LossDetection::Duplicates,
                    Some("rfc6675") => LossDetection::Rfc6675,
                    _ => LossDetection::Rack,
                },
                slow_start_exit: match exit {
                    Some("loss-only") => SlowStartExit::LossOnly,
                    Some("hystart++") => SlowStartExit::HystartPlusPlus,
                    _ => SlowStartExit::Native,
                },
                ecn: ecn.unwrap_or_default(),
                initial_window: initial_window.map_or(defaults.0.initial_window, |segments| segments as u32),
                rto_min: rto_min.unwrap_or(defaults.0.rto_min),
                max_window: max_window.unwrap_or(defaults.0.max_window),
                offload: gso,
                data: Data::Unlimited,
                ..defaults.0
            },
            receiver: ReceiverConfig {
                ack_policy: ack.unwrap_or(defaults.1.ack_policy),
                max_ack_delay: max_ack_delay.unwrap_or(defaults.1.max_ack_delay),
                sack,
                ..defaults.1
            },
            header: header.unwrap_or(if timestamps == Some(false) { HEADERS } else { HEADERS + TIMESTAMPS }),
            mss,
        })
    }

    /// Reads how much there is to send, for connections that send once.
    pub(super) fn with_size(mut self, table: &Table<'_>) -> Self {
        if let Some(size) = table.optional("size", reader::bytes(SIZES)) {
            self.sender.data = Data::Bytes(size);
        }
        self
    }

    /// The same under another control, with that one's own parameters.
    pub(super) fn with_control(mut self, kind: &'static str) -> Self {
        if self.sender.cc.kind != kind {
            self.sender.cc = CcConfig { kind, params: Vec::new() };
        }
        self
    }

    /// Fills packets up to the link's MTU unless the file gives a segment size.
    pub(super) fn finish(self, table: &Table<'_>, mtu: Bytes) -> Option<SourceSpec> {
        let largest = mtu.saturating_sub(self.header);
        let mss = self.mss.unwrap_or(largest);
        if mss > largest || mss < SMALLEST_MSS {
            let message = format!(
                "{mss} is out of range: allowed {SMALLEST_MSS} to {largest}, the link's mtu ({mtu}) less {} of headers",
                self.header
            );
            table.fault("mss", message, None);
            return None;
        }
        Some(SourceSpec::Tcp {
            sender: SenderConfig { mss, ..self.sender },
            receiver: ReceiverConfig { mss, ..self.receiver },
            header: self.header,
        })
    }
}

fn read_ecn(field: Field<'_>) -> Result<EcnMode, Fault> {
    match field.node.value {
        Value::Bool(on) => Ok(if on { EcnMode::On } else { EcnMode::Off }),
        _ => reader::choice(&["classic", "mirror", "accurate", "l4s"])(field).map(|word| match word {
            "classic" => EcnMode::Classic,
            "mirror" => EcnMode::Mirror,
            "accurate" => EcnMode::Accurate,
            _ => EcnMode::L4s,
        }),
    }
}

/// `"compressed"`, `"plain"`, or a switch.
fn read_sack(field: Field<'_>) -> Result<SackReports, Fault> {
    match field.node.value {
        Value::Bool(on) => Ok(if on { SackReports::default() } else { SackReports::Off }),
        _ => reader::choice(&["compressed", "plain"])(field).map(|word| match word {
            "plain" => SackReports::Plain,
            _ => SackReports::Compressed,
        }),
    }
}

/// `"delayed"`, `"every-packet"` or `{ every = 20 }`.
fn read_ack(field: Field<'_>) -> Result<AckPolicy, Fault> {
    let Value::Table(entries) = &field.node.value else {
        return reader::choice(&["delayed", "every-packet"])(field)
            .map(|word| if word == "delayed" { AckPolicy::Delayed } else { AckPolicy::EveryPacket });
    };
    match entries.as_slice() {
        [entry] if entry.key == "every" => {
            let path = format!("{}.every", field.path);
            let segments = reader::count(Limits::new(1, 1_000_000))(Field { node: &entry.node, path: &path })?;
            Ok(AckPolicy::EveryWindow { segments: segments as u32 })
        }
        _ => {
            let help = "write \"delayed\", \"every-packet\" or { every = 20 }".to_owned();
            Err(field.fault("is not a way to acknowledge".to_owned(), Some(help)))
        }
    }
}
