//! Checks of shapers: their classes, rates, buckets and what passes them by.

use super::checks::*;
use super::diagnosis::{Diagnosis, Weight, found};
use super::facts::{Facts, is_ingress};
use crate::router::tc::{Discipline, End, Setting, ShapedRate};
use goodqueue_base::units::{Bytes, Duration};

/// The time that a bucket may last: longer, it sends at the interface's own speed.
const LONG_BUCKET: Duration = Duration::ms(100);

/// As many packets belong into a bucket at any rate.
const FEW_PACKETS: Bytes = Bytes::new(3 * 1_514);

/// An emulator of lines that a test has left on the way.
pub(super) fn emulator(facts: &Facts) -> Option<Diagnosis> {
    let to = facts.redirections.iter().flat_map(|all| &all.known).map(|one| one.to.as_str());
    let found_at = |dev: &str| facts.all.iter().flatten().find(|found| found.dev == dev && found.kind == "netem");
    let netem = std::iter::once(facts.dev.as_str()).chain(to).find_map(found_at)?;
    let Discipline { dev, handle, .. } = netem;
    let words: Vec<String> =
        netem.options.iter().map(|(key, setting)| format!("{key} {}", setting.text()).trim().to_owned()).collect();
    let text = format!(
        "netem {handle} at {dev} emulates a line ({}): it delays, loses or holds packets that the interface would send.",
        words.join(", ")
    );
    let is_alone = netem.parent.is_none() && facts.at(dev).all(|found| found.parent.is_none() || is_ingress(found));
    let mend = if is_alone { vec![format!("tc qdisc replace dev {dev} root fq_codel")] } else { Vec::new() };
    found("emulator", Weight::Problem, text, mend)
}

/// A shaper whose packets wait in a queue without management.
pub(super) fn leaf(facts: &Facts) -> Option<Diagnosis> {
    let dev = &facts.dev;
    let path = facts.path(dev)?;
    let shaper = path.disciplines.iter().find(|found| is_any(found, SHAPERS))?;
    let last = path.last();
    let (parent, waits) = match &path.end {
        End::Fifo(class) => (class.clone(), "its own fifo"),
        End::Queue if is_any(last, PLAIN) => (last.parent.clone()?, last.kind.as_str()),
        End::Queue if last.kind == "tbf" => (format!("{}1", last.handle), "its own fifo"),
        End::Queue | End::Bypass | End::Unknown | End::Classes => return None,
    };
    let text =
        format!("Packets wait below {} {} at {dev}, in {waits}: no queue management sees them.", shaper.kind, shaper.handle);
    found("shaper's queue", Weight::Problem, text, vec![format!("tc qdisc replace dev {dev} parent {parent} fq_codel")])
}

/// An htb without a class for packets that no filter puts into one: they pass its shaper by.
pub(super) fn default_class(facts: &Facts) -> Option<Diagnosis> {
    let dev = &facts.dev;
    let path = facts.path(dev)?;
    let missing = path.missing_default.as_ref()?;
    let htb = path.disciplines.iter().find(|found| found.kind == "htb")?;
    let Discipline { handle, .. } = htb;
    let passed = htb.option("direct_packets_stat").and_then(Setting::number);
    let (weight, evidence) = match passed {
        Some(0.0) => (Weight::Note, "none has yet".to_owned()),
        Some(count) => (Weight::Problem, format!("{count} did (direct_packets_stat)")),
        None => (Weight::Note, "how many did is not known".to_owned()),
    };
    let text = format!(
        "htb {handle} at {dev} has no {missing}: packets that no filter puts into a class pass its shaper and queues by; {evidence}."
    );
    let classes = crate::router::tc::classes(facts.all.as_deref()?, htb).ok()?;
    let is_leaf = |class: &&&Discipline| classes.iter().all(|other| other.parent.as_ref() != Some(&class.handle));
    let to_class = |class: &&Discipline| {
        let class = &class.handle;
        format!("tc filter add dev {dev} parent {handle} protocol all prio 65535 u32 match u32 0 0 flowid {class}")
    };
    let mend = classes.iter().find(is_leaf).map(to_class);
    found("shaper's classes", weight, text, mend.into_iter().collect())
}

/// A shaper that is faster than its interface: packets wait below it.
pub(super) fn rate(facts: &Facts) -> Option<Diagnosis> {
    let ShapedRate::Known(rate, source) = &facts.finding(&facts.dev)?.rate else { return None };
    let speed = facts.speed?;
    if *rate < speed {
        return None;
    }
    let text =
        format!("{source} is {rate}, and {} itself carries {speed}: packets wait below the shaper, not in its queue.", facts.dev);
    found("shaper's rate", Weight::Problem, text, export(facts))
}

/// A bucket that lasts so long that the line behind the shaper fills meanwhile.
pub(super) fn bucket(facts: &Facts) -> Option<Diagnosis> {
    let to = facts.redirections.iter().flat_map(|all| &all.known).map(|one| one.to.as_str());
    std::iter::once(facts.dev.as_str()).chain(to).filter_map(|dev| facts.finding(dev)).find_map(|shaped| {
        let ShapedRate::Known(rate, source) = &shaped.rate else { return None };
        let bytes = shaped.burst.filter(|bucket| bucket.is_told)?.bytes;
        let lasts = rate.transmission_time(bytes);
        if bytes <= FEW_PACKETS || lasts < LONG_BUCKET {
            return None;
        }
        let text = format!(
            "The bucket of {bytes} of the shaper at {} ({source}) lasts {} ms at {rate}: after a pause so much leaves at the \
             interface's own speed, and waits in the modem.",
            shaped.dev,
            lasts.as_nanos() / 1_000_000
        );
        found("shaper's bucket", Weight::Problem, text, export(facts))
    })
}

/// Two shapers one after the other.
pub(super) fn twice(facts: &Facts) -> Option<Diagnosis> {
    let dev = &facts.dev;
    let chain = chain(facts, dev);
    let shaping: Vec<&&Discipline> = chain.iter().filter(|found| is_any(found, SHAPERS) || has_bandwidth(found)).collect();
    if let [outer, inner, ..] = shaping.as_slice() {
        let text = format!(
            "{} {} at {dev} shapes below {} {}, which shapes, too: each holds packets for the other, and only the slower counts.",
            inner.kind, inner.handle, outer.kind, outer.handle
        );
        let mend = match (inner.kind.as_str(), &inner.parent) {
            ("cake", Some(parent)) => vec![format!("tc qdisc change dev {dev} parent {parent} cake unlimited")],
            _ => export(facts),
        };
        return found("shapers", Weight::Problem, text, mend);
    }
    let known = |dev: &String| facts.finding(dev).and_then(|found| found.rate.known());
    let (lower, slower, rate) = facts.lower.iter().find_map(|lower| Some((lower, known(lower)?, known(dev)?)))?;
    if slower > rate {
        return None;
    }
    let text = format!(
        "{dev} is shaped to {rate}, and {lower}, which it sends through, to {slower}: packets wait at {lower}, not in the queue of {dev}."
    );
    found("shapers", Weight::Problem, text, export(facts))
}

/// Packets of many under a shaper: one of 64 KiB takes long at a low rate.
pub(super) fn offloads(facts: &Facts) -> Option<Diagnosis> {
    let on = facts.offloads.as_ref().filter(|on| !on.is_empty())?;
    let dev = &facts.dev;
    let chain = chain(facts, dev);
    let splits = chain.iter().any(|found| found.kind.starts_with("cake") && found.option("no-split-gso").is_none());
    let rate = facts.finding(dev)?.rate.known()?;
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
