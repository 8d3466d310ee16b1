//! The messages of goodqueue for wrong input. The page `docs/bad-input.md` is made from this table,
//! and holds the exact messages; after a change that is meant, write it again with
//! `cargo test -p goodqueue-lab --test bad_input -- --ignored`.

use goodqueue_lab::scenario::plan::Plan;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// A scenario with nothing wrong.
const GOOD: &str = r#"goodqueue = 1
warmup = "5 s"
duration = "20 s"
seed = 1

[link.bottleneck]
rate = "10 Mbit/s"
delay = "5 ms"
buffer = "30 packets"
queue = { kind = "codel", target = "5 ms" }

[[traffic]]
kind = "bulk"
cc = "cubic"
flows = 4
"#;

/// One line of the good scenario, and what stands there instead.
const WRONG_LINES: &[(&str, &[(&str, &str)])] = &[
    (
        "Quantities",
        &[
            ("rate = \"10 Mbit/s\"", "rate = 10"),
            ("rate = \"10 Mbit/s\"", "rate = \"10\""),
            ("rate = \"10 Mbit/s\"", "rate = \"10 MB/s\""),
            ("rate = \"10 Mbit/s\"", "rate = \"10 furlongs\""),
            ("rate = \"10 Mbit/s\"", "rate = \"fast\""),
            ("rate = \"10 Mbit/s\"", "rate = \"0 Mbit/s\""),
            ("rate = \"10 Mbit/s\"", "rate = \"0.5 bit/s\""),
            ("rate = \"10 Mbit/s\"", "rate = \"1e30 bit/s\""),
            ("rate = \"10 Mbit/s\"", "rate = true"),
            ("rate = \"10 Mbit/s\"", "rate = nan"),
            ("delay = \"5 ms\"", "delay = \"-5 ms\""),
            ("delay = \"5 ms\"", "delay = \"5\""),
            ("delay = \"5 ms\"", "delay = \"2,5 ms\""),
            ("delay = \"5 ms\"", "delay = \"nan ms\""),
            ("delay = \"5 ms\"", "delay = inf"),
            ("delay = \"5 ms\"", "delay = \"2000 s\""),
            ("delay = \"5 ms\"", "delay = 2026-01-01"),
            ("duration = \"20 s\"", "duration = \"1e999 s\""),
            ("duration = \"20 s\"", "duration = \"0 s\""),
            ("buffer = \"30 packets\"", "buffer = 30"),
            ("buffer = \"30 packets\"", "buffer = \"45 kb\""),
            ("buffer = \"30 packets\"", "buffer = \"0 packets\""),
            ("buffer = \"30 packets\"", "buffer = \"1 kB\""),
            ("buffer = \"30 packets\"", "buffer = \"2.5 packets\""),
            ("buffer = \"30 packets\"", "buffer = \"1e12 packets\""),
            ("buffer = \"30 packets\"", "buffer = \"1e30 packets\""),
            ("buffer = \"30 packets\"", "buffer = \"1e300 GB\""),
            ("buffer = \"30 packets\"", "buffer = \"1e30 bdp\""),
            ("target = \"5 ms\"", "limit = \"1e30 packets\""),
            ("buffer = \"30 packets\"", "buffer = \"1e9 bdp\""),
            ("flows = 4", "flows = -1"),
            ("flows = 4", "flows = 1.5"),
            ("flows = 4", "flows = \"four\""),
            ("flows = 4", "flows = 1000000"),
            ("flows = 4", "flows = 0"),
            ("flows = 4", "class = 8"),
            ("seed = 1", "seed = 99999999999999999999"),
        ],
    ),
    (
        "Keys and values",
        &[
            ("goodqueue = 1", "goodqueue = 2"),
            ("goodqueue = 1", ""),
            ("seed = 1", "sead = 1"),
            ("seed = 1", "seed = 1\nseed = 2"),
            ("seed = 1", "seed ="),
            ("seed = 1", "seed = 1\nreplications = 0"),
            ("duration = \"20 s\"", ""),
            ("rate = \"10 Mbit/s\"", ""),
            ("buffer = \"30 packets\"", ""),
            ("buffer = \"30 packets\"", "bufffer = \"30 packets\""),
            ("buffer = \"30 packets\"", "buffer = \"30 packets\"\ncolor = \"red\""),
            ("buffer = \"30 packets\"", "buffer = \"30 packets\"\nmtu = \"70000 B\""),
            ("buffer = \"30 packets\"", "buffer = \"30 packets\"\nloss = \"100 %\""),
            ("[[traffic]]", "[traffic]"),
            ("[[traffic]]", "[access]\nends = \"one\"\n[[traffic]]"),
        ],
    ),
    (
        "Queues",
        &[
            ("kind = \"codel\"", "kind = \"coddel\""),
            ("kind = \"codel\"", "kind = \"wred\""),
            ("kind = \"codel\", ", ""),
            ("target = \"5 ms\"", "tarjet = \"5 ms\""),
            ("target = \"5 ms\"", "target = 5"),
            ("target = \"5 ms\"", "target = \"20 s\""),
            ("target = \"5 ms\"", "target = \"200 ms\""),
            ("target = \"5 ms\"", "ecn = \"yes\""),
            ("target = \"5 ms\"", "limit = \"100 B\""),
            ("{ kind = \"codel\", target = \"5 ms\" }", "{ kind = \"cp-aqm\", c_max = 0.5 }"),
            ("{ kind = \"codel\", target = \"5 ms\" }", "7"),
            ("{ kind = \"codel\", target = \"5 ms\" }", "\"fair\""),
            ("{ kind = \"codel\", target = \"5 ms\" }", "{ kind = \"fair\" }"),
            ("{ kind = \"codel\", target = \"5 ms\" }", "{ kind = \"fair\", of = \"fq-codel\" }"),
            ("{ kind = \"codel\", target = \"5 ms\" }", "{ kind = \"priority\", of = \"fair\" }"),
            (
                "{ kind = \"codel\", target = \"5 ms\" }",
                "{ kind = \"priority\", of = { kind = \"codel\", target = \"200 ms\" } }",
            ),
            ("{ kind = \"codel\", target = \"5 ms\" }", "{ kind = \"shaper\", of = { kind = \"shaper\" } }"),
            (
                "{ kind = \"codel\", target = \"5 ms\" }",
                "{ kind = \"priority\", bands = 8, of = { kind = \"fair\", flows = 65536, of = \"sfb\" } }",
            ),
            ("{ kind = \"codel\", target = \"5 ms\" }", "{ kind = \"shaper\", burst = \"1 kB\" }"),
            ("{ kind = \"codel\", target = \"5 ms\" }", "{ kind = \"htb\", class.a = { burst = \"5 kB\" } }"),
            (
                "{ kind = \"codel\", target = \"5 ms\" }",
                "{ kind = \"htb\", class.a = { rate = \"5 Mbit/s\", ceil = \"1 Mbit/s\" } }",
            ),
            ("{ kind = \"codel\", target = \"5 ms\" }", "{ kind = \"htb\", class.a = { rate = \"5 Mbit/s\", parent = \"b\" } }"),
            ("{ kind = \"codel\", target = \"5 ms\" }", "{ kind = \"htb\", class.a = { rate = \"5 Mbit/s\", of = \"shaper\" } }"),
            (
                "{ kind = \"codel\", target = \"5 ms\" }",
                "{ kind = \"htb\", class.a = { rate = \"5 Mbit/s\" }, class.b = { parent = \"a\", rate = \"0 bit/s\" } }",
            ),
            ("{ kind = \"codel\", target = \"5 ms\" }", "{ kind = \"fair\", of = \"pye\" }"),
            ("{ kind = \"codel\", target = \"5 ms\" }", "{ kind = \"fair\", of = 7 }"),
            ("{ kind = \"codel\", target = \"5 ms\" }", "{ kind = \"fair\", of = { target = \"5 ms\" } }"),
            ("{ kind = \"codel\", target = \"5 ms\" }", "{ kind = \"fair\", of = { kind = \"pie\", ecn = true } }"),
            ("{ kind = \"codel\", target = \"5 ms\" }", "{ kind = \"fair\", of = { kind = \"codel\", target = \"20 s\" } }"),
            ("{ kind = \"codel\", target = \"5 ms\" }", "{ kind = \"fair\", of = { kind = \"codel\", target = \"200 ms\" } }"),
            ("{ kind = \"codel\", target = \"5 ms\" }", "{ kind = \"codel\", of = \"pie\" }"),
        ],
    ),
    (
        "Networks",
        &[
            ("[link.bottleneck]", "[link.a]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n[link.bottleneck]"),
            ("[link.bottleneck]", "[link.bottleneck]\nfrom = \"home\""),
            ("[link.bottleneck]", "[link.bottleneck]\ncount = 0"),
            ("[link.bottleneck]", "[link.bottleneck]\ncount = 20001"),
            ("[link.bottleneck]", "[link.bottleneck]\nfrom = \"home\"\nto = \"home\""),
            ("[link.bottleneck]", "[link.bottleneck]\nfrom = \"home\"\nto = \"the internet\""),
            ("[link.bottleneck]", "[link.bottleneck]\nfrom = \"home\"\nto = \"isp\"\none_way = true"),
            ("[link.bottleneck]", "[link.bottleneck]\none_way = true\nrate_up = \"1 Mbit/s\""),
            (
                "[link.bottleneck]",
                "[link.a]\nfrom = \"home\"\nto = \"isp\"\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n\
                 [link.bottleneck]\nfrom = \"isp\"\nto = \"home\"",
            ),
            ("[link.bottleneck]", "[link.bottleneck]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n[link.bottleneck]"),
            (
                "[link.bottleneck]",
                "[link.a]\nfrom = \"home\"\nto = \"isp\"\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n\
                 [link.bottleneck]\nfrom = \"isp\"\nto = \"server\"",
            ),
            ("rate = \"10 Mbit/s\"", "rate = { steps = [[\"0 s\", \"1 Mbit/s\"]] }\nburst = \"2 kB\""),
            ("flows = 4", "path = [\"a\", \"b\"]"),
            ("buffer = \"30 packets\"", "buffer = \"30 packets\"\nflow_control = \"30 packets\""),
            ("buffer = \"30 packets\"", "buffer = \"30 packets\"\nflow_control = \"0 packets\""),
            ("buffer = \"30 packets\"", "buffer = \"30 packets\"\nflow_control_up = \"3 packets\""),
        ],
    ),
    (
        "Traffic",
        &[
            ("kind = \"bulk\"", "kind = \"bulky\""),
            ("flows = 4", "max_window = \"100 B\""),
            ("cc = \"cubic\"", "cc = \"bbr\"\nslow_start_exit = \"hystart++\""),
            ("kind = \"bulk\"", "kind = \"videos\""),
            ("kind = \"bulk\"", ""),
            ("cc = \"cubic\"", "cc = \"cubik\""),
            ("cc = \"cubic\"", "cc = { kind = \"cubic\", beta = 2 }"),
            ("cc = \"cubic\"", "cc = { kind = \"cubic\", bata = 0.7 }"),
            ("flows = 4", "mss = \"1500 B\""),
            ("flows = 4", "rate = \"1 Mbit/s\""),
            ("flows = 4", "ack = \"never\""),
            ("flows = 4", "ack = { every = 0 }"),
            ("flows = 4", "sack = \"merged\""),
            ("flows = 4", "sack = 1"),
            ("flows = 4", "sack = false\nloss_detection = \"rack\""),
            ("flows = 4", "start = \"uniform 5 s .. 0 s\""),
            ("flows = 4", "start = \"uniform 5 s\""),
            ("flows = 4", "start = \"5 s\"\nstop = \"5 s\""),
            ("flows = 4", "direction = \"sideways\""),
            ("flows = 4", "direction = \"up\""),
            ("flows = 4", "header = \"40 B\"\ntimestamps = false"),
            ("flows = 4", "name = \"a\"\n[[traffic]]\nkind = \"cbr\"\nrate = \"1 Mbit/s\"\nname = \"a\""),
            ("flows = 4", "[[traffic]]\nkind = \"cbr\""),
            ("flows = 4", "[[traffic]]\nkind = \"cbr\"\nrate = \"1 Mbit/s\"\npacket_size = \"9000 B\""),
        ],
    ),
    (
        "Transfers, pages and video",
        &[
            ("flows = 4", "[[traffic]]\nkind = \"short\"\nsize = \"0 B\"\ninterval = \"0 s\""),
            ("flows = 4", "[[traffic]]\nkind = \"short\""),
            ("flows = 4", "[[traffic]]\nkind = \"short\"\nsize = \"1 MB\"\ninterval = \"1 s\"\narrivals = \"pareto\""),
            ("flows = 4", "[[traffic]]\nkind = \"bulk-with-pauses\"\npause = \"uniform 15 s .. 5 s\""),
            ("flows = 4", "[[traffic]]\nkind = \"bulk-with-pauses\"\nkeep_connection = \"yes\""),
            ("flows = 4", "[[traffic]]\nkind = \"web\""),
            ("flows = 4", "[[traffic]]\nkind = \"web\"\nrate = 0"),
            ("flows = 4", "[[traffic]]\nkind = \"web\"\nrate = \"5 Mbit/s\""),
            ("flows = 4", "[[traffic]]\nkind = \"web\"\nrate = 5\nhttp = \"2\""),
            ("flows = 4", "[[traffic]]\nkind = \"web\"\nrate = 5\nserver_delay_scale = \"2 min\""),
            ("flows = 4", "[[traffic]]\nkind = \"page\"\nobjects = 0"),
            ("flows = 4", "[[traffic]]\nkind = \"page\"\nsize = \"100 B\""),
            ("flows = 4", "[[traffic]]\nkind = \"page\"\nconnections = 5000"),
            ("flows = 4", "[[traffic]]\nkind = \"video\"\nladder = [\"3 Mbit/s\", \"1 Mbit/s\"]"),
            ("flows = 4", "[[traffic]]\nkind = \"video\"\nladder = []"),
            ("flows = 4", "direction = \"both\""),
            ("flows = 4", "[[traffic]]\nkind = \"voip\"\npacket_size = \"2000 B\""),
            ("flows = 4", "[[traffic]]\nkind = \"gaming\"\ninterval = \"0 ms\""),
            ("flows = 4", "[[traffic]]\nkind = \"gaming\"\npacket_size_up = \"9 kB\""),
            ("flows = 4", "[[traffic]]\nkind = \"echo\"\ninterval = \"0 s\""),
            ("flows = 4", "[[traffic]]\nkind = \"echo\"\ninterval = \"-1 s\""),
            ("flows = 4", "[[traffic]]\nkind = \"echo\"\npacket_size = \"43 B\""),
            ("flows = 4", "[[traffic]]\nkind = \"echo\"\npacket_size = \"2000 B\""),
            ("flows = 4", "[[traffic]]\nkind = \"echo\"\nrate = \"1 Mbit/s\""),
            ("flows = 4", "[[traffic]]\nkind = \"echo\"\ndirection = \"both\""),
            ("flows = 4", "[[traffic]]\nkind = \"echo\"\necn = \"ce\""),
            ("flows = 4", "[[traffic]]\nkind = \"video-frames\"\nratio = 0.5"),
            ("flows = 4", "[[traffic]]\nkind = \"video-frames\"\ngroup = 0"),
            ("flows = 4", "[[traffic]]\nkind = \"video\"\nladder = \"3 Mbit/s\""),
            ("flows = 4", "[[traffic]]\nkind = \"video\"\nsegment = \"4 s\"\nbuffer = \"2 s\""),
        ],
    ),
    (
        "Rates over time",
        &[
            ("rate = \"10 Mbit/s\"", "rate = { stairs = [] }"),
            ("rate = \"10 Mbit/s\"", "rate = { steps = [] }"),
            ("rate = \"10 Mbit/s\"", "rate = { steps = [[\"1 s\", \"1 Mbit/s\"]] }"),
            ("rate = \"10 Mbit/s\"", "rate = { steps = [[\"0 s\", \"0 bit/s\"]] }"),
            ("rate = \"10 Mbit/s\"", "rate = { steps = [[\"0 s\", \"1 Mbit/s\"], [\"0 s\", \"2 Mbit/s\"]] }"),
            ("rate = \"10 Mbit/s\"", "rate = { steps = [[\"0 s\"]] }"),
        ],
    ),
    (
        "Sweeps",
        &[
            ("flows = 4", "flows = 4\n[sweep]\n\"traffic.0.flows\" = 8"),
            ("flows = 4", "flows = 4\n[sweep]\n\"traffic.0.flows\" = []"),
            ("flows = 4", "flows = 4\n[sweep]\n\"traffic.0.flows\" = [1, 2, -3]"),
            ("flows = 4", "flows = 4\n[sweep]\n\"traffic.1.flows\" = [1, 2]"),
            ("flows = 4", "flows = 4\n[sweep]\n\"traffic.0.flow\" = [1, 2]"),
            ("flows = 4", "flows = 4\n[sweep]\nseed = [1, 2]"),
            ("flows = 4", "flows = 4\n[sweep]\n\"link.bottleneck.rate.x.y\" = [1]"),
            (
                "flows = 4",
                "flows = 4\n[sweep]\n\"link.bottleneck.queue.target\" = [\"5 ms\"]\n\"link.bottleneck.queue\" = [\"pie\"]",
            ),
        ],
    ),
];

/// A network with nothing wrong: a ring of four nodes, and one beyond it that only a one-way link
/// leads to.
const NETWORK: &str = r#"goodqueue = 1
duration = "20 s"

[link]
ab = { from = "a", to = "b", rate = "10 Mbit/s", delay = "5 ms", buffer = "1 bdp" }
bc = { from = "b", to = "c", rate = "10 Mbit/s", delay = "5 ms", buffer = "1 bdp" }
cd = { from = "c", to = "d", rate = "10 Mbit/s", delay = "5 ms", buffer = "1 bdp" }
da = { from = "d", to = "a", rate = "10 Mbit/s", delay = "5 ms", buffer = "1 bdp" }
out = { from = "d", to = "moon", rate = "10 Mbit/s", delay = "1 s", buffer = "1 bdp", one_way = true }

[[traffic]]
kind = "bulk"
path = ["a", "b"]
"#;

/// Wrong lines in place of the path in `NETWORK`.
const WRONG_PATHS: &[&str] = &[
    "",
    "path = \"a\"",
    "path = []",
    "path = [\"a\"]",
    "path = [\"a\", 7]",
    "path = [\"a\", \"x\"]",
    "path = [\"a\", \"mon\"]",
    "path = [\"a\", \"a\"]",
    "path = [\"a\", \"b\", \"c\", \"b\"]",
    "path = [\"a\", \"c\"]",
    "path = [\"moon\", \"a\"]",
    "path = [\"d\", \"moon\"]",
    "path = [\"a\", \"b\"]\nreturn_path = [\"c\", \"a\"]",
];

/// `--set KEY=VALUE`.
const WRONG_OVERRIDES: &[(&str, &str)] = &[
    ("link.bottleneck.rate", "10"),
    ("link.bottleneck.rat", "10 Mbit/s"),
    ("traffic.3.flows", "1"),
    ("traffic.0.flows", "many"),
    ("traffic.0.flows.x", "1"),
    ("link..rate", "1 Mbit/s"),
    ("link.bottleneck.queue", "{ kind = "),
    ("link.bottleneck.queue.kind", "tail-drop"),
    ("sweep", "1"),
    ("replications", "0"),
];

/// Contents of a recording.
const WRONG_TRACES: &[(&str, &[u8])] = &[
    ("an empty file", b""),
    ("`ten`", b"ten\n"),
    ("`1.5`", b"1\n1.5\n"),
    ("`10`, `9`", b"10\n9\n"),
    ("`-1`", b"-1\n"),
    ("`0`, `0`", b"0\n0\n"),
    ("a blank line", b"1\n\n2\n"),
    ("`99999999999`", b"99999999999\n"),
    ("`# comment`", b"# comment\n1\n"),
    ("bytes of a program", b"\x7fELF\x02\x01\x01\0\0\0\n"),
    ("one long line", b"1111111111111111111111111111111111111111111111111111\n"),
];

/// Contents of a list of flows.
const WRONG_LISTS: &[&str] = &[
    "",
    "# nothing here\n\n",
    "start,size\n",
    "size\n1 kB\n",
    "start,size,sise\n0 s,1 kB,1 kB\n",
    "start,size,start\n0 s,1 kB,1 s\n",
    "begin,bytes\n0 s,1 kB\n",
    "0 s,1 kB\n",
    "start,size\n0 s\n",
    "start,size\n0 s,1 kB,cubic\n",
    "start,size\n0,1 kB\n",
    "start,size\n-1 s,1 kB\n",
    "start,size\n1e9 s,1 kB\n",
    "start,size\nnan s,1 kB\n",
    "start,size\n,1 kB\n",
    "start,size\n0 s,1000\n",
    "start,size\n0 s,0 B\n",
    "start,size\n0 s,1e30 B\n",
    "start,size\n0 s,1 kB\n\n# one more\n1 s,2 furlongs\n",
    "start,size,control\n0 s,1 kB,cubik\n",
    "start,size,control\n0 s,1 kB,vegas\n",
    "start,size,path\n0 s,1 kB,a\n",
    "start,size,path\n0 s,1 kB,a > > b\n",
    "start,size,path\n0 s,1 kB,a > c\n",
    "start,size,path\n0 s,1 kB,a > b > a\n",
    "start,size\n\"0 s,1 kB\n",
    "start,size\n\"0 s\" or so,1 kB\n",
];

/// A folder of its own, and a clean slate.
fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bad-input-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for test files");
    folder
}

fn message(text: &str) -> String {
    Plan::parse("scenario.toml", text, Path::new("")).and_then(|plan| plan.points()).expect_err(text).text()
}

fn replaced(old: &str, new: &str) -> String {
    assert_eq!(GOOD.matches(old).count(), 1, "{old} must stand in the good scenario once");
    GOOD.replace(old, new)
}

fn wrong_line_sections(page: &mut String) -> usize {
    let mut count = 0;
    for (title, cases) in WRONG_LINES {
        writeln!(page, "\n## {title}\n").unwrap();
        for (old, new) in *cases {
            let shown = if new.is_empty() { format!("without `{old}`") } else { format!("`{}`", new.replace('\n', " ⏎ ")) };
            entry(page, &shown, &message(&replaced(old, new)));
            count += 1;
        }
    }
    count
}

fn entry(page: &mut String, shown: &str, message: &str) {
    assert!(!message.is_empty() && !message.contains('\u{0}'), "{shown}: {message:?}");
    writeln!(page, "- {shown}").unwrap();
    for line in message.lines() {
        writeln!(page, "  > {line}").unwrap();
    }
}

fn paths_section(page: &mut String) -> usize {
    write!(page, "\n## Paths\n\nFor the last line of this scenario:\n\n```toml\n{NETWORK}```\n\n").unwrap();
    let right = "path = [\"a\", \"b\"]";
    for wrong in WRONG_PATHS {
        let shown = if wrong.is_empty() { "no path".to_owned() } else { format!("`{}`", wrong.replace('\n', " ⏎ ")) };
        entry(page, &shown, &message(&NETWORK.replace(right, wrong)));
    }
    WRONG_PATHS.len()
}

fn overrides_section(page: &mut String) -> usize {
    page.push_str("\n## On the command line\n\n");
    let plan = Plan::parse("scenario.toml", GOOD, Path::new("")).expect("good");
    for (key, value) in WRONG_OVERRIDES {
        let error = plan.with_overrides(&[((*key).to_owned(), (*value).to_owned())]).expect_err(key);
        entry(page, &format!("`--set '{key}={value}'`"), &error.text());
    }
    WRONG_OVERRIDES.len()
}

fn traces_section(page: &mut String) -> usize {
    page.push_str("\n## Recordings\n\nFor `rate = { trace = \"link.down\" }`, with these lines in the file:\n\n");
    let folder = folder();
    let file = folder.join("link.down");
    let scenario = replaced("rate = \"10 Mbit/s\"", "rate = { trace = \"link.down\" }");
    let mut add = |shown: &str| {
        let error = Plan::parse("scenario.toml", &scenario, &folder).expect_err(shown);
        entry(page, shown, &error.text().replace(&format!("{}/", folder.display()), ""));
    };
    for (shown, bytes) in WRONG_TRACES {
        fs::write(&file, bytes).expect("a test file");
        add(shown);
    }
    fs::remove_file(&file).expect("the test file");
    add("no file");
    fs::create_dir(&file).expect("a folder");
    add("a folder");
    fs::remove_dir_all(&folder).expect("the test folder");
    WRONG_TRACES.len() + 2
}

fn lists_section(page: &mut String) -> usize {
    page.push_str("\n## Lists of flows\n\nFor `kind = \"flow-list\"` and `file = \"flows.csv\"` on a link from `a` to `b`, with these lines in the file:\n\n");
    let folder = folder();
    let file = folder.join("flows.csv");
    let scenario = replaced("kind = \"bulk\"", "kind = \"flow-list\"\nfile = \"flows.csv\"")
        .replace("[link.bottleneck]", "[link.bottleneck]\nfrom = \"a\"\nto = \"b\"");
    let mut add = |shown: &str, scenario: &str| {
        let error = Plan::parse("scenario.toml", scenario, &folder).expect_err(shown);
        entry(page, shown, &error.text().replace(&format!("{}/", folder.display()), ""));
    };
    for text in WRONG_LISTS {
        fs::write(&file, text).expect("a test file");
        let shown =
            if text.is_empty() { "an empty file".to_owned() } else { format!("`{}`", text.trim_end().replace('\n', " ⏎ ")) };
        add(&shown, &scenario);
    }
    fs::write(&file, b"start,size\n0 s,\xff\n").expect("a test file");
    add("bytes that are no text", &scenario);
    fs::write(&file, "start,size,path\n0 s,1 kB,a > b\n").expect("a test file");
    add("nodes, though the link has none", &scenario.replace("from = \"a\"\nto = \"b\"\n", ""));
    add("more flows than there may be", &scenario.replace("flows = 4", "flows = 200000"));
    fs::remove_file(&file).expect("the test file");
    add("no file", &scenario);
    add("no `file`", &scenario.replace("file = \"flows.csv\"\n", ""));
    fs::create_dir(&file).expect("a folder");
    add("a folder", &scenario);
    fs::remove_dir_all(&folder).expect("the test folder");
    WRONG_LISTS.len() + 6
}

fn files_section(page: &mut String) -> usize {
    page.push_str("\n## The scenario file itself\n\n");
    let folder = folder();
    let file = folder.join("scenario.toml");
    let mut add = |shown: &str| {
        let error = Plan::load(&file).expect_err(shown);
        entry(page, shown, &error.text().replace(&format!("{}/", folder.display()), ""));
    };
    add("no file");
    fs::write(&file, b"").expect("a test file");
    add("an empty file");
    fs::write(&file, b"goodqueue = 1\nname = \"\xff\"\n").expect("a test file");
    add("bytes that are no text");
    fs::write(&file, vec![b'#'; (4 << 20) + 1]).expect("a test file");
    add("more than 4 MiB");
    fs::remove_file(&file).expect("the test file");
    fs::create_dir(&file).expect("a folder");
    add("a folder");
    fs::remove_dir_all(&folder).expect("the test folder");
    5
}

fn page() -> String {
    let mut page = format!(
        "# Messages for wrong input\n\n\
         Made from the table in `crates/lab/tests/bad_input.rs`, which checks every message here. In each case one line of this\n\
         scenario is replaced (`⏎` is a line break):\n\n```toml\n{GOOD}```\n"
    );
    let count = wrong_line_sections(&mut page)
        + paths_section(&mut page)
        + overrides_section(&mut page)
        + traces_section(&mut page)
        + lists_section(&mut page)
        + files_section(&mut page);
    assert!(count >= 40, "{count} cases");
    page
}

fn page_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/bad-input.md")
}

#[test]
fn the_good_scenario_is_good() {
    let plan = Plan::parse("scenario.toml", GOOD, Path::new("")).expect("good");
    assert_eq!(plan.points().expect("good").len(), 1);
}

#[test]
fn every_wrong_input_gets_the_message_on_the_page() {
    let written = fs::read_to_string(page_path()).expect("docs/bad-input.md");
    let made = page();
    for (number, (written, made)) in written.lines().zip(made.lines()).enumerate() {
        assert_eq!(written, made, "docs/bad-input.md line {}: see the head of this test", number + 1);
    }
    assert_eq!(written, made);
}

#[test]
#[ignore = "writes docs/bad-input.md"]
fn writes_the_page() {
    fs::write(page_path(), page()).expect("docs/bad-input.md");
}

#[test]
fn recording_of_one_endless_line_is_refused_unread() {
    let folder = folder().join("long");
    fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("link.down");
    // 100 MB of digits in one line, as a file without blocks.
    fs::File::create(&file).and_then(|file| file.set_len(100_000_000)).expect("a sparse file");
    let error = goodqueue_lab::scenario::trace_file::load(&file).expect_err("no recording");
    assert_eq!(error.place(), goodqueue_lab::scenario::input::Place::Line(1));
    fs::File::create(&file).and_then(|file| file.set_len(300 << 20)).expect("a sparse file");
    let error = goodqueue_lab::scenario::trace_file::load(&file).expect_err("too large");
    assert!(error.to_string().ends_with("has 314572800 bytes: allowed up to 268435456"), "{error}");
    fs::remove_dir_all(&folder).expect("the folder");
}
