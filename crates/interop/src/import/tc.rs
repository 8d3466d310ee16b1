//! Imports the output of `tc`, or its command lines: queues, limits, marking and rates of a host.

mod tree;

use crate::import::draft::usual_delay;
use crate::import::{Cited, Draft, ImportError, Input, Origin, Way};
use crate::router::tc::{self, Bucket, Discipline, Emulated, Finding, LeftOut, Role, ShapedRate, TcError, Untold};
use goodqueue_aqm::spec::Value;
use goodqueue_base::spec::quantity::excerpt;
use goodqueue_base::units::{Direction, Rate};
use goodqueue_lab::scenario::toml_text::quoted;
use std::collections::BTreeSet;

/// The rate of an interface that nothing shapes, which `tc` does not know.
const UNSHAPED: Rate = Rate::gbit(1);

/// The interfaces that a message names.
const MAX_NAMED: usize = 20;

/// A line from the queues of a host: those of `dev` and of its intermediate device.
///
/// # Errors
/// When the file is not what `tc` prints, an interface has a queue that gq lacks, or it is not
/// clear which interface is meant.
pub fn import(input: &Input, dev: Option<&str>) -> Result<Draft, ImportError> {
    let told = tc::follow(input.text()?).map_err(|error| input.fault(error.to_string()))?;
    let has_queue = told.all.iter().any(|found| found.role == Role::Qdisc && !found.is_ingress());
    if let (false, Some(line)) = (has_queue, told.deleted_by) {
        return Err(input
            .fault(format!("has no queue at its end: line {line} deletes the last one. {}", told.notes.join(" ")).trim_end()));
    }
    let mut draft = match of_queues(input, told.all, &told.cut, dev) {
        Err(_) if !has_queue && !told.notes.is_empty() => {
            return Err(input.fault(format!("{NO_QUEUE}. {}", told.notes.join(" "))));
        }
        made => made?,
    };
    draft.notes.extend(told.notes);
    Ok(draft)
}

/// A line from the queues that a file sets. Packets that arrive at interfaces of `cut` wait
/// nowhere.
pub(super) fn of_queues(
    input: &Input,
    mut all: Vec<Discipline>,
    cut: &BTreeSet<String>,
    dev: Option<&str>,
) -> Result<Draft, ImportError> {
    if let Some(dev) = dev {
        name_interface(input, &mut all, dev)?;
    }
    let (findings, left_out) = tc::findings(&all);
    let asked = left_out.iter().find(|left| dev == Some(left.dev.as_str()));
    if let Some(left) = asked.or(left_out.first().filter(|_| findings.is_empty())) {
        return Err(input.fault(left.why.to_string()));
    }
    let leaving = leaving(input, &all, &findings, dev)?;
    let (arriving, mut notes) = match leaving {
        Some(leaving) if !is_ifb(&leaving.dev) && !cut.contains(&leaving.dev) => arriving(&all, &findings, leaving),
        _ => (None, Vec::new()),
    };
    let (down, up) = match (arriving, leaving) {
        (Some(arriving), leaving) => (arriving, leaving),
        (None, Some(leaving)) => (leaving, None),
        (None, None) => return Err(input.fault(NO_QUEUE)),
    };
    // Of a named interface, other interfaces are not of interest.
    let is_near = |left: &&LeftOut| dev.is_none() || is_ifb(&left.dev);
    notes.extend(left_out.iter().filter(is_near).map(mention));
    let mut draft = draft(input, down, up);
    draft.notes.extend(notes);
    Ok(draft)
}

const NO_QUEUE: &str = "has no queue: expected what tc -s -j qdisc show prints, or lines of tc";

/// Gives an interface's name to disciplines that are printed without one.
///
/// # Errors
/// When there is none of that name.
fn name_interface(input: &Input, all: &mut [Discipline], dev: &str) -> Result<(), ImportError> {
    let names: BTreeSet<&str> = all.iter().map(|found| found.dev.as_str()).collect();
    if !names.contains(dev) && !names.contains("") {
        let names: Vec<String> = names.into_iter().take(MAX_NAMED).map(excerpt).collect();
        let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        return Err(input.fault(format!("has no interface {}: allowed {known}", excerpt(dev))));
    }
    if !names.contains(dev) {
        all.iter_mut().filter(|found| found.dev.is_empty()).for_each(|found| dev.clone_into(&mut found.dev));
    }
    Ok(())
}

/// The queue that is meant: of the interface that is named, of the only one, or of the only one
/// with a shaper; an intermediate device only where no other has a queue.
fn leaving<'a>(
    input: &Input,
    all: &[Discipline],
    findings: &'a [Finding],
    dev: Option<&str>,
) -> Result<Option<&'a Finding>, ImportError> {
    if let Some(dev) = dev {
        let names: Vec<&str> = findings.iter().map(|finding| finding.dev.as_str()).collect();
        let own = findings.iter().find(|finding| finding.dev == dev);
        // A queue of arriving packets alone.
        let to = redirect(all, dev).filter(|to| names.contains(&to.as_str())).or_else(|| Some(ifb_of(dev)));
        let own = own.or_else(|| findings.iter().find(|finding| Some(&finding.dev) == to.as_ref()));
        return match own {
            Some(own) => Ok(Some(own)),
            None if names.is_empty() => Ok(None),
            None => Err(input.fault(format!("has no queue at {}: allowed {}", excerpt(dev), names.join(", ")))),
        };
    }
    let (beside, interfaces): (Vec<&Finding>, Vec<&Finding>) =
        findings.iter().partition(|finding| is_ifb(&finding.dev) || is_redirected_to(all, &finding.dev));
    let shaped: Vec<&&Finding> = interfaces.iter().filter(|finding| finding.rate != ShapedRate::Unshaped).collect();
    match (interfaces.as_slice(), shaped.as_slice(), beside.as_slice()) {
        ([only], ..) => Ok(Some(*only)),
        ([], _, [only]) => Ok(Some(*only)),
        ([], _, []) => Ok(None),
        (_, [only], _) => Ok(Some(**only)),
        (several, ..) => {
            let names: Vec<&str> = several.iter().chain(&beside).map(|finding| finding.dev.as_str()).collect();
            Err(input.fault(format!("has queues at {}: name one with --dev", names.join(", "))))
        }
    }
}

/// The interface that filters send packets to which arrive at another.
fn redirect(all: &[Discipline], dev: &str) -> Option<String> {
    let own = |found: &&Discipline| found.dev == dev || (found.dev.is_empty() && only_ingress(all) == Some(dev));
    all.iter().filter(own).find_map(Discipline::redirects_to)
}

fn is_redirected_to(all: &[Discipline], dev: &str) -> bool {
    all.iter().any(|found| found.redirects_to().as_deref() == Some(dev))
}

/// The only interface with a place for filters of packets that arrive.
fn only_ingress(all: &[Discipline]) -> Option<&str> {
    let mut with = all.iter().filter(|found| found.is_ingress()).map(|found| found.dev.as_str());
    with.next().filter(|_| with.next().is_none())
}

/// The name that scripts give an interface's intermediate device, of the length of a name.
pub(super) fn ifb_of(dev: &str) -> String {
    format!("ifb4{dev}").chars().take(15).collect()
}

/// The queue of packets that arrive at an interface, and remarks on it: the one that filters send
/// them to, the one that is named after it, or the only one that is named after no other.
fn arriving<'a>(all: &[Discipline], findings: &'a [Finding], leaving: &Finding) -> (Option<&'a Finding>, Vec<String>) {
    let dev = leaving.dev.as_str();
    let at = |name: &str| findings.iter().find(|finding| finding.dev == name);
    let policer = all.iter().filter(|found| found.dev == dev).find_map(Discipline::polices_at);
    let mut notes: Vec<String> = policer
        .map(|rate| format!("A filter at {dev} drops what arrives faster than {}: it is not in the scenario.", excerpt(&rate)))
        .into_iter()
        .collect();
    if let Some(to) = redirect(all, dev) {
        if at(&to).is_none() {
            notes.push(format!("Packets that arrive at {dev} are sent to {}, whose queue is not known.", excerpt(&to)));
        }
        return (at(&to), notes);
    }
    if let Some(own) = at(&ifb_of(dev)) {
        return (Some(own), notes);
    }
    let is_numbered = |name: &str| name.strip_prefix("ifb").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    let free: Vec<&Finding> =
        findings.iter().filter(|finding| is_numbered(&finding.dev) && !is_redirected_to(all, &finding.dev)).collect();
    let names: Vec<&str> = free.iter().map(|finding| finding.dev.as_str()).collect();
    // Where others may send their packets there, nothing says whose they are.
    let others = || findings.iter().filter(|finding| !is_ifb(&finding.dev) && finding.rate != ShapedRate::Unshaped);
    let is_own = match only_ingress(all) {
        Some(only) => only == dev,
        None => !all.iter().any(Discipline::is_ingress) && others().all(|finding| finding.dev == dev),
    };
    match free.as_slice() {
        [only] if is_own => (Some(*only), notes),
        [] => (None, notes),
        _ => {
            notes.push(format!("No filter in the file says whether packets that arrive at {dev} wait at {}.", names.join(", ")));
            (None, notes)
        }
    }
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
        let place = if finding.dev.is_empty() { String::new() } else { format!("{}: ", finding.dev) };
        let own = finding.tree.as_ref().map_or(&finding.notes, |tree| &tree.notes);
        notes.extend(own.iter().map(|note| format!("{place}{note}")));
    }
    // Classes count by themselves.
    let plain = || [Some(down), up].into_iter().flatten().filter(|finding| finding.tree.is_none());
    let framings = || plain().filter_map(|finding| Some((finding.framing?, &finding.dev)));
    let framing = framings().next();
    if let Some((_, dev)) = framings().find(|(other, _)| framing.is_some_and(|(framing, _)| framing != *other)) {
        notes.push(format!("{dev}: its shaper counts other framing; a link has the same in both directions."));
    }
    let name = format!("queues of {}", up.unwrap_or(down).dev);
    let name = name.strip_suffix(" of ").map_or(name.clone(), str::to_owned);
    // An interface by itself is taken for the one toward the line: what leaves it goes up.
    let known_as = if up.is_none() && !is_ifb(&down.dev) { Direction::Up } else { Direction::Down };
    let ways = (Way { known_as, ..way(down) }, up.map(way));
    let mut delay = usual_delay("tc does not show how long the path is");
    for (finding, delay) in [Some(down), up].into_iter().zip(&mut delay).filter_map(|(found, delay)| Some((found?, delay))) {
        let emulated = finding.tree.as_ref().map_or(&finding.emulated, |tree| &tree.emulated);
        if !emulated.delay.is_zero() {
            let origin = Origin::Set(format!("delay of {}", emulated.source));
            *delay = Cited::quantity(emulated.delay, origin);
        }
    }
    Draft {
        notes,
        framing: framing.map(|(framing, dev)| {
            let of = if dev.is_empty() { String::new() } else { format!(" of {dev}") };
            (framing, Origin::Set(format!("framing that the shaper{of} counts")))
        }),
        leaf: down.tree.as_ref().or(up.and_then(|up| up.tree.as_ref())).and_then(tree::leaf_for_all),
        ..Draft::new(name, "tc", input, delay, ways)
    }
}

fn way(finding: &Finding) -> Way {
    if let Some(classes) = &finding.tree {
        return tree::way(classes, &finding.dev);
    }
    let (rate, fastest) = match &finding.rate {
        ShapedRate::Known(rate, source) => (Cited::bit_s(*rate, Origin::Set(source.clone())), *rate),
        ShapedRate::Unknown(why) => (Cited::quantity(UNSHAPED, Origin::Assumed(format!("{why}; put it here"))), UNSHAPED),
        ShapedRate::Unshaped => {
            let dev = if finding.dev.is_empty() { "it" } else { &finding.dev };
            let why = format!("nothing shapes {dev}; put its rate here");
            (Cited::quantity(UNSHAPED, Origin::Assumed(why)), UNSHAPED)
        }
    };
    let source = &finding.source;
    let (limit, origin) = match (finding.limit, finding.untold_limit) {
        (Some(limit), _) => (limit, Origin::Set(format!("limit of {source}"))),
        (None, Untold::Reported(limit)) => (limit, Origin::Set(format!("limit that the kernel reports of {source}"))),
        (None, Untold::Unknown(limit)) => (limit, Origin::Assumed(format!("the limit of {source} is not in the file"))),
        (None, Untold::Usual(limit)) => (limit, Origin::Estimated(format!("what the kernel gives {source} without a limit"))),
    };
    let buffer = Cited::quantity(Value::Size(limit), origin);
    Way {
        rate,
        fastest,
        buffer,
        queue: Cited::toml(queue(finding), Origin::Set(finding.source.clone())),
        settings: Vec::new(),
        burst: burst(finding.burst, &finding.rate),
        loss: loss(&finding.emulated),
        known_as: Direction::Down,
    }
}

/// The bucket of a shaper whose rate is known.
fn burst(bucket: Option<Bucket>, rate: &ShapedRate) -> Option<Cited> {
    let bucket = bucket.filter(|_| rate.known().is_some())?;
    let origin = match bucket.is_told {
        true => Origin::Set("bucket of the shaper".to_owned()),
        false => Origin::Estimated("bucket that the kernel gives the shaper untold".to_owned()),
    };
    Some(Cited::quantity(format!("{} B", bucket.bytes.get()), origin))
}

fn loss(emulated: &Emulated) -> Option<Cited> {
    let Emulated { loss, source: netem, .. } = emulated;
    (*loss > 0.0).then(|| Cited::toml(loss.to_string(), Origin::Set(format!("loss of {netem}"))))
}

/// A queue in TOML, with a limit where it was given one: the buffer of a link is the modem's.
fn queue(finding: &Finding) -> String {
    let mut text = format!("{{ {}", settings(finding.kind.kind, &finding.params));
    if finding.kind.marks.is_possible() {
        text.push_str(&format!(", ecn = {}", finding.marks));
    }
    if let Some(limit) = finding.limit {
        text.push_str(&format!(", limit = {}", toml(Value::Size(limit))));
    }
    text.push_str(" }");
    text
}

/// A kind and its parameters, as members of a table.
fn settings(kind: &str, params: &[(&'static str, Value)]) -> String {
    let params = params.iter().map(|(name, value)| format!(", {name} = {}", toml(*value)));
    format!("kind = {}{}", quoted(kind), params.collect::<String>())
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

    /// The overhead, least size and cells of a scenario.
    fn framing(text: &str) -> [Option<String>; 3] {
        let text = made(text).unwrap();
        ["overhead", "mpu", "cells"].map(|key| {
            let line = text.lines().find_map(|line| line.strip_prefix(&format!("{key} = \"")))?;
            line.split('"').next().map(|value| value.trim_end_matches(" B").to_owned())
        })
    }

    #[test]
    fn a_word_that_cake_lacks_is_refused_by_name() {
        for word in ["besteffor", "triple_isolate", "doscis", "Ethernet"] {
            let told = made(&format!("\ntc qdisc add dev eth0 root cake bandwidth 9mbit {word} nat")).unwrap_err();
            assert_eq!(told, format!("x: line 2: cake: `{word}` is not a word of it, and tc refuses the line: see man tc-cake"));
        }
    }

    #[test]
    fn lines_that_set_queues_are_bounded() {
        let class = "tc class replace dev eth0 parent 1: classid 1:1 htb rate 1mbit\n";
        let text = format!("tc qdisc add dev eth0 root handle 1: htb default 1\n{}", class.repeat(20_000));
        assert_eq!(made(&text).unwrap_err(), "x: has too many queues: allowed up to 10000, set by up to 20000 lines");
        assert!(made(&text[..text.len() - class.len()]).unwrap().contains("1000000 bit/s"));
    }

    #[test]
    fn variables_have_the_values_that_the_file_gives_them() {
        let cake = "tc qdisc add dev $DEV root cake bandwidth ${RATE}mbit $MORE\n";
        let known = made(&format!("DEV=eth0\nMORE=\"nat besteffort\"; export RATE='9'\n{cake}")).unwrap();
        for part in ["9000000 bit/s", "cake at eth0", "nat = true", "tins = \"besteffort\""] {
            assert!(known.contains(part), "{part}: {known}");
        }
        assert!(!known.contains("The shell is not followed"), "{known}");
        for (before, told) in [
            ("DEV=eth0\n", "${RATE}mbit"),
            ("DEV=eth0\nRATE=$1\n", "${RATE}mbit"),
            ("DEV=eth0\nRATE=9\nif test -n \"$1\"; then\nRATE=5\nfi\n", "${RATE}mbit"),
            ("DEV=eth0\nRATE=9\nif test -n \"$1\"; then RATE=5; fi\n", "${RATE}mbit"),
            ("DEV=eth0\nRATE=9\nread RATE\n", "${RATE}mbit"),
            ("DEV=eth0\nRATE=9\nwhile read -r NAME RATE; do echo; done\n", "${RATE}mbit"),
            ("DEV=eth0\nRATE=9\nRATE+=5\n", "${RATE}mbit"),
            ("DEV=eth0\nRATE=9\nlocal -i RATE=$1\n", "${RATE}mbit"),
            ("DEV=eth0\nRATE=9k\n", "9kmbit"),
        ] {
            let refused = made(&format!("{before}{cake}")).unwrap_err();
            assert!(refused.contains(&format!("cake: bandwidth: `{told}` is not a rate")), "{refused}");
        }
        let later =
            made(&format!("DEV=eth0\nRATE=9\n{cake}RATE=5\ntc qdisc change dev $DEV root cake bandwidth ${{RATE}}mbit")).unwrap();
        assert!(later.contains("5000000 bit/s"), "{later}");
    }

    #[test]
    fn framing_of_cake_changes_as_the_kernel_changes_it() {
        let told = [Some("44"), Some("64"), Some("atm")];
        for (second, expected) in [
            ("change dev eth0 root cake besteffort", told),
            ("replace dev eth0 root cake besteffort", told),
            ("change dev eth0 root cake ethernet", [Some("38"), Some("84"), Some("atm")]),
            ("change dev eth0 root cake ether-vlan", [Some("4"), Some("64"), Some("atm")]),
            ("change dev eth0 root cake docsis", [Some("18"), Some("64"), None]),
            ("change dev eth0 root cake conservative", [Some("48"), Some("64"), Some("atm")]),
            ("change dev eth0 root cake noatm", [Some("44"), Some("64"), None]),
            ("change dev eth0 root cake mpu 84", [Some("44"), Some("84"), Some("atm")]),
            ("change dev eth0 root cake overhead 10", [Some("10"), Some("64"), Some("atm")]),
            ("change dev eth0 root cake raw", [Some("14"), Some("64"), None]),
            ("del dev eth0 root\ntc qdisc add dev eth0 root cake bandwidth 9mbit", [None, None, None]),
        ] {
            let text = format!("tc qdisc add dev eth0 root cake bandwidth 9mbit overhead 44 mpu 64 atm\ntc qdisc {second}\n");
            assert_eq!(framing(&text).each_ref().map(Option::as_deref), expected, "{second}");
        }
        let text = "qdisc cake 1: dev eth0 root bandwidth 9Mbit diffserv3 raw atm overhead 0";
        let options = r#"{"bandwidth":1125000,"diffserv":"diffserv3","raw":true,"atm":"atm","overhead":0}"#;
        let list = format!(r#"[{{"kind":"cake","handle":"1:","dev":"eth0","root":true,"options":{options}}}]"#);
        for raw in [text, &list] {
            assert_eq!(framing(raw).each_ref().map(Option::as_deref), [Some("14"), None, Some("atm")], "{raw}");
        }
    }

    #[test]
    fn framing_of_classes_one_above_the_other_counts_once() {
        let class = |parent: &str, id: &str, rate: u32, overhead: u32| {
            format!("tc class add dev eth0 parent {parent} classid {id} htb rate {rate}mbit overhead {overhead}\n")
        };
        for (outer, inner, expected) in [((9, 44), (9, 44), "58"), ((9, 20), (5, 44), "58"), ((5, 20), (9, 44), "34")] {
            let text = format!(
                "tc qdisc add dev eth0 root handle 1: htb default 10\n{}{}",
                class("1:", "1:1", outer.0, outer.1),
                class("1:1", "1:10", inner.0, inner.1)
            );
            assert_eq!(framing(&text)[0].as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_table_of_sizes_counts_whatever_it_is_printed_with() {
        for line in ["linklayer ethernet overhead 44 mpu 64", "overhead 44 mpu 64 mtu 2047", "mpu 64 overhead 44"] {
            let text = format!("qdisc tbf 8001: dev eth0 root refcnt 2 rate 10Mbit burst 5Kb lat 50ms \n {line} \n");
            assert_eq!(framing(&text).each_ref().map(Option::as_deref), [Some("58"), Some("64"), None], "{line}");
        }
    }

    #[test]
    fn filters_go_with_the_place_that_they_are_at() {
        for (place, parent) in [("ingress", "parent ffff:"), ("handle ffff: ingress", "ingress"), ("clsact", "ingress")] {
            let script = format!(
                "tc qdisc add dev eth0 root cake bandwidth 9mbit\ntc qdisc add dev eth0 {place}\n\
                 tc qdisc add dev wan root cake bandwidth 40mbit\n\
                 tc filter add dev eth0 {parent} protocol all matchall action mirred egress redirect dev wan\n"
            );
            let input = |text: &str| Input::read("x", text.as_bytes()).unwrap();
            let there = import(&input(&script), Some("eth0")).unwrap().text();
            assert!(there.contains("40000000 bit/s"), "{there}");
            let gone = import(&input(&format!("{script}tc qdisc del dev eth0 {place}\n")), Some("eth0")).unwrap().text();
            assert!(!gone.contains("40000000 bit/s") && gone.contains("9000000 bit/s"), "{gone}");
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
