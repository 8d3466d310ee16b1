//! The checks, each a function from facts to what it found.

use super::{Diagnosis, Facts, Weight};
use crate::router::tc::{Discipline, Role, Setting, major};
use goodqueue_base::units::{Bytes, Duration, Rate};

/// Disciplines that keep delay short by themselves.
const MANAGED: &[&str] =
    &["codel", "fq_codel", "pie", "fq_pie", "cake", "cake_mq", "red", "choke", "sfb", "dualpi2", "gred", "sfq", "fq", "hhf"];
/// Disciplines that only bound the number of packets.
const PLAIN: &[&str] = &["pfifo", "bfifo", "pfifo_fast", "pfifo_head_drop"];
/// Disciplines that limit a rate.
const SHAPERS: &[&str] = &["htb", "tbf", "hfsc"];
/// Clocks that are slow to read: each packet's time stamp costs microseconds.
const SLOW_CLOCKS: &[&str] = &["hpet", "acpi_pm", "jiffies", "pit", "refined-jiffies"];
/// Largest packet that segmentation offload makes.
const MAX_PACKET: Bytes = Bytes::new(65_536);

/// Everything that was looked at.
pub(super) fn all(facts: &Facts) -> Vec<Diagnosis> {
    let checks: &[fn(&Facts) -> Option<Diagnosis>] = &[
        tools,
        queue,
        interface,
        shaper_leaf,
        shaper_rate,
        offloads,
        driver_queue,
        arriving,
        arriving_queue,
        arriving_protocols,
        default_queue,
        queue_length,
        clock,
    ];
    checks.iter().filter_map(|check| check(facts)).collect()
}

fn found(check: &'static str, weight: Weight, text: String, mend: Vec<String>) -> Option<Diagnosis> {
    Some(Diagnosis { check, weight, text, mend })
}

/// The command that prints a queue and its shaper for the interface.
fn export(facts: &Facts) -> Vec<String> {
    vec![format!("gq export tc SCENARIO.toml --dev {}", facts.dev)]
}

fn tools(facts: &Facts) -> Option<Diagnosis> {
    if facts.all.is_none() {
        let text = "tc cannot be run, so queues were not looked at.".to_owned();
        return found("tools", Weight::Problem, text, vec!["apt install iproute2".to_owned()]);
    }
    if facts.offloads.is_none() {
        let text = "ethtool cannot be run, so offloads were not looked at.".to_owned();
        return found("tools", Weight::Note, text, vec!["apt install ethtool".to_owned()]);
    }
    None
}

/// The disciplines on the way from the root to where packets wait.
fn chain<'a>(facts: &'a Facts, dev: &'a str) -> Vec<&'a Discipline> {
    let Some(root) = facts.root(dev) else { return Vec::new() };
    let mut chain = vec![root];
    // A chain is short. It ends where it comes back to itself, as among disciplines that the kernel
    // made, which all have the handle 0.
    while let Some(next) = chain.last().and_then(|last| below(facts, dev, last)) {
        if chain.len() >= 8 || chain.iter().any(|known| std::ptr::eq(*known, next)) {
            break;
        }
        chain.push(next);
    }
    chain
}

fn below<'a>(facts: &'a Facts, dev: &'a str, outer: &Discipline) -> Option<&'a Discipline> {
    let major = major(&outer.handle);
    facts.at(dev).find(|found| found.parent.as_deref().is_some_and(|parent| crate::router::tc::major(parent) == major))
}

fn is_any(found: &Discipline, kinds: &[&str]) -> bool {
    kinds.contains(&found.kind.as_str())
}

/// Whether the rate is limited on the way.
fn is_shaped(chain: &[&Discipline]) -> bool {
    chain.iter().any(|found| is_any(found, SHAPERS) || has_bandwidth(found))
}

fn has_bandwidth(found: &Discipline) -> bool {
    found.kind == "cake" && found.option("bandwidth").and_then(Setting::bit_s).is_some_and(|bits| bits > 0.0)
}

/// Whether the interface's root has queue management.
fn queue(facts: &Facts) -> Option<Diagnosis> {
    let dev = &facts.dev;
    facts.all.as_ref()?;
    let chain = chain(facts, dev);
    let set = vec![format!("tc qdisc replace dev {dev} root fq_codel")];
    let Some(last) = chain.last() else {
        return found("queue", Weight::Problem, format!("tc names no queue at {dev}."), set);
    };
    if chain.iter().any(|found| is_any(found, MANAGED)) {
        let words: Vec<&str> = chain.iter().map(|found| found.kind.as_str()).collect();
        if !is_shaped(&chain) && facts.is_physical {
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
    if is_any(last, PLAIN) && !is_shaped(&chain) {
        let text = format!("{} at {dev} has no queue management: it holds packets until it is full.", last.kind);
        return found("queue", Weight::Problem, text, set);
    }
    None
}

/// Queue management on an interface where no packet can wait.
fn interface(facts: &Facts) -> Option<Diagnosis> {
    let dev = &facts.dev;
    let chain = chain(facts, dev);
    let root = chain.first()?;
    if facts.is_physical || is_shaped(&chain) || facts.ifbs.iter().any(|ifb| ifb.name == *dev) {
        return None;
    }
    let lower = facts.lower.first();
    let through = lower.map_or_else(String::new, |lower| format!(" It sends through {lower}."));
    let mend = lower.map_or_else(|| export(facts), |lower| vec![format!("tc qdisc replace dev {lower} root fq_codel")]);
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

/// A shaper whose packets wait in a queue without management.
fn shaper_leaf(facts: &Facts) -> Option<Diagnosis> {
    let dev = &facts.dev;
    let chain = chain(facts, dev);
    let shaper = chain.iter().find(|found| is_any(found, SHAPERS))?;
    let last = chain.last()?;
    if is_any(last, MANAGED) {
        return None;
    }
    let parent = match last.parent.as_deref() {
        Some(parent) if is_any(last, PLAIN) => parent.to_owned(),
        // The class of a shaper that has nothing below it: htb keeps a pfifo there that tc does not
        // show.
        _ if shaper.kind == "tbf" => format!("{}1", shaper.handle),
        _ => facts
            .all
            .iter()
            .flatten()
            .find(|class| class.role == Role::Class && class.dev == *dev)
            .map_or_else(|| format!("{}1", shaper.handle), |class| class.handle.clone()),
    };
    let text = format!(
        "Packets wait below {} {} at {dev}, in {}: no queue management sees them.",
        shaper.kind,
        shaper.handle,
        if is_any(last, PLAIN) { last.kind.as_str() } else { "its own fifo" }
    );
    found("shaper's queue", Weight::Problem, text, vec![format!("tc qdisc replace dev {dev} parent {parent} fq_codel")])
}

/// A shaper that is faster than its interface: packets wait below it.
fn shaper_rate(facts: &Facts) -> Option<Diagnosis> {
    let (rate, source) = facts.found.as_ref()?.rate.as_ref()?;
    let speed = facts.speed?;
    if *rate < speed {
        return None;
    }
    let text =
        format!("{source} is {rate}, and {} itself carries {speed}: packets wait below the shaper, not in its queue.", facts.dev);
    found("shaper's rate", Weight::Problem, text, export(facts))
}

/// Packets of many under a shaper: one of 64 KiB takes long at a low rate.
fn offloads(facts: &Facts) -> Option<Diagnosis> {
    let on = facts.offloads.as_ref().filter(|on| !on.is_empty())?;
    let dev = &facts.dev;
    let chain = chain(facts, dev);
    let splits = chain.iter().any(|found| found.kind == "cake" && found.option("no-split-gso").is_none());
    let (rate, _) = facts.found.as_ref()?.rate.as_ref()?;
    let lasts = rate.transmission_time(MAX_PACKET);
    if splits || lasts < Duration::ms(1) {
        return None;
    }
    let short = |name: &String| match name.as_str() {
        "tcp-segmentation-offload" => "tso",
        "generic-segmentation-offload" => "gso",
        _ => "gro",
    };
    let words: Vec<&str> = on.iter().map(short).collect();
    let text = format!(
        "{} at {dev} make packets of up to 64 KiB, which take {} ms at {rate}; all others wait so long.",
        words.join(", "),
        lasts.as_nanos() / 1_000_000
    );
    let off: Vec<String> = words.iter().map(|word| format!("{word} off")).collect();
    found("offloads", Weight::Problem, text, vec![format!("ethtool -K {dev} {}", off.join(" "))])
}

/// The queue of the driver, which is below all queue management.
fn driver_queue(facts: &Facts) -> Option<Diagnosis> {
    // Limits are worked out from traffic; before there was any they say nothing.
    const ENOUGH: u64 = 10_000_000;
    let dev = &facts.dev;
    if !facts.is_physical || is_shaped(&chain(facts, dev)) {
        return None;
    }
    if let Some(floor) = facts.byte_queue_floors.iter().max().filter(|floor| **floor > 0) {
        let text =
            format!("Byte queue limits of {dev} may not fall below {floor} B, so the driver keeps that much below the queue.");
        let mend = vec![format!("for q in /sys/class/net/{dev}/queues/tx-*; do echo 0 > $q/byte_queue_limits/limit_min; done")];
        return found("driver's queue", Weight::Problem, text, mend);
    }
    let has_none =
        facts.byte_queue_limits.is_empty() || (facts.sent > ENOUGH && facts.byte_queue_limits.iter().all(|limit| *limit == 0));
    if !has_none {
        return None;
    }
    let text =
        format!("The driver of {dev} has no byte queue limits: its ring fills before any packet waits in the queue above.");
    found("driver's queue", Weight::Note, text, vec![format!("ethtool -G {dev} tx 64")])
}

/// Interfaces for arriving packets that none are sent to.
fn arriving(facts: &Facts) -> Option<Diagnosis> {
    let redirections = facts.redirections.as_ref()?;
    let dev = &facts.dev;
    let managed: Vec<&str> = facts
        .ifbs
        .iter()
        .map(|ifb| ifb.name.as_str())
        .filter(|ifb| chain(facts, ifb).iter().any(|found| is_any(found, MANAGED) || is_any(found, SHAPERS)))
        .collect();
    let own = format!("ifb4{dev}");
    let ifb = managed.iter().find(|ifb| **ifb == own).or(managed.first())?;
    if redirections.iter().any(|redirection| redirection.to == **ifb) {
        return None;
    }
    let mend = crate::router::syntax::redirect_commands(dev, ifb);
    let text = format!("{ifb} has a queue for packets that arrive at {dev}, and nothing sends them there.");
    found("arriving packets", Weight::Problem, text, mend)
}

/// Checks the interface that arriving packets are sent to: that it is up, and that it has queue
/// management.
fn arriving_queue(facts: &Facts) -> Option<Diagnosis> {
    let to = &facts.redirections.as_ref()?.first()?.to;
    let problem = |text, mend| found("arriving packets' queue", Weight::Problem, text, mend);
    match facts.ifbs.iter().find(|ifb| ifb.name == *to) {
        None => {
            let text = format!("Packets that arrive at {} are sent to {to}, which is not there: they are lost.", facts.dev);
            return problem(text, vec![format!("ip link add name {to} type ifb"), format!("ip link set dev {to} up")]);
        }
        Some(ifb) if !ifb.is_up => {
            let text = format!("Packets that arrive at {} are sent to {to}, which is down: they are lost.", facts.dev);
            return problem(text, vec![format!("ip link set dev {to} up")]);
        }
        Some(_) => {}
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
fn arriving_protocols(facts: &Facts) -> Option<Diagnosis> {
    let redirections = facts.redirections.as_ref().filter(|all| !all.is_empty())?;
    let has = |wanted: &str| redirections.iter().any(|one| one.protocol == "all" || one.protocol == wanted);
    let missing = if !has("ipv6") {
        "IPv6"
    } else if !has("ip") {
        "IPv4"
    } else {
        return None;
    };
    let text = format!("Packets of {missing} that arrive at {} pass the queue by.", facts.dev);
    found("arriving protocols", Weight::Problem, text, crate::router::syntax::redirect_commands(&facts.dev, &redirections[0].to))
}

/// Checks the queue that new interfaces get.
fn default_queue(facts: &Facts) -> Option<Diagnosis> {
    let default = facts.default_qdisc.as_deref()?;
    if !PLAIN.contains(&default) {
        return None;
    }
    let text = format!("New interfaces get {default}, which has no queue management.");
    found("default queue", Weight::Note, text, vec!["sysctl -w net.core.default_qdisc=fq_codel".to_owned()])
}

/// The length that queues without a limit of their own take.
fn queue_length(facts: &Facts) -> Option<Diagnosis> {
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
        let rate = facts.found.as_ref().and_then(|found| found.rate.as_ref().map(|(rate, _)| *rate)).or(facts.speed);
        let lasts = rate.map(|rate: Rate| rate.transmission_time(Bytes::new(length.saturating_mul(1_500))));
        let lasts = lasts.map_or_else(String::new, |span| format!(", {} ms at its rate", span.as_nanos() / 1_000_000));
        let text = format!("txqueuelen of {dev} is {length}: {} may hold so many packets{lasts}.", last.kind);
        return found("queue length", Weight::Note, text, mend);
    }
    None
}

/// The clock that packets are stamped by.
fn clock(facts: &Facts) -> Option<Diagnosis> {
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
