//! From a specification to what guests are told, and from what they say to figures.

use super::{Flow, HEAD_START};
use crate::kernel_tcp::{self, HEADERS};
use crate::linux::frame::Connection;
use crate::linux::job::{FlowJob, Job, MAX_FLOWS, Role};
use crate::linux::kernel::Kernel;
use crate::linux::report::{ConnectionState, Line};
use goodqueue_base::units::{Bytes, Duration, Instant};
use goodqueue_lab::run::backend::Refusal;
use goodqueue_sim::{FlowSpec, Outcome, OutsideWorld, Series, SeriesColumn, SourceSpec, WorldSpec};
use goodqueue_tcp::{Data, EcnMode, ReceiverConfig, SenderConfig};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The guests' cards take no longer packets.
pub const MAX_PACKET: Bytes = Bytes::new(1500);
/// Room for a window of 10 Gbit/s times 25 ms, for each flow.
const BUFFER: u64 = 32 << 20;
/// Flows beyond this number are not sampled: a report of more lines could not be read.
const MAX_SAMPLED: usize = 64;

type Tcp<'a> = (&'a SenderConfig, &'a ReceiverConfig, Bytes);

/// TCP flows, with their numbers.
fn tcp_flows(spec: &WorldSpec) -> impl Iterator<Item = (u32, &FlowSpec, Tcp<'_>)> {
    (0..).zip(&spec.flows).filter_map(|(number, flow)| Some((number, flow, flow.source.tcp()?)))
}

fn any_has(spec: &WorldSpec, mode: EcnMode) -> bool {
    tcp_flows(spec).any(|(_, _, (sender, ..))| sender.ecn_mode() == mode)
}

/// A control by the kernel's name.
fn of_kernel(control: &str) -> &str {
    control.strip_prefix("kernel:").unwrap_or(control)
}

/// Refuses a world that guests cannot run.
///
/// # Errors
/// The first setting that they cannot have.
pub fn check(spec: &WorldSpec, kernel: &Kernel) -> Result<(), Refusal> {
    let mut first: Option<Tcp<'_>> = None;
    if tcp_flows(spec).count() > MAX_FLOWS {
        return Err(Refusal { key: "traffic".to_owned(), why: format!("has more than {MAX_FLOWS} TCP flows") });
    }
    for (_, flow, tcp) in tcp_flows(spec) {
        let name = spec.groups.get(flow.group as usize).map_or("?", String::as_str);
        let refuse = |key: &str, why: &str| Err(Refusal::of_traffic(name, key, why));
        if let SourceSpec::Session { model, .. } = &flow.source
            && !OutsideWorld::takes(model)
        {
            return refuse(
                "kind",
                "is not supported with kernel senders: allowed bulk, short, lists of flows, and all kinds of UDP",
            );
        }
        let (sender, receiver, header) = tcp;
        check_sender(name, sender, header, kernel)?;
        if let Some((key, why)) = kernel_tcp::refused_receiver(receiver, sender.mss, kernel.gap_reports()) {
            return refuse(key, why);
        }
        let (one, _, header_of_one) = *first.get_or_insert(tcp);
        if header_of_one != header {
            return refuse("timestamps", "must be the same for all TCP groups");
        }
        if one.rto_min != sender.rto_min {
            return refuse("rto_min", "must be the same for all TCP groups");
        }
    }
    let plain = [EcnMode::Off, EcnMode::Classic, EcnMode::Accurate];
    if plain.into_iter().filter(|&mode| any_has(spec, mode)).count() > 1 {
        let why = "all TCP groups but those of dctcp must have the same".to_owned();
        return Err(Refusal { key: "traffic: ecn".to_owned(), why });
    }
    Ok(())
}

/// Refuses the first key of a sender that the guests' kernel cannot have.
fn check_sender(group: &str, sender: &SenderConfig, header: Bytes, kernel: &Kernel) -> Result<(), Refusal> {
    let refuse = |key: &str, why: &str| Err(Refusal::of_traffic(group, key, why));
    let control = of_kernel(sender.cc.kind);
    if !kernel.controls().contains(&control) {
        let known = kernel.controls().join(", ");
        return refuse("cc", &format!("`{control}` is not in the guest kernel, which has {known}"));
    }
    if let Some((key, why)) = kernel_tcp::refused_sender(sender, header) {
        return refuse(key, why);
    }
    match sender.data {
        // Messages belong to sessions, which guests take or refuse by their kind.
        Data::Unlimited | Data::Bytes(_) | Data::Messages => {}
    }
    if sender.offload == Some(false) {
        return refuse("gso", "is the kernel's, on");
    }
    if sender.mss + header > MAX_PACKET {
        return refuse("mss", &format!("packets of more than {MAX_PACKET} do not pass the guests' cards"));
    }
    match sender.ecn_mode() {
        EcnMode::Off | EcnMode::Classic | EcnMode::Mirror => {}
        EcnMode::Accurate if kernel.has_accurate_ecn() => {}
        EcnMode::Native | EcnMode::On | EcnMode::Accurate | EcnMode::L4s => {
            return refuse("ecn", "the kernel has classic ECN, and mirrored marks for dctcp");
        }
    }
    if (sender.ecn_mode() == EcnMode::Mirror) != (control == "dctcp") {
        return refuse("ecn", "mirrored marks belong to dctcp, and dctcp to them");
    }
    if sender.max_window != SenderConfig::default().max_window && sender.max_window.get() > u64::from(u32::MAX >> 2) {
        return refuse("max_window", "is at most 1 GB");
    }
    Ok(())
}

/// Flows with ends outside, in the order of their ports.
pub(super) fn flows(spec: &WorldSpec) -> Vec<Flow> {
    tcp_flows(spec).map(|(number, ..)| Flow { number, connection: Connection::default() }).collect()
}

/// Flows that are sampled, by their numbers.
fn sampled(world: &OutsideWorld) -> impl Iterator<Item = u32> {
    tcp_flows(world.spec()).map(|(number, ..)| number).filter(|number| !world.is_transfer(*number)).take(MAX_SAMPLED)
}

/// Builds the job of one end.
pub(super) fn job(world: &OutsideWorld, role: Role, epoch: u64) -> Job {
    let spec = world.spec();
    let watched: BTreeSet<u32> = sampled(world).collect();
    let after_start = |at: Instant| at.since(Instant::ZERO);
    let flow_job = |number: u32, flow: &FlowSpec, (sender, _, header): Tcp<'_>| FlowJob {
        control: of_kernel(sender.cc.kind).to_owned(),
        watched: watched.contains(&number),
        start: after_start(flow.start),
        stop: flow.stop.map(after_start),
        size: if let Data::Bytes(size) = sender.data { Some(size.get()) } else { None },
        mss: (sender.mss + header).saturating_sub(HEADERS).get() as u32,
        window: (sender.max_window != Bytes::MAX).then(|| sender.max_window.get() as u32),
    };
    let mut settings = Vec::new();
    let mut set = |key: &str, value: &str| settings.push((format!("net.ipv4.{key}"), value.to_owned()));
    set("tcp_no_metrics_save", "1");
    // As many pages as there may be: memory is not what is studied.
    set("tcp_mem", "1000000 2000000 4000000");
    set("tcp_wmem", &format!("4096 16384 {BUFFER}"));
    set("tcp_rmem", &format!("4096 131072 {BUFFER}"));
    set("tcp_max_syn_backlog", "8192");
    // 2: only when the other end asks, which those of dctcp do; 3: accurate.
    let ecn = [(EcnMode::Classic, "1"), (EcnMode::Accurate, "3")].into_iter().find(|(mode, _)| any_has(spec, *mode));
    set("tcp_ecn", ecn.map_or("2", |(_, number)| number));
    if let Some((_, _, (sender, _, header))) = tcp_flows(spec).next() {
        set("tcp_timestamps", if header == HEADERS { "0" } else { "1" });
        set("tcp_rto_min_us", &(sender.rto_min.as_nanos() / 1000).to_string());
    }
    Job {
        role,
        epoch,
        from: spec.warmup,
        until: spec.warmup + spec.duration,
        sample: spec.recording.sample_every.filter(|period| !period.is_zero()),
        settings,
        program: None,
        flows: tcp_flows(spec).map(|(number, flow, tcp)| flow_job(number, flow, tcp)).collect(),
    }
}

/// Memory of a guest in MiB: what a kernel needs, and for each flow what its path may hold.
pub(super) fn memory(spec: &WorldSpec) -> u32 {
    (192 + 4 * tcp_flows(spec).count().min(400)) as u32
}

/// States of the connections, as guests have reported them.
pub(super) struct States {
    /// Number in the specification, and the name of its series, of each flow with ends outside.
    flows: Vec<(u32, String)>,
    /// One for each flow; `None` for those that are not sampled.
    sampled: Vec<Option<Series>>,
    acknowledged: Vec<u64>,
    period: Option<Duration>,
    from: Vec<ConnectionState>,
    until: Vec<ConnectionState>,
}

const COLUMNS: [&str; 5] = ["cwnd_bytes", "in_flight_bytes", "srtt_s", "goodput_bit_s", "retransmitted_packets"];

impl States {
    pub(super) fn new(world: &OutsideWorld) -> Self {
        let spec = world.spec();
        let subject = |flow: &FlowSpec| format!("flow:{}:{}", spec.groups[flow.group as usize], flow.index);
        let flows: Vec<_> = tcp_flows(spec).map(|(number, flow, _)| (number, subject(flow))).collect();
        let column = |name: &&str| SeriesColumn { name: (*name).to_owned(), values: Vec::new() };
        let series = |subject: &String| Series {
            subject: subject.clone(),
            times: Arc::default(),
            columns: COLUMNS.iter().map(column).collect(),
        };
        let period = spec.recording.sample_every.filter(|period| !period.is_zero());
        let watched: BTreeSet<u32> = sampled(world).filter(|_| period.is_some()).collect();
        let sampled = flows.iter().map(|(number, name)| watched.contains(number).then(|| series(name))).collect();
        let none = vec![ConnectionState::default(); flows.len()];
        Self { sampled, acknowledged: vec![0; flows.len()], period, from: none.clone(), until: none, flows }
    }

    pub(super) fn take(&mut self, line: &Line) {
        match *line {
            Line::From(flow, state) => put(&mut self.from, flow, state),
            Line::Until(flow, state) => put(&mut self.until, flow, state),
            Line::Sample(at, flow, state) => self.sample(Instant::from_nanos(at), flow as usize, &state),
            Line::Ready | Line::Exit(_) | Line::Done | Line::Error(_) => {}
        }
    }

    fn sample(&mut self, at: Instant, flow: usize, state: &ConnectionState) {
        let (Some(Some(series)), Some(period)) = (self.sampled.get_mut(flow), self.period) else { return };
        let before = std::mem::replace(&mut self.acknowledged[flow], state.acknowledged);
        let goodput = state.acknowledged.saturating_sub(before) as f64 * 8.0 / period.as_secs_f64();
        let srtt = if state.rtt_us == 0 { f64::NAN } else { state.rtt_us as f64 * 1e-6 };
        Arc::make_mut(&mut series.times).push(at);
        let values = [state.window as f64, state.in_flight as f64, srtt, goodput, state.retransmitted as f64];
        for (column, value) in series.columns.iter_mut().zip(values) {
            column.values.push(value);
        }
    }

    /// Adds what only the guests know. `origin` gives the flow of the result that a flow belongs
    /// to.
    pub(super) fn add_to(self, mut outcome: Outcome, origin: &[u32]) -> Outcome {
        for (place, (number, _)) in self.flows.iter().enumerate() {
            if let Some(flow) = origin.get(*number as usize).and_then(|origin| outcome.flows.get_mut(*origin as usize)) {
                let own = self.until[place].timeouts.saturating_sub(self.from[place].timeouts);
                flow.timeouts = Some(flow.timeouts.unwrap_or(0) + own);
            }
        }
        outcome.series.extend(self.sampled.into_iter().flatten());
        outcome
    }
}

fn put(states: &mut [ConnectionState], flow: u32, state: ConnectionState) {
    if let Some(place) = states.get_mut(flow as usize) {
        *place = state;
    }
}

const _: () = assert!(HEAD_START.is_multiple_of(1_000_000), "samples fall on whole milliseconds of both clocks");
