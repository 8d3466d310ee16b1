//! The checks, each a function from facts to what it found.

use super::diagnosis::{Diagnosis, Weight, found};
use super::facts::{Facts, is_ingress};
use crate::router::syntax::Interface;
use crate::router::tc::{Discipline, End, Setting};
use goodqueue_base::units::{Bytes, Rate};

/// Disciplines that keep delay short by themselves.
pub(super) const MANAGED: &[&str] =
    &["codel", "fq_codel", "pie", "fq_pie", "cake", "cake_mq", "red", "choke", "sfb", "dualpi2", "gred", "sfq", "fq", "hhf"];
/// Disciplines that only bound the number of packets.
pub(super) const PLAIN: &[&str] = &["pfifo", "bfifo", "pfifo_fast", "pfifo_head_drop"];
/// Disciplines that limit a rate.
pub(super) const SHAPERS: &[&str] = &["htb", "tbf", "hfsc"];
/// Clocks that are slow to read: each packet's time stamp costs microseconds.
pub(super) const SLOW_CLOCKS: &[&str] = &["hpet", "acpi_pm", "jiffies", "pit", "refined-jiffies"];
/// Largest packet that segmentation offload makes.
pub(super) const MAX_PACKET: Bytes = Bytes::new(65_536);

/// The command that prints a queue and its shaper for the interface.
pub(super) fn export(facts: &Facts) -> Vec<String> {
    vec![format!("gq export tc SCENARIO.toml --dev {}", facts.dev)]
}

pub(super) fn tools(facts: &Facts) -> Option<Diagnosis> {
    if facts.all.is_none() {
        let text = "Queues are not known: tc cannot be run, or what it prints is not there.".to_owned();
        return found("tools", Weight::Note, text, vec!["apt install iproute2".to_owned()]);
    }
    if facts.offloads.is_none() {
        let text = "Offloads are not known: ethtool cannot be run, or what it prints is not there.".to_owned();
        return found("tools", Weight::Note, text, vec!["apt install ethtool".to_owned()]);
    }
    None
}

/// The disciplines on the way from the root to where packets wait.
pub(super) fn chain<'a>(facts: &'a Facts, dev: &'a str) -> Vec<&'a Discipline> {
    match facts.path(dev) {
        Some(path) => path.disciplines,
        None => facts.root(dev).into_iter().collect(),
    }
}

pub(super) fn is_any(found: &Discipline, kinds: &[&str]) -> bool {
    kinds.contains(&found.kind.as_str())
}

/// Whether the rate is limited on the way.
pub(super) fn is_shaped(chain: &[&Discipline]) -> bool {
    chain.iter().any(|found| is_any(found, SHAPERS) || has_bandwidth(found))
}

pub(super) fn has_bandwidth(found: &Discipline) -> bool {
    found.kind.starts_with("cake") && found.option("bandwidth").and_then(Setting::bit_s).is_some_and(|bits| bits > 0.0)
}

/// Whether the interface's root has queue management.
pub(super) fn queue(facts: &Facts) -> Option<Diagnosis> {
    let dev = &facts.dev;
    facts.all.as_ref()?;
    let chain = chain(facts, dev);
    let Some(last) = chain.last() else {
        let text = format!("The queue of {dev} is not known: tc printed none of it.");
        return found("queue", Weight::Note, text, vec![format!("tc qdisc show dev {dev}")]);
    };
    let passes = facts.path(dev).is_some_and(|path| path.end == End::Bypass);
    if passes || chain.iter().any(|found| found.kind == "netem") {
        return None;
    }
    if let Some(sfq) = chain.iter().find(|found| is_any(found, MANAGED)).filter(|found| is_fair_only(found)) {
        let text = format!(
            "sfq {} at {dev} shares the rate between flows, but has no queue management: packets of a flow wait until it is full.",
            sfq.handle
        );
        return found("queue", Weight::Note, text, manage(dev, &chain));
    }
    if chain.iter().any(|found| is_any(found, MANAGED)) {
        let words: Vec<&str> = chain.iter().map(|found| found.kind.as_str()).collect();
        if !is_shaped(&chain) && facts.is_physical == Some(true) {
            let speed = facts.speed.map_or_else(|| "its own speed".to_owned(), |speed| speed.to_string());
            let text = format!(
                "{} at {dev} acts when more than {speed} are to leave. A slower modem behind it keeps packets in a queue of its own, where {} has no say.",
                words.join(" over "),
                last.kind
            );
            return found("queue", Weight::Note, text, export(facts));
        }
        return found("queue", Weight::Good, format!("{} at {dev}.", words.join(" over ")), Vec::new());
    }
    let is_of_fifos = facts.at(dev).all(|found| found.parent.is_none() || is_ingress(found));
    if last.kind == "prio" && is_of_fifos {
        let text = format!("prio {} at {dev} has a fifo in each band: no queue management sees its packets.", last.handle);
        let bands = last.option("bands").and_then(Setting::number).map_or(3, |bands| bands.clamp(1.0, 16.0) as u32);
        let mend = (1..=bands).map(|band| format!("tc qdisc replace dev {dev} parent {}{band:x} fq_codel", last.handle));
        return found("queue", Weight::Problem, text, mend.collect());
    }
    if is_any(last, PLAIN) && !is_shaped(&chain) {
        let text = format!("{} at {dev} has no queue management: it holds packets until it is full.", last.kind);
        return found("queue", Weight::Problem, text, manage(dev, &chain));
    }
    None
}

/// Whether a discipline divides a rate between flows and does nothing more: sfq marks and drops
/// early only with settings of RED.
fn is_fair_only(found: &Discipline) -> bool {
    const OF_RED: &[&str] = &["redflowlimit", "probability", "ewma", "min", "max", "ecn"];
    found.kind == "sfq" && OF_RED.iter().all(|key| found.option(key).is_none())
}

/// Commands that put queue management in the place of a plain queue, and of nothing else.
pub(super) fn manage(dev: &str, chain: &[&Discipline]) -> Vec<String> {
    match chain {
        [_] => vec![format!("tc qdisc replace dev {dev} root fq_codel")],
        // mq gives each of the card's queues the default.
        [mq, _] if mq.kind == "mq" => {
            // One of the same handle would be changed, which mq cannot be.
            let is_free = |handle: &&str| chain.iter().all(|found| found.handle != *handle);
            let handle = ["1:", "2:", "3:"].iter().find(|handle| is_free(handle)).copied().unwrap_or("4:");
            vec![
                "sysctl -w net.core.default_qdisc=fq_codel".to_owned(),
                format!("tc qdisc replace dev {dev} root handle {handle} mq"),
            ]
        }
        [.., last] => {
            let parent = last.parent.as_deref().unwrap_or("root");
            vec![format!("tc qdisc replace dev {dev} parent {parent} fq_codel")]
        }
        [] => Vec::new(),
    }
}

/// Queue management on an interface where no packet can wait.
pub(super) fn interface(facts: &Facts) -> Option<Diagnosis> {
    let dev = &facts.dev;
    let chain = chain(facts, dev);
    let root = chain.first()?;
    if facts.is_physical != Some(false) || is_shaped(&chain) || facts.ifbs.iter().any(|ifb| ifb.name == *dev) {
        return None;
    }
    let lower = facts.lower.first();
    let through = lower.map_or_else(String::new, |lower| format!(" It sends through {lower}."));
    let is_plain = |lower: &&String| {
        let chain = self::chain(facts, lower);
        chain.len() == 1 && chain.iter().all(|found| is_any(found, PLAIN))
    };
    let mend = match lower {
        Some(lower) if is_plain(&lower) => vec![format!("tc qdisc replace dev {lower} root fq_codel")],
        Some(lower) => vec![format!("gq doctor --dev {lower}")],
        None => export(facts),
    };
    if root.kind == "noqueue" {
        let text = format!("{dev} has no queue: packets pass at once and wait elsewhere.{through}");
        return found("interface", Weight::Note, text, mend);
    }
    let text = format!(
        "{} is at {dev}, which takes packets as fast as they come: without a shaper none ever waits there.{through}",
        root.kind
    );
    found("interface", Weight::Problem, text, mend)
}

/// The queue of the driver, which is below all queue management.
pub(super) fn driver_queue(facts: &Facts) -> Option<Diagnosis> {
    // Limits are worked out from traffic; before there was any they say nothing.
    const ENOUGH: u64 = 10_000_000;
    let dev = &facts.dev;
    if is_shaped(&chain(facts, dev)) || (facts.is_physical != Some(true) && !facts.is_wireless) {
        return None;
    }
    // Drivers of radios without mac80211 have a queue above them, and others a ring below it.
    if chain(facts, dev).first().is_some_and(|root| root.kind == "noqueue") {
        let text = format!(
            "{dev} is a radio: below its noqueue, mac80211 keeps packets in FQ-CoDel for each station, so there is no ring to shorten."
        );
        let is_radio = facts.is_wireless || dev.starts_with("wl");
        return is_radio.then_some(()).and_then(|()| found("driver's queue", Weight::Note, text, Vec::new()));
    }
    if let Some(floor) = facts.byte_queue_floors.iter().max().filter(|floor| **floor > 0) {
        let text =
            format!("Byte queue limits of {dev} may not fall below {floor} B, so the driver keeps that much below the queue.");
        let mend = vec![format!("for q in /sys/class/net/{dev}/queues/tx-*; do echo 0 > $q/byte_queue_limits/limit_min; done")];
        return found("driver's queue", Weight::Problem, text, mend);
    }
    let limits = &facts.byte_queue_limits;
    let are_idle = facts.sent > ENOUGH && !limits.is_empty() && limits.iter().all(|limit| *limit == 0);
    if !facts.lacks_byte_queue_limits && !are_idle {
        return None;
    }
    let text =
        format!("The driver of {dev} has no byte queue limits: its ring fills before any packet waits in the queue above.");
    found("driver's queue", Weight::Note, text, vec![format!("ethtool -G {dev} tx 64")])
}

/// Commands that send arriving packets of a protocol through the intermediate device, besides all
/// that is there.
pub(super) fn redirect(facts: &Facts, protocol: &str, ifb: &str) -> Vec<String> {
    let dev = &facts.dev;
    let there = facts.at(dev).find(|found| is_ingress(found));
    let parent = match there {
        Some(clsact) if clsact.kind == "clsact" => "ingress",
        Some(_) | None => "parent ffff:",
    };
    let add = there.is_none().then(|| format!("tc qdisc add dev {dev} handle ffff: ingress"));
    let filter =
        format!("tc filter add dev {dev} {parent} protocol {protocol} u32 match u32 0 0 action mirred egress redirect dev {ifb}");
    add.into_iter().chain([filter]).collect()
}

/// Interfaces for arriving packets that none are sent to.
pub(super) fn arriving(facts: &Facts) -> Option<Diagnosis> {
    let redirections = facts.redirections.as_ref().filter(|all| all.are_all)?;
    let dev = &facts.dev;
    let managed: Vec<&str> = facts
        .ifbs
        .iter()
        .map(|ifb| ifb.name.as_str())
        .filter(|ifb| chain(facts, ifb).iter().any(|found| is_any(found, MANAGED) || is_any(found, SHAPERS)))
        .collect();
    let own = Interface::new(dev).map(|dev| dev.ifb().to_string()).unwrap_or_default();
    let ifb = managed.iter().find(|ifb| **ifb == own).or(managed.first())?;
    if !redirections.known.is_empty() {
        return None;
    }
    let mend = redirect(facts, "all", ifb);
    if **ifb != own {
        let text = format!("{ifb} has a queue, and nothing sends packets there that arrive at {dev}; another interface may.");
        return found("arriving packets", Weight::Note, text, mend);
    }
    let text = format!("{ifb} has a queue for packets that arrive at {dev}, and nothing sends them there.");
    found("arriving packets", Weight::Problem, text, mend)
}

/// Checks the interface that arriving packets are sent to: that it is up, and that it has queue
/// management.
pub(super) fn arriving_queue(facts: &Facts) -> Option<Diagnosis> {
    let to = &facts.redirections.as_ref()?.known.first()?.to;
    let problem = |text, mend| found("arriving packets' queue", Weight::Problem, text, mend);
    if facts.ifbs.iter().any(|ifb| ifb.name == *to && ifb.is_up == Some(false)) {
        let text = format!("Packets that arrive at {} are sent to {to}, which is down: they are lost.", facts.dev);
        return problem(text, vec![format!("ip link set dev {to} up")]);
    }
    if facts.at(to).next().is_none() {
        let is_named = facts.names.contains(to);
        let what = if is_named { "its queue is not known" } else { "of which nothing is known" };
        let text = format!("Packets that arrive at {} are sent to {to}, {what}.", facts.dev);
        return found("arriving packets' queue", Weight::Note, text, vec![format!("ip link show dev {to}")]);
    }
    let chain = chain(facts, to);
    if !chain.iter().any(|found| is_any(found, MANAGED)) {
        let kind = chain.last().map_or("no queue", |found| found.kind.as_str());
        let text = format!("{to}, where packets arriving at {} wait, has {kind} and no queue management.", facts.dev);
        return problem(text, export(facts));
    }
    if !is_shaped(&chain) {
        let text = format!("The queue of {to} is not shaped, so no arriving packet ever waits there.");
        return problem(text, export(facts));
    }
    None
}

/// Whether IPv4 and IPv6 are both sent through the queue for arriving packets.
pub(super) fn arriving_protocols(facts: &Facts) -> Option<Diagnosis> {
    let redirections = &facts.redirections.as_ref().filter(|all| all.are_all && !all.known.is_empty())?.known;
    let has = |wanted: &str| redirections.iter().any(|one| one.protocol == "all" || one.protocol == wanted);
    let (missing, protocol) = if !has("ipv6") {
        ("IPv6", "ipv6")
    } else if !has("ip") {
        ("IPv4", "ip")
    } else {
        return None;
    };
    let text = format!("Packets of {missing} that arrive at {} pass the queue by.", facts.dev);
    found("arriving protocols", Weight::Problem, text, redirect(facts, protocol, &redirections[0].to))
}

/// Checks the queue that new interfaces get.
pub(super) fn default_queue(facts: &Facts) -> Option<Diagnosis> {
    let default = facts.default_qdisc.as_deref()?;
    if !PLAIN.contains(&default) {
        return None;
    }
    let text = format!("New interfaces get {default}, which has no queue management.");
    found("default queue", Weight::Note, text, vec!["sysctl -w net.core.default_qdisc=fq_codel".to_owned()])
}

/// The length that queues without a limit of their own take.
pub(super) fn queue_length(facts: &Facts) -> Option<Diagnosis> {
    const USUAL: u64 = 1_000;
    let length = facts.tx_queue_len?;
    let dev = &facts.dev;
    let chain = chain(facts, dev);
    let last = chain.last().filter(|last| last.kind != "noqueue")?;
    let takes_it = is_any(last, PLAIN) || is_any(last, SHAPERS);
    let mend = vec![format!("ip link set dev {dev} txqueuelen {USUAL}")];
    if length == 0 && takes_it {
        let text = format!("txqueuelen of {dev} is 0: {} holds one packet and drops the rest.", last.kind);
        return found("queue length", Weight::Problem, text, mend);
    }
    if length > USUAL && takes_it {
        let rate = facts.finding(dev).and_then(|found| found.rate.known()).or(facts.speed);
        let lasts = rate.map(|rate: Rate| rate.transmission_time(Bytes::new(length.saturating_mul(1_500))));
        let lasts = lasts.map_or_else(String::new, |span| format!(", {} ms at its rate", span.as_nanos() / 1_000_000));
        let text = format!("txqueuelen of {dev} is {length}: {} may hold so many packets{lasts}.", last.kind);
        return found("queue length", Weight::Note, text, mend);
    }
    None
}

/// The clock that packets are stamped by.
pub(super) fn clock(facts: &Facts) -> Option<Diagnosis> {
    let clock = facts.clock.as_deref()?;
    if !SLOW_CLOCKS.contains(&clock) {
        return None;
    }
    let better = facts.clocks.iter().find(|other| !SLOW_CLOCKS.contains(&other.as_str()));
    let mend = better.map(|better| format!("echo {better} > /sys/devices/system/clocksource/clocksource0/current_clocksource"));
    let text =
        format!("The kernel reads its time from {clock}, which is slow: time stamps of packets cost more than sending them.");
    found("clock", Weight::Note, text, mend.into_iter().collect())
}
