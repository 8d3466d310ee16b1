//! From a point of a scenario to what the testbed runs. Everything that the testbed cannot do is
//! refused by name.
//!
//! Every setting of a scenario is taken apart here without `..`, and every enum is matched without
//! `_`. A setting that is added to scenarios therefore does not compile until it is decided here
//! what the live host makes of it.

use super::{limit, line};
use crate::kernel_tcp::{self, HEADERS};
use goodqueue_base::units::{Bytes, Class, Duration, Instant, Rate, Rng};
use goodqueue_lab::run::backend::Refusal;
use goodqueue_lab::scenario::build::FlowStreams;
use goodqueue_lab::scenario::plan::{
    Access, Direction, Link, LinkDirection, Part, Point, Queue, Scenario, Step, Timing, Traffic, TrafficPath,
};
use goodqueue_live::Line;
use goodqueue_live::testbed::experiment::{Arrivals, Experiment, Flow, MIN_STAMPED, Segments, Source, Timestamps};
use goodqueue_sim::{OutsideWorld, RateSpec, SizeLaw, SourceSpec, Transfer, WorldSpec, planned_transfers};
use goodqueue_tcp::{Data, EcnMode, SenderConfig};
use std::sync::Arc;

/// Packets of the testbed's interfaces.
const MTU: Bytes = Bytes::new(1500);
/// Congestion controls of this kernel that the simulator has, too.
const CONTROLS: [&str; 3] = ["reno", "cubic", "bbr"];
/// The kernel's TCP cannot fill a line of more than this segment by segment here, so its frames are
/// taken joined and judged by segments.
const SINGLE_UP_TO: Rate = Rate::gbit(1);

/// A point in the testbed's terms, without what is drawn for each replication.
#[derive(Debug)]
pub struct Translated<'a> {
    down: Line,
    up: Line,
    limits: (goodqueue_aqm::Limit, goodqueue_aqm::Limit),
    groups: Vec<Group<'a>>,
    ecn: bool,
    timestamps: Timestamps,
    segments: Segments,
    warmup: Duration,
    duration: Duration,
}

/// A group of flows.
#[derive(Debug)]
struct Group<'a> {
    flows: u32,
    start: &'a Timing,
    stop: Option<Instant>,
    class: Class,
    /// Everything that each flow does, and which way.
    parts: Vec<(Direction, Source)>,
}

/// Settings that all TCP connections of the testbed share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Connections {
    ecn: bool,
    timestamps: Timestamps,
}

/// Translates a point.
///
/// # Errors
/// The first key that the live host cannot honor.
pub fn translate(point: &Point) -> Result<Translated<'_>, Refusal> {
    let Scenario { name: _, description: _, warmup, duration, replications: _, seed: _, links, access, traffic } = &point.plan;
    let [link] = &links[..] else {
        return Err(Refusal { key: "link".to_owned(), why: "the live host runs scenarios with one link".to_owned() });
    };
    check_link(link)?;
    let delay = check_access(access, link)?;
    let mut common: Option<Connections> = None;
    let mut groups = Vec::new();
    for one in traffic {
        groups.push(group(one, link, &mut common)?);
    }
    let common = common.unwrap_or(Connections { ecn: false, timestamps: Timestamps::On });
    let longer = |line: Line| Line { delay: line.delay + delay, ..line };
    Ok(Translated {
        down: longer(line(link, &link.down, Instant::ZERO)),
        up: longer(line(link, &link.up, Instant::ZERO)),
        limits: (limit(&link.down), limit(&link.up)),
        groups,
        ecn: common.ecn,
        timestamps: common.timestamps,
        segments: if fastest(link) > SINGLE_UP_TO { Segments::Joined } else { Segments::Single },
        warmup: *warmup,
        duration: *duration,
    })
}

fn fastest(link: &Link) -> Rate {
    link.down.nominal_rate().max(link.up.nominal_rate())
}

fn check_link(link: &Link) -> Result<(), Refusal> {
    // Ends are names for paths, of which one link has a single one.
    let Link { name, ends: _, one_way, count, mtu, framing: _, down, up } = link;
    let refuse = |key: &str, why: &str| Err(Refusal::of_link(name, key, why));
    if *mtu != MTU {
        return refuse("mtu", "is 1500 B on the live host");
    }
    if *count > 1 {
        return refuse("count", "is not possible with kernel senders, which have one line");
    }
    if *one_way {
        return refuse("one_way", "is not possible with kernel senders");
    }
    for (direction, suffix) in [(down, ""), (up, "_up")] {
        let LinkDirection { rate, delay: _, queue, loss, burst, flow_control } = direction;
        let refuse = |key: &str, why: &str| Err(Refusal::of_link(name, &format!("{key}{suffix}"), why));
        match rate {
            RateSpec::Constant(_) | RateSpec::Steps(_) | RateSpec::Recorded(_) => {}
        }
        if *loss > 0.0 {
            return refuse("loss", "is not supported by the live host");
        }
        if !burst.is_zero() {
            return refuse(
                "burst",
                "is not supported by the live host, whose link is a wire; a queue of kind \"shaper\" has one",
            );
        }
        if flow_control.is_some() {
            return refuse("flow_control", "is not supported by the live host");
        }
        if let Some(Queue { chosen: _, own, ecn: _, limit: _, limit_is_own: _ }) = queue
            && own.is_some()
        {
            return refuse("queue", "an algorithm of the program's own does not run on the live host");
        }
    }
    Ok(())
}

/// The delay that access links add each way, which is all that the testbed has of them.
fn check_access(access: &Access, link: &Link) -> Result<Duration, Refusal> {
    let Access { rate, delay: _, jitter, ends: _ } = access;
    let refuse = |key: &str, why: String| Err(Refusal { key: format!("access.{key}"), why });
    if *rate < fastest(link) {
        let why = format!("access links of the live host only delay: allowed from the rate of the link, {}", fastest(link));
        return refuse("rate", why);
    }
    if jitter.is_some_and(|jitter| !jitter.is_zero()) {
        return refuse("jitter", "is this machine's own on the live host".to_owned());
    }
    Ok(access.one_way_delay())
}

fn group<'a>(traffic: &'a Traffic, link: &Link, common: &mut Option<Connections>) -> Result<Group<'a>, Refusal> {
    let Traffic {
        name,
        flows,
        copies: _,
        start,
        stop,
        // Those of the parts, which are checked.
        heading: _,
        // That of the link, which is checked.
        mtu: _,
        rtt_extra,
        // Says nothing without `rtt_extra`.
        rtt_shared_by: _,
        class,
        weight,
        leaf,
        host,
        main: _,
        // Nothing changes on the way.
        is_background: _,
        others: _,
    } = traffic;
    let refuse = |key: &str, why: &str| Err(Refusal::of_traffic(name, key, why));
    if !rtt_extra.latest().is_zero() {
        return refuse("rtt_extra", "is not supported by the live host");
    }
    if leaf.is_some() {
        return refuse("leaf", "the live host's packets say nothing of the leaf of their flow");
    }
    let uses_weights = |direction: &LinkDirection| direction.queue.as_ref().is_some_and(|queue| queue.chosen.weighs_flows());
    if *weight != 1.0 && (uses_weights(&link.down) || uses_weights(&link.up)) {
        return refuse("weight", "the live host's packets say nothing of the weight of their flow");
    }
    if host.is_some() {
        return refuse("host", "is not supported by the live host, where each side is one host");
    }
    let straight = |heading| vec![Step { link: 0, heading }];
    let mut parts = Vec::new();
    for Part { path: TrafficPath { forward, reverse }, heading, source } in traffic.parts() {
        let source = translate_source(name, source, link.direction(*heading).delay, common)?;
        if *forward != straight(*heading) || *reverse != straight(heading.opposite()) {
            return refuse("path", "leads elsewhere than across the link and back");
        }
        parts.push((*heading, source));
    }
    Ok(Group { flows: *flows, start, stop: *stop, class: *class, parts })
}

/// Translates the source of a group's flows, whose link's propagation takes so long.
fn translate_source(
    group: &str,
    source: &SourceSpec,
    propagation: Duration,
    common: &mut Option<Connections>,
) -> Result<Source, Refusal> {
    let refuse = |key: &str, why: &str| Err(Refusal::of_traffic(group, key, why));
    let udp = |rate: Rate, arrivals, packet_size: Bytes, ecn| {
        Ok(Source::Udp { rate, arrivals, rng: Rng::new(0), packet_size: packet_size.get() as u32, ecn })
    };
    match source {
        SourceSpec::Session { model, .. } if !OutsideWorld::takes(model) => {
            refuse("kind", "waits for answers, which is not supported by the live host")
        }
        SourceSpec::Tcp { sender, receiver, header } | SourceSpec::Session { sender, receiver, header, .. } => {
            let control = check_sender(group, sender, *header)?.to_owned();
            let list = matches!(source, SourceSpec::Session { .. }).then(Arc::default);
            let source = match list {
                // Each replication draws its own.
                Some(list) => Source::Transfers { control, list },
                None => Source::Tcp { control },
            };
            if let Some((key, why)) = kernel_tcp::refused_receiver(receiver, sender.mss, None) {
                return refuse(key, why);
            }
            let timestamps = if *header == HEADERS { Timestamps::Off } else { Timestamps::On };
            let own = Connections { ecn: sender.ecn_mode() != EcnMode::Off, timestamps };
            let first = common.get_or_insert(own);
            if first.ecn != own.ecn {
                return refuse("ecn", "must be the same for all TCP groups on the live host");
            }
            if first.timestamps != own.timestamps {
                return refuse("timestamps", "must be the same for all TCP groups on the live host");
            }
            Ok(source)
        }
        SourceSpec::Cbr { rate, packet_size, ecn } => udp(*rate, Arrivals::Periodic, *packet_size, *ecn),
        SourceSpec::Poisson { rate, packet_size, sizes, ecn } => match sizes {
            SizeLaw::Fixed => udp(*rate, Arrivals::Poisson, *packet_size, *ecn),
            SizeLaw::Exponential => refuse("sizes", "is not supported by the live host: allowed \"fixed\""),
        },
        SourceSpec::OnOff { peak, mean_on, mean_off, packet_size, ecn } => {
            let (mean_on, mean_off) = (*mean_on, *mean_off);
            udp(*peak, Arrivals::OnOff { mean_on, mean_off }, *packet_size, *ecn)
        }
        SourceSpec::Echo { interval, packet_size, ecn } => {
            Ok(Source::Echo { interval: *interval, packet_size: packet_size.get() as u32, ecn: *ecn })
        }
        SourceSpec::Call { content, interval, packet_size, ecn } => {
            let (content, interval, packet_size, ecn) = (*content, *interval, packet_size.get() as u32, *ecn);
            if packet_size < MIN_STAMPED {
                return refuse("packet_size", &format!("has no room for a number and a time: allowed from {MIN_STAMPED} B"));
            }
            Ok(Source::Call { content, interval, packet_size, ecn, propagation })
        }
        SourceSpec::Frames { .. } | SourceSpec::Train { .. } => refuse(
            "kind",
            "is not supported by the live host: allowed bulk, short, flow-list, voip, gaming, cbr, poisson, on-off, echo",
        ),
    }
}

/// The congestion control of a sender that is as the kernel's are.
fn check_sender(group: &str, sender: &SenderConfig, header: Bytes) -> Result<&'static str, Refusal> {
    let kernel = SenderConfig::default();
    let refuse = |key: &str, why: &str| Err(Refusal::of_traffic(group, key, why));
    let kind = sender.cc.kind;
    if !CONTROLS.contains(&kind) {
        return refuse("cc", &format!("`{kind}` is not on the live host: allowed {}", CONTROLS.join(", ")));
    }
    if let Some((key, why)) = kernel_tcp::refused_sender(sender, header) {
        return refuse(key, why);
    }
    match sender.data {
        // Messages belong to sessions, which are refused by their kind.
        Data::Unlimited | Data::Messages => {}
        Data::Bytes(_) => return refuse("size", "is not supported by the live host, where data has no end"),
    }
    match sender.ecn_mode() {
        EcnMode::Off | EcnMode::Classic => {}
        EcnMode::Native | EcnMode::On | EcnMode::Mirror | EcnMode::Accurate | EcnMode::L4s => {
            return refuse("ecn", "the kernel's TCP has classic ECN or none on the live host");
        }
    }
    if sender.mss + header != MTU {
        return refuse("mss", &format!("is what fills a packet of {MTU} on the live host, {}", MTU.saturating_sub(header)));
    }
    if sender.rto_min != kernel.rto_min {
        return refuse("rto_min", "is the kernel's, 200 ms");
    }
    if sender.max_window != kernel.max_window {
        return refuse("max_window", "is the kernel's, which follows the connection's needs");
    }
    if sender.offload.is_some() {
        return refuse("gso", "follows from the rate of the link on the live host: on above 1 Gbit/s");
    }
    Ok(kind)
}

impl Translated<'_> {
    /// Returns the frames in which TCP sends its segments on this link.
    pub const fn segments(&self) -> Segments {
        self.segments
    }

    /// The run of one replication, with what is drawn for it: that of the simulator's world.
    pub fn experiment(&self, world: &WorldSpec, sample_every: Option<Duration>) -> Experiment {
        let (streams, mut planned) = (FlowStreams::new(world.seed), planned_transfers(world).into_iter());
        let mut flows = Vec::new();
        for (number, group) in (0..).zip(&self.groups) {
            let parts = |index| (0..).zip(&group.parts).map(move |(part, of)| (index, index + part * group.flows, of));
            for (drawn, index, (way, source)) in (0..group.flows).flat_map(parts) {
                flows.push(Flow {
                    source: drawn_source(source, planned.next().flatten(), streams.gaps(number, index)),
                    way: *way,
                    // All parts of a flow begin together.
                    start: group.start.draw(&mut streams.start(number, drawn)),
                    stop: group.stop.map(|stop| stop.since(Instant::ZERO)),
                    dscp: group.class.number() << 3,
                });
            }
        }
        Experiment {
            down: self.down.clone(),
            up: self.up.clone(),
            limits: self.limits,
            flows,
            ecn: self.ecn,
            timestamps: self.timestamps,
            segments: self.segments,
            warmup: self.warmup,
            duration: self.duration,
            sample_every,
        }
    }
}

/// A source with what one replication draws for it.
fn drawn_source(source: &Source, planned: Option<Vec<Transfer>>, gaps: Rng) -> Source {
    match (source, planned) {
        (Source::Transfers { control, .. }, Some(list)) => Source::Transfers { control: control.clone(), list: list.into() },
        _ => source.clone().drawing_from(gaps),
    }
}

#[cfg(test)]
mod tests;
