//! Round trips of configurations: `gq import` reads what `gq export` writes as the same settings,
//! for each target and kind that it has.

use goodqueue_aqm::spec::{KindAndParams, ParamValues, Unit, Value};
use goodqueue_aqm::{math, sched};
use goodqueue_base::units::{Framing, Rng};
use goodqueue_interop::import::{Draft, ImportError, Input, any, config, tc};
use goodqueue_interop::router::dialect::libreqos::LIBREQOS;
use goodqueue_interop::router::dialect::networkd::NETWORKD;
use goodqueue_interop::router::dialect::routeros::ROUTEROS;
use goodqueue_interop::router::dialect::tc::TC;
use goodqueue_interop::router::dialect::{Dialect, Form, Hold, How, Marks, Refusal, Word, Write};
use goodqueue_interop::router::setup::{Setup, Shaping};
use goodqueue_interop::router::syntax::{self, Interface, Place};
use goodqueue_lab::scenario::plan::{Direction, Plan, Scenario};

type Say = fn(&Setup) -> Result<String, Refusal>;
type Read = fn(&Input, Option<&str>) -> Result<Draft, ImportError>;

fn place() -> Place {
    let dev = Interface::new("eth0").unwrap();
    Place { ifb: dev.ifb(), dev, egress: None }
}

/// A target: its kinds of queues and their settings, how it is written and read, whether it keeps
/// limits, whether framing of queues other than cake, and some kinds with settings other than the
/// defaults.
struct Target {
    name: &'static str,
    dialect: &'static Dialect,
    write: Say,
    read: Read,
    keeps_limits: fn(&str) -> bool,
    keeps_framing: fn(&str) -> bool,
    queues: &'static [&'static str],
}

const CODEL: &str = r#"{ kind = "codel", target = "13 ms", interval = "150 ms", ce_threshold = "1 ms", ecn = true }"#;
const FQ_CODEL: &str =
    r#"{ kind = "fq-codel", flows = 512, quantum = "300 B", memory_limit = "4 MiB", target = "6 ms", ecn = false }"#;
const CAKE: &str = r#"{ kind = "cake", isolation = "dual-srchost", tins = "besteffort", ack_filter = "on", interval = "40 ms", target = "2 ms", nat = true }"#;
const CAKE_4: &str = r#"{ kind = "cake", tins = "diffserv4", nat = true }"#;

const TARGETS: &[Target] = &[
    Target {
        name: "tc",
        dialect: &TC,
        write: |setup| syntax::tc::script(setup, &place()),
        read: tc::import,
        keeps_limits: |_| true,
        keeps_framing: |_| true,
        // `round_trip.rs` has these.
        queues: &[],
    },
    Target {
        name: "sqm",
        dialect: &TC,
        write: |setup| syntax::sqm::section(setup, &place()),
        read: config::sqm,
        keeps_limits: |_| true,
        keeps_framing: |_| true,
        queues: &[
            CODEL,
            FQ_CODEL,
            CAKE,
            CAKE_4,
            r#"{ kind = "fq-codel", drop_batch = 32 }"#,
            r#"{ kind = "pie", target = "20 ms", t_update = "30 ms", alpha = 0.25, beta = 1.5, active_inactive = false }"#,
        ],
    },
    Target {
        name: "networkd",
        dialect: &NETWORKD,
        write: |setup| syntax::networkd::files(setup, &place()),
        read: config::networkd,
        keeps_limits: |kind| kind != "cake",
        keeps_framing: |_| true,
        queues: &[
            CODEL,
            FQ_CODEL,
            CAKE,
            CAKE_4,
            r#"{ kind = "pie", active_inactive = false }"#,
            r#"{ kind = "sfb", ecn = true }"#,
        ],
    },
    Target {
        name: "routeros",
        dialect: &ROUTEROS,
        write: |setup| syntax::routeros::commands(setup, &place()),
        read: config::routeros,
        keeps_limits: |_| true,
        keeps_framing: |kind| kind == "cake",
        queues: &[CODEL, FQ_CODEL, CAKE, CAKE_4],
    },
    Target {
        name: "libreqos",
        dialect: &LIBREQOS,
        write: |setup| syntax::libreqos::row(setup, &[]).map(|circuits| circuits.csv),
        read: config::libreqos,
        keeps_limits: |_| false,
        keeps_framing: |_| false,
        queues: &[r#"{ kind = "cake", tins = "diffserv4" }"#, r#"{ kind = "fq-codel", ecn = true }"#],
    },
];

fn scenario(queue: &str, framing: &str) -> Scenario {
    let limit = if queue.contains("\"cake\"") { "4 MB" } else { "900 packets" };
    let queue = queue.replace(" }", &format!(", limit = \"{limit}\" }}"));
    let text = format!(
        "goodqueue = 1\nduration = \"10 s\"\n[link.dsl]\nrate = \"50 Mbit/s\"\nrate_up = \"9.5 Mbit/s\"\ndelay = \"5 ms\"\n\
         overhead = \"{framing}\"\nqueue = {queue}\nqueue_up = {queue}\n[[traffic]]\nkind = \"bulk\"\n"
    );
    read(&text)
}

fn read(text: &str) -> Scenario {
    let plan = Plan::parse_without_files("test", text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    plan.point(0).unwrap().plan
}

/// Every parameter with the value in force, but for those of a simulation, and whether packets
/// arrive, which follows from the interface.
fn values(chosen: &KindAndParams) -> Vec<(&'static str, Option<Value>)> {
    let given = ParamValues::new(&chosen.kind.base, &chosen.params).unwrap();
    let is_same = |name: &&str| !matches!(*name, "arithmetic" | "ecn" | "ingress");
    let names = chosen.kind.params.iter().map(|param| param.name).filter(is_same);
    names.map(|name| (name, given.value(name))).collect()
}

fn written(target: &Target, scenario: &Scenario) -> Result<String, Refusal> {
    (target.write)(&Setup::new(scenario, None, Shaping::Percent(100.0))?)
}

#[test]
fn every_target_is_read_back_as_it_was_written() {
    for target in TARGETS {
        for queue in target.queues {
            for framing in ["0 B", "22 B", "docsis", "pppoe-llcsnap", "pppoe-ptm"] {
                let first = scenario(queue, framing);
                let kind = first.main_link().down.queue.as_ref().unwrap().chosen.kind.kind;
                let is_said =
                    kind == "cake" || framing == "22 B" || framing == "0 B" || target.name == "sqm" && framing != "pppoe-ptm";
                if !is_said && (target.keeps_framing)(kind) {
                    continue;
                }
                let text = written(target, &first).unwrap();
                let input = Input::read("file", text.as_bytes()).unwrap();
                let draft = (target.read)(&input, None).unwrap_or_else(|error| panic!("{error}\n{text}"));
                let second = read(&draft.text());
                let seen = format!("{} {queue} {framing}\n{text}\n{}", target.name, draft.text());
                for heading in [Direction::Down, Direction::Up] {
                    let [a, b] = [&first, &second].map(|scenario| scenario.main_link().direction(heading));
                    assert_eq!(a.nominal_rate(), b.nominal_rate(), "{seen}");
                    let [qa, qb] = [a, b].map(|direction| direction.queue.as_ref().unwrap());
                    assert_eq!((qa.chosen.kind.kind, qa.ecn), (qb.chosen.kind.kind, qb.ecn), "{seen}");
                    let [ca, cb] =
                        [qa, qb].map(|queue| values(&KindAndParams::new(queue.chosen.kind, queue.chosen.params.clone())));
                    assert_eq!(ca, cb, "{seen}");
                    if (target.keeps_limits)(kind) {
                        assert_eq!(qa.limit, qb.limit, "{seen}");
                    }
                }
                let kept = if (target.keeps_framing)(kind) { first.main_link().framing } else { Framing::NONE };
                assert_eq!(second.main_link().framing, kept, "{seen}");
                // The kind of the file is known from its content.
                assert_eq!(any::read(&input).unwrap().text(), draft.text(), "{seen}");
            }
        }
    }
}

/// A number between the ends, on a logarithmic scale.
fn between(low: f64, high: f64, rng: &mut Rng) -> f64 {
    let low = low.max(1e-6);
    low * math::pow(high / low, rng.uniform())
}

/// A value of a parameter that a target has a word for, as a scenario writes it.
fn drawn_value(kind: &str, word: &Word, rng: &mut Rng) -> Option<String> {
    let spec = sched::kinds().find(|spec| spec.kind == kind)?.param(word.param)?;
    let number = between(spec.range.0, spec.range.1, rng);
    Some(match word.how {
        How::Key(_, Write::Time) => format!("\"{} us\"", (number * 1e6).round()),
        How::Key(_, Write::Millis) => format!("\"{} ms\"", (number * 1e3).round()),
        How::Key(_, Write::Bytes) => format!("\"{} B\"", number.round()),
        How::Key(_, Write::Number) if spec.unit == Unit::Count => number.round().to_string(),
        How::Key(_, Write::Number) => format!("{:.3e}", number).parse::<f64>().ok()?.to_string(),
        How::Key(_, Write::Whole(factor)) => ((number * factor).round() / factor).to_string(),
        How::Key(_, Write::Switch) | How::Switch { .. } => rng.fires(0.5).to_string(),
        How::Choice(_, pairs) | How::Flags(pairs) => format!("\"{}\"", pairs[rng.below(pairs.len() as u64) as usize].0),
        How::Only(_) | How::Derived(_) | How::Together(_) | How::Model => return None,
    })
}

/// Some of the settings of a queue that a target has words for.
fn drawn_settings(form: &Form, rng: &mut Rng) -> String {
    let mut settings = String::new();
    for word in form.words.iter().copied().flatten().filter(|_| rng.fires(0.3)).collect::<Vec<_>>() {
        if let Some(value) = drawn_value(form.kind, word, rng) {
            settings.push_str(&format!(", {} = {value}", word.param));
        }
    }
    if matches!(form.marks, Marks::Flags { .. } | Marks::Flag(_) | Marks::Key(_)) && rng.fires(0.5) {
        settings.push_str(&format!(", ecn = {}", rng.fires(0.5)));
    }
    settings
}

/// A scenario of one queue with these settings at a line that is drawn.
fn drawn_line(form: &Form, settings: &str, rng: &mut Rng) -> String {
    let is_in_bytes = matches!(form.limit, Hold::Bytes(_) | Hold::Needed(_)) || form.kind == "cake";
    let limit = between(20.0, 20_000.0, rng).round();
    let limit = if is_in_bytes { format!("{} B", limit * 1_514.0) } else { format!("{limit} packets") };
    let burst = if form.kind == "tail-drop" { "burst = \"3 kB\"\nburst_up = \"3 kB\"\n" } else { "" };
    let [down, up] = [0; 2].map(|_| between(500.0, 2e6, rng).round());
    let (overhead, kind) = (rng.below(65), form.kind);
    let queue = format!("{{ kind = \"{kind}\"{settings}, limit = \"{limit}\" }}");
    format!(
        "goodqueue = 1\nduration = \"10 s\"\n[link.dsl]\nrate = \"{down} kbit/s\"\nrate_up = \"{up} kbit/s\"\ndelay = \"5 ms\"\n\
         overhead = \"{overhead} B\"\nqueue = {queue}\nqueue_up = {queue}\n{burst}[[traffic]]\nkind = \"bulk\"\n"
    )
}

/// Holds a scenario to the one that it came back as: rates, kinds, marking and the settings given.
fn check_given(target: &Target, first: &Scenario, second: &Scenario, seen: &str) {
    for heading in [Direction::Down, Direction::Up] {
        let [a, b] = [first, second].map(|scenario| scenario.main_link().direction(heading));
        assert_eq!(a.nominal_rate(), b.nominal_rate(), "{seen}");
        let [qa, qb] = [a, b].map(|direction| direction.queue.as_ref().unwrap());
        // Adaptive RED is a setting of red.
        let name = |kind: &'static str| if kind == "ared" { "red" } else { kind };
        assert_eq!((name(qa.chosen.kind.kind), qa.ecn), (name(qb.chosen.kind.kind), qb.ecn), "{seen}");
        let back = values(&KindAndParams::new(qb.chosen.kind, qb.chosen.params.clone()));
        let is_said = |(name, _): &&(&str, Value)| !matches!(*name, "ecn" | "ingress");
        for (name, value) in qa.chosen.params.iter().filter(is_said) {
            assert!(back.contains(&(*name, Some(*value))), "{name} {value}: {back:?}\n{seen}");
        }
        if (target.keeps_limits)(qa.chosen.kind.kind) {
            assert_eq!(qa.limit, qb.limit, "{seen}");
        }
    }
    let framing = first.main_link().framing;
    let kept = if (target.keeps_framing)(first.main_link().down.queue.as_ref().unwrap().chosen.kind.kind) {
        framing
    } else {
        Framing::NONE
    };
    assert_eq!(second.main_link().framing, kept, "{seen}");
}

#[test]
fn any_settings_that_a_target_takes_come_back() {
    const DRAWS: u64 = 40;
    for target in TARGETS {
        for (at, form) in target.dialect.forms.iter().enumerate() {
            let plain = drawn_line(form, "", &mut Rng::new(0));
            if written(target, &read(&plain)).is_err() {
                // sqm has the words of tc, and not all of its kinds.
                continue;
            }
            let mut came_back = 0;
            for draw in 0..DRAWS {
                let mut rng = Rng::stream(draw, at as u64);
                let settings = drawn_settings(form, &mut rng);
                let text = drawn_line(form, &settings, &mut rng);
                let Ok(plan) = Plan::parse_without_files("drawn", &text) else { continue };
                let first = plan.point(0).unwrap().plan;
                let Ok(file) = written(target, &first) else { continue };
                let back = |file: &str| {
                    let draft = (target.read)(&Input::read("file", file.as_bytes()).unwrap(), None);
                    read(&draft.unwrap_or_else(|error| panic!("{error}\n{text}\n{file}")).text())
                };
                let second = back(&file);
                check_given(target, &first, &second, &format!("{}\n{text}\n{file}", target.name));
                // From then on nothing changes, settings that nobody gave neither.
                let again = written(target, &second).unwrap_or_else(|refusal| panic!("{refusal}\n{text}\n{file}"));
                let third = back(&again);
                check_given(target, &second, &third, &format!("{}\n{text}\n{file}\n{again}", target.name));
                came_back += 1;
            }
            assert!(came_back * 4 >= DRAWS, "{} {}: {came_back} of {DRAWS}", target.name, form.word);
        }
    }
}
