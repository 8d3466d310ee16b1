//! Round trips of configurations: `gq import` reads what `gq export` writes as the same settings,
//! for each target and kind that it has.

use goodqueue_aqm::spec::{KindAndParams, ParamValues, Value};
use goodqueue_base::units::Framing;
use goodqueue_interop::import::{Draft, ImportError, Input, any, config};
use goodqueue_interop::router::setup::{Setup, Shaping};
use goodqueue_interop::router::syntax::{self, Interface, Place};
use goodqueue_lab::scenario::plan::{Direction, Plan, Scenario};

type Write = fn(&Setup) -> String;
type Read = fn(&Input, Option<&str>) -> Result<Draft, ImportError>;

fn place() -> Place {
    let dev = Interface::new("eth0").unwrap();
    Place { ifb: dev.ifb(), dev, egress: None }
}

/// A target: how it is written and read, whether it keeps limits, whether framing of queues other
/// than cake, and the kinds that it has with settings other than the defaults.
struct Target {
    name: &'static str,
    write: Write,
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
        name: "sqm",
        write: |setup| syntax::sqm::section(setup, &place()).unwrap(),
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
        write: |setup| syntax::networkd::files(setup, &place()).unwrap(),
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
        write: |setup| syntax::routeros::commands(setup, &place()).unwrap(),
        read: config::routeros,
        keeps_limits: |_| true,
        keeps_framing: |kind| kind == "cake",
        queues: &[CODEL, FQ_CODEL, CAKE, CAKE_4],
    },
    Target {
        name: "libreqos",
        write: |setup| syntax::libreqos::row(setup, &[]).unwrap().csv,
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

#[test]
fn every_target_is_read_back_as_it_was_written() {
    for target in TARGETS {
        for queue in target.queues {
            for framing in ["0 B", "22 B", "docsis", "pppoe-llcsnap", "pppoe-ptm"] {
                let first = scenario(queue, framing);
                let kind = first.main_link().down.queue.as_ref().unwrap().kind.kind;
                let is_said =
                    kind == "cake" || framing == "22 B" || framing == "0 B" || target.name == "sqm" && framing != "pppoe-ptm";
                if !is_said && (target.keeps_framing)(kind) {
                    continue;
                }
                let text = (target.write)(&Setup::new(&first, None, Shaping::Percent(100.0)).unwrap());
                let input = Input::read("file", text.as_bytes()).unwrap();
                let draft = (target.read)(&input, None).unwrap_or_else(|error| panic!("{error}\n{text}"));
                let second = read(&draft.text());
                let seen = format!("{} {queue} {framing}\n{text}\n{}", target.name, draft.text());
                for heading in [Direction::Down, Direction::Up] {
                    let [a, b] = [&first, &second].map(|scenario| scenario.main_link().direction(heading));
                    assert_eq!(a.nominal_rate(), b.nominal_rate(), "{seen}");
                    let [qa, qb] = [a, b].map(|direction| direction.queue.as_ref().unwrap());
                    assert_eq!((qa.kind.kind, qa.ecn), (qb.kind.kind, qb.ecn), "{seen}");
                    let [ca, cb] = [qa, qb].map(|queue| values(&KindAndParams::new(queue.kind, queue.params.clone())));
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
