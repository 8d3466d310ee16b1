//! The shaper and queue of each interface: a rate and a queue in our words.

use super::netem::Emulated;
use super::path::{End, Path};
use super::recognize::{Recognized, Untold, fifo, recognize};
use super::shaper::{Bucket, ShapedRate, Shaper};
use super::{Discipline, Role, Setting, TcError, Tree};
use goodqueue_aqm::spec::{KindSpec, Size, Value};
use goodqueue_base::spec::quantity::excerpt;
use goodqueue_base::units::Framing;

/// The shaper and queue of an interface.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The interface.
    pub dev: String,
    /// The shaper's rate.
    pub rate: ShapedRate,
    /// The bytes that the shaper may send at once.
    pub burst: Option<Bucket>,
    /// Framing that the shaper counts for each IP packet.
    pub framing: Option<Framing>,
    /// The queue's kind.
    pub kind: &'static KindSpec,
    /// The queue's parameters, where they differ from our defaults.
    pub params: Vec<(&'static str, Value)>,
    /// Whether it marks.
    pub marks: bool,
    /// The limit that the queue was given.
    pub limit: Option<Size>,
    /// The limit that holds where none was given.
    pub untold_limit: Untold,
    /// The discipline's own name, with its handle.
    pub source: String,
    /// The line that netem emulates on the way.
    pub emulated: Emulated,
    /// Settings that have no place in a scenario, in sentences.
    pub notes: Vec<String>,
    /// All classes of an HTB with several leaves; the other fields are those of packets that no
    /// filter chooses.
    pub tree: Option<Tree>,
}

/// An interface that is left out, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The interface.
    pub dev: String,
    /// The reason.
    pub why: TcError,
}

/// One finding for each interface that has a queue we have words for, and the others.
#[must_use]
pub fn findings(all: &[Discipline]) -> (Vec<Finding>, Vec<LeftOut>) {
    let mut devices: Vec<&str> = Vec::new();
    for found in all.iter().filter(|found| found.role == Role::Qdisc) {
        if !devices.contains(&found.dev.as_str()) {
            devices.push(&found.dev);
        }
    }
    let (mut findings, mut left_out) = (Vec::new(), Vec::new());
    for dev in devices {
        match finding(dev, all) {
            Ok(finding) => findings.extend(finding),
            Err(why) => left_out.push(LeftOut { dev: dev.to_owned(), why }),
        }
    }
    (findings, left_out)
}

fn finding(dev: &str, all: &[Discipline]) -> Result<Option<Finding>, TcError> {
    let Some(path) = Path::new(all, dev)? else { return Ok(None) };
    let queue = path.last();
    let tree = Tree::of(all, dev)?;
    let Recognized { kind, params, marks, limit, untold_limit, source, notes } = match &path.end {
        // A leaf among others may have a queue that gq lacks.
        End::Queue => match recognize(dev, queue) {
            Err(TcError::Unknown { .. }) if tree.is_some() => fifo(queue, queue.placed(&queue.name())),
            found => found?,
        },
        End::Fifo(class) => fifo(queue, queue.placed(&format!("the fifo of {} {class}", queue.kind))),
        End::Bypass => fifo(queue, queue.placed(&format!("the fifo of {}", queue.name()))),
        End::Unknown | End::Classes => return Err(TcError::NoClasses { kind: excerpt(&queue.kind), dev: excerpt(dev) }),
    };
    let (rate, emulated) = (ShapedRate::Unshaped, Emulated::default());
    let (burst, framing, dev) = (None, None, dev.to_owned());
    let mut finding =
        Finding { dev, rate, burst, framing, kind, params, marks, limit, untold_limit, source, emulated, notes, tree };
    if queue.kind == "tbf" && finding.limit.is_none() {
        let has = |key| queue.option(key).is_some();
        if has("minburst") && has("lat") && !has("peakrate") {
            // tc -j prints the bucket of the peak rate, and not the rate.
            finding
                .notes
                .push("lat is a time at the peak rate, which tc -j leaves out: tc without -j tells the limit.".to_owned());
            finding.untold_limit = Untold::Unknown(Size::Packets(1_000.0));
        } else {
            finding.limit = limit_of_latency(queue)?;
        }
    }
    let is_last = |found: &Discipline| std::ptr::eq(found, queue);
    for netem in path.disciplines.iter().filter(|found| found.kind == "netem") {
        finding.notes.extend(finding.emulated.add(netem, is_last(netem))?);
    }
    let shaper = Shaper::on(&path)?;
    if let ShapedRate::Known(_, source) = &shaper.rate
        && shaper.is_netem
        && queue.kind != "netem"
    {
        finding.notes.push(format!("{source} is the slowest: packets wait in its own queue, not in that of the scenario."));
    }
    for passed in &path.disciplines[..path.disciplines.len() - 1] {
        finding.notes.extend(mention(passed));
    }
    finding.rate = shaper.rate;
    finding.burst = shaper.burst;
    finding.framing = shaper.framing;
    finding.notes.extend(path.notes);
    finding.notes.extend(shaper.notes);
    Ok(Some(finding))
}

/// A sentence about a discipline above the queue that does more than hand packets on.
fn mention(passed: &Discipline) -> Option<String> {
    const NOTHING_ELSE: &[&str] = &["htb", "tbf", "mq", "mqprio", "hfsc", "cake_mq", "netem"];
    let words: Vec<String> =
        passed.options.iter().map(|(key, setting)| format!("{key} {}", setting.text()).trim().to_owned()).collect();
    (!NOTHING_ELSE.contains(&passed.kind.as_str()))
        .then(|| format!("{} ({}) is not in the scenario.", passed.name(), excerpt(&words.join(", "))).replace(" ()", ""))
}

/// The limit of a tbf that was given as the time that a packet may wait: `tc` makes bytes of it,
/// and prints it as `lat` again. Its burst comes on top, which leaves without waiting; a peak rate
/// has a bucket of its own, and the lesser limit holds.
fn limit_of_latency(tbf: &Discipline) -> Result<Option<Size>, TcError> {
    let first = |keys: &[&'static str]| keys.iter().find_map(|key| Some((*key, tbf.option(key)?)));
    let Some((key, setting)) = first(&["lat", "latency"]) else { return Ok(None) };
    let held = |rate: &'static str, bucket: &[&'static str]| {
        let bit_s = tbf.option(rate)?.bit_s()?;
        let burst = first(bucket).and_then(|(_, setting)| setting.bytes()).unwrap_or_default();
        Some(bit_s / 8.0 * setting.micros()? / 1e6 + burst)
    };
    let buckets: [(_, &[_]); 2] = [("rate", &["burst", "buffer", "maxburst"]), ("peakrate", &["mtu", "minburst"])];
    let least = buckets.iter().filter_map(|(rate, bucket)| held(rate, bucket)).min_by(f64::total_cmp);
    match least.filter(|bytes| (1.0..=1e12).contains(bytes)) {
        Some(bytes) => Ok(Some(Size::Bytes(bytes.round()))),
        None if tbf.option("rate").and_then(Setting::bit_s).is_none() => Ok(None),
        None => Err(tbf.wrong(key, &setting.text())),
    }
}
