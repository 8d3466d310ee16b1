//! Imports the output of `tc`, or its command lines: queues, limits, marking and rates of a host.

use crate::import::draft::usual_delay;
use crate::import::{Cited, Draft, ImportError, Input, Origin, Way};
use crate::router::tc::{self, Emulated, Finding, LeftOut, ShapedRate, TcError, Untold};
use goodqueue_aqm::spec::Value;
use goodqueue_base::units::{Direction, Rate};
use goodqueue_lab::scenario::toml_text::quoted;

/// The rate of an interface that nothing shapes, which `tc` does not know.
const UNSHAPED: Rate = Rate::gbit(1);

/// A line from the queues of a host: those of `dev` and of its intermediate device.
///
/// # Errors
/// When the file is not what `tc` prints, an interface has a queue that gq lacks, or it is not
/// clear which interface is meant.
pub fn import(input: &Input, dev: Option<&str>) -> Result<Draft, ImportError> {
    let all = tc::read(input.text()?).map_err(|error| input.fault(error.to_string()))?;
    let wanted: Vec<_> = all
        .into_iter()
        .filter(|found| dev.is_none_or(|dev| found.dev == dev || found.dev.is_empty() || is_ifb(&found.dev)))
        .collect();
    let (findings, left_out) = tc::findings(&wanted);
    let asked = left_out.iter().find(|left| dev == Some(left.dev.as_str()));
    if let Some(left) = asked.or(left_out.first().filter(|_| findings.is_empty())) {
        return Err(input.fault(left.why.to_string()));
    }
    let (beside, interfaces): (Vec<&Finding>, Vec<&Finding>) = findings.iter().partition(|finding| is_ifb(&finding.dev));
    let shaped: Vec<&&Finding> = interfaces.iter().filter(|finding| finding.rate != ShapedRate::Unshaped).collect();
    let leaving = match (interfaces.as_slice(), shaped.as_slice()) {
        ([only], _) => Some(*only),
        ([], _) => None,
        (_, [only]) => Some(**only),
        (several, _) => {
            let names: Vec<&str> = several.iter().map(|finding| finding.dev.as_str()).collect();
            return Err(input.fault(format!("has queues at {}: name one with --dev", names.join(", "))));
        }
    };
    let named = |finding: &&&Finding| leaving.is_some_and(|leaving| finding.dev == format!("ifb4{}", leaving.dev));
    let arriving = beside.iter().find(named).or(if beside.len() == 1 { beside.first() } else { None }).copied();
    let (down, up) = match (arriving, leaving) {
        (Some(arriving), leaving) => (arriving, leaving),
        (None, Some(leaving)) => (leaving, None),
        (None, None) => return Err(input.fault("has no queue: expected what tc -s -j qdisc show prints, or lines of tc")),
    };
    let mut draft = draft(input, down, up);
    draft.notes.extend(left_out.iter().map(mention));
    Ok(draft)
}

fn mention(left: &LeftOut) -> String {
    match &left.why {
        TcError::Unknown { kind, dev, .. } => format!("{dev}: {kind} is not a queue that gq has; it is left out."),
        why => format!("{}: left out: {why}.", left.dev),
    }
}

fn is_ifb(dev: &str) -> bool {
    dev.starts_with("ifb")
}

fn draft(input: &Input, down: &Finding, up: Option<&Finding>) -> Draft {
    let mut notes: Vec<String> = Vec::new();
    if up.is_some() {
        notes.push(format!("Down is what arrives and waits at {}; up is what leaves.", down.dev));
    }
    for finding in [Some(down), up].into_iter().flatten() {
        notes.extend(finding.notes.iter().map(|note| format!("{}: {note}", finding.dev)));
    }
    let framings = || [Some(down), up].into_iter().flatten().filter_map(|finding| Some((finding.framing?, &finding.dev)));
    let framing = framings().next();
    if let Some((_, dev)) = framings().find(|(other, _)| framing.is_some_and(|(framing, _)| framing != *other)) {
        notes.push(format!("{dev}: its shaper counts other framing; a link has the same in both directions."));
    }
    let name = format!("queues of {}", up.unwrap_or(down).dev);
    // An interface by itself is taken for the one toward the line: what leaves it goes up.
    let known_as = if up.is_none() { Direction::Up } else { Direction::Down };
    let ways = (Way { known_as, ..way(down) }, up.map(way));
    let mut delay = usual_delay("tc does not show how long the path is");
    for (finding, delay) in [Some(down), up].into_iter().zip(&mut delay).filter_map(|(found, delay)| Some((found?, delay))) {
        if !finding.emulated.delay.is_zero() {
            let origin = Origin::Set(format!("delay of {}", finding.emulated.source));
            *delay = Cited::quantity(finding.emulated.delay, origin);
        }
    }
    Draft {
        notes,
        framing: framing.map(|(framing, dev)| (framing, Origin::Set(format!("framing that the shaper of {dev} counts")))),
        ..Draft::new(name, "tc", input, delay, ways)
    }
}

fn way(finding: &Finding) -> Way {
    let (rate, fastest) = match &finding.rate {
        ShapedRate::Known(rate, source) => (Cited::bit_s(*rate, Origin::Set(source.clone())), *rate),
        ShapedRate::Unknown(why) => (Cited::quantity(UNSHAPED, Origin::Assumed(format!("{why}; put it here"))), UNSHAPED),
        ShapedRate::Unshaped => {
            let why = format!("nothing shapes {}; put its rate here", finding.dev);
            (Cited::quantity(UNSHAPED, Origin::Assumed(why)), UNSHAPED)
        }
    };
    let source = &finding.source;
    let (limit, origin) = match (finding.limit, finding.untold_limit) {
        (Some(limit), _) => (limit, Origin::Set(format!("limit of {source}"))),
        (None, Untold::Reported(limit)) => (limit, Origin::Set(format!("limit that the kernel reports of {source}"))),
        (None, Untold::Usual(limit)) => (limit, Origin::Estimated(format!("what the kernel gives {source} without a limit"))),
    };
    let buffer = Cited::quantity(Value::Size(limit), origin);
    let bucket = finding.burst.filter(|_| matches!(finding.rate, ShapedRate::Known(..)));
    let burst = bucket.map(|bucket| {
        let origin = match bucket.is_told {
            true => Origin::Set("bucket of the shaper".to_owned()),
            false => Origin::Estimated("bucket that the kernel gives the shaper untold".to_owned()),
        };
        Cited::quantity(format!("{} B", bucket.bytes.get()), origin)
    });
    let Emulated { loss, source: netem, .. } = &finding.emulated;
    let loss = (*loss > 0.0).then(|| Cited::toml(loss.to_string(), Origin::Set(format!("loss of {netem}"))));
    Way {
        rate,
        fastest,
        buffer,
        queue: Cited::toml(queue(finding), Origin::Set(finding.source.clone())),
        burst,
        loss,
        known_as: Direction::Down,
    }
}

/// A queue in TOML, with a limit where it was given one: the buffer of a link is the modem's.
fn queue(finding: &Finding) -> String {
    let mut text = format!("{{ kind = {}", quoted(finding.kind.kind));
    for (name, value) in &finding.params {
        text.push_str(&format!(", {name} = {}", toml(*value)));
    }
    if finding.kind.marks.is_possible() {
        text.push_str(&format!(", ecn = {}", finding.marks));
    }
    if let Some(limit) = finding.limit {
        text.push_str(&format!(", limit = {}", toml(Value::Size(limit))));
    }
    text.push_str(" }");
    text
}

fn toml(value: Value) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        Value::Switch(on) => on.to_string(),
        Value::Rate(rate) => quoted(&format!("{} bit/s", rate.as_bit_s())),
        Value::Duration(_) | Value::Range(..) | Value::Size(_) | Value::Bytes(_) | Value::Choice(_) => quoted(&value.to_string()),
    }
}
