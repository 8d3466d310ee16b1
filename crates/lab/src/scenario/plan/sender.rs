//! Settings of TCP senders and receivers.

use super::params::{self, Keys};
use super::reader::{self, Field, Table};
use super::tree::Value;
use crate::quantity::{Limits, excerpt};
use crate::scenario::diagnostic::Fault;
use crate::scenario::schema::traffic as schema;
use goodqueue_base::spec::Value as Setting;
use goodqueue_base::units::{Bytes, Rng};
use goodqueue_sim::SourceSpec;
use goodqueue_tcp::cc::{ControlSpec, KERNEL_KINDS, kinds};
use goodqueue_tcp::{
    AckPolicy, CcConfig, CcError, Data, EcnMode, LossDetection, ReceiverConfig, SackReports, Sender, SenderConfig, SlowStartExit,
};

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
const MIN_MSS: Bytes = Bytes::new(48);

impl Draft {
    /// Reads the keys of TCP connections; `None` when one has a fault that leaves no control.
    pub(super) fn read(table: &Table<'_>) -> Option<Self> {
        let defaults = (SenderConfig::default(), ReceiverConfig::default());
        let keys = Keys::read(table, &schema::TCP);
        let given = keys.given();
        let cc = read_control(table);
        if given.is_given("header") && given.is_given("timestamps") {
            table.fault("timestamps", "is given with `header`, which it sets".to_owned(), Some("keep one of them".to_owned()));
        }
        let sack = match given.value("sack") {
            Some(Setting::Switch(false)) => SackReports::Off,
            Some(Setting::Choice("plain")) => SackReports::Plain,
            Some(Setting::Choice("compressed-7.3")) => SackReports::CompressedLonger,
            _ => SackReports::Compressed,
        };
        if sack == SackReports::Off && given.is_given("loss_detection") {
            let message = "is given with `sack = false`, where losses are found by duplicates".to_owned();
            table.fault("loss_detection", message, Some("keep one of them".to_owned()));
        }
        let ack = table.optional("ack", read_ack);
        let timestamps = given.switch("timestamps")?;
        Some(Self {
            sender: SenderConfig {
                cc: cc?.unwrap_or(CcConfig { kind: "cubic", params: Vec::new() }),
                loss_detection: match given.choice("loss_detection") {
                    _ if sack == SackReports::Off => LossDetection::Duplicates,
                    Some("rfc6675") => LossDetection::Rfc6675,
                    _ => LossDetection::Rack,
                },
                slow_start_exit: match given.choice("slow_start_exit") {
                    Some("loss-only") => SlowStartExit::LossOnly,
                    Some("hystart++") => SlowStartExit::HystartPlusPlus,
                    _ => SlowStartExit::Native,
                },
                ecn: given.value("ecn").map_or_else(EcnMode::default, ecn),
                initial_window: given.number("initial_window")? as u32,
                rto_min: given.duration("rto_min")?,
                max_window: given.whole_bytes("max_window").unwrap_or(defaults.0.max_window),
                offload: given.switch("gso"),
                data: Data::Unlimited,
                ..defaults.0
            },
            receiver: ReceiverConfig {
                ack_policy: ack.unwrap_or(defaults.1.ack_policy),
                max_ack_delay: given.duration("max_ack_delay")?,
                sack,
                ..defaults.1
            },
            header: given.whole_bytes("header").unwrap_or(if timestamps { HEADERS + TIMESTAMPS } else { HEADERS }),
            mss: given.whole_bytes("mss"),
        })
    }

    /// With this much to send, for connections that send once; `None`: without end.
    pub(super) fn with_size(mut self, size: Option<Bytes>) -> Self {
        self.sender.data = size.map_or(Data::Unlimited, Data::Bytes);
        self
    }

    /// Switches to the control `kind` with its default parameters, unless it is in use already.
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
        if mss > largest || mss < MIN_MSS {
            let message = format!(
                "{mss} is out of range: allowed {MIN_MSS} to {largest}, the link's mtu ({mtu}) less {} of headers",
                self.header
            );
            table.fault("mss", message, None);
            return None;
        }
        let sender = SenderConfig { mss, ..self.sender };
        if sender.max_window < mss {
            let message = format!("{} is out of range: allowed from {mss}, the size of a segment", sender.max_window);
            table.fault("max_window", message, None);
            return None;
        }
        // Controls that only kernels have are unknown to senders of the simulator, and no fault
        // here.
        if let Err(CcError::NoSlowStart { kind }) = Sender::new(&sender, Rng::new(0)) {
            let message = format!("is not for `{kind}`, which starts in its own way: allowed native");
            table.fault("slow_start_exit", message, None);
            return None;
        }
        Some(SourceSpec::Tcp { sender, receiver: ReceiverConfig { mss, ..self.receiver }, header: self.header })
    }
}

/// Reads `"cubic"` or `{ kind = "cubic", … }`. The outer `None` means a fault was found.
fn read_control(traffic: &Table<'_>) -> Option<Option<CcConfig>> {
    let Some(node) = traffic.get("cc") else { return Some(None) };
    if !matches!(node.value, Value::Table(_)) {
        let kind = traffic.optional("cc", |field| {
            let name = reader::text(field)?;
            match KERNEL_KINDS.iter().find(|kind| **kind == name) {
                Some(kind) => Ok(*kind),
                None => find_control(field).map(|spec| spec.kind),
            }
        })?;
        return Some(Some(CcConfig { kind, params: Vec::new() }));
    }
    let table = Table::open(node, &traffic.path_of("cc"), traffic.faults())?;
    let spec = table.required("kind", "name the congestion control, for instance { kind = \"cubic\" }", find_control)?;
    let values = params::read_given(&table, spec.params);
    table.finish(&format!("`{}`", spec.kind));
    Some(Some(CcConfig { kind: spec.kind, params: values? }))
}

fn find_control(field: Field<'_>) -> Result<&'static ControlSpec, Fault> {
    let name = reader::text(field)?;
    let is_kernels = |kind: &&&str| **kind == name || kind.strip_prefix("kernel:") == Some(name);
    if let Some(kind) = KERNEL_KINDS.iter().find(is_kernels) {
        let help = format!("write cc = \"{kind}\", which takes no parameters, and run it with --on linux");
        return Err(field.fault(format!("`{}` is the kernel's own control", excerpt(name)), Some(help)));
    }
    let list = format!("this version has {}", kinds().iter().map(|spec| spec.kind).collect::<Vec<_>>().join(", "));
    params::find(field, name, kinds().iter(), "congestion control", &list)
}

fn ecn(value: Setting) -> EcnMode {
    match value {
        Setting::Switch(true) => EcnMode::On,
        Setting::Choice("classic") => EcnMode::Classic,
        Setting::Choice("mirror") => EcnMode::Mirror,
        Setting::Choice("accurate") => EcnMode::Accurate,
        Setting::Choice("l4s") => EcnMode::L4s,
        _ => EcnMode::Off,
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
