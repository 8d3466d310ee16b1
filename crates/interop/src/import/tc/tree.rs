//! A link whose queue is an HTB with all of its classes.

use super::{UNSHAPED, burst, loss, settings, toml};
use crate::import::{Cited, Origin, Way};
use crate::router::tc::{ShapedRate, Tree};
use goodqueue_aqm::spec::{ClassAndParams, Size, Value};
use goodqueue_base::units::{Direction, Rate};
use goodqueue_lab::scenario::toml_text::quoted;

/// The packets that an interface's queue holds unless changed.
const LENGTH: u32 = 1_000;

/// Rates that interfaces have.
const SPEEDS: [Rate; 4] = [UNSHAPED, Rate::gbit(10), Rate::gbit(100), Rate::gbit(1_000)];

/// The direction that leaves by an interface with these classes.
pub(super) fn way(tree: &Tree, dev: &str) -> Way {
    let assumed = |why: String| {
        // Classes that ask for more than the line has would wait for the line.
        let rate = SPEEDS.into_iter().find(|speed| *speed >= tree.ceilings).unwrap_or(Rate::gbit(10_000));
        (Cited::quantity(rate, Origin::Assumed(why)), rate)
    };
    let (rate, fastest) = match &tree.rate {
        ShapedRate::Known(rate, source) => (Cited::bit_s(*rate, Origin::Set(source.clone())), *rate),
        ShapedRate::Unknown(why) => assumed(format!("{why}; put it here")),
        ShapedRate::Unshaped => {
            let dev = if dev.is_empty() { "it" } else { dev };
            assumed(format!("{dev} is faster than its classes; put its rate here"))
        }
    };
    let held = Value::Size(Size::Packets(f64::from(tree.length.unwrap_or(LENGTH).max(1))));
    let origin = match tree.length {
        Some(_) => Origin::Set(format!("direct_qlen of {}", tree.source)),
        None => Origin::Estimated("what the kernel gives an interface".to_owned()),
    };
    let own = || Origin::Set(tree.source.clone());
    let mut lines: Vec<(String, Cited)> =
        tree.chosen.params.iter().map(|(name, value)| ((*name).to_owned(), Cited::toml(toml(*value), own()))).collect();
    lines.push(("ecn".to_owned(), Cited::toml(tree.marks.to_string(), Origin::Set("queues of its leaves".to_owned()))));
    let classes = &tree.chosen.classes;
    lines.extend(classes.iter().map(|class| {
        let origin = Origin::Set(format!("class {}", class.name.replace('-', ":")));
        (format!("class.{}", class.name), Cited::toml(table(class, classes), origin))
    }));
    Way {
        rate,
        fastest,
        buffer: Cited::quantity(held, origin),
        queue: Cited::quantity(tree.chosen.kind.kind, own()),
        settings: lines,
        burst: burst(tree.burst, &tree.rate),
        loss: loss(&tree.emulated),
        known_as: Direction::Down,
    }
}

/// A class in TOML.
fn table(class: &ClassAndParams, all: &[ClassAndParams]) -> String {
    let parent = class.parent.map(|above| format!("parent = {}", quoted(&all[above as usize].name)));
    let params = class.params.iter().map(|(name, value)| format!("{name} = {}", toml(*value)));
    let of = class.of.as_ref().map(|of| match of.params.as_slice() {
        [] => format!("of = {}", quoted(of.kind.kind)),
        params => format!("of = {{ {} }}", settings(of.kind.kind, params)),
    });
    let members: Vec<String> = parent.into_iter().chain(params).chain(of).collect();
    format!("{{ {} }}", members.join(", "))
}

/// The leaf of traffic of which nothing is known: the first one, where no leaf takes the packets of
/// no class.
pub(super) fn leaf_for_all(tree: &Tree) -> Option<String> {
    if tree.default.is_some() {
        return None;
    }
    let leaves = tree.chosen.leaves();
    tree.chosen.classes.iter().find(|class| leaves.contains(class.name.as_str())).map(|class| class.name.clone())
}

#[cfg(test)]
mod tests {
    use crate::import::{Input, tc};
    use goodqueue_lab::scenario::lint::warnings;
    use goodqueue_lab::scenario::plan::Plan;
    use std::path::Path;

    const SITE: &str = "tc qdisc add dev eth0 root handle 1: htb default 20\n\
        tc class add dev eth0 parent 1: classid 1:1 htb rate 100mbit burst 30k cburst 30k\n\
        tc class add dev eth0 parent 1:1 classid 1:10 htb rate 30mbit ceil 100mbit prio 1 quantum 3000\n\
        tc class add dev eth0 parent 1:1 classid 1:20 htb rate 70mbit ceil 100mbit quantum 3000\n\
        tc qdisc add dev eth0 parent 1:10 fq_codel limit 600 target 8ms\n\
        tc qdisc add dev eth0 parent 1:20 sfq perturb 10\n";

    fn made(text: &str) -> Result<String, String> {
        let input = Input::read("x", text.as_bytes()).unwrap();
        tc::import(&input, None).map(|draft| draft.text()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_tree_becomes_classes_with_queues() {
        let text = made(SITE).unwrap();
        for line in [
            "rate = \"1 Gbit/s\" # assumed: eth0 is faster than its classes; put its rate here",
            "queue.kind = \"htb\" # set: htb 1: at eth0",
            "queue.class.1-1 = { rate = \"100000000 bit/s\", burst = \"30720 B\", cburst = \"30720 B\" } # set: class 1:1",
            "queue.class.1-10 = { parent = \"1-1\", rate = \"30000000 bit/s\", ceil = \"100000000 bit/s\", prio = 1, \
             quantum = \"3000 B\", limit = \"600 packets\", of = { kind = \"fq-codel\", target = \"8 ms\" } } # set: class 1:10",
            "queue.class.1-20 = { parent = \"1-1\", rate = \"70000000 bit/s\", ceil = \"100000000 bit/s\", quantum = \"3000 B\", \
             default = true, of = \"tail-drop\" } # set: class 1:20",
            "# eth0: Class 1:20: sfq is not a queue of a leaf here: it is a plain FIFO in the scenario.",
        ] {
            let is_it = |found: &str| found.split_whitespace().eq(line.split_whitespace());
            assert!(text.lines().any(is_it), "{line}\n{text}");
        }
        assert!(text.contains("# eth0: Filters say which packets belong to which class"), "{text}");
        let plan = Plan::parse("x", &text, Path::new("")).unwrap_or_else(|error| panic!("{}", error.text()));
        let warned: Vec<String> = plan.points().unwrap().iter().flat_map(warnings).map(|found| found.to_string()).collect();
        assert!(warned.is_empty(), "{warned:?}");
    }

    #[test]
    fn traffic_has_a_leaf_where_no_class_is_the_default() {
        let text = made(&SITE.replace("default 20", "default 9")).unwrap();
        assert!(
            text.contains("htb 1: has no default class 1:9: packets that no filter puts into a class leave before"),
            "{text}"
        );
        assert_eq!(text.matches("\nleaf = \"1-10\"\nkind = ").count(), 3, "{text}");
        assert!(!made(SITE).unwrap().contains("\nleaf = "));
    }

    #[test]
    fn oddities_of_classes_are_noted_or_refused() {
        let text = made(&SITE.replace("rate 30mbit ceil 100mbit", "rate 30mbit ceil 5mbit")).unwrap();
        assert!(text.contains("Class 1:10: its ceil of 5 Mbit/s is below its rate of 30 Mbit/s, and holds."), "{text}");
        assert!(text.contains("queue.class.1-10 = { parent = \"1-1\", rate = \"5000000 bit/s\", prio = 1"), "{text}");
        let refused = made(&SITE.replace("rate 70mbit ", "")).unwrap_err();
        assert_eq!(refused, "x: line 4: htb 1:20: rate: is missing, and tc refuses the line: give it for instance 9500kbit");
        let refused = made(&SITE.replace("quantum 3000\ntc class", "quantum many\ntc class")).unwrap_err();
        assert_eq!(refused, "x: line 3: htb 1:10: quantum: `many` is not a value of it");
        let looped = "qdisc htb 1: dev eth0 root\ndev eth0\nclass htb 1:1 parent 1:2 rate 1Mbit ceil 1Mbit\n\
                      class htb 1:2 parent 1:1 rate 1Mbit ceil 1Mbit\nclass htb 1:3 parent 1:2 rate 1Mbit ceil 1Mbit\n\
                      class htb 1:4 parent 1:2 rate 1Mbit ceil 1Mbit\n";
        assert_eq!(made(looped).unwrap_err(), "x: class 1:1 at eth0 is too deep: allowed 8 classes one below another");
        let single =
            SITE.lines().filter(|line| !line.contains("1:10")).collect::<Vec<_>>().join("\n").replace("sfq perturb 10", "codel");
        let text = made(&single).unwrap();
        assert!(text.contains("rate = \"100000000 bit/s\"") && text.contains("queue = { kind = \"codel\""), "{text}");
    }
}
