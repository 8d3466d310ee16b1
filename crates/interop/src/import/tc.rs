//! Imports the output of `tc`, or its command lines: queues, limits, marking and rates of a host.

use crate::import::draft::usual_delay;
use crate::import::{Cited, Draft, ImportError, Input, Origin, Way};
use crate::router::tc::{self, Discipline, Emulated, Finding, LeftOut, ShapedRate, TcError, Untold};
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
    let text = input.text()?;
    let told = tc::follow(text).map_err(|error| input.fault(error.to_string()))?;
    let mut draft = of_queues(input, told.all, dev)?;
    draft.notes.extend(told.notes);
    Ok(draft)
}

/// A line from the queues that a file sets.
pub(super) fn of_queues(input: &Input, all: Vec<Discipline>, dev: Option<&str>) -> Result<Draft, ImportError> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn made(text: &str) -> Result<String, String> {
        let input = Input::read("x", text.as_bytes()).unwrap();
        import(&input, None).map(|draft| draft.text()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_rate_that_is_none_is_refused_by_name() {
        let cake = |value: &str| format!("tc qdisc add dev eth0 root cake bandwidth {value}");
        let listed = |value: &str| {
            let options = format!(r#"{{"bandwidth":{value},"rtt":100000}}"#);
            format!(r#"[{{"kind":"cake","handle":"1:","dev":"eth0","root":true,"options":{options}}}]"#)
        };
        let class = "tc qdisc add dev eth0 root handle 1: htb default 1\n\
                     tc class add dev eth0 parent 1: classid 1:1 htb rate ${UP}kbit";
        for (text, told) in [
            (cake("$RATE"), "line 1: cake: bandwidth: `$RATE`"),
            (cake("10mbits"), "line 1: cake: bandwidth: `10mbits`"),
            (cake("10,5mbit"), "line 1: cake: bandwidth: `10,5mbit`"),
            (cake("-5mbit"), "line 1: cake: bandwidth: `-5mbit`"),
            (cake("99999999gbit"), "line 1: cake: bandwidth: `99999999gbit`"),
            (cake("nan"), "line 1: cake: bandwidth: `nan`"),
            ("\ntc qdisc add dev eth0 root tbf rate 50% burst 9k limit 90k".to_owned(), "line 2: tbf: rate: `50%`"),
            (class.to_owned(), "line 2: htb 1:1: rate: `${UP}kbit`"),
            (listed("\"fast\""), "cake 1:: bandwidth: `fast`"),
            (listed("-1250000"), "cake 1:: bandwidth: `-1250000`"),
            (listed("18446744073709551615"), "cake 1:: bandwidth: `18446744073709552000`"),
        ] {
            assert_eq!(made(&text).unwrap_err(), format!("x: {told} is not a rate: allowed 1bit to 10tbit, such as 9500kbit"));
        }
        for text in [listed("0"), listed("\"unlimited\""), "tc qdisc add dev eth0 root cake".to_owned(), cake("1mbit unlimited")]
        {
            assert!(made(&text).unwrap().contains("nothing shapes eth0"), "{text}");
        }
        assert!(made(&listed("\"7mbit\"")).unwrap().contains("7000000 bit/s"));
        let never = made("\ntc qdisc add dev eth0 root cake bandwidth 9mbit interplanetary").unwrap_err();
        assert_eq!(never, "x: line 2: cake: rtt: `interplanetary` is not a value of it");
    }

    #[test]
    fn framing_of_cake_follows_the_order_of_its_words() {
        for (words, overhead, cells) in [
            ("overhead 10 conservative", 48, true),
            ("ether-vlan conservative", 48, true),
            ("conservative ether-vlan", 52, true),
            ("conservative overhead 10", 10, true),
            ("overhead 10 ether-vlan", 14, false),
            ("pppoa-llc noatm", 14, false),
            ("atm docsis", 18, false),
        ] {
            let text = made(&format!("tc qdisc add dev eth0 root cake bandwidth 9mbit {words}")).unwrap();
            assert!(text.contains(&format!("overhead = \"{overhead} B\"")), "{words}: {text}");
            assert_eq!(text.contains("cells = \"atm\""), cells, "{words}: {text}");
        }
    }

    #[test]
    fn later_commands_change_and_delete_earlier_ones() {
        let cake = "tc qdisc add dev eth0 root cake bandwidth 9mbit rtt 30ms\n";
        let changed = made(&format!("{cake}tc qdisc change dev eth0 root cake bandwidth 5mbit\n")).unwrap();
        assert!(changed.contains("5000000 bit/s") && changed.contains("30 ms"), "{changed}");
        let again = "tc qdisc del dev eth0 root\n";
        let gone = made(&format!("{again}{cake}{again}")).unwrap_err();
        assert!(gone.starts_with("x: has no queue"), "{gone}");
        let other = made(&format!("{cake}{again}tc qdisc add dev eth0 root fq_codel\n")).unwrap();
        assert!(other.contains("nothing shapes eth0"), "{other}");
        let ingress = made(&format!("{cake}tc qdisc del dev eth0 ingress\n")).unwrap();
        assert!(ingress.contains("9000000 bit/s"), "{ingress}");
        let script = made(&format!("if [ $1 = stop ]; then\n  {again}else\n  {cake}fi\n")).unwrap();
        assert!(script.contains("The shell is not followed (lines 1, 3, 5)"), "{script}");
        let class =
            "tc qdisc add dev eth0 root handle 1: htb default 1\ntc class add dev eth0 parent 1: classid 1:1 htb rate 1mbit\n";
        let class = made(&format!("{class}tc class change dev eth0 parent 1: classid 1:1 htb rate 2mbit\n")).unwrap();
        assert!(class.contains("2000000 bit/s"), "{class}");
        let script = made(&format!("case $1 in\nstart)\n{cake};;\nstop)\n{again};;\nesac\n")).unwrap();
        assert!(script.contains("9000000 bit/s") && script.contains("(lines 1, 8)"), "{script}");
    }

    #[test]
    fn the_peak_rate_of_tbf_is_noted() {
        let text = made("tc qdisc add dev eth0 root tbf rate 2mbit burst 9k limit 90k peakrate 3mbit minburst 2k").unwrap();
        assert!(text.contains("peakrate 3mbit of tbf is not in the scenario."), "{text}");
        assert!(text.contains("minburst 2k of tbf is not in the scenario."), "{text}");
        assert!(text.contains("limit of tbf at eth0"), "{text}");
    }
}
